"""S2ORC records, JSON or JSONL: the releases of 2019 to 2021, s2orc-doc2json, CORD-19, and packs like them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from whycite.documents.bibliographies.names import person
from whycite.documents.bibliographies.printed import parse_printed
from whycite.documents.builder import Builder
from whycite.documents.identity import normalise_arxiv, normalise_doi, normalise_pmid
from whycite.documents.jsontext import Passage, Record, Strings, as_dict, as_list, as_text, records
from whycite.documents.latex.mathtext import math_text
from whycite.documents.model import Document, Kind, Reference
from whycite.documents.prose import Prose
from whycite.documents.s2metadata import Metadata
from whycite.documents.sources import Source

__all__ = ["READER"]

_PARSES = ("grobid_parse", "pdf_parse", "latex_parse")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_HEAD = re.compile(rb'"(?:body_text|grobid_parse|pdf_parse|latex_parse)"')
_UNARXIVE = re.compile(rb'"(?:content_type|sec_type)"')


class S2orcReader:
    """Papers as S2ORC and its relatives keep them."""

    name = "s2orc"
    suffixes = (".jsonl", ".json", ".ndjson")

    def sniff(self, head: bytes) -> bool:
        return _HEAD.search(head) is not None and _UNARXIVE.search(head) is None

    def read(self, source: Source) -> Iterator[Document]:
        with Metadata.beside(source) as metadata:
            for record in records(source):
                builder = Builder(record.path, self.name)
                if record.data is None:
                    builder.warn(record.problem)
                    yield builder.document(Reference(record.path))
                else:
                    paper_id = as_text(record.data.get("paper_id"))
                    yield _document(record, record.data, builder, source.path, metadata.row(paper_id))


READER = S2orcReader()


def _document(record: Record, data: dict[str, Any], builder: Builder, file: str, row: dict[str, Any]) -> Document:
    parse = next((found for key in _PARSES if (found := as_dict(data.get(key)))), data)
    body = _Body(builder, file, Strings(record), as_dict(parse.get("ref_entries")))
    if "body_text" not in parse:
        builder.warn(f"{file}:{record.line}: no body text, not an S2ORC record")
    metadata = as_dict(data.get("metadata"))
    abstract = parse.get("abstract") or data.get("abstract") or metadata.get("abstract")
    if abstract:
        builder.section("Abstract")
        body.paragraphs([{"text": abstract}] if isinstance(abstract, str) else abstract, sections=False)
    body.paragraphs(parse.get("body_text"))
    body.paragraphs(parse.get("back_matter"))
    body.captions(body.floats)
    if body.misplaced:
        builder.warn(f"{file}:{record.line}: {body.misplaced} citation spans do not fit their text")
    entries = as_dict(parse.get("bib_entries"))
    references = [_reference(id, as_dict(entry)) for id, entry in entries.items()]
    paper = _own_reference(metadata, data, row)
    if isinstance(abstract, str):
        paper = replace(paper, abstract=abstract)
    return builder.document(paper, references)


class _Body:
    """Fills a builder from lists of paragraphs."""

    def __init__(self, builder: Builder, file: str, strings: Strings, floats: dict[str, Any]) -> None:
        self.floats = floats
        self.misplaced = 0
        self._builder, self._file, self._strings = builder, file, strings
        self._path: list[Any] | None = None

    def paragraphs(self, value: object, sections: bool = True) -> None:
        for paragraph in as_list(value):
            paragraph = as_dict(paragraph)
            text = paragraph.get("text")
            if sections:
                self._go_to(paragraph)
            if isinstance(text, str) and text:
                self._paragraph(self._strings.find(text), paragraph, "prose")

    def captions(self, floats: dict[str, Any]) -> None:
        """The captions of figures and tables, which stand apart from the text."""
        for entry in floats.values():
            text = as_dict(entry).get("text")
            if isinstance(text, str) and text:
                self._paragraph(self._strings.find(text), {}, "caption")

    def _go_to(self, paragraph: dict[str, Any]) -> None:
        """Begin the sections a paragraph stands in, as far as they are new."""
        path = paragraph.get("sec_path")
        if not isinstance(path, list) or not path:
            path = [paragraph.get("section") or ""]
        if path == self._path:
            return
        if len(path) == 1:
            number = as_text(paragraph.get("sec_num") or paragraph.get("sec_number")).strip(".")
            self._builder.section(as_text(path[0]), number.count(".") + 1)
        else:
            known = 0
            while self._path and known < min(len(path) - 1, len(self._path)) and path[known] == self._path[known]:
                known += 1
            for level, heading in enumerate(path[known:], known + 1):
                self._builder.section(as_text(heading), level)
        self._path = path

    def _paragraph(self, passage: Passage, paragraph: dict[str, Any], kind: Kind) -> None:
        prose, at = Prose(), 0
        for start, end, keys, formula in self._spans(paragraph, len(passage.text)):
            passage.add(prose, self._file, at, start)
            source = passage.source(start, end)
            if formula is None:
                prose.cite(passage.text[start:end], keys, self._file, *source)
            else:
                prose.add(formula, self._file, *source)
            at = end
        passage.add(prose, self._file, at, len(passage.text))
        self._builder.paragraph(prose, kind)

    def _spans(self, paragraph: dict[str, Any], length: int) -> Iterator[tuple[int, int, tuple[str, ...], str | None]]:
        """The citations and formulas of a paragraph in order, those at one place together, none overlapping."""
        keyed: dict[tuple[int, int], tuple[str, ...]] = {}
        for span in as_list(paragraph.get("cite_spans")):
            place, key = _place(span), as_dict(span).get("ref_id")
            named = (key,) if isinstance(key, str) and key else ()
            keyed[place] = tuple(dict.fromkeys(keyed[place] + named)) if place in keyed else named
        marked: list[tuple[int, int, tuple[str, ...], str | None]] = [(*at, keyed[at], None) for at in keyed]
        for span in as_list(paragraph.get("eq_spans")):
            marked.append((*_place(span), (), math_text(as_text(as_dict(span).get("latex")))))
        at = 0
        for start, end, keys, formula in sorted(marked, key=_by_place):
            if at <= start < end <= length:
                yield start, end, keys, formula
                at = end
            else:
                self.misplaced += 1


def _by_place(span: tuple[int, int, tuple[str, ...], str | None]) -> tuple[int, int]:
    return span[0], span[1]


def _place(span: object) -> tuple[int, int]:
    start, end = as_dict(span).get("start"), as_dict(span).get("end")
    return (start, end) if isinstance(start, int) and isinstance(end, int) else (-1, -1)


def _own_reference(*sources: dict[str, Any]) -> Reference:
    """What the record says of its paper, each fact from the first place that has it."""

    def first(*names: str) -> Any:
        places = [*sources, *(as_dict(source.get("identifiers")) for source in sources)]
        return next((place[name] for name in names for place in places if place.get(name)), None)

    return Reference(
        id=as_text(first("paper_id")),
        title=" ".join(as_text(first("title")).split()),
        authors=_people(first("authors")),
        year=_year(first("year", "pub_date", "publish_time")),
        venue=as_text(first("journal", "venue")),
        doi=normalise_doi(as_text(first("doi"))),
        arxiv=normalise_arxiv(as_text(first("arxiv_id", "arxiv"))),
        pmid=normalise_pmid(as_text(first("pubmed_id", "pmid"))),
        abstract=as_text(first("abstract")),
    )


def _reference(id: str, entry: dict[str, Any]) -> Reference:
    title = as_text(entry.get("title"))
    if not title:
        raw = as_text(entry.get("raw_text")) or _raw_key(as_text(entry.get("key")))
        if raw:
            return _completed(parse_printed(id, raw), _reference(id, {**entry, "title": " "}))
    others = as_dict(entry.get("other_ids"))
    if others:
        others = {name.lower(): _one(value) for name, value in others.items()}
    doi = entry.get("doi") or others.get("doi")
    arxiv = entry.get("arxiv_id") or others.get("arxiv")
    pmid = entry.get("pmid") or others.get("pmid")
    return Reference(
        id=id,
        title=" ".join(title.split()),
        authors=_people(entry.get("authors")),
        year=_year(entry.get("year")),
        venue=as_text(entry.get("venue")),
        doi=normalise_doi(as_text(doi)) if doi else "",
        arxiv=normalise_arxiv(as_text(arxiv)) if arxiv else "",
        pmid=normalise_pmid(as_text(pmid)) if pmid else "",
    )


def _completed(printed: Reference, known: Reference) -> Reference:
    """What was read off the printed entry, with what the record knows in its place."""
    return replace(
        printed,
        authors=known.authors or printed.authors,
        year=known.year or printed.year,
        venue=known.venue or printed.venue,
        doi=known.doi or printed.doi,
        arxiv=known.arxiv or printed.arxiv,
        pmid=known.pmid or printed.pmid,
    )


def _raw_key(key: str) -> str:
    """The printed entry that stands for an identity where the pack knows no better."""
    return key[2:].rpartition("|")[0] if key.startswith("x:") else ""


def _one(value: object) -> str:
    return as_text(value[0]) if isinstance(value, list) and value else as_text(value)


def _people(value: object) -> tuple[str, ...]:
    return tuple(name for author in as_list(value) if (name := _name(author)))


def _name(author: object) -> str:
    if isinstance(author, str):
        family, _, initials = author.rpartition(" ")
        return f"{family}, {initials}" if family and len(initials) < 6 and initials.isupper() else author
    parts = as_dict(author)
    middle = " ".join(as_text(part) for part in as_list(parts.get("middle")))
    given = f"{as_text(parts.get('first'))} {middle} {as_text(parts.get('suffix'))}"
    return person(as_text(parts.get("last")), given)


def _year(value: object) -> int | None:
    if isinstance(value, int):
        return value if 1500 <= value < 2100 else None
    found = _YEAR.match(as_text(value))
    return int(found[0]) if found else None
