"""The models training starts from, and the tokens and vectors they make of texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

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

__all__ = [
    "Base",
    "Tensor",
    "Tokens",
    "autocast",
    "encode",
    "load_base",
    "nearest",
    "nearest_by_words",
    "pad_rows",
    "save_base",
    "to_device",
    "unit_vectors",
]


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


Tensor = Any  # torch is poorly typed
_CHUNK = 65_536  # tokens per forward pass


class Tokens:
    """Texts tokenized once, to make batches from repeatedly."""

    def __init__(self, base: Base, texts: Iterable[str], longest: int) -> None:
        tokenizer: Any = type(base.tokenizer).from_str(base.tokenizer.to_str())
        tokenizer.no_padding()
        tokenizer.enable_truncation(longest)
        cleaned_texts = [base.facts.clean(text) for text in texts]  # as the trained model will get them
        token_ids = [np.array(encoding.ids, np.int32) for encoding in tokenizer.encode_batch_fast(cleaned_texts)]
        self._padding = base.config.pad_token_id
        self.lengths: NDArray[np.int64] = np.array([len(ids) for ids in token_ids], np.int64)
        self._starts = np.concatenate([[0], np.cumsum(self.lengths)])
        self._ids = np.concatenate(token_ids) if token_ids else np.empty(0, np.int32)

    def __getitem__(self, text: int) -> NDArray[np.int32]:
        return self._ids[self._starts[text] : self._starts[text + 1]]

    def batch(self, chosen: Iterable[int], device: Any) -> tuple[Tensor, Tensor]:
        """Token ids of the chosen texts, and the mask that marks padding."""
        return pad_rows([self[index] for index in chosen], self._padding, device)


def pad_rows(rows: Sequence[NDArray[np.int32] | Sequence[int]], padding: int, device: Any) -> tuple[Tensor, Tensor]:
    """Pad rows of tokens into one table; also return the mask that marks padding."""
    lengths = np.array([len(row) for row in rows])
    ids = np.full((len(rows), lengths.max()), padding, np.int64)
    mask = np.arange(ids.shape[1]) < lengths[:, None]
    ids[mask] = np.concatenate(rows)
    return to_device(torch.from_numpy(ids), device), to_device(torch.from_numpy(mask), device)


def to_device(tensor: Tensor, device: Any) -> Tensor:
    """Move a tensor to the device without blocking it."""
    return tensor.pin_memory().to(device, non_blocking=True) if torch.device(device).type == "cuda" else tensor


def unit_vectors(model: Any, tokens: Tokens, chosen: Sequence[int], pooling: Pooling) -> Tensor:
    """A unit vector for each of the chosen texts; texts of similar length go through the model together."""
    distinct, places = np.unique(np.asarray(chosen, np.int64), return_inverse=True)
    order = np.argsort(tokens.lengths[distinct], kind="stable")
    size = max(1, _CHUNK // max(1, int(tokens.lengths[distinct].max())))
    device = next(model.parameters()).device
    parts = []
    for start in range(0, len(order), size):
        ids, mask = tokens.batch(distinct[order[start : start + size]].tolist(), device)
        states = model(input_ids=ids, attention_mask=mask).last_hidden_state
        parts.append(
            states[:, 0] if pooling == "cls" else (states * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        )
    inverse_order = to_device(torch.from_numpy(np.argsort(order)[places]), device)
    return torch.nn.functional.normalize(torch.cat(parts).float(), dim=1)[inverse_order]


def encode(model: Any, tokens: Tokens, chosen: Sequence[int], pooling: Pooling) -> Tensor:
    """The same without gradients, on the model's device; in 16 bits on a GPU only, since these are slow on a CPU."""
    device = next(model.parameters()).device
    precision = torch.float16 if device.type == "cuda" else torch.float32
    if not len(chosen):
        return torch.empty(0, model.config.hidden_size, dtype=precision, device=device)
    model.eval()
    order = sorted(range(len(chosen)), key=lambda index: tokens.lengths[chosen[index]])
    parts = []
    with torch.no_grad(), autocast(model):
        for start in range(0, len(order), 4_096):
            parts.append(
                unit_vectors(model, tokens, [chosen[i] for i in order[start : start + 4_096]], pooling).to(precision)
            )
    inverse_order = torch.empty(len(order), dtype=torch.int64)
    inverse_order[torch.tensor(order, dtype=torch.int64)] = torch.arange(len(order))
    return torch.cat(parts)[inverse_order.to(parts[0].device)]


def autocast(model: Any) -> Any:
    """16-bit precision where the device is fast at it."""
    device = next(model.parameters()).device.type
    return torch.autocast(device, torch.bfloat16, enabled=device == "cuda")


_K1, _B = 1.2, 0.75
_COMMON = 0.1  # words in a larger share of texts are uninformative, and cost the most


def nearest(queries: Tensor, candidates: Tensor, k: int, chunk: int = 4_096) -> NDArray[np.int32]:
    """For each query vector, the k nearest candidates, nearest first."""
    candidates = candidates.T.contiguous()
    k = min(k, candidates.shape[1])
    if not len(queries):
        return np.empty((0, k), np.int32)
    rows = [
        torch.topk(queries[start : start + chunk] @ candidates, k).indices.int().cpu()
        for start in range(0, len(queries), chunk)
    ]
    return np.asarray(torch.cat(rows).numpy())


def nearest_by_words(
    tokens: Tokens, queries: Sequence[int], candidates: Sequence[int], k: int, device: str, chunk: int = 1_024
) -> NDArray[np.int32]:
    """For each query text, the k best candidates by BM25, best first; words are the model's own tokens."""
    words, texts, counts = _count_words(tokens, candidates)
    frequencies = np.bincount(words)
    lengths = tokens.lengths[list(candidates)]
    is_rare = frequencies[words] <= max(10, _COMMON * len(candidates))
    words, texts, counts = words[is_rare], texts[is_rare], counts[is_rare]
    rarity = np.log1p((len(candidates) - frequencies[words] + 0.5) / (frequencies[words] + 0.5))
    weights = rarity * counts / (counts + _K1 * (1 - _B + _B * lengths[texts] / lengths.mean()))
    table = _sparse(texts, words, weights, (len(candidates), len(frequencies)), device)
    rows = []
    for start in range(0, len(queries), chunk):
        batch = queries[start : start + chunk]
        words, texts, _ = _count_words(tokens, batch)
        is_known = words < len(frequencies)
        query = _sparse(
            words[is_known], texts[is_known], np.ones(is_known.sum()), (len(frequencies), len(batch)), device
        ).to_dense()
        rows.append(torch.topk(torch.sparse.mm(table, query).T, min(k, len(candidates))).indices.int().cpu())
    return np.asarray(torch.cat(rows).numpy())


def _count_words(
    tokens: Tokens, chosen: Sequence[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Count the words of each text: the word, the text's position, and its count there."""
    words = np.concatenate([tokens[index] for index in chosen]).astype(np.int64)
    texts = np.repeat(np.arange(len(chosen)), tokens.lengths[list(chosen)])
    width = int(words.max(initial=0)) + 1
    pairs, counts = np.unique(texts * width + words, return_counts=True)
    return pairs % width, pairs // width, counts


def _sparse(
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    values: NDArray[np.float64],
    shape: tuple[int, int],
    device: str,
) -> Tensor:
    places = torch.from_numpy(np.stack([rows, columns]))
    matrix = torch.sparse_coo_tensor(places, torch.from_numpy(values).float(), shape, check_invariants=False)
    return matrix.to(device).coalesce()
