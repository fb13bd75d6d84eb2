"""What each feature counts in the default method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass, fields
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

__all__ = ["EVIDENCE", "PAPER", "SHARES", "Weights"]


@dataclass(frozen=True, slots=True)
class Weights:
    """A weight for each feature of a piece of evidence, then one for each feature of a paper.

    Fitted by softmax cross-entropy over the candidate papers of 4,000 claims from two subjects of eLife (Developmental
    Biology, Immunology and Inflammation), the library being older articles of the same subject; `cocited` and `cited`
    afterwards, with what earlier sentences of the article cite. `same_section` and `same_topic` are set by hand: the
    first was not measured, the second made no difference.
    """

    # A span that is a whole sentence.
    sentence_cosine: float = 20.3
    sentence_coverage: float = 2.0
    # A span that is an entity or a piece of a sentence.
    part: float = 5.5
    part_cosine: float = 12.7
    part_coverage: float = 1.8
    part_equal: float = -4.0  # to the claim: a name is equal to itself wherever it stands, whatever paper is cited
    # Any span.
    lexical: float = 0.051
    crowd: float = -0.2
    same_section: float = 0.1
    same_topic: float = 0.2
    # The paper's own title (and abstract), where it is among the nearest.
    title: float = -2.3
    title_cosine: float = 24.2
    title_coverage: float = 1.5

    # The paper, whatever speaks for it.
    about: float = 16.6
    support: float = 0.25
    age: float = -0.18
    cocited: float = 0.9
    cited: float = 3.1

    @property
    def evidence(self) -> NDArray[np.float64]:
        """The weights of the columns of a piece of evidence."""
        return np.array(astuple(self)[: len(EVIDENCE)])

    @property
    def paper(self) -> NDArray[np.float64]:
        """The weights of the columns of a paper."""
        return np.array(astuple(self)[len(EVIDENCE) :])


_NAMES = tuple(field.name for field in fields(Weights))
_FIRST_OF_PAPER = _NAMES.index("about")
EVIDENCE, PAPER = _NAMES[:_FIRST_OF_PAPER], _NAMES[_FIRST_OF_PAPER:]

# The part of a score that each feature is shown under.
SHARES: Mapping[str, str] = MappingProxyType(
    {
        "sentence_cosine": "spans by meaning",
        "part_cosine": "spans by meaning",
        "sentence_coverage": "spans by words",
        "part_coverage": "spans by words",
        "lexical": "spans by words",
        "part": "kind of span",
        "part_equal": "kind of span",
        "crowd": "kind of span",
        "title": "title",
        "title_cosine": "title",
        "title_coverage": "title",
        "about": "title",
        "support": "support",
        "age": "recency",
        "same_section": "context",
        "same_topic": "context",
        "cocited": "context",
        "cited": "context",
    }
)
