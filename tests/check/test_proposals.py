"""Two rankings become one."""

from math import exp

import pytest

from whycite.check.proposals import SourceRanking, merge_rankings
from whycite.cite.exports import CitationKeys
from whycite.cite.fit import BAR
from whycite.cite.recommendations import Evidence, Recommendation
from whycite.documents.model import Reference
from whycite.library import Paper, SourceDocument


def found(key: str, support: int = 1, score: float = 0.5, fits: float | None = None) -> Recommendation:
    evidence = Evidence(f"said of {key}", score, f"said of {key}", SourceDocument("", "A paper", 2000))
    paper = Paper(key, f"On {key}stone", ("Doe, Jane",), 2001, "", "")
    return Recommendation(1, 9.0, support, paper, (evidence,), {}, fits)


def keys() -> CitationKeys:
    return CitationKeys([Reference("doe2001on")])


def test_what_both_say_of_a_paper_adds_up() -> None:
    own = SourceRanking([("a", found("A", 2)), ("b", found("B", 2, 0.4))], [0.0, -0.1])
    library = SourceRanking([(None, found("C")), ("b", found("B2", 5, 0.9))], [-0.2, -0.3])
    best = merge_rankings(own, library, 3, keys())
    assert [(one.key, one.in_bibliography) for one in best] == [("b", True), ("a", True), ("doe2001cstone", False)]
    both = best[0].recommendation
    assert both.paper.key == "B"
    assert both.support == 7
    assert [one.score for one in both.evidence] == [0.9, 0.4]
    total = 1 + exp(-0.1) + exp(-0.2) + exp(-0.3)
    assert both.shares == pytest.approx({"bibliography": exp(-0.1) / total, "library": exp(-0.3) / total})
    assert sum(both.shares.values()) == both.score
    assert sum(one.recommendation.score for one in best) == pytest.approx(1)
    assert [one.recommendation.rank for one in best] == [1, 2, 3]


def test_a_sure_first_of_one_comes_before_a_poor_first_of_the_other() -> None:
    own = SourceRanking([("a", found("A")), ("b", found("B"))], [0.0, -3.0])
    library = SourceRanking([("b", found("B")), ("a", found("A"))], [-2.0, -5.0])
    assert [one.key for one in merge_rankings(own, library, 2, keys())] == ["a", "b"]
    sure = SourceRanking(library.recommendations, [3.0, -1.0])
    assert [one.key for one in merge_rankings(own, sure, 2, keys())] == ["b", "a"]


def test_new_papers_bring_their_entry_and_known_ones_none() -> None:
    best = merge_rankings(
        SourceRanking([("a", found("A"))], [0.0]), SourceRanking([(None, found("C"))], [-1.0]), 2, keys()
    )
    assert best[0].bibtex == ""
    assert best[1].bibtex.startswith("@misc{doe2001cstone,\n")


def test_a_source_in_doubt_counts_half() -> None:
    own, library = [("a", found("A"))], [(None, found("C"))]
    in_doubt = merge_rankings(SourceRanking(own, [0.0], doubtful=True), SourceRanking(library, [-0.5]), 1, keys())
    assert in_doubt[0].in_bibliography is False
    in_doubt = merge_rankings(SourceRanking(own, [0.0]), SourceRanking(library, [0.5], doubtful=True), 1, keys())
    assert in_doubt[0].in_bibliography is True


def test_a_paper_that_fits_and_leads_the_others_is_sure() -> None:
    own = [("a", found("A", fits=0.9)), ("b", found("B", fits=0.1))]
    nothing = SourceRanking([], [])
    assert [one.sure for one in merge_rankings(SourceRanking(own, [0.0, -3.0]), nothing, 2, keys())] == [True, False]
    rivals = [own[0], *((name, found(name.upper(), fits=0.9)) for name in "bcd")]
    assert not merge_rankings(SourceRanking(rivals, [0.0, -0.1, -0.1, -0.1]), nothing, 2, keys())[0].sure
    assert not merge_rankings(SourceRanking(own[1:], [0.0]), nothing, 2, keys())[0].sure
    assert merge_rankings(SourceRanking(own[:1], [0.0]), nothing, 2, keys())[0].sure


@pytest.mark.parametrize("fits", [None, BAR - 0.01])
def test_a_paper_that_does_not_fit_is_never_sure(fits: float | None) -> None:
    alone = SourceRanking([("a", found("A", fits=fits))], [0.0])
    assert not merge_rankings(alone, SourceRanking([], []), 1, keys())[0].sure


def test_a_paper_of_both_sources_fits_as_well_as_the_better_one_says() -> None:
    own, library = [("a", found("A", fits=0.4))], [("a", found("A", fits=0.7))]
    best = merge_rankings(SourceRanking(own, [0.0]), SourceRanking(library, [-5.0]), 1, keys())
    assert best[0].recommendation.fits == 0.7


def test_odds_out_of_all_measure() -> None:
    own = SourceRanking([("a", found("A")), ("b", found("B"))], [0.0, -1e6])
    assert [one.recommendation.score for one in merge_rankings(own, SourceRanking([], []), 2, keys())] == [1.0, 0.0]
    assert merge_rankings(own, SourceRanking([(None, found("C"))], [1e6]), 1, keys())[0].recommendation.score == 1.0


def test_nothing_out_of_nothing() -> None:
    assert merge_rankings(SourceRanking([], []), SourceRanking([], []), 3, keys()) == ()
