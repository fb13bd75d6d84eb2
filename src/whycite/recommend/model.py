"""What goes into a recommendation and what comes out of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from whycite.documents.identity import normalise_title
from whycite.errors import UserError
from whycite.recommend.notebook import as_html

if TYPE_CHECKING:
    from whycite.library import Outline, Paper, Source

__all__ = ["Claim", "Evidence", "Method", "Recommendation", "allowed", "check_number", "same_title"]


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence or phrase that wants backing; what is known of the draft around it helps, and may be left out."""

    text: str
    title: str = ""  # of the draft; a paper with this title is not recommended, and what it says is no evidence
    section_type: str | None = None
    paragraph: str = ""
    cited: tuple[str, ...] = ()  # keys of the papers that the draft cites already
    year: int | None = None  # no newer paper is recommended

    def __post_init__(self) -> None:
        if not any(map(str.isalnum, self.text)):
            raise UserError("the claim holds no word: give a sentence or a phrase to find papers for")


@dataclass(frozen=True, slots=True)
class Evidence:
    """A span that cites the paper, the sentence it stands in and the document that says so."""

    span: str
    score: float  # 0 to 1, the higher the better it fits the claim
    sentence: str
    source: Source


@dataclass(frozen=True, slots=True)
class Recommendation:
    """A paper for a claim; without evidence it is its title alone that fits."""

    rank: int
    score: float  # the higher the better; comparable within one answer only
    support: int  # places that cite the paper
    paper: Paper
    evidence: tuple[Evidence, ...]  # best first
    shares: Mapping[str, float]  # what makes up the score; they sum to it

    def _repr_html_(self) -> str:
        return as_html([self])


class Method(Protocol):
    """Recommends papers for a claim."""

    @property
    def name(self) -> str: ...

    def recommend(self, claim: Claim, n: int = 10) -> list[Recommendation]: ...


def check_number(n: int) -> None:
    """Refuse to give fewer than one recommendation."""
    if n < 1:
        raise UserError(f"the number of recommendations must be 1 or more, not {n}")


def allowed(paper: Paper | Outline, claim: Claim) -> bool:
    """Whether a paper may be recommended: not newer than the claim may cite, and not the draft itself."""
    if claim.year is not None and paper.year is not None and paper.year > claim.year:
        return False
    return not same_title(paper.title, claim.title)


def same_title(one: str, other: str) -> bool:
    """Whether two titles are the same; none is like nothing."""
    return bool(one and other) and normalise_title(one) == _normalised(other)


@lru_cache(maxsize=16)
def _normalised(title: str) -> str:
    """Kept, since the title of a draft is compared with those of hundreds of papers."""
    return normalise_title(title)
