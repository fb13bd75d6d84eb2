"""Pairs of texts that say the same, from which stances are altered by rule."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from whycite.documents import Document
from whycite.evaluation.passages.model import Case
from whycite.text.sentences import split
from whycite.text.tokens import terms
from whycite.training.lists import TEMPERATURE, RankList
from whycite.training.stance import nearest

__all__ = ["backed", "restated", "same_spans"]

_COSINE = 0.7  # of two citing sentences that say the same
_WORDS = 8  # of either: names alone say nothing that could be denied
_OVERLAP = 0.4  # of an abstract's sentence and one of the body
_METHODS = "method"


def same_spans(lists: Iterable[RankList]) -> Iterator[tuple[str, str]]:
    """Of lists of spans the claim and the nearest text that cites the same paper, if they are long and near enough."""
    for each in lists:
        if each.kind != "span" or not each.right or not each.scores:
            continue
        best = max(sorted(each.right), key=lambda at: each.scores[at])
        text = each.texts[best]
        long = min(len(each.claim.split()), len(text.split())) >= _WORDS
        if long and each.scores[best] * TEMPERATURE > _COSINE and text != each.claim:
            yield each.claim, text


def backed(cases: Iterable[Case]) -> Iterator[tuple[str, str]]:
    """Claims with each gold sentence and with all together; without gold, with the sentence of most common words."""
    for case in cases:
        if case.label == "backed" and case.sentences:
            gold = [case.sentences[at] for at in sorted(case.gold)] or [nearest(case.claim, case.sentences)]
            for text in dict.fromkeys([*gold, " ".join(gold)]):
                yield case.claim, text


def restated(documents: Iterable[Document]) -> Iterator[tuple[str, str]]:
    """Sentences of abstracts, each with the most similar one of the same document's body, methods apart."""
    for document in documents:
        abstract = document.paper.abstract or ""
        said = [abstract[start:end] for start, end in split(abstract)]
        body = [
            sentence.without_citations()
            for sentence in document.sentences
            if document.sections[sentence.section].type != _METHODS and sentence.text not in abstract
        ]
        yield from _restated(said, body)


def _restated(said: Sequence[str], body: Sequence[str]) -> Iterator[tuple[str, str]]:
    words = [frozenset(terms(text)) for text in body]
    found = Counter(word for some in words for word in some)

    def size(some: Iterable[str]) -> float:
        """The rarer words are, the more they weigh."""
        return sum(math.log((len(body) + 1) / (found[word] + 1)) for word in some)

    sizes = [size(some) for some in words]
    for text in said:
        asked = frozenset(terms(text))
        own = size(asked)
        likeness = [
            size(asked & some) / math.sqrt(own * other) if own * other > 0 else 0.0
            for some, other in zip(words, sizes, strict=True)
        ]
        best = max(range(len(body)), key=likeness.__getitem__, default=-1)
        if best >= 0 and likeness[best] >= _OVERLAP and body[best] != text and len(text.split()) >= _WORDS:
            yield text, body[best]
