"""The draft's own bibliography as a source of candidates: the features of each entry for a sentence, and its score.

The features are the entry's title and abstract, its key, authors and venue, the other sentences that cite it, and
where they are. Whether an entry is cited at all and the order of entries do not count, since neither is known for a
citation that is yet to be added.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from whycite.check.memory import once_per_bibliography
from whycite.cite.fit import ClaimWords, FitSigns, author_matcher, family_names
from whycite.documents.model import Document, Reference
from whycite.models import Encoder
from whycite.text.bm25 import Bm25Index
from whycite.text.tokens import terms

__all__ = [
    "DOUBT",
    "FEATURES",
    "WEIGHTS",
    "BibliographyEntries",
    "EntryFeatures",
    "entry_order",
    "entry_scores",
    "key_terms",
]


FEATURES = ("title", "names", "paragraph", "meaning", "author", "year", "section", "near")
MAX_ENTRIES = 2_000  # compared with every sentence; in longer bibliographies, only a shortlist and cited entries
_SHORTLIST_SIZE = 200  # entries that share the most words with the sentence
_NEAR = 5.0  # sentences over which the feature "near" falls to 1/e
_PARTS = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z\d])|(?<=\d)(?=[^\W\d_])")
_YEAR = re.compile(r"\b(?:1[89]|20)\d\d\b")

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class EntryFeatures:
    """The features of entries for a sentence."""

    positions: Integers  # of the entries in the bibliography
    features: Floats  # a row per entry, with the columns FEATURES
    cosines: Floats  # of the sentence with each citing sentence, in the order of `BibliographyEntries.citing`


class BibliographyEntries:
    """The entries of a draft's bibliography, and the sentences that cite them."""

    def __init__(self, document: Document, encoder: Encoder, clauses: Mapping[int, str] = MappingProxyType({})) -> None:
        """`clauses` are the parts that papers are searched for, of sentences of which only a part needs a citation."""
        self._encoder = encoder
        self.document = document
        self.references = document.references
        self._places = {reference.id: place for place, reference in enumerate(self.references)}
        self.texts = [sentence.without_citations() for sentence in document.sentences]
        self.claims = [clauses.get(index, text) for index, text in enumerate(self.texts)]
        """What papers are searched for, by sentence."""
        cited = [self._cited_places(index) for index in range(len(document.sentences))]
        self.citing = [index for index, places in enumerate(cited) if places]
        """The indices of sentences that cite."""
        self.pairs = [(row, place) for row, index in enumerate(self.citing) for place in cited[index]]
        """Positions in `citing` and in `references`, one pair for each citation."""
        self._pair_rows = np.array([row for row, _ in self.pairs], np.int64)
        self._pair_entries = np.array([place for _, place in self.pairs], np.int64)
        self._citing_rows: dict[int, list[int]] = {}
        for row, place in self.pairs:
            self._citing_rows.setdefault(place, []).append(row)
        self._families = _families(self.references)
        self._vectors: dict[str, Floats] = {}  # of texts encoded so far

    def _cited_places(self, index: int) -> list[int]:
        return [self._places[key] for key in self.document.sentences[index].cited_keys if key in self._places]

    def features_of(self, sentences: Sequence[int]) -> list[EntryFeatures]:
        """The features of entries for sentences; a sentence's own citations do not count."""
        if not self.references or not sentences:
            return [EntryFeatures(np.empty(0, np.int64), np.empty((0, len(FEATURES))), np.empty(0)) for _ in sentences]
        queries = [terms(self.claims[index]) for index in sentences]
        shortlists = [self._shortlist(query) for query in queries]
        needed = sorted({place for places in shortlists for place in places.tolist()})
        rows = {place: row for row, place in enumerate(needed)}
        texts = [_entry_text(self.references[place]) for place in needed]
        paragraphs = [self.paragraph(index) for index in sentences]
        vectors = self._encode(
            [
                *texts,
                *(self.texts[index] for index in self.citing),
                *(self.claims[index] for index in sentences),
                *paragraphs,
            ]
        )
        entry_vectors, citing_vectors, sentence_vectors, paragraph_vectors = np.split(
            vectors, np.cumsum([len(texts), len(self.citing), len(sentences)]).tolist()
        )
        return [
            self._features(
                index,
                queries[i],
                places,
                entry_vectors[[rows[place] for place in places.tolist()]],
                citing_vectors,
                sentence_vectors[i],
                paragraph_vectors[i],
            )
            for i, (index, places) in enumerate(zip(sentences, shortlists, strict=True))
        ]

    def citing_rows(self, place: int, index: int) -> list[int]:
        """The rows of sentences that cite an entry, without the sentence at an index."""
        return [row for row in self._citing_rows.get(place, ()) if self.citing[row] != index]

    def fit_signs(self, index: int, candidates: EntryFeatures, rows: Sequence[int]) -> list[FitSigns]:
        """The signs that entries fit a sentence, for some rows of its candidates."""
        words = ClaimWords(self.claims[index])
        [claim_vector] = self._encode([self.claims[index]])
        is_other = np.array(self.citing, np.int64) != index
        signs = []
        for row in rows:
            place = int(candidates.positions[row])
            entry = self.references[place]
            citing_texts = (self.texts[self.citing[citing_row]] for citing_row in self.citing_rows(place, index))
            meaning = float(candidates.features[row, FEATURES.index("meaning")])
            texts = (entry.abstract, " ".join(key_terms(entry.id)), *citing_texts)
            entry_vector = self._encode([_entry_text(entry)])
            nearness = _dot_products(self._citing_vectors, entry_vector[0])
            nearer = is_other & (nearness > _dot_products(entry_vector, claim_vector))
            signs.append(
                replace(
                    words.signs(meaning, entry.title or entry.text, entry.authors, texts),
                    section=float(candidates.features[row, FEATURES.index("section")]),
                    nearer=float(np.log1p(nearer.sum())),
                )
            )
        return signs

    def _encode(self, texts: Sequence[str]) -> Floats:
        """The vectors of texts; new ones are encoded in one call, which keeps all cores busy."""
        missing = list(dict.fromkeys(text for text in texts if text not in self._vectors))
        if missing:
            self._vectors.update(zip(missing, self._encoder.encode(missing).astype(np.float64), strict=True))
        return np.stack([self._vectors[text] for text in texts])

    def _features(
        self,
        index: int,
        query: Sequence[str],
        places: Integers,
        entry_vectors: Floats,
        citing_vectors: Floats,
        sentence_vector: Floats,
        paragraph_vector: Floats,
    ) -> EntryFeatures:
        sentence = self.document.sentences[index]
        cosines = _dot_products(citing_vectors, sentence_vector)
        from_elsewhere = np.array([self.citing[row] != index for row in self._pair_rows.tolist()], bool)
        rows, entries = self._pair_rows[from_elsewhere], self._pair_entries[from_elsewhere]
        citing_indices = np.array(self.citing, np.int64)
        nearness = np.exp(-np.abs(citing_indices - index) / _NEAR) if len(citing_indices) else np.empty(0)
        same_section = np.array(
            [self.document.sentences[citing_index].section == sentence.section for citing_index in self.citing], bool
        )
        meaning = _dot_products(entry_vectors, sentence_vector)
        features = {
            "title": np.log1p(self._titles.scores(query)["plus"][places]),
            "names": np.log1p(self._names.scores(query)["plus"][places]),
            "paragraph": _dot_products(entry_vectors, paragraph_vector),
            "meaning": np.maximum(meaning, self._best_by_entry(cosines[rows], entries, -1.0)[places]),
            "author": self._author_matches(index, places),
            "year": self._year_matches(index, places),
            "section": np.log1p(np.bincount(entries[same_section[rows]], minlength=len(self.references))[places]),
            "near": self._best_by_entry(nearness[rows], entries, 0.0)[places],
        }
        return EntryFeatures(
            places, np.stack([features[name] for name in FEATURES], axis=1).astype(np.float64), cosines
        )

    def _best_by_entry(self, values: Floats, entries: Integers, otherwise: float) -> Floats:
        """For every entry, the best of its values."""
        best = np.full(len(self.references), otherwise)
        np.maximum.at(best, entries, values)
        return best

    def _shortlist(self, query: Sequence[str]) -> Integers:
        if len(self.references) <= MAX_ENTRIES:
            return np.arange(len(self.references))
        scores = self._titles.scores(query)["plus"] + self._names.scores(query)["plus"]
        best = np.argsort(-scores, kind="stable")[:_SHORTLIST_SIZE]
        return np.union1d(best[scores[best] > 0], np.unique(self._pair_entries))

    def _author_matches(self, index: int, places: Integers) -> Floats:
        match = author_matcher(self.claims[index])
        return np.array([match(self._families[place]) for place in places.tolist()])

    def _year_matches(self, index: int, places: Integers) -> Floats:
        years = {int(year) for year in _YEAR.findall(self.claims[index])}
        return np.array([float(self.references[place].year in years) for place in places.tolist()])

    def paragraph(self, index: int) -> str:
        """The paragraph of a sentence, without citations."""
        return " ".join(self.texts[sentence_index] for sentence_index in self._paragraphs[self._paragraph_of(index)])

    def _paragraph_of(self, index: int) -> tuple[int, int]:
        sentence = self.document.sentences[index]
        return sentence.section, sentence.paragraph

    @cached_property
    def _paragraphs(self) -> dict[tuple[int, int], list[int]]:
        paragraphs: dict[tuple[int, int], list[int]] = {}
        for index in range(len(self.document.sentences)):
            paragraphs.setdefault(self._paragraph_of(index), []).append(index)
        return paragraphs

    @cached_property
    def _citing_vectors(self) -> Floats:
        return self._encode([self.texts[index] for index in self.citing]) if self.citing else np.empty((0, 0))

    @cached_property
    def _titles(self) -> Bm25Index:
        return _title_index(self.references)

    @cached_property
    def _names(self) -> Bm25Index:
        return _name_index(self.references)


@once_per_bibliography
def _title_index(references: Sequence[Reference]) -> Bm25Index:
    return Bm25Index(terms(_entry_text(entry)) for entry in references)


@once_per_bibliography
def _name_index(references: Sequence[Reference]) -> Bm25Index:
    return Bm25Index([*key_terms(entry.id), *terms(f"{' '.join(entry.authors)} {entry.venue}")] for entry in references)


@once_per_bibliography
def _families(references: Sequence[Reference]) -> list[Sequence[str]]:
    return [family_names(reference.authors) for reference in references]


def key_terms(key: str) -> list[str]:
    """The words of a key: "smith" is one in "smith_2010_deep", "Smith2010Deep" and "DBLP:conf/x/Smith10"."""
    return terms(" ".join(_PARTS.split(key)))


def _entry_text(entry: Reference) -> str:
    return " ".join(part for part in (entry.title or entry.text, entry.abstract) if part)


def _dot_products(rows: Floats, vector: Floats) -> Floats:
    # Not a matrix product: its last digits depend on the number of threads.
    return (rows * vector).sum(axis=1) if len(rows) else np.empty(0)


# Fitted by `python benchmarks/bibliography.py`, which prints them: a conditional logit over the entries of each draft,
# in which each citation of a draft with many counts less.
WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "title": 0.25,
        "names": 0.21,
        "paragraph": 5.73,
        "meaning": 9.3,
        "author": 5.57,
        "year": 2.47,
        "section": 1.34,
        "near": -0.92,
    }
)
DOUBT = 0.5  # cosine that 95 % of the correct first entries reach; a first entry below it is a poor match
_DIGITS = 9  # scores are compared rounded, so that the order does not depend on rounding errors


def entry_scores(entries: EntryFeatures, weights: Mapping[str, float] = WEIGHTS) -> NDArray[np.float64]:
    """The score of each entry."""
    return np.asarray((entries.features * [weights[name] for name in FEATURES]).sum(axis=1))


def entry_order(entries: EntryFeatures, weights: Mapping[str, float] = WEIGHTS) -> NDArray[np.int64]:
    """The rows of entries, best first; ties keep the order of the bibliography."""
    return np.argsort(-entry_scores(entries, weights).round(_DIGITS), kind="stable")
