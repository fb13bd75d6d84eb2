"""What speaks for an entry of the draft's own bibliography."""

from pathlib import Path

import numpy as np
import pytest

import whycite
from tests.fakes import FakeEncoder, word_encoder
from whycite.check import bibliography as module
from whycite.check.bibliography import FEATURES, BibliographyEntries, key_terms
from whycite.check.proposals import own_recommendations

MD = """\
---
title: Walls
year: 2020
references:
- {id: granite, title: Stones, author: [{family: Doe, given: Jane}], issued: 2001}
- {id: late, title: Walls of granite, author: [{family: Roe, given: Ann}], issued: 2023}
- {id: walls, title: Walls, issued: 2019}
- {id: other, title: Flowers in the spring, author: [{family: Van Dyke, given: Bo}], issued: 1999}
---

# Introduction

Old bridges have walls of hard grey stone [@granite]. Bridges with walls of hard grey stone are old.

# Method

Flowers bloom [@other]. As Doe said in 2001 this is so. Van Dyke disagrees.
"""


def entries(tmp_path: Path, text: str = MD) -> BibliographyEntries:
    (tmp_path / "draft.md").write_text(text, "utf-8")
    return BibliographyEntries(whycite.read(tmp_path / "draft.md"), word_encoder())


def test_other_sentences_that_cite_an_entry_speak_for_it_and_the_own_does_not(tmp_path: Path) -> None:
    known = entries(tmp_path)
    first, second = known.features_of([0, 1])
    meaning = FEATURES.index("meaning")
    assert second.features[0, meaning] > 0.8
    assert first.features[0, meaning] < 0.5  # what it cites itself says nothing


def test_authors_and_years_that_are_named_speak_for_an_entry(tmp_path: Path) -> None:
    held = entries(tmp_path).features_of([3, 4])
    assert held[0].features[:, FEATURES.index("author")].tolist() == [1, 0, 0, 0]
    assert held[0].features[:, FEATURES.index("year")].tolist() == [1, 0, 0, 0]
    assert held[1].features[:, FEATURES.index("author")].tolist() == [0, 0, 0, 1]


def test_no_entry_is_newer_than_the_draft_or_the_draft_itself_or_cited_already(tmp_path: Path) -> None:
    known = entries(tmp_path)
    first, second = own_recommendations(known, [0, 1])
    assert {key for key, _ in second.recommendations} == {"granite", "other"}
    assert {key for key, _ in first.recommendations} == {"other"}
    best = second.recommendations[0][1]
    assert best.paper.title == "Stones"
    assert best.support == 1
    assert best.evidence[0].span == "Old bridges have walls of hard grey stone."
    assert best.evidence[0].source.title == "Walls"


def test_of_a_huge_bibliography_only_what_may_fit_is_encoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encoder: FakeEncoder
) -> None:
    monkeypatch.setattr(module, "MAX_ENTRIES", 2)
    document = entries(tmp_path).document
    held = BibliographyEntries(document, encoder).features_of([1])[0]
    assert [document.references[at].id for at in held.positions.tolist()] == ["granite", "late", "walls", "other"]
    assert BibliographyEntries(document, encoder).features_of([4])[0].positions.tolist() == [
        0,
        3,
    ]  # cited, or of that name


def test_sentences_that_are_nearer_to_an_entry_speak_against_it(tmp_path: Path) -> None:
    known = entries(tmp_path)
    near, remote = (
        known.fit_signs(index, known.features_of([index])[0], [3])[0] for index in (2, 1)
    )  # of "Flowers in the spring"
    assert near.nearer == 0
    assert remote.nearer == pytest.approx(np.log(2))  # the sentence that cites it
    assert (near.section, remote.section) == (0, 0)
    [granite] = known.fit_signs(1, known.features_of([1])[0], [0])
    assert granite.section == pytest.approx(np.log(2))
    assert granite.meaning > 0.8


def test_a_draft_without_bibliography_has_nothing_to_offer(tmp_path: Path) -> None:
    known = entries(tmp_path, "# Introduction\n\nOld bridges have walls.\n")
    assert own_recommendations(known, [0])[0].recommendations == ()
    assert own_recommendations(known, [0])[0].fits is None
    assert np.shape(known.features_of([0])[0].features) == (0, len(FEATURES))


@pytest.mark.parametrize("key", ["smith_2010_deep", "Smith2010Deep", "DBLP:conf/x/Smith10", "smith10"])
def test_keys_have_words(key: str) -> None:
    assert "smith" in key_terms(key)
