"""What is known of each sentence of a document as backing for a claim, as columns of numbers.

Four steps, each dearer than the one before: the words of all sentences, the meaning of those that may matter, what the
ranker reads in the best of these, and what it reads in the best of all between the sentences before and after.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from whycite.verify.lexical import Lexicon
from whycite.verify.numbers import Agreement

__all__ = ["ABSTRACT", "BETWEEN", "MEANING", "READ", "WORDS", "beside", "meaning", "read", "words"]

Floats = NDArray[np.float64]

WORDS = (
    "bm25",
    "coverage",
    "bm25_gap",  # below the best sentence of the document
    "bm25_beside",  # of the better of the two sentences beside it
    "stated",  # quantities of the claim that it states
    "otherwise",  # and those that it states otherwise
    "length",
    "short",
    # Of whole papers, where the abstract and the introduction say what is cited most.
    "place",  # from the first sentence to the last, 0 to 1
    "first",  # among the first sentences
    "early",
    # Of an abstract alone, whose end says what was found.
    "end",
    "own",  # says what this paper does
    "cites",
    "abstract",
    "introduction",
    "method",
    "result",
    "conclusion",
    "aside",  # acknowledgements, declarations, appendices
)
MEANING = ("cosine", "cosine_beside", "cosine_gap")
READ = ("ranker", "ranker_gap")
BETWEEN = ("between", "between_gap")

_SECTIONS = {
    "abstract": "abstract",
    "introduction": "introduction",
    "related work": "introduction",
    "method": "method",
    "experiment": "result",
    "result": "result",
    "discussion": "conclusion",
    "conclusion": "conclusion",
    "acknowledgement": "aside",
    "declaration": "aside",
    "appendix": "aside",
}
_OWN = re.compile(r"\b(?:we|our|this (?:paper|work|study|article|thesis)|here)\b", re.IGNORECASE)
_CITES = re.compile(
    r"[(\[][^()\[\]]{0,120}\b(?:1[89]|20)\d\d[a-z]?[)\]]|\[\d{1,3}(?:[-–,; ]{1,3}\d{1,3}){0,20}\]|\bet al\b"
)
_SHORT = 4  # words that say something
_FIRST, _EARLY = 5, 30  # sentences
ABSTRACT = 30  # sentences that an abstract has at most


def words(
    claim: str,
    sentences: Sequence[str],
    types: Sequence[str | None],
    numbers: Sequence[Agreement],
    lexicon: Lexicon,
) -> Floats:
    """The columns `WORDS`, a row for each sentence."""
    count = len(sentences)
    table = np.zeros((count, len(WORDS)))
    bm25 = lexicon.bm25(claim)
    places = np.arange(count)
    whole = float(count > ABSTRACT)
    columns: dict[str, NDArray[np.floating] | list[bool] | list[int]] = {
        "bm25": bm25,
        "coverage": lexicon.coverage(claim),
        "bm25_gap": bm25 - bm25.max(initial=0.0),
        "bm25_beside": beside(bm25),
        "stated": [min(each.stated, 3) for each in numbers],
        "otherwise": [min(each.otherwise, 3) for each in numbers],
        "length": np.log1p(lexicon.lengths),
        "short": [length < _SHORT for length in lexicon.lengths.tolist()],
        "place": whole * places / max(count - 1, 1),
        "first": whole * np.exp(-places / _FIRST),
        "early": whole * np.exp(-places / _EARLY),
        "end": (1 - whole) * places / max(count - 1, 1),
        "own": [_OWN.search(sentence) is not None for sentence in sentences],
        "cites": [_CITES.search(sentence) is not None for sentence in sentences],
    }
    for name, column in columns.items():
        table[:, WORDS.index(name)] = column
    for at, type in enumerate(types):
        if type in _SECTIONS:
            table[at, WORDS.index(_SECTIONS[type])] = 1
    return table


def meaning(cosines: Floats) -> Floats:
    """The columns `MEANING` of sentences by their cosines with the claim; nan where a sentence was not encoded."""
    own = np.where(np.isnan(cosines), 0.0, cosines)
    near = beside(np.where(np.isnan(cosines), -1.0, cosines))
    near = np.where(near <= -1, own, near)
    return np.stack([own, near, own - own.max(initial=0.0)], axis=1)


def read(scores: Floats) -> Floats:
    """The columns `READ` or `BETWEEN` of sentences by what the ranker says of each."""
    return np.stack([scores, scores - scores.max(initial=-np.inf)], axis=1)


def beside(values: Floats) -> Floats:
    """The greater of the values before and after each one; 0 where there are none."""
    padded = np.concatenate([[-np.inf], values, [-np.inf]])
    near = np.maximum(padded[:-2], padded[2:])
    return np.where(np.isinf(near), 0.0, near)
