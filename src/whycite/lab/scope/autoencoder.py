"""Adversarial autoencoder over sets of cited papers in plain numpy, and the conditions of each variant (SCOPE 3.3)."""

from __future__ import annotations

import json
import math
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whycite.errors import MissingExtra, UserError
from whycite.files import atomic_write
from whycite.lab.scope.candidates import POOL_SIZE, CandidatePaper, DraftPart, Lessons, Pool
from whycite.models import DEFAULT, Encoder, load_encoder
from whycite.text.tokens import terms

__all__ = [
    "CONDITIONS",
    "LAYERS",
    "Autoencoder",
    "TitleWords",
    "learn_title_words",
    "load_autoencoder",
    "make",
    "save_autoencoder",
    "vectors_by",
    "vectors_in",
]


Vectors = NDArray[np.float32]
WordLookup = Callable[[Sequence[str]], tuple[list[str], Vectors]]
"""Returns the words that have a vector, and their vectors."""


class TitleWords:
    """Known title words with their weights and vectors; other words are ignored."""

    def __init__(self, words: Sequence[str], weights: NDArray[np.float32], vectors: Vectors) -> None:
        self.words, self.weights, self.vectors = tuple(words), weights, vectors
        self._place = {word: place for place, word in enumerate(self.words)}

    @property
    def dimensions(self) -> int:
        """Number of dimensions of a vector."""
        return int(self.vectors.shape[1])

    def vector(self, title: str) -> Vectors:
        """Sum of word vectors with unit-length TF-IDF weights; zeros if no word is known."""
        counted = Counter(place for term in terms(title) if (place := self._place.get(term)) is not None)
        if not counted:
            return np.zeros(self.dimensions, np.float32)
        places = np.array(sorted(counted))
        weights = np.array([counted[place] for place in places.tolist()], np.float32) * self.weights[places]
        weighted_sum: Vectors = (weights / np.linalg.norm(weights)) @ self.vectors[places]
        return weighted_sum


def learn_title_words(titles: Iterable[str], look_up: WordLookup) -> TitleWords:
    """Learn title words, giving rarer ones more weight."""
    title_terms = [set(terms(title)) for title in titles]
    containing = Counter(term for term_set in title_terms for term in term_set)
    words, vectors = look_up(sorted(containing))
    if not words:
        raise UserError("no word in the titles has a vector; use word vectors for their language")
    weights = [math.log((1 + len(title_terms)) / (1 + containing[word])) + 1 for word in words]
    return TitleWords(words, np.array(weights, np.float32), vectors)


def vectors_by(encoder: Encoder) -> WordLookup:
    """Word vectors from an encoder, given one word at a time."""

    def look_up(words: Sequence[str]) -> tuple[list[str], Vectors]:
        return list(words), encoder.encode(list(words))

    return look_up


def vectors_in(path: Path) -> WordLookup:
    """Word vectors from a text file in GloVe or word2vec format: one word and its numbers per line."""

    def look_up(words: Sequence[str]) -> tuple[list[str], Vectors]:
        vocabulary, vectors = set(words), {}
        length = 0
        try:
            with path.open(encoding="utf-8", errors="replace") as file:
                for number, line in enumerate(file, start=1):
                    word, *values = line.split() if line.strip() else ("",)
                    if number == 1 and len(values) == 1:
                        continue  # word2vec's header with counts
                    length = length or len(values)
                    if word in vocabulary:
                        vectors[word] = _numbers(values, length, path, number)
        except OSError as error:
            raise UserError(f"{path}: {error.strerror or error}") from error
        words_with_vectors = sorted(vectors)
        return words_with_vectors, np.array([vectors[word] for word in words_with_vectors], np.float32)

    return look_up


def _numbers(values: Sequence[str], length: int, path: Path, line: int) -> list[float]:
    try:
        numbers = [float(value) for value in values]
    except ValueError as error:
        raise UserError(f"{path}:{line}: expected a word and numbers ({error})") from error
    if len(numbers) != length or not numbers:
        raise UserError(f"{path}:{line}: {len(numbers)} numbers, but other words have {length}")
    return numbers


_FORM = "whycite-autoencoder-1"
LAYERS = ("encoder", "encoder.hidden", "code", "decoder", "decoder.hidden", "papers")
"""Layers in forward order; each has a weight (inputs x outputs) and a bias."""

Floats = NDArray[np.float32]


class Autoencoder:
    """Recommends papers it reconstructs in a set that are not there yet; conditions are appended to the code."""

    def __init__(
        self,
        name: str,
        pool: Pool,
        weights: Mapping[str, Floats],
        titles: TitleWords | None = None,
        sections: tuple[str, ...] = (),
    ) -> None:
        self.name, self.pool, self.weights = name, pool, weights
        self.titles, self.sections = titles, sections

    def recommend(self, part: DraftPart, k: int = POOL_SIZE) -> list[tuple[str, float]]:
        """Recommend the papers most likely to belong to the set; scores are probabilities."""
        return self.pool.best(self.scores(part), part, k)

    def scores(self, part: DraftPart) -> Floats:
        """Probability of each paper in the pool."""
        cited, weights = self.pool.places(part.cited), self.weights
        state = weights["encoder.bias"]
        if len(cited):
            state = state + weights["encoder.weight"][cited].mean(axis=0)
        state = np.maximum(state, 0)
        state = np.maximum(self._layer_output("encoder.hidden", state), 0)
        state = np.concatenate([self._layer_output("code", state), *self._conditions(part)])
        for layer in ("decoder", "decoder.hidden"):
            state = np.maximum(self._layer_output(layer, state), 0)
        odds = np.exp(-np.clip(self._layer_output("papers", state), -60, 60))
        return (1 / (1 + odds)).astype(np.float32)

    def _layer_output(self, layer: str, state: Floats) -> Floats:
        # Not a matrix product: its last digits depend on the number of threads, and threads are slow on a busy machine.
        output: Floats = np.einsum("i,ij->j", state, self.weights[f"{layer}.weight"]) + self.weights[f"{layer}.bias"]
        return output

    def _conditions(self, part: DraftPart) -> list[Floats]:
        conditions = []
        if self.titles is not None:
            conditions.append(self.titles.vector(part.title))
        if self.sections:
            # The first row is for sections of unknown type.
            rows = [self.sections.index(type) if type in self.sections else 0 for type in part.section_types] or [0]
            conditions.append(self.weights["sections"][sorted(rows)].mean(axis=0))
        return conditions


def save_autoencoder(model: Autoencoder, path: Path) -> None:
    """Save the autoencoder to a .npz file."""
    arrays: dict[str, Any] = {f"weights/{name}": values for name, values in model.weights.items()}
    about: dict[str, Any] = {
        "form": _FORM,
        "name": model.name,
        "sections": model.sections,
        "papers": [asdict(paper) for paper in model.pool.papers],
    }
    if model.titles is not None:
        about["words"] = model.titles.words
        arrays |= {"titles/weights": model.titles.weights, "titles/vectors": model.titles.vectors}
    arrays["about"] = np.frombuffer(json.dumps(about).encode(), np.uint8)
    with atomic_write(path) as file:
        np.savez(file, **arrays)


def load_autoencoder(path: Path) -> Autoencoder:
    """Load an autoencoder from a file."""
    try:
        # Opened here because numpy does not close a file that is not an archive.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            about = json.loads(arrays["about"].tobytes())
            if about["form"] != _FORM:
                raise ValueError(f"its form is {about['form']}")
            weights = {name.removeprefix("weights/"): arrays[name] for name in arrays if name.startswith("weights/")}
            titles = None
            if "words" in about:
                titles = TitleWords(about["words"], arrays["titles/weights"], arrays["titles/vectors"])
            pool = Pool(
                CandidatePaper(**{**paper, "authors": tuple(paper.get("authors", ()))}) for paper in about["papers"]
            )
    except (OSError, ValueError, LookupError, TypeError, AttributeError, EOFError, zipfile.BadZipFile) as error:
        raise UserError(f"{path}: cannot read the autoencoder ({error}); train it again") from error
    return Autoencoder(about["name"], pool, weights, titles, tuple(about["sections"]))


CONDITIONS = {
    "aae-none": frozenset[str](),
    "aae-title": frozenset({"title"}),
    "aae-section-title": frozenset({"section", "title"}),
    "aae-section": frozenset({"section"}),
}


def make(name: str, lessons: Lessons) -> Autoencoder:
    """Train the autoencoder of that name."""
    if find_spec("torch") is None:
        raise MissingExtra("Training an autoencoder", "train")
    from whycite.lab.scope.adversarial import AutoencoderRecipe, train

    if name not in CONDITIONS:
        raise UserError(f"unknown autoencoder '{name}'; choose one of: {', '.join(CONDITIONS)}")
    titles = _title_words(lessons) if "title" in CONDITIONS[name] else None
    return train(name, lessons, AutoencoderRecipe(), titles, "section" in CONDITIONS[name])


def _title_words(lessons: Lessons) -> TitleWords:
    look = (
        vectors_in(lessons.word_vectors)
        if lessons.word_vectors
        else vectors_by(load_encoder(lessons.encoder or DEFAULT))
    )
    return learn_title_words({paper_set.document: paper_set.title for paper_set in lessons.sets}.values(), look)
