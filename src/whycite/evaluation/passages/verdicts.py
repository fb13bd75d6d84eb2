"""Verdicts on claims beside the labels people gave, and on claims that were altered so that they say something else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from whycite.evaluation.corpus import Watch
from whycite.evaluation.drawing import draw
from whycite.evaluation.passages.alterations import KINDS, Alteration, alter
from whycite.evaluation.passages.labels import Labels, measure_labels
from whycite.evaluation.passages.model import Case
from whycite.verify.model import Verification

__all__ = ["AlteredPair", "Fall", "Verifier", "altered_pairs", "backing", "falls", "joint_falls", "judge"]

Verifier = Callable[[str, Sequence[str]], Verification]
"""A claim and the sentences of a document in, a verdict out."""


@dataclass(frozen=True, slots=True)
class AlteredPair:
    """A claim that is backed, and the same altered in one way."""

    case: Case
    kind: Alteration
    altered: str


@dataclass(frozen=True, slots=True)
class Fall:
    """Of so many pairs the share in which `backed` is less sure of the altered claim.

    `backed`: how many were backed before; `lost`: how many of these are not any more.
    """

    pairs: int
    share: float
    backed: int
    lost: int


def judge(cases: Sequence[Case], verifier: Verifier, watch: Watch = lambda what, done, total: None) -> Labels:
    """The verdicts on all cases that have a label."""
    labelled = [(case, case.label) for case in cases if case.label is not None]
    verdicts = []
    for at, (case, _) in enumerate(labelled):
        watch(f"verdicts on {case.dataset}", at, len(labelled))
        verdicts.append(verifier(case.claim, case.sentences).verdict)
    return measure_labels([label for _, label in labelled], verdicts)


def altered_pairs(cases: Sequence[Case], number: int = 100, seed: int = 0) -> list[AlteredPair]:
    """So many claims that people found backed, each altered once; the kinds of alteration take turns."""
    found: list[AlteredPair] = []
    left = draw(
        [case for case in cases if case.label == "backed"], lambda case: f"{case.dataset} {case.id}", len(cases), seed
    )
    while left and len(found) < number:
        kind = KINDS[len(found) % len(KINDS)]
        # Of this kind the first that can be altered so, else of any other.
        for wanted in (kind, *(other for other in KINDS if other != kind)):
            taken = next((pair for case in left if (pair := _altered(case, wanted, seed))), None)
            if taken is not None:
                break
        if taken is None:
            break
        found.append(taken)
        left.remove(taken.case)
    return found


def _altered(case: Case, kind: Alteration, seed: int) -> AlteredPair | None:
    made = alter(case.claim, kind, Random(f"{seed} {case.id}"))
    return AlteredPair(case, kind, made.text) if made else None


def backing(found: Verification) -> float:
    """The probability that the claim is backed: 0 where nothing could be checked."""
    return found.chances.get("backed", 0.0)


def falls(
    pairs: Sequence[AlteredPair], verifier: Verifier, watch: Watch = lambda what, done, total: None
) -> dict[str, Fall]:
    """For each kind of alteration and for all: in how many pairs the altered claim is less backed than the claim."""
    return joint_falls([(pairs, verifier)], watch)


def joint_falls(
    asked: Sequence[tuple[Sequence[AlteredPair], Verifier]], watch: Watch = lambda what, done, total: None
) -> dict[str, Fall]:
    """The same for pairs of several data sets together, each with the verifier that has not seen them."""
    by_kind: dict[str, list[tuple[Verification, Verification]]] = {"all": []}
    total = sum(len(pairs) for pairs, _ in asked)
    for pair, verifier in ((pair, verifier) for pairs, verifier in asked for pair in pairs):
        watch("altered claims", len(by_kind["all"]), total)
        before, after = (verifier(claim, pair.case.sentences) for claim in (pair.case.claim, pair.altered))
        by_kind["all"].append((before, after))
        by_kind.setdefault(pair.kind, []).append((before, after))
    return {kind: _fall(own) for kind, own in by_kind.items() if own}


def _fall(own: Sequence[tuple[Verification, Verification]]) -> Fall:
    backed = [after for before, after in own if before.verdict == "backed"]
    return Fall(
        pairs=len(own),
        share=sum(backing(after) < backing(before) for before, after in own) / len(own),
        backed=len(backed),
        lost=sum(after.verdict != "backed" for after in backed),
    )
