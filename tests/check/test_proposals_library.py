"""What a library's answer is worth beside the draft's own bibliography."""

from whycite.check.proposals import EVEN_ODDS_MARGIN, library_odds
from whycite.cite.recommendations import Recommendation
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
