"""Votes of simulated labellers, for tasks whose right answer is known and that nobody was asked.

Every answer is right by chance, independent of all others. The odds are those of a mean labeller at a mean task, times
a factor of the labeller and one of the task, both log-normal. A wrong answer is any other label, all equally likely.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from whycite.errors import UserError
from whycite.lab.annotate.tasks import LABELS, LabellingTask, TaskKind

__all__ = ["ASSUMPTIONS", "THESIS_ACCURACY", "SimulatedLabellers", "accuracy_of_one", "simulate_votes"]

_VOTE_3_KAPPA: Mapping[TaskKind, float] = MappingProxyType({"BR": 0.29, "BC-E": 0.16, "BC-R": 0.04})  # table 4.1


def accuracy_of_one(of_three: float) -> float:
    """How often one labeller is right if the majority of three independent ones is right that often."""
    if not 0.5 <= of_three <= 1:
        raise UserError(f"the accuracy of a vote of two labels must be between 0.5 and 1, not {of_three}")
    low, high = 0.5, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if 3 * middle**2 - 2 * middle**3 < of_three else (low, middle)
    return (low + high) / 2


THESIS_ACCURACY: Mapping[TaskKind, float] = MappingProxyType(
    {kind: accuracy_of_one((1 + kappa) / 2) for kind, kappa in _VOTE_3_KAPPA.items()}
)
"""How often one of the thesis's labellers was right, if they were independent and both labels were equally frequent."""

ASSUMPTIONS = (
    "Votes are simulated: answers are independent; a mean labeller is right as often as the thesis's Vote 3 implies "
    f"for one labeller ({', '.join(f'{kind} {share:.2f}' for kind, share in THESIS_ACCURACY.items())}); the odds vary "
    "by labeller and task (log-normal)"
)
"""What must be said beside figures of simulated votes."""


@dataclass(frozen=True, slots=True)
class SimulatedLabellers:
    """How often a mean labeller is right by kind of task, how many labellers there are, and how much odds vary."""

    accuracy: Mapping[TaskKind, float]
    number: int = 20
    spread: float = 0.5  # standard deviation of the logarithm of the factors


def simulate_votes(
    tasks: Mapping[str, LabellingTask], labellers: SimulatedLabellers, votes: int, seed: int
) -> dict[str, dict[str, str]]:
    """Task -> labeller -> label, for every task with a right answer of a kind that the labellers know."""
    if not 1 <= votes <= labellers.number:
        raise UserError(f"{labellers.number} labellers cannot cast {votes} votes on a task")
    random = np.random.default_rng(seed)
    skills = random.normal(0, labellers.spread, labellers.number)
    skills -= skills.mean()  # so that the mean labeller is as good as said
    answers: dict[str, dict[str, str]] = {}
    for id, task in tasks.items():
        if task.gold is None or task.kind not in labellers.accuracy:
            continue
        share = labellers.accuracy[task.kind]
        log_odds = np.log(share / (1 - share)) + random.normal(0, labellers.spread)
        asked = random.permutation(labellers.number)[:votes]
        is_right = random.random(votes) < 1 / (1 + np.exp(-(log_odds + skills[asked])))
        wrong = [label for label in LABELS[task.kind] if label != task.gold]
        answers[id] = {
            f"labeller {labeller}": task.gold if right else str(random.choice(wrong))
            for labeller, right in zip(asked.tolist(), is_right.tolist(), strict=True)
        }
    return answers
