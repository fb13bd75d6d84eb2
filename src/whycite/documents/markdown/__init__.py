"""Reads Markdown drafts: Pandoc, Quarto, MyST, R Markdown and the papers of JOSS, with metadata and included files."""

from __future__ import annotations

import json
import posixpath
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from whycite.documents.builder import Builder
from whycite.documents.draftfolder import load_bibliography, nearby_bibliographies
from whycite.documents.identity import normalise_doi
from whycite.documents.markdown.blocks import read_blocks
from whycite.documents.markdown.inline import MarkdownNames
from whycite.documents.markdown.lines import (
    EXAMPLE,
    LABEL,
    LABEL_TARGET,
    MarkdownPage,
    ParagraphGatherer,
    blank_comments,
    split_lines,
)
from whycite.documents.markers import find_markers, split_references
from whycite.documents.markup import InclusionLimit, SourceSpan
from whycite.documents.model import Document, Reference
from whycite.documents.references import csljson
from whycite.documents.references.hayagriva import load_yaml
from whycite.documents.references.names import parse_people, person
from whycite.documents.references.printed import EMPHASIS, parse_list
from whycite.documents.references.reader import strip_markup, year_of
from whycite.documents.sources import Source, decode

__all__ = [
    "READER",
    "MarkdownMetadata",
    "MarkdownReader",
    "bibliography_names",
    "find_metadata",
    "inline_references",
    "read_draft",
    "read_paper",
]

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


_CONFIGURATIONS = ("_metadata.yml", "_quarto.yml", "_quarto.yaml", "myst.yml", "_config.yml", "_bookdown.yml")
_PAGES = (".md", ".markdown", ".qmd", ".rmd")
_EMBEDDED = re.compile(r"(?<=;base64,)[A-Za-z0-9+/=]{100,}")  # the data of a picture
_BULLET = re.compile(r"^[-*+][ \t]", re.MULTILINE)
_LINK = re.compile(r"\[([^\[\]]{0,500})\]\(<?([^\s()<>]{0,500}(?:\([^\s()<>]{0,200}\)[^\s()<>]{0,200}){0,5})>?\)")
_AUTOLINK = re.compile(r"<(https?://[^\s<>]{1,500})>")
_EMPHASIS = re.compile(
    r"(?<![\w*\\])\*(?![\s*])([^*]{1,500})(?<![\s\\])\*(?![\w*])|(?<![\w\\])_(?![\s_])([^_]{1,500})(?<![\s\\])_(?!\w)"
)
_STRAY = re.compile(r"(?<!\\)\*+|\\$", re.MULTILINE)  # of bold text, or at the end of a line
_TAG = re.compile(r"</?(?:i|b|u|em|strong|sub|sup|span)\b[^<>\n]{0,200}>", re.IGNORECASE)
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_ESCAPE = re.compile(r"\\(?=[\[\]()])")
_QUOTE = re.compile(r"^[ \t]{0,3}>[ \t>]*", re.MULTILINE)
_RAISED = re.compile(r"(?<!~)~([^~\s]{1,20})~(?!~)|\^([^\^\s]{1,20})\^")
_SCRIPT = re.compile(r"\^([\d,–-]{1,40})\^")
_SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_MAX_PAGES = 200  # files of a project that are searched for labels


def read_draft(source: Source) -> Document:
    """The document of a Markdown file and the files it includes."""
    return _MarkdownDraft(source).document()


class _MarkdownDraft:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.builder = Builder(source.path, "markdown")
        self.names = MarkdownNames()
        self._sources = {source.path: source}
        self._inclusion_limit = InclusionLimit()
        self._other_targets: set[str] = set()  # labels in other files of the project
        self._names_bibliography = False  # the draft names a bibliography, whether or not it exists

    def document(self) -> Document:
        text, metadata = self._open(self.source)
        if metadata.warning:
            self.builder.warn(f"{self.source.path}:1: {metadata.warning}")
        if "@" in text:
            self._other_targets = self._project_targets()
        references = self._load_references(metadata.values)
        out = self._gather(text, metadata, _reference_names(references))
        has_list = any(not page.including_files for page, _ in out.reference_paragraphs)
        if not references and out.cites_by_key and not self._names_bibliography:
            references = self._load_nearby_references(has_list)
            if _ids_by_doi(references) or self.names.targets:
                out = self._gather(text, metadata, _reference_names(references))
        if not references and has_list:
            references = _printed_references(out)
            body = _blank_marks(_without_reference_list(text, out))
            out = self._gather(text, metadata, MarkdownNames(markers=find_markers(body, references)))
        paper = read_paper(metadata.values)
        title = out.outline.fill(self.builder, titled=bool(paper.title))
        return self.builder.document(replace(paper, title=paper.title or title), references)

    def _gather(self, text: str, metadata: MarkdownMetadata, names: MarkdownNames) -> ParagraphGatherer:
        self._inclusion_limit = InclusionLimit()
        self.names = names
        self._learn_labels(text)
        names.targets.update(self._other_targets)
        out = ParagraphGatherer(names)
        if metadata.abstract:
            out.outline.heading("Abstract", 0)
            read_blocks(MarkdownPage(self.source.path, text, list(metadata.abstract)), out, self._include)
            out.outline.heading("", 0)
        read_blocks(MarkdownPage(self.source.path, text, split_lines(text, metadata.end)), out, self._include)
        return out

    def _open(self, source: Source) -> tuple[str, MarkdownMetadata]:
        """The text of a file without comments, and its metadata."""
        text, warning = decode(source.data())
        if warning:
            self.builder.warn(f"{source.path}: {warning}")
        return _EMBEDDED.sub(lambda data: " " * len(data[0]), blank_comments(text)), find_metadata(text)

    def _learn_labels(self, text: str) -> None:
        self.names.links.update(label[1].lower() for label in LABEL.finditer(text))
        self.names.examples.update(EXAMPLE.findall(text))
        self.names.targets.update(_targets(text))

    def _project_targets(self) -> set[str]:
        """The labels in the other files of a project: chapters of a book refer to each other's figures."""
        names = self.source.folder.names()
        if not any(posixpath.basename(name) in _CONFIGURATIONS for name in names):
            return set()
        pages = [name for name in names if name.lower().endswith(_PAGES) and name != self.source.name]
        return {
            target
            for name in pages[:_MAX_PAGES]
            if (page := self.source.sibling(name)) is not None
            for target in _targets(decode(page.data())[0])
        }

    def _include(self, name: str, page: MarkdownPage, offset: int) -> MarkdownPage | None:
        """The page of an included file of the folder, or None with a warning."""
        if self._inclusion_limit.is_reached:
            return None
        place = f"{page.file}:{page.line_number(offset)}"
        folder = posixpath.dirname(self._sources[page.file].name)
        source = self.source.sibling(posixpath.join(folder, name)) or self.source.sibling(name.lstrip("/"))
        if source is None:
            self.builder.warn(f"{place}: included file {name} not found in this folder; skipped")
        elif source.path in (page.file, *page.including_files):
            self.builder.warn(f"{place}: {name} includes itself; skipped")
        else:
            text, metadata = self._open(source)
            if not self._inclusion_limit.allows(source.path, len(text)):
                self.builder.warn(f"{self.source.path}: includes too many files, or too much text; the rest is skipped")
                return None
            self._sources[source.path] = source
            self._learn_labels(text)
            return MarkdownPage(
                source.path, text, split_lines(text, metadata.end), including_files=(*page.including_files, page.file)
            )
        return None

    # -- references --------------------------------------------------------

    def _load_references(self, values: Mapping[str, Any]) -> list[Reference]:
        """The references in the metadata, in the files it names, or in those the project's configuration names."""
        inline, complaints = csljson.parse(inline_references(values), self.source.path)
        names = list(bibliography_names(values))
        source = self.source
        if not names and not inline:
            source, names = self._configured_bibliographies()
        self._names_bibliography = bool(names)
        references, warnings = load_bibliography(source, names)
        for warning in complaints + warnings:
            self.builder.warn(warning)
        return inline + references

    def _configured_bibliographies(self) -> tuple[Source, list[str]]:
        """The bibliographies named by a configuration file in the draft's folder or a parent within the project."""
        folder = posixpath.dirname(self.source.name)
        while True:
            for name in _CONFIGURATIONS:
                configuration = self.source.sibling(posixpath.join(folder, name))
                if configuration and (names := self._bibliographies_in(configuration)):
                    return configuration, names
            if not folder:
                return self.source, []
            folder = posixpath.dirname(folder)

    def _bibliographies_in(self, configuration: Source) -> list[str]:
        try:
            return list(bibliography_names(load_yaml(decode(configuration.data())[0])))
        except ValueError as error:
            self.builder.warn(f"{configuration.path}: cannot be read: {error}")
            return []

    def _load_nearby_references(self, has_list: bool) -> list[Reference]:
        names = nearby_bibliographies(self.source)
        used = f"; using {', '.join(name[1:] for name in names)}" if names else ""
        if names or not has_list:
            self.builder.warn(f"{self.source.path}: does not name a bibliography{used}")
        references, warnings = load_bibliography(self.source, names)
        for warning in warnings:
            self.builder.warn(warning)
        return references


def _targets(text: str) -> set[str]:
    return {label.lower() for target in LABEL_TARGET.finditer(text) for label in target.groups() if label}


def _reference_names(references: Sequence[Reference]) -> MarkdownNames:
    return MarkdownNames(references={reference.id for reference in references}, dois=_ids_by_doi(references))


def _ids_by_doi(references: Sequence[Reference]) -> dict[str, str]:
    return {doi: reference.id for reference in references if (doi := normalise_doi(reference.doi))}


def _blank_marks(text: str) -> str:
    """The text, of the same length, with spaces for the marks inside citations, and of quotes, which may be in them."""
    plain = _QUOTE.sub(lambda mark: " " * len(mark[0]), _ESCAPE.sub(" ", text)).replace("*", " ")
    return _SCRIPT.sub(lambda script: f" {script[1].translate(_SUPERSCRIPTS)} ", plain)


def _printed_references(out: ParagraphGatherer) -> list[Reference]:
    """The entries of a reference list in the text itself."""
    paragraphs = []
    for page, spans in out.reference_paragraphs:
        start = page.text.rfind("\n", 0, spans[0][0]) + 1  # including the number at the start of its line
        paragraphs.append(_printed(page.text[start : spans[-1][1]]))
    text = "\n\n".join(paragraphs)
    return parse_list((id, entry) for id, entry, _, _ in split_references(text))


def _printed(source: str) -> str:
    """Entries as they are printed, with marks around emphasised words."""
    text = _AUTOLINK.sub(r"\1", _LINK.sub(_printed_link, _BULLET.sub("", source)))
    text = _EMPHASIS.sub(lambda words: f"{EMPHASIS[0]}{words[1] or words[2]}{EMPHASIS[1]}", text)
    text = _RAISED.sub(lambda words: words[1] or words[2], _STRAY.sub("", text))
    return _ESCAPED.sub(r"\1", _TAG.sub("", text)).strip()


def _printed_link(link: re.Match[str]) -> str:
    """The words of a link, and its address if they are others."""
    return link[1] if link[2] in link[1] else f"{link[1]} {link[2]}"


def _without_reference_list(text: str, out: ParagraphGatherer) -> str:
    """The text, of the same length, with spaces for the entries of the reference list."""
    parts, offset = [], 0
    for page, spans in out.reference_paragraphs:
        if not page.including_files:
            start, end = text.rfind("\n", 0, spans[0][0]) + 1, spans[-1][1]
            parts += [text[offset:start], " " * (end - start)]
            offset = end
    return "".join([*parts, text[offset:]])


_METADATA = re.compile(rb"\A(?:\xef\xbb\xbf)?---[ \t]*\r?\n")
_TYPST = re.compile(rb"^#(?:set|show|let|import|include|figure|cite)\b", re.MULTILINE)
_SIGNS = re.compile(rb"^#{1,6} \S|\[-?@\w|^```|\]\(https?://", re.MULTILINE)


class MarkdownReader:
    """The reader for Markdown files; included files must be in the draft's folder."""

    name = "markdown"
    suffixes = (".md", ".markdown", ".qmd", ".rmd", ".mdx")

    def sniff(self, head: bytes) -> bool:
        if b"\0" in head or _TYPST.search(head):
            return False
        return bool(_METADATA.match(head) or _SIGNS.search(head))

    def read(self, source: Source) -> Iterator[Document]:
        yield read_draft(source)


READER = MarkdownReader()
