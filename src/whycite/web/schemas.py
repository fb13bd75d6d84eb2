"""What the API takes and gives, typed for OpenAPI; the keys are those of the command line."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

__all__ = [
    "Accepted",
    "CiteAnswer",
    "CiteQuestion",
    "Documents",
    "Entry",
    "Evidence",
    "Health",
    "Info",
    "Paper",
    "ProblemDetails",
    "Recommendation",
    "Removed",
    "Source",
    "Statistics",
]

Claim = Annotated[str, StringConstraints(min_length=1, max_length=20_000)]
Line = Annotated[str, StringConstraints(max_length=2_000)]


class _Taken(BaseModel):
    """What is asked: a name that means nothing here is a mistake."""

    model_config = ConfigDict(extra="forbid")


class ProblemDetails(BaseModel):
    """What went wrong (RFC 9457)."""

    title: str
    status: int
    detail: str


class CiteQuestion(_Taken):
    """A claim, and what is known of the draft around it."""

    text: Claim
    n: Annotated[int, Field(ge=1, le=100)] = 10
    method: Line = "whycite"
    year_max: Annotated[int, Field(ge=0, le=9999)] | None = None
    section: Line | None = None
    title: Line = ""
    cited: Annotated[list[Line], Field(max_length=1_000)] = []
    explain: bool = False


class Paper(BaseModel):
    """A paper that the library knows."""

    key: str
    title: str
    authors: list[str]
    year: int | None
    venue: str
    doi: str


class Source(BaseModel):
    """The document in which a span stands."""

    key: str
    title: str
    year: int | None


class Evidence(BaseModel):
    """A span that cites a paper."""

    span: str
    score: float
    sentence: str
    source: Source


class Recommendation(BaseModel):
    """A paper with the evidence it rests on."""

    rank: int
    score: float
    support: int
    paper: Paper
    evidence: list[Evidence]
    explain: dict[str, float] | None = None
    bibtex: str = ""


class CiteAnswer(BaseModel):
    """What a claim should cite, best first; in doubt: nothing in the library clearly fits."""

    text: str
    doubtful: bool
    recommendations: list[Recommendation]


class Info(BaseModel):
    """What a library holds."""

    path: str
    documents: int
    papers: int
    spans: int
    citations: int
    bytes: int
    encoder: str
    version: int
    schema_: Annotated[int, Field(alias="schema")]
    changed: str


class Entry(BaseModel):
    """A document of the library."""

    id: str  # a number that is too large for JavaScript
    key: str
    title: str
    year: int | None
    path: str
    format: str
    added: str
    citations: int


class Documents(BaseModel):
    """A page of the library's documents."""

    total: int
    documents: list[Entry]


class Accepted(BaseModel):
    """Under which id an upload is followed."""

    id: str


class Removed(BaseModel):
    """The documents that are gone."""

    removed: list[Entry]


class Cited(BaseModel):
    """A paper and how often it is cited."""

    paper: Paper
    support: int


class Statistics(BaseModel):
    """What plots of a library show."""

    years: dict[int, int]  # papers by year
    most_cited: list[Cited]
    support: dict[int, int]  # papers by how often they are cited


class Health(BaseModel):
    """Whether it works, and with which library."""

    status: Literal["ok"]
    version: str
    library: str
    documents: int | None  # None: there is no library yet
