"""Two rankings made one: the draft's own bibliography, and the library.

Scores of the two do not compare, places do: each paper has 1 / (2 + its place) from each (reciprocal rank fusion,
Cormack, Clarke & Büttcher 2009), so that one that both name comes before one that either names as high. A source whose
best paper is a poor one counts half.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from whycite.check.keys import Keys
from whycite.check.model import Proposal
from whycite.recommend import Recommendation
from whycite.recommend.bibtex import as_entry

__all__ = ["Ranked", "merge"]

_STEADY = 2  # how little the first place is worth more than the next: with 60, as published, two low places win
_MOST = 5  # spans shown for a paper


@dataclass(frozen=True, slots=True)
class Ranked:
    """What one source recommends, best first, each with the draft's key where it has one."""

    found: Sequence[tuple[str | None, Recommendation]]
    doubtful: bool = False  # whether even the best is a poor one


def merge(own: Ranked, library: Ranked, n: int, keys: Keys) -> tuple[Proposal, ...]:
    """The n best papers of both."""
    ranked_by = {"bibliography": own, "library": library}
    points: dict[str, dict[str, float]] = {}
    papers: dict[str, tuple[str | None, Recommendation]] = {}
    for source, ranked in ranked_by.items():
        for place, (key, one) in enumerate(ranked.found, start=1):
            name = f"key:{key}" if key is not None else f"paper:{one.paper.key}"
            shares = points.setdefault(name, {})
            if source in shares:  # two entries of the bibliography, or of the library, for one paper
                continue
            shares[source] = (0.5 if ranked.doubtful else 1.0) / (_STEADY + place)
            papers[name] = (key, _joined(papers[name][1], one) if name in papers else one)
    best = sorted(points, key=lambda name: (-round(sum(points[name].values()), 9), name))[:n]
    doubtful = {name: all(ranked_by[source].doubtful for source in points[name]) for name in best}
    return tuple(
        _proposal(rank, *papers[name], points[name], doubtful[name], keys) for rank, name in enumerate(best, start=1)
    )


def _proposal(
    rank: int, key: str | None, one: Recommendation, shares: Mapping[str, float], doubtful: bool, keys: Keys
) -> Proposal:
    recommendation = replace(one, rank=rank, score=sum(shares.values()), shares=dict(shares))
    if key is not None:
        return Proposal(recommendation, key, known=True, doubtful=doubtful)
    new = keys.of(one.paper)
    return Proposal(recommendation, new, known=False, bibtex=as_entry(new, one.paper), doubtful=doubtful)


def _joined(own: Recommendation, library: Recommendation) -> Recommendation:
    """What the draft and the library say of one paper."""
    evidence = sorted((*own.evidence, *library.evidence), key=lambda one: -one.score)[:_MOST]
    return replace(own, support=own.support + library.support, evidence=tuple(evidence))
