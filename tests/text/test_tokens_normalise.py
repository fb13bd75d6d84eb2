"""What is written in several ways comes out in one."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.thoroughness import MAX_SECONDS, scaled
from whycite.text.tokens import clean, fold, spell_greek


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("ﬁne  “quoted”\n‘text’", "fine \"quoted\" 'text'"),
        ("1990–2000 — a−b", "1990-2000 - a-b"),
        ("soft\u00adhyphen zero\u200bwidth", "softhyphen zerowidth"),
        ("CO₂ at 5 µm and ½…", "CO2 at 5 μm and 1/2..."),
        ("Ａｂｃ\u00a0d", "Abc d"),
        ("Müller", "Müller"),
        ("Mu\u0308ller", "Müller"),
    ],
)
def test_clean(text: str, plain: str) -> None:
    assert clean(text) == plain


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Müller", "muller"),
        ("Mu\u0308ller", "muller"),
        ("STRAẞE Straße", "strasse strasse"),
        ("Øresund Łódź Þór Æsir İzmir", "oresund lodz thor aesir izmir"),
        ("Dvořák’s", "dvorak's"),
        ("Γλώσσα ΛΌΓΟΣ", "γλωσσα λογοσ"),
        ("Ёлка Йод", "елка иод"),
        ("がぎ", "がぎ"),
        ("हिन्दी", "हिन्दी"),
    ],
)
def test_fold(text: str, folded: str) -> None:
    assert fold(text) == folded


def test_greek_symbols_by_name_but_not_words() -> None:
    assert spell_greek("tgfβ and αβ") == "tgfbeta and alphabeta"
    assert spell_greek("tnf-α", padding=" ") == "tnf- alpha "
    assert spell_greek("λογος") == "λογος"
    assert spell_greek("plain") == "plain"


@given(st.text())
def test_fold_is_stable(text: str) -> None:
    once = fold(text)
    assert fold(once) == once
    assert fold(clean(text)) == once
    assert fold(f" {text} ") == once


@given(st.text())
def test_clean_is_stable(text: str) -> None:
    assert clean(clean(text)) == clean(text)


@given(st.text(alphabet=st.characters(codec="latin-1", categories=["L"])))
def test_western_letters_become_ascii(text: str) -> None:
    assert fold(text.replace("µ", "")).isascii()


@pytest.mark.parametrize("unit", ["e\u0301", "\u0301", "ﷺ", "α", "…", "a\u00ad"])
def test_linear_on_hostile_text(unit: str) -> None:
    text = unit * (scaled(1_000_000) // len(unit.encode()))
    start = time.process_time()
    spell_greek(fold(text))
    assert time.process_time() - start < MAX_SECONDS
