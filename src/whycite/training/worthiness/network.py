"""The network: a base reads the paragraph, one hidden layer judges each sentence (SCOPE 3.2)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whycite.errors import UserError
from whycite.training.worthiness.batches import Batch
from whycite.training.worthiness.recipe import Readout, Recipe

__all__ = ["load_weights", "make", "save_weights", "scores"]

_PART = 15 << 20  # bytes of a file of weights, so that it can be sent anywhere
_FILE = "weights-{}.npz"


def make(backbone: Any, recipe: Recipe) -> Any:
    """The network: `backbone` and `head`, a hidden layer with tanh as wide as the backbone, and one output."""
    from torch import nn

    width = backbone.config.hidden_size
    head = nn.Sequential(
        nn.Dropout(recipe.dropout), nn.Linear(width, width), nn.Tanh(), nn.Dropout(recipe.dropout), nn.Linear(width, 1)
    )
    _hasten(backbone)
    if recipe.frozen:
        backbone.get_input_embeddings().weight.requires_grad_(False)
    return nn.ModuleDict({"backbone": backbone, "head": head})


def _hasten(backbone: Any) -> None:
    """No dropout inside attention, and norms in the precision of the rest: a step takes much less time."""
    import torch
    from torch import nn

    class Norm(nn.LayerNorm):
        def forward(self, rows: Any) -> Any:
            kind = rows.device.type
            if torch.is_autocast_enabled(kind):
                rows = rows.to(torch.get_autocast_dtype(kind))
            weight, bias = self.weight.to(rows.dtype), self.bias.to(rows.dtype)
            with torch.autocast(kind, enabled=False):
                return nn.functional.layer_norm(rows, self.normalized_shape, weight, bias, self.eps)

    for name, module in backbone.named_modules():
        if type(module) is nn.LayerNorm:
            module.__class__ = Norm
        elif isinstance(module, nn.Dropout) and name.endswith("attention.self.dropout"):
            module.p = 0.0


def scores(network: Any, batch: Batch, readout: Readout, device: Any) -> Any:
    """The score of each sentence of a batch: the logarithm of its odds."""
    import torch

    def on_device(array: NDArray[np.int64]) -> Any:
        return torch.from_numpy(array).to(device, non_blocking=True)

    tokens, lengths = on_device(batch.tokens), on_device(batch.lengths)
    mask = torch.arange(tokens.shape[1], device=device) < lengths[:, None]
    padding = network["backbone"].config.pad_token_id
    states = network["backbone"](tokens.masked_fill(~mask, padding), attention_mask=mask.long()).last_hidden_state
    states = states.flatten(0, 1)
    if readout == "separator":
        read = states.index_select(0, on_device(batch.separators)).float()
    else:
        owner = on_device(batch.owner)
        number = len(batch.sentences)
        read = torch.zeros(number, states.shape[1], device=device)
        read = read.index_add(0, owner, states.index_select(0, on_device(batch.own)).float())
        read = read / on_device(np.bincount(batch.owner, minlength=number))[:, None]
    return network["head"](read).squeeze(1).float()


def save_weights(network: Any, folder: Path) -> None:
    """Write what was trained in 16 bits, in files of limited size; frozen weights are those of the base."""
    folder.mkdir(parents=True, exist_ok=True)
    parts: list[dict[str, NDArray[np.float16]]] = [{}]
    size = 0
    for name, weight in network.named_parameters():
        if not weight.requires_grad:
            continue
        array = weight.detach().cpu().numpy().astype(np.float16)
        rows = max(1, _PART * len(array) // max(array.nbytes, 1))
        for at in range(0, len(array), rows):
            piece = array[at : at + rows]
            if parts[-1] and size + piece.nbytes > _PART:
                parts.append({})
                size = 0
            parts[-1][f"{name}@{at}"] = piece
            size += piece.nbytes
    for number, part in enumerate(parts):
        np.savez(folder / _FILE.format(number), allow_pickle=False, **part)


def load_weights(network: Any, folder: Path) -> None:
    """Read back what was trained into a network made by the same recipe."""
    import torch

    pieces: dict[str, dict[int, NDArray[np.float16]]] = {}
    for number in range(len(list(folder.glob(_FILE.format("*"))))):
        with np.load(folder / _FILE.format(number), allow_pickle=False) as part:
            _sort(part, pieces)
    if not pieces:
        raise UserError(f"{folder} holds no weights of a worthiness model")
    whole = {name: np.concatenate([own[at] for at in sorted(own)]) for name, own in pieces.items()}
    state = {name: torch.from_numpy(array.astype(np.float32)) for name, array in whole.items()}
    wanted = {name for name, weight in network.named_parameters() if weight.requires_grad}
    if wanted != set(state):
        raise UserError(f"the weights in {folder} are of another recipe or base")
    network.load_state_dict(state, strict=False)


def _sort(part: Mapping[str, NDArray[np.float16]], pieces: dict[str, dict[int, NDArray[np.float16]]]) -> None:
    for key in part:
        name, _, at = key.rpartition("@")
        pieces.setdefault(name, {})[int(at)] = part[key]
