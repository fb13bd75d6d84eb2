"""What the API takes and gives, typed for OpenAPI; the keys are those of the command line."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

__all__ = [
    "CheckAnswer",
    "CiteAnswer",
    "CiteQuestion",
    "DocumentPage",
    "Health",
    "InfoSchema",
    "ProblemDetails",
    "ReadAnswer",
    "RemoveAnswer",
    "StatisticsSchema",
    "UploadAnswer",
    "VerifyAnswer",
]

ClaimText = Annotated[str, StringConstraints(min_length=1, max_length=20_000)]
LineText = Annotated[str, StringConstraints(max_length=2_000)]


class _StrictQuestion(BaseModel):
    """What is asked: a name that means nothing here is a mistake."""

    model_config = ConfigDict(extra="forbid")


class ProblemDetails(BaseModel):
    """What went wrong (RFC 9457)."""

    title: str
    status: int
    detail: str


class CiteQuestion(_StrictQuestion):
    """A claim, and what is known of the draft around it."""

    text: ClaimText
    n: Annotated[int, Field(ge=1, le=100)] = 10
    method: LineText = "whycite"
    year_max: Annotated[int, Field(ge=0, le=9999)] | None = None
    section: LineText | None = None
    title: LineText = ""
    cited: Annotated[list[LineText], Field(max_length=1_000)] = []
    explain: bool = False


class PaperSchema(BaseModel):
    """A paper that the library knows."""

    key: str
    title: str
    authors: list[str]
    year: int | None
    venue: str
    doi: str


class SourceSchema(BaseModel):
    """The document in which a span stands."""

    key: str
    title: str
    year: int | None


class EvidenceSchema(BaseModel):
    """A span that cites a paper."""

    span: str
    score: float
    sentence: str
    source: SourceSchema


class RecommendationSchema(BaseModel):
    """A paper with the evidence it rests on."""

    rank: int
    score: float
    support: int
    paper: PaperSchema
    evidence: list[EvidenceSchema]
    explain: dict[str, float] | None = None
    bibtex: str = ""


class ProposalSchema(RecommendationSchema):
    """A paper that a sentence could cite, under a key, which the draft's bibliography knows or not."""

    cite_key: str
    known: bool


class SectionSchema(BaseModel):
    """A section of a document."""

    heading: str
    type: str | None
    level: int


class FindingSchema(BaseModel):
    """What is to be said of a sentence of a draft."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    section: str
    section_type: str | None
    text: str
    worthiness: float
    threshold: float
    cites: list[str]
    kind: Literal["needs-citation", "cited", "ok"]
    doubtful: bool
    recommendations: list[ProposalSchema]


class CheckedSentence(BaseModel):
    """A sentence in reading order, and the number of the finding that is about it."""

    index: int
    text: str
    section: int
    paragraph: int
    kind: str
    start: int
    finding: int | None


class CheckAnswer(BaseModel):
    """What a check found, and so many of the draft's sentences."""

    path: str
    format: str
    title: str
    findings: list[FindingSchema]
    warnings: list[str]
    total: int  # sentences of the draft
    threshold: float
    unwritable: str  # why no citation can be put into it; empty where some can
    sections: list[SectionSchema]
    sentences: list[CheckedSentence]


class PassageSchema(BaseModel):
    """A sentence of the cited paper, by how well it backs the claim."""

    rank: int
    index: int
    score: float
    text: str
    section: str
    quotes: bool = False
    numbers: str = ""


class ScoredSentence(BaseModel):
    """A sentence of the cited paper in reading order; without score where it was not compared."""

    index: int
    text: str
    section: int
    paragraph: int
    kind: str
    score: float | None
    rank: int | None


class CitedPaperSchema(BaseModel):
    """The cited paper."""

    path: str
    title: str
    year: int | None


class VerifySteps(BaseModel):
    """What was done on the way: text, sentences, the claim's words as they are compared, sentences compared."""

    characters: int
    sentences: int
    normalised: list[str]
    compared: int


class VerifyAnswer(BaseModel):
    """The verdict on a claim, the best passages, and all of the cited paper."""

    path: str
    title: str
    claim: str
    verdict: Literal["backed", "contradicted", "not found", "could not check"]
    confidence: float
    chances: dict[str, float]
    reason: str
    passages: list[PassageSchema]
    warnings: list[str]  # of the cited paper
    document: CitedPaperSchema
    sections: list[SectionSchema]
    sentences: list[ScoredSentence]
    threshold: float
    steps: VerifySteps


class ReadCitation(BaseModel):
    """A citation in a sentence."""

    keys: list[str]
    start: int
    end: int


class ReadSentence(BaseModel):
    """A sentence with its place and citations; as a claim it is without them."""

    text: str
    section: str
    section_type: str | None
    paragraph: int
    file: str
    start: int
    end: int
    citations: list[ReadCitation]
    claim: str


class ReadReference(BaseModel):
    """An entry of a document's bibliography."""

    id: str
    key: str
    title: str
    authors: list[str]
    year: int | None
    venue: str
    doi: str


class ReadAnswer(BaseModel):
    """What the reader sees of a document."""

    path: str
    format: str
    title: str
    year: int | None
    sections: list[SectionSchema]
    sentences: list[ReadSentence]
    references: list[ReadReference]
    warnings: list[str]


class CiteAnswer(BaseModel):
    """What a claim should cite, best first; in doubt: nothing in the library clearly fits."""

    text: str
    doubtful: bool
    recommendations: list[RecommendationSchema]


class InfoSchema(BaseModel):
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


class DocumentSchema(BaseModel):
    """A document of the library."""

    id: str  # a number that is too large for JavaScript
    key: str
    title: str
    year: int | None
    path: str
    format: str
    added: str
    content_hash: str
    citations: int


class DocumentPage(BaseModel):
    """A page of the library's documents."""

    total: int
    documents: list[DocumentSchema]


class UploadAnswer(BaseModel):
    """Under which id an upload is followed."""

    id: str


class RemoveAnswer(BaseModel):
    """The documents that are gone."""

    removed: list[DocumentSchema]


class PaperSupportSchema(BaseModel):
    """A paper and how often it is cited."""

    paper: PaperSchema
    support: int


class StatisticsSchema(BaseModel):
    """What plots of a library show."""

    years: dict[int, int]  # papers by year
    most_cited: list[PaperSupportSchema]
    support: dict[int, int]  # papers by how often they are cited


class Health(BaseModel):
    """Whether it works, and with which library."""

    status: Literal["ok"]
    version: str
    library: str
    documents: int | None  # None: there is no library yet
