"""What each feature counts in the default method."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, astuple, dataclass, fields
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from whycite.encoders import Encoder
from whycite.errors import UserError

__all__ = ["EVIDENCE", "FILE", "PAPER", "SHARES", "Fitted", "Weights", "stored_with"]

FILE = "weights.json"  # in the folder of the encoder whose cosines they are for


@dataclass(frozen=True, slots=True)
class Weights:
    """A weight for each feature of a piece of evidence, then one for each feature of a paper.

    Fitted by softmax cross-entropy over the candidate papers of 4,000 claims from two subjects of eLife (Developmental
    Biology, Immunology and Inflammation), the library being older articles of the same subject; `cocited` and `cited`
    afterwards, with what earlier sentences of the article cite. These were fitted to granite-embedding-30m-english, and
    serve encoders with which no weights lie (`stored_with`).
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
    title_lexical: float = 0.0

    # The paper, whatever speaks for it.
    about: float = 16.6
    support: float = 0.25
    age: float = -0.18
    cocited: float = 0.9
    cited: float = 3.1
    ranker: float = 0.0  # what the ranker says of claim and paper

    @property
    def evidence(self) -> NDArray[np.float64]:
        """The weights of the columns of a piece of evidence."""
        return _columns(self)[0]

    @property
    def paper(self) -> NDArray[np.float64]:
        """The weights of the columns of a paper."""
        return _columns(self)[1]


@dataclass(frozen=True, slots=True)
class Fitted:
    """Weights, and the score of the best paper below which it is doubtful that any paper fits the claim."""

    weights: Weights
    doubt: float | None = None  # None: that is not known

    def write(self, folder: Path) -> None:
        """Keep them with the encoder in a folder."""
        held = {"doubt": self.doubt, "weights": asdict(self.weights)}
        (folder / FILE).write_text(json.dumps(held, indent=2) + "\n", encoding="utf-8")


def stored_with(encoder: Encoder) -> Fitted:
    """The weights that lie in an encoder's folder, else those above."""
    folder: Path | None = getattr(encoder, "folder", None)
    path = (folder or Path()) / FILE
    if folder is None or not path.is_file():
        return Fitted(Weights())
    try:
        held = json.loads(path.read_text("utf-8"))
        doubt = None if held["doubt"] is None else float(held["doubt"])
        return Fitted(Weights(**{name: float(value) for name, value in held["weights"].items()}), doubt)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(f"{path} holds no weights ({error}): make them with 'whycite train weights'") from error


@lru_cache(maxsize=4)
def _columns(weights: Weights) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Kept, since every score asks for them."""
    evidence, paper = np.split(np.array(astuple(weights)), [len(EVIDENCE)])
    evidence.flags.writeable = paper.flags.writeable = False
    return evidence, paper


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
        "title_lexical": "title",
        "about": "title",
        "support": "support",
        "age": "recency",
        "same_section": "context",
        "same_topic": "context",
        "cocited": "context",
        "cited": "context",
        "ranker": "ranker",
    }
)
