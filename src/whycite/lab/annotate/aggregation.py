"""Labels from votes: aggregation by majority or GLAD, agreement, and simulated votes (the thesis, 4.2 to 4.5).

A labeller of skill a answers a task of easiness e^b correctly with probability 1 / (1 + exp(-a e^b)), and is equally
likely to choose any of the wrong labels. Skills and b have the paper's priors, normal with mean 1 and variance 1; all
labels are equally likely a priori. Fitted by expectation maximization.

Simulated votes are for tasks whose right answer is known and that nobody was asked. Every answer is right by chance,
independent of all others. The odds are those of a mean labeller at a mean task, times a factor of the labeller and one
of the task, both log-normal. A wrong answer is any other label, all equally likely.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from whycite.errors import UserError
from whycite.lab.annotate.tasks import KINDS, LABELS, LabellingTask, TaskKind

__all__ = [
    "ASSUMPTIONS",
    "METHODS",
    "THESIS_ACCURACY",
    "AggregatedLabel",
    "AggregationRow",
    "AnswersByTask",
    "GladEstimate",
    "SimulatedLabellers",
    "accuracy_of_one",
    "aggregate",
    "area_under_curve",
    "compare_methods",
    "f1",
    "first_votes",
    "glad",
    "kappa",
    "label_tasks",
    "labeller_agreement",
    "mutual_kappa",
    "simulate_votes",
    "vote",
]


AnswersByTask = Mapping[str, Mapping[str, str]]
"""Task -> labeller -> label, in order of answering."""


@dataclass(frozen=True, slots=True)
class AggregatedLabel:
    """The aggregated label of a task."""

    label: str
    share: float  # of the votes, or the probability of the label
    votes: int


def first_votes(answers: AnswersByTask, votes: int) -> dict[str, dict[str, str]]:
    """The first `votes` answers of each task that has as many."""
    if votes < 1:
        raise UserError(f"a vote needs at least 1 labeller, not {votes}")
    return {
        task: dict(list(task_labels.items())[:votes])
        for task, task_labels in answers.items()
        if len(task_labels) >= votes
    }


def vote(answers: AnswersByTask, least: float = 0.5) -> dict[str, AggregatedLabel]:
    """The majority labels with a share of at least `least`; tasks without one are omitted.

    Majority 0.5, high majority 0.8 (4 of 5), unanimous 1.
    """
    if not 0.5 <= least <= 1:
        raise UserError(f"the share of votes must be between 0.5 and 1, not {least}")
    voted_labels = {}
    for task, task_labels in answers.items():
        labels = list(task_labels.values())
        label = max(labels, key=labels.count)
        share = labels.count(label) / len(labels)
        if share > 0.5 and share >= least - 1e-9:  # tolerate rounding, as in 4 / 5
            voted_labels[task] = AggregatedLabel(label, share, len(labels))
    return voted_labels


Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_ROUNDS = 200
_STEPS = 3  # Newton steps per round, for skills and easiness
_HALVINGS = 30
_SMALL = 1e-7  # stop if the gain per vote in a round is lower
_PRIOR = 1.0  # mean of skills and of b


@dataclass(frozen=True, slots=True)
class GladEstimate:
    """The estimates of GLAD."""

    labels: dict[str, AggregatedLabel]
    skill: dict[str, float]  # per labeller: 0 is chance, below 0 is adversarial
    easiness: dict[str, float]  # per task, above 0
    history: tuple[float, ...]  # log posterior of skills and easiness after each round; never decreases


@dataclass(frozen=True, slots=True)
class _VoteArrays:
    """The task, labeller and label of every vote, as numbers, and how many labels there are."""

    task: Integers
    labeller: Integers
    label: Integers
    labels: int


def glad(answers: AnswersByTask, labels: Sequence[str], rounds: int = _ROUNDS) -> GladEstimate:
    """The most likely label of each task and its probability; the first label if tied."""
    ballots = [(task, labeller, label) for task, votes in answers.items() for labeller, label in votes.items()]
    if not ballots:
        raise UserError("there are no answers to aggregate")
    if unknown := {label for _, _, label in ballots} - set(labels):
        raise UserError(f"GLAD was given the labels {', '.join(labels)}, but an answer is '{min(unknown)}'")
    tasks, labellers = (
        _number_names(task for task, _, _ in ballots),
        _number_names(labeller for _, labeller, _ in ballots),
    )
    votes = _VoteArrays(
        np.array([tasks[task] for task, _, _ in ballots]),
        np.array([labellers[labeller] for _, labeller, _ in ballots]),
        np.array([labels.index(label) for _, _, label in ballots]),
        len(labels),
    )
    skill, b, history = np.full(len(labellers), _PRIOR), np.full(len(tasks), _PRIOR), [-np.inf]
    for _ in range(rounds):
        correctness = _label_probabilities(votes, skill, b)[votes.task, votes.label]  # of each vote
        for _ in range(_STEPS):
            skill = _better_skill(votes, skill, b, correctness)
            b = _better_easiness(votes, skill, b, correctness)
        history.append(_posterior(votes, skill, b))
        if history[-1] - history[-2] < _SMALL * len(ballots):
            break
    probabilities = _label_probabilities(votes, skill, b)
    return GladEstimate(
        {
            task: AggregatedLabel(labels[best], float(probabilities[index, best]), len(answers[task]))
            for task, index in tasks.items()
            for best in [int(probabilities[index].argmax())]
        },
        {labeller: float(skill[index]) for labeller, index in labellers.items()},
        {task: float(np.exp(b[index])) for task, index in tasks.items()},
        tuple(history[1:]),
    )


def _number_names(names: Iterable[str]) -> dict[str, int]:
    return {name: index for index, name in enumerate(dict.fromkeys(names))}


def _strength(votes: _VoteArrays, skill: Floats, b: Floats) -> Floats:
    """The log odds that each vote is correct."""
    return np.asarray(skill[votes.labeller] * np.exp(b[votes.task]))


def _label_likelihoods(votes: _VoteArrays, skill: Floats, b: Floats) -> Floats:
    """For each task, the log likelihood of its votes by which label is the correct one."""
    x = _strength(votes, skill, b)
    if_correct, if_wrong = -np.logaddexp(0, -x), -np.logaddexp(0, x) - np.log(votes.labels - 1)
    by_label = [np.where(votes.label == label, if_correct, if_wrong) for label in range(votes.labels)]
    return np.stack([np.bincount(votes.task, likelihoods, len(b)) for likelihoods in by_label], axis=1)


def _label_probabilities(votes: _VoteArrays, skill: Floats, b: Floats) -> Floats:
    """The probability of each label for each task."""
    likelihoods = _label_likelihoods(votes, skill, b)
    return np.asarray(np.exp(likelihoods - np.logaddexp.reduce(likelihoods, axis=1, keepdims=True)))


def _posterior(votes: _VoteArrays, skill: Floats, b: Floats) -> float:
    """The log posterior up to a constant, summed over the true labels."""
    likelihoods = np.logaddexp.reduce(_label_likelihoods(votes, skill, b), axis=1)
    prior = ((skill - _PRIOR) ** 2).sum() + ((b - _PRIOR) ** 2).sum()
    return float(likelihoods.sum() - prior / 2)


def _expected_log_likelihood(x: Floats, correctness: Floats) -> Floats:
    """The expected log likelihood of each vote."""
    return np.asarray(-correctness * np.logaddexp(0, -x) - (1 - correctness) * np.logaddexp(0, x))


def _better_skill(votes: _VoteArrays, skill: Floats, b: Floats, correctness: Floats) -> Floats:
    """A Newton step for each skill; the expectation is concave in it."""

    def worth(value: Floats) -> Floats:
        expectations = _expected_log_likelihood(_strength(votes, value, b), correctness)
        return np.asarray(np.bincount(votes.labeller, expectations, len(value)) - (value - _PRIOR) ** 2 / 2)

    ease = np.exp(b[votes.task])
    predictions = _sigmoid(skill[votes.labeller] * ease)
    slope = np.bincount(votes.labeller, (correctness - predictions) * ease, len(skill)) - (skill - _PRIOR)
    bend = np.bincount(votes.labeller, predictions * (1 - predictions) * ease**2, len(skill)) + 1
    return _take_step(skill, slope / bend, worth)


def _better_easiness(votes: _VoteArrays, skill: Floats, b: Floats, correctness: Floats) -> Floats:
    """A Newton step for each b, with only the part of the curvature that is always negative."""

    def worth(value: Floats) -> Floats:
        expectations = _expected_log_likelihood(_strength(votes, skill, value), correctness)
        return np.asarray(np.bincount(votes.task, expectations, len(value)) - (value - _PRIOR) ** 2 / 2)

    x = _strength(votes, skill, b)
    predictions = _sigmoid(x)
    slope = np.bincount(votes.task, (correctness - predictions) * x, len(b)) - (b - _PRIOR)
    bend = np.bincount(votes.task, predictions * (1 - predictions) * x**2, len(b)) + 1
    return _take_step(b, np.clip(slope / bend, -1, 1), worth)


def _take_step(values: Floats, step: Floats, worth: Callable[[Floats], Floats]) -> Floats:
    """Add the step to each value, halving it until the result is no worse."""
    baseline = worth(values)
    for _ in range(_HALVINGS):
        worse = worth(values + step) < baseline
        if not worse.any():
            return values + step
        step = np.where(worse, step / 2, step)
    return np.asarray(np.where(worth(values + step) < baseline, values, values + step))


def _sigmoid(x: Floats) -> Floats:
    return np.asarray(np.exp(-np.logaddexp(0, -x)))


_SHARED = 2  # tasks that two labellers must share to be compared


def kappa(first_labels: Sequence[str], second_labels: Sequence[str]) -> float:
    """Cohen's kappa, from -1 to 1; 1 if both only ever give the same single label."""
    labels = set(first_labels) | set(second_labels)
    seen = sum(a == b for a, b in zip(first_labels, second_labels, strict=True)) / len(first_labels)
    chance = sum(first_labels.count(label) * second_labels.count(label) for label in labels) / len(first_labels) ** 2
    return 1.0 if chance == 1 else (seen - chance) / (1 - chance)


def area_under_curve(scores: Sequence[float], positive: Sequence[bool]) -> float | None:
    """The probability that a positive scores above a negative, ties counting half; None without both."""
    above = [score for score, good in zip(scores, positive, strict=True) if good]
    below = [score for score, good in zip(scores, positive, strict=True) if not good]
    if not above or not below:
        return None
    ordered = sorted(below)
    won = sum(bisect_left(ordered, score) + bisect_right(ordered, score) for score in above)
    return won / 2 / len(above) / len(below)


def f1(predicted: Sequence[str], gold: Sequence[str], label: str) -> float:
    """The F1 score of a label; 0 if it is never right."""
    hits = sum(a == b == label for a, b in zip(predicted, gold, strict=True))
    return 2 * hits / (predicted.count(label) + gold.count(label)) if hits else 0.0


def mutual_kappa(answers: AnswersByTask) -> float | None:
    """The mean kappa of pairs of labellers, weighted by the tasks they share; None if no pair shares enough."""
    by_labeller: dict[str, dict[str, str]] = {}
    for task, task_labels in answers.items():
        for labeller, label in task_labels.items():
            by_labeller.setdefault(labeller, {})[task] = label
    total, weight = 0.0, 0
    for first_labels, second_labels in combinations(by_labeller.values(), 2):
        shared = sorted(first_labels.keys() & second_labels.keys())
        if len(shared) >= _SHARED:
            total += kappa([first_labels[task] for task in shared], [second_labels[task] for task in shared]) * len(
                shared
            )
            weight += len(shared)
    return total / weight if weight else None


METHODS = ("vote", "glad")
_VOTES = (3, 4, 5)
_POSITIVE_FIRST: tuple[TaskKind, ...] = ("BC-E", "BC-R")


@dataclass(frozen=True, slots=True)
class AggregationRow:
    """The quality of an aggregation method on tasks of a kind with gold."""

    kind: TaskKind
    method: str
    votes: int
    tasks: int  # with a label and gold
    kappa: float
    auc: float | None  # of the labels themselves; None with more than two
    auc_soft: float | None  # of the share of votes, or of GLAD's probability
    f1: float  # of the first label; for comparisons and three labels the mean, since none of them is the positive one


def aggregate(answers: AnswersByTask, method: str, kind: TaskKind) -> dict[str, AggregatedLabel]:
    """Aggregate the answers to tasks of a kind."""
    if method not in METHODS:
        raise UserError(f"unknown aggregation method '{method}'; choose one of: {', '.join(METHODS)}")
    if not answers:
        return {}
    return glad(answers, LABELS[kind]).labels if method == "glad" else vote(answers)


def label_tasks(
    tasks: Mapping[str, LabellingTask], answers: AnswersByTask, method: str, least: float = 0.5
) -> dict[str, AggregatedLabel]:
    """The labels of all tasks with a share of votes, or probability, of at least `least`."""
    labels: dict[str, AggregatedLabel] = {}
    for kind, kind_answers in _by_kind(tasks, answers).items():
        labels |= aggregate(kind_answers, method, kind)
    return {task: task_label for task, task_label in labels.items() if task_label.share >= least - 1e-9}


def labeller_agreement(tasks: Mapping[str, LabellingTask], answers: AnswersByTask) -> dict[TaskKind, float]:
    """The mean kappa between labellers for each kind of task, where they can be compared."""
    kappas = {kind: mutual_kappa(kind_answers) for kind, kind_answers in _by_kind(tasks, answers).items()}
    return {kind: value for kind, value in kappas.items() if value is not None}


def _by_kind(tasks: Mapping[str, LabellingTask], answers: AnswersByTask) -> dict[TaskKind, AnswersByTask]:
    return {kind: {id: task_labels for id, task_labels in answers.items() if tasks[id].kind == kind} for kind in KINDS}


def compare_methods(
    tasks: Mapping[str, LabellingTask], answers: AnswersByTask, votes: Sequence[int] = _VOTES
) -> list[AggregationRow]:
    """A row for each kind, method and number of votes; even numbers only for GLAD, since votes could tie.

    GLAD learns skills from all tasks of the kind, including those without gold.
    """
    rows = []
    for kind, kind_answers in _by_kind(tasks, answers).items():
        for method in METHODS:
            for number in votes:
                if method == "vote" and number % 2 == 0:
                    continue
                labels = aggregate(first_votes(kind_answers, number), method, kind)
                checked_labels = {
                    task: task_label for task, task_label in labels.items() if tasks[task].gold is not None
                }
                if checked_labels:
                    rows.append(
                        _row(
                            kind,
                            method,
                            number,
                            checked_labels,
                            {task: tasks[task].gold or "" for task in checked_labels},
                        )
                    )
    return rows


def _row(
    kind: TaskKind, method: str, votes: int, labels: Mapping[str, AggregatedLabel], gold: Mapping[str, str]
) -> AggregationRow:
    gold_labels, predicted = [gold[task] for task in labels], [task_label.label for task_label in labels.values()]
    scores = {label: f1(predicted, gold_labels, label) for label in LABELS[kind]}
    positive_label = LABELS[kind][0]
    positive = [label == positive_label for label in gold_labels]
    soft = [
        task_label.share if task_label.label == positive_label else 1 - task_label.share
        for task_label in labels.values()
    ]
    is_binary = len(LABELS[kind]) == 2
    return AggregationRow(
        kind=kind,
        method=method,
        votes=votes,
        tasks=len(labels),
        kappa=kappa(predicted, gold_labels),
        auc=area_under_curve([float(label == positive_label) for label in predicted], positive) if is_binary else None,
        auc_soft=area_under_curve(soft, positive) if is_binary else None,
        f1=scores[positive_label] if kind in _POSITIVE_FIRST else sum(scores.values()) / len(scores),
    )


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
        chosen_labellers = random.permutation(labellers.number)[:votes]
        is_right = random.random(votes) < 1 / (1 + np.exp(-(log_odds + skills[chosen_labellers])))
        wrong = [label for label in LABELS[task.kind] if label != task.gold]
        answers[id] = {
            f"labeller {labeller}": task.gold if is_correct else str(random.choice(wrong))
            for labeller, is_correct in zip(chosen_labellers.tolist(), is_right.tolist(), strict=True)
        }
    return answers
