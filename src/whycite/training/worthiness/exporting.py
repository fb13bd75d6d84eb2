"""A trained network as the folder of a detector, and whether that says what the network says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from whycite.encoders import hub
from whycite.encoders.export import check_exportable
from whycite.encoders.facts import FACTS as ENCODER
from whycite.encoders.facts import MODEL
from whycite.errors import UserError
from whycite.evaluation.worthiness import best_threshold, measure
from whycite.training.bases import Base, save_base
from whycite.training.worthiness.recipe import Recipe
from whycite.training.worthiness.report import Judged
from whycite.training.worthiness.training import frame_of
from whycite.worthiness.facts import Decision, Facts, Head
from whycite.worthiness.folder import FolderDetector
from whycite.worthiness.model import LabelledDocument

__all__ = ["export", "exportable", "parity"]

_LEAST = 0.95  # correlation of scores


def export(network: Any, base: Base, recipe: Recipe, decisions: Mapping[str, Decision], name: str, out: Path) -> None:
    """Write model.onnx (8 bits), tokenizer.json, head.npz and worthiness.json into `out`.

    A base that no graph can be built for, such as Longformer, is kept as it was trained, and run by torch.
    """
    save_base(out, network["backbone"].cpu(), base.tokenizer)
    if exportable(base):
        _write_graph(network["backbone"], out / MODEL)
        for file in [*out.glob("*.safetensors"), out / hub.CONFIG]:
            file.unlink()
    (out / ENCODER).unlink()
    hidden, output = network["head"][1], network["head"][4]
    Head(_array(hidden.weight), _array(hidden.bias), _array(output.weight)[0], _array(output.bias)).write(out)
    Facts(name, recipe.variant, recipe.readout, frame_of(base, recipe).limit, decisions).write(out)


def exportable(base: Base) -> bool:
    """Whether a graph in 8 bits can be built for the base."""
    try:
        check_exportable(base.name, base.config)
    except UserError:
        return False
    return True


def _write_graph(backbone: Any, path: Path) -> None:
    from whycite.encoders.quantised import Shape, build

    config = backbone.config
    first = 0 if config.model_type == "bert" else int(config.pad_token_id) + 1
    weights = {name: _array(weight) for name, weight in backbone.state_dict().items()}
    layers, heads = config.num_hidden_layers, config.num_attention_heads
    shape = Shape(layers, heads, config.layer_norm_eps, first, output="states")
    path.write_bytes(build(weights, shape).SerializeToString(deterministic=True))


def _array(weight: Any) -> Any:
    return weight.detach().float().cpu().numpy()


def parity(folder: Path, documents: Sequence[LabelledDocument], judged: Judged) -> dict[str, float]:
    """How the exported model's scores of sentences go with the trained one's, and what F1 each reaches."""
    exported = np.concatenate(
        FolderDetector(folder, 1).scores([own for each in documents for own in each.unlabelled()])
    )
    trained = judged.scores[: len(exported)]
    worthy = judged.worthy[: len(exported)]
    found = float(np.corrcoef(exported, trained)[0, 1])
    if not found >= _LEAST:
        raise UserError(f"{folder}: the exported model differs from the trained one (correlation {found:.3f})")
    return {
        "correlation of scores": found,
        "F1 in 8 bits": _best(worthy, exported),
        "F1 as trained": _best(worthy, trained),
    }


def _best(worthy: Any, scores: Any) -> float:
    return measure(worthy, scores >= best_threshold(worthy, scores.astype(np.float64))).f1
