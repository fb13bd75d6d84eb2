"""A title as one vector: its words' vectors, weighted by TF-IDF (SCOPE 3.3)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from whycite.encoders import Encoder
from whycite.errors import UserError
from whycite.text.tokens import terms

__all__ = ["TitleWords", "learn_title_words", "vectors_by", "vectors_in"]

Vectors = NDArray[np.float32]
Look = Callable[[Sequence[str]], tuple[list[str], Vectors]]
"""Gives words that have a vector, and their vectors."""


class TitleWords:
    """The words of titles that are known, each with its weight and vector; other words say nothing."""

    def __init__(self, words: Sequence[str], weights: NDArray[np.float32], vectors: Vectors) -> None:
        self.words, self.weights, self.vectors = tuple(words), weights, vectors
        self._place = {word: place for place, word in enumerate(self.words)}

    @property
    def dimensions(self) -> int:
        """How long a vector is."""
        return int(self.vectors.shape[1])

    def vector(self, title: str) -> Vectors:
        """The words' vectors added up by TF-IDF weights of length 1; zeros if no word is known."""
        counted = Counter(place for term in terms(title) if (place := self._place.get(term)) is not None)
        if not counted:
            return np.zeros(self.dimensions, np.float32)
        places = np.array(sorted(counted))
        weights = np.array([counted[place] for place in places.tolist()], np.float32) * self.weights[places]
        found: Vectors = (weights / np.linalg.norm(weights)) @ self.vectors[places]
        return found


def learn_title_words(titles: Iterable[str], look: Look) -> TitleWords:
    """The words of these titles, the rarer the heavier."""
    known = [set(terms(title)) for title in titles]
    containing = Counter(term for each in known for term in each)
    words, vectors = look(sorted(containing))
    if not words:
        raise UserError("no word of the titles has a vector: give a file of word vectors for their language")
    weights = [math.log((1 + len(known)) / (1 + containing[word])) + 1 for word in words]
    return TitleWords(words, np.array(weights, np.float32), vectors)


def vectors_by(encoder: Encoder) -> Look:
    """The vectors that an encoder gives words alone."""

    def look(words: Sequence[str]) -> tuple[list[str], Vectors]:
        return list(words), encoder.encode(list(words))

    return look


def vectors_in(path: Path) -> Look:
    """The vectors in a text file as GloVe's and word2vec's: a word and its numbers a line, perhaps a line of counts."""

    def look(words: Sequence[str]) -> tuple[list[str], Vectors]:
        wanted, found = set(words), {}
        length = 0
        try:
            with path.open(encoding="utf-8", errors="replace") as file:
                for number, line in enumerate(file, start=1):
                    word, *values = line.split() if line.strip() else ("",)
                    if number == 1 and len(values) == 1:
                        continue  # word2vec says first how many there are
                    length = length or len(values)
                    if word in wanted:
                        found[word] = _numbers(values, length, path, number)
        except OSError as error:
            raise UserError(f"{path}: {error.strerror or error}") from error
        kept = sorted(found)
        return kept, np.array([found[word] for word in kept], np.float32)

    return look


def _numbers(values: Sequence[str], length: int, path: Path, line: int) -> list[float]:
    try:
        numbers = [float(value) for value in values]
    except ValueError as error:
        raise UserError(f"{path}, line {line}: a word and its numbers must stand there ({error})") from error
    if len(numbers) != length or not numbers:
        raise UserError(f"{path}, line {line}: {len(numbers)} numbers, where other words have {length}")
    return numbers
