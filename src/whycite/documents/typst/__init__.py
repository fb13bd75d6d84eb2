"""Reads Typst drafts, with included files, labels and bibliographies."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from whycite.documents.builder import Builder
from whycite.documents.draftfolder import load_bibliography, nearby_bibliographies
from whycite.documents.markup import POINTER, InclusionLimit, looks_like_pointer, unlinked_list
from whycite.documents.model import Document, Reference
from whycite.documents.references.names import parse_people
from whycite.documents.sources import Source, decode
from whycite.documents.typst.syntax import TypstPage
from whycite.documents.typst.walker import TypstSurvey, TypstWalker
from whycite.documents.typst.writer import TypstWriter

__all__ = ["READER", "TypstReader", "read_draft"]

_TEXTUAL_FORM = re.compile(r"form\s*:\s*\"(?:prose|author)\"")
_YEAR = re.compile(r"datetime\(\s*year:\s*(\d{4})")
_MAX_DEPTH = 20  # nested includes


def read_draft(source: Source) -> Document:
    """The document of a Typst file and the files it includes."""
    return _TypstDraft(source).document()


class _TypstDraft:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.builder = Builder(source.path, "typst")
        self._sources = {source.path: source}
        self._reference_ids: set[str] = set()
        self._labels: set[str] = set()
        self._start(TypstWriter(silent=True))

    def _start(self, out: TypstWriter) -> None:
        self.out = out
        self.survey = TypstSurvey()
        self._inclusion_limit = InclusionLimit()

    def document(self) -> Document:
        main = self._open(self.source, ())
        # Labels may be used before they are defined, so the first walk only collects them.
        self._walk(main)
        self._labels = self.survey.labels
        references = self._references()
        self._reference_ids = {reference.id for reference in references}
        self._start(TypstWriter())
        self._walk(main)
        stated_title = self.out.title or self.survey.title
        title = self.out.outline.fill(self.builder, titled=bool(stated_title))
        if not references and self.out.outline.lists_references:
            self.builder.warn(unlinked_list(self.source.path))
        year = _YEAR.search(main.text)
        people = tuple(person for name in self.survey.authors + self.out.authors for person in parse_people(name))
        paper = Reference(id="", title=stated_title or title, authors=people, year=int(year[1]) if year else None)
        return self.builder.document(paper, references)

    def _open(self, source: Source, including_files: tuple[str, ...]) -> TypstPage:
        text, warning = decode(source.data())
        if warning:
            self.builder.warn(f"{source.path}: {warning}")
        self._sources[source.path] = source
        return TypstPage(source.path, text, including_files)

    def _walk(self, page: TypstPage) -> None:
        if not TypstWalker(page, self.out, self.survey, self._refer, self._include).walk():
            self.builder.warn(f"{page.file}: a bracket is never closed")

    def _include(self, page: TypstPage, name: str, offset: int) -> None:
        """Read an included file of the folder in place."""
        if self._inclusion_limit.is_reached:
            return
        place = f"{page.file}:{page.line_number(offset)}"
        folder = "" if name.startswith("/") else posixpath.dirname(self._sources[page.file].name)
        source = self.source.sibling(posixpath.join(folder, name.lstrip("/")))
        if source is None:
            self.builder.warn(f"{place}: included file {name} not found in this folder; skipped")
        elif source.path in (page.file, *page.including_files):
            self.builder.warn(f"{place}: {name} includes itself; skipped")
        else:
            included = self._open(source, (*page.including_files, page.file))
            allowed = self._inclusion_limit.allows(source.path, len(included.text))
            if allowed and len(included.including_files) <= _MAX_DEPTH:
                self._walk(included)
            else:
                self.builder.warn(f"{self.source.path}: includes too many files, or too much text; the rest is skipped")

    def _refer(self, page: TypstPage, keys: tuple[str, ...], note: str, start: int, end: int) -> None:
        """Write a reference to these keys: a citation or a cross-reference."""
        if self.out.silent:
            return
        cited_keys = tuple(key for key in keys if not self._is_pointer(key))
        if cited_keys:
            marker = "; ".join(cited_keys) + f", {note}" * bool(note)
            textual = bool(_TEXTUAL_FORM.search(page.text, start, end))
            self.out.cite(f"[{marker}]", cited_keys, page.file, start, end, textual=textual)
        elif keys:
            self.out.add(POINTER, page.file, start, end)

    def _is_pointer(self, key: str) -> bool:
        """Whether a key refers to something in the draft itself."""
        return key not in self._reference_ids and (key in self._labels or looks_like_pointer(key))

    def _references(self) -> list[Reference]:
        names = self.survey.bibliographies
        if not names and self.survey.has_references:
            names = nearby_bibliographies(self.source)
            used = f"; using {', '.join(name[1:] for name in names)}" if names else ""
            self.builder.warn(f"{self.source.path}: does not name a bibliography{used}")
        references, warnings = load_bibliography(self.source, names)
        for warning in warnings:
            self.builder.warn(warning)
        return references


_SIGNS = re.compile(rb"^#(?:set|show|let|import|include|bibliography|cite)\b|^=+ \S", re.MULTILINE)


class TypstReader:
    """The reader for Typst files; included files must be in the draft's folder."""

    name = "typst"
    suffixes = (".typ",)

    def sniff(self, head: bytes) -> bool:
        return b"\0" not in head and _SIGNS.search(head) is not None

    def read(self, source: Source) -> Iterator[Document]:
        yield read_draft(source)


READER = TypstReader()
