"""Word vectors from a file in GloVe's format, or from the input embeddings of an encoder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from whycite.errors import UserError
from whycite.lab.train.bases import load_base
from whycite.text.tokens import words

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["PADDING", "WordVectors", "encoder_word_vectors", "read_word_vectors"]

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
