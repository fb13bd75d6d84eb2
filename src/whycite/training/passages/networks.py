"""The networks: sentences read word by word, claim and sentence joined, documents read sentence by sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

from whycite.training.passages.recipe import Cell, Recipe
from whycite.training.passages.vectors import PADDING

__all__ = ["Network", "Read"]

_CELLS: dict[Cell, Any] = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}


class Read(NamedTuple):
    """Sentences as read: a state for each word, the final one, and which words are there."""

    states: Tensor  # sentences x words x hidden
    last: Tensor  # sentences x hidden
    there: Tensor  # sentences x words

    def rows(self, at: Tensor) -> Read:
        """Those of the sentences, in that order, as often as named."""
        return Read(self.states[at], self.last[at], self.there[at])


class Network(nn.Module):
    """A score for each claim and sentence, the higher the more it backs the claim (sections 5.3 and 5.4)."""

    def __init__(self, recipe: Recipe, vectors: Tensor) -> None:
        super().__init__()
        form, hidden = recipe.form, recipe.hidden
        self.words = nn.Embedding.from_pretrained(vectors, freeze=True)
        self.dropout = nn.Dropout(recipe.dropout)
        # Claims and sentences are read by networks of their own (5.3.2).
        self.claims = _Reader(form.cell, vectors.shape[1], hidden, form.both_ways)
        self.sentences = _Reader(form.cell, vectors.shape[1], hidden, form.both_ways)
        self.attention = _Attention(hidden) if form.attention else None
        self.order = _Document(form.cell, hidden, form.among_sentences) if form.document else None
        self.output = nn.Linear(hidden if form.document else 3 * hidden, 1)

    def learned(self) -> dict[str, Tensor]:
        """The weights, without the vectors of words, which stay as they came."""
        return {name: weight for name, weight in self.state_dict().items() if not name.startswith("words.")}

    def put(self, weights: Mapping[str, Tensor]) -> None:
        """Take weights that `learned` gave."""
        missing, unknown = self.load_state_dict(weights, strict=False)
        if unknown or missing != ["words.weight"]:
            raise ValueError("these are the weights of another model")

    def read_claims(self, ids: Sequence[Sequence[int]]) -> Read:
        """Claims as numbers of words, read."""
        return self.claims(*self._embedded(ids))  # type: ignore[no-any-return]

    def read_sentences(self, ids: Sequence[Sequence[int]]) -> Read:
        """Sentences as numbers of words, read."""
        return self.sentences(*self._embedded(ids))  # type: ignore[no-any-return]

    def forward(self, claims: Read, sentences: Read) -> Tensor:
        """Pair models: the score of each claim with the sentence in the same row."""
        return self.output(self.dropout(self._joined(claims, sentences))).squeeze(-1)

    def documents(self, claims: Read, sentences: Read) -> Tensor:
        """Document models: for each claim the scores of all sentences of one document, in its order."""
        if self.order is None:
            raise ValueError("this model reads sentences one by one")
        asked, length = len(claims.last), len(sentences.last)
        tiled = claims.rows(torch.arange(asked, device=claims.last.device).repeat_interleave(length))
        each = sentences.rows(torch.arange(length, device=sentences.last.device).repeat(asked))
        joined = self.dropout(self._joined(tiled, each)).view(asked, length, -1)
        return self.output(self.dropout(self.order(joined))).squeeze(-1)

    def _embedded(self, ids: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
        rows = pad_sequence([torch.tensor(each) for each in ids], batch_first=True, padding_value=PADDING)
        lengths = torch.tensor([len(each) for each in ids])
        return self.dropout(self.words(rows.to(self.words.weight.device))), lengths

    def _joined(self, claims: Read, sentences: Read) -> Tensor:
        """[c; c * e; e], of final states or of what attention makes of the words."""
        claim, sentence = self.attention(claims, sentences) if self.attention else (claims.last, sentences.last)
        return torch.cat([claim, claim * sentence, sentence], dim=-1)


class _Reader(nn.Module):
    """A recurrent network over words."""

    def __init__(self, cell: Cell, width: int, hidden: int, both_ways: bool) -> None:
        super().__init__()
        size = hidden // 2 if both_ways else hidden
        self.network = _CELLS[cell](width, size, batch_first=True, bidirectional=both_ways)

    def forward(self, words: Tensor, lengths: Tensor) -> Read:
        packed, final = self.network(pack_padded_sequence(words, lengths, batch_first=True, enforce_sorted=False))
        states, _ = pad_packed_sequence(packed, batch_first=True, total_length=words.shape[1])
        last = final[0] if isinstance(final, tuple) else final  # an LSTM gives its cells too
        there = torch.arange(words.shape[1])[None] < lengths[:, None]
        return Read(states, torch.cat(list(last), dim=-1), there.to(states.device))


class _Attention(nn.Module):
    """Bidirectional attention flow (5.3.2): each side summed by how well a word goes with the best of the other."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        # w . [u; v; u * v] + b without ever making the long vector of every pair of words.
        self.of_claim = nn.Linear(hidden, 1)
        self.of_sentence = nn.Linear(hidden, 1, bias=False)
        self.of_both = nn.Parameter(torch.randn(hidden) / hidden**0.5)

    def forward(self, claims: Read, sentences: Read) -> tuple[Tensor, Tensor]:
        similar = (claims.states * self.of_both) @ sentences.states.transpose(1, 2)
        similar = similar + self.of_claim(claims.states) + self.of_sentence(sentences.states).transpose(1, 2)
        both = claims.there[:, :, None] & sentences.there[:, None, :]
        similar = similar.masked_fill(~both, -torch.inf)
        return (
            _summed(claims.states, similar.amax(dim=2)),
            _summed(sentences.states, similar.amax(dim=1)),
        )


def _summed(states: Tensor, weights: Tensor) -> Tensor:
    return (torch.softmax(weights, dim=1)[:, None] @ states).squeeze(1)


class _Document(nn.Module):
    """Sentences in the context of the others: a recurrent network over them, then attention to a learned vector."""

    def __init__(self, cell: Cell, hidden: int, attention: bool) -> None:
        super().__init__()
        self.network = _CELLS[cell](3 * hidden, hidden // 2, batch_first=True, bidirectional=True)
        self.inner = nn.Linear(hidden, hidden) if attention else None
        self.sought = nn.Linear(hidden, 1, bias=False) if attention else None

    def forward(self, joined: Tensor) -> Tensor:
        found: Tensor = self.network(joined)[0]
        if self.inner is None or self.sought is None:
            return found
        weights: Tensor = self.sought(torch.tanh(self.inner(found)))
        return found * torch.softmax(weights, dim=1)
