"""Sentences with their citations taken out or marked."""

import re
import time

import pytest

from tests.thoroughness import MAX_SECONDS, scaled
from whycite.documents import Citation, Sentence


def _sentence(marked: str) -> Sentence:
    """A sentence from a text in which ⟦…⟧ stands around each marker."""
    citations = []
    text = ""
    for part in re.split(r"(⟦[^⟧]*⟧)", marked):
        start = len(text)
        text += part.strip("⟦⟧") if part.startswith("⟦") else part
        if part.startswith("⟦"):
            citations.append(Citation(("k",), 0, 0, start, len(text)))
    return Sentence(text, 0, 0, "f", 0, len(text), tuple(citations))


@pytest.mark.parametrize(
    ("marked", "bare"),
    [
        ("It is so ⟦[a]⟧.", "It is so."),
        ("It is so (⟦Su, 2009⟧; ⟦Li and Luo, 2010⟧).", "It is so."),
        ("It is so ⟦[1]⟧, ⟦[2]⟧ and ⟦[3]⟧, too.", "It is so, too."),
        ("⟦[a]⟧ showed that it is.", "showed that it is."),
        ("It is (e.g. ⟦Su, 2009⟧) so.", "It is so."),
        ("It is (see also ⟦Su, 2009⟧; reviewed in ⟦Li, 2010⟧) so.", "It is so."),
        ("It is (in mice, ⟦Su, 2009⟧) so.", "It is (in mice,) so."),
        ("Nothing (here) [at all].", "Nothing (here) [at all]."),
        ("So.⟦3,4⟧", "So."),
    ],
)
def test_markers_go_with_their_brackets(marked: str, bare: str) -> None:
    assert _sentence(marked).without_citations() == bare


def test_markers_become_placeholders() -> None:
    sentence = _sentence("It is so (⟦Su, 2009⟧; ⟦Li, 2010⟧).")
    assert sentence.with_citations("REF") == "It is so (REF; REF)."


@pytest.mark.parametrize("unit", ["(", "( ", "(and", "⟦a⟧ ", "(⟦a⟧ ", "(see ", "⟦a⟧and", " ", "(in by "])
def test_it_is_linear(unit: str) -> None:
    sentence = _sentence(unit * scaled(100_000))
    start = time.process_time()
    sentence.without_citations()
    assert time.process_time() - start < MAX_SECONDS
