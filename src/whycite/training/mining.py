"""Hard negatives: texts that look right for a claim and cite something else."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from whycite.training.tokens import Tensor, Tokens

__all__ = ["nearest", "nearest_by_words"]

_K1, _B = 1.2, 0.75
_COMMON = 0.1  # words in a larger share of texts tell nothing, and cost the most


def nearest(asked: Tensor, held: Tensor, k: int, chunk: int = 4_096) -> NDArray[np.int32]:
    """For each vector that asks, the k nearest of those held, nearest first."""
    held = held.T.contiguous()
    k = min(k, held.shape[1])
    if not len(asked):
        return np.empty((0, k), np.int32)
    rows = [torch.topk(asked[at : at + chunk] @ held, k).indices.int().cpu() for at in range(0, len(asked), chunk)]
    return np.asarray(torch.cat(rows).numpy())


def nearest_by_words(
    tokens: Tokens, asked: Sequence[int], held: Sequence[int], k: int, device: str, chunk: int = 1_024
) -> NDArray[np.int32]:
    """For each text that asks, the k best of those held by BM25, best first; words are the model's own tokens."""
    words, texts, counts = _counted(tokens, held)
    found = np.bincount(words)
    lengths = tokens.lengths[list(held)]
    told = found[words] <= max(10, _COMMON * len(held))
    words, texts, counts = words[told], texts[told], counts[told]
    rarity = np.log1p((len(held) - found[words] + 0.5) / (found[words] + 0.5))
    weights = rarity * counts / (counts + _K1 * (1 - _B + _B * lengths[texts] / lengths.mean()))
    table = _sparse(texts, words, weights, (len(held), len(found)), device)
    rows = []
    for at in range(0, len(asked), chunk):
        some = asked[at : at + chunk]
        words, texts, _ = _counted(tokens, some)
        known = words < len(found)
        query = _sparse(words[known], texts[known], np.ones(known.sum()), (len(found), len(some)), device).to_dense()
        rows.append(torch.topk(torch.sparse.mm(table, query).T, min(k, len(held))).indices.int().cpu())
    return np.asarray(torch.cat(rows).numpy())


def _counted(tokens: Tokens, chosen: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Each word of each text once: the word, the text's place, how often it stands there."""
    words = np.concatenate([tokens[at] for at in chosen]).astype(np.int64)
    texts = np.repeat(np.arange(len(chosen)), tokens.lengths[list(chosen)])
    width = int(words.max(initial=0)) + 1
    pairs, counts = np.unique(texts * width + words, return_counts=True)
    return pairs % width, pairs // width, counts


def _sparse(
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    values: NDArray[np.float64],
    shape: tuple[int, int],
    device: str,
) -> Tensor:
    places = torch.from_numpy(np.stack([rows, columns]))
    made = torch.sparse_coo_tensor(places, torch.from_numpy(values).float(), shape, check_invariants=False)
    return made.to(device).coalesce()
