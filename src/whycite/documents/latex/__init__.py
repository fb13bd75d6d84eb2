"""Reads LaTeX projects: a tolerant walk over the sources with a map back to every file and line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from whycite.documents.builder import Builder
from whycite.documents.latex.project import Project, find_main
from whycite.documents.latex.walker import Walker
from whycite.documents.model import Document, Reference
from whycite.documents.sources import Source

__all__ = ["READER", "UNNAMED", "LatexReader", "find_main"]

UNNAMED = "names no bibliography; took"  # what is said of a draft whose references are those of files beside it
_SIGNS = re.compile(rb"\\(?:documentclass|documentstyle|begin\s*\{|section\*?\s*\{|chapter\*?\s*\{|cite[pt]?\s*[\[{])")


class LatexReader:
    """The reader of .tex files; the file is the main one, its folder the project."""

    name = "latex"
    suffixes = (".tex", ".ltx", ".latex")

    def sniff(self, head: bytes) -> bool:
        return b"\0" not in head and _SIGNS.search(head) is not None

    def read(self, source: Source) -> Iterator[Document]:
        builder = Builder(source.path, self.name)
        project = Project(source)
        walker = Walker(project, builder)
        walker.walk(project.open(source))
        named, printed = project.bibliography(walker.bibliographies)
        own = walker.references + (named or [])
        references = own + printed
        if not own and not walker.bibliographies:
            taken = [project.borrowed] if project.borrowed else []
            if not references:
                references, taken = project.other_bibliographies()
            if taken:
                builder.warn(f"{source.path}: {UNNAMED} {', '.join(taken)}")
        for warning in project.warnings:
            builder.warn(warning)
        document = builder.document(Reference(id="", title=walker.title), _first_of_each(references))
        cited = {key for sentence in document.sentences for citation in sentence.citations for key in citation.keys}
        # An entry that only the .bbl of an earlier run has, and that nothing cites any more, is none of the draft's.
        left = {r.id for r in printed} - {r.id for r in own} - cited if named is not None else set()
        # Who cites newer works has written later than the date says, which may have come with a template.
        newest = max((r.year for r in document.references if r.year and r.id in cited), default=0)
        document = replace(
            document,
            paper=replace(document.paper, year=walker.year if newest <= (walker.year or 0) else None),
            references=tuple(reference for reference in document.references if reference.id not in left),
        )
        yield _levels_from_one(document)


def _first_of_each(references: list[Reference]) -> list[Reference]:
    """Of several entries of one key the first with a title: a .bib says more than a printed list."""
    chosen: dict[str, Reference] = {}
    for reference in references:
        if reference.id not in chosen or (reference.title and not chosen[reference.id].title):
            chosen[reference.id] = reference
    return list(chosen.values())


def _levels_from_one(document: Document) -> Document:
    """Levels counted from the highest heading the draft uses; abstract and the like stand at the top."""
    top = min((section.level for section in document.sections if section.level and section.heading), default=1)
    sections = tuple(replace(s, level=max(1, s.level - top + 1)) for s in document.sections)
    return replace(document, sections=sections)


READER = LatexReader()
