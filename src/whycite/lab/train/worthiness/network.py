"""The network: a base reads packed paragraphs, and one hidden layer judges each sentence (SCOPE 3.2)."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from numpy.typing import NDArray

from whycite.lab.train.worthiness import Readout, WorthinessRecipe
from whycite.lab.train.worthiness.batches import WorthinessBatch

__all__ = ["NetworkOutputs", "build_network", "judge_sentences", "mpnet_states", "scores", "states"]

_PACKABLE = ("bert", "roberta")


def states(backbone: Any, tokens: Any, positions: Any, bounds: Any, longest: int) -> Any:
    """The state of every token; passes lie between the bounds, none longer than `longest`."""
    if backbone.config.model_type == "mpnet":
        return mpnet_states(backbone, tokens, positions, *_pass_rows(bounds))
    if backbone.config.model_type not in _PACKABLE:
        return _padded_states(backbone, tokens, bounds)
    first_position = 0 if backbone.config.model_type == "bert" else int(backbone.config.pad_token_id) + 1
    embed, layer = _bert_functions(tokens.is_cuda)
    rows = embed(backbone.embeddings, tokens, positions + first_position)
    for encoder_layer in backbone.encoder.layer:
        rows = layer(encoder_layer, rows, bounds, longest)
    return rows


@cache
def _bert_functions(compiled: bool) -> tuple[Any, Any]:
    import torch

    if not compiled:
        return _embed, _bert_layer
    return torch.compile(_embed, dynamic=False), torch.compile(_bert_layer, dynamic=False)


def _embed(embeddings: Any, tokens: Any, positions: Any) -> Any:
    rows = (
        embeddings.word_embeddings(tokens)
        + embeddings.position_embeddings(positions)
        + embeddings.token_type_embeddings.weight[0]
    )
    return embeddings.dropout(embeddings.LayerNorm(rows))


def _bert_layer(block: Any, rows: Any, bounds: Any, longest: int) -> Any:
    from torch.nn.functional import gelu

    self_attention = block.attention.self
    heads = self_attention.num_attention_heads
    query, key, value = (
        part(rows).unflatten(1, (heads, -1))
        for part in (self_attention.query, self_attention.key, self_attention.value)
    )
    seen = _attention(query, key, value, bounds, longest).flatten(1)
    out = block.attention.output
    rows = out.LayerNorm(rows + out.dropout(out.dense(seen)))
    out = block.output
    return out.LayerNorm(rows + out.dropout(out.dense(gelu(block.intermediate.dense(rows)))))


def _attention(query: Any, key: Any, value: Any, bounds: Any, longest: int) -> Any:
    """Attention of each token within its pass."""
    if query.is_cuda:
        from torch.nn.attention.varlen import varlen_attn

        return varlen_attn(query, key, value, bounds, bounds, longest, longest)
    from torch.nn.functional import scaled_dot_product_attention

    rows, mask = _pass_rows(bounds)
    query, key, value = (part[rows].transpose(1, 2) for part in (query, key, value))
    return scaled_dot_product_attention(query, key, value, mask[:, None, None]).transpose(1, 2)[mask]


def _pass_rows(bounds: Any) -> tuple[Any, Any]:
    """The token positions of each pass, one pass per row, and a mask that is false for padding."""
    import torch

    starts, sizes = bounds[:-1].long(), bounds.diff()
    starts, sizes = starts[sizes > 0], sizes[sizes > 0]
    within = torch.arange(int(sizes.max()), device=bounds.device)
    mask = within < sizes[:, None]
    return (starts[:, None] + within).where(mask, torch.zeros_like(starts)[:, None]), mask


def _padded_states(backbone: Any, tokens: Any, bounds: Any) -> Any:
    rows, mask = _pass_rows(bounds)
    filled = tokens[rows].masked_fill(~mask, backbone.config.pad_token_id)
    return backbone(filled, attention_mask=mask.long()).last_hidden_state[mask]


class NetworkOutputs(NamedTuple):
    """What a network says of a batch."""

    sentences: Any  # log-odds of citing, and of needing a citation at least arguably, and plainly, if labels say so
    marks: Any  # log-odds of each token to have a mark
    states: Any  # of each token


def build_network(backbone: Any, recipe: WorthinessRecipe, outputs: int = 1) -> Any:
    """Build the network: `backbone`, a tanh layer as wide, its outputs per sentence, and one for token `marks`."""
    from torch import nn

    width = backbone.config.hidden_size
    head = nn.Sequential(
        nn.Dropout(recipe.dropout),
        nn.Linear(width, width),
        nn.Tanh(),
        nn.Dropout(recipe.dropout),
        nn.Linear(width, outputs),
    )
    return nn.ModuleDict({"backbone": backbone, "head": head, "marks": nn.Linear(width, 1)})


def scores(network: Any, batch: WorthinessBatch, readout: Readout, limit: int, device: Any) -> tuple[Any, Any]:
    """The log-odds of each sentence in a batch to cite, and those of each token to have a mark."""
    outputs = judge_sentences(network, batch, readout, limit, device)
    return outputs.sentences[:, 0], outputs.marks


def judge_sentences(network: Any, batch: WorthinessBatch, readout: Readout, limit: int, device: Any) -> NetworkOutputs:
    """All outputs of a network for a batch."""
    import torch

    def on_device(array: NDArray[Any]) -> Any:
        return torch.from_numpy(array).to(device, non_blocking=True)

    tokens, positions, bounds = (on_device(array) for array in (batch.tokens, batch.positions, batch.bounds))
    token_states = states(network["backbone"], tokens, positions, bounds, limit)
    if readout == "separator":
        readouts = token_states.index_select(0, on_device(batch.separators)).float()
    elif readout == "start":  # one sentence per pass
        readouts = token_states.index_select(0, bounds[: len(batch.sentences)].long()).float()
    else:
        owner, number = on_device(batch.owner), len(batch.sentences)
        readouts = torch.zeros(number + 1, token_states.shape[1], device=device).index_add(
            0, owner, token_states.float()
        )[:number]
        readouts = readouts / torch.bincount(owner, minlength=number + 1)[:number, None]
    return NetworkOutputs(
        network["head"](readouts).float(), network["marks"](token_states).squeeze(1).float(), token_states
    )


_ALIGNED = 64  # fast attention needs pass lengths that are multiples of this


def mpnet_states(backbone: Any, tokens: Any, positions: Any, rows: Any, mask: Any) -> Any:
    """The state of every token; `rows` are the token positions of each pass, `mask` is false for padding."""
    import torch
    from torch.nn.functional import pad, scaled_dot_product_attention

    heads = backbone.config.num_attention_heads
    padding = -rows.shape[1] % _ALIGNED
    rows, mask = pad(rows, (0, padding)), pad(mask, (0, padding))
    number, size = rows.shape
    with torch.no_grad():  # the pretrained distance biases are good enough
        empty = torch.zeros(1, size, 1, device=tokens.device)
        bias = backbone.encoder.compute_position_bias(empty, num_buckets=backbone.config.relative_attention_num_buckets)
        bias = bias.masked_fill(~mask[:, None, None], -torch.inf)
    embed, ask, answer = _mpnet_functions(tokens.is_cuda)
    token_states = embed(backbone.embeddings, tokens, positions + backbone.config.pad_token_id + 1)
    for layer in backbone.encoder.layer:
        query, key, value = (
            part.index_select(0, rows.flatten()).view(number, size, heads, -1).transpose(1, 2)
            for part in ask(layer.attention.attn, token_states)
        )
        bias = bias.to(query.dtype)
        seen = scaled_dot_product_attention(query, key, value, bias).transpose(1, 2)[mask]
        token_states = answer(layer, token_states, seen.flatten(1))
    return token_states


@cache
def _mpnet_functions(compiled: bool) -> tuple[Any, ...]:
    import torch

    if not compiled:
        return _mpnet_embed, _project, _mpnet_layer
    return tuple(torch.compile(function, dynamic=False) for function in (_mpnet_embed, _project, _mpnet_layer))


def _mpnet_embed(embeddings: Any, tokens: Any, positions: Any) -> Any:
    return embeddings.dropout(
        embeddings.LayerNorm(embeddings.word_embeddings(tokens) + embeddings.position_embeddings(positions))
    )


def _project(attention: Any, rows: Any) -> tuple[Any, Any, Any]:
    return attention.q(rows), attention.k(rows), attention.v(rows)


def _mpnet_layer(block: Any, rows: Any, seen: Any) -> Any:
    from torch.nn.functional import gelu

    rows = block.attention.LayerNorm(rows + block.attention.dropout(block.attention.attn.o(seen)))
    out = block.output
    return out.LayerNorm(rows + out.dropout(out.dense(gelu(block.intermediate.dense(rows)))))
