"""Two rankings made one: the draft's own bibliography, and the library.

Each tells for its papers the odds that they are the one that is wanted, and what both say of a paper adds up (a linear
opinion pool): so a sure first of one source comes before a poor first of the other. Places alone, which the two have in
common too, would not tell these apart. A source whose best paper is a poor one counts half.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp

from whycite.check.keys import Keys
from whycite.check.model import Proposal
from whycite.recommend import Recommendation
from whycite.recommend.bibtex import as_entry

__all__ = ["Ranked", "merge"]

_CLEAR = 0.3  # the chance of the best paper below which none clearly fits: from it on most are right in drafts
_MOST = 5  # spans shown for a paper


@dataclass(frozen=True, slots=True)
class Ranked:
    """What one source recommends, best first, each with the draft's key where it has one."""

    found: Sequence[tuple[str | None, Recommendation]]
    odds: Sequence[float]  # logarithms; the best entry of a bibliography has 0
    doubtful: bool = False  # whether even the best is a poor one


def merge(own: Ranked, library: Ranked, n: int, keys: Keys) -> tuple[Proposal, ...]:
    """The n best papers of both, each with its chance among all that either names."""
    ranked_by = {"bibliography": own, "library": library}
    odds: dict[str, dict[str, float]] = {}
    papers: dict[str, tuple[str | None, Recommendation]] = {}
    highest = max((*own.odds, *library.odds), default=0.0)
    for source, ranked in ranked_by.items():
        for (key, one), logarithm in zip(ranked.found, ranked.odds, strict=True):
            name = f"key:{key}" if key is not None else f"paper:{one.paper.key}"
            said = odds.setdefault(name, {})
            if source in said:  # two entries of the bibliography, or of the library, for one paper
                continue
            said[source] = (0.5 if ranked.doubtful else 1.0) * exp(logarithm - highest)
            papers[name] = (key, _joined(papers[name][1], one) if name in papers else one)
    total = sum(sum(said.values()) for said in odds.values())
    chances = {name: {source: value / total for source, value in said.items()} for name, said in odds.items()}
    best = sorted(chances, key=lambda name: (-round(sum(chances[name].values()), 9), name))[:n]
    unclear = not best or sum(chances[best[0]].values()) < _CLEAR
    doubtful = {name: unclear or all(ranked_by[source].doubtful for source in chances[name]) for name in best}
    return tuple(
        _proposal(rank, *papers[name], chances[name], doubtful[name], keys) for rank, name in enumerate(best, start=1)
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
