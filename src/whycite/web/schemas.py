"""Requests of the API, and its additions to the results of the command line; OpenAPI describes both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from typing_extensions import TypedDict

from whycite.check.findings import CheckedDraftJson
from whycite.cite.recommendations import PaperJson, RecommendationJson
from whycite.documents.jsondocument import SectionJson
from whycite.library.records import LibraryDocument
from whycite.verify.heatmap import HeatMapJson

__all__ = [
    "CheckAnswer",
    "CheckedSentence",
    "CiteAnswer",
    "CiteAnswers",
    "CiteQuestion",
    "CiteQuestions",
    "DocumentEntry",
    "DocumentPage",
    "DocumentSelection",
    "Health",
    "ProblemDetails",
    "RemoveAnswer",
    "Statistics",
    "UploadAnswer",
    "VerifyAnswer",
]

ClaimText = Annotated[str, StringConstraints(min_length=1, max_length=20_000)]
LineText = Annotated[str, StringConstraints(max_length=2_000)]


class CiteQuestion(BaseModel):
    """A claim, and what is known about the draft it is from."""

    model_config = ConfigDict(extra="forbid")

    text: ClaimText
    n: Annotated[int, Field(ge=1, le=100)] = 10
    method: LineText = "whycite"
    year_max: Annotated[int, Field(ge=0, le=9999)] | None = None
    section: LineText | None = None
    title: LineText = ""
    cited: Annotated[list[LineText], Field(max_length=1_000)] = []
    explain: bool = False
    include_retracted: bool = False


class CiteAnswer(TypedDict):
    """The papers to cite for a claim, best first, and the chance that one fits; doubtful if it is low."""

    text: str
    fits: float | None
    doubtful: bool
    recommendations: list[RecommendationJson]


class CiteQuestions(BaseModel):
    """Several claims to be answered at once."""

    model_config = ConfigDict(extra="forbid")

    questions: Annotated[list[CiteQuestion], Field(min_length=1, max_length=100)]


class CiteAnswers(TypedDict):
    """The answers to several claims, in their order."""

    answers: list[CiteAnswer]


class CheckedSentence(TypedDict):
    """A sentence in reading order, and the index of its finding."""

    index: int
    text: str
    section: int
    paragraph: int
    kind: str
    start: int
    finding: int | None


class CheckAnswer(CheckedDraftJson):
    """The findings of a draft, and a page of its sentences."""

    total: int  # sentences of the draft
    threshold: float
    unwritable: str  # why no citation can be inserted; empty if some can
    sections: list[SectionJson]
    sentences: list[CheckedSentence]


class VerifySteps(TypedDict):
    """How the verdict came about: text and sentences read, the words of the claim, sentences compared."""

    characters: int
    sentences: int
    normalised: list[str]
    compared: int


class VerifyAnswer(HeatMapJson):
    """The verdict on a claim, the best passages, and the whole cited paper."""

    path: str
    title: str
    format: str
    retracted: str  # that the cited paper was retracted or corrected; empty if it stands
    warnings: list[str]  # about the cited paper
    threshold: float
    steps: VerifySteps


@dataclass(frozen=True, slots=True)
class DocumentEntry(LibraryDocument):
    """A document in the library."""

    id: str  # type: ignore[assignment]  # the number is too large for JavaScript


class DocumentPage(TypedDict):
    """A page of the library's documents."""

    total: int
    documents: list[DocumentEntry]


class DocumentSelection(BaseModel):
    """Documents of the library by id."""

    model_config = ConfigDict(extra="forbid")

    ids: Annotated[
        list[Annotated[str, StringConstraints(pattern=r"^-?[0-9]{1,20}$")]], Field(min_length=1, max_length=500)
    ]


class RemoveAnswer(TypedDict):
    """The documents that were removed."""

    removed: list[DocumentEntry]


class UploadAnswer(TypedDict):
    """The id to follow an upload by."""

    id: str


class PaperSupport(TypedDict):
    """A paper and how often it is cited."""

    paper: PaperJson
    support: int


class Statistics(TypedDict):
    """Figures about a library."""

    years: dict[int, int]  # papers by year
    most_cited: list[PaperSupport]
    support: dict[int, int]  # papers by how often they are cited


class Health(TypedDict):
    """The version, and the library in use."""

    status: Literal["ok"]
    version: str
    library: str
    documents: int | None  # None if there is no library yet


class ProblemDetails(TypedDict):
    """What went wrong (RFC 9457)."""

    title: str
    status: int
    detail: str
