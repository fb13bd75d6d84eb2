"""Optimiser, schedule and loss: what makes a network learn from batches."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from whycite.training.worthiness.batches import Batch, Maker
from whycite.training.worthiness.network import scores
from whycite.training.worthiness.recipe import Recipe
from whycite.training.worthiness.texts import Texts

__all__ = ["Fitting", "Watch", "loaded", "precision"]

Watch = Callable[[str], None]
"""Told in a few words how it goes."""

_CLIP = 1.0
_TELL = 20.0  # seconds between two words of progress


class Fitting:
    """Optimiser and schedule, over all epochs."""

    def __init__(self, network: Any, averaged: Any, recipe: Recipe, device: Any, deadline: float, watch: Watch) -> None:
        import torch

        self._network, self._averaged, self._recipe = network, averaged, recipe
        self._device, self._watch = device, watch
        self._begun, self._deadline = time.monotonic(), deadline
        learning = [weight for weight in network.parameters() if weight.requires_grad]
        plain = [weight for weight in learning if weight.ndim < 2]
        full = [weight for weight in learning if weight.ndim >= 2]
        self._optimizer = torch.optim.AdamW(
            [{"params": full, "weight_decay": recipe.decay}, {"params": plain, "weight_decay": 0.0}],
            lr=recipe.rate,
            fused=device.type == "cuda",
        )

    def over(self, done: float) -> bool:
        """Whether training ends here, when such a share of it is done; sets the rate: up in a line, then down."""
        done = max(done, (time.monotonic() - self._begun) / self._deadline)
        warm = self._recipe.warm_up
        for group in self._optimizer.param_groups:
            group["lr"] = self._recipe.rate * min(done / warm, max(1 - done, 0) / (1 - warm))
        return done >= 1

    def epoch(self, maker: Maker, epoch: int, workers: int) -> float:
        """Learn from every paragraph once, or until it is over; the mean loss."""
        import torch

        self._network.train()
        total, number = torch.zeros((), device=self._device), 0
        told = time.monotonic()
        for place, chunk in enumerate(loaded(maker, workers)):
            for step, batch in enumerate(chunk):
                if self.over((epoch + (place + step / len(chunk)) / len(maker)) / self._recipe.epochs):
                    return float(total) / max(number, 1)
                total += self._step(batch, maker.texts)
                number += 1
            if time.monotonic() - told > _TELL:
                told = time.monotonic()
                self._watch(f"  epoch {epoch + (place + 1) / len(maker):.2f}, loss {float(total) / number:.4f}")
        return float(total) / max(number, 1)

    def _step(self, batch: Batch, texts: Texts) -> Any:
        import torch

        with precision(self._device):
            found = scores(self._network, batch, self._recipe.readout, self._device)
        labels = torch.from_numpy(texts.worthy[batch.sentences].astype(np.float32)).to(self._device)
        loss = _loss(found, labels, self._recipe)
        self._optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._network.parameters(), _CLIP)
        self._optimizer.step()
        if self._averaged is not None:
            self._averaged.update_parameters(self._network)
        return loss.detach()


def _loss(found: Any, labels: Any, recipe: Recipe) -> Any:
    """Cross entropy; weighted, smoothed or focal where the recipe says so."""
    import torch

    soft = labels * (1 - 2 * recipe.smooth) + recipe.smooth
    each = torch.nn.functional.binary_cross_entropy_with_logits(found, soft, reduction="none")
    weights = 1 + (recipe.weight - 1) * labels
    if recipe.focal:
        right = torch.sigmoid(torch.where(labels > 0.5, found, -found)).detach()
        weights = weights * (1 - right) ** recipe.focal
    return (each * weights).sum() / weights.sum()


def precision(device: Any) -> Any:
    """In 16 bits where the machine is made for it."""
    import torch

    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=device.type == "cuda")


def loaded(maker: Maker, workers: int) -> Any:
    """The chunks of a maker, made by other processes where there are some."""
    from torch.utils.data import DataLoader

    return DataLoader(maker, batch_size=None, num_workers=workers, collate_fn=_same)


def _same(chunk: Any) -> Any:
    return chunk
