"""The truth out of several labellers."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.lab.toys import simulate_labels
from whycite.errors import UserError
from whycite.lab.annotate.aggregation import (
    AggregatedLabel,
    aggregate,
    area_under_curve,
    compare_methods,
    f1,
    first_votes,
    glad,
    kappa,
    label_tasks,
    labeller_agreement,
    mutual_kappa,
    vote,
)
from whycite.lab.annotate.tasks import LABELS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whycite.lab.annotate.tasks import LabellingTask

BR = ("1", "2")


def accuracy(found: Mapping[str, AggregatedLabel], tasks: Mapping[str, LabellingTask]) -> float:
    return float(np.mean([each.label == tasks[task].gold for task, each in found.items()]))


def test_majorities() -> None:
    answered = {
        "clear": dict(zip("abcde", "11111", strict=True)),
        "high": dict(zip("abcde", "12222", strict=True)),
        "narrow": dict(zip("abcde", "11122", strict=True)),
        "tied": dict(zip("abcd", "1122", strict=True)),
    }
    assert vote(answered) == {
        "clear": AggregatedLabel("1", 1.0, 5),
        "high": AggregatedLabel("2", 0.8, 5),
        "narrow": AggregatedLabel("1", 0.6, 5),
    }
    assert list(vote(answered, 0.8)) == ["clear", "high"]
    assert list(vote(answered, 1)) == ["clear"]
    with pytest.raises(UserError, match=r"between 0\.5 and 1"):
        vote(answered, 0.4)


def test_first_votes_are_those_that_came_first() -> None:
    answered = {"a": {"x": "1", "y": "2", "z": "2"}, "b": {"x": "1"}}
    assert first_votes(answered, 2) == {"a": {"x": "1", "y": "2"}}
    with pytest.raises(UserError, match="at least 1 labeller"):
        first_votes(answered, 0)


@pytest.mark.parametrize("seed", range(3))
def test_equal_labellers_are_recovered_by_both(seed: int) -> None:
    tasks, answered = simulate_labels([2.0] * 5, seed=seed)
    assert accuracy(vote(answered), tasks) > 0.97
    assert accuracy(glad(answered, BR).labels, tasks) > 0.97


@pytest.mark.parametrize("seed", range(3))
def test_glad_beats_the_vote_when_skills_differ(seed: int) -> None:
    skills = [2.5, 1.5, 0.05, 0.0, -0.8]
    tasks, answered = simulate_labels(skills, seed=seed)
    found = glad(answered, BR)
    by_vote, by_glad = accuracy(vote(answered), tasks), accuracy(found.labels, tasks)
    assert by_glad > 0.95
    assert by_glad > by_vote + 0.1
    assert sorted(found.skill, key=lambda name: -found.skill[name])[:2] == ["labeller 0", "labeller 1"]
    assert found.skill["labeller 4"] < -0.2  # who says the contrary is told from who says anything
    assert all(later >= earlier - 1e-9 for earlier, later in zip(found.history, found.history[1:], strict=False))


def test_glad_is_sure_where_it_is_right() -> None:
    tasks, answered = simulate_labels([2.0, 1.0, 0.5, 0.3, 0.3], number=600)
    labels = glad(answered, BR).labels
    sure = [label.label == tasks[task].gold for task, label in labels.items() if label.share > 0.95]
    unsure = [label.label == tasks[task].gold for task, label in labels.items() if label.share < 0.8]
    assert np.mean(sure) > 0.93 > np.mean(unsure)


def test_tasks_that_divide_labellers_are_the_hard_ones() -> None:
    answered = {f"t{at}": dict.fromkeys("abcde", "1" if at % 2 else "2") for at in range(20)}
    answered["hard"] = dict(zip("abcde", "11122", strict=True))
    found = glad(answered, BR)
    assert found.easiness["hard"] < min(found.easiness[f"t{at}"] for at in range(20))
    assert found.labels["hard"].share < found.labels["t1"].share


def test_glad_takes_only_its_labels_and_some_answers() -> None:
    with pytest.raises(UserError, match="no answers"):
        glad({}, BR)
    with pytest.raises(UserError, match="the labels 1, 2, but an answer is 'evidence'"):
        glad({"t": {"a": "evidence"}}, BR)


@pytest.mark.parametrize("seed", range(3))
def test_glad_on_three_labels(seed: int) -> None:
    tasks, answered = simulate_labels([2.5, 1.5, 0.05, 0.0, 0.0], kind="TC", seed=seed)
    found = glad(answered, LABELS["TC"])
    assert accuracy(found.labels, tasks) > 0.95
    by_vote = vote(answered)  # leaves out tasks without a majority
    assert accuracy(found.labels, tasks) * len(tasks) > accuracy(by_vote, tasks) * len(by_vote) + 5
    assert all(later >= earlier - 1e-9 for earlier, later in zip(found.history, found.history[1:], strict=False))
    rows = compare_methods(tasks, answered, (5,))
    assert {(row.kind, row.method, row.auc, row.auc_soft) for row in rows} == {
        ("TC", "vote", None, None),
        ("TC", "glad", None, None),
    }
    best = max(rows, key=lambda row: row.f1)
    assert (best.method, best.tasks) == ("glad", 300)
    gold = [tasks[task].gold or "" for task in found.labels]
    predicted = [label.label for label in found.labels.values()]
    assert best.f1 == pytest.approx(sum(f1(predicted, gold, label) for label in LABELS["TC"]) / 3)


def test_glad_stays_quick() -> None:
    _, answered = simulate_labels([1.5, 1.0, 0.5, 0.2, 0.1], number=2000)
    start = time.process_time()
    glad(answered, BR)
    assert time.process_time() - start < 20


@pytest.mark.filterwarnings("ignore")  # of packages that are not ours
@pytest.mark.parametrize("skills", [(1.0, 1.0, 1.0, 1.0, 1.0), (2.5, 1.5, 0.0, 0.0, -0.8)], ids=["equal", "different"])
def test_labels_are_those_of_the_reference_implementation(skills: tuple[float, ...]) -> None:
    reference = pytest.importorskip("crowdkit.aggregation", reason="no parity test without: pip install crowd-kit")
    pandas = pytest.importorskip("pandas")
    _, answered = simulate_labels(skills, number=60)
    rows = [(task, labeller, label) for task, given in answered.items() for labeller, label in given.items()]
    theirs = reference.GLAD().fit_predict(pandas.DataFrame(rows, columns=["task", "worker", "label"]))
    ours = glad(answered, BR).labels
    assert np.mean([ours[task].label == theirs[task] for task in answered]) >= 0.98


labels = st.lists(st.tuples(st.sampled_from(BR), st.sampled_from(BR)), min_size=1, max_size=40)


@given(labels)
def test_kappa_is_symmetric_and_bounded(pairs: list[tuple[str, str]]) -> None:
    one, other = [a for a, _ in pairs], [b for _, b in pairs]
    assert kappa(one, other) == pytest.approx(kappa(other, one))
    assert -1 <= kappa(one, other) <= 1
    assert kappa(one, one) == 1


def test_measures_by_hand() -> None:
    one, other = list("1111222222"), list("1112222211")
    # Seen 7 of 10; by chance .4 x .5 + .6 x .5.
    assert kappa(one, other) == pytest.approx((0.7 - 0.5) / 0.5)
    assert f1(one, other, "1") == pytest.approx(2 * 3 / (4 + 5))
    assert f1(["2"], ["1"], "1") == 0
    assert area_under_curve([0.9, 0.5, 0.5, 0.1], [True, True, False, False]) == pytest.approx(0.875)
    assert area_under_curve([1.0], [True]) is None
    assert mutual_kappa({"t": {"a": "1"}}) is None
    assert mutual_kappa({f"t{at}": {"a": label, "b": label} for at, label in enumerate("1212")}) == 1


def test_table_of_ways_to_aggregate() -> None:
    tasks, answered = simulate_labels([2.0, 1.5, 0.4, 0.2, -0.5])
    rows = {(row.kind, row.method, row.votes): row for row in compare_methods(tasks, answered)}
    assert list(rows) == [("BR", "vote", 3), ("BR", "vote", 5), ("BR", "glad", 3), ("BR", "glad", 4), ("BR", "glad", 5)]
    five = rows["BR", "glad", 5]
    assert five.tasks == 300
    assert five.kappa > rows["BR", "vote", 5].kappa
    # Of labels that are balanced, as in the thesis, AUC lies halfway between kappa and 1.
    assert five.auc == pytest.approx((1 + five.kappa) / 2, abs=0.01)
    assert five.auc_soft is not None
    assert five.auc is not None
    assert five.auc_soft >= five.auc
    assert five.f1 == pytest.approx(five.auc, abs=0.01)


def test_judgements_count_evidence_as_the_positive_label() -> None:
    tasks, answered = simulate_labels([2.0] * 3, number=40, kind="BC-E")
    (row,) = [row for row in compare_methods(tasks, answered) if row.method == "vote"]
    said = {task: found.label for task, found in vote(answered).items()}
    gold = {task: tasks[task].gold or "" for task in said}
    assert row.f1 == pytest.approx(f1(list(said.values()), list(gold.values()), "evidence"))
    assert labeller_agreement(tasks, answered).keys() == {"BC-E"}


def test_labels_of_all_kinds_at_once() -> None:
    tasks, answered = simulate_labels([2.0, 2.0, 0.1], number=30)
    others, judged = simulate_labels([2.0, 2.0, 0.1], number=30, kind="BC-R", seed=1)
    tasks |= {f"r{task}": each for task, each in others.items()}
    answered |= {f"r{task}": given for task, given in judged.items()}
    found = label_tasks(tasks, answered, "glad")
    assert len(found) == 60
    assert found["rt0"].label in ("related", "unrelated")
    assert len(label_tasks(tasks, answered, "vote", 1.0)) < 60
    with pytest.raises(UserError, match="unknown aggregation method 'mean'"):
        aggregate(answered, "mean", "BR")
