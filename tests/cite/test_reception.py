"""What papers are cited for, and whether those who cite them agree."""

from pathlib import Path

import pytest

from tests.fakes import FakeEncoder
from whycite.cite.reception import agreement, receptions
from whycite.library import Library, add

AGREE = [
    "This is in line with previous reports (Kaiser, 1988).",
    "Our results are consistent with those of Kaiser (1988).",
    "Similar results were found by Kaiser (1988).",
    "These data confirm earlier findings that bees sleep at night [12].",
    "The duration was similar to that reported in previous studies (Kaiser, 1988; Doe, 2001).",
    "This view is supported by several studies of ants (Kaiser, 1988).",
]
DISAGREE = [
    "This is in contrast to a previous report showing that bees sleep at night (Kaiser, 1988).",
    "Contrary to previous hypotheses (Kaiser, 1988), bees sleep by day.",
    "Our data are inconsistent with the findings of Kaiser (1988).",
    "Ducks had bent bones (Kaiser, 1988), which is not congruent with our results.",
    "Our results do not support those of Kaiser (1988).",
    "We could not replicate the effect of light on sleep (Kaiser, 1988).",
    "The proposal that bees never sleep (Kaiser, 1988) is not supported by our data.",
    "This result contradicts earlier studies of bees (Kaiser, 1988).",
]
NEITHER = [
    "Bees sleep at night (Kaiser, 1988).",
    "In contrast to ants, bees sleep at night (Kaiser, 1988).",
    "Bees were kept according to Kaiser (1988).",
    "The mutation was confirmed by PCR as described (Kaiser, 1988).",
    "Our finding does not contradict results from other studies (Kaiser, 1988).",
    "Failure to replicate the genome leads to defects (Kaiser, 1988).",
    "A questionnaire with questions about sleep was used (Kaiser, 1988).",
]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        *((sentence, "agree") for sentence in AGREE),
        *((sentence, "disagree") for sentence in DISAGREE),
        *((sentence, None) for sentence in NEITHER),
    ],
)
def test_wordings(sentence: str, expected: str | None) -> None:
    assert agreement(sentence, ["Kaiser, Walter"]) == expected


def test_each_part_speaks_of_its_own_papers() -> None:
    sentence = "This is consistent with previous work (Kaiser, 1988) but in contrast to findings of Doe et al. (2001)."
    assert agreement(sentence, ["Kaiser, Walter"]) == "agree"
    assert agreement(sentence, ["Doe, Jane"]) == "disagree"
    assert agreement(sentence, ["Roe, Rita"]) is None
    assert agreement("In contrast to previous studies (Kaiser, 1988), Doe (2001) saw sleep.", ["Doe, Jane"]) is None


PAPER = """\
---
title: Sleep at noon
year: 2024
references:
- {id: a, title: "Busy bees need rest, too", issued: 1988, DOI: 10.1/bees}
- {id: b, title: "Ants rest by day and by night", issued: 1989, DOI: 10.1/ants}
---
Bees sleep at night in their own hives [@a], ants rest for many hours in the dark [@b], and bees do not fly before the
sun has risen again [@a].
"""


def test_a_sentence_counts_once(tmp_path: Path, encoder: FakeEncoder) -> None:
    (tmp_path / "noon.md").write_text(PAPER, "utf-8")
    add(tmp_path / "library", [tmp_path / "noon.md"], jobs=1, encoder=encoder)
    library = Library.open(tmp_path / "library")
    id = library.paper_id("doi:10.1/bees")
    assert len(library.citing_places(id)) == 2
    reception = receptions(library, {id: library.papers([id])[id]})[id]
    assert sum(reception.functions.values()) == 1
    assert reception.unread == 0
