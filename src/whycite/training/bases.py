"""The models that training begins with: by Hugging Face name, in a folder, or the bundled encoder."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whycite.encoders import facts, hub, registry
from whycite.encoders.facts import MODEL, TOKENIZER, Facts, Pooling
from whycite.errors import UserError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["Base", "load_base", "save_base"]


@dataclass(frozen=True, slots=True)
class Base:
    """A model of transformers in 32 bits without pooling layer; its tokenizer, which neither pads nor cuts; its use."""

    name: str
    model: Any
    tokenizer: Tokenizer
    config: Any
    facts: Facts


def load_base(name: str | Path) -> Base:
    """The base of that name: a bundled encoder, a folder, or a Hugging Face model in the local cache."""
    folder = registry.place(name)
    if folder is None:
        names = ", ".join(registry.bundled())
        raise UserError(f"no base '{name}'; there are: {names}, the path of a folder, or a Hugging Face name")
    hub.require("Training", "onnx")
    given = (folder / hub.CONFIG).is_file()
    use = hub.facts_of(folder) if given else facts.read(folder)
    tokenizer = hub.tokenizer_of(folder)
    model = hub.model_of(folder) if given else _unquantised(folder / MODEL, tokenizer)
    return Base(str(name), model, tokenizer, model.config, use)


def save_base(
    folder: Path, model: Any, tokenizer: Tokenizer, *, pooling: Pooling = "cls", max_tokens: int = 256, prefix: str = ""
) -> None:
    """Write a Hugging Face folder that `load_base`, `encoders.load` and `encoders.export.export` take."""
    folder.mkdir(parents=True, exist_ok=True)
    with hub.quiet():
        model.save_pretrained(folder)
    plain = type(tokenizer).from_str(tokenizer.to_str())  # training pads and cuts
    plain.no_padding()
    plain.no_truncation()
    plain.save(str(folder / TOKENIZER), pretty=False)
    Facts(folder.resolve().name, max_tokens=max_tokens, pooling=pooling, prefix=prefix).write(folder)


def _unquantised(path: Path, tokenizer: Tokenizer) -> Any:
    """The model whose weights the graph of an exported encoder holds."""
    import onnx

    from whycite.encoders.unquantised import shape, weights

    torch, transformers = import_module("torch"), import_module("transformers")
    graph = onnx.load(path)
    # A tokenizer with this word is RoBERTa's, whose positions begin after that of the padding.
    padding = tokenizer.token_to_id("<pad>")
    first = 0 if padding is None else padding + 1
    found, form = weights(graph, first), shape(graph, first)
    words, width = found["embeddings.word_embeddings.weight"].shape
    settings = {
        "vocab_size": words,
        "hidden_size": width,
        "max_position_embeddings": len(found["embeddings.position_embeddings.weight"]),
        "type_vocab_size": len(found["embeddings.token_type_embeddings.weight"]),
        "num_hidden_layers": form.layers,
        "num_attention_heads": form.heads,
        "intermediate_size": len(found["encoder.layer.0.intermediate.dense.weight"]),
        "layer_norm_eps": form.epsilon,
    }
    if padding is None:
        config = transformers.BertConfig(**settings, pad_token_id=tokenizer.token_to_id("[PAD]") or 0)
    else:
        ends = {"bos_token_id": tokenizer.token_to_id("<s>"), "eos_token_id": tokenizer.token_to_id("</s>")}
        config = transformers.RobertaConfig(**settings, **ends, pad_token_id=padding)
    model = transformers.AutoModel.from_config(config, add_pooling_layer=False)
    body = {name: weight for name, weight in found.items() if not name.startswith("head.")}
    model.load_state_dict({name: torch.tensor(weight) for name, weight in body.items()})
    return model.eval()
