"""The weights of the default method, fitted to claims whose papers are known."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray

from whycite.errors import UserError
from whycite.evaluation.cases import Case, HeldOut
from whycite.evaluation.ranking import claim_of
from whycite.library.schema import identifier
from whycite.recommend.evidence_sum import EvidenceSum
from whycite.recommend.features import Features
from whycite.recommend.scoring import score
from whycite.recommend.weights import EVIDENCE, PAPER, Weights
from whycite.training.tokens import Tensor

__all__ = ["CONTEXT", "OWN", "TITLES", "Asked", "ask", "fit", "ranks", "surprise"]

CONTEXT = ("same_section", "same_topic", "cocited", "cited")  # known only where the draft is
OWN = tuple(name for name in (*EVIDENCE, *PAPER) if name not in (*CONTEXT, "ranker"))
TITLES = ("title", "title_cosine", "title_coverage", "title_lexical", "about")  # what a paper says of itself
_STEPS, _RATE = 400, 0.1
_PULL = 1e-4  # towards zero


@dataclass(frozen=True, slots=True)
class Asked:
    """A claim: the features of all papers that may back it, and which of them are right."""

    features: Features
    right: NDArray[np.bool_]


def ask(method: EvidenceSum, cases: Iterable[Case], sources: Sequence[HeldOut], given: str = "whycite") -> list[Asked]:
    """Claims as the method sees them, given the claim alone or what else `given` says (see evaluation.ranking)."""
    found = []
    for case in cases:
        features = method.features(claim_of(case, sources[case.source], given))
        right = np.isin(features.papers, [identifier(key) for key in case.truth])
        found.append(Asked(features, right))
    return found


def fit(
    asked: Sequence[Asked], start: Weights, free: Collection[str], beside: Sequence[Sequence[Asked]] = ()
) -> Weights:
    """The weights with those named in `free` fitted: softmax cross-entropy over the papers of each claim.

    Claims of other settings may stand `beside`; each setting counts the same, however many claims it has.
    """
    sets = [[each for each in some if each.right.any()] for some in (asked, *beside)]
    answered = [each for some in sets for each in some]
    if not answered:
        raise UserError("no right paper is found for any claim, so that there is nothing to fit to: give more papers")
    filled = [len(some) for some in sets if some]
    table = _Table.made(answered, np.repeat([1 / (len(filled) * size) for size in filled], filled))
    weights = torch.tensor(list(asdict(start).values()), dtype=torch.float64, requires_grad=True)
    freed = torch.tensor([name in free for name in (*EVIDENCE, *PAPER)], dtype=torch.float64)
    # Features differ in size by a factor of a hundred; so must steps.
    size = torch.cat([table.evidence.abs().amax(0), table.paper.abs().amax(0)]).clamp(min=1)
    optimiser = torch.optim.Adam([weights], lr=_RATE)
    fixed, scaled = weights.detach().clone(), weights.detach() * size
    weights.data = scaled
    for _ in range(_STEPS):
        optimiser.zero_grad()
        now = weights / size * freed + fixed * (1 - freed)
        loss = table.loss(now) + _PULL * ((weights * freed) ** 2).mean()
        loss.backward()
        optimiser.step()
    final = (weights / size * freed + fixed * (1 - freed)).detach().tolist()
    return replace(start, **dict(zip((*EVIDENCE, *PAPER), final, strict=True)))


def surprise(asked: Sequence[Asked], weights: Weights) -> NDArray[np.float64]:
    """What fitting makes small: -log of the share of a claim's right papers, for each claim that has any."""
    found = []
    for each in asked:
        if each.right.any():
            scores = score(each.features, weights).papers
            found.append(np.logaddexp.reduce(scores) - np.logaddexp.reduce(scores[each.right]))
    return np.array(found)


def ranks(asked: Sequence[Asked], weights: Weights) -> list[int]:
    """The rank of the best right paper of each claim; 0 where there is none."""
    found = []
    for each in asked:
        scores = score(each.features, weights).papers
        best = scores[each.right].max(initial=-np.inf)
        found.append(int((scores > best).sum()) + 1 if each.right.any() else 0)
    return found


@dataclass(frozen=True, slots=True)
class _Table:
    """All claims below each other."""

    evidence: Tensor
    of: Tensor  # for each piece of evidence its paper
    paper: Tensor
    claim: Tensor  # for each paper its claim
    right: Tensor
    shares: Tensor  # of each claim in the loss; their sum is 1

    @classmethod
    def made(cls, asked: Sequence[Asked], shares: NDArray[np.float64]) -> _Table:
        starts = np.cumsum([0, *(len(each.right) for each in asked)])
        return cls(
            torch.from_numpy(np.concatenate([each.features.evidence for each in asked])),
            torch.from_numpy(np.concatenate([each.features.of + at for each, at in zip(asked, starts, strict=False)])),
            torch.from_numpy(np.concatenate([each.features.paper for each in asked])),
            torch.from_numpy(np.repeat(np.arange(len(asked)), [end - at for at, end in pairwise(starts)])),
            torch.from_numpy(np.concatenate([each.right for each in asked])),
            torch.from_numpy(shares),
        )

    def loss(self, weights: Tensor) -> Tensor:
        width = len(EVIDENCE)
        scores = _log_sum(self.evidence @ weights[:width], self.of, len(self.claim)) + self.paper @ weights[width:]
        claims = len(self.shares)
        all_papers = _log_sum(scores, self.claim, claims)
        return ((all_papers - _log_sum(scores[self.right], self.claim[self.right], claims)) * self.shares).sum()


def _log_sum(values: Tensor, of: Tensor, number: int) -> Tensor:
    """The logarithm of the sum of exp(value) of each group."""
    most = torch.full((number,), -torch.inf, dtype=values.dtype).scatter_reduce(0, of, values.detach(), "amax")
    return most + torch.log(torch.zeros(number, dtype=values.dtype).scatter_add(0, of, torch.exp(values - most[of])))
