"""A whole Markdown draft: metadata, included files, bibliography."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from whycite.documents.builder import Builder
from whycite.documents.identity import normalise_doi
from whycite.documents.markdown.blocks import read_blocks
from whycite.documents.markdown.inline import MarkdownNames
from whycite.documents.markdown.lines import EXAMPLE, LABEL, LABEL_TARGET, MarkdownPage, blank_comments, split_lines
from whycite.documents.markdown.metadata import (
    MarkdownMetadata,
    bibliography_names,
    find_metadata,
    inline_references,
    read_paper,
)
from whycite.documents.markdown.paragraphs import ParagraphGatherer
from whycite.documents.markers import find_markers, split_references
from whycite.documents.model import Document, Reference
from whycite.documents.references import csljson
from whycite.documents.references.bibfiles import load_bibliography, nearby_bibliographies
from whycite.documents.references.hayagriva import load_yaml
from whycite.documents.references.printed import parse_list
from whycite.documents.sources import Source, decode

__all__ = ["read_draft"]

_CONFIGURATIONS = ("_metadata.yml", "_quarto.yml", "_quarto.yaml", "myst.yml", "_config.yml", "_bookdown.yml")
_PAGES = (".md", ".markdown", ".qmd", ".rmd")
_MARKS = re.compile(r"\\(?=[\[\]().*_-])|^[-*+][ \t]", re.MULTILINE)
_ESCAPE = re.compile(r"\\(?=[\[\]()])")
_SCRIPT = re.compile(r"\^([\d,–-]{1,40})\^")
_SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
# Limits for one draft, far above real ones.
_MAX_INCLUDES = 200  # files
_MAX_CHARACTERS = 16 << 20


def read_draft(source: Source) -> Document:
    """The document of a Markdown file and the files it includes."""
    return _MarkdownDraft(source).document()


class _MarkdownDraft:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.builder = Builder(source.path, "markdown")
        self.names = MarkdownNames()
        self._sources = {source.path: source}
        self._include_count = self._characters_read = 0
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
        if not references and out.cites_by_key and not self._names_bibliography:
            references = self._load_nearby_references()
            if _ids_by_doi(references) or self.names.targets:
                out = self._gather(text, metadata, _reference_names(references))
        elif not references and any(not page.including_files for page, _ in out.reference_paragraphs):
            references = _printed_references(out)
            body = text[: min(spans[0][0] for page, spans in out.reference_paragraphs if not page.including_files)]
            out = self._gather(text, metadata, MarkdownNames(markers=find_markers(_blank_marks(body), references)))
        paper = read_paper(metadata.values)
        title = out.outline.fill(self.builder, titled=bool(paper.title))
        return self.builder.document(replace(paper, title=paper.title or title), references)

    def _gather(self, text: str, metadata: MarkdownMetadata, names: MarkdownNames) -> ParagraphGatherer:
        self._include_count = self._characters_read = 0
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
        return blank_comments(text), find_metadata(text)

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
            for name in pages[:_MAX_INCLUDES]
            if (page := self.source.sibling(name)) is not None
            for target in _targets(decode(page.data())[0])
        }

    def _include(self, name: str, page: MarkdownPage, offset: int) -> MarkdownPage | None:
        """The page of an included file of the folder, or None with a warning."""
        self._include_count += 1
        if self._include_count > _MAX_INCLUDES or self._characters_read >= _MAX_CHARACTERS:
            self.builder.warn(f"{self.source.path}: includes too many files, or too much text; the rest is skipped")
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
            self._characters_read += len(text)
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

    def _load_nearby_references(self) -> list[Reference]:
        names = nearby_bibliographies(self.source)
        used = f"; using {', '.join(name[1:] for name in names)}" if names else ""
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
    """The text, of the same length, with spaces for the marks inside citations."""
    return _SCRIPT.sub(
        lambda script: f" {script[1].translate(_SUPERSCRIPTS)} ", _ESCAPE.sub(" ", text).replace("*", " ")
    )


def _printed_references(out: ParagraphGatherer) -> list[Reference]:
    """The entries of a reference list in the text itself."""
    paragraphs = []
    for page, spans in out.reference_paragraphs:
        start = page.text.rfind("\n", 0, spans[0][0]) + 1  # including the number at the start of its line
        paragraphs.append(_MARKS.sub("", page.text[start : spans[-1][1]]).strip())
    text = "\n\n".join(paragraphs)
    return parse_list((id, entry) for id, entry, _, _ in split_references(text))
