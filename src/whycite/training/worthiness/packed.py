"""A BERT-like model run over passes that stand behind each other: nothing is spent on padding."""

from __future__ import annotations

from functools import cache
from typing import Any

from whycite.training.worthiness import relative

__all__ = ["states"]

_KNOWN = ("bert", "roberta")


def states(backbone: Any, tokens: Any, positions: Any, bounds: Any, longest: int) -> Any:
    """The state of every token; passes lie between the bounds, none is longer than `longest`."""
    if backbone.config.model_type == "mpnet":
        return relative.states(backbone, tokens, positions, *_rows(bounds))
    if backbone.config.model_type not in _KNOWN:
        return _padded(backbone, tokens, bounds)
    first = 0 if backbone.config.model_type == "bert" else int(backbone.config.pad_token_id) + 1
    embed, layer = _hastened(tokens.is_cuda)
    rows = embed(backbone.embeddings, tokens, positions + first)
    for each in backbone.encoder.layer:
        rows = layer(each, rows, bounds, longest)
    return rows


@cache
def _hastened(compiled: bool) -> tuple[Any, Any]:
    import torch

    if not compiled:
        return _embedded, _layer
    return torch.compile(_embedded, dynamic=False), torch.compile(_layer, dynamic=False)


def _embedded(own: Any, tokens: Any, positions: Any) -> Any:
    rows = own.word_embeddings(tokens) + own.position_embeddings(positions) + own.token_type_embeddings.weight[0]
    return own.dropout(own.LayerNorm(rows))


def _layer(own: Any, rows: Any, bounds: Any, longest: int) -> Any:
    from torch.nn.functional import gelu

    asked = own.attention.self
    heads = asked.num_attention_heads
    query, key, value = (part(rows).unflatten(1, (heads, -1)) for part in (asked.query, asked.key, asked.value))
    seen = _attention(query, key, value, bounds, longest).flatten(1)
    out = own.attention.output
    rows = out.LayerNorm(rows + out.dropout(out.dense(seen)))
    out = own.output
    return out.LayerNorm(rows + out.dropout(out.dense(gelu(own.intermediate.dense(rows)))))


def _attention(query: Any, key: Any, value: Any, bounds: Any, longest: int) -> Any:
    """What each token takes from those of its pass."""
    if query.is_cuda:
        from torch.nn.attention.varlen import varlen_attn

        return varlen_attn(query, key, value, bounds, bounds, longest, longest)
    from torch.nn.functional import scaled_dot_product_attention

    rows, mask = _rows(bounds)
    query, key, value = (part[rows].transpose(1, 2) for part in (query, key, value))
    return scaled_dot_product_attention(query, key, value, mask[:, None, None]).transpose(1, 2)[mask]


def _rows(bounds: Any) -> tuple[Any, Any]:
    """The places of the tokens of each pass, one pass a row, and which of them are its own."""
    import torch

    starts, sizes = bounds[:-1].long(), bounds.diff()
    starts, sizes = starts[sizes > 0], sizes[sizes > 0]
    within = torch.arange(int(sizes.max()), device=bounds.device)
    mask = within < sizes[:, None]
    return (starts[:, None] + within).where(mask, torch.zeros_like(starts)[:, None]), mask


def _padded(backbone: Any, tokens: Any, bounds: Any) -> Any:
    rows, mask = _rows(bounds)
    filled = tokens[rows].masked_fill(~mask, backbone.config.pad_token_id)
    return backbone(filled, attention_mask=mask.long()).last_hidden_state[mask]
