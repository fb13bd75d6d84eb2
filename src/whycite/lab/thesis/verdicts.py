"""Compare verdicts with human labels, and before and after altering claims."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import get_args

from whycite.errors import UserError
from whycite.lab.evaluate.comparison import draw
from whycite.lab.evaluate.topics import Watch
from whycite.lab.thesis.alterations import KINDS, Alteration, alter
from whycite.lab.thesis.datasets import Label, PassageCase
from whycite.verify.verification import Verdict, Verification

__all__ = [
    "LABELS",
    "VERDICTS",
    "AlteredPair",
    "BackingDrop",
    "ClassFigures",
    "LabelFigures",
    "Verifier",
    "altered_pairs",
    "backing",
    "judge_cases",
    "judge_parts",
    "measure_drops",
    "measure_joint_drops",
    "measure_labels",
]


LABELS: tuple[Label, ...] = get_args(Label)
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


@dataclass(frozen=True, slots=True)
class ClassFigures:
    """How well one label is recognised."""

    precision: float
    recall: float
    f1: float
    cases: int  # with this label


@dataclass(frozen=True, slots=True)
class LabelFigures:
    """How often verdicts are right; `confusion` has a row per label and a column per verdict."""

    accuracy: float
    majority: float  # accuracy of always giving the most frequent label
    macro_f1: float
    confusion: tuple[tuple[int, ...], ...]
    classes: Mapping[Label, ClassFigures]
    called_backed: int  # contradicted claims that were called backed, the worst mistake


def measure_labels(labels: Sequence[Label], verdicts: Sequence[Verdict]) -> LabelFigures:
    """Accuracy and mean F1 over labels; `could not check` is never right.

    `secondary` counts as backed: the labels do not say whether a paper found something itself.
    """
    if not labels:
        raise UserError("no labelled cases to evaluate")
    counts = Counter(zip(labels, verdicts, strict=True))
    confusion = tuple(tuple(counts[label, verdict] for verdict in VERDICTS) for label in LABELS)
    judged = Counter(zip(labels, map(_as_label, verdicts), strict=True))
    classes = {label: _class_figures(label, judged) for label in LABELS}
    f1 = [figures.f1 for label, figures in classes.items() if any(label in pair for pair in judged)]
    return LabelFigures(
        accuracy=sum(judged[label, label] for label in LABELS) / len(labels),
        majority=max(Counter(labels).values()) / len(labels),
        macro_f1=sum(f1) / len(f1),
        confusion=confusion,
        classes=classes,
        called_backed=judged["contradicted", "backed"],
    )


def _as_label(verdict: Verdict) -> Verdict:
    return "backed" if verdict == "secondary" else verdict


def _class_figures(label: Label, judged: Mapping[tuple[Label, Verdict], int]) -> ClassFigures:
    hits = judged.get((label, label), 0)
    cases = sum(count for (actual, _), count in judged.items() if actual == label)
    called = sum(count for (_, verdict), count in judged.items() if verdict == label)
    return ClassFigures(
        precision=hits / called if called else 0.0,
        recall=hits / cases if cases else 0.0,
        f1=2 * hits / (cases + called) if hits else 0.0,
        cases=cases,
    )


Verifier = Callable[[str, Sequence[str]], Verification]
"""Checks a claim against the sentences of a document."""


@dataclass(frozen=True, slots=True)
class AlteredPair:
    """A backed claim and an altered version of it."""

    case: PassageCase
    kind: Alteration
    altered: str


@dataclass(frozen=True, slots=True)
class BackingDrop:
    """The share of pairs whose altered claim is less likely to be backed than the original.

    `backed` originals had that verdict, and `lost` of them no longer have it once altered.
    """

    pairs: int
    share: float
    backed: int
    lost: int


def judge_cases(
    cases: Sequence[PassageCase], verifier: Verifier, watch: Watch = lambda stage, count, total: None
) -> LabelFigures:
    """Measure the verdicts on all labelled cases."""
    return judge_parts([(cases, verifier)], watch)


def judge_parts(
    parts: Sequence[tuple[Sequence[PassageCase], Verifier]], watch: Watch = lambda stage, count, total: None
) -> LabelFigures:
    """The same over several parts of a dataset, each with a verifier that was not trained on it."""
    labelled = [(case, case.label, verifier) for cases, verifier in parts for case in cases if case.label is not None]
    verdicts = []
    for index, (case, _, verifier) in enumerate(labelled):
        watch(f"verdicts on {case.dataset}", index, len(labelled))
        verdicts.append(verifier(case.claim, case.sentences).verdict)
    return measure_labels([label for _, label, _ in labelled], verdicts)


def altered_pairs(cases: Sequence[PassageCase], number: int = 100, seed: int = 0) -> list[AlteredPair]:
    """Up to `number` claims labelled as backed, each altered once; kinds of alteration alternate."""
    pairs: list[AlteredPair] = []
    candidates = draw(
        [case for case in cases if case.label == "backed"], lambda case: f"{case.dataset} {case.id}", len(cases), seed
    )
    while candidates and len(pairs) < number:
        kind = KINDS[len(pairs) % len(KINDS)]
        # The first claim that can be altered in this way, or else in any other.
        for candidate_kind in (kind, *(other_kind for other_kind in KINDS if other_kind != kind)):
            next_pair = next((pair for case in candidates if (pair := _alter_case(case, candidate_kind, seed))), None)
            if next_pair is not None:
                break
        if next_pair is None:
            break
        pairs.append(next_pair)
        candidates.remove(next_pair.case)
    return pairs


def _alter_case(case: PassageCase, kind: Alteration, seed: int) -> AlteredPair | None:
    altered = alter(case.claim, kind, Random(f"{seed} {case.id}"))
    return AlteredPair(case, kind, altered.text) if altered else None


def backing(verification: Verification) -> float:
    """The probability that the claim is backed; 0 if it could not be checked."""
    return verification.chances.get("backed", 0.0)


def measure_drops(
    pairs: Sequence[AlteredPair], verifier: Verifier, watch: Watch = lambda stage, count, total: None
) -> dict[str, BackingDrop]:
    """The drop in backing for each kind of alteration, and for all."""
    return measure_joint_drops([(pairs, verifier)], watch)


def measure_joint_drops(
    batches: Sequence[tuple[Sequence[AlteredPair], Verifier]], watch: Watch = lambda stage, count, total: None
) -> dict[str, BackingDrop]:
    """The same over several datasets, each with a verifier that was not trained on it."""
    by_kind: dict[str, list[tuple[Verification, Verification]]] = {"all": []}
    total = sum(len(pairs) for pairs, _ in batches)
    for pair, verifier in ((pair, verifier) for pairs, verifier in batches for pair in pairs):
        watch("altered claims", len(by_kind["all"]), total)
        original, altered = (verifier(claim, pair.case.sentences) for claim in (pair.case.claim, pair.altered))
        by_kind["all"].append((original, altered))
        by_kind.setdefault(pair.kind, []).append((original, altered))
    return {kind: _backing_drop(verifications) for kind, verifications in by_kind.items() if verifications}


def _backing_drop(verifications: Sequence[tuple[Verification, Verification]]) -> BackingDrop:
    backed = [altered for original, altered in verifications if original.verdict == "backed"]
    return BackingDrop(
        pairs=len(verifications),
        share=sum(backing(altered) < backing(original) for original, altered in verifications) / len(verifications),
        backed=len(backed),
        lost=sum(altered.verdict != "backed" for altered in backed),
    )
