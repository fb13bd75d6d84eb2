"""What a library returns: papers, documents, search hits, and reports on changes; and the ids of its rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b

from whycite.documents.model import Notice, Publication
from whycite.documents.references.notices import PaperStatus

__all__ = [
    "AddProgress",
    "AddReport",
    "CitedSpan",
    "Commit",
    "LibraryDocument",
    "LibraryInfo",
    "Paper",
    "PaperHit",
    "PaperOutline",
    "PassageHit",
    "SourceDocument",
    "SpanCitation",
    "SpanHit",
    "identifier",
]


def identifier(text: str) -> int:
    """The id of a row: a hash of the content that identifies it."""
    digest = blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1  # 63 bits, since int64 is signed


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper of the library: all versions of one work, under the key of the best identified one."""

    key: str
    title: str
    authors: tuple[str, ...]
    year: int | None
    venue: str
    doi: str
    abstract: str = ""
    arxiv: str = ""
    pmid: str = ""
    isbn: str = ""
    publication: Publication = field(default_factory=Publication)
    status: PaperStatus = ""  # whether it was retracted or corrected, or is a notice about another paper
    notices: tuple[Notice, ...] = ()
    citation_key: str = ""  # by which the user cites it, if a reference manager says so
    address: str = ""  # in that reference manager


@dataclass(frozen=True, slots=True)
class PaperOutline:
    """What is needed to choose among many papers."""

    year: int | None
    cosine: float  # of its title and, if known, abstract with a text
    # If requested:
    title: str = ""
    status: PaperStatus = ""
    authors: tuple[str, ...] = ()
    abstract: str = ""


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """The document that contains a span."""

    key: str
    title: str
    year: int | None
    status: PaperStatus = ""  # whether it was retracted, say

    @property
    def facts(self) -> str:
        """The year, and what speaks against taking it as evidence: "2013, retracted"."""
        return ", ".join(filter(None, (str(self.year or ""), _DOUBTS.get(self.status, ""))))


_DOUBTS = {"retracted": "retracted", "concern": "expression of concern"}


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
    citations: int  # places in the text that cite
    status: PaperStatus = ""  # whether the paper was retracted or corrected, or is a notice


@dataclass(frozen=True, slots=True)
class SpanHit:
    """A span that a search found."""

    id: int
    text: str
    cosine: float
    lexical: float  # BM25; 0 if found by its vector only


@dataclass(frozen=True, slots=True)
class PaperHit:
    """A paper that a search found by its title and, if known, abstract."""

    id: int
    cosine: float
    lexical: float


@dataclass(frozen=True, slots=True)
class PassageHit:
    """A paragraph in which a document of the library says something in its own words, found by words."""

    paper: int
    sentences: tuple[str, ...]  # those that cite nothing
    section: str
    page: int | None
    lexical: float  # BM25


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
    """What a document says when it cites a paper: the span of ILCiteR's section 5.2 and its sentence."""

    document: int
    sentence: str
    section_type: str | None
    text: str
    paper: int


@dataclass(frozen=True, slots=True)
class Commit:
    """A state of the whole library."""

    number: int
    schema: int
    encoder: str
    dimensions: int
    time: str
    versions: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class LibraryInfo:
    """Size, encoder and last change of a library."""

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
    """Progress of an add."""

    read: int  # new documents read, which may not be on disk yet
    added: int  # documents on disk, including those that replace others
    unchanged: int
    spans: int
    reading: str  # path of the current document


@dataclass(slots=True)
class AddReport:
    """What an add did."""

    added: int = 0  # new documents
    replaced: int = 0  # changed documents that replace an older version
    unchanged: int = 0
    skipped: list[tuple[str, str]] = field(default_factory=list)  # path and reason
    warnings: list[tuple[str, str]] = field(default_factory=list)  # path and warning
    without_citations: int = 0  # new documents whose text cites nothing
    spans: int = 0  # new spans
    papers: int = 0  # in the whole library
    seconds: float = 0.0
    stages: Mapping[str, float] = field(default_factory=dict)  # seconds by stage
