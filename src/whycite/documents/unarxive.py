"""unarXive records: arXiv papers in JSONL, with placeholders for citations, formulas and floats."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from whycite.documents.builder import Builder, Prose
from whycite.documents.identity import normalise_arxiv, normalise_doi, normalise_pmid
from whycite.documents.jsontext import JsonRecord, JsonString, StringFinder, as_dict, as_list, as_text, read_documents
from whycite.documents.latex.formulas import math_text
from whycite.documents.model import Document, Reference, SentenceKind
from whycite.documents.references.names import parse_people, person
from whycite.documents.references.printed import parse_printed
from whycite.documents.sources import Source
from whycite.text.accents import untex

__all__ = ["READER"]

_HEAD = re.compile(rb'"(?:_source_hash|bib_entry_raw|content_type)"')
_TOKEN = re.compile(
    r"(?P<cites>\{\{cite:[^{}]{1,80}\}\}(?:,?\s?\{\{cite:[^{}]{1,80}\}\})*)"
    r"|\{\{(?P<kind>formula|figure|table):(?P<id>[^{}]{1,80})\}\}"
    r"|(?P<math>\$\$?[^$]{1,2000}\$\$?)|(?P<gap>\n\n)"
)
_CITED = re.compile(r"cite:([^{}]+)")
_LEVELS = {"chapter": 1, "section": 1, "subsection": 2, "subsubsection": 3, "paragraph": 4}
_YEAR = re.compile(r"(?:19|20)\d\d")


class UnarxiveReader:
    """Papers of the unarXive data set."""

    name = "unarxive"
    suffixes = (".jsonl", ".json", ".ndjson")

    def sniff(self, head: bytes) -> bool:
        return _HEAD.search(head) is not None

    def read(self, source: Source) -> Iterator[Document]:
        return read_documents(source, self.name, partial(_document, file=source.path))


READER = UnarxiveReader()


def _document(record: JsonRecord, data: dict[str, Any], builder: Builder, file: str) -> Document:
    entries = as_dict(data.get("bib_entries"))
    body = _UnarxiveBody(builder, file, StringFinder(record), list(entries), as_dict(data.get("ref_entries")))
    abstract = as_dict(data.get("abstract"))
    if abstract:
        builder.section("Abstract")
        body.paragraph(abstract.get("text"), "prose")
    if "body_text" not in data:
        builder.warn(f"{file}:{record.line}: no body text; not an unarXive record")
    body.read(as_list(data.get("body_text")))
    references = [_reference(id, as_dict(entry)) for id, entry in entries.items()]
    return builder.document(_own_reference(data, as_dict(data.get("metadata"))), references)


class _UnarxiveBody:
    """Fills a builder from the paragraphs of a record."""

    def __init__(
        self, builder: Builder, file: str, strings: StringFinder, ids: list[str], entries: dict[str, Any]
    ) -> None:
        self._builder, self._file, self._strings = builder, file, strings
        self._numbers = {id: number for number, id in enumerate(ids, 1)}
        self._entries = entries
        self._floats: list[str] = []
        self._seen_floats: set[str] = set()

    def read(self, paragraphs: list[Any]) -> None:
        """Add every paragraph, each followed by the captions of its floats."""
        section: tuple[str, str] | None = None
        for paragraph in map(as_dict, paragraphs):
            heading, number = as_text(paragraph.get("section")), as_text(paragraph.get("sec_number"))
            if (heading, number) != section:
                section = (heading, number)
                self._builder.section(untex(heading), _LEVELS.get(as_text(paragraph.get("sec_type")), 1))
            is_list = paragraph.get("content_type") == "list"
            self.paragraph(paragraph.get("text"), "prose", is_list)
            self._captions()
        self._floats += [id for id, entry in self._entries.items() if as_dict(entry).get("type") != "formula"]
        self._captions()

    def paragraph(self, text: object, kind: SentenceKind, is_list: bool = False) -> None:
        """Add a text of the record; in a list, blank lines separate the items."""
        if isinstance(text, str) and text:
            self._builder.paragraph(self._prose(self._strings.find(text), is_list), kind)

    def _captions(self) -> None:
        """Add the captions of floats that were anchored but not yet shown."""
        ids, self._floats = dict.fromkeys(self._floats), []
        for id in ids:
            caption = as_dict(self._entries.get(id)).get("caption")
            if id not in self._seen_floats and caption != "NO_CAPTION":
                self.paragraph(caption, "caption")
            self._seen_floats.add(id)

    def _prose(self, string: JsonString, is_list: bool) -> Prose:
        prose, position, text_end = Prose(), 0, len(string.text.rstrip())
        for token in _TOKEN.finditer(string.text):
            prose_end = token.start()
            if token["cites"] and token.end() == text_end:
                # A citation after the last full stop belongs to that sentence.
                prose_end = position + len(string.text[position:prose_end].rstrip())
            string.add(prose, self._file, position, prose_end)
            position = token.end()
            source = string.source(*token.span())
            if token["cites"]:
                keys = tuple(dict.fromkeys(_CITED.findall(token["cites"])))
                numbers = ", ".join(str(self._numbers.get(key, "?")) for key in keys)
                prose.cite(f"[{numbers}]", keys, self._file, *source)
            elif token["gap"]:
                if is_list:
                    prose.break_sentence()
                prose.add(" ", self._file, *source)
            elif token["math"]:
                prose.add(math_text(token["math"].strip("$")), self._file, *source)
            elif token["kind"] == "formula":
                words = self._formula(token["id"])
                prose.add(_pad_formula(words, string.text, *token.span()), self._file, *source)
            else:
                self._floats.append(token["id"])
        string.add(prose, self._file, position, len(string.text))
        return prose

    def _formula(self, id: str) -> str:
        """A formula as words; if unarXive mistook text for a formula, that text."""
        latex = as_text(as_dict(self._entries.get(id)).get("latex"))
        if len(latex.split()) > 2 and not any(sign in latex for sign in "\\_^{}="):
            return latex
        return math_text(latex)


def _pad_formula(words: str, text: str, start: int, end: int) -> str:
    """A formula with spaces where it would run into words: "EQUATION" would, the "k" of "kth" does not."""
    previous_character, next_character = text[max(start - 1, 0) : start], text[end : end + 1]
    needs_space = previous_character == "}" or (len(words) > 2 and previous_character.isalnum())
    return f"{' ' * needs_space}{words}{' ' * (len(words) > 2 and next_character.isalnum())}"


def _own_reference(data: dict[str, Any], metadata: dict[str, Any]) -> Reference:
    names = [[as_text(part) for part in as_list(name)] for name in as_list(metadata.get("authors_parsed"))]
    people = [person(untex(name[0]), untex(" ".join(name[1:]))) for name in names if name]
    versions = [as_text(as_dict(version).get("created")) for version in as_list(metadata.get("versions"))]
    year = _YEAR.search(" ".join([*versions[:1], as_text(metadata.get("update_date"))]))
    arxiv = normalise_arxiv(as_text(data.get("paper_id")) or as_text(metadata.get("id")))
    return Reference(
        id=arxiv,
        title=untex(as_text(metadata.get("title"))),
        authors=tuple(people) or parse_people(as_text(metadata.get("authors"))),
        year=int(year[0]) if year else None,
        venue=as_text(metadata.get("journal-ref")),
        doi=normalise_doi(as_text(metadata.get("doi"))),
        arxiv=arxiv,
        abstract=" ".join(as_text(metadata.get("abstract")).split()),
    )


def _reference(id: str, entry: dict[str, Any]) -> Reference:
    reference = parse_printed(id, as_text(entry.get("bib_entry_raw")))
    ids = as_dict(entry.get("ids"))
    contained = [as_text(as_dict(identifier).get("id")) for identifier in as_list(entry.get("contained_arXiv_ids"))]
    links = [as_text(as_dict(link).get("url")) for link in as_list(entry.get("contained_links"))]
    linked = next((doi for link in links if (doi := normalise_doi(link))), "")
    return replace(
        reference,
        doi=normalise_doi(as_text(ids.get("doi"))) or linked or reference.doi,
        arxiv=normalise_arxiv(as_text(ids.get("arxiv_id")))
        or normalise_arxiv("".join(contained[:1]))
        or reference.arxiv,
        pmid=normalise_pmid(as_text(ids.get("pubmed_id"))) or reference.pmid,
    )
