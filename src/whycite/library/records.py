"""What a library gives: papers, the documents that cite them, and what a search found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = [
    "AddProgress",
    "AddReport",
    "CitedSpan",
    "LibraryDocument",
    "LibraryInfo",
    "Paper",
    "PaperHit",
    "PaperOutline",
    "SourceDocument",
    "SpanCitation",
    "SpanHit",
]


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper that the library knows: all versions of one work, under the key of the best known one."""

    key: str
    title: str
    authors: tuple[str, ...]
    year: int | None
    venue: str
    doi: str
    abstract: str = ""


@dataclass(frozen=True, slots=True)
class PaperOutline:
    """What a choice among many papers needs to know of each."""

    year: int | None
    cosine: float  # of its title, and abstract where known, with a text
    title: str = ""  # where it is asked for


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """The document in which a span stands."""

    key: str
    title: str
    year: int | None


@dataclass(frozen=True, slots=True)
class LibraryDocument:
    """A document of the library."""

    id: int
    key: str
    title: str
    year: int | None
    path: str
    format: str
    added: str  # time in ISO form, UTC
    content_hash: str
    citations: int  # places that cite


@dataclass(frozen=True, slots=True)
class SpanHit:
    """A span that a search found."""

    id: int
    text: str
    cosine: float
    lexical: float  # BM25 of the full text search; 0 where only the vectors found it


@dataclass(frozen=True, slots=True)
class PaperHit:
    """A paper that a search found by its title, and abstract where known."""

    id: int
    cosine: float
    lexical: float


@dataclass(frozen=True, slots=True)
class SpanCitation:
    """A span that cites a paper.

    Kinds entity, piece and sentence are the pairs of ILCiteR's section 5.2; a context is a whole sentence of which
    5.2 makes no pair. Rows of one document with the same place are one act of citing.
    """

    span: int
    paper: int
    document: int
    sentence: int  # the span that is the whole sentence
    kind: str
    section_type: str | None
    place: int


@dataclass(frozen=True, slots=True)
class CitedSpan:
    """What a document says when it cites a paper: the span of section 5.2, and the sentence it stands in."""

    document: int
    sentence: str
    section_type: str | None
    text: str
    paper: int


@dataclass(frozen=True, slots=True)
class LibraryInfo:
    """What a library holds."""

    path: str
    documents: int
    papers: int
    spans: int
    citations: int
    bytes: int
    encoder: str
    version: int
    schema: int
    changed: str  # time of the last change in ISO form, UTC


@dataclass(frozen=True, slots=True)
class AddProgress:
    """How far an add has come."""

    read: int  # new documents whose evidence is found, though they may not be on disk yet
    added: int  # documents that are on disk, those that replace others too
    unchanged: int
    spans: int
    reading: str  # path of the document that is worked on


@dataclass(slots=True)
class AddReport:
    """What an add did."""

    added: int = 0  # new ones
    replaced: int = 0  # new states of documents that were there
    unchanged: int = 0
    skipped: list[tuple[str, str]] = field(default_factory=list)  # path and reason
    warnings: list[tuple[str, str]] = field(default_factory=list)  # path and warning
    without_citations: int = 0  # of the new ones those with text that cites nothing
    spans: int = 0  # new ones
    papers: int = 0
    seconds: float = 0.0
    stages: Mapping[str, float] = field(default_factory=dict)  # seconds by stage
