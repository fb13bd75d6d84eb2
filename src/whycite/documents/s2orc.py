"""S2ORC records in JSON or JSONL, of every release and its relatives, with separate metadata files if there are any."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from types import TracebackType
from typing import Any, BinaryIO

from whycite.documents.builder import Builder, Prose
from whycite.documents.identity import normalise_arxiv, normalise_doi, normalise_pmid
from whycite.documents.jsontext import (
    MAX_RECORD,
    JsonRecord,
    JsonString,
    StringFinder,
    as_dict,
    as_list,
    as_text,
    read_documents,
)
from whycite.documents.latex.formulas import math_text
from whycite.documents.model import Document, Publication, Reference, SentenceKind
from whycite.documents.references.names import person
from whycite.documents.references.printed import parse_printed
from whycite.documents.references.reader import normalise_pages
from whycite.documents.sources import Source, unwrap

__all__ = ["READER", "S2orcMetadata"]


_PARSES = ("grobid_parse", "pdf_parse", "latex_parse")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_HEAD = re.compile(rb'"(?:body_text|grobid_parse|pdf_parse|latex_parse)"')
_UNARXIVE = re.compile(rb'"(?:content_type|sec_type)"')


class S2orcReader:
    """Papers in the formats of S2ORC and its relatives."""

    name = "s2orc"
    suffixes = (".jsonl", ".json", ".ndjson")

    def sniff(self, head: bytes) -> bool:
        return _HEAD.search(head) is not None and _UNARXIVE.search(head) is None

    def read(self, source: Source) -> Iterator[Document]:
        with S2orcMetadata.for_source(source) as metadata:

            def read_record(record: JsonRecord, data: dict[str, Any], builder: Builder) -> Document:
                return _document(record, data, builder, source.path, metadata.row(as_text(data.get("paper_id"))))

            yield from read_documents(source, self.name, read_record)


READER = S2orcReader()


def _document(record: JsonRecord, data: dict[str, Any], builder: Builder, file: str, row: dict[str, Any]) -> Document:
    parse = next((candidate for key in _PARSES if (candidate := as_dict(data.get(key)))), data)
    body = _S2orcBody(builder, file, StringFinder(record), as_dict(parse.get("ref_entries")))
    if "body_text" not in parse:
        builder.warn(f"{file}:{record.line}: no body text; not an S2ORC record")
    metadata = as_dict(data.get("metadata"))
    abstract = parse.get("abstract") or data.get("abstract") or metadata.get("abstract")
    if abstract:
        builder.section("Abstract")
        body.paragraphs([{"text": abstract}] if isinstance(abstract, str) else abstract, sections=False)
    body.paragraphs(parse.get("body_text"))
    body.paragraphs(parse.get("back_matter"))
    body.captions(body.floats)
    if body.misplaced:
        spans = "citation span does" if body.misplaced == 1 else "citation spans do"
        builder.warn(f"{file}:{record.line}: {body.misplaced} {spans} not match the text; skipped")
    entries = as_dict(parse.get("bib_entries"))
    references = [read_reference(id, as_dict(entry)) for id, entry in entries.items()]
    paper = _own_reference(metadata, data, row)
    if isinstance(abstract, str):
        paper = replace(paper, abstract=abstract)
    return builder.document(paper, references)


class _S2orcBody:
    """Fills a builder from lists of paragraphs."""

    def __init__(self, builder: Builder, file: str, strings: StringFinder, floats: dict[str, Any]) -> None:
        self.floats = floats
        self.misplaced = 0
        self._builder, self._file, self._strings = builder, file, strings
        self._path: list[Any] | None = None

    def paragraphs(self, value: object, sections: bool = True) -> None:
        for paragraph in as_list(value):
            paragraph = as_dict(paragraph)
            text = paragraph.get("text")
            if sections:
                self._enter_section(paragraph)
            if isinstance(text, str) and text:
                self._paragraph(self._strings.find(text), paragraph, "prose")

    def captions(self, floats: dict[str, Any]) -> None:
        """Add the captions of figures and tables, which are separate from the text."""
        for entry in floats.values():
            text = as_dict(entry).get("text")
            if isinstance(text, str) and text:
                self._paragraph(self._strings.find(text), {}, "caption")

    def _enter_section(self, paragraph: dict[str, Any]) -> None:
        """Begin the sections of a paragraph that are new."""
        path = paragraph.get("sec_path")
        if not isinstance(path, list) or not path:
            path = [paragraph.get("section") or ""]
        if path == self._path:
            return
        if len(path) == 1:
            number = as_text(paragraph.get("sec_num") or paragraph.get("sec_number")).strip(".")
            self._builder.section(as_text(path[0]), number.count(".") + 1)
        else:
            shared_depth = 0
            while (
                self._path
                and shared_depth < min(len(path) - 1, len(self._path))
                and path[shared_depth] == self._path[shared_depth]
            ):
                shared_depth += 1
            for level, heading in enumerate(path[shared_depth:], shared_depth + 1):
                self._builder.section(as_text(heading), level)
        self._path = path

    def _paragraph(self, string: JsonString, paragraph: dict[str, Any], kind: SentenceKind) -> None:
        prose, position = Prose(), 0
        for start, end, keys, formula in self._spans(paragraph, len(string.text)):
            string.add(prose, self._file, position, start)
            source = string.source(start, end)
            if formula is None:
                prose.cite(string.text[start:end], keys, self._file, *source)
            else:
                prose.add(formula, self._file, *source)
            position = end
        string.add(prose, self._file, position, len(string.text))
        self._builder.paragraph(prose, kind)

    def _spans(self, paragraph: dict[str, Any], length: int) -> Iterator[tuple[int, int, tuple[str, ...], str | None]]:
        """The citations and formulas of a paragraph in order, those at one place merged, without overlaps."""
        keyed: dict[tuple[int, int], tuple[str, ...]] = {}
        for span in as_list(paragraph.get("cite_spans")):
            place, key = _place(span), as_dict(span).get("ref_id")
            span_keys = (key,) if isinstance(key, str) and key else ()
            keyed[place] = tuple(dict.fromkeys(keyed[place] + span_keys)) if place in keyed else span_keys
        marked: list[tuple[int, int, tuple[str, ...], str | None]] = [(*place, keyed[place], None) for place in keyed]
        for span in as_list(paragraph.get("eq_spans")):
            marked.append((*_place(span), (), math_text(as_text(as_dict(span).get("latex")))))
        position = 0
        for start, end, keys, formula in sorted(marked, key=_by_place):
            if position <= start < end <= length:
                yield start, end, keys, formula
                position = end
            else:
                self.misplaced += 1


def _by_place(span: tuple[int, int, tuple[str, ...], str | None]) -> tuple[int, int]:
    return span[0], span[1]


def _place(span: object) -> tuple[int, int]:
    start, end = as_dict(span).get("start"), as_dict(span).get("end")
    return (start, end) if isinstance(start, int) and isinstance(end, int) else (-1, -1)


def _own_reference(*sources: dict[str, Any]) -> Reference:
    """The paper itself, each field from the first source that has it."""

    def lookup(*names: str) -> Any:
        places = [*sources, *(as_dict(source.get("identifiers")) for source in sources)]
        return next((place[name] for name in names for place in places if place.get(name)), None)

    return Reference(
        id=as_text(lookup("paper_id")),
        title=" ".join(as_text(lookup("title")).split()),
        authors=_people(lookup("authors")),
        year=_year(lookup("year", "pub_date", "publish_time")),
        venue=as_text(lookup("journal", "venue")),
        doi=normalise_doi(as_text(lookup("doi"))),
        arxiv=normalise_arxiv(as_text(lookup("arxiv_id", "arxiv"))),
        pmid=normalise_pmid(as_text(lookup("pubmed_id", "pmid"))),
        abstract=as_text(lookup("abstract")),
    )


def read_reference(id: str, entry: dict[str, Any]) -> Reference:
    title = as_text(entry.get("title"))
    if not title:
        raw = as_text(entry.get("raw_text")) or _raw_key(as_text(entry.get("key")))
        if raw:
            return _complete(parse_printed(id, raw), read_reference(id, {**entry, "title": " "}))
    other_ids = as_dict(entry.get("other_ids"))
    if other_ids:
        other_ids = {name.lower(): _single_text(value) for name, value in other_ids.items()}
    doi = entry.get("doi") or other_ids.get("doi")
    arxiv = entry.get("arxiv_id") or other_ids.get("arxiv")
    pmid = entry.get("pmid") or other_ids.get("pmid")
    return Reference(
        id=id,
        title=" ".join(title.split()),
        authors=_people(entry.get("authors")),
        year=_year(entry.get("year")),
        venue=as_text(entry.get("venue")),
        doi=normalise_doi(as_text(doi)) if doi else "",
        arxiv=normalise_arxiv(as_text(arxiv)) if arxiv else "",
        pmid=normalise_pmid(as_text(pmid)) if pmid else "",
        publication=Publication(
            volume=as_text(entry.get("volume")),
            issue=as_text(entry.get("issue")),
            pages=normalise_pages(as_text(entry.get("pages"))),
        ),
    )


def _complete(printed: Reference, structured: Reference) -> Reference:
    """The parsed printed entry, with the fields of the record where it has them."""
    return replace(
        printed,
        authors=structured.authors or printed.authors,
        year=structured.year or printed.year,
        venue=structured.venue or printed.venue,
        doi=structured.doi or printed.doi,
        arxiv=structured.arxiv or printed.arxiv,
        pmid=structured.pmid or printed.pmid,
        publication=structured.publication,
    )


def _raw_key(key: str) -> str:
    """The printed entry that serves as a key if the data set has no better one."""
    return key[2:].rpartition("|")[0] if key.startswith("x:") else ""


def _single_text(value: object) -> str:
    return as_text(value[0]) if isinstance(value, list) and value else as_text(value)


def _people(value: object) -> tuple[str, ...]:
    return tuple(name for author in as_list(value) if (name := _name(author)))


def _name(author: object) -> str:
    if isinstance(author, str):
        family, _, initials = author.rpartition(" ")
        return f"{family}, {initials}" if family and len(initials) < 6 and initials.isupper() else author
    parts = as_dict(author)
    middle = " ".join(as_text(part) for part in as_list(parts.get("middle")))
    given_names = f"{as_text(parts.get('first'))} {middle} {as_text(parts.get('suffix'))}"
    return person(as_text(parts.get("last")), given_names)


def _year(value: object) -> int | None:
    if isinstance(value, int):
        return value if 1500 <= value < 2100 else None
    match = _YEAR.match(as_text(value))
    return int(match[0]) if match else None


MAX_AHEAD = 64 << 20  # bytes of rows kept for papers still to come; the two files are in the same order


class S2orcMetadata(AbstractContextManager["S2orcMetadata"]):
    """Rows by paper id, from a stream that is read no further than needed."""

    def __init__(self, stream: BinaryIO | None) -> None:
        self._stream = stream
        self._ahead: dict[str, bytes] = {}
        self._size = 0

    @classmethod
    def for_source(cls, source: Source) -> S2orcMetadata:
        """The metadata file for a file of full texts, if there is one."""
        folder, _, name = source.name.rpartition("/")
        if not name.startswith("pdf_parses"):
            return cls(None)
        name = name.replace("pdf_parses", "metadata", 1)
        up, _, folder_name = folder.rpartition("/")
        folders = [folder] + ([f"{up}/metadata".lstrip("/")] if folder_name == "pdf_parses" else [])
        plain = name.removesuffix(".gz")
        for place in folders:
            for file_name in (plain, f"{plain}.gz"):
                metadata_source = source.sibling(f"{place}/{file_name}".lstrip("/"))
                if metadata_source is not None:
                    return cls(unwrap(metadata_source).open())
        return cls(None)

    def row(self, paper_id: str) -> dict[str, Any]:
        """The row of a paper; empty if the file has none that can still be reached."""
        while paper_id not in self._ahead and self._read_row():
            pass
        line = self._ahead.pop(paper_id, b"")
        self._size -= len(line)
        return _parse(line)

    def _read_row(self) -> bool:
        line = self._stream.readline(MAX_RECORD) if self._stream is not None else b""
        if not line:
            return False
        row = _parse(line)
        key = as_text(row.get("paper_id"))
        if key and row.get("has_pdf_parse", True):
            self._size += len(line) - len(self._ahead.get(key, b""))
            self._ahead[key] = line
            while self._size > MAX_AHEAD:
                self._size -= len(self._ahead.pop(next(iter(self._ahead))))
        return True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._stream is not None:
            self._stream.close()


def _parse(line: bytes) -> dict[str, Any]:
    try:
        row = json.loads(line) if line else {}
    except (ValueError, RecursionError):  # a damaged row says nothing about any paper
        row = {}
    return row if isinstance(row, dict) else {}
