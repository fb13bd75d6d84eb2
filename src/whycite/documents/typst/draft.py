"""A Typst draft whole: the files it includes, its labels, its bibliography."""

from __future__ import annotations

import posixpath
import re

from whycite.documents.bibliographies.files import load_bibliography, nearby_bibliography
from whycite.documents.bibliographies.names import parse_people
from whycite.documents.builder import Builder
from whycite.documents.markup.pointers import POINTER, looks_like_pointer
from whycite.documents.model import Document, Reference
from whycite.documents.sources import Source, decode
from whycite.documents.typst.code import Found
from whycite.documents.typst.pages import Page
from whycite.documents.typst.walker import Walker
from whycite.documents.typst.writer import Writer

__all__ = ["read_draft"]

_YEAR = re.compile(r"datetime\(\s*year:\s*(\d{4})")
_INCLUDES = 200  # files one draft may ask for
_MOST = 16 << 20  # characters read for one draft
_DEEPEST = 20  # files within files


def read_draft(source: Source) -> Document:
    """The document that a Typst file and the files it includes are."""
    return _Draft(source).document()


class _Draft:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.builder = Builder(source.path, "typst")
        self._sources = {source.path: source}
        self._known: set[str] = set()
        self._labels: set[str] = set()
        self._start(Writer(silent=True))

    def _start(self, out: Writer) -> None:
        self.out = out
        self.found = Found()
        self._asked = self._size = 0

    def document(self) -> Document:
        main = self._open(self.source, ())
        # Labels may be defined after they are referred to: the first walk only looks around.
        self._walk(main)
        self._labels = self.found.labels
        references = self._references()
        self._known = {reference.id for reference in references}
        self._start(Writer())
        self._walk(main)
        given = self.out.title or self.found.title
        title = self.out.outline.fill(self.builder, titled=bool(given))
        year = _YEAR.search(main.text)
        people = tuple(person for name in self.found.authors + self.out.authors for person in parse_people(name))
        paper = Reference(id="", title=given or title, authors=people, year=int(year[1]) if year else None)
        return self.builder.document(paper, references)

    def _open(self, source: Source, above: tuple[str, ...]) -> Page:
        text, warning = decode(source.data())
        if warning:
            self.builder.warn(f"{source.path}: {warning}")
        self._sources[source.path] = source
        self._size += len(text)
        return Page(source.path, text, above)

    def _walk(self, page: Page) -> None:
        if not Walker(page, self.out, self.found, self._refer, self._include).walk():
            self.builder.warn(f"{page.file}: a bracket is opened that does not close")

    def _include(self, page: Page, name: str, at: int) -> None:
        """Read another file of the folder where a draft asks for it."""
        self._asked += 1
        if self._asked > _INCLUDES or self._size > _MOST or len(page.above) >= _DEEPEST:
            self.builder.warn(f"{self.source.path}: includes too much; the rest is left out")
            return
        here = f"{page.file}:{page.line_number(at)}"
        folder = "" if name.startswith("/") else posixpath.dirname(self._sources[page.file].name)
        found = self.source.sibling(posixpath.join(folder, name.lstrip("/")))
        if found is None:
            self.builder.warn(f"{here}: {name} is not in this folder; left out")
        elif found.path in (page.file, *page.above):
            self.builder.warn(f"{here}: {name} includes itself; left out")
        else:
            self._walk(self._open(found, (*page.above, page.file)))

    def _refer(self, page: Page, keys: tuple[str, ...], note: str, start: int, end: int) -> None:
        """Write what refers to these keys: a citation, or a cross reference."""
        if self.out.silent:
            return
        cited = tuple(key for key in keys if not self._is_own(key))
        if cited:
            shown = "; ".join(cited) + f", {note}" * bool(note)
            self.out.cite(f"[{shown}]", cited, page.file, start, end)
        elif keys:
            self.out.add(POINTER, page.file, start, end)

    def _is_own(self, key: str) -> bool:
        """Whether a key is that of something in the draft itself."""
        return key not in self._known and (key in self._labels or looks_like_pointer(key))

    def _references(self) -> list[Reference]:
        names = self.found.bibliographies
        if not names and self.found.refers:
            nearby = nearby_bibliography(self.source)
            names = [nearby] if nearby else []
            self.builder.warn(f"{self.source.path}: names no bibliography" + (f"; took {nearby[1:]}" if nearby else ""))
        references, warnings = load_bibliography(self.source, names)
        for warning in warnings:
            self.builder.warn(warning)
        return references
