"""Votes of labellers who are right as often as they should be."""

import pytest

from tests.lab.toys import make_tasks
from whycite.errors import UserError
from whycite.lab.annotate.aggregation import THESIS_ACCURACY, SimulatedLabellers, accuracy_of_one, simulate_votes
from whycite.lab.annotate.tasks import LabellingTask, TaskKind


def _tasks(number: int, kind: TaskKind = "BR", gold: str | None = "1") -> dict[str, LabellingTask]:
    from dataclasses import replace

    return {id: replace(task, gold=gold) for id, task in make_tasks(number, kind).items()}


def test_the_accuracy_of_one_gives_that_of_three() -> None:
    for share in (0.5, 0.6, 0.9, 1.0):
        one = accuracy_of_one(share)
        assert 3 * one**2 - 2 * one**3 == pytest.approx(share)
    with pytest.raises(UserError, match=r"between 0\.5 and 1"):
        accuracy_of_one(0.4)
    assert THESIS_ACCURACY["BR"] == pytest.approx(0.5975, abs=0.001)  # of kappa .29


@pytest.mark.parametrize("accuracy", [0.6, 0.9])
def test_answers_are_right_as_often_as_said(accuracy: float) -> None:
    answers = simulate_votes(_tasks(3000), SimulatedLabellers({"BR": accuracy}, spread=0.0), 3, seed=1)
    labels = [label for votes in answers.values() for label in votes.values()]
    assert len(labels) == 9000
    assert labels.count("1") / len(labels) == pytest.approx(accuracy, abs=0.02)


def test_a_seed_gives_the_same_votes_of_different_people() -> None:
    labellers = SimulatedLabellers({"BR": 0.7}, number=6)
    answers = simulate_votes(_tasks(20), labellers, 5, seed=3)
    assert answers == simulate_votes(_tasks(20), labellers, 5, seed=3)
    assert answers != simulate_votes(_tasks(20), labellers, 5, seed=4)
    assert {len(votes) for votes in answers.values()} == {5}


def test_tasks_without_a_right_answer_are_not_answered() -> None:
    assert simulate_votes(_tasks(5, gold=None), SimulatedLabellers({"BR": 0.7}), 3, seed=0) == {}
    assert simulate_votes(_tasks(5, "BC-E", "evidence"), SimulatedLabellers({"BR": 0.7}), 3, seed=0) == {}
    with pytest.raises(UserError, match="2 labellers cannot cast 3 votes"):
        simulate_votes(_tasks(5), SimulatedLabellers({"BR": 0.7}, number=2), 3, seed=0)
