"""Export a Hugging Face model as a model folder with its card; needs the extra "train"."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whycite.errors import UserError
from whycite.models.folders import (
    CONFIG,
    ENCODER,
    ENTAILMENT,
    LOCAL,
    MODEL,
    PACKED,
    TOKENIZER,
    ModelFolder,
    ModelKind,
    ModelSettings,
    Pooling,
    files_version,
    quiet_transformers,
    require_torch,
)

__all__ = [
    "PACKED_BITS",
    "check_exportable",
    "export",
    "export_judgements",
    "export_scores",
    "file_name",
    "mpnet_weights",
    "write_card",
]

PACKED_BITS = 4  # of matrices that lie beside their graph
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
) -> ModelSettings:
    """Write model.onnx (8 bits), tokenizer.json and encoder.json into `out`, from a folder or a Hugging Face name.

    `name` defaults to that of `out`, and unspecified settings to those of the source.
    """
    folder = ENCODER.find(source)
    if not (folder / CONFIG).is_file():
        raise UserError(f"{source} is not the folder of a Hugging Face model: it has no {CONFIG}")
    require_torch("Exporting an encoder", "onnx")
    with quiet_transformers() as transformers:
        config = transformers.AutoConfig.from_pretrained(folder, **LOCAL)
    check_exportable(folder, config)
    files = ModelFolder(folder, original=True)
    source_settings, tokenizer, model = files.settings, files.open_tokenizer(), files.open_torch_model()
    settings = ModelSettings(
        name or out.resolve().name,
        dimensions=config.hidden_size,
        max_tokens=min(
            max_tokens or source_settings.max_tokens, config.max_position_embeddings - _first_position(config)
        ),
        pooling=pooling or source_settings.pooling,
        prefix=source_settings.prefix if prefix is None else prefix,
    )
    out.mkdir(parents=True, exist_ok=True)
    _write_graph(model, settings.pooling, out / MODEL)
    if (folder / TOKENIZER).is_file():
        (out / TOKENIZER).write_bytes((folder / TOKENIZER).read_bytes())
    else:
        tokenizer.save(str(out / TOKENIZER))
    return _write_settings(out, settings, ENCODER)


def export_scores(
    model: Any, head: Any, tokenizer: Any, out: Path, *, name: str, max_tokens: int, kind: ModelKind
) -> ModelSettings:
    """Write a model that gives each text one score, by the linear layer `head` at its first token, and its settings."""
    require_torch("Exporting a model", "onnx")
    check_exportable(out, model.config)
    out.mkdir(parents=True, exist_ok=True)
    settings = ModelSettings(name, max_tokens=max_tokens)
    _write_graph(model, "cls", out / MODEL, head)
    plain = type(tokenizer).from_str(tokenizer.to_str())
    plain.no_padding()
    plain.no_truncation()
    plain.save(str(out / TOKENIZER), pretty=False)
    return _write_settings(out, settings, kind)


def export_judgements(
    network: Any, tokenizer: Any, out: Path, *, name: str, max_tokens: int, bits: int = 8
) -> ModelSettings:
    """Write an entailment model on MPNet, which gives each pair the numbers of its layer `head`, and its settings."""
    from whycite.lab.train.quantisation import EncoderShape, build_graph, pack_weights

    config = network.model.config
    head = {f"head.{name}": weight.detach().cpu().numpy() for name, weight in network.head.state_dict().items()}
    shape = EncoderShape(
        config.num_hidden_layers,
        config.num_attention_heads,
        config.layer_norm_eps,
        int(config.pad_token_id) + 1,
        output="judgements",
    )
    out.mkdir(parents=True, exist_ok=True)
    graph = build_graph(mpnet_weights(network.model, max_tokens) | head, shape)
    if bits == PACKED_BITS:
        np.savez(out / PACKED, **pack_weights(graph))
    (out / MODEL).write_bytes(graph.SerializeToString(deterministic=True))
    plain = type(tokenizer).from_str(tokenizer.to_str())
    plain.no_padding()
    plain.no_truncation()
    plain.save(str(out / TOKENIZER), pretty=False)
    return _write_settings(out, ModelSettings(name, max_tokens=max_tokens), ENTAILMENT)


_MPNET_NAMES = {
    ".attention.attn.q.": ".attention.self.query.",
    ".attention.attn.k.": ".attention.self.key.",
    ".attention.attn.v.": ".attention.self.value.",
    ".attention.attn.o.": ".attention.output.dense.",
    ".attention.LayerNorm.": ".attention.output.LayerNorm.",
}


def mpnet_weights(model: Any, max_tokens: int) -> dict[str, NDArray[np.float32]]:
    """The weights of an MPNet by BERT's names, and what each distance between tokens adds to the attention.

    Those of positions and distances that a text of so many tokens does not have are left out.
    """
    weights = {}
    for name, weight in model.state_dict().items():
        for mpnet_name, bert_name in _MPNET_NAMES.items():
            name = name.replace(mpnet_name, bert_name)
        weights[name] = weight.detach().cpu().float().numpy()
    width = weights["embeddings.word_embeddings.weight"].shape[1]
    weights["embeddings.token_type_embeddings.weight"] = np.zeros((1, width), np.float32)  # MPNet has none
    positions = "embeddings.position_embeddings.weight"
    weights[positions] = weights[positions][: int(model.config.pad_token_id) + 1 + max_tokens]
    offsets = import_module("torch").arange(1 - max_tokens, max_tokens)
    buckets = model.encoder.relative_position_bucket(offsets, model.config.relative_attention_num_buckets)
    weights["distances"] = weights.pop("encoder.relative_attention_bias.weight")[buckets.cpu().numpy()]
    return weights


def _write_settings(out: Path, settings: ModelSettings, kind: ModelKind) -> ModelSettings:
    files = [path for name in (MODEL, PACKED, TOKENIZER) if (path := out / name).is_file()]
    settings = replace(settings, version=files_version(files, settings))
    settings.write(out, kind)
    return settings


def _write_graph(model: Any, pooling: Pooling, path: Path, head: Any = None) -> None:
    from whycite.lab.train.quantisation import EncoderShape, OutputKind, build_graph

    config = model.config
    weights = {name: weight.numpy() for name, weight in model.state_dict().items()}
    if head is not None:
        weights |= {f"head.{name}": weight.numpy() for name, weight in head.state_dict().items()}
    layers, heads = config.num_hidden_layers, config.num_attention_heads
    output: OutputKind = "vectors" if head is None else "scores"
    shape = EncoderShape(layers, heads, config.layer_norm_eps, _first_position(config), pooling, output)
    path.write_bytes(build_graph(weights, shape).SerializeToString(deterministic=True))


def _first_position(config: Any) -> int:
    return int(config.pad_token_id) + 1 if config.model_type in _ROBERTAS else 0


def check_exportable(folder: str | Path, config: Any) -> None:
    """Raise an error if no graph can be built for this kind of model."""
    supported = (*_BERTS, *_ROBERTAS)
    if config.model_type not in supported:
        raise UserError(f"{folder} is a '{config.model_type}' model; can export only: {', '.join(supported)}")
    if config.hidden_act not in _ACTIVATIONS:
        raise UserError(f"{folder} uses '{config.hidden_act}'; can export only: {', '.join(_ACTIVATIONS)}")


def write_card(
    folder: Path,
    model: Path,
    description: str,
    base: str,
    data: Mapping[str, object],
    recipe: Mapping[str, object],
    introduction: str,
    measured: Sequence[Mapping[str, float]],
    parity: Mapping[str, float],
) -> None:
    """Write README.md: what the model is, what it was made from and how, and its measurements."""
    lines = [
        f"# {model.resolve().name}",
        "",
        description,
        "",
        *_table({"Base": file_name(base), **data}),
        "",
        "## Recipe",
        "",
        *_table({name: file_name(value) if isinstance(value, str) else value for name, value in recipe.items()}),
        "",
        "```",
        shlex.join(["whycite", *map(file_name, sys.argv[1:])]),
        "```",
        "",
        "## Measured",
        "",
        introduction,
        "",
        *_measurements(measured),
        "",
        "The exported model in 8 bits beside the trained one:",
        "",
        *_table({name: f"{value:.4f}" for name, value in parity.items()}),
        "",
    ]
    (folder / "README.md").write_text("\n".join(lines), encoding="utf-8")


def file_name(path_or_name: str) -> str:
    """The bare name of a file, since its folder means nothing to others."""
    return Path(path_or_name).name if Path(path_or_name).is_absolute() else path_or_name


def _table(facts: Mapping[str, object]) -> list[str]:
    return [
        "| | |",
        "| --- | --- |",
        *(f"| {name} | {str(value).replace('|', '/')} |" for name, value in facts.items()),
    ]


def _measurements(measured: Sequence[Mapping[str, float]]) -> list[str]:
    names = list(measured[0])
    return [
        "| " + " | ".join(names) + " |",
        "| " + " | ".join("---:" for _ in names) + " |",
        *("| " + " | ".join(f"{row[name]:.4g}" for name in names) + " |" for row in measured),
    ]
