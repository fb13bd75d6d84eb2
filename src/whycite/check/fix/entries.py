"""New entries for a draft's bibliography: in its .bib file, or in the list of references in the draft."""

from __future__ import annotations

import os
import posixpath
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from whycite.check.findings import Proposal
from whycite.check.fix.edits import DraftProject, Insertion, can_hold, newline_at, text_of
from whycite.documents.latex import UNNAMED_BIBLIOGRAPHY
from whycite.documents.latex.cursor import LatexText
from whycite.documents.latex.project import LatexProject
from whycite.documents.model import Document
from whycite.documents.references import bbl, bibtex
from whycite.documents.references.bibtex import BibtexEntry, read_entries
from whycite.errors import UserError
from whycite.text.accents import ACCENTS, MATH_SYMBOLS, SYMBOLS

__all__ = ["BibliographyFile", "bibitem", "escape_tex", "find_bibliography", "leftover_keys", "unnamed_reason"]


_SIGNS = {
    "\u00a0": "~", "–": "{--}", "—": "{---}", "“": "{``}", "”": "{''}", "‘": "{`}", "’": "{'}", "‐": "-", "‑": "-",
    "−": "$-$", "\u2009": "~", "\u202f": "~", "\u200b": "", "\u00ad": "", "\ufeff": "",
}  # fmt: skip
_ACCENT_OF = {combining: name for name, combining in reversed(ACCENTS.items()) if len(name) == 1}
_WORD_OF = {text: name for name, text in reversed(SYMBOLS.items()) if len(text) == 1}
_MATH_OF = {text: name for name, text in reversed(MATH_SYMBOLS.items()) if len(text) == 1}
_DOTTED = {"i": r"\i", "j": r"\j"}
_ACCENTS_ABOVE = frozenset("`'^~=.\"uvHr")


def escape_tex(text: str) -> str:
    """The text in ASCII; ValueError with a letter that TeX has no command for."""
    return "".join(
        letter if letter.isascii() else _escape_letter(letter) for letter in unicodedata.normalize("NFC", text)
    )


def _escape_letter(letter: str) -> str:
    if letter in _SIGNS:
        return _SIGNS[letter]
    if letter in _WORD_OF:
        return f"{{\\{_WORD_OF[letter]}}}"
    apart = unicodedata.normalize("NFD", letter)
    base, accents = apart[0], apart[1:]
    if base.isascii() and accents and all(accent in _ACCENT_OF for accent in accents):
        written = base
        for accent in accents:
            name = _ACCENT_OF[accent]
            inner = _DOTTED.get(written, written) if name in _ACCENTS_ABOVE else written
            written = f"\\{name}{{{inner}}}"
        return f"{{{written}}}"
    if letter in _MATH_OF:
        return f"{{$\\{_MATH_OF[letter]}$}}"
    raise ValueError(letter)


_AND = re.compile(r"\s+and\s+")


def bibitem(entry: BibtexEntry, label: str = "") -> str:
    """The `\\bibitem` of an entry, with a label like `label`, one of the list's own."""
    fields = entry.fields
    people = [person.strip() for person in _AND.split(fields.get("author", "")) if person.strip()]
    parts = [", ".join(map(_natural_name, people)), fields.get("title", ""), _venue_and_year(fields)]
    opening, *blocks = [_with_stop(part) for part in parts if part] or [entry.key]
    lines = [f"\\bibitem{_item_label(label, people, fields)}{{{entry.key}}}", opening]
    return "\n".join([*lines, *(f"\\newblock {block}" for block in blocks), "", ""])


def _item_label(example: str, people: list[str], fields: dict[str, str]) -> str:
    if not example:
        return ""
    families = [person.partition(",")[0] for person in people] or [fields.get("title", "Anonymous").partition(" ")[0]]
    names = families[0] + (" et~al." if len(families) > 2 else f" and {families[1]}" if len(families) == 2 else "")
    year = fields.get("year", "")
    return f"[{{{names}}}({year})]" if "(" in example else f"[{{{names} {year}}}]"


def _natural_name(person: str) -> str:
    """ "Dyer, Chris" as "Chris Dyer"."""
    family, comma, given_name = person.partition(",")
    return f"{given_name.strip()} {family.strip()}" if comma else person


def _venue_and_year(fields: dict[str, str]) -> str:
    venue = f"{{\\em {fields['journal']}}}" if "journal" in fields else ""
    if "booktitle" in fields:
        venue = f"In {{\\em {fields['booktitle']}}}"
    return ", ".join(part for part in (venue, fields.get("year", "")) if part)


def _with_stop(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


_BIBTEX = (".bib", ".bibtex", ".biblatex")
_TEX = (".tex", ".ltx", ".latex")
_OTHER_FORMATS = (".json", ".csljson", ".yml", ".yaml", ".ris")
_LIST_END = re.compile(r"^[^%\n\r]*?(\\end\s*\{thebibliography\})", re.MULTILINE)
_ITEM = re.compile(r"^[^%\n\r]*?\\bibitem\s*(\[)?", re.MULTILINE)
_BIBER = re.compile(r"^[^%\n\r]*\\(?:usepackage|RequirePackage)\s*(?:\[[^\]]*\])?\s*\{biblatex\}", re.MULTILINE)
# Commands of packages for several bibliographies, which the reader does not know.
_BIBLIOGRAPHY_COMMAND = re.compile(
    r"^(?:[^%\n\r\\]|\\.)*?\\(?:(?!bibliographystyle)[A-Za-z]*bibliography|putbib)", re.MULTILINE
)
_CONFIGURATIONS = re.compile(r"(?:.*/)?(?:_\w+|myst)\.ya?ml")


@dataclass(frozen=True, slots=True)
class BibliographyFile:
    """The file for new entries, and how they are written there."""

    name: str
    data: bytes
    offset: int  # in the text, where new entries go
    is_printed: bool = False  # a list of \\bibitem, not a .bib
    label: str = ""  # of an existing entry, in brackets
    ascii: bool = False  # whether other letters become TeX commands

    def entry(self, proposal: Proposal) -> str:
        """The entry as written in the file; UserError if its encoding lacks a letter."""
        entries, _ = read_entries(proposal.bibtex, self.name)
        if [entry.key for entry in entries] != [proposal.key]:
            raise UserError(f"no BibTeX entry for {proposal.key}")
        written = bibitem(entries[0], self.label) if self.is_printed else proposal.bibtex.strip() + "\n"
        written = written.replace("\r\n", "\n")
        if not self.ascii and can_hold(self.data, written):
            return written
        try:
            return escape_tex(written)
        except ValueError as error:
            if can_hold(self.data, written):  # TeX has no command for this letter
                return written
            raise UserError(
                f"{self.name}: the encoding lacks the letter {error}, which the entry {proposal.key} needs; "
                "save the file as UTF-8"
            ) from error

    def insertion(self, entries: Mapping[str, str]) -> Insertion:
        """All new entries as one insertion, with the file's line endings."""
        text = text_of(self.data)
        newline = newline_at(text, self.offset)
        head = text[: self.offset]
        lead = "" if not head or head.endswith(("\n", "\r")) else newline
        blank = newline if head.strip() and not self.is_printed else ""
        written = blank.join(entry.replace("\n", newline) for entry in entries.values())
        return Insertion(self.offset, lead + blank * (not _ends_blank(head)) + written)


def find_bibliography(project: DraftProject, document: Document) -> BibliographyFile | str:
    """Where new entries go, or what to do if there is no such place."""
    files = [name for name in project.contents if name.lower().endswith(_BIBTEX)]
    if files:
        writable = [name for name in files if os.access(project.path(name), os.W_OK)]
        if not writable:
            return f"{project.label(files[-1])} is read-only"
        name = _most_cited(project, document, writable)
        data = project.contents[name]
        return BibliographyFile(name, data, len(text_of(data)), ascii=_wants_ascii(project, document, data))
    if document.format == "latex" and (printed_list := _find_printed_list(project)):
        return printed_list
    other_files = [
        name
        for name in project.contents
        if name.lower().endswith(_OTHER_FORMATS) and not _CONFIGURATIONS.fullmatch(name)
    ]
    if other_files:
        return f"{project.label(other_files[-1])} is not BibTeX; add the entry there by hand, then check again"
    return _NO_BIBLIOGRAPHY.get(document.format, "the draft has no bibliography")


def unnamed_reason(project: DraftProject, document: Document) -> str:
    """Why nothing can be cited in a LaTeX draft that names no bibliography: each citation would print as [?]."""
    if document.format != "latex" or not any(UNNAMED_BIBLIOGRAPHY in warning for warning in document.warnings):
        return ""
    texts = [text_of(data) for name, data in project.contents.items() if name.lower().endswith(_TEX)]
    if any(map(_BIBLIOGRAPHY_COMMAND.search, texts)) or not any(map(LatexProject.has_document, texts)):
        return ""  # without a \begin{document} it is a part of a draft, whose main file names the bibliography
    neighbour = next(name for name in project.contents if name.lower().endswith((*_BIBTEX, ".bbl")))
    return (
        f"the draft names no bibliography; if {project.label(neighbour)} is its bibliography, "
        f"write \\bibliography{{{posixpath.splitext(neighbour)[0]}}} where it is to be printed"
    )


def leftover_keys(project: DraftProject) -> set[str]:
    """The keys that only the .bbl of an earlier run has: the next run will not find them in the .bib."""
    texts = {name: text_of(data) for name, data in project.contents.items()}
    files = [name for name in texts if name.lower().endswith(_BIBTEX)]
    bib_keys = {reference.id for name in files for reference in bibtex.parse(texts[name], project.label(name))[0]}
    printed = [name for name in texts if files and name.lower().endswith(".bbl")]
    return {reference.id for name in printed for reference in bbl.parse(texts[name], name)[0]} - bib_keys


_NO_BIBLIOGRAPHY = {
    "latex": "the draft has no bibliography; create references.bib and write \\bibliography{references}",
    "markdown": "the draft has no bibliography; create references.bib and write "
    '"bibliography: references.bib" into the front matter',
    "typst": 'the draft has no bibliography; create references.bib and write #bibliography("references.bib")',
}


def _most_cited(project: DraftProject, document: Document, names: list[str]) -> str:
    """The file with most of the cited entries; of equal ones, the last."""
    if len(names) == 1:
        return names[0]
    cited = {key for sentence in document.sentences for citation in sentence.citations for key in citation.keys}
    counts: Counter[str] = Counter()
    for name in names:
        references, _ = bibtex.parse(text_of(project.contents[name]), project.label(name))
        counts[name] = sum(reference.id in cited for reference in references)
    return max(reversed(names), key=lambda name: counts[name])


def _find_printed_list(project: DraftProject) -> BibliographyFile | None:
    """The list of references in the draft, or in the .bbl file made by BibTeX."""
    for name, data in project.contents.items():
        if not name.lower().endswith((*_TEX, ".bbl")):
            continue
        text = text_of(data)
        if end := _LIST_END.search(text):
            return BibliographyFile(name, data, end.start(1), True, _last_label(text, end.start(1)), ascii=True)
    return None


def _last_label(text: str, end: int) -> str:
    """The label of the last entry before an offset, if all entries have one."""
    items = list(_ITEM.finditer(text, 0, end))
    if not items or not all(item[1] for item in items):
        return ""
    begin = items[-1].start(1)
    close = LatexText(text, "").closing_bracket(begin)
    return text[begin:close] if close is not None else ""


def _wants_ascii(project: DraftProject, document: Document, data: bytes) -> bool:
    """Whether letters are safer as TeX commands: BibTeX works on bytes, and breaks initials beyond ASCII."""
    if document.format != "latex":
        return False
    biber = any(_BIBER.search(text_of(content)) for name, content in project.contents.items() if name.endswith(".tex"))
    return not biber or data.isascii()


def _ends_blank(text: str) -> bool:
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return not lines or lines.endswith("\n\n")
