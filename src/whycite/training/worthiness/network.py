"""The network: a base reads the paragraph, one hidden layer judges each sentence (SCOPE 3.2)."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from whycite.training.worthiness.batches import Batch
from whycite.training.worthiness.packed import states
from whycite.training.worthiness.recipe import Readout, Recipe

__all__ = ["make", "scores"]


def make(backbone: Any, recipe: Recipe) -> Any:
    """The network: `backbone`, a hidden layer with tanh as wide as it, one output; and one for `marks` of tokens."""
    from torch import nn

    width = backbone.config.hidden_size
    head = nn.Sequential(
        nn.Dropout(recipe.dropout), nn.Linear(width, width), nn.Tanh(), nn.Dropout(recipe.dropout), nn.Linear(width, 1)
    )
    return nn.ModuleDict({"backbone": backbone, "head": head, "marks": nn.Linear(width, 1)})


def scores(network: Any, batch: Batch, readout: Readout, limit: int, device: Any) -> tuple[Any, Any]:
    """The score of each sentence of a batch, the logarithm of its odds; and that of each token to have a mark."""
    import torch

    def on_device(array: NDArray[Any]) -> Any:
        return torch.from_numpy(array).to(device, non_blocking=True)

    tokens, positions, bounds = (on_device(each) for each in (batch.tokens, batch.positions, batch.bounds))
    found = states(network["backbone"], tokens, positions, bounds, limit)
    if readout == "separator":
        read = found.index_select(0, on_device(batch.separators)).float()
    else:
        owner, number = on_device(batch.owner), len(batch.sentences)
        read = torch.zeros(number + 1, found.shape[1], device=device).index_add(0, owner, found.float())[:number]
        read = read / torch.bincount(owner, minlength=number + 1)[:number, None]
    return network["head"](read).squeeze(1).float(), network["marks"](found).squeeze(1).float()
