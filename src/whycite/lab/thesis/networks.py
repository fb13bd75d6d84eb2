"""The eight networks of the thesis (5.3, 5.4), how they are trained, and the word vectors they read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

from whycite.errors import UserError
from whycite.lab.train.bases import load_base
from whycite.text.tokens import words

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = [
    "MODELS",
    "PADDING",
    "Architecture",
    "Cell",
    "EncodedSentences",
    "PassageNetwork",
    "PassageRecipe",
    "WordVectors",
    "encoder_word_vectors",
    "read_word_vectors",
]

PADDING = 0  # padding and unknown words: a vector of zeros
# Files start with the most frequent words: keep these even if they are not in the data.
_FREQUENT_WORDS = 100_000

_SPREAD = 0.4  # standard deviation of GloVe's vectors, which recurrent networks learn well from


@dataclass(frozen=True, slots=True)
class WordVectors:
    """Word ids and their vectors, the first of them zeros; words are tokens if there is a tokenizer."""

    name: str
    vectors: NDArray[np.float32]
    numbers: Mapping[str, int]
    version: str  # differs for other vectors
    tokenizer: Tokenizer | None = None

    def ids(self, text: str, longest: int) -> list[int]:
        """The ids of a text's first words, or a single padding."""
        if self.tokenizer is not None:
            # 32 characters per word are more than enough; a page without spaces would be slow to tokenize.
            cut = text[: 32 * longest].encode("utf-8", "replace").decode("utf-8")
            word_ids = [number + 1 for number in self.tokenizer.encode(cut, add_special_tokens=False).ids]
        else:
            word_ids = [self.numbers.get(word, self.numbers.get(word.lower(), PADDING)) for word in words(text)]
        return word_ids[:longest] or [PADDING]


def encoder_word_vectors(name: str, width: int) -> WordVectors:
    """The input embeddings of an encoder, reduced to `width` principal components."""
    base = load_base(name)
    embeddings = base.model.get_input_embeddings().weight.detach().numpy()
    vectors = embeddings.astype(np.float64)
    if vectors.shape[1] > width:
        centred = vectors - vectors.mean(axis=0)
        # eigh sorts axes by increasing variance; fix their signs so that machines agree.
        axes = np.linalg.eigh(centred.T @ centred)[1][:, : -width - 1 : -1]
        vectors = centred @ (axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(width)]))
    scale = _SPREAD / (float(vectors.std()) or 1.0)
    return WordVectors(name, _with_padding(vectors * scale), {}, _version(embeddings, width), base.tokenizer)


def read_word_vectors(path: Path, texts: Iterable[str]) -> WordVectors:
    """Read a text file with a word and its vector per line; keep frequent words and those in the texts."""
    needed_words = {form for text in texts for word in words(text) for form in (word, word.lower())}
    numbers: dict[str, int] = {}
    rows: list[NDArray[np.float32]] = []
    width = 0
    try:
        with path.open(encoding="utf-8") as lines:
            for line_number, line in enumerate(lines, start=1):
                word, *values = line.rstrip().split(" ")
                if line_number == 1 and len(values) == 1:  # word2vec's files start with a count
                    continue
                width = width or len(values)
                if len(values) > width:  # a few words in the published files contain spaces
                    continue
                if word in numbers or (line_number > _FREQUENT_WORDS and word not in needed_words):
                    continue
                row = np.array(values, np.float32)
                if len(row) != width or not np.isfinite(row).all():
                    raise UserError(f"{path}:{line_number}: expected a word and {width} numbers")
                numbers[word] = len(rows) + 1
                rows.append(row)
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise UserError(f"{path}: not a file of word vectors (expected a word and numbers per line)") from error
    if not rows or not width:
        raise UserError(f"{path}: not a file of word vectors (expected a word and numbers per line)")
    padded_vectors = _with_padding(np.stack(rows).astype(np.float16))  # as saved with a model
    return WordVectors(path.name, padded_vectors, numbers, _version(padded_vectors, *numbers))


def _version(vectors: NDArray[np.floating], *details: object) -> str:
    """Hash the original vectors, since the last digits of computed ones differ between machines."""
    digest = blake2b(np.ascontiguousarray(vectors).data, digest_size=8)
    digest.update("\0".join(map(str, details)).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _with_padding(vectors: NDArray[np.floating]) -> NDArray[np.float32]:
    return np.concatenate([np.zeros((1, vectors.shape[1])), vectors]).astype(np.float32)


Cell = Literal["rnn", "gru", "lstm"]


@dataclass(frozen=True, slots=True)
class Architecture:
    """The components of a model (the thesis, sections 5.3 and 5.4)."""

    cell: Cell = "lstm"
    both_ways: bool = False  # bidirectional
    attention: bool = False  # between the words of claim and sentence, instead of final states
    document: bool = False  # reads the sentences of a document in sequence
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
    """Hyperparameters: widths, margin and loss as in the thesis, which gives no rate, dropout or number of epochs."""

    model: str = "lstm"
    words: int = 200  # dimensions of word vectors
    hidden: int = 80  # dimensions of a state, both directions together
    margin: float = 1.0
    dropout: float = 0.3
    rate: float = 2e-3
    epochs: int = 12
    patience: int = 3  # epochs without improvement before training stops
    batch: int = 8  # claims per step
    longest: int = 60  # words read per sentence
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
        """The components of the model."""
        return MODELS[self.model]


_CELLS: dict[Cell, Any] = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}


class EncodedSentences(NamedTuple):
    """Encoded sentences: a state per word, the final state, and a mask of the words."""

    states: Tensor  # sentences x words x hidden
    final: Tensor  # sentences x hidden
    mask: Tensor  # sentences x words

    def rows(self, indices: Tensor) -> EncodedSentences:
        """The sentences at these indices, which may repeat."""
        return EncodedSentences(self.states[indices], self.final[indices], self.mask[indices])


class PassageNetwork(nn.Module):
    """Scores how well sentences back claims (sections 5.3 and 5.4)."""

    def __init__(self, recipe: PassageRecipe, vectors: Tensor) -> None:
        super().__init__()
        form, hidden = recipe.architecture, recipe.hidden
        self.words = nn.Embedding.from_pretrained(vectors, freeze=True)
        self.dropout = nn.Dropout(recipe.dropout)
        # Claims and sentences have separate networks (5.3.2).
        self.claims = _WordEncoder(form.cell, vectors.shape[1], hidden, form.both_ways)
        self.sentences = _WordEncoder(form.cell, vectors.shape[1], hidden, form.both_ways)
        self.attention = _WordAttention(hidden) if form.attention else None
        self.order = _DocumentEncoder(form.cell, hidden, form.among_sentences) if form.document else None
        self.output = nn.Linear(hidden if form.document else 3 * hidden, 1)

    def learned_weights(self) -> dict[str, Tensor]:
        """The weights, without the frozen word vectors."""
        return {name: weight for name, weight in self.state_dict().items() if not name.startswith("words.")}

    def load_learned(self, weights: Mapping[str, Tensor]) -> None:
        """Load weights from `learned_weights`."""
        missing, unknown = self.load_state_dict(weights, strict=False)
        if unknown or missing != ["words.weight"]:
            raise ValueError("these weights belong to another model")

    def read_claims(self, ids: Sequence[Sequence[int]]) -> EncodedSentences:
        """Encode claims given as word ids."""
        return self.claims(*self._embed(ids))  # type: ignore[no-any-return]

    def read_sentences(self, ids: Sequence[Sequence[int]]) -> EncodedSentences:
        """Encode sentences given as word ids."""
        return self.sentences(*self._embed(ids))  # type: ignore[no-any-return]

    def forward(self, claims: EncodedSentences, sentences: EncodedSentences) -> Tensor:
        """Pair models: score each claim with the sentence in the same row."""
        return self.output(self.dropout(self._join(claims, sentences))).squeeze(-1)

    def documents(self, claims: EncodedSentences, sentences: EncodedSentences) -> Tensor:
        """Document models: score all sentences of one document for each claim."""
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
        """[c; c * e; e] of final states or attended words."""
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
        final_states = final[0] if isinstance(final, tuple) else final  # an LSTM returns its cells too
        mask = torch.arange(words.shape[1])[None] < lengths[:, None]
        return EncodedSentences(states, torch.cat(list(final_states), dim=-1), mask.to(states.device))


class _WordAttention(nn.Module):
    """Bidirectional attention flow (5.3.2): words of each side, weighted by their best match on the other."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        # w . [u; v; u * v] + b without building the long vector for every pair of words.
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
    """A recurrent network over the sentences of a document, then optional attention to a learned vector."""

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
        # With weights that sum to 1, as published, scores of a long document hardly differ, and little is learned.
        return states * torch.softmax(weights, dim=1) * states.shape[1]
