"""Bibliographies as LaTeX prints them: `.bbl` files of BibTeX and biber, `thebibliography` environments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from whycite.documents.identity import normalise_arxiv, normalise_doi, normalise_pmid
from whycite.documents.model import Reference
from whycite.documents.references.bibtex import BibtexEntry, reference_of
from whycite.documents.references.printed import BLOCK, EMPHASIS, parse_printed
from whycite.documents.references.reader import JOURNALS, BibliographyReader, duplicate_warnings, year_of
from whycite.text.accents import untex

__all__ = ["READER", "group_at", "is_biber", "matching_braces", "parse", "read_biber", "skip_space"]


_MAX_ENTRY = 100_000  # characters; no entry is longer
_MAX_WARNINGS = 100  # per file, so that a broken one does not flood the output

_COMMENT = re.compile(r"(?:^|(?<=\s))%[^\n]*+\n?|(?<!\\)%[ \t]*+\n[ \t]*+", re.MULTILINE)
_ITEM = re.compile(r"\\(bibitem|harvarditem)(?![A-Za-z])")
_LIST_END = re.compile(r"\\end\s*\{(?:thebibliography|references|chapthebibliography|biblist)\}|\\endthebibliography")
_COMMAND = re.compile(r"\\([A-Za-z]++)\s*+")
_EMPHASISED = re.compile(r"\\(?:emph|textit|textsl|mkbibemph)\s*+(?=\{)")
_EMPHASIS_GROUP = re.compile(r"\{\s*+\\(?:emph|em|it|sl|itshape|slshape)(?![A-Za-z])")
_NEWBLOCK = re.compile(r"\\newblock(?![A-Za-z])")
# Commands of apacite whose first argument is a field.
_APACITE = {
    "APACrefYearMonthDay": "year", "APACrefYear": "year", "APACrefatitle": "title", "APACrefbtitle": "title",
    "APACjournalVolNumPages": "journal",
}  # fmt: skip
# Commands whose first arguments are not printed, and the number of those.
_NOT_PRINTED = {
    "bibinfo": 1, "bibfield": 1, "abntrefinfo": 3, "bibitemdeclare": 2, "Eprint": 1, "urlalt": 1, "bibAnnoteFile": 2,
    "APACinsertmetastar": 1, "BibitemShut": 1, "APACrefatitle": 1, "APACrefbtitle": 1, "PrintBackRefs": 1,
}  # fmt: skip
_PENALTY = re.compile(r"\\penalty\s?-?\d++\s?")
_FIELDS = {
    "author", "editor", "title", "year", "journal", "booktitle", "publisher", "school", "eprint", "pmid", "isbn",
    "volume", "number", "pages", "address", "series", "edition", "url",
}  # fmt: skip


def parse(text: str, file: str) -> tuple[list[Reference], list[str]]:
    """The references of a `.bbl` file or of the inside of a `thebibliography` environment."""
    text = _COMMENT.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    entries = read_biber(text) if is_biber(text) else _bibitems(text)
    references: dict[str, Reference] = {}
    warnings: list[str] = []
    duplicates: dict[str, str] = {}
    for reference in entries:
        if not reference.id:
            warnings.append(f"{file}: skipped an entry without a key")
        elif reference.id in references:
            duplicates[reference.id] = f"{file}: duplicate key '{reference.id}'; using the first entry"
        else:
            references[reference.id] = reference
    warnings += duplicate_warnings(file, duplicates)
    return list(references.values()), list(dict.fromkeys(warnings))[:_MAX_WARNINGS]


def _bibitems(text: str) -> Iterator[Reference]:
    marks = [*_ITEM.finditer(text)]
    seen: set[str] = set()
    authors: tuple[str, ...] = ()
    for index, mark in enumerate(marks):
        end = marks[index + 1].start() if index + 1 < len(marks) else len(text)
        end = min(end, mark.end() + _MAX_ENTRY)
        if list_end := _LIST_END.search(text, mark.end(), end):
            end = list_end.start()
        item = _bib_item(text[mark.end() : end], mark[1] == "harvarditem")
        reference = Reference(id=item.key)
        if item.key and item.key not in seen:
            seen.add(item.key)
            reference = _reference(item)
            if not reference.authors and reference.text.startswith("—"):
                reference = replace(reference, authors=authors)
            authors = reference.authors
        yield reference


@dataclass(frozen=True, slots=True)
class _BibItem:
    """The parts of an entry: key, year from the label, printed text, and the braces in that."""

    key: str
    year: int | None
    body: str
    closing: dict[int, int]


def _bib_item(text: str, harvard: bool) -> _BibItem:
    """One entry: `[label]{key}` and the printed text, or for Harvard `[short]{label}{year}{key}`."""
    closing = matching_braces(text)
    label, position = _label(text, closing)
    groups: list[str] = []
    for _ in range(3 if harvard else 1):
        group, position = group_at(text, position, closing)
        groups.append(group)
    braces = {start - position: end - position for start, end in closing.items() if start >= position}
    return _BibItem(" ".join(groups[-1].split()), year_of(groups[1] if harvard else label), text[position:], braces)


def _reference(item: _BibItem) -> Reference:
    fields = _tagged_fields(item.body, item.closing) | _identifiers(item.body)
    if item.year is not None:
        fields.setdefault("year", str(item.year))
    printed = parse_printed(item.key, untex(_mark_blocks(item.body, item.closing)))
    return _merge(reference_of(BibtexEntry("misc", item.key, fields, 0), fields), printed)


def _merge(tagged: Reference, printed: Reference) -> Reference:
    """The tagged fields, completed from the printed text."""
    return Reference(
        id=tagged.id,
        title=tagged.title or printed.title,
        authors=tagged.authors or printed.authors,
        year=tagged.year or printed.year,
        venue=tagged.venue or printed.venue,
        doi=tagged.doi or printed.doi,
        arxiv=tagged.arxiv or printed.arxiv,
        pmid=tagged.pmid or printed.pmid,
        isbn=tagged.isbn,
        text=printed.text,
        publication=tagged.publication,
    )


def _label(text: str, closing: dict[int, int]) -> tuple[str, int]:
    """The optional label in square brackets, which may contain brackets inside braces; and where it ends."""
    start = position = skip_space(text, 0)
    if text[position : position + 1] != "[":
        return "", position
    while position < len(text) and text[position] != "]":
        position = closing.get(position, position) + 1
    return text[start + 1 : position], position + 1


def _tagged_fields(text: str, closing: dict[int, int]) -> dict[str, str]:
    """The fields that REVTeX, elsarticle, EPTCS and apacite mark in the entry itself."""
    fields: dict[str, str] = {}
    people: list[str] = []
    for command in _COMMAND.finditer(text):
        if command[1] == "bibinfo":
            name, position = group_at(text, command.end(), closing)
            value, _ = group_at(text, position, closing)
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
    """Identifiers in commands and link targets, which are not printed."""
    flat = text.replace("{", " ").replace("}", " ")
    identifiers = {"doi": normalise_doi(text), "eprint": normalise_arxiv(flat)}
    if "pmid" in text.lower() or "pubmed" in text.lower():
        identifiers["pmid"] = normalise_pmid(flat)
    return {name: value for name, value in identifiers.items() if value}


def _mark_blocks(text: str, closing: dict[int, int]) -> str:
    """The entry with its blocks and emphasised words marked for `parse_printed`."""
    marks: list[tuple[int, int, str]] = [(m.start(), m.end(), BLOCK) for m in _NEWBLOCK.finditer(text)]
    marks += [(m.start(), m.end(), JOURNALS[m[1]]) for m in _COMMAND.finditer(text) if m[1] in JOURNALS]
    marks += [(m.start(), m.end(), "") for m in _PENALTY.finditer(text)]
    for command in _COMMAND.finditer(text):
        if count := _NOT_PRINTED.get(command[1], 0):
            end = command.end()
            for _ in range(count):
                end = group_at(text, end, closing)[1]
            marks.append((command.start(), end, ""))
    for emphasis in _EMPHASISED.finditer(text):
        marks += _emphasis_marks(emphasis.end(), emphasis.end() + 1, closing)
    for emphasis in _EMPHASIS_GROUP.finditer(text):
        marks += _emphasis_marks(emphasis.start(), emphasis.end(), closing)
    parts: list[str] = []
    position = 0
    for start, end, mark in sorted(marks):
        if start >= position:
            parts += [text[position:start], mark]
            position = end
    return "".join([*parts, text[position:]])


def _emphasis_marks(brace: int, end: int, closing: dict[int, int]) -> Iterator[tuple[int, int, str]]:
    if brace in closing:
        yield end, end, EMPHASIS[0]
        yield closing[brace], closing[brace], EMPHASIS[1]


_BIBER_ENTRY = re.compile(r"\\entry\s*\{([^{}]*+)\}\s*\{([^{}]*+)\}")
_BIBER_COMMAND = re.compile(r"\\(field|name|list)(?![A-Za-z])\s*+")
_NAME_PART = re.compile(r"\b(family|given|prefix|suffix)=")
_VERB = re.compile(r"\\verb\s*\{(\w++)\}\s*+\\verb\s([^\n]*+)")


def is_biber(text: str) -> bool:
    """Whether this is biber's format, not a list of \\bibitem."""
    return _BIBER_ENTRY.search(text) is not None


def read_biber(text: str) -> Iterator[Reference]:
    """The references of a file without comments, each once even if sorting lists repeat it."""
    marks = [*_BIBER_ENTRY.finditer(text)]
    seen: set[str] = set()
    for index, mark in enumerate(marks):
        end = marks[index + 1].start() if index + 1 < len(marks) else len(text)
        key = mark[1].strip()
        if key not in seen:
            seen.add(key)
            fields = _biber_fields(text[mark.end() : min(end, mark.end() + _MAX_ENTRY)])
            yield reference_of(BibtexEntry(mark[2], key, fields, 0), fields)


def _biber_fields(text: str) -> dict[str, str]:
    closing = matching_braces(text)
    fields: dict[str, str] = {}
    for command in _BIBER_COMMAND.finditer(text):
        name, position = group_at(text, command.end(), closing)
        groups: list[str] = []
        while (group := group_at(text, position, closing))[1] > position and len(groups) < 4:
            groups.append(group[0])
            position = group[1]
        value = groups[-1] if groups else ""
        fields.setdefault(name, _biber_people(value) if command[1] == "name" else value)
    for verb in _VERB.finditer(text):
        fields.setdefault(verb[1], verb[2].strip())
    return fields


def _biber_people(text: str) -> str:
    """The people of a `\\name` list as BibTeX writes them."""
    closing = matching_braces(text)
    people: list[dict[str, str]] = []
    for part in _NAME_PART.finditer(text):
        if part[1] == "family" or not people:
            people.append({})
        people[-1].setdefault(part[1], group_at(text, part.end(), closing)[0])
    return " and ".join(
        f"{{{p.get('prefix', '')} {p.get('family', '')}}}, {p.get('given', '')} {p.get('suffix', '')}" for p in people
    )


_BRACE = re.compile(r"(?<!\\)[{}]")


def matching_braces(text: str) -> dict[int, int]:
    """For each opening brace, the position of its closing one."""
    closing: dict[int, int] = {}
    opened: list[int] = []
    for brace in _BRACE.finditer(text):
        if brace[0] == "{":
            opened.append(brace.start())
        elif opened:
            closing[opened.pop()] = brace.start()
    return closing


def group_at(text: str, position: int, closing: dict[int, int]) -> tuple[str, int]:
    """The group in braces at `position`, "" if there is none, and where it ends."""
    start = skip_space(text, position)
    if start in closing:
        return text[start + 1 : closing[start]], closing[start] + 1
    return "", position


def skip_space(text: str, position: int) -> int:
    """The position of the next character that is not white space."""
    while position < len(text) and text[position].isspace():
        position += 1
    return position


READER = BibliographyReader("bbl", (".bbl",), parse, lambda head: "\\bibitem" in head or "\\entry{" in head)
