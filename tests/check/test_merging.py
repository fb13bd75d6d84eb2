"""Two rankings become one."""

from whycite.check.keys import Keys
from whycite.check.merging import Ranked, merge
from whycite.documents.model import Reference
from whycite.library import Paper, Source
from whycite.recommend import Evidence, Recommendation


def found(key: str, support: int = 1, score: float = 0.5) -> Recommendation:
    evidence = Evidence(f"said of {key}", score, f"said of {key}", Source("", "A paper", 2000))
    return Recommendation(1, 9.0, support, Paper(key, f"On {key}stone", ("Doe, Jane",), 2001, "", ""), (evidence,), {})


def keys() -> Keys:
    return Keys([Reference("doe2001on")])


def test_a_paper_that_both_name_comes_first_and_is_one() -> None:
    own = Ranked([("a", found("A", 2)), ("b", found("B", 2, 0.4))])
    library = Ranked([(None, found("C")), ("b", found("B2", 5, 0.9))])
    best = merge(own, library, 3, keys())
    assert [(one.key, one.known) for one in best] == [("b", True), ("a", True), ("doe2001cstone", False)]
    both = best[0].recommendation
    assert both.paper.key == "B"
    assert both.support == 7
    assert [one.score for one in both.evidence] == [0.9, 0.4]
    assert both.shares == {"bibliography": 0.25, "library": 0.25}
    assert sum(both.shares.values()) == both.score
    assert [one.recommendation.rank for one in best] == [1, 2, 3]


def test_new_papers_bring_their_entry_and_known_ones_none() -> None:
    best = merge(Ranked([("a", found("A"))]), Ranked([(None, found("C"))]), 2, keys())
    assert best[0].bibtex == ""
    assert best[1].bibtex.startswith("@misc{doe2001cstone,\n")


def test_a_source_in_doubt_counts_half() -> None:
    own, library = [("a", found("A"))], [(None, found("C"))]
    assert merge(Ranked(own, doubtful=True), Ranked(library), 1, keys())[0].known is False
    assert merge(Ranked(own), Ranked(library, doubtful=True), 1, keys())[0].known is True


def test_what_only_sources_in_doubt_name_is_doubtful() -> None:
    own, library = [("a", found("A"))], [("a", found("A")), (None, found("C"))]
    best = merge(Ranked(own), Ranked(library, doubtful=True), 2, keys())
    assert [(one.known, one.doubtful) for one in best] == [(True, False), (False, True)]
    assert all(one.doubtful for one in merge(Ranked(own, doubtful=True), Ranked(library, doubtful=True), 2, keys()))


def test_nothing_out_of_nothing() -> None:
    assert merge(Ranked([]), Ranked([]), 3, keys()) == ()
