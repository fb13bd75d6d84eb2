"""Run MPNet over concatenated passes; its attention depends on the distance between tokens."""

from __future__ import annotations

from functools import cache
from typing import Any

__all__ = ["mpnet_states"]

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
        return _embed, _project, _mpnet_layer
    return tuple(torch.compile(function, dynamic=False) for function in (_embed, _project, _mpnet_layer))


def _embed(embeddings: Any, tokens: Any, positions: Any) -> Any:
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
