"""Methods side by side."""

import sys

import pytest

from whycite.errors import MissingExtra
from whycite.lab.evaluate.comparison import Run, bootstrap, check_installed, compare, paired_t_test

TRUTH = {"q1": ["a"], "q2": ["b"], "q3": ["c"], "q4": ["d"]}


def run(*firsts: str) -> dict[str, list[tuple[str, float]]]:
    """Runs in which the papers given are first, and "a" to "d" follow where they do not."""
    return {
        query: [(paper, 1 / place) for place, paper in enumerate(dict.fromkeys([first, *"abcd"]), start=1)]
        for query, first in zip(TRUTH, firsts, strict=True)
    }


def test_each_method_is_held_against_others() -> None:
    runs: dict[str, Run] = {
        "ours": run("a", "b", "c", "d"),
        "base": run("a", "x", "x", "x"),
        "blind": {query: [] for query in TRUTH},
    }
    ours, base, blind = compare(runs, TRUTH, ["base", "blind", "not run"], seed=3)
    assert [row.method for row in (ours, base, blind)] == ["ours", "base", "blind"]
    ranks = [1, 1 / 3, 1 / 4, 1 / 5]
    assert base.means["MRR"] == pytest.approx(sum(ranks) / 4)
    assert base.interval == bootstrap(ranks, seed=3)
    assert ours.ratios["base"]["MRR"] == pytest.approx(4 / sum(ranks))
    assert ours.ratios["base"]["R@1"] == pytest.approx(4)
    assert ours.ratios["blind"] == {}  # nothing is not so many times as good as something
    assert ours.p["base"]["MRR"] == pytest.approx(paired_t_test([1, 1, 1, 1], ranks).p)
    assert ours.p["base"]["R@5"] == 1
    assert list(ours.p) == ["base", "blind"]
    assert list(base.p) == ["blind"]
    assert blind.ratios["base"]["MRR"] == 0


@pytest.mark.parametrize("package", ["ir_measures", "scipy.special"])
def test_a_missing_extra_is_told_at_once(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    check_installed()
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=r"pip install 'whycite\[eval\]'"):
        check_installed()
