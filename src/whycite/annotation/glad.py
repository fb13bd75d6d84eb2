"""GLAD: who is skilled, which tasks are hard, and what is true, all from the answers alone (Whitehill et al. 2009).

A labeller of skill a answers a task of easiness e^b rightly with probability 1 / (1 + exp(-a e^b)). Skills and b have
the paper's priors, normal around 1 with variance 1; both labels are equally likely beforehand. What is expected and
what is most likely are found in turns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whycite.annotation.votes import Answered, Labelled
from whycite.errors import UserError

__all__ = ["Glad", "glad"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_ROUNDS = 200
_STEPS = 3  # of Newton's method in a round, for skills and for easiness
_HALVINGS = 30
_SMALL = 1e-7  # gain a vote in a round, below which it is time to stop
_PRIOR = 1.0  # mean of skills and of b


@dataclass(frozen=True, slots=True)
class Glad:
    """What GLAD found."""

    labels: dict[str, Labelled]
    skill: dict[str, float]  # of each labeller: 0 is chance, below 0 says the contrary
    easiness: dict[str, float]  # of each task, above 0
    history: tuple[float, ...]  # logarithm of the posterior of skills and easiness after each round; it never falls


@dataclass(frozen=True, slots=True)
class _Votes:
    """Every vote: on which task, by whom, 1 for the first label or -1 for the second."""

    task: Integers
    labeller: Integers
    sign: Floats


def glad(answered: Answered, labels: tuple[str, str], rounds: int = _ROUNDS) -> Glad:
    """The most likely label of each task with its probability; of two as likely, the first."""
    given = [(task, labeller, label) for task, votes in answered.items() for labeller, label in votes.items()]
    if not given:
        raise UserError("there are no answers to aggregate")
    if unknown := {label for _, _, label in given} - set(labels):
        raise UserError(f"GLAD chooses between '{labels[0]}' and '{labels[1]}', and there is '{min(unknown)}'")
    tasks, labellers = _numbered(task for task, _, _ in given), _numbered(labeller for _, labeller, _ in given)
    votes = _Votes(
        np.array([tasks[task] for task, _, _ in given]),
        np.array([labellers[labeller] for _, labeller, _ in given]),
        np.array([1.0 if label == labels[0] else -1.0 for _, _, label in given]),
    )
    skill, b, history = np.full(len(labellers), _PRIOR), np.full(len(tasks), _PRIOR), [-np.inf]
    for _ in range(rounds):
        first = _first(votes, skill, b)
        right = np.where(votes.sign > 0, first[votes.task], 1 - first[votes.task])  # probability of each vote's truth
        for _ in range(_STEPS):
            skill = _better_skill(votes, skill, b, right)
            b = _better_easiness(votes, skill, b, right)
        history.append(_posterior(votes, skill, b))
        if history[-1] - history[-2] < _SMALL * len(given):
            break
    first = _first(votes, skill, b)
    return Glad(
        {task: _labelled(float(first[at]), labels, len(answered[task])) for task, at in tasks.items()},
        {labeller: float(skill[at]) for labeller, at in labellers.items()},
        {task: float(np.exp(b[at])) for task, at in tasks.items()},
        tuple(history[1:]),
    )


def _numbered(names: Iterable[str]) -> dict[str, int]:
    return {name: at for at, name in enumerate(dict.fromkeys(names))}


def _labelled(first: float, labels: tuple[str, str], votes: int) -> Labelled:
    return Labelled(labels[0], first, votes) if first >= 0.5 else Labelled(labels[1], 1 - first, votes)


def _strength(votes: _Votes, skill: Floats, b: Floats) -> Floats:
    """The logarithm of the odds that each vote is right."""
    return np.asarray(skill[votes.labeller] * np.exp(b[votes.task]))


def _first(votes: _Votes, skill: Floats, b: Floats) -> Floats:
    """The probability of the first label for each task: a vote's odds multiply."""
    odds = np.bincount(votes.task, votes.sign * _strength(votes, skill, b), len(b))
    return np.asarray(np.exp(-np.logaddexp(0, -odds)))


def _posterior(votes: _Votes, skill: Floats, b: Floats) -> float:
    """Its logarithm, but for a constant; the true labels are summed over."""
    x = _strength(votes, skill, b)
    if_first = np.bincount(votes.task, -np.logaddexp(0, -votes.sign * x), len(b))
    if_second = np.bincount(votes.task, -np.logaddexp(0, votes.sign * x), len(b))
    prior = ((skill - _PRIOR) ** 2).sum() + ((b - _PRIOR) ** 2).sum()
    return float(np.logaddexp(if_first, if_second).sum() - prior / 2)


def _expected(x: Floats, right: Floats) -> Floats:
    """What is expected of the logarithm of each vote's probability."""
    return np.asarray(-right * np.logaddexp(0, -x) - (1 - right) * np.logaddexp(0, x))


def _better_skill(votes: _Votes, skill: Floats, b: Floats, right: Floats) -> Floats:
    """A step of Newton's method for each skill; the expectation is concave in it."""

    def worth(value: Floats) -> Floats:
        each = _expected(_strength(votes, value, b), right)
        return np.asarray(np.bincount(votes.labeller, each, len(value)) - (value - _PRIOR) ** 2 / 2)

    ease = np.exp(b[votes.task])
    said = _sigmoid(skill[votes.labeller] * ease)
    slope = np.bincount(votes.labeller, (right - said) * ease, len(skill)) - (skill - _PRIOR)
    bend = np.bincount(votes.labeller, said * (1 - said) * ease**2, len(skill)) + 1
    return _moved(skill, slope / bend, worth)


def _better_easiness(votes: _Votes, skill: Floats, b: Floats, right: Floats) -> Floats:
    """A step for each b; the part of the curvature that is surely negative is used alone."""

    def worth(value: Floats) -> Floats:
        each = _expected(_strength(votes, skill, value), right)
        return np.asarray(np.bincount(votes.task, each, len(value)) - (value - _PRIOR) ** 2 / 2)

    x = _strength(votes, skill, b)
    said = _sigmoid(x)
    slope = np.bincount(votes.task, (right - said) * x, len(b)) - (b - _PRIOR)
    bend = np.bincount(votes.task, said * (1 - said) * x**2, len(b)) + 1
    return _moved(b, np.clip(slope / bend, -1, 1), worth)


def _moved(at: Floats, step: Floats, worth: Callable[[Floats], Floats]) -> Floats:
    """Each value moved by its step, by half of it where that would be worse, and so on."""
    before = worth(at)
    for _ in range(_HALVINGS):
        worse = worth(at + step) < before
        if not worse.any():
            return at + step
        step = np.where(worse, step / 2, step)
    return np.asarray(np.where(worth(at + step) < before, at, at + step))


def _sigmoid(x: Floats) -> Floats:
    return np.asarray(np.exp(-np.logaddexp(0, -x)))
