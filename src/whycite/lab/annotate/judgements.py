"""Turn aggregated labels into claims with known passages and verdicts, to train and measure `verify`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from whycite.errors import UserError
from whycite.lab.annotate.aggregation import AggregatedLabel
from whycite.lab.annotate.tasks import LABELS, LabellingTask, TaskKind, TaskOption, parse_kind, parse_options
from whycite.lab.jsonlines import read_objects, text_of
from whycite.lab.thesis.datasets import Label, PassageCase

__all__ = ["is_judgement", "judged_cases", "judgement_row"]


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
