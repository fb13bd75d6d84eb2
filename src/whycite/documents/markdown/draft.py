"""A Markdown draft whole: its metadata, the files it includes, its bibliography."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from whycite.documents.bibliographies import csljson
from whycite.documents.bibliographies.files import load_bibliography, nearby_bibliography
from whycite.documents.bibliographies.printed import parse_printed
from whycite.documents.bibliographies.yamltext import load_yaml
from whycite.documents.builder import Builder
from whycite.documents.identity import normalise_doi
from whycite.documents.markdown.blocks import read_blocks
from whycite.documents.markdown.comments import without_comments
from whycite.documents.markdown.gathering import Gathering
from whycite.documents.markdown.inline import Names
from whycite.documents.markdown.lines import EXAMPLE, LABEL
from whycite.documents.markdown.metadata import (
    Metadata,
    find_metadata,
    inline_references,
    named_bibliographies,
    paper_of,
)
from whycite.documents.markdown.pages import Page, lines_of
from whycite.documents.markers import find_markers, split_references
from whycite.documents.model import Document, Reference
from whycite.documents.sources import Source, decode

__all__ = ["read_draft"]

_CONFIGURATIONS = ("_metadata.yml", "_quarto.yml", "_quarto.yaml", "myst.yml", "_config.yml", "_bookdown.yml")
_MARKS = re.compile(r"\\(?=[\[\]().*_-])|^[-*+][ \t]", re.MULTILINE)
_ESCAPE = re.compile(r"\\(?=[\[\]()])")
_SCRIPT = re.compile(r"\^([\d,–-]{1,40})\^")
_RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_INCLUDES = 200  # files one draft may ask for
_MOST = 16 << 20  # characters read for one draft


def read_draft(source: Source) -> Document:
    """The document that a Markdown file and the files it includes are."""
    return _Draft(source).document()


class _Draft:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.builder = Builder(source.path, "markdown")
        self.names = Names()
        self._sources = {source.path: source}
        self._opened = self._size = 0
        self._named_any = False  # the draft names a bibliography, be it there or not

    def document(self) -> Document:
        text, metadata = self._open(self.source)
        if metadata.warning:
            self.builder.warn(f"{self.source.path}:1: {metadata.warning}")
        references = self._named(metadata.values)
        out = self._gather(text, metadata, _names(references))
        if not references and out.cited and not self._named_any:
            references = self._nearby()
            if _by_doi(references):
                out = self._gather(text, metadata, _names(references))
        elif not references and any(not page.above for page, _ in out.printed):
            references = _printed(out)
            body = text[: min(spans[0][0] for page, spans in out.printed if not page.above)]
            out = self._gather(text, metadata, Names(markers=find_markers(_unmarked(body), references)))
        paper = paper_of(metadata.values)
        title = out.outline.fill(self.builder, titled=bool(paper.title))
        return self.builder.document(replace(paper, title=paper.title or title), references)

    def _gather(self, text: str, metadata: Metadata, names: Names) -> Gathering:
        self._opened = self._size = 0
        self.names = names
        self._learn(text)
        out = Gathering(names)
        if metadata.abstract:
            out.outline.heading("Abstract", 0)
            read_blocks(Page(self.source.path, text, list(metadata.abstract)), out, self._include)
            out.outline.heading("", 0)
        read_blocks(Page(self.source.path, text, lines_of(text, metadata.end)), out, self._include)
        return out

    def _open(self, source: Source) -> tuple[str, Metadata]:
        """The text of a file without comments, and its metadata."""
        text, warning = decode(source.data())
        if warning:
            self.builder.warn(f"{source.path}: {warning}")
        return without_comments(text), find_metadata(text)

    def _learn(self, text: str) -> None:
        self.names.links.update(label[1].lower() for label in LABEL.finditer(text))
        self.names.examples.update(EXAMPLE.findall(text))

    def _include(self, name: str, page: Page, at: int) -> Page | None:
        """Another file of the folder, where a draft asks for it."""
        self._opened += 1
        if self._opened > _INCLUDES or self._size >= _MOST:
            self.builder.warn(f"{self.source.path}: includes too much; the rest is left out")
            return None
        here = f"{page.file}:{page.line_number(at)}"
        folder = posixpath.dirname(self._sources[page.file].name)
        found = self.source.sibling(posixpath.join(folder, name)) or self.source.sibling(name.lstrip("/"))
        if found is None:
            self.builder.warn(f"{here}: {name} is not in this folder; left out")
        elif found.path in (page.file, *page.above):
            self.builder.warn(f"{here}: {name} includes itself; left out")
        else:
            text, metadata = self._open(found)
            self._size += len(text)
            self._sources[found.path] = found
            self._learn(text)
            return Page(found.path, text, lines_of(text, metadata.end), above=(*page.above, page.file))
        return None

    # -- references --------------------------------------------------------

    def _named(self, values: Mapping[str, Any]) -> list[Reference]:
        """The references of the metadata, of the files it names, or of those the project's configuration names."""
        inline, complaints = csljson.parse(inline_references(values), self.source.path)
        names = list(named_bibliographies(values))
        source = self.source
        if not names and not inline:
            source, names = self._configured()
        self._named_any = bool(names)
        references, warnings = load_bibliography(source, names)
        for warning in complaints + warnings:
            self.builder.warn(warning)
        return inline + references

    def _configured(self) -> tuple[Source, list[str]]:
        """The bibliographies a configuration names, in the draft's folder or one above it in the project."""
        folder = posixpath.dirname(self.source.name)
        while True:
            for name in _CONFIGURATIONS:
                configuration = self.source.sibling(posixpath.join(folder, name))
                if configuration and (names := self._names_in(configuration)):
                    return configuration, names
            if not folder:
                return self.source, []
            folder = posixpath.dirname(folder)

    def _names_in(self, configuration: Source) -> list[str]:
        try:
            return list(named_bibliographies(load_yaml(decode(configuration.data())[0])))
        except ValueError as error:
            self.builder.warn(f"{configuration.path}: could not be read: {error}")
            return []

    def _nearby(self) -> list[Reference]:
        name = nearby_bibliography(self.source)
        if name is None:
            self.builder.warn(f"{self.source.path}: names no bibliography")
            return []
        self.builder.warn(f"{self.source.path}: names no bibliography; took {name.lstrip('/')}")
        references, warnings = load_bibliography(self.source, [name])
        for warning in warnings:
            self.builder.warn(warning)
        return references


def _names(references: Sequence[Reference]) -> Names:
    return Names(references={reference.id for reference in references}, dois=_by_doi(references))


def _by_doi(references: Sequence[Reference]) -> dict[str, str]:
    return {doi: reference.id for reference in references if (doi := normalise_doi(reference.doi))}


def _unmarked(text: str) -> str:
    """The text with spaces for the marks that come between the words of a citation, of the same length."""
    return _SCRIPT.sub(lambda script: f" {script[1].translate(_RAISED)} ", _ESCAPE.sub(" ", text).replace("*", " "))


def _printed(out: Gathering) -> list[Reference]:
    """The entries of a reference list in the text itself."""
    paragraphs = []
    for page, spans in out.printed:
        start = page.text.rfind("\n", 0, spans[0][0]) + 1  # with the number the entry's line begins with
        paragraphs.append(_MARKS.sub("", page.text[start : spans[-1][1]]).strip())
    text = "\n\n".join(paragraphs)
    return [parse_printed(id, entry) for id, entry, _, _ in split_references(text)]
