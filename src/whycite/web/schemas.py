"""Requests of the API, and its additions to the results of the command line; OpenAPI describes both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from typing_extensions import TypedDict

from whycite.check.findings import CheckedDraftJson, ProposalJson
from whycite.cite.recommendations import PaperJson, RecommendationJson
from whycite.documents.jsondocument import SectionJson
from whycite.library.records import LibraryDocument
from whycite.verify.heatmap import HeatMapJson
from whycite.web.guard import FieldError
from whycite.web.projects.desk import RunState
from whycite.web.projects.store import FileKind
from whycite.web.projects.verdicts import VerdictRecord

__all__ = [
    "Acceptance",
    "CheckAnswer",
    "CheckedSentence",
    "CiteAnswer",
    "CiteAnswers",
    "CiteQuestion",
    "CiteQuestions",
    "CitedPaper",
    "Collection",
    "CollectionChange",
    "Collections",
    "Dismissal",
    "DocumentEntry",
    "DocumentPage",
    "DocumentSelection",
    "DraftSentence",
    "Health",
    "ProblemDetails",
    "ProjectAnswer",
    "ProjectDraft",
    "ProjectFileEntry",
    "ProjectProgress",
    "ProjectSummaries",
    "ProjectSummary",
    "RemoveAnswer",
    "RemovedCollection",
    "RemovedProject",
    "SentenceComment",
    "SentencePapers",
    "Statistics",
    "UploadAnswer",
    "VerifyAnswer",
]

ClaimText = Annotated[str, StringConstraints(min_length=1, max_length=20_000)]
LineText = Annotated[str, StringConstraints(max_length=2_000)]


class CiteQuestion(BaseModel):
    """A claim, and what is known about the draft it is from."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"text": "Killer whales stun herring with their tails.", "n": 5, "year_max": 2020}]
        },
    )

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

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"questions": [{"text": "Even busy bees sleep at night."}]}]},
    )

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


class Collection(TypedDict):
    """Papers of the library that somebody put together under a name."""

    name: str
    papers: list[str]  # their keys


class Collections(TypedDict):
    """The collections of a library by name."""

    collections: list[Collection]


class CollectionChange(BaseModel):
    """The keys of papers to put into a collection, and to take out of it."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"add": ["doi:10.1242/jeb.203.2.283"], "remove": []}]}
    )

    add: Annotated[list[LineText], Field(max_length=500)] = []
    remove: Annotated[list[LineText], Field(max_length=500)] = []


class RemovedCollection(TypedDict):
    """The name of a collection that was deleted; its papers stay in the library."""

    deleted: str


class DocumentPage(TypedDict):
    """A page of the library's documents."""

    total: int
    documents: list[DocumentEntry]


class DocumentSelection(BaseModel):
    """Documents of the library by id."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"ids": ["-8103417612094873921"]}]})

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


class ProblemDetails(BaseModel):  # every route has it for every status, and a TypedDict is analysed each time
    """What went wrong (RFC 9457): its type stays when the words of title and detail change."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[FieldError]  # the fields of the request that are wrong; empty if none is


class ProjectSummary(TypedDict):
    """A project in the list of all."""

    id: str
    name: str
    created: str
    state: RunState
    papers: int


class ProjectSummaries(TypedDict):
    """The projects, newest first."""

    projects: list[ProjectSummary]


class ProjectFileEntry(TypedDict):
    """A file of a project."""

    id: str
    kind: FileKind
    name: str
    size: int
    title: str  # of the paper in it, once it was read; empty if it has none, or several
    problem: str  # why a paper has no text; empty if it has, or was not read yet


class ProjectAnswer(ProjectSummary):
    """A project with its files."""

    files: list[ProjectFileEntry]


class RemovedProject(TypedDict):
    """The id of a project that was deleted."""

    deleted: str


class DraftSentence(TypedDict):
    """A sentence of the draft, and what is known of it before its citations are verified."""

    id: str  # stays the same in a new version of the draft that has the same sentence
    index: int
    text: str
    section: int
    paragraph: int
    kind: str
    cites: bool
    needs: bool  # a citation
    claim: str  # the part that needs a citation
    problems: list[str]  # with what it cites: that a paper was retracted, say


class ProjectDraft(TypedDict):
    """The draft of a project as it was read; `judged` says whether its sentences were."""

    title: str
    judged: bool
    warnings: list[str]
    sections: list[SectionJson]
    sentences: list[DraftSentence]


class SentencePapers(TypedDict):
    """The papers that a sentence could cite, best first, with the evidence for each."""

    claim: str
    papers: list[ProposalJson]
    in_library: list[str]  # keys of these papers, and of those that cite them, which have a page at /papers/KEY


class CitedPaper(HeatMapJson):
    """The paper that a verdict rests on, every sentence with its score, and where its file can be had."""

    citation: str
    title: str
    format: str  # "pdf" can be shown as it looks
    original: str  # the address of the file; empty if it cannot be had
    threshold: float


class Dismissal(TypedDict):
    """Why somebody set a verdict aside."""

    reason: str


class SentenceComment(TypedDict):
    """What somebody wrote about a sentence of the draft."""

    text: str


class Acceptance(TypedDict):
    """The verdict, or the sentence that needs a citation, that somebody agreed with."""

    accepted: str


class ProjectProgress(TypedDict):
    """How far a project is, and the verdicts that came since `seen`."""

    state: RunState
    detail: str  # why it stopped or failed
    stage: str
    completed: int
    total: int | None
    token: str  # to send next time, together with `seen`
    seen: int
    draft: Literal["unread", "read", "judged"]
    draft_hash: str  # changes with the draft
    verdicts: list[VerdictRecord]
    dismissals: dict[str, Dismissal]  # by id of the verdict, or of the sentence that needs a citation
    acceptances: list[str]  # ids of the same kind
    comments: dict[str, SentenceComment]  # by id of the sentence
