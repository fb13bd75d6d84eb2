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

__all__ = ["HeldOut", "measure"]

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
        return measure(
            [cited for _, cited in self.claims],
            _votes(claims, sentences, [sorted(each.papers) for each in self.base.sentences], _SPANS),
            _votes(claims, papers, [[paper] for paper in sorted(self.base.titles)], _TITLES),
        )


def measure(truth: list[frozenset[int]], *votes: list[dict[int, float]]) -> dict[str, float]:
    """MRR and R@10 of papers by the sum of their votes, for each claim."""
    ranks = []
    for at, true in enumerate(truth):
        sums: dict[int, float] = defaultdict(float)
        for vote in votes:
            for paper, value in vote[at].items():
                sums[paper] += value
        order = sorted(sums, key=lambda paper: (-sums[paper], paper))
        ranks.append(next((rank for rank, paper in enumerate(order, 1) if paper in true), 0))
    found = np.array([1 / rank if rank else 0.0 for rank in ranks])
    return {"MRR": float(found.mean()), "R@10": float((found >= 0.1).mean())}


def _votes(claims: Tensor, held: Tensor, papers: list[list[int]], k: int) -> list[dict[int, float]]:
    places = torch.from_numpy(nearest(claims, held, k)).long().to(held.device)
    near = (held[places] @ claims[:, :, None])[..., 0].float()
    weights = torch.exp((near - 1) / _TEMPERATURE).cpu().numpy()
    found = []
    for row, weight in zip(places.cpu().tolist(), weights.tolist(), strict=True):
        sums: dict[int, float] = defaultdict(float)
        for place, value in zip(row, weight, strict=True):
            for paper in papers[place]:
                sums[paper] += value
        found.append(dict(sums))
    return found
