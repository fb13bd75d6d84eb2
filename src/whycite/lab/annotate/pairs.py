"""Datasets from labels: comparisons, split and ranked (the thesis, 2.1.3 and 4.5), and claims with known passages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from whycite.errors import UserError
from whycite.lab.annotate.aggregation import AggregatedLabel, AnswersByTask, vote
from whycite.lab.annotate.tasks import (
    LABELS,
    LabellingTask,
    TaskKind,
    TaskOption,
    names_to_swap,
    parse_kind,
    parse_options,
    swap_label,
)
from whycite.lab.evaluate.comparison import group_by_names, order_by_lot, pack_groups
from whycite.lab.jsonlines import find_file, read_objects, text_of
from whycite.lab.thesis.datasets import Label, PassageCase
from whycite.lab.thesis.measures import SentenceComparison

__all__ = [
    "DATASETS",
    "PARTS",
    "SentencePair",
    "SentenceRanking",
    "as_comparisons",
    "as_dict",
    "assign_parts",
    "balanced_ranks",
    "build_datasets",
    "document_names",
    "is_judgement",
    "is_split",
    "judged_cases",
    "judgement_row",
    "rank_sentences",
    "read_pairs",
    "read_split",
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


def is_split(folder: Path) -> bool:
    """Whether a folder has the three parts of comparisons that `annotate split` writes."""
    try:
        files = [find_file(folder, f"{part}.jsonl") for part in PARTS]
    except UserError:
        return False
    rows = [row for file in files for _, row in zip(range(1), read_objects(file), strict=False)]
    return bool(rows) and all("asked" in row[1] and "options" in row[1] for row in rows)


def read_split(folder: Path, dataset: str) -> dict[str, list[SentenceComparison]]:
    """The comparisons of each part of a folder."""
    return {part: as_comparisons(read_pairs(find_file(folder, f"{part}.jsonl")), dataset) for part in PARTS}


def read_pairs(path: Path) -> list[SentencePair]:
    """The pairs of a file that `annotate split` wrote."""
    pairs = []
    for place, row in read_objects(path):
        options = parse_options(row, "options", place)
        parse_kind(row | {"kind": row.get("kind", "BR")}, options, place)
        label = text_of(row, "label", place)
        if label not in LABELS["BR"]:
            raise UserError(f'{place}: "label" of a comparison must be one of {", ".join(LABELS["BR"])}')
        pairs.append(
            SentencePair(
                text_of(row, "id", place),
                text_of(row, "claim", place),
                options[0],
                options[1],
                label,
                text_of(row, "citing", place, ""),
                text_of(row, "document", place, ""),
                float(row.get("share", 1)),
                bool(row.get("asked", True)),
            )
        )
    return pairs


def as_comparisons(pairs: Iterable[SentencePair], dataset: str) -> list[SentenceComparison]:
    """The pairs as comparisons; what was compared for one claim and document is one case."""
    by_claim: dict[tuple[str, str, str], list[SentencePair]] = {}
    for pair in pairs:
        by_claim.setdefault((pair.claim, pair.citing, pair.document), []).append(pair)
    comparisons = []
    for (claim, citing, document), claim_pairs in by_claim.items():
        options = {option.index: option for pair in claim_pairs for option in (pair.first_option, pair.second_option)}
        places = {index: place for place, index in enumerate(sorted(options))}
        winners = {(pair.first_option if pair.label == "1" else pair.second_option).index for pair in claim_pairs}
        losers = {(pair.second_option if pair.label == "1" else pair.first_option).index for pair in claim_pairs}
        id = claim_pairs[0].id.partition("+")[0].rsplit(":", 2)[0]
        case = PassageCase(
            id=f"{id} {citing} {document}",
            dataset=dataset,
            claim=claim,
            citing=citing or id,
            document=document or id,
            sentences=tuple(options[index].text for index in sorted(options)),
            gold=frozenset(places[index] for index in winners - losers),
        )
        comparisons += [
            SentenceComparison(
                case,
                places[pair.first_option.index],
                places[pair.second_option.index],
                0 if pair.label == "1" else 1,
            )
            for pair in claim_pairs
        ]
    return comparisons


def judgement_row(task: LabellingTask, decision: AggregatedLabel) -> dict[str, Any]:
    """The label of a task as JSON, with what was judged."""
    return {
        "task": task.id,
        "kind": task.kind,
        "label": decision.label,
        "share": round(decision.share, 6),
        "votes": decision.votes,
        "claim": task.claim,
        "options": [{"index": option.index, "text": option.text} for option in task.options],
        "citing": task.citing,
        "document": task.document,
    }


def is_judgement(row: Mapping[str, Any]) -> bool:
    """Whether a row was written by `annotate aggregate` or `annotate split`."""
    return "label" in row and ({"claim", "options"} <= row.keys() or {"task", "kind"} <= row.keys())


@dataclass(slots=True)
class _JudgedClaim:
    """What labellers said of the sentences of a document, next to one claim."""

    id: str
    texts: dict[int, str] = field(default_factory=dict)
    labels: dict[int, set[str]] = field(default_factory=dict)
    winners: set[int] = field(default_factory=set)
    losers: set[int] = field(default_factory=set)

    def add(self, kind: TaskKind, options: Sequence[TaskOption], label: str) -> None:
        self.texts |= {option.index: option.text for option in options}
        if kind == "BR":
            winner, loser = options if label == "1" else options[::-1]
            self.winners.add(winner.index)
            self.losers.add(loser.index)
        else:
            self.labels.setdefault(options[0].index, set()).add(label)

    def with_label(self, *labels: str) -> set[int]:
        return {index for index, sentence_labels in self.labels.items() if sentence_labels & {*labels}}

    @property
    def gold(self) -> set[int]:
        """The sentences that speak to the claim; where they were only compared, those that never lost."""
        return self.with_label("supports", "contradicts", "evidence") or (
            set() if self.labels else self.winners - self.losers
        )

    @property
    def verdict(self) -> Label | None:
        """None if sentences disagree, or if none is evidence and labellers could not say that one contradicts."""
        backed, contradicted = self.with_label("supports", "evidence"), self.with_label("contradicts")
        if backed or contradicted:
            return None if backed and contradicted else "backed" if backed else "contradicted"
        return "not found" if self.with_label("neither") else None


def judged_cases(path: Path, dataset: str) -> list[PassageCase]:
    """A case for each claim and document of a file that `annotate aggregate` or `annotate split` wrote.

    Its sentences are those that labellers saw. Tasks that ask only whether a sentence is related are left out.
    """
    claims: dict[tuple[str, str, str], _JudgedClaim] = {}
    for place, row in read_objects(path):
        if "claim" not in row or "options" not in row:
            raise UserError(
                f'{place}: expected "claim" and "options"; if this file is from an earlier version, '
                "run `whycite annotate aggregate` again"
            )
        options = parse_options(row, "options", place)
        kind = parse_kind(row | {"kind": row.get("kind", "BR")}, options, place)
        label = text_of(row, "label", place)
        if label not in LABELS[kind]:
            raise UserError(f'{place}: "label" of a task {kind} must be one of {", ".join(LABELS[kind])}')
        if kind == "BC-R":
            continue
        id = text_of(row, "task" if "task" in row else "id", place).rsplit(":", 2)[0]
        claim, citing, document = (text_of(row, key, place, "") for key in ("claim", "citing", "document"))
        claims.setdefault((claim, citing or id, document or id), _JudgedClaim(id)).add(kind, options, label)
    if not claims:
        raise UserError(f"{path}: only says which sentences are related (BC-R); expected labels of BR, BC-E or TC")
    return [_case(claim, citing, document, judged, dataset) for (claim, citing, document), judged in claims.items()]


def _case(claim: str, citing: str, document: str, judged: _JudgedClaim, dataset: str) -> PassageCase:
    indices = sorted(judged.texts)
    return PassageCase(
        id=judged.id,
        dataset=dataset,
        claim=claim,
        citing=citing,
        document=document,
        sentences=tuple(judged.texts[index] for index in indices),
        gold=frozenset(position for position, index in enumerate(indices) if index in judged.gold),
        label=judged.verdict,
    )
