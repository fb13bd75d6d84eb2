"""A document as JSON: as `whycite read` prints it, and complete, for passing it between processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from whycite.documents.identity import paper_key
from whycite.documents.model import Citation, Coverage, Document, Notice, Publication, Reference, Section, Sentence

__all__ = [
    "DocumentJson",
    "SectionJson",
    "document_json",
    "from_plain",
    "load_publication",
    "publication_fields",
    "section_json",
    "to_plain",
]


_PUBLICATION_LISTS = ("editors",)
_PUBLICATION_FIELDS = tuple(field.name for field in fields(Publication))


class SectionJson(TypedDict):
    """A section of a document."""

    heading: str
    type: str | None
    level: int


class CitationJson(TypedDict):
    """A citation in a sentence, with the document's own keys."""

    keys: list[str]
    start: int
    end: int
    textual: NotRequired[Literal[True]]  # the source says that it is part of the sentence: \citet, @key in Markdown


class SentenceJson(TypedDict):
    """A sentence, where it is, and its citations."""

    text: str
    section: str
    section_type: str | None
    paragraph: int
    file: str
    start: int
    end: int
    citations: list[CitationJson]
    note_citations: NotRequired[list[CitationJson]]  # in its footnotes
    page: NotRequired[int]  # only in PDFs
    claim: NotRequired[str]  # the text without its citations


class ReferenceJson(TypedDict):
    """An entry in a document's bibliography."""

    id: str
    key: str
    title: str
    authors: list[str]
    year: int | None
    venue: str
    doi: str
    arxiv: NotRequired[str]
    pmid: NotRequired[str]
    isbn: NotRequired[str]
    publication: NotRequired[dict[str, Any]]  # what is known of type, volume, issue, pages, publisher and so on


class DocumentJson(TypedDict):
    """A document as whycite reads it."""

    path: str
    format: str
    title: str
    year: int | None
    sections: list[SectionJson]
    sentences: list[SentenceJson]
    references: list[ReferenceJson]
    warnings: list[str]


def document_json(document: Document, claims: bool = False) -> DocumentJson:
    """A document as `whycite read` prints it; `claims` adds the text of each sentence without its citations."""
    return {
        "path": document.path,
        "format": document.format,
        "title": document.paper.title,
        "year": document.paper.year,
        "sections": [section_json(section) for section in document.sections],
        "sentences": [_sentence_json(sentence, document, claims) for sentence in document.sentences],
        "references": [_reference_json(reference) for reference in document.references],
        "warnings": list(document.warnings),
    }


def section_json(section: Section) -> SectionJson:
    """A section as JSON."""
    return {"heading": section.heading, "type": section.type, "level": section.level}


def _sentence_json(sentence: Sentence, document: Document, claims: bool) -> SentenceJson:
    section = document.sections[sentence.section]
    result: SentenceJson = {
        "text": sentence.text,
        "section": section.heading,
        "section_type": section.type,
        "paragraph": sentence.paragraph,
        "file": sentence.file,
        "start": sentence.start,
        "end": sentence.end,
        "citations": [_citation_json(citation) for citation in sentence.citations],
    }
    if sentence.note_citations:
        result["note_citations"] = [_citation_json(citation) for citation in sentence.note_citations]
    if sentence.page is not None:
        result["page"] = sentence.page
    if claims:
        result["claim"] = sentence.without_citations()
    return result


def _citation_json(citation: Citation) -> CitationJson:
    result: CitationJson = {"keys": list(citation.keys), "start": citation.start, "end": citation.end}
    if citation.textual:
        result["textual"] = True
    return result


def _reference_json(reference: Reference) -> ReferenceJson:
    result: ReferenceJson = {
        "id": reference.id,
        "key": paper_key(reference),
        "title": reference.title,
        "authors": list(reference.authors),
        "year": reference.year,
        "venue": reference.venue,
        "doi": reference.doi,
    }
    if reference.arxiv:
        result["arxiv"] = reference.arxiv
    if reference.pmid:
        result["pmid"] = reference.pmid
    if reference.isbn:
        result["isbn"] = reference.isbn
    if publication := publication_fields(reference.publication):
        result["publication"] = publication
    return result


def publication_fields(publication: Publication) -> dict[str, Any]:
    """The fields that are known, with lists for tuples."""
    values = {name: getattr(publication, name) for name in _PUBLICATION_FIELDS}
    return {name: list(value) if name in _PUBLICATION_LISTS else value for name, value in values.items() if value}


def load_publication(plain: Mapping[str, Any]) -> Publication:
    """The publication from `publication_fields`; fields of later versions of whycite are ignored."""
    values = {name: value for name, value in plain.items() if name in _PUBLICATION_FIELDS}
    return Publication(**values | {name: tuple(values[name]) for name in _PUBLICATION_LISTS if name in values})


def to_plain(document: Document) -> dict[str, Any]:
    """The complete document in plain types."""
    return asdict(document)


def from_plain(plain: Mapping[str, Any]) -> Document:
    """The document from the output of `to_plain`."""
    return Document(
        path=plain["path"],
        format=plain["format"],
        paper=_load_reference(plain["paper"]),
        sections=tuple(Section(**section) for section in plain["sections"]),
        sentences=tuple(map(_load_sentence, plain["sentences"])),
        references=tuple(map(_load_reference, plain["references"])),
        warnings=tuple(plain["warnings"]),
        asides=tuple(map(_load_sentence, plain["asides"])),
        coverage=Coverage(**plain["coverage"]),
        amended=tuple(map(_load_reference, plain["amended"])),
    )


def _load_reference(plain: Mapping[str, Any]) -> Reference:
    return Reference(
        **{
            **plain,
            "authors": tuple(plain["authors"]),
            "publication": load_publication(plain["publication"]),
            "notices": tuple(Notice(**notice) for notice in plain["notices"]),
        }
    )


def _load_sentence(plain: Mapping[str, Any]) -> Sentence:
    return Sentence(
        **{
            **plain,
            "citations": _load_citations(plain["citations"]),
            "note_citations": _load_citations(plain["note_citations"]),
        }
    )


def _load_citations(plain: Sequence[Mapping[str, Any]]) -> tuple[Citation, ...]:
    return tuple(Citation(**{**citation, "keys": tuple(citation["keys"])}) for citation in plain)
