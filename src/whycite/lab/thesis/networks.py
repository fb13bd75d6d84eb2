"""The thesis's eight networks and their recipe: words, claim and sentence joined, documents (5.3, 5.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

from whycite.errors import UserError
from whycite.lab.thesis.wordvectors import PADDING

__all__ = ["MODELS", "Architecture", "Cell", "EncodedSentences", "PassageNetwork", "PassageRecipe"]


Cell = Literal["rnn", "gru", "lstm"]


@dataclass(frozen=True, slots=True)
class Architecture:
    """What a model is made of (the thesis, sections 5.3 and 5.4)."""

    cell: Cell = "lstm"
    both_ways: bool = False  # sentences are read from either end
    attention: bool = False  # between the words of claim and sentence, in place of final states
    document: bool = False  # sentences of a document are read one after another
    among_sentences: bool = False  # attention between the sentences of a document


MODELS: Mapping[str, Architecture] = MappingProxyType(
    {
        "rnn": Architecture("rnn"),
        "gru": Architecture("gru"),
        "lstm": Architecture("lstm"),
        "bilstm": Architecture(both_ways=True),
        "bidaf": Architecture(both_ways=True, attention=True),
        "document": Architecture(both_ways=True, document=True),
        "document-attention": Architecture(both_ways=True, document=True, among_sentences=True),
        "document-bidaf": Architecture(both_ways=True, attention=True, document=True, among_sentences=True),
    }
)


@dataclass(frozen=True, slots=True)
class PassageRecipe:
    """Widths, margin and loss are the thesis's; it names no rate, dropout or number of epochs: those are ours."""

    model: str = "lstm"
    words: int = 200  # numbers in the vector of a word
    hidden: int = 80  # in a state, of both directions together
    margin: float = 1.0
    dropout: float = 0.3
    rate: float = 2e-3
    epochs: int = 12
    patience: int = 3  # epochs without a better one after which training ends
    batch: int = 8  # claims in a step
    longest: int = 60  # words of a sentence that are read
    seed: int = 0

    def __post_init__(self) -> None:
        if self.model not in MODELS:
            raise UserError(f"unknown model '{self.model}'; choose one of: {', '.join(MODELS)}")
        if min(self.words, self.epochs, self.patience, self.batch, self.longest) < 1:
            raise UserError("words, epochs, patience, batch and longest must be at least 1")
        if self.hidden < 2 or self.hidden % 2:
            raise UserError(f"--hidden must be even, for two directions, not {self.hidden}")
        if self.rate <= 0 or not 0 <= self.dropout < 1:
            raise UserError("the rate must be above 0, and dropout at least 0 and below 1")

    @property
    def architecture(self) -> Architecture:
        """What the model is made of."""
        return MODELS[self.model]


_CELLS: dict[Cell, Any] = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}


class EncodedSentences(NamedTuple):
    """Sentences as read: a state for each word, the final one, and which words are there."""

    states: Tensor  # sentences x words x hidden
    final: Tensor  # sentences x hidden
    mask: Tensor  # sentences x words

    def rows(self, indices: Tensor) -> EncodedSentences:
        """Those of the sentences, in that order, as often as named."""
        return EncodedSentences(self.states[indices], self.final[indices], self.mask[indices])


class PassageNetwork(nn.Module):
    """A score for each claim and sentence, the higher the more it backs the claim (sections 5.3 and 5.4)."""

    def __init__(self, recipe: PassageRecipe, vectors: Tensor) -> None:
        super().__init__()
        form, hidden = recipe.architecture, recipe.hidden
        self.words = nn.Embedding.from_pretrained(vectors, freeze=True)
        self.dropout = nn.Dropout(recipe.dropout)
        # Claims and sentences are read by networks of their own (5.3.2).
        self.claims = _WordEncoder(form.cell, vectors.shape[1], hidden, form.both_ways)
        self.sentences = _WordEncoder(form.cell, vectors.shape[1], hidden, form.both_ways)
        self.attention = _WordAttention(hidden) if form.attention else None
        self.order = _DocumentEncoder(form.cell, hidden, form.among_sentences) if form.document else None
        self.output = nn.Linear(hidden if form.document else 3 * hidden, 1)

    def learned_weights(self) -> dict[str, Tensor]:
        """The weights, without the vectors of words, which stay as they came."""
        return {name: weight for name, weight in self.state_dict().items() if not name.startswith("words.")}

    def load_learned(self, weights: Mapping[str, Tensor]) -> None:
        """Take weights that `learned` gave."""
        missing, unknown = self.load_state_dict(weights, strict=False)
        if unknown or missing != ["words.weight"]:
            raise ValueError("these weights belong to another model")

    def read_claims(self, ids: Sequence[Sequence[int]]) -> EncodedSentences:
        """Claims as numbers of words, read."""
        return self.claims(*self._embed(ids))  # type: ignore[no-any-return]

    def read_sentences(self, ids: Sequence[Sequence[int]]) -> EncodedSentences:
        """Sentences as numbers of words, read."""
        return self.sentences(*self._embed(ids))  # type: ignore[no-any-return]

    def forward(self, claims: EncodedSentences, sentences: EncodedSentences) -> Tensor:
        """Pair models: the score of each claim with the sentence in the same row."""
        return self.output(self.dropout(self._join(claims, sentences))).squeeze(-1)

    def documents(self, claims: EncodedSentences, sentences: EncodedSentences) -> Tensor:
        """Document models: for each claim the scores of all sentences of one document, in its order."""
        if self.order is None:
            raise ValueError("this model reads one sentence at a time")
        claim_count, length = len(claims.final), len(sentences.final)
        tiled = claims.rows(torch.arange(claim_count, device=claims.final.device).repeat_interleave(length))
        repeated = sentences.rows(torch.arange(length, device=sentences.final.device).repeat(claim_count))
        joined = self.dropout(self._join(tiled, repeated)).view(claim_count, length, -1)
        return self.output(self.dropout(self.order(joined))).squeeze(-1)

    def _embed(self, ids: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
        rows = pad_sequence([torch.tensor(word_ids) for word_ids in ids], batch_first=True, padding_value=PADDING)
        lengths = torch.tensor([len(word_ids) for word_ids in ids])
        return self.dropout(self.words(rows.to(self.words.weight.device))), lengths

    def _join(self, claims: EncodedSentences, sentences: EncodedSentences) -> Tensor:
        """[c; c * e; e], of final states or of what attention makes of the words."""
        claim, sentence = self.attention(claims, sentences) if self.attention else (claims.final, sentences.final)
        return torch.cat([claim, claim * sentence, sentence], dim=-1)


class _WordEncoder(nn.Module):
    """A recurrent network over words."""

    def __init__(self, cell: Cell, width: int, hidden: int, both_ways: bool) -> None:
        super().__init__()
        size = hidden // 2 if both_ways else hidden
        self.network = _CELLS[cell](width, size, batch_first=True, bidirectional=both_ways)

    def forward(self, words: Tensor, lengths: Tensor) -> EncodedSentences:
        packed, final = self.network(pack_padded_sequence(words, lengths, batch_first=True, enforce_sorted=False))
        states, _ = pad_packed_sequence(packed, batch_first=True, total_length=words.shape[1])
        final_states = final[0] if isinstance(final, tuple) else final  # an LSTM gives its cells too
        mask = torch.arange(words.shape[1])[None] < lengths[:, None]
        return EncodedSentences(states, torch.cat(list(final_states), dim=-1), mask.to(states.device))


class _WordAttention(nn.Module):
    """Bidirectional attention flow (5.3.2): each side summed by how well a word goes with the best of the other."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        # w . [u; v; u * v] + b without ever making the long vector of every pair of words.
        self.of_claim = nn.Linear(hidden, 1)
        self.of_sentence = nn.Linear(hidden, 1, bias=False)
        self.of_both = nn.Parameter(torch.randn(hidden) / hidden**0.5)

    def forward(self, claims: EncodedSentences, sentences: EncodedSentences) -> tuple[Tensor, Tensor]:
        similar = (claims.states * self.of_both) @ sentences.states.transpose(1, 2)
        similar = similar + self.of_claim(claims.states) + self.of_sentence(sentences.states).transpose(1, 2)
        pair_mask = claims.mask[:, :, None] & sentences.mask[:, None, :]
        similar = similar.masked_fill(~pair_mask, -torch.inf)
        return (
            _attend(claims.states, similar.amax(dim=2)),
            _attend(sentences.states, similar.amax(dim=1)),
        )


def _attend(states: Tensor, weights: Tensor) -> Tensor:
    return (torch.softmax(weights, dim=1)[:, None] @ states).squeeze(1)


class _DocumentEncoder(nn.Module):
    """Sentences in the context of the others: a recurrent network over them, then attention to a learned vector."""

    def __init__(self, cell: Cell, hidden: int, attention: bool) -> None:
        super().__init__()
        self.network = _CELLS[cell](3 * hidden, hidden // 2, batch_first=True, bidirectional=True)
        self.inner = nn.Linear(hidden, hidden) if attention else None
        self.sought = nn.Linear(hidden, 1, bias=False) if attention else None

    def forward(self, joined: Tensor) -> Tensor:
        states: Tensor = self.network(joined)[0]
        if self.inner is None or self.sought is None:
            return states
        weights: Tensor = self.sought(torch.tanh(self.inner(states)))
        return states * torch.softmax(weights, dim=1)
