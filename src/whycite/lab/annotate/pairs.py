"""Build, split and rank datasets of comparisons (the thesis, 2.1.3 and 4.5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from whycite.errors import UserError
from whycite.lab.annotate.aggregation import AnswersByTask, vote
from whycite.lab.annotate.tasks import LabellingTask, TaskOption, names_to_swap, swap_label
from whycite.lab.packing import group_by_names, order_by_lot, pack_groups

__all__ = [
    "DATASETS",
    "PARTS",
    "SentencePair",
    "SentenceRanking",
    "as_dict",
    "assign_parts",
    "balanced_ranks",
    "build_datasets",
    "document_names",
    "rank_sentences",
    "split",
    "swap_evenly",
]


_MIN_SHARES: Mapping[str, float] = MappingProxyType({"majority": 0.5, "high-majority": 0.8, "unanimous": 1.0})
DATASETS = (*_MIN_SHARES, "augmented")


@dataclass(frozen=True, slots=True)
class SentencePair:
    """A claim and two sentences, labelled with the one that backs it better."""

    id: str
    claim: str
    first_option: TaskOption
    second_option: TaskOption
    label: str
    citing: str
    document: str
    share: float  # of the votes; 1 if not labelled
    is_labelled: bool = True  # whether labellers compared them


def build_datasets(tasks: Mapping[str, LabellingTask], answers: AnswersByTask) -> dict[str, list[SentencePair]]:
    """The four datasets; augmented adds pairs of undefeated and unsampled sentences to majority."""
    compared = {task: task_labels for task, task_labels in answers.items() if tasks[task].kind == "BR"}
    datasets = {name: _voted_pairs(tasks, compared, least) for name, least in _MIN_SHARES.items()}
    return datasets | {"augmented": [*datasets["majority"], *_augmented_pairs(tasks, datasets["majority"])]}


def swap_evenly(pairs: Iterable[SentencePair], seed: int = 0) -> list[SentencePair]:
    """Swap options so that each is the better one equally often."""
    pairs = list(pairs)
    swap = names_to_swap({pair.id: pair.label for pair in pairs}, seed)
    return [_swap_pair(pair) if pair.id in swap else pair for pair in pairs]


def as_dict(pair: SentencePair) -> dict[str, Any]:
    """A pair as JSON."""
    return {
        "id": pair.id,
        "claim": pair.claim,
        "options": [{"index": option.index, "text": option.text} for option in (pair.first_option, pair.second_option)],
        "label": pair.label,
        "citing": pair.citing,
        "document": pair.document,
        "share": pair.share,
        "asked": pair.is_labelled,
    }


def _voted_pairs(tasks: Mapping[str, LabellingTask], compared: AnswersByTask, least: float) -> list[SentencePair]:
    return [
        SentencePair(
            id,
            task.claim,
            task.options[0],
            task.options[1],
            task_label.label,
            task.citing,
            task.document,
            task_label.share,
        )
        for id, task_label in vote(compared, least).items()
        for task in [tasks[id]]
    ]


def _augmented_pairs(tasks: Mapping[str, LabellingTask], majority: Sequence[SentencePair]) -> list[SentencePair]:
    """Pair each undefeated sentence with the less similar ones that its task carries."""
    won: dict[tuple[str, str, int], SentencePair] = {}
    lost: set[tuple[str, str, int]] = set()
    for pair in majority:
        better, worse = (
            (pair.first_option, pair.second_option) if pair.label == "1" else (pair.second_option, pair.first_option)
        )
        won.setdefault((pair.claim, pair.document, better.index), replace(pair, first_option=better, label="1"))
        lost.add((pair.claim, pair.document, worse.index))
    return [
        replace(
            pair,
            id=f"{pair.id}+{pair.first_option.index}-{distractor.index}",
            second_option=distractor,
            share=1.0,
            is_labelled=False,
        )
        for winner, pair in won.items()
        if winner not in lost
        for distractor in tasks[pair.id].discarded
    ]


def _swap_pair(pair: SentencePair) -> SentencePair:
    return replace(pair, first_option=pair.second_option, second_option=pair.first_option, label=swap_label(pair.label))


PARTS = ("train", "dev", "test")


def assign_parts(
    items: Sequence[SentencePair | LabellingTask], dev: float = 0.15, test: float = 0.15, seed: int = 0
) -> dict[str, str]:
    """Document -> part, so that parts of about these shares of the items share no documents."""
    if min(dev, test) <= 0 or dev + test >= 1:
        raise UserError(f"the shares of dev and test must be above 0 and add up to less than 1, not {dev} and {test}")
    groups = order_by_lot(group_by_names(items, document_names), lambda group: min(item.id for item in group), seed)
    in_test, rest = pack_groups(groups, round(test * len(items)))
    in_dev, rest = pack_groups(rest, round(dev * len(items)))
    if not (in_test and in_dev and rest):
        raise UserError(
            f"{len(items)} task{'s' * (len(items) != 1)} with an agreed answer, "
            f"in {len(groups)} group{'s' * (len(groups) != 1)} without a document in common, "
            "cannot be parted; collect more"
        )
    return {
        name: part
        for part, chosen in zip(PARTS, (rest, in_dev, in_test), strict=True)
        for group in chosen
        for item in group
        for name in document_names(item)
    }


def split(
    datasets: Mapping[str, Sequence[SentencePair]], part_of: Mapping[str, str], seed: int = 0
) -> dict[str, dict[str, list[SentencePair]]]:
    """Dataset -> part -> pairs, with options swapped to balance each part.

    All datasets are split by the same documents, so that models trained on one can be tested on another.
    """
    every = [pair for pairs in datasets.values() for pair in pairs]
    if unassigned := [pair for pair in every if document_names(pair)[0] not in part_of]:
        raise ValueError(f"{unassigned[0].id} has documents without a part")
    return {
        name: {part: swap_evenly((p for p in pairs if part_of[document_names(p)[0]] == part), seed) for part in PARTS}
        for name, pairs in datasets.items()
    }


def document_names(item: SentencePair | LabellingTask) -> tuple[str, ...]:
    """The documents of a pair or task, or its claim if it names none."""
    return tuple(name for name in (item.citing, item.document) if name) or (item.claim,)


@dataclass(frozen=True, slots=True)
class SentenceRanking:
    """The compared sentences of a claim, best first, with wins minus losses."""

    claim: str
    document: str
    order: tuple[tuple[TaskOption, int], ...]


def balanced_ranks(comparisons: Iterable[tuple[int, int]]) -> dict[int, int]:
    """Wins minus losses of each item in (better, worse) pairs; not divided by the share compared, a constant."""
    scores: dict[int, int] = {}
    for better, worse in comparisons:
        scores[better] = scores.get(better, 0) + 1
        scores[worse] = scores.get(worse, 0) - 1
    return scores


def rank_sentences(pairs: Iterable[SentencePair]) -> list[SentenceRanking]:
    """Rank the compared sentences of each claim and document; ties in document order."""
    grouped: dict[tuple[str, str, str], list[SentencePair]] = {}
    for pair in pairs:
        grouped.setdefault((pair.claim, pair.citing, pair.document), []).append(pair)
    ranked = []
    for (claim, _, document), claim_pairs in grouped.items():
        options = {option.index: option for pair in claim_pairs for option in (pair.first_option, pair.second_option)}
        won = [
            (pair.first_option, pair.second_option) if pair.label == "1" else (pair.second_option, pair.first_option)
            for pair in claim_pairs
        ]
        scores = balanced_ranks((better.index, worse.index) for better, worse in won)
        order = sorted(scores, key=lambda index: (-scores[index], index))
        ranked.append(SentenceRanking(claim, document, tuple((options[index], scores[index]) for index in order)))
    return ranked
