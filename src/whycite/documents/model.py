"""The one model every reader fills: a document with its sections, sentences, citations and references."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

__all__ = [
    "Citation",
    "Coverage",
    "Document",
    "Marker",
    "Notice",
    "NoticeKind",
    "Publication",
    "Reference",
    "Section",
    "Sentence",
    "SentenceKind",
]


# Where a sentence stands. Of headings, and of tables whose cells are known, only sentences that cite are kept.
SentenceKind = Literal["prose", "caption", "footnote", "table", "heading"]


# What was published about a paper later. A reinstatement takes a retraction back.
NoticeKind = Literal["retraction", "concern", "correction", "reinstatement"]


@dataclass(frozen=True, slots=True)
class Notice:
    """A retraction, an expression of concern, a correction or a reinstatement of a paper."""

    kind: NoticeKind
    doi: str = ""  # of the notice itself
    date: str = ""  # in ISO form, as far as known
    reason: str = ""
    source: str = ""  # who says so, in words: "Retraction Watch"


@dataclass(frozen=True, slots=True)
class Publication:
    """How a work was published: what a full reference has besides authors, year, title, venue and the main ids."""

    type: str = ""  # in CSL's words, such as "article-journal"; of a notice, its kind
    genre: str = ""  # in the source's words: "PhD thesis", "RFC"
    date: str = ""  # in ISO form, if more than the year is known: "2019-06"
    et_al: bool = False  # whether the source names only the first authors: "et al."
    editors: tuple[str, ...] = ()
    volume: str = ""
    issue: str = ""  # of a report, its number
    pages: str = ""  # or the number of the article: "e1003435"
    publisher: str = ""  # of a thesis, the university
    place: str = ""
    edition: str = ""
    series: str = ""
    isbn: str = ""  # of the book that it is a part of
    issn: str = ""
    pmcid: str = ""
    url: str = ""
    accessed: str = ""  # when the address was visited, in ISO form
    note: str = ""


@dataclass(frozen=True, slots=True)
class Reference:
    """An entry of a bibliography; `id` is what the document itself calls it."""

    id: str
    title: str = ""
    authors: tuple[str, ...] = ()  # "Family, Given" if the source separates them
    year: int | None = None
    venue: str = ""
    doi: str = ""
    arxiv: str = ""
    pmid: str = ""
    isbn: str = ""
    abstract: str = ""
    text: str = ""  # the entry as printed, if not all of its parts could be identified
    publication: Publication = Publication()
    notices: tuple[Notice, ...] = ()  # that its source names


@dataclass(frozen=True, slots=True)
class Citation:
    """A place in a sentence that points to references; without keys if the marker could not be linked."""

    keys: tuple[str, ...]
    start: int  # source range, in the sentence's file
    end: int
    text_start: int  # range of the marker in the sentence's text
    text_end: int
    textual: bool = False  # the source says that it is part of the sentence: \citet, @key in Markdown


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with its depth (1 is the top level); `type` is set by structure analysis."""

    heading: str
    level: int
    type: str | None = None


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence cleaned for reading, and the exact source range it came from."""

    text: str
    section: int  # index into the document's sections
    paragraph: int
    file: str
    start: int
    end: int
    citations: tuple[Citation, ...] = ()
    kind: SentenceKind = "prose"
    page: int | None = None  # on which it begins, from 1; only in PDFs
    note_citations: tuple[Citation, ...] = ()  # of its footnotes, each at the footnote's mark in the text

    @property
    def cited_keys(self) -> tuple[str, ...]:
        """The references that the sentence or one of its footnotes cites."""
        return tuple(dict.fromkeys(key for c in (*self.citations, *self.note_citations) for key in c.keys))

    @property
    def cites(self) -> bool:
        """Whether the sentence or one of its footnotes cites something."""
        return bool(self.citations or self.note_citations)

    def with_citations(self, placeholder: str) -> str:
        """The text with every citation marker replaced by `placeholder`."""
        parts, offset = [], 0
        for citation in self.citations:
            parts += [self.text[offset : citation.text_start], placeholder]
            offset = citation.text_end
        return "".join([*parts, self.text[offset:]])

    def without_citations(self) -> str:
        """The text without its citation markers and the brackets and separators around them."""
        text = _SIDE_BY_SIDE.sub(_PLACEHOLDER, self.with_citations(_PLACEHOLDER))
        text = _EMPTY_BRACKET.sub("", text).replace(_PLACEHOLDER, "")
        return _BEFORE_STOP.sub(r"\1", " ".join(text.split()))


_PLACEHOLDER = "\ufffc"
_LINK = r"(?:[\s,;&–—-]|and|e\.g\.|i\.e\.|see|also|cf\.|reviewed|in|by|for)"
_SIDE_BY_SIDE = re.compile(rf"{_PLACEHOLDER}(?:\s?(?:[,;&–-]|and)?\s?{_PLACEHOLDER})+")
# A bracket with nothing but markers and the words that join them. Each repetition consumes one character or one
# fixed word, so matching takes linear time.
_EMPTY_BRACKET = re.compile(rf"\s?[(\[]{_LINK}*{_PLACEHOLDER}(?:{_LINK}|{_PLACEHOLDER})*[)\]]", re.IGNORECASE)
_BEFORE_STOP = re.compile(r" ([.,;:!?)\]])")


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of a document's text was read, and where the rest is."""

    share: float = 1.0  # of the text, estimated where a page shows only an image of it
    gaps: str = ""  # what was not read, in words: "pages 3-5 are scanned"


@dataclass(frozen=True)
class Document:
    """A paper or a draft, read into one model."""

    path: str
    format: str
    paper: Reference  # this document itself: title, authors, year, identifiers
    sections: tuple[Section, ...] = ()
    sentences: tuple[Sentence, ...] = ()
    references: tuple[Reference, ...] = ()
    warnings: tuple[str, ...] = ()
    asides: tuple[Sentence, ...] = ()  # of a published article: captions, notes, tables, digest, back matter
    coverage: Coverage = Coverage()
    amended: tuple[Reference, ...] = ()  # of a notice: the papers it retracts or corrects

    @cached_property
    def by_id(self) -> Mapping[str, Reference]:
        """The references by the id the document uses for them."""
        return {reference.id: reference for reference in self.references}


class Marker(NamedTuple):
    """A citation in a text; without keys if it cites nothing in the reference list."""

    keys: tuple[str, ...]
    start: int
    end: int
