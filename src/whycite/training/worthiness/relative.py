"""MPNet run over passes that stand behind each other: its attention knows how far apart two tokens are."""

from __future__ import annotations

from functools import cache
from typing import Any

__all__ = ["states"]

_ALIGNED = 64  # places of a pass, in whole numbers of which fast attention comes


def states(backbone: Any, tokens: Any, positions: Any, rows: Any, mask: Any) -> Any:
    """The state of every token; `rows` are the places of the tokens of each pass, `mask` which of them are its own."""
    import torch
    from torch.nn.functional import pad, scaled_dot_product_attention

    heads = backbone.config.num_attention_heads
    more = -rows.shape[1] % _ALIGNED
    rows, mask = pad(rows, (0, more)), pad(mask, (0, more))
    number, size = rows.shape
    with torch.no_grad():  # what distances count is known well enough from before
        empty = torch.zeros(1, size, 1, device=tokens.device)
        bias = backbone.encoder.compute_position_bias(empty, num_buckets=backbone.config.relative_attention_num_buckets)
        bias = bias.masked_fill(~mask[:, None, None], -torch.inf)
    embed, ask, answer = _hastened(tokens.is_cuda)
    found = embed(backbone.embeddings, tokens, positions + backbone.config.pad_token_id + 1)
    for layer in backbone.encoder.layer:
        query, key, value = (
            part.index_select(0, rows.flatten()).view(number, size, heads, -1).transpose(1, 2)
            for part in ask(layer.attention.attn, found)
        )
        bias = bias.to(query.dtype)
        seen = scaled_dot_product_attention(query, key, value, bias).transpose(1, 2)[mask]
        found = answer(layer, found, seen.flatten(1))
    return found


@cache
def _hastened(compiled: bool) -> tuple[Any, ...]:
    import torch

    if not compiled:
        return _embedded, _asked, _answered
    return tuple(torch.compile(each, dynamic=False) for each in (_embedded, _asked, _answered))


def _embedded(own: Any, tokens: Any, positions: Any) -> Any:
    return own.dropout(own.LayerNorm(own.word_embeddings(tokens) + own.position_embeddings(positions)))


def _asked(own: Any, rows: Any) -> tuple[Any, Any, Any]:
    return own.q(rows), own.k(rows), own.v(rows)


def _answered(own: Any, rows: Any, seen: Any) -> Any:
    from torch.nn.functional import gelu

    rows = own.attention.LayerNorm(rows + own.attention.dropout(own.attention.attn.o(seen)))
    out = own.output
    return out.LayerNorm(rows + out.dropout(out.dense(gelu(own.intermediate.dense(rows)))))
