"""The metadata block of a Markdown draft: title, authors, year, bibliography."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from whycite.documents.identity import normalise_doi
from whycite.documents.markup import SourceSpan
from whycite.documents.model import Reference
from whycite.documents.references.hayagriva import load_yaml
from whycite.documents.references.names import parse_people, person
from whycite.documents.references.reader import strip_markup, year_of

__all__ = ["MarkdownMetadata", "bibliography_names", "find_metadata", "inline_references", "read_paper"]

_YAML = re.compile(r"\ufeff?---[ \t]*\r?\n(?P<yaml>.*?)^(?:---|\.\.\.)[ \t]*\r?$\n?", re.DOTALL | re.MULTILINE)
_TOML = re.compile(r"\ufeff?\+\+\+[ \t]*\r?\n(?P<toml>.*?)^\+\+\+[ \t]*\r?$\n?", re.DOTALL | re.MULTILINE)
_TITLE_LINES = re.compile(
    r"\ufeff?%[ \t]+(?P<title>[^\n]+)\n(?:%[ \t]*(?P<authors>[^\n]*)(?:\n|$)(?:%[ \t]*(?P<date>[^\n]*)(?:\n|$))?)?"
)
_PAIR = re.compile(r"^(?P<key>[A-Za-z][\w-]*)[ \t]*:[ \t]*(?P<value>[^\s|>&*!%@][^\n]*)$", re.MULTILINE)
_ABSTRACT = re.compile(r"^abstract[ \t]*:[ \t]*(?P<style>[|>][-+0-9]*[ \t]*\r?$)?", re.MULTILINE)
_KEY = re.compile(r"^[^\s#-]", re.MULTILINE)
_LINE = re.compile(r"[^\n]*\n?")
_MARKUP = re.compile(r"[*`]|\\[a-zA-Z]+\b\s?|<[^<>]{1,100}>")
_AFFILIATION = re.compile(r"\s?\[[^\[\]]{0,300}\]|\^[^\^\s]{0,30}\^?")
_MAX_DEPTH = 6  # levels of a configuration that are searched for bibliographies


@dataclass(frozen=True)
class MarkdownMetadata:
    """The metadata of a draft, and where its text begins."""

    values: Mapping[str, Any] = field(default_factory=dict)
    end: int = 0
    abstract: tuple[SourceSpan, ...] = ()  # the lines of the abstract
    warning: str = ""


def find_metadata(text: str) -> MarkdownMetadata:
    """The metadata at the start of a draft: YAML, TOML, or Pandoc's lines of title, authors and date."""
    if block := _YAML.match(text):
        return _from_yaml(text, block)
    if block := _TOML.match(text):
        try:
            values = tomllib.loads(block["toml"].replace("\r\n", "\n"))
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            return MarkdownMetadata(end=block.end(), warning=f"cannot read the metadata block: {error}")
        return MarkdownMetadata({key.lower(): value for key, value in values.items()}, block.end())
    if block := _TITLE_LINES.match(text):
        names = [name for name in (block["authors"] or "").split(";") if name.strip()]
        return MarkdownMetadata({"title": block["title"], "author": names, "date": block["date"] or ""}, block.end())
    return MarkdownMetadata()


def _from_yaml(text: str, block: re.Match[str]) -> MarkdownMetadata:
    warning = ""
    try:
        values = load_yaml(block["yaml"])
    except ValueError as error:
        # A title with a colon breaks the whole block, but the other lines can still be read.
        values = {line["key"]: _parse_loosely(line["value"]) for line in _PAIR.finditer(block["yaml"])}
        warning = f"cannot read all of the metadata block: {error}"
    if values is not None and not isinstance(values, dict):
        return MarkdownMetadata()
    lines = tuple(_abstract(text, block.start("yaml"), block.end("yaml")))
    return MarkdownMetadata(
        {str(key).lower(): value for key, value in (values or {}).items()}, block.end(), lines, warning
    )


def _parse_loosely(value: str) -> str | list[str]:
    """A value from a line that is not valid YAML: a string, or the strings of a list in brackets."""
    value = value.strip()
    if value.startswith("["):
        return [part.strip(" \"'") for part in value.strip("[]").split(",")]
    return value.strip("\"'")


def _abstract(text: str, start: int, end: int) -> Iterator[SourceSpan]:
    """The lines of the abstract as in the file, without YAML syntax."""
    key = _ABSTRACT.search(text, start, end)
    if key is None:
        return
    next_key = _KEY.search(text, key.end(), end)
    stop = next_key.start() if next_key else end
    begin = key.end()
    quote = "" if key["style"] else text[begin : begin + 1]
    if quote and quote in "\"'":
        begin += 1
        closing = text.rfind(quote, begin, stop)
        stop = closing if closing >= 0 else stop
    for line in _LINE.finditer(text, begin, stop):
        if line[0]:
            lead = len(line[0]) - len(line[0].lstrip(" \t"))
            yield line.start() + lead, line.end()


def read_paper(values: Mapping[str, Any]) -> Reference:
    """The draft itself as a reference, as far as its metadata says."""
    authors = values.get("author", values.get("authors")) or []
    return Reference(
        id="",
        title=_plain(values.get("title")),
        authors=tuple(_people(authors)),
        year=year_of(str(values.get("date", "")) + " " + str(values.get("year", ""))),
        venue=_plain(values.get("journal")),
        doi=normalise_doi(_plain(values.get("doi"))),
        abstract=_plain(values.get("abstract")),
    )


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        value = value.get("title") or value.get("name")
    return strip_markup(_MARKUP.sub("", value)) if isinstance(value, str) else ""


def _people(value: Any) -> Iterator[str]:
    for author in value if isinstance(value, list) else [value]:
        name = author.get("name", author) if isinstance(author, dict) else author
        if isinstance(name, dict):
            family = name.get("family") or name.get("surname") or name.get("last") or name.get("literal") or ""
            given_names = name.get("given") or name.get("given-names") or name.get("first") or ""
            if isinstance(family, str) and isinstance(given_names, str) and (family or given_names):
                yield person(family, given_names)
        elif isinstance(name, str):
            yield from parse_people(_plain(_AFFILIATION.sub("", name)))


def bibliography_names(values: Any) -> Iterator[str]:
    """The bibliography files named anywhere in metadata or a project's configuration."""
    todo = [(values, 0)]
    while todo:
        value, depth = todo.pop()
        if not isinstance(value, dict) or depth > _MAX_DEPTH:
            continue
        for key, inner in value.items():
            if key in ("bibliography", "bibtex_bibfiles"):
                names = inner if isinstance(inner, list) else [inner]
                yield from (name for name in names if isinstance(name, str))
            else:
                todo.append((inner, depth + 1))


def inline_references(values: Mapping[str, Any]) -> str:
    """The references in the metadata itself, as CSL-JSON."""
    entries = values.get("references")
    return json.dumps(entries, default=str, skipkeys=True) if isinstance(entries, list) else "[]"
