"""Compare an exported model with the trained one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from whycite.errors import UserError
from whycite.lab.train.bases import Base
from whycite.lab.train.ranker import PairTokens, RankerNetwork, score
from whycite.lab.train.vectors import Tokens, encode
from whycite.models.encoders import OnnxEncoder
from whycite.models.rankers import OnnxRanker

__all__ = ["LEAST_CORRELATION", "encoder_parity", "ranker_parity"]

_LEAST_COSINE = 0.98
LEAST_CORRELATION = 0.95


def encoder_parity(base: Base, folder: Path, texts: Sequence[str]) -> dict[str, float]:
    """How close the exported encoder's vectors are to the trained one's on some texts."""
    exported = OnnxEncoder(folder, 1).encode(texts)
    tokens = Tokens(base, texts, base.facts.max_tokens)
    trained = encode(base.model, tokens, range(len(texts)), base.facts.pooling).float().cpu().numpy()
    cosines = (exported * trained).sum(1)
    figures = {"cosine, mean": float(cosines.mean()), "cosine, least": float(cosines.min())}
    if figures["cosine, mean"] < _LEAST_COSINE:
        raise UserError(f"{folder}: the exported model differs from the trained one (mean cosine {cosines.mean():.3f})")
    return {**figures, "same neighbour": _same_neighbour(exported, trained)}


def ranker_parity(
    base: Base,
    scorer: RankerNetwork,
    folder: Path,
    pairs: Sequence[tuple[str, str]],
    longest: int,
    least: float = LEAST_CORRELATION,
) -> dict[str, float]:
    """How well the exported ranker's scores agree with the trained one's on pairs of a claim and a paper."""
    import torch

    from whycite.models.rankers import claim_text

    ranker = OnnxRanker(folder, 1)
    exported = np.array([ranker.score("paper", claim, [text])[0] for claim, text in pairs])
    scorer.eval()
    with torch.no_grad():
        text_pairs = [(claim_text("paper", claim), text) for claim, text in pairs]
        trained = score(scorer, PairTokens(base, longest), text_pairs).float().cpu().numpy()
    correlation = float(np.corrcoef(exported, trained)[0, 1])
    if not correlation >= least:
        raise UserError(f"{folder}: the exported ranker differs from the trained one (correlation {correlation:.3f})")
    return {"correlation of scores": correlation, "difference, mean": float(np.abs(exported - trained).mean())}


def _same_neighbour(exported: np.ndarray, trained: np.ndarray) -> float:
    """The share of texts whose nearest neighbour is the same."""
    nearest = []
    for vectors in (exported, trained):
        near = vectors @ vectors.T
        np.fill_diagonal(near, -2)
        nearest.append(near.argmax(1))
    return float((nearest[0] == nearest[1]).mean())
