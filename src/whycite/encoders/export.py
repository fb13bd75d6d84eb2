"""Makes the folder of an encoder from that of a Hugging Face model; needs the extra "train"."""

from __future__ import annotations

import shutil
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from whycite.encoders import facts
from whycite.encoders.facts import MODEL, TOKENIZER, Facts, Pooling
from whycite.errors import MissingExtra, UserError

__all__ = ["export"]

_BERTS = ("bert",)
_ROBERTAS = ("roberta", "xlm-roberta", "camembert")
_ACTIVATIONS = ("gelu", "gelu_new", "gelu_pytorch_tanh")


def export(
    folder: Path, out: Path, *, name: str = "", pooling: Pooling = "cls", max_tokens: int = 256, prefix: str = ""
) -> Facts:
    """Write model.onnx (8 bits), tokenizer.json and encoder.json into `out`; it is called `name`, else as `out` is."""
    if not (folder / "config.json").is_file() or not (folder / TOKENIZER).is_file():
        raise UserError(f"{folder} is no folder of a Hugging Face model: it needs config.json and {TOKENIZER}")
    try:
        import_module("onnx")
        torch, transformers = import_module("torch"), import_module("transformers")
    except ImportError as error:
        raise MissingExtra("Exporting an encoder", "train") from error
    config = transformers.AutoConfig.from_pretrained(folder)
    _check(folder, config)
    positions = config.max_position_embeddings - _first_position(config)
    model = transformers.AutoModel.from_pretrained(folder, dtype=torch.float32, add_pooling_layer=False)
    out.mkdir(parents=True, exist_ok=True)
    _write(model, config, pooling, out / MODEL)
    shutil.copyfile(folder / TOKENIZER, out / TOKENIZER)
    made = Facts(name or out.resolve().name, "", config.hidden_size, min(max_tokens, positions), pooling, prefix)
    made = replace(made, version=facts.version(out, made))
    made.write(out)
    return made


def _write(model: Any, config: Any, pooling: Pooling, path: Path) -> None:
    from whycite.encoders.quantised import Shape, build

    weights = {name: weight.numpy() for name, weight in model.state_dict().items()}
    layers, heads = config.num_hidden_layers, config.num_attention_heads
    shape = Shape(layers, heads, config.layer_norm_eps, _first_position(config), pooling)
    path.write_bytes(build(weights, shape).SerializeToString(deterministic=True))


def _first_position(config: Any) -> int:
    return int(config.pad_token_id) + 1 if config.model_type in _ROBERTAS else 0


def _check(folder: Path, config: Any) -> None:
    known = (*_BERTS, *_ROBERTAS)
    if config.model_type not in known:
        raise UserError(f"{folder} is a '{config.model_type}'; what can be exported is: {', '.join(known)}")
    if config.hidden_act not in _ACTIVATIONS:
        raise UserError(f"{folder} uses '{config.hidden_act}'; what can be exported is: {', '.join(_ACTIVATIONS)}")
