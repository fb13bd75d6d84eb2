"""Makes the folder of an encoder from a Hugging Face model; needs the extra "train"."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from whycite.encoders import facts, hub, registry
from whycite.encoders.facts import MODEL, TOKENIZER, Facts, Pooling
from whycite.errors import UserError

__all__ = ["check_exportable", "export", "export_scores"]

_BERTS = ("bert",)
_ROBERTAS = ("roberta", "xlm-roberta", "camembert")
_ACTIVATIONS = ("gelu", "gelu_new", "gelu_pytorch_tanh")


def export(
    source: str | Path,
    out: Path,
    *,
    name: str = "",
    pooling: Pooling | None = None,
    max_tokens: int | None = None,
    prefix: str | None = None,
) -> Facts:
    """Write model.onnx (8 bits), tokenizer.json and encoder.json into `out`, from a folder or by Hugging Face name.

    It is called `name`, else as `out` is; what is not said of its use is as the source says.
    """
    folder = registry.place(source)
    if folder is None or not (folder / hub.CONFIG).is_file():
        raise UserError(f"{source} is no folder of a Hugging Face model: it needs {hub.CONFIG}")
    hub.require("Exporting an encoder", "onnx")
    with hub.quiet() as transformers:
        config = transformers.AutoConfig.from_pretrained(folder, **hub.LOCAL)
    check_exportable(folder, config)
    use, tokenizer, model = hub.facts_of(folder), hub.tokenizer_of(folder), hub.model_of(folder)
    made = Facts(
        name or out.resolve().name,
        dimensions=config.hidden_size,
        max_tokens=min(max_tokens or use.max_tokens, config.max_position_embeddings - _first_position(config)),
        pooling=pooling or use.pooling,
        prefix=use.prefix if prefix is None else prefix,
    )
    out.mkdir(parents=True, exist_ok=True)
    _write(model, made.pooling, out / MODEL)
    if (folder / TOKENIZER).is_file():
        (out / TOKENIZER).write_bytes((folder / TOKENIZER).read_bytes())
    else:
        tokenizer.save(str(out / TOKENIZER))
    made = replace(made, version=facts.version(out, made))
    made.write(out)
    return made


def export_scores(model: Any, head: Any, tokenizer: Any, out: Path, *, name: str, max_tokens: int, file: str) -> Facts:
    """Write a model that gives one number a text, by the linear layer `head` at its first token, with its facts."""
    hub.require("Exporting a model", "onnx")
    check_exportable(out, model.config)
    out.mkdir(parents=True, exist_ok=True)
    made = Facts(name, max_tokens=max_tokens)
    _write(model, "cls", out / MODEL, head)
    plain = type(tokenizer).from_str(tokenizer.to_str())
    plain.no_padding()
    plain.no_truncation()
    plain.save(str(out / TOKENIZER), pretty=False)
    made = replace(made, version=facts.version(out, made))
    made.write(out, file)
    return made


def _write(model: Any, pooling: Pooling, path: Path, head: Any = None) -> None:
    from whycite.encoders.quantised import Output, Shape, build

    config = model.config
    weights = {name: weight.numpy() for name, weight in model.state_dict().items()}
    if head is not None:
        weights |= {f"head.{name}": weight.numpy() for name, weight in head.state_dict().items()}
    layers, heads = config.num_hidden_layers, config.num_attention_heads
    output: Output = "vectors" if head is None else "scores"
    shape = Shape(layers, heads, config.layer_norm_eps, _first_position(config), pooling, output)
    path.write_bytes(build(weights, shape).SerializeToString(deterministic=True))


def _first_position(config: Any) -> int:
    return int(config.pad_token_id) + 1 if config.model_type in _ROBERTAS else 0


def check_exportable(folder: str | Path, config: Any) -> None:
    """Refuse a model of a kind that no graph can be built for."""
    known = (*_BERTS, *_ROBERTAS)
    if config.model_type not in known:
        raise UserError(f"{folder} is a '{config.model_type}'; what can be exported is: {', '.join(known)}")
    if config.hidden_act not in _ACTIVATIONS:
        raise UserError(f"{folder} uses '{config.hidden_act}'; what can be exported is: {', '.join(_ACTIVATIONS)}")
