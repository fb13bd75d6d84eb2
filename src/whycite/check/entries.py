"""The draft's own bibliography, entry by entry, held against a sentence.

What speaks for an entry: its title and abstract, its key, authors and venue, the other sentences of the draft that cite
it, and where these stand. Whether it is cited at all says nothing here, nor does the order of the entries: where a
citation is only being looked for, neither is known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from whycite.documents.model import Document, Reference
from whycite.encoders import Encoder
from whycite.recommend.ilciter.bm25 import Index
from whycite.text.normalise import fold
from whycite.text.tokens import terms

__all__ = ["FEATURES", "Entries", "Held", "families", "key_terms", "naming"]

FEATURES = ("title", "names", "paragraph", "meaning", "author", "year", "section", "near")
MOST = 2_000  # entries that are all held against every sentence; of more, those that share words with it or are cited
_CHOSEN = 200  # of more than that
_NEAR = 5.0  # sentences: how soon a citation elsewhere is far away
_PARTS = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z\d])|(?<=\d)(?=[^\W\d_])")
_NAME = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_YEAR = re.compile(r"\b(?:1[89]|20)\d\d\b")

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Held:
    """Entries held against a sentence, by their places in the bibliography."""

    entries: Integers
    features: Floats  # a row an entry, a column each of FEATURES
    cosines: Floats  # with the sentence: of each citing sentence of the draft, in the order of `Entries.citing`


class Entries:
    """The entries of a draft; vectors are made when they are first needed, so many texts at a time."""

    def __init__(self, document: Document, encoder: Encoder) -> None:
        self._encoder = encoder
        self.document = document
        self.references = document.references
        self._places = {reference.id: place for place, reference in enumerate(self.references)}
        self.texts = [sentence.without_citations() for sentence in document.sentences]
        cited = [self._cited(at) for at in range(len(document.sentences))]
        self.citing = [at for at, places in enumerate(cited) if places]
        """The sentences that cite, by their places in the document."""
        self.pairs = [(row, place) for row, at in enumerate(self.citing) for place in cited[at]]
        """Which of these cites which entry."""
        self._rows = np.array([row for row, _ in self.pairs], np.int64)
        self._of = np.array([place for _, place in self.pairs], np.int64)
        self._families = [families(each.authors) for each in self.references]

    def _cited(self, at: int) -> list[int]:
        keys = (key for citation in self.document.sentences[at].citations for key in citation.keys)
        return list(dict.fromkeys(self._places[key] for key in keys if key in self._places))

    def hold(self, sentences: Sequence[int]) -> list[Held]:
        """Entries held against sentences; what these cite themselves does not speak for anything."""
        if not self.references or not sentences:
            return [Held(np.empty(0, np.int64), np.empty((0, len(FEATURES))), np.empty(0)) for _ in sentences]
        queries = [terms(self.texts[at]) for at in sentences]
        chosen = [self._chosen(query) for query in queries]
        needed = sorted({place for places in chosen for place in places.tolist()})
        rows = {place: row for row, place in enumerate(needed)}
        texts = [_text(self.references[place]) for place in needed]
        paragraphs = [self.paragraph(at) for at in sentences]
        # All at once, so that all cores have something to do.
        vectors = self._encoder.encode(
            [*texts, *(self.texts[at] for at in self.citing), *(self.texts[at] for at in sentences), *paragraphs]
        ).astype(np.float64)
        own, citing, said, around = np.split(
            vectors, np.cumsum([len(texts), len(self.citing), len(sentences)]).tolist()
        )
        return [
            self._held(
                at, queries[i], places, own[[rows[place] for place in places.tolist()]], citing, said[i], around[i]
            )
            for i, (at, places) in enumerate(zip(sentences, chosen, strict=True))
        ]

    def _held(
        self,
        at: int,
        query: Sequence[str],
        places: Integers,
        own: Floats,
        citing: Floats,
        said: Floats,
        around: Floats,
    ) -> Held:
        sentence = self.document.sentences[at]
        cosines = _products(citing, said)
        others = np.array([self.citing[row] != at for row in self._rows.tolist()], bool)
        rows, of = self._rows[others], self._of[others]
        where = np.array(self.citing, np.int64)
        near = np.exp(-np.abs(where - at) / _NEAR) if len(where) else np.empty(0)
        inside = np.array([self.document.sentences[one].section == sentence.section for one in self.citing], bool)
        meaning = _products(own, said)
        features = {
            "title": np.log1p(self._titles.scores(query)["plus"][places]),
            "names": np.log1p(self._names.scores(query)["plus"][places]),
            "paragraph": _products(own, around),
            "meaning": np.maximum(meaning, self._best(cosines[rows], of, -1.0)[places]),
            "author": self._authors(at, places),
            "year": self._years(at, places),
            "section": np.log1p(np.bincount(of[inside[rows]], minlength=len(self.references))[places]),
            "near": self._best(near[rows], of, 0.0)[places],
        }
        return Held(places, np.stack([features[name] for name in FEATURES], axis=1).astype(np.float64), cosines)

    def _best(self, values: Floats, of: Integers, otherwise: float) -> Floats:
        """For every entry the best of the values that belong to it."""
        best = np.full(len(self.references), otherwise)
        np.maximum.at(best, of, values)
        return best

    def _chosen(self, query: Sequence[str]) -> Integers:
        if len(self.references) <= MOST:
            return np.arange(len(self.references))
        scores = self._titles.scores(query)["plus"] + self._names.scores(query)["plus"]
        best = np.argsort(-scores, kind="stable")[:_CHOSEN]
        return np.union1d(best[scores[best] > 0], np.unique(self._of))

    def _authors(self, at: int, places: Integers) -> Floats:
        named = naming(self.texts[at])
        return np.array([named(self._families[place]) for place in places.tolist()])

    def _years(self, at: int, places: Integers) -> Floats:
        years = {int(year) for year in _YEAR.findall(self.texts[at])}
        return np.array([float(self.references[place].year in years) for place in places.tolist()])

    def paragraph(self, at: int) -> str:
        """The paragraph of a sentence, without citations."""
        return " ".join(self.texts[other] for other in self._paragraphs[self._paragraph_of(at)])

    def _paragraph_of(self, at: int) -> tuple[int, int]:
        sentence = self.document.sentences[at]
        return sentence.section, sentence.paragraph

    @cached_property
    def _paragraphs(self) -> dict[tuple[int, int], list[int]]:
        found: dict[tuple[int, int], list[int]] = {}
        for at in range(len(self.document.sentences)):
            found.setdefault(self._paragraph_of(at), []).append(at)
        return found

    @cached_property
    def _titles(self) -> Index:
        return self._index(lambda entry: terms(_text(entry)))

    @cached_property
    def _names(self) -> Index:
        return self._index(lambda entry: [*key_terms(entry.id), *terms(f"{' '.join(entry.authors)} {entry.venue}")])

    def _index(self, words: Callable[[Reference], list[str]]) -> Index:
        return Index(words(reference) for reference in self.references)


def families(authors: Sequence[str]) -> list[str]:
    """The family names of authors as they are compared."""
    return [fold(name.partition(",")[0]) for name in authors]


def naming(sentence: str) -> Callable[[Sequence[str]], float]:
    """Tells of family names: 1 where the sentence names the first of them, a half where another of the first five."""
    text = fold(sentence)
    named = set(_NAME.findall(text))

    def said(family: str) -> bool:
        return len(family) > 2 and (family in named or (" " in family and f" {family} " in f" {text} "))

    def of(authors: Sequence[str]) -> float:
        if authors and said(authors[0]):
            return 1.0
        return 0.5 if any(map(said, authors[1:5])) else 0.0

    return of


def key_terms(key: str) -> list[str]:
    """The words of a key: "smith_2010_deep", "Smith2010Deep" and "DBLP:conf/x/Smith10" all hold "smith"."""
    return terms(" ".join(_PARTS.split(key)))


def _text(entry: Reference) -> str:
    return " ".join(part for part in (entry.title or entry.text, entry.abstract) if part)


def _products(rows: Floats, vector: Floats) -> Floats:
    # Not a matrix product: its last digits depend on the number of threads.
    return (rows * vector).sum(axis=1) if len(rows) else np.empty(0)
