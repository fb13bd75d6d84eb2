"""Training steps, and checkpoints to resume from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch

from whycite.errors import UserError
from whycite.files import atomic_write
from whycite.lab.train.bases import Tensor

__all__ = ["Checkpoint", "TrainingSteps"]

_WARM = 0.05  # share of all steps
_STEEPEST = 1.0


class TrainingSteps:
    """AdamW with a linear warm-up and a linear decay to zero."""

    def __init__(self, model: Any, rate: float, count: int) -> None:
        self._model = model
        # No weight decay for biases and scales.
        decayed = [parameter for parameter in model.parameters() if parameter.ndim > 1]
        undecayed = [parameter for parameter in model.parameters() if parameter.ndim <= 1]
        groups = [{"params": decayed, "weight_decay": 0.01}, {"params": undecayed, "weight_decay": 0.0}]
        self.optimiser = torch.optim.AdamW(groups, lr=rate)
        warm = max(1, int(_WARM * count))
        self.schedule = torch.optim.lr_scheduler.LambdaLR(
            self.optimiser, lambda step: min((step + 1) / warm, max(0.0, (count - step) / max(1, count - warm)))
        )

    def take(self, loss: Tensor) -> Tensor:
        """Take one step against the loss."""
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._model.parameters(), _STEEPEST)
        self.optimiser.step()
        self.schedule.step()
        return loss.detach()


class Checkpoint:
    """A file with everything needed to resume training; one from other data or another recipe is refused."""

    def __init__(self, path: Path | None, recipe: Mapping[str, object]) -> None:
        self._path, self._recipe = path, dict(recipe)

    def save(self, model: Any, steps: TrainingSteps, measured: list[dict[str, float]]) -> None:
        """Save the state after an epoch, replacing the last."""
        if self._path is None:
            return
        state = {
            "recipe": self._recipe,
            "measured": measured,
            "model": model.state_dict(),
            "optimiser": steps.optimiser.state_dict(),
            "schedule": steps.schedule.state_dict(),
        }
        with atomic_write(self._path) as file:
            torch.save(state, file)

    def resume(self, model: Any, steps: TrainingSteps) -> list[dict[str, float]]:
        """Restore the saved state; return the measurements so far, none if there is no checkpoint."""
        if self._path is None or not self._path.is_file():
            return []
        try:
            state = torch.load(self._path, map_location=next(model.parameters()).device, weights_only=True)
            same = state["recipe"] == self._recipe
        except (EOFError, RuntimeError, UnpicklingError, TypeError, LookupError) as error:
            raise UserError(f"{self._path} cannot be resumed ({error}); delete it to start again") from error
        if not same:
            raise UserError(f"{self._path} belongs to other data or another recipe; delete it, or choose another --out")
        model.load_state_dict(state["model"])
        steps.optimiser.load_state_dict(state["optimiser"])
        steps.schedule.load_state_dict(state["schedule"])
        measured: list[dict[str, float]] = state["measured"]
        return measured
