"""Adversarial autoencoder and its training: reconstruct sets while keeping codes Gaussian (SCOPE 3.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from whycite.errors import UserError
from whycite.lab.scope.autoencoder import LAYERS, Autoencoder, TitleWords
from whycite.lab.scope.candidates import Lessons, pool_of

__all__ = ["AutoencoderNetwork", "AutoencoderRecipe", "LayerSizes", "PaperSetBatch", "discriminator", "train"]


Tensor = Any


@dataclass(frozen=True, slots=True)
class LayerSizes:
    """Layer widths (SCOPE 4.5.2); a condition of width 0 is not used."""

    papers: int
    title: int = 0  # dimensions of the title vector
    sections: int = 0  # section types, including the unknown one
    hidden: int = 240
    code: int = 50
    section: int = 32  # dimensions of a section type embedding
    dropout: float = 0.2


@dataclass(frozen=True, slots=True)
class PaperSetBatch:
    """Sets of papers, as positions in the pool, with the titles and section types of their documents."""

    sets: Sequence[NDArray[np.int64]]
    titles: NDArray[np.float32]  # one row per set
    sections: Sequence[Sequence[int]]  # section type indices; empty without conditions

    def target(self, papers: int) -> Tensor:
        """One row per set, with 1 for each paper in it."""
        table = torch.zeros(len(self.sets), papers)
        rows = np.repeat(np.arange(len(self.sets)), [len(members) for members in self.sets])
        table[torch.from_numpy(rows), torch.from_numpy(np.concatenate(self.sets))] = 1
        return table


class AutoencoderNetwork(torch.nn.Module):
    """Three-layer encoder and a decoder with two hidden layers; title and section are appended to the code."""

    def __init__(self, size: LayerSizes) -> None:
        super().__init__()
        self.size = size
        hidden, condition_size = size.hidden, size.title + (size.section if size.sections else 0)
        # A set is the mean of its papers' rows: a linear layer over 0/1 rows normalised to sum 1.
        self.input_layer = torch.nn.EmbeddingBag(size.papers, hidden, mode="mean")
        torch.nn.init.xavier_uniform_(self.input_layer.weight)
        self.input_bias = torch.nn.Parameter(torch.zeros(hidden))
        self.layers = torch.nn.ModuleList(
            [
                torch.nn.Linear(hidden, hidden),
                torch.nn.Linear(hidden, size.code),
                torch.nn.Linear(size.code + condition_size, hidden),
                torch.nn.Linear(hidden, hidden),
                torch.nn.Linear(hidden, size.papers),
            ]
        )
        self.sections = torch.nn.EmbeddingBag(size.sections, size.section, mode="mean") if size.sections else None
        self.dropout = torch.nn.Dropout(size.dropout)

    def encoder_parameters(self) -> list[Tensor]:
        """Parameters of the encoder."""
        return [self.input_layer.weight, self.input_bias, *self.layers[0].parameters(), *self.layers[1].parameters()]

    def encode(self, batch: PaperSetBatch) -> Tensor:
        """Encode sets."""
        state = self.dropout(torch.relu(_bags(self.input_layer, batch.sets) + self.input_bias))
        state = self.dropout(torch.relu(self.layers[0](state)))
        return self.layers[1](state)

    def decode(self, code: Tensor, batch: PaperSetBatch) -> Tensor:
        """The logit of each paper belonging to each set."""
        parts = [code]
        if self.size.title:
            parts.append(torch.from_numpy(batch.titles))
        if self.sections is not None:
            parts.append(_bags(self.sections, [np.array(types, np.int64) for types in batch.sections]))
        state = torch.cat(parts, dim=1)
        for layer in self.layers[2:4]:
            state = self.dropout(torch.relu(layer(state)))
        return self.layers[4](state)

    def export_weights(self) -> dict[str, NDArray[np.float32]]:
        """Weights in the form the numpy autoencoder takes."""
        input_tensors = {"encoder.weight": self.input_layer.weight, "encoder.bias": self.input_bias}
        tensors = dict(input_tensors)
        for name, layer in zip(LAYERS[1:], self.layers, strict=True):
            tensors |= {f"{name}.weight": layer.weight.T, f"{name}.bias": layer.bias}
        if self.sections is not None:
            tensors["sections"] = self.sections.weight
        return {name: np.ascontiguousarray(tensor.detach().numpy()) for name, tensor in tensors.items()}


def discriminator(size: LayerSizes) -> Any:
    """Build a network with one hidden layer that tells codes from Gaussian samples."""
    return torch.nn.Sequential(
        torch.nn.Linear(size.code, size.hidden),
        torch.nn.ReLU(),
        torch.nn.Dropout(size.dropout),
        torch.nn.Linear(size.hidden, 1),
    )


def _bags(layer: Any, rows: Sequence[NDArray[np.int64]]) -> Tensor:
    starts = np.cumsum([0, *(len(row) for row in rows[:-1])])
    return layer(torch.from_numpy(np.concatenate(rows)), torch.from_numpy(starts))


Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class AutoencoderRecipe:
    """Hyperparameters of an autoencoder (SCOPE 4.5.2)."""

    rate: float = 1e-3
    batch: int = 100  # sets
    hidden: int = 240
    code: int = 50
    dropout: float = 0.2


def train(
    name: str,
    lessons: Lessons,
    recipe: AutoencoderRecipe,
    titles: TitleWords | None = None,
    sections: bool = False,
    tell: Tell | None = None,
) -> Autoencoder:
    """Train an autoencoder, optionally conditioned on titles and section types; `tell` gets the loss of each epoch."""
    pool = pool_of(lessons)
    placed_sets = [
        (paper_set, [pool.place[key] for key in paper_set.papers if key in pool.place]) for paper_set in lessons.sets
    ]
    used = [(paper_set, np.array(sorted(places), np.int64)) for paper_set, places in placed_sets if places]
    if not used:
        raise UserError("no paper is cited often enough; lower --floor")
    types = (
        ("", *sorted({type for paper_set, _ in used for type in paper_set.section_types if type})) if sections else ()
    )
    vectors = (
        np.array([titles.vector(paper_set.title) for paper_set, _ in used]) if titles else np.zeros((len(used), 0))
    )
    rows = [[types.index(type) for type in paper_set.section_types] or [0] for paper_set, _ in used] if sections else []
    size = LayerSizes(
        len(pool),
        titles.dimensions if titles else 0,
        len(types),
        hidden=recipe.hidden,
        code=recipe.code,
        dropout=recipe.dropout,
    )
    with torch.random.fork_rng(devices=[]):  # leaves the global random state alone
        torch.manual_seed(lessons.seed)
        chance = np.random.default_rng(lessons.seed)
        steps = _AdversarialSteps(AutoencoderNetwork(size), recipe)
        for epoch in range(1, lessons.epochs + 1):
            order = chance.permutation(len(used))
            losses = []
            for start in range(0, len(used), recipe.batch):
                indices = order[start : start + recipe.batch]
                batch = PaperSetBatch(
                    [used[i][1] for i in indices],
                    vectors[indices].astype(np.float32),
                    [sorted(rows[i]) for i in indices] if sections else [],
                )
                losses.append(steps.take(batch))
            if tell:
                tell(f"{name}, epoch {epoch}: loss {np.mean(losses):.5f}")
    return Autoencoder(name, pool, steps.network.export_weights(), titles, types)


class _AdversarialSteps:
    """Training steps: reconstruct, train the discriminator, then train the encoder to fool it."""

    def __init__(self, network: AutoencoderNetwork, recipe: AutoencoderRecipe) -> None:
        self.network = network.train()
        self._judge = discriminator(network.size)
        self._loss = torch.nn.BCEWithLogitsLoss()
        self._rebuild = torch.optim.Adam(network.parameters(), lr=recipe.rate, fused=True)
        self._tell_apart = torch.optim.Adam(self._judge.parameters(), lr=recipe.rate, fused=True)
        self._deceive = torch.optim.Adam(network.encoder_parameters(), lr=recipe.rate, fused=True)

    def take(self, batch: PaperSetBatch) -> float:
        """Train on a batch and return the reconstruction loss."""
        network, judge = self.network, self._judge
        code = network.encode(batch)
        lost = self._loss(network.decode(code, batch), batch.target(network.size.papers))
        self._step(self._rebuild, lost)
        with torch.no_grad():
            codes = network.encode(batch)
        real = judge(torch.randn_like(codes))
        fake = judge(codes)
        self._step(self._tell_apart, self._loss(real, torch.ones_like(real)) + self._loss(fake, torch.zeros_like(fake)))
        fooled = judge(network.encode(batch))
        self._step(self._deceive, self._loss(fooled, torch.ones_like(fooled)))
        return float(lost.detach())

    def _step(self, optimiser: torch.optim.Optimizer, loss: torch.Tensor) -> None:
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
