"""Bibliographies as LaTeX prints them: `.bbl` files of BibTeX and biber, `thebibliography` environments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from whycite.documents.bibliographies.biber import is_biber, read_biber
from whycite.documents.bibliographies.bibtex import reference_of
from whycite.documents.bibliographies.bibtex_entries import Entry
from whycite.documents.bibliographies.printed import BLOCK, EMPHASIS, parse_printed
from whycite.documents.bibliographies.reader import JOURNALS, BibliographyReader, year_of
from whycite.documents.bibliographies.texgroups import group_at, matching_braces, skip_space
from whycite.documents.identity import normalise_arxiv, normalise_doi, normalise_pmid
from whycite.documents.model import Reference
from whycite.text.accents import untex

__all__ = ["READER", "parse"]

_LONGEST = 100_000  # no entry is longer
_MOST_WARNINGS = 100

_COMMENT = re.compile(r"(?:^|(?<=\s))%[^\n]*+\n?|(?<!\\)%[ \t]*+\n[ \t]*+", re.MULTILINE)
_ITEM = re.compile(r"\\(bibitem|harvarditem)(?![A-Za-z])")
_END = re.compile(r"\\end\s*\{(?:thebibliography|references|chapthebibliography|biblist)\}|\\endthebibliography")
_COMMAND = re.compile(r"\\([A-Za-z]++)\s*+")
_EMPHASISED = re.compile(r"\\(?:emph|textit|textsl|mkbibemph)\s*+(?=\{)")
_EMPHASIS_GROUP = re.compile(r"\{\s*+\\(?:emph|em|it|sl|itshape|slshape)(?![A-Za-z])")
_NEWBLOCK = re.compile(r"\\newblock(?![A-Za-z])")
# Commands of apacite that hold a field in their first argument.
_APACITE = {
    "APACrefYearMonthDay": "year", "APACrefYear": "year", "APACrefatitle": "title", "APACrefbtitle": "title",
    "APACjournalVolNumPages": "journal",
}  # fmt: skip
# Commands whose first arguments are not printed.
_NOT_PRINTED = {
    "bibinfo": 1, "bibfield": 1, "abntrefinfo": 3, "bibitemdeclare": 2, "Eprint": 1, "urlalt": 1, "bibAnnoteFile": 2,
    "APACinsertmetastar": 1, "BibitemShut": 1, "APACrefatitle": 1, "APACrefbtitle": 1, "PrintBackRefs": 1,
}  # fmt: skip
_PENALTY = re.compile(r"\\penalty\s?-?\d++\s?")
_FIELDS = {"author", "editor", "title", "year", "journal", "booktitle", "publisher", "school", "eprint", "pmid", "isbn"}


def parse(text: str, file: str) -> tuple[list[Reference], list[str]]:
    """The references of a `.bbl` file or of the inside of a `thebibliography` environment."""
    text = _COMMENT.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    found = read_biber(text) if is_biber(text) else _bibitems(text)
    references: dict[str, Reference] = {}
    warnings: list[str] = []
    for reference in found:
        if not reference.id:
            warnings.append(f"{file}: entry without a key left out")
        elif reference.id in references:
            warnings.append(f"{file}: key '{reference.id}' stands twice; the first entry is used")
        else:
            references[reference.id] = reference
    return list(references.values()), list(dict.fromkeys(warnings))[:_MOST_WARNINGS]


def _bibitems(text: str) -> Iterator[Reference]:
    marks = [*_ITEM.finditer(text)]
    seen: set[str] = set()
    authors: tuple[str, ...] = ()
    for at, mark in enumerate(marks):
        end = marks[at + 1].start() if at + 1 < len(marks) else len(text)
        end = min(end, mark.end() + _LONGEST)
        if over := _END.search(text, mark.end(), end):
            end = over.start()
        item = _item(text[mark.end() : end], mark[1] == "harvarditem")
        reference = Reference(id=item.key)
        if item.key and item.key not in seen:
            seen.add(item.key)
            reference = _reference(item)
            if not reference.authors and reference.text.startswith("—"):
                reference = replace(reference, authors=authors)
            authors = reference.authors
        yield reference


@dataclass(frozen=True, slots=True)
class _Item:
    """An entry taken apart: its key, the year its label gives, what is printed and the braces in that."""

    key: str
    year: int | None
    body: str
    closing: dict[int, int]


def _item(text: str, harvard: bool) -> _Item:
    """One entry: `[label]{key}` and what is printed, or for Harvard `[short]{label}{year}{key}`."""
    closing = matching_braces(text)
    label, at = _label(text, closing)
    groups: list[str] = []
    for _ in range(3 if harvard else 1):
        group, at = group_at(text, at, closing)
        groups.append(group)
    inside = {start - at: end - at for start, end in closing.items() if start >= at}
    return _Item(" ".join(groups[-1].split()), year_of(groups[1] if harvard else label), text[at:], inside)


def _reference(item: _Item) -> Reference:
    fields = _tagged(item.body, item.closing) | _identifiers(item.body)
    if item.year is not None:
        fields.setdefault("year", str(item.year))
    printed = parse_printed(item.key, untex(_marked(item.body, item.closing)))
    return _merge(reference_of(Entry("misc", item.key, fields, 0), fields), printed)


def _merge(known: Reference, printed: Reference) -> Reference:
    """What is tagged, and where it is not, what could be told from print."""
    return Reference(
        id=known.id,
        title=known.title or printed.title,
        authors=known.authors or printed.authors,
        year=known.year or printed.year,
        venue=known.venue or printed.venue,
        doi=known.doi or printed.doi,
        arxiv=known.arxiv or printed.arxiv,
        pmid=known.pmid or printed.pmid,
        isbn=known.isbn,
        text=printed.text,
    )


def _label(text: str, closing: dict[int, int]) -> tuple[str, int]:
    """The optional label in square brackets, which may hold brackets inside braces; and where it ends."""
    start = at = skip_space(text, 0)
    if text[at : at + 1] != "[":
        return "", at
    while at < len(text) and text[at] != "]":
        at = closing.get(at, at) + 1
    return text[start + 1 : at], at + 1


def _tagged(text: str, closing: dict[int, int]) -> dict[str, str]:
    """The fields that REVTeX, elsarticle, EPTCS and apacite name in the entry itself."""
    fields: dict[str, str] = {}
    people: list[str] = []
    for command in _COMMAND.finditer(text):
        if command[1] == "bibinfo":
            name, at = group_at(text, command.end(), closing)
            value, _ = group_at(text, at, closing)
            if name == "author":
                people.append(value)
            elif name in _FIELDS:
                fields.setdefault(name, value)
        elif command[1] in _APACITE:
            value, _ = group_at(text, command.end(), closing)
            fields.setdefault(_APACITE[command[1]], value)
    if people:
        fields["author"] = " and ".join(f"{person}{{}}" for person in people)  # {}: the name may end in a command
    return fields


def _identifiers(text: str) -> dict[str, str]:
    """Identifiers as they stand in commands and link targets, which are not printed."""
    flat = text.replace("{", " ").replace("}", " ")
    found = {"doi": normalise_doi(text), "eprint": normalise_arxiv(flat)}
    if "pmid" in text.lower() or "pubmed" in text.lower():
        found["pmid"] = normalise_pmid(flat)
    return {name: value for name, value in found.items() if value}


def _marked(text: str, closing: dict[int, int]) -> str:
    """The entry with its blocks and emphasised words marked as `parse_printed` takes them."""
    marks: list[tuple[int, int, str]] = [(m.start(), m.end(), BLOCK) for m in _NEWBLOCK.finditer(text)]
    marks += [(m.start(), m.end(), JOURNALS[m[1]]) for m in _COMMAND.finditer(text) if m[1] in JOURNALS]
    marks += [(m.start(), m.end(), "") for m in _PENALTY.finditer(text)]
    for command in _COMMAND.finditer(text):
        if count := _NOT_PRINTED.get(command[1], 0):
            end = command.end()
            for _ in range(count):
                end = group_at(text, end, closing)[1]
            marks.append((command.start(), end, ""))
    for found in _EMPHASISED.finditer(text):
        marks += _around(found.end(), found.end() + 1, closing)
    for found in _EMPHASIS_GROUP.finditer(text):
        marks += _around(found.start(), found.end(), closing)
    parts: list[str] = []
    at = 0
    for start, end, mark in sorted(marks):
        if start >= at:
            parts += [text[at:start], mark]
            at = end
    return "".join([*parts, text[at:]])


def _around(brace: int, end: int, closing: dict[int, int]) -> Iterator[tuple[int, int, str]]:
    if brace in closing:
        yield end, end, EMPHASIS[0]
        yield closing[brace], closing[brace], EMPHASIS[1]


READER = BibliographyReader("bbl", (".bbl",), parse, lambda head: "\\bibitem" in head or "\\entry{" in head)
