"""Training the adversarial autoencoder: reconstruct sets, and keep codes like draws of a Gaussian."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from whycite.candidates.autoencoder import Autoencoder
from whycite.candidates.model import Lessons
from whycite.candidates.pool import pool_of
from whycite.candidates.titlewords import TitleWords
from whycite.errors import UserError
from whycite.training.candidates.network import Batch, Network, Size, discriminator

__all__ = ["Recipe", "train"]

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Recipe:
    """All that a trained autoencoder depends on beside its lessons (SCOPE 4.5.2)."""

    rate: float = 1e-3
    batch: int = 100  # sets
    hidden: int = 240
    code: int = 50
    dropout: float = 0.2


def train(
    name: str,
    lessons: Lessons,
    recipe: Recipe,
    titles: TitleWords | None = None,
    sections: bool = False,
    tell: Tell | None = None,
) -> Autoencoder:
    """An autoencoder of the sets, told apart by their titles and section types if asked; `tell` hears each epoch."""
    pool = pool_of(lessons)
    known = [(each, [pool.place[key] for key in each.papers if key in pool.place]) for each in lessons.sets]
    used = [(each, np.array(sorted(places), np.int64)) for each, places in known if places]
    if not used:
        raise UserError("no set holds a paper that is cited often enough: lower the number of citations asked")
    types = ("", *sorted({type for each, _ in used for type in each.section_types if type})) if sections else ()
    vectors = np.array([titles.vector(each.title) for each, _ in used]) if titles else np.zeros((len(used), 0))
    rows = [[types.index(type) for type in each.section_types] or [0] for each, _ in used] if sections else []
    size = Size(
        len(pool),
        titles.dimensions if titles else 0,
        len(types),
        hidden=recipe.hidden,
        code=recipe.code,
        dropout=recipe.dropout,
    )
    with torch.random.fork_rng(devices=[]):  # what others draw does not hang on this
        torch.manual_seed(lessons.seed)
        chance = np.random.default_rng(lessons.seed)
        steps = _Steps(Network(size), recipe)
        for epoch in range(1, lessons.epochs + 1):
            order = chance.permutation(len(used))
            losses = []
            for at in range(0, len(used), recipe.batch):
                some = order[at : at + recipe.batch]
                batch = Batch(
                    [used[i][1] for i in some],
                    vectors[some].astype(np.float32),
                    [sorted(rows[i]) for i in some] if sections else [],
                )
                losses.append(steps.take(batch))
            if tell:
                tell(f"{name}, epoch {epoch}: loss {np.mean(losses):.5f}")
    return Autoencoder(name, pool, steps.network.exported(), titles, types)


class _Steps:
    """One step: reconstruction, then the discriminator, then the encoder that is to deceive it."""

    def __init__(self, network: Network, recipe: Recipe) -> None:
        self.network = network.train()
        self._judge = discriminator(network.size)
        self._loss = torch.nn.BCEWithLogitsLoss()
        self._rebuild = torch.optim.Adam(network.parameters(), lr=recipe.rate, fused=True)
        self._tell_apart = torch.optim.Adam(self._judge.parameters(), lr=recipe.rate, fused=True)
        self._deceive = torch.optim.Adam(network.encoding(), lr=recipe.rate, fused=True)

    def take(self, batch: Batch) -> float:
        """Learn from a batch; the loss of reconstruction."""
        network, judge = self.network, self._judge
        code = network.encode(batch)
        lost = self._loss(network.decode(code, batch), batch.target(network.size.papers))
        self._step(self._rebuild, lost)
        with torch.no_grad():
            made = network.encode(batch)
        real = judge(torch.randn_like(made))
        fake = judge(made)
        self._step(self._tell_apart, self._loss(real, torch.ones_like(real)) + self._loss(fake, torch.zeros_like(fake)))
        fooled = judge(network.encode(batch))
        self._step(self._deceive, self._loss(fooled, torch.ones_like(fooled)))
        return float(lost.detach())

    def _step(self, optimiser: torch.optim.Optimizer, loss: torch.Tensor) -> None:
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
