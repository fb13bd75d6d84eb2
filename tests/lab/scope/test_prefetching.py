"""SCOPE's experiment on pools of candidates, on sets that a hand can follow."""

from dataclasses import replace

import pytest

from whycite.errors import UserError
from whycite.lab.scope.candidates import CandidatePaper, CitingContext, CitingCorpus, CitingDocument, cited_sets
from whycite.lab.scope.prefetching import (
    PrefetchSetting,
    as_dict,
    draft_part,
    gapped_sets,
    held_out_contexts,
    run,
    split,
)

PAPERS = {f"p{at}": CandidatePaper(f"p{at}", f"Paper about subject{at}", year=1990 + at) for at in range(12)}


def _document(at: int, year: int = 2010) -> CitingDocument:
    """Even ones cite the first six papers, odd ones the others, each paper in a sentence that names its subject."""
    first = 6 * (at % 2)
    contexts = tuple(
        CitingContext((f"It is about subject{n}.",), 0, "method" if n % 2 else "introduction", frozenset({f"p{n}"}))
        for n in range(first, first + 6)
    )
    return CitingDocument(f"d{at}", f"Study {at}", "An abstract.", year, f"2010-01-{at + 1:02}", contexts)


GATHERED = CitingCorpus(tuple(_document(at) for at in range(10)), PAPERS)
QUICK = PrefetchSetting(
    methods=("random", "most-popular", "co-occurrence", "local-bm25"), held_out=2, k=5, drops=(0.5,)
)


def _watch(what: str, done: int, total: int | None) -> None: ...


def test_splits() -> None:
    assert [each.key for each in split(GATHERED.documents, 3).held_out] == ["d7", "d8", "d9"]
    assert len(split(GATHERED.documents).held_out) == 1
    lots = [split(GATHERED.documents, 3, by_lot=True, seed=seed).held_out for seed in (0, 0, 1)]
    assert lots[0] == lots[1] != lots[2]
    assert len({each.key for each in (*split(GATHERED.documents, 3, True).learned, *lots[0])}) == 10
    for number, message in ((10, "cannot hold out 10 of 10 documents"), (0, "at least one document")):
        with pytest.raises(UserError, match=message):
            split(GATHERED.documents, number)


def test_sets_with_gaps() -> None:
    sets = cited_sets(GATHERED.documents[:1], "paper")
    known = {f"p{at}" for at in range(5)}  # p5 cannot be found
    gone: list[frozenset[str]] = []
    for drop, number in ((0.2, 1), (0.5, 2), (0.8, 4)):
        (asked,) = gapped_sets(sets, known, PAPERS, drop, seed=0)
        assert len(asked.missing) == number
        assert {paper.key for paper in asked.part.cited} == known - asked.missing
        assert asked.part.title == "Study 0"
        gone.append(asked.missing)
    assert gone[0] < gone[1] < gone[2]
    assert gapped_sets(sets, {"p0"}, PAPERS, 0.5, 0) == []  # something must be left
    with pytest.raises(UserError, match="between 0 and 1, not 1"):
        gapped_sets(sets, known, PAPERS, 1.0, 0)


def test_sentences() -> None:
    old = replace(GATHERED.documents[0], year=1992)
    asked = held_out_contexts([old], PAPERS, PAPERS, 0)
    assert [sorted(each.truth) for each in asked] == [["p0"], ["p1"], ["p2"]]  # the others are newer
    section = draft_part(asked[0], PAPERS, PAPERS, 0.2, 0, "section")
    assert {paper.key for paper in section.cited} < {"p2", "p4"}
    assert len(section.cited) == 1
    assert section.section_types == ("introduction",)
    assert section.year == 1992
    whole = draft_part(asked[0], PAPERS, PAPERS, 0.2, 0, "paper")
    assert len(whole.cited) == 4
    assert "p0" not in {paper.key for paper in whole.cited}
    assert whole.section_types == ("introduction", "method")
    assert draft_part(asked[0], PAPERS, PAPERS, None, 0, "paper").cited == ()
    assert len(held_out_contexts(GATHERED.documents, PAPERS, PAPERS, 0, limit=7)) == 7


def test_what_is_cited_together_is_found() -> None:
    outcome = run(GATHERED, QUICK, _watch)
    rows = {(row.method, row.by): row for row in outcome.sets}
    assert set(rows) == {(m, by) for m in ("random", "most-popular", "co-occurrence") for by in ("paper", "section")}
    best = rows["co-occurrence", "paper"]
    assert (best.asked, best.mrr.mean, best.recall.mean, best.recall.deviation) == (2, 1.0, 1.0, 0.0)
    assert rows["most-popular", "paper"].recall.mean < 1
    sentences = {(row.method, row.by, row.drop): row for row in outcome.contexts}
    assert sentences["local-bm25", "section", None].mrr.mean == 1.0
    assert sentences["co-occurrence", "paper", 0.5].asked == 12
    assert ("co-occurrence", "paper", None) not in sentences
    assert [(each.by, each.sets, each.papers, each.known) for each in outcome.learned] == [
        ("paper", 8, 12, 1.0),
        ("section", 16, 12, 1.0),
    ]
    assert as_dict(outcome)["sets"][0]["mrr"].keys() == {"mean", "deviation"}


def test_the_same_seed_gives_the_same_figures() -> None:
    one, same, other = (run(GATHERED, replace(QUICK, seed=seed), _watch) for seed in (1, 1, 2))
    assert one == same
    assert one.sets != other.sets


def test_the_later_split() -> None:
    setting = replace(QUICK, methods=("aae-none", "most-popular"), epochs=1, held_out=4, again=True, by=("paper",))
    outcome = run(GATHERED, setting, _watch)
    assert [(row.method, row.asked) for row in outcome.later] == [("aae-none", 2)]
    assert {row.asked for row in outcome.sets} == {4}
    with pytest.raises(UserError, match="raise --held-out"):
        run(GATHERED, replace(setting, held_out=1), _watch)


def test_trained_ones_are_handed_on() -> None:
    made: list[tuple[str, str]] = []
    run(GATHERED, QUICK, _watch, lambda each, by: made.append((each.name, by)))
    assert made[:2] == [("random", "paper"), ("most-popular", "paper")]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"methods": ("nothing",)}, "unknown recommender 'nothing'"),
        ({"drops": (1.5,)}, "must be between 0 and 1, not 1.5"),
        ({"floor": 99}, "no papers to recommend"),
    ],
    ids=["method", "drop", "floor"],
)
def test_what_cannot_be_measured(change: dict[str, object], message: str) -> None:
    with pytest.raises(UserError, match=message):
        run(GATHERED, replace(QUICK, **change), _watch)  # type: ignore[arg-type]


def test_nothing_that_is_known_is_cited() -> None:
    strange = replace(_document(10), contexts=(CitingContext(("New.",), 0, "", frozenset({"p0"})),))
    papers = CitingCorpus((*GATHERED.documents[1:6:2], strange), PAPERS)
    with pytest.raises(UserError, match="no held-out set has two known papers"):
        run(papers, replace(QUICK, held_out=1), _watch)
