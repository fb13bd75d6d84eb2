"""Scores out of features and weights, and what each score is made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whycite.recommend.features import Features, Floats
from whycite.recommend.weights import EVIDENCE, PAPER, SHARES, Weights

__all__ = ["DIGITS", "Scores", "score", "shares"]

DIGITS = 9  # scores that agree so far are equal: what differs is rounding, which no order may hang on
NUMBER = "number of spans"


@dataclass(frozen=True, slots=True)
class Scores:
    """The score of every paper, and how much every piece of evidence speaks for its own."""

    papers: Floats
    evidence: Floats  # r: its features times their weights
    sums: Floats  # for each paper, log sum exp(r) over its evidence


def score(features: Features, weights: Weights) -> Scores:
    """The scores of papers: log sum exp(r) over their evidence, and what is known of the papers themselves."""
    # Not matrix products: their last digits depend on the number of threads.
    evidence = (features.evidence * weights.evidence).sum(axis=1)
    own = (features.paper * weights.paper).sum(axis=1)
    sums = _log_sums(evidence, features)
    return Scores(sums + own, evidence, sums)


def shares(features: Features, weights: Weights, scores: Scores, place: int) -> dict[str, float]:
    """What the score of the paper at a place is made of; it is the sum of these.

    log sum exp(r) is the mean of r, each piece of evidence weighing what it has of the sum, plus the entropy of these
    weights: that part is what several spans say more than one.
    """
    mine = np.flatnonzero(features.of == place)
    weight = np.exp(scores.evidence[mine] - scores.sums[place])
    means = (weight[:, None] * features.evidence[mine]).sum(axis=0) * weights.evidence
    own = features.paper[place] * weights.paper
    found = dict.fromkeys([*SHARES.values(), NUMBER], 0.0)
    for name, value in zip([*EVIDENCE, *PAPER], [*means.tolist(), *own.tolist()], strict=True):
        found[SHARES[name]] += value
    found[NUMBER] = float(scores.sums[place]) - float(means.sum())
    return found


def _log_sums(evidence: Floats, features: Features) -> Floats:
    if not len(evidence):
        return np.zeros(len(features.papers))
    order = np.lexsort((-evidence, features.of))  # best first, so that equal evidence gives equal sums
    starts = np.searchsorted(features.of, np.arange(len(features.papers)))
    best = evidence[order][starts]
    sums = np.add.reduceat(np.exp(evidence - best[features.of])[order], starts)
    return np.asarray(best + np.log(sums))
