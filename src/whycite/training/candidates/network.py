"""The adversarial autoencoder as it is trained (SCOPE 3.3, after Vagliano et al. and Makhzani et al.)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from whycite.candidates.autoencoder import LAYERS

__all__ = ["Batch", "Network", "Size", "discriminator"]

Tensor = Any


@dataclass(frozen=True, slots=True)
class Size:
    """How wide the layers are (SCOPE 4.5.2); of conditions 0 for none."""

    papers: int
    title: int = 0  # dimensions of the title's vector
    sections: int = 0  # section types, the unknown one counted
    hidden: int = 240
    code: int = 50
    section: int = 32  # dimensions of a section type's embedding
    dropout: float = 0.2


@dataclass(frozen=True, slots=True)
class Batch:
    """Sets of papers, by the places of their papers in the pool, and what is known of their documents."""

    sets: Sequence[NDArray[np.int64]]
    titles: NDArray[np.float32]  # a row a set
    sections: Sequence[Sequence[int]]  # numbers of section types; none for a set without conditions

    def target(self, papers: int) -> Tensor:
        """A row a set: 1 for each paper in it."""
        table = torch.zeros(len(self.sets), papers)
        rows = np.repeat(np.arange(len(self.sets)), [len(each) for each in self.sets])
        table[torch.from_numpy(rows), torch.from_numpy(np.concatenate(self.sets))] = 1
        return table


class Network(torch.nn.Module):
    """Encoder of three layers, decoder with two hidden ones; title and section stand beside the code."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.size = size
        hidden, beside = size.hidden, size.title + (size.section if size.sections else 0)
        # A set is the mean of its papers' rows: a linear layer over ones and zeros, each row of sum 1.
        self.first = torch.nn.EmbeddingBag(size.papers, hidden, mode="mean")
        torch.nn.init.xavier_uniform_(self.first.weight)
        self.first_bias = torch.nn.Parameter(torch.zeros(hidden))
        self.layers = torch.nn.ModuleList(
            [
                torch.nn.Linear(hidden, hidden),
                torch.nn.Linear(hidden, size.code),
                torch.nn.Linear(size.code + beside, hidden),
                torch.nn.Linear(hidden, hidden),
                torch.nn.Linear(hidden, size.papers),
            ]
        )
        self.sections = torch.nn.EmbeddingBag(size.sections, size.section, mode="mean") if size.sections else None
        self.dropout = torch.nn.Dropout(size.dropout)

    def encoding(self) -> list[Tensor]:
        """The parameters of the encoder."""
        return [self.first.weight, self.first_bias, *self.layers[0].parameters(), *self.layers[1].parameters()]

    def encode(self, batch: Batch) -> Tensor:
        """The codes of sets."""
        state = self.dropout(torch.relu(_bags(self.first, batch.sets) + self.first_bias))
        state = self.dropout(torch.relu(self.layers[0](state)))
        return self.layers[1](state)

    def decode(self, code: Tensor, batch: Batch) -> Tensor:
        """For each set and paper how likely it belongs there, before the sigmoid."""
        parts = [code]
        if self.size.title:
            parts.append(torch.from_numpy(batch.titles))
        if self.sections is not None:
            parts.append(_bags(self.sections, [np.array(each, np.int64) for each in batch.sections]))
        state = torch.cat(parts, dim=1)
        for layer in self.layers[2:4]:
            state = self.dropout(torch.relu(layer(state)))
        return self.layers[4](state)

    def exported(self) -> dict[str, NDArray[np.float32]]:
        """All weights, as the autoencoder is run with them."""
        first = {"encoder.weight": self.first.weight, "encoder.bias": self.first_bias}
        tensors = dict(first)
        for name, layer in zip(LAYERS[1:], self.layers, strict=True):
            tensors |= {f"{name}.weight": layer.weight.T, f"{name}.bias": layer.bias}
        if self.sections is not None:
            tensors["sections"] = self.sections.weight
        return {name: np.ascontiguousarray(tensor.detach().numpy()) for name, tensor in tensors.items()}


def discriminator(size: Size) -> Any:
    """Tells codes from draws of a Gaussian: one hidden layer."""
    return torch.nn.Sequential(
        torch.nn.Linear(size.code, size.hidden),
        torch.nn.ReLU(),
        torch.nn.Dropout(size.dropout),
        torch.nn.Linear(size.hidden, 1),
    )


def _bags(layer: Any, rows: Sequence[NDArray[np.int64]]) -> Tensor:
    starts = np.cumsum([0, *(len(each) for each in rows[:-1])])
    return layer(torch.from_numpy(np.concatenate(rows)), torch.from_numpy(starts))
