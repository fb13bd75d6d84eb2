"""The models training starts from: a Hugging Face name, a folder, or the bundled encoder."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whycite.models.folders import (
    ENCODER,
    MODEL,
    TOKENIZER,
    ModelFolder,
    ModelSettings,
    Pooling,
    quiet_transformers,
    require_torch,
)

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["Base", "load_base", "save_base"]


@dataclass(frozen=True, slots=True)
class Base:
    """A 32-bit transformers model without pooling layer, a tokenizer that neither pads nor truncates, and its use."""

    name: str
    model: Any
    tokenizer: Tokenizer
    config: Any
    facts: ModelSettings


def load_base(name: str | Path) -> Base:
    """Load a base: a bundled encoder, a folder, or a Hugging Face model in the local cache."""
    folder = ENCODER.find(name)
    require_torch("Training", "onnx")
    files = ModelFolder(folder, original=True)
    tokenizer = files.open_tokenizer()
    model = _load_unquantised(folder / MODEL, tokenizer) if files.is_onnx else files.open_torch_model()
    return Base(str(name), model, tokenizer, model.config, files.settings)


def save_base(
    folder: Path, model: Any, tokenizer: Tokenizer, *, pooling: Pooling = "cls", max_tokens: int = 256, prefix: str = ""
) -> None:
    """Write a Hugging Face folder that `load_base`, `load_encoder` and `export` accept."""
    folder.mkdir(parents=True, exist_ok=True)
    with quiet_transformers():
        model.save_pretrained(folder)
    plain = type(tokenizer).from_str(tokenizer.to_str())  # training pads and truncates
    plain.no_padding()
    plain.no_truncation()
    plain.save(str(folder / TOKENIZER), pretty=False)
    ModelSettings(folder.resolve().name, max_tokens=max_tokens, pooling=pooling, prefix=prefix).write(folder)


def _load_unquantised(path: Path, tokenizer: Tokenizer) -> Any:
    """Load the model whose weights are in the graph of an exported encoder."""
    import onnx

    from whycite.lab.train.quantisation import read_shape, read_weights

    torch, transformers = import_module("torch"), import_module("transformers")
    graph = onnx.load(path)
    # Only RoBERTa's tokenizer has this word; its positions start after that of the padding.
    padding = tokenizer.token_to_id("<pad>")
    first_position = 0 if padding is None else padding + 1
    tensors, form = read_weights(graph, first_position), read_shape(graph, first_position)
    words, width = tensors["embeddings.word_embeddings.weight"].shape
    settings = {
        "vocab_size": words,
        "hidden_size": width,
        "max_position_embeddings": len(tensors["embeddings.position_embeddings.weight"]),
        "type_vocab_size": len(tensors["embeddings.token_type_embeddings.weight"]),
        "num_hidden_layers": form.layers,
        "num_attention_heads": form.heads,
        "intermediate_size": len(tensors["encoder.layer.0.intermediate.dense.weight"]),
        "layer_norm_eps": form.epsilon,
    }
    if padding is None:
        config = transformers.BertConfig(**settings, pad_token_id=tokenizer.token_to_id("[PAD]") or 0)
    else:
        ends = {"bos_token_id": tokenizer.token_to_id("<s>"), "eos_token_id": tokenizer.token_to_id("</s>")}
        config = transformers.RobertaConfig(**settings, **ends, pad_token_id=padding)
    model = transformers.AutoModel.from_config(config, add_pooling_layer=False)
    body = {name: weight for name, weight in tensors.items() if not name.startswith("head.")}
    model.load_state_dict({name: torch.tensor(weight) for name, weight in body.items()})
    return model.eval()
