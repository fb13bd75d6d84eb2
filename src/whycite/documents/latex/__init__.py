"""Reads LaTeX projects: a tolerant walk over the sources that maps everything back to its file and line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from whycite.documents.builder import Builder, list_names
from whycite.documents.latex.project import LatexProject, find_main
from whycite.documents.latex.walker import LatexWalker
from whycite.documents.markup import is_references_heading, unlinked_list
from whycite.documents.model import Document, Reference
from whycite.documents.sources import Source

__all__ = ["READER", "UNNAMED_BIBLIOGRAPHY", "LatexReader", "find_main"]

# How the warning about a draft begins whose references come from files beside it.
UNNAMED_BIBLIOGRAPHY = "does not name a bibliography; using"
_SIGNS = re.compile(rb"\\(?:documentclass|documentstyle|begin\s*\{|section\*?\s*\{|chapter\*?\s*\{|cite[pt]?\s*[\[{])")


class LatexReader:
    """The reader for .tex files: the file is the main one, its folder the project."""

    name = "latex"
    suffixes = (".tex", ".ltx", ".latex")

    def sniff(self, head: bytes) -> bool:
        return b"\0" not in head and _SIGNS.search(head) is not None

    def read(self, source: Source) -> Iterator[Document]:
        builder = Builder(source.path, self.name)
        project = LatexProject(source)
        walker = LatexWalker(project, builder)
        walker.walk(project.open(source))
        bib_references, bbl_references = project.bibliography(walker.bibliographies)
        draft_references = walker.references + (bib_references or [])
        references = draft_references + bbl_references
        if not draft_references and not walker.bibliographies:
            borrowed_files = [project.borrowed_bbl] if project.borrowed_bbl else []
            if not references:
                references, borrowed_files = project.other_bibliographies()
            if borrowed_files:
                builder.warn(f"{source.path}: {UNNAMED_BIBLIOGRAPHY} {', '.join(borrowed_files)}")
        if project.has_document(project.open(source).text) and (leftovers := project.leftovers()):
            files = (
                "1 .tex file with citations is"
                if len(leftovers) == 1
                else f"{len(leftovers)} .tex files with citations are"
            )
            builder.warn(f"{source.path}: {files} not part of this draft, so not read: {list_names(leftovers)}")
        for warning in project.warnings:
            builder.warn(warning)
        document = builder.document(Reference(id="", title=walker.title), _first_per_key(references))
        cited_keys = {
            key for sentence in document.sentences for citation in sentence.citations for key in citation.keys
        }
        # An entry that only the .bbl of an earlier run has, and that nothing cites any more, is stale.
        stale_ids = (
            {r.id for r in bbl_references} - {r.id for r in draft_references} - cited_keys
            if bib_references is not None
            else set()
        )
        # A draft that cites newer works was written after its date, which may be left over from a template.
        newest = max((r.year for r in document.references if r.year and r.id in cited_keys), default=0)
        document = replace(
            document,
            paper=replace(document.paper, year=walker.year if newest <= (walker.year or 0) else None),
            references=tuple(reference for reference in document.references if reference.id not in stale_ids),
        )
        if not references and _has_typed_list(document):
            document = replace(document, warnings=(*document.warnings, unlinked_list(source.path)))
        yield _renumber_levels(document)


def _has_typed_list(document: Document) -> bool:
    """Whether there is text under the heading of a reference list."""
    read_sections = {document.sections[sentence.section].heading for sentence in document.sentences}
    return any(map(is_references_heading, read_sections))


def _first_per_key(references: list[Reference]) -> list[Reference]:
    """One entry per key, the first with a title: a .bib says more than a printed list."""
    by_id: dict[str, Reference] = {}
    for reference in references:
        if reference.id not in by_id or (reference.title and not by_id[reference.id].title):
            by_id[reference.id] = reference
    return list(by_id.values())


def _renumber_levels(document: Document) -> Document:
    """Number levels from the highest heading the draft uses; the abstract and its like go to the top."""
    top = min((section.level for section in document.sections if section.level and section.heading), default=1)
    sections = tuple(replace(s, level=max(1, s.level - top + 1)) for s in document.sections)
    return replace(document, sections=sections)


READER = LatexReader()
