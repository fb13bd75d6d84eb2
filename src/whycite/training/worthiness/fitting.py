"""Optimiser, schedule and loss: what makes a network learn from batches."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whycite.training.worthiness.batches import Batch, Maker
from whycite.training.worthiness.network import scores
from whycite.training.worthiness.recipe import Recipe
from whycite.training.worthiness.texts import PLACE, UNKNOWN

__all__ = ["Fitting", "Watch", "loaded", "precision"]

Watch = Callable[[str], None]
"""Told in a few words how it goes."""

_CLIP = 1.0
_TELL = 20.0  # seconds between two words of progress


class Fitting:
    """Optimiser and schedule, over all epochs; `targets` are how worthy each sentence is to be called."""

    def __init__(
        self, network: Any, recipe: Recipe, targets: NDArray[np.float32], device: Any, deadline: float, watch: Watch
    ) -> None:
        import torch

        self._network, self._recipe, self._targets = network, recipe, targets
        self._device, self._watch = device, watch
        self._begun, self._deadline = time.monotonic(), deadline
        learning = list(network.parameters())
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
        for step, batch in enumerate(loaded(maker, workers)):
            if self.over((epoch + step / len(maker)) / self._recipe.epochs):
                break
            total += self._step(batch, maker.frame.limit)
            number += 1
            if time.monotonic() - told > _TELL:
                told = time.monotonic()
                self._watch(f"  epoch {epoch + (step + 1) / len(maker):.2f}, loss {float(total) / number:.4f}")
        return float(total) / max(number, 1)

    def _step(self, batch: Batch, limit: int) -> Any:
        import torch

        device = self._device
        with precision(device):
            found, marks = scores(self._network, batch, self._recipe.readout, limit, device)
        labels = torch.from_numpy(self._targets[batch.sentences]).to(device)
        main = torch.nn.functional.binary_cross_entropy_with_logits(found, labels)
        loss = main + self._recipe.marks * _place_loss(marks, torch.from_numpy(batch.marks).to(device))
        self._optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._network.parameters(), _CLIP)
        self._optimizer.step()
        return main.detach()


def _place_loss(scores: Any, marks: Any) -> Any:
    """Cross entropy of tokens of which it is known whether citations stood behind them, for each that had some."""
    import torch

    known = marks != UNKNOWN
    each = torch.nn.functional.binary_cross_entropy_with_logits(scores, (marks == PLACE).float(), reduction="none")
    return (each * known).sum() / (marks == PLACE).sum().clamp(min=1)


def precision(device: Any) -> Any:
    """In 16 bits where the machine is made for it."""
    import torch

    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=device.type == "cuda")


def loaded(maker: Maker, workers: int) -> Any:
    """The batches of a maker, made by other processes where there are some."""
    from torch.utils.data import DataLoader

    return DataLoader(maker, batch_size=None, num_workers=workers, collate_fn=_same)


def _same(batch: Any) -> Any:
    return batch
