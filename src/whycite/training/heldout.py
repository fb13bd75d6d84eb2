"""How well a claim encoder finds what articles cite that it was not trained on."""

from __future__ import annotations

from collections import defaultdict
from random import Random

import numpy as np
import torch

from whycite.training.corpus import Corpus
from whycite.training.examples import Examples
from whycite.training.mining import nearest
from whycite.training.tokens import Tensor

__all__ = ["HeldOut"]

_SPANS, _TITLES = 100, 50
_TEMPERATURE = 0.05  # at which evidence is added up


class HeldOut:
    """Claims of held-out articles that a database of sentences and titles can answer."""

    def __init__(self, base: Examples, held_out: Corpus, number: int, seed: int = 0) -> None:
        self.base = base
        claims = [
            (view.text, frozenset(view.papers))
            for article in held_out.articles
            for sentence in article.sentences
            for view in sentence.views
            if any(paper in base.citing for paper in view.papers)
        ]
        self.claims = Random(seed).sample(claims, min(number, len(claims)))

    def measure(self, claims: Tensor, sentences: Tensor, papers: Tensor) -> dict[str, float]:
        """MRR and R@10 of papers by all the evidence that is near a claim: sentences that cite them, and titles.

        The vectors are those of the claims, of the sentences and of the papers in the order of their numbers.
        """
        found = np.array(self.found(claims, sentences, papers))
        return {"MRR": float(found.mean()), "R@10": float((found >= 0.1).mean())}

    def found(
        self, claims: Tensor, sentences: Tensor, papers: Tensor, temperature: float = _TEMPERATURE
    ) -> list[float]:
        """For each claim 1 / the rank of the first right paper by the sum of its evidence, 0 where it has none."""
        said = _votes(claims, sentences, [sorted(each.papers) for each in self.base.sentences], _SPANS, temperature)
        named = _votes(claims, papers, [[paper] for paper in sorted(self.base.titles)], _TITLES, temperature)
        return [
            _found(right, spans, titles) for (_, right), spans, titles in zip(self.claims, said, named, strict=True)
        ]


def _found(right: frozenset[int], *votes: dict[int, float]) -> float:
    sums: dict[int, float] = defaultdict(float)
    for vote in votes:
        for paper, value in vote.items():
            sums[paper] += value
    order = sorted(sums, key=lambda paper: (-sums[paper], paper))
    return next((1 / rank for rank, paper in enumerate(order, 1) if paper in right), 0.0)


def _votes(claims: Tensor, held: Tensor, papers: list[list[int]], k: int, temperature: float) -> list[dict[int, float]]:
    places = torch.from_numpy(nearest(claims, held, k)).long().to(held.device)
    near = (held[places] @ claims[:, :, None])[..., 0].float()
    weights = torch.exp((near - 1) / temperature).cpu().numpy()
    found = []
    for row, weight in zip(places.cpu().tolist(), weights.tolist(), strict=True):
        sums: dict[int, float] = defaultdict(float)
        for place, value in zip(row, weight, strict=True):
            for paper in papers[place]:
                sums[paper] += value
        found.append(dict(sums))
    return found
