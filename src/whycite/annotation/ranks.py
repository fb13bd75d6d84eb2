"""An order of sentences out of comparisons: balanced rank estimation (Wauthier et al. 2013; the thesis, 2.1.3)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from whycite.annotation.model import Option
from whycite.annotation.pairs import Pair

__all__ = ["Ranked", "balanced_ranks", "rank_sentences"]


@dataclass(frozen=True, slots=True)
class Ranked:
    """The sentences of a claim that were compared, the best first, each with its wins less its losses."""

    claim: str
    document: str
    order: tuple[tuple[Option, int], ...]


def balanced_ranks(comparisons: Iterable[tuple[int, int]]) -> dict[int, int]:
    """Of (better, worse) comparisons: wins less losses of each item; the share that was compared is left out, as it is
    the same for all."""
    scores: dict[int, int] = {}
    for better, worse in comparisons:
        scores[better] = scores.get(better, 0) + 1
        scores[worse] = scores.get(worse, 0) - 1
    return scores


def rank_sentences(pairs: Iterable[Pair]) -> list[Ranked]:
    """For each claim and document, its compared sentences in order; equal ones in the order of the document."""
    grouped: dict[tuple[str, str, str], list[Pair]] = {}
    for pair in pairs:
        grouped.setdefault((pair.claim, pair.citing, pair.document), []).append(pair)
    ranked = []
    for (claim, _, document), those in grouped.items():
        options = {option.index: option for pair in those for option in (pair.first, pair.second)}
        won = [(pair.first, pair.second) if pair.label == "1" else (pair.second, pair.first) for pair in those]
        scores = balanced_ranks((better.index, worse.index) for better, worse in won)
        order = sorted(scores, key=lambda index: (-scores[index], index))
        ranked.append(Ranked(claim, document, tuple((options[index], scores[index]) for index in order)))
    return ranked
