"""Entries for a draft's bibliography: in its .bib file, else in the list of references that it prints."""

from __future__ import annotations

import os
import posixpath
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from whycite.check.fixing.encoding import Insertion, can_hold, newline_at, text_of
from whycite.check.fixing.escapes import escaped
from whycite.check.fixing.items import bibitem
from whycite.check.fixing.project import Project
from whycite.check.model import Proposal
from whycite.documents.bibliographies import bbl, bibtex
from whycite.documents.bibliographies.bibtex_entries import read_entries
from whycite.documents.latex import UNNAMED
from whycite.documents.latex.project import Project as LatexProject
from whycite.documents.latex.text import LatexText
from whycite.documents.model import Document
from whycite.errors import UserError

__all__ = ["Bibliography", "find_bibliography", "left_over", "unnamed"]

_BIBTEX = (".bib", ".bibtex", ".biblatex")
_TEX = (".tex", ".ltx", ".latex")
_OTHER = (".json", ".csljson", ".yml", ".yaml", ".ris")
_LIST_END = re.compile(r"^[^%\n\r]*?(\\end\s*\{thebibliography\})", re.MULTILINE)
_ITEM = re.compile(r"^[^%\n\r]*?\\bibitem\s*(\[)?", re.MULTILINE)
_BIBER = re.compile(r"^[^%\n\r]*\\(?:usepackage|RequirePackage)\s*(?:\[[^\]]*\])?\s*\{biblatex\}", re.MULTILINE)
# Commands of packages for several lists of references, which the reader does not know.
_NAMED = re.compile(r"^(?:[^%\n\r\\]|\\.)*?\\(?:(?!bibliographystyle)[A-Za-z]*bibliography|putbib)", re.MULTILINE)
_CONFIGURATIONS = re.compile(r"(?:.*/)?(?:_\w+|myst)\.ya?ml")


@dataclass(frozen=True, slots=True)
class Bibliography:
    """The file that new entries go to, and how they are written there."""

    name: str
    data: bytes
    at: int  # offset in the text
    printed: bool = False  # a list of \\bibitem, no .bib
    labelled: str = ""  # the label in brackets of an entry that is there
    ascii: bool = False  # letters beyond ASCII are written as TeX commands

    def entry(self, proposal: Proposal) -> str:
        """The entry as text of the file; UserError where it cannot be written there."""
        entries, _ = read_entries(proposal.bibtex, self.name)
        if [entry.key for entry in entries] != [proposal.key]:
            raise UserError(f"there is no BibTeX entry for {proposal.key} to add")
        written = bibitem(entries[0], self.labelled) if self.printed else proposal.bibtex.strip() + "\n"
        written = written.replace("\r\n", "\n")
        if not self.ascii and can_hold(self.data, written):
            return written
        try:
            return escaped(written)
        except ValueError as error:
            if can_hold(self.data, written):  # TeX has no command for this letter
                return written
            raise UserError(
                f"{self.name}: its encoding lacks the letter {error} of the entry for {proposal.key}; "
                "save the file as UTF-8"
            ) from error

    def insertion(self, entries: Mapping[str, str]) -> Insertion:
        """All new entries as one text, with the line ends that the file has there."""
        text = text_of(self.data)
        newline = newline_at(text, self.at)
        before = text[: self.at]
        lead = "" if not before or before.endswith(("\n", "\r")) else newline
        blank = newline if before.strip() and not self.printed else ""
        written = blank.join(entry.replace("\n", newline) for entry in entries.values())
        return Insertion(self.at, lead + blank * (not _ends_blank(before)) + written)


def find_bibliography(project: Project, document: Document) -> Bibliography | str:
    """Where new entries go, or what to do where there is no such place."""
    files = [name for name in project.contents if name.lower().endswith(_BIBTEX)]
    if files:
        writable = [name for name in files if os.access(project.path(name), os.W_OK)]
        if not writable:
            return f"{project.label(files[-1])} may not be written"
        name = _most_cited(project, document, writable)
        data = project.contents[name]
        return Bibliography(name, data, len(text_of(data)), ascii=_wants_ascii(project, document, data))
    if document.format == "latex" and (found := _printed(project)):
        return found
    others = [
        name for name in project.contents if name.lower().endswith(_OTHER) and not _CONFIGURATIONS.fullmatch(name)
    ]
    if others:
        return f"{project.label(others[-1])} is no BibTeX: add the entry there, then it is cited by its key"
    return _NONE.get(document.format, "the draft has no bibliography")


def unnamed(project: Project, document: Document) -> str:
    """Why nothing can be cited yet in a LaTeX draft that names no bibliography: each citation would print as [?]."""
    if document.format != "latex" or not any(UNNAMED in warning for warning in document.warnings):
        return ""
    texts = [text_of(data) for name, data in project.contents.items() if name.lower().endswith(_TEX)]
    if any(map(_NAMED.search, texts)) or not any(map(LatexProject.has_document, texts)):
        return ""  # without a \begin{document} it is a part of a draft, whose main file names the bibliography
    beside = next(name for name in project.contents if name.lower().endswith((*_BIBTEX, ".bbl")))
    return (
        f"the draft names no bibliography, though {project.label(beside)} lies beside it: "
        f"if that is the draft's, write \\bibliography{{{posixpath.splitext(beside)[0]}}} where it is to be printed"
    )


def left_over(project: Project) -> set[str]:
    """The keys that only the .bbl of an earlier run has: the next one will not find them in the .bib."""
    texts = {name: text_of(data) for name, data in project.contents.items()}
    files = [name for name in texts if name.lower().endswith(_BIBTEX)]
    known = {reference.id for name in files for reference in bibtex.parse(texts[name], name)[0]}
    printed = [name for name in texts if files and name.lower().endswith(".bbl")]
    return {reference.id for name in printed for reference in bbl.parse(texts[name], name)[0]} - known


_NONE = {
    "latex": "the draft has no bibliography to add to: make references.bib and write \\bibliography{references}",
    "markdown": "the draft has no bibliography to add to: make references.bib and write "
    '"bibliography: references.bib" into the block at its head',
    "typst": 'the draft has no bibliography to add to: make references.bib and write #bibliography("references.bib")',
}


def _most_cited(project: Project, document: Document, names: list[str]) -> str:
    """The file with most of what the draft cites; of equal ones, the last."""
    if len(names) == 1:
        return names[0]
    cited = {key for sentence in document.sentences for citation in sentence.citations for key in citation.keys}
    counts: Counter[str] = Counter()
    for name in names:
        found, _ = bibtex.parse(text_of(project.contents[name]), name)
        counts[name] = sum(reference.id in cited for reference in found)
    return max(reversed(names), key=lambda name: counts[name])


def _printed(project: Project) -> Bibliography | None:
    """The list of references in the draft itself, or in the .bbl file that BibTeX made."""
    for name, data in project.contents.items():
        if not name.lower().endswith((*_TEX, ".bbl")):
            continue
        text = text_of(data)
        if end := _LIST_END.search(text):
            return Bibliography(name, data, end.start(1), True, _label(text, end.start(1)), ascii=True)
    return None


def _label(text: str, end: int) -> str:
    """The label of the last entry before an offset, where all entries have one."""
    items = list(_ITEM.finditer(text, 0, end))
    if not items or not all(item[1] for item in items):
        return ""
    begin = items[-1].start(1)
    close = LatexText(text, "").closing_bracket(begin)
    return text[begin:close] if close is not None else ""


def _wants_ascii(project: Project, document: Document, data: bytes) -> bool:
    """Whether letters are safer as TeX commands: BibTeX cuts names into bytes, and makes broken letters of initials."""
    if document.format != "latex":
        return False
    biber = any(_BIBER.search(text_of(found)) for name, found in project.contents.items() if name.endswith(".tex"))
    return not biber or data.isascii()


def _ends_blank(text: str) -> bool:
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return not lines or lines.endswith("\n\n")
