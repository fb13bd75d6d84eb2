"""The files of Markdown and Typst drafts: which of a folder are drafts, what each includes, its bibliographies."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence

from whycite.documents.model import Reference
from whycite.documents.references import bbl, bibtex, csljson, hayagriva, ris
from whycite.documents.references.reader import Parse
from whycite.documents.sources import Folder, Source, decode
from whycite.errors import UserError

__all__ = ["child_files", "list_drafts", "load_bibliography", "nearby_bibliographies"]

_SUFFIXES = (".md", ".markdown", ".qmd", ".rmd", ".typ")
_INCLUSION = re.compile(
    r"\{\{<[ \t]*include[ \t]+[\"']?([^\"'\s>]{1,300})|^#include[ \t]*\"([^\"\n]{1,300})\""
    r"|^[`:]{3,}[ \t]*\{include\}[ \t]*(\S{1,300})|^[`~]{3,}[ \t]*\{([^{}\n]*\bchild[^{}\n]{1,2000})\}",
    re.MULTILINE,
)
_CHILD = re.compile(r"\bchild[ \t]*=[ \t]*(?:c\()?([^)\n}]{1,2000})")
_QUOTED_NAME = re.compile(r"[\"']([^\"'\n]{1,300})[\"']")
_HEAD_SIZE = 1 << 20  # bytes of a file that are searched for inclusions


def list_drafts(folder: Folder, names: Sequence[str]) -> list[str]:
    """The files of a folder that no other includes: first drafts that include others, then the rest."""
    parts_by_file: dict[str, set[str]] = {}
    for name in names:
        if name.lower().endswith(_SUFFIXES):
            parts_by_file[name] = {
                part for part in _included_files(name, _read_head(Source(folder, name))) if part != name
            }
    parts = set().union(*parts_by_file.values())
    draft_names: list[str] = []
    reached_names: set[str] = set()
    for name in sorted(names, key=parts.__contains__):  # of files that only include each other, the first one stays
        if name not in reached_names:
            draft_names.append(name)
            todo = [name]
            while todo:
                todo += (new_parts := parts_by_file.get(todo.pop(), set()) - reached_names)
                reached_names |= new_parts
    return sorted(draft_names, key=lambda name: not parts_by_file.get(name))


def _read_head(source: Source) -> str:
    """The beginning of a file; empty if it cannot be opened, which is reported when it is read."""
    try:
        with source.open() as stream:
            return decode(stream.read(_HEAD_SIZE))[0]
    except UserError:
        return ""


def _included_files(name: str, text: str) -> set[str]:
    """The files a draft includes, by their paths from the root."""
    inclusions: list[str] = []
    for match in _INCLUSION.finditer(text):
        inclusions += child_files(match[4]) if match[4] else [match[1] or match[2] or match[3]]
    folder = posixpath.dirname(name)
    paths = (part.lstrip("/") if part.startswith("/") else posixpath.join(folder, part) for part in inclusions)
    return {posixpath.normpath(path) for path in paths}


def child_files(info: str) -> list[str]:
    """The files that a code cell of R Markdown includes."""
    child = _CHILD.search(info) if "child" in info else None
    return _QUOTED_NAME.findall(child[1]) if child else []


_PARSERS: dict[str, Parse] = {
    ".bib": bibtex.parse,
    ".bibtex": bibtex.parse,
    ".biblatex": bibtex.parse,
    ".bbl": bbl.parse,
    ".json": csljson.parse,
    ".csljson": csljson.parse,
    ".ris": ris.parse,
    ".yaml": hayagriva.parse,
    ".yml": hayagriva.parse,
}

_MAX_NEARBY = 20  # files read for a draft that names none


def load_bibliography(source: Source, names: Iterable[str]) -> tuple[list[Reference], list[str]]:
    """The references in the named files, from the draft's folder or the root, and warnings."""
    references: list[Reference] = []
    warnings: list[str] = []
    for name in dict.fromkeys(names):
        file = _find_file(source, name)
        if file is None:
            warnings.append(f"{source.path}: bibliography '{name}' not found in this folder")
            continue
        parse = _PARSERS.get(posixpath.splitext(file.name)[1].lower())
        if parse is None:
            warnings.append(
                f"{source.path}: bibliography '{name}': unsupported format; use one of {', '.join(_PARSERS)}"
            )
            continue
        text, warning = decode(file.data())
        entries, complaints = parse(text, file.path)
        references += entries
        warnings += [f"{file.path}: {warning}"] * bool(warning) + complaints
    return references, warnings


def nearby_bibliographies(source: Source) -> list[str]:
    """The BibTeX files in the draft's folder, or else the only one in the project; for drafts that name none."""
    names = [name for name in source.folder.names() if name.lower().endswith(".bib")]
    here = posixpath.dirname(source.name)
    local_names = sorted(name for name in names if posixpath.dirname(name) == here)
    candidates = local_names or (names if len(names) == 1 else [])
    return ["/" + name for name in candidates[:_MAX_NEARBY]]


def _find_file(source: Source, name: str) -> Source | None:
    """A file by its path from the draft, or else from the root of the project, as with a leading slash."""
    name = name.strip()
    inner = posixpath.join(posixpath.dirname(source.name), name)
    sibling = None if name.startswith("/") else source.sibling(inner) or source.sibling(inner + ".bib")
    return sibling or source.sibling(name.lstrip("/")) or source.sibling(name.lstrip("/") + ".bib")
