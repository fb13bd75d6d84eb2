"""Rank the sentences of a document by how well they back a claim, in four steps (see `features`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from whycite.models import Encoder
from whycite.models.rankers import Ranker, passage_text
from whycite.verify import features, numbers
from whycite.verify.features import PassageWeights
from whycite.verify.lexical import SentenceLexicon
from whycite.verify.numbers import Agreement
from whycite.verify.quantities import Quantity, quantities

__all__ = [
    "MAX_ENCODED",
    "MAX_READ",
    "MAX_READ_IN_CONTEXT",
    "PreparedDocument",
    "RankedSentences",
    "kind_of",
    "sentence_in_context",
]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# How many sentences each step looks at, the best of the step before. They bound the time a document takes: reading 40
# in context instead of 20 takes 0.2 s more and adds .001 of pairwise accuracy (benchmarks/RESULTS.md).
MAX_ENCODED = 120
MAX_READ = 80
MAX_READ_IN_CONTEXT = 20
_BY_RANKER = {"read": MAX_READ, "between": MAX_READ_IN_CONTEXT}
_ENCODED_AT_ONCE = 512  # sentences; memory does not grow with the document


@dataclass(frozen=True, slots=True)
class RankedSentences:
    """The logits of all sentences, and the features that the verdict uses again."""

    logits: Floats
    numbers: tuple[Agreement, ...]
    words: Floats  # a row of WORD_COLUMNS per sentence
    cosines: Floats  # nan for sentences that were not encoded


class PreparedDocument:
    """A document ready for claims: the words of its sentences, and the vectors of those encoded so far."""

    def __init__(
        self,
        sentences: Sequence[str],
        types: Sequence[str | None],
        encoder: Encoder,
        ranker: Ranker | None,
        weights: PassageWeights,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        self.sentences, self.types = tuple(sentences), tuple(types)
        self.encoder, self.ranker, self.weights = encoder, ranker, weights
        self._progress = progress
        self.kind = kind_of(self.sentences)
        self._vectors: dict[int, NDArray[np.float16]] = {}

    @cached_property
    def _lexicon(self) -> SentenceLexicon:
        return SentenceLexicon(self.sentences)

    @cached_property
    def _quantities(self) -> list[list[Quantity]]:
        return [quantities(sentence) for sentence in self.sentences]

    def rank(self, claim: str) -> RankedSentences:
        """Rank all sentences as backing for the claim."""
        agreements, table = self._words(claim)
        logits = self.weights.logits(self.kind, "words", table)
        chosen = _best(logits, MAX_ENCODED)
        cosines = self._cosines(claim, chosen)
        columns = np.concatenate([table, features.meaning_features(cosines)], axis=1)
        logits = _replace_logits(logits, chosen, self.weights.logits(self.kind, "meaning", columns[chosen]))
        if self.ranker is not None:
            for step in _BY_RANKER:
                if self.weights.steps[self.kind][step]:
                    logits = self._by_ranker(self.ranker, claim, step, logits)
        return RankedSentences(logits, agreements, table, cosines)

    def table(self, claim: str, step: str) -> tuple[Floats, Integers]:
        """The features of a step and the sentences it looks at, to fit weights to."""
        _, table = self._words(claim)
        if step == "words":
            return table, np.arange(len(table))
        logits = self.weights.logits(self.kind, "words", table)
        chosen = _best(logits, MAX_ENCODED)
        columns = np.concatenate([table, features.meaning_features(self._cosines(claim, chosen))], axis=1)
        if step == "meaning" or self.ranker is None:
            return columns[chosen], chosen
        logits = _replace_logits(logits, chosen, self.weights.logits(self.kind, "meaning", columns[chosen]))
        if step == "between":
            logits = self._by_ranker(self.ranker, claim, "read", logits)
        return self._read(self.ranker, claim, step, logits)

    def _words(self, claim: str) -> tuple[tuple[Agreement, ...], Floats]:
        claim_quantities = quantities(claim)
        agreements = tuple(
            numbers.compare_quantities(claim_quantities, sentence_quantities) if claim_quantities else Agreement()
            for sentence_quantities in self._quantities
        )
        return agreements, features.word_features(claim, self.sentences, self.types, agreements, self._lexicon)

    def word_shares(self, claim: str, chosen: Sequence[int]) -> tuple[float, float]:
        """The shares of the claim's words in the chosen sentences together, and in the document."""
        return self._lexicon.joint_share(claim, chosen), self._lexicon.known_share(claim)

    def stance(self, claim: str, chosen: Sequence[int]) -> float | None:
        """The mean stance of sentences: above 0 they agree with the claim, below they oppose it; None if unknown."""
        if self.ranker is None or self.ranker.name != self.weights.ranker or "stance" not in self.weights.verdicts:
            return None
        return float(self.ranker.score("stance", claim, [self.sentences[index] for index in chosen]).mean())

    def _by_ranker(self, ranker: Ranker, claim: str, step: str, logits: Floats) -> Floats:
        """The logits once the ranker has read the best sentences."""
        table, chosen = self._read(ranker, claim, step, logits)
        return _replace_logits(logits, chosen, self.weights.logits(self.kind, step, table))

    def _read(self, ranker: Ranker, claim: str, step: str, logits: Floats) -> tuple[Floats, Integers]:
        chosen = _best(logits, _BY_RANKER[step])
        texts = [
            sentence_in_context(self.sentences, index) if step == "between" else self.sentences[index]
            for index in chosen.tolist()
        ]
        scores = np.asarray(ranker.score("passage", claim, texts), np.float64)
        return np.concatenate([logits[chosen, None], features.ranker_features(scores)], axis=1), chosen

    def _cosines(self, claim: str, chosen: Integers) -> Floats:
        missing = [index for index in chosen.tolist() if index not in self._vectors]
        for begin in range(0, len(missing), _ENCODED_AT_ONCE):
            batch = missing[begin : begin + _ENCODED_AT_ONCE]
            vectors = self.encoder.encode([self.sentences[index] for index in batch], self._progress)
            self._vectors |= zip(batch, vectors.astype(np.float16), strict=True)
        cosines = np.full(len(self.sentences), np.nan)
        if len(chosen):
            vector = self.encoder.encode([claim])[0].astype(np.float32)
            table = np.stack([self._vectors[index] for index in chosen.tolist()]).astype(np.float32)
            # Not a matrix product: its last digits depend on the number of threads.
            cosines[chosen] = (table * vector).sum(axis=1)
        return cosines


def kind_of(sentences: Sequence[str]) -> str:
    """Whether sentences are an abstract or a paper, by their number."""
    return "abstract" if len(sentences) <= features.ABSTRACT else "paper"


def sentence_in_context(sentences: Sequence[str], index: int) -> str:
    """A sentence with its neighbours, as the ranker reads it."""
    return passage_text(sentences[index], *sentences[max(0, index - 1) : index], *sentences[index + 1 : index + 2])


def _best(logits: Floats, number: int) -> Integers:
    return np.sort(np.argsort(-logits, kind="stable")[:number])


def _replace_logits(logits: Floats, chosen: Integers, better: Floats) -> Floats:
    """The new logits for the chosen sentences; no other sentence ranks above the best of them."""
    combined = np.minimum(logits, better.max(initial=-np.inf)) if len(better) else logits.copy()
    combined[chosen] = better
    return combined
