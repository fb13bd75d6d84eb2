"""Texts as tokens, and tokens as vectors of the model that is trained."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from whycite.encoders.facts import Pooling
from whycite.encoders.tokens import cleaned
from whycite.training.bases import Base

__all__ = ["Tensor", "Tokens", "autocast", "encode", "padded", "sent", "vectors"]

Tensor = Any  # torch says little of its types
_CHUNK = 65_536  # tokens that go through the model together


class Tokens:
    """Texts cut into tokens once, of which batches are made again and again."""

    def __init__(self, base: Base, texts: Iterable[str], longest: int) -> None:
        tokenizer: Any = type(base.tokenizer).from_str(base.tokenizer.to_str())
        tokenizer.no_padding()
        tokenizer.enable_truncation(longest)
        read = [cleaned(text, base.facts) for text in texts]  # as the trained model will be given them
        found = [np.array(each.ids, np.int32) for each in tokenizer.encode_batch_fast(read)]
        self._padding = base.config.pad_token_id
        self.lengths: NDArray[np.int64] = np.array([len(each) for each in found], np.int64)
        self._starts = np.concatenate([[0], np.cumsum(self.lengths)])
        self._ids = np.concatenate(found) if found else np.empty(0, np.int32)

    def __getitem__(self, text: int) -> NDArray[np.int32]:
        return self._ids[self._starts[text] : self._starts[text + 1]]

    def batch(self, chosen: Iterable[int], device: Any) -> tuple[Tensor, Tensor]:
        """Token ids of the chosen texts and the mask that tells them from padding."""
        return padded([self[at] for at in chosen], self._padding, device)


def padded(rows: Sequence[NDArray[np.int32] | Sequence[int]], padding: int, device: Any) -> tuple[Tensor, Tensor]:
    """Rows of tokens as one table, and the mask that tells them from padding."""
    lengths = np.array([len(row) for row in rows])
    ids = np.full((len(rows), lengths.max()), padding, np.int64)
    mask = np.arange(ids.shape[1]) < lengths[:, None]
    ids[mask] = np.concatenate(rows)
    return sent(torch.from_numpy(ids), device), sent(torch.from_numpy(mask), device)


def sent(tensor: Tensor, device: Any) -> Tensor:
    """The tensor on the device, which need not stop its work for it."""
    return tensor.pin_memory().to(device, non_blocking=True) if torch.device(device).type == "cuda" else tensor


def vectors(model: Any, tokens: Tokens, chosen: Sequence[int], pooling: Pooling) -> Tensor:
    """A unit vector for each of the chosen texts; those of like length go through the model together."""
    distinct, places = np.unique(np.asarray(chosen, np.int64), return_inverse=True)
    order = np.argsort(tokens.lengths[distinct], kind="stable")
    size = max(1, _CHUNK // max(1, int(tokens.lengths[distinct].max())))
    device = next(model.parameters()).device
    parts = []
    for at in range(0, len(order), size):
        ids, mask = tokens.batch(distinct[order[at : at + size]].tolist(), device)
        last = model(input_ids=ids, attention_mask=mask).last_hidden_state
        parts.append(last[:, 0] if pooling == "cls" else (last * mask[..., None]).sum(1) / mask.sum(1, keepdim=True))
    back = sent(torch.from_numpy(np.argsort(order)[places]), device)
    return torch.nn.functional.normalize(torch.cat(parts).float(), dim=1)[back]


def encode(model: Any, tokens: Tokens, chosen: Sequence[int], pooling: Pooling) -> Tensor:
    """The same without learning from it, on the model's device; on a GPU in 16 bits, which a CPU is slow with."""
    device = next(model.parameters()).device
    precision = torch.float16 if device.type == "cuda" else torch.float32
    if not len(chosen):
        return torch.empty(0, model.config.hidden_size, dtype=precision, device=device)
    model.eval()
    order = sorted(range(len(chosen)), key=lambda at: tokens.lengths[chosen[at]])
    parts = []
    with torch.no_grad(), autocast(model):
        for at in range(0, len(order), 4_096):
            parts.append(vectors(model, tokens, [chosen[i] for i in order[at : at + 4_096]], pooling).to(precision))
    back = torch.empty(len(order), dtype=torch.int64)
    back[torch.tensor(order, dtype=torch.int64)] = torch.arange(len(order))
    return torch.cat(parts)[back.to(parts[0].device)]


def autocast(model: Any) -> Any:
    """Sixteen bits where the device is quick with them."""
    device = next(model.parameters()).device.type
    return torch.autocast(device, torch.bfloat16, enabled=device == "cuda")
