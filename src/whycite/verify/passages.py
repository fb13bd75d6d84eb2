"""The sentences of a document ranked by how well they back a claim, in four steps (see `features`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from whycite.encoders import Encoder
from whycite.rerank.inputs import passage_text
from whycite.rerank.ranker import Ranker
from whycite.verify import features, numbers
from whycite.verify.lexical import Lexicon
from whycite.verify.numbers import Agreement
from whycite.verify.quantities import Quantity, quantities
from whycite.verify.weights import Weights

__all__ = ["BETWEEN", "ENCODED", "READ", "Prepared", "Ranked", "between", "kind_of"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

ENCODED = 120  # sentences whose meaning is looked at, the best by words
READ = 80  # sentences that the ranker reads, the best by meaning
BETWEEN = 20  # sentences that it reads between those beside them, the best by themselves: three times the text
_BY_RANKER = {"read": READ, "between": BETWEEN}
_AT_ONCE = 512  # sentences encoded at a time, so that memory does not grow with the document


@dataclass(frozen=True, slots=True)
class Ranked:
    """Logits of all sentences, and what was worked out on the way."""

    logits: Floats
    numbers: tuple[Agreement, ...]
    words: Floats  # the table of features by words
    cosines: Floats  # nan where not encoded


class Prepared:
    """A document made ready for claims: the words of its sentences, and the vectors of those that mattered."""

    def __init__(
        self,
        sentences: Sequence[str],
        types: Sequence[str | None],
        encoder: Encoder,
        ranker: Ranker | None,
        weights: Weights,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        self.sentences, self.types = tuple(sentences), tuple(types)
        self.encoder, self.ranker, self.weights = encoder, ranker, weights
        self._progress = progress
        self.kind = kind_of(self.sentences)
        self._vectors: dict[int, NDArray[np.float16]] = {}

    @cached_property
    def _lexicon(self) -> Lexicon:
        return Lexicon(self.sentences)

    @cached_property
    def _quantities(self) -> list[list[Quantity]]:
        return [quantities(sentence) for sentence in self.sentences]

    def ranked(self, claim: str) -> Ranked:
        """All sentences, with the logits of each as backing for the claim."""
        agreements, table = self._words(claim)
        logits = self.weights.logits(self.kind, "words", table)
        chosen = _best(logits, ENCODED)
        cosines = self._cosines(claim, chosen)
        known = np.concatenate([table, features.meaning(cosines)], axis=1)
        logits = _above(logits, chosen, self.weights.logits(self.kind, "meaning", known[chosen]))
        if self.ranker is not None:
            for step in _BY_RANKER:
                if self.weights.steps[self.kind][step]:
                    logits = self._by_ranker(self.ranker, claim, step, logits)
        return Ranked(logits, agreements, table, cosines)

    def table(self, claim: str, step: str) -> tuple[Floats, Integers]:
        """The features of a step, and the sentences it looks at: what weights are fitted to."""
        _, table = self._words(claim)
        if step == "words":
            return table, np.arange(len(table))
        logits = self.weights.logits(self.kind, "words", table)
        chosen = _best(logits, ENCODED)
        known = np.concatenate([table, features.meaning(self._cosines(claim, chosen))], axis=1)
        if step == "meaning" or self.ranker is None:
            return known[chosen], chosen
        logits = _above(logits, chosen, self.weights.logits(self.kind, "meaning", known[chosen]))
        if step == "between":
            logits = self._by_ranker(self.ranker, claim, "read", logits)
        return self._read(self.ranker, claim, step, logits)

    def _words(self, claim: str) -> tuple[tuple[Agreement, ...], Floats]:
        asked = quantities(claim)
        agreements = tuple(numbers.compared(asked, there) if asked else Agreement() for there in self._quantities)
        return agreements, features.words(claim, self.sentences, self.types, agreements, self._lexicon)

    def held(self, claim: str, chosen: Sequence[int]) -> tuple[float, float]:
        """The shares of the claim's words that sentences hold together, and that the document has at all."""
        return self._lexicon.held(claim, chosen), self._lexicon.known(claim)

    def stance(self, claim: str, chosen: Sequence[int]) -> float | None:
        """Whether sentences say what the claim says (above 0) or the contrary, in the mean; None: nobody can tell."""
        if self.ranker is None or self.ranker.name != self.weights.ranker or "stance" not in self.weights.verdicts:
            return None
        return float(self.ranker.score("stance", claim, [self.sentences[at] for at in chosen]).mean())

    def _by_ranker(self, ranker: Ranker, claim: str, step: str, logits: Floats) -> Floats:
        """The logits once the ranker has read the best sentences."""
        table, chosen = self._read(ranker, claim, step, logits)
        return _above(logits, chosen, self.weights.logits(self.kind, step, table))

    def _read(self, ranker: Ranker, claim: str, step: str, logits: Floats) -> tuple[Floats, Integers]:
        chosen = _best(logits, _BY_RANKER[step])
        texts = [between(self.sentences, at) if step == "between" else self.sentences[at] for at in chosen.tolist()]
        scores = np.asarray(ranker.score("passage", claim, texts), np.float64)
        return np.concatenate([logits[chosen, None], features.read(scores)], axis=1), chosen

    def _cosines(self, claim: str, chosen: Integers) -> Floats:
        missing = [at for at in chosen.tolist() if at not in self._vectors]
        for begin in range(0, len(missing), _AT_ONCE):
            some = missing[begin : begin + _AT_ONCE]
            made = self.encoder.encode([self.sentences[at] for at in some], self._progress)
            self._vectors |= zip(some, made.astype(np.float16), strict=True)
        cosines = np.full(len(self.sentences), np.nan)
        if len(chosen):
            vector = self.encoder.encode([claim])[0].astype(np.float32)
            table = np.stack([self._vectors[at] for at in chosen.tolist()]).astype(np.float32)
            # Not a matrix product: its last digits depend on the number of threads.
            cosines[chosen] = (table * vector).sum(axis=1)
        return cosines


def kind_of(sentences: Sequence[str]) -> str:
    """What so many sentences are: an abstract, or a paper."""
    return "abstract" if len(sentences) <= features.ABSTRACT else "paper"


def between(sentences: Sequence[str], at: int) -> str:
    """A sentence with those before and after it, as the ranker reads it."""
    return passage_text(sentences[at], *sentences[max(0, at - 1) : at], *sentences[at + 1 : at + 2])


def _best(logits: Floats, number: int) -> Integers:
    return np.sort(np.argsort(-logits, kind="stable")[:number])


def _above(logits: Floats, chosen: Integers, better: Floats) -> Floats:
    """The better logits of those that were looked at more closely; no other stands above the best of them."""
    found = np.minimum(logits, better.max(initial=-np.inf)) if len(better) else logits.copy()
    found[chosen] = better
    return found
