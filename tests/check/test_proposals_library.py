"""What a library's answer is worth beside the draft's own bibliography."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

import whycite
from tests.fakes import word_encoder
from whycite.check.memory import CachedLibrary, LibraryAnswer
from whycite.check.proposals import EVEN_ODDS_MARGIN, Proposer, library_odds
from whycite.cite.recommendations import Claim, Recommendation
from whycite.documents.model import Reference
from whycite.library import Paper


def recommended(score: float, *authors: str) -> Recommendation:
    return Recommendation(1, score, 1, Paper(f"p{score}", "A title", authors, 2001, "", ""), (), {})


def test_odds_are_even_with_the_best_entry_where_a_score_is_far_above_the_doubtful_ones() -> None:
    found = [recommended(12.0 + EVEN_ODDS_MARGIN), recommended(14.0), recommended(12.0)]
    odds = library_odds("Cells divide.", found, doubt=12.0)
    assert odds[0] == 0.0
    assert odds[2] < odds[1] < -1.5


def test_where_nothing_is_known_of_doubt_the_first_is_as_likely_as_the_best_entry() -> None:
    odds = library_odds("Cells divide.", [recommended(3.0), recommended(1.0)], doubt=None)
    assert odds[0] == 0.0 > odds[1]
    assert library_odds("Cells divide.", [], doubt=None) == []


def test_whom_the_sentence_names_is_likely_meant() -> None:
    found = [recommended(15.0, "Doe, Jane"), recommended(13.0, "Müller-Lüdenscheidt, Ann", "Roe, R.")]
    first, second = library_odds("Muller-Ludenscheidt and Roe proposed that cells divide.", found, doubt=12.0)
    assert second > first
    both = library_odds("Roe proposed that cells divide.", found, doubt=12.0)
    assert first < both[1] < second


class _Library:
    """A library that remembers what it was asked."""

    def __init__(self) -> None:
        self.claims: list[Claim] = []

    def find(self, references: Sequence[Reference]) -> list[str | None]:
        return [None] * len(references)

    def recommend(self, claims: Sequence[Claim], n: int, on_answer: Callable[[], None]) -> list[LibraryAnswer]:
        self.claims += claims
        return [LibraryAnswer((), None, None) for _ in claims]


def test_a_library_is_asked_for_a_clause_in_its_paragraph(tmp_path: Path) -> None:
    (tmp_path / "draft.md").write_text("Walls are old [@doe], and bees rest.\n\nCats rest.\n", "utf-8")
    library = _Library()
    document = whycite.read(tmp_path / "draft.md")
    proposer = Proposer(document, word_encoder(), cast("CachedLibrary", library), clauses={0: "bees rest."})
    proposer.propose([0, 1])
    assert [(claim.text, claim.paragraph) for claim in library.claims] == [
        ("bees rest.", "Walls are old, and bees rest."),
        ("Cats rest.", ""),
    ]
