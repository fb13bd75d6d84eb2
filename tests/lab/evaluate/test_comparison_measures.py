"""ILCiteR's measures, worked by hand and against their definition."""

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whycite.errors import MissingExtra, UserError
from whycite.lab.evaluate.comparison import MEASURES, evaluate

KEYS = [f"doi:10.1/{letter}" for letter in "abcdefghijklmno"] + ["title:a study of things 2010", "title:ü"]
PAPERS = st.lists(st.sampled_from(KEYS), unique=True)
QUERIES = st.dictionaries(
    st.sampled_from(["q1", "q 2", "q3", "q4"]),
    st.tuples(PAPERS, st.sets(st.sampled_from(KEYS), min_size=1, max_size=4)),
    min_size=1,
)


def ranked(*keys: str) -> list[tuple[str, float]]:
    return [(key, 1 / place) for place, key in enumerate(keys, start=1)]


def test_any_true_paper_is_a_hit() -> None:
    run = {
        "first": ranked("a", "b"),
        "fourth": ranked("x", "y", "z", "b", "a"),
        "never": ranked("x"),
        "nothing": [],
    }
    truth = {"first": ["a", "c"], "fourth": {"a", "b"}, "never": ["a"], "nothing": ["a"], "not asked": ["a"]}
    scores = evaluate(run, truth)
    assert scores.by_query["MRR"] == {"first": 1, "fourth": 0.25, "never": 0, "nothing": 0, "not asked": 0}
    assert scores.means == pytest.approx({"MRR": 0.25, "R@1": 0.2, "R@3": 0.2, "R@5": 0.4, "R@10": 0.4})
    assert list(scores.by_query["R@5"]) == list(truth)


@settings(deadline=None)
@given(QUERIES)
def test_definition(queries: dict[str, tuple[list[str], set[str]]]) -> None:
    run = {query: ranked(*papers) for query, (papers, _) in queries.items()}
    scores = evaluate(run, {query: true for query, (_, true) in queries.items()})
    for query, (papers, true) in queries.items():
        places = [place for place, paper in enumerate(papers, start=1) if paper in true]
        assert scores.by_query["MRR"][query] == pytest.approx(1 / places[0] if places else 0)
        for k in (1, 3, 5, 10):
            assert scores.by_query[f"R@{k}"][query] == bool(places and places[0] <= k)
    for measure in MEASURES:
        assert scores.means[measure] == pytest.approx(sum(scores.by_query[measure].values()) / len(queries))


def test_the_order_counts_not_the_score() -> None:
    """Scores that trec_eval cannot tell apart, which it would order by name."""
    keys = [f"{number:04}" for number in range(3_000)]
    run = {"q": [(key, 1 - number * 1e-12) for number, key in enumerate(keys)]}
    assert evaluate(run, {"q": ["2500"]}).means["MRR"] == pytest.approx(1 / 2501)


@pytest.mark.parametrize(
    ("run", "truth", "message"),
    [
        ({}, {}, "no queries"),
        ({}, {"q": []}, "'q' has no relevant papers"),
        ({"p": ranked("a")}, {"q": ["a"]}, "'p' has no relevant papers; the run"),
        ({"q": ranked("a", "a")}, {"q": ["a"]}, "twice for query 'q'"),
    ],
    ids=["nothing", "no truth", "strange query", "paper twice"],
)
def test_mistakes(run: dict[str, list[tuple[str, float]]], truth: dict[str, list[str]], message: str) -> None:
    with pytest.raises(UserError, match=message):
        evaluate(run, truth)


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    with pytest.raises(MissingExtra, match=r"pip install 'whycite\[eval\]'"):
        evaluate({"q": ranked("a")}, {"q": ["a"]})
