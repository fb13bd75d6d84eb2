"""Markdown and Typst drafts in several files: which file is the draft, and which are parts of one."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from whycite.documents.markdown.directives import children
from whycite.documents.sources import Folder, Source, decode
from whycite.errors import UserError

__all__ = ["mains_first"]

_SUFFIXES = (".md", ".markdown", ".qmd", ".rmd", ".typ")
_INCLUDED = re.compile(
    r"\{\{<[ \t]*include[ \t]+[\"']?([^\"'\s>]{1,300})|^#include[ \t]*\"([^\"\n]{1,300})\""
    r"|^[`:]{3,}[ \t]*\{include\}[ \t]*(\S{1,300})|^[`~]{3,}[ \t]*\{([^{}\n]*\bchild[^{}\n]{1,2000})\}",
    re.MULTILINE,
)
_LARGEST = 1 << 20  # bytes of a file that are looked at


def mains_first(folder: Folder, names: Sequence[str]) -> list[str]:
    """The files of a folder: first the drafts that include others, last the rest; included ones are left out."""
    included: dict[str, set[str]] = {}
    for name in names:
        if name.lower().endswith(_SUFFIXES):
            included[name] = {part for part in _parts(name, _beginning(Source(folder, name))) if part != name}
    parts = set().union(*included.values())
    kept: list[str] = []
    reached: set[str] = set()
    for name in sorted(names, key=parts.__contains__):  # files that only include each other: the first of them stays
        if name not in reached:
            kept.append(name)
            todo = [name]
            while todo:
                todo += (new := included.get(todo.pop(), set()) - reached)
                reached |= new
    return sorted(kept, key=lambda name: not included.get(name))


def _beginning(source: Source) -> str:
    """What can be looked at of a file; nothing of one that is gone: whoever reads it says so."""
    try:
        with source.open() as stream:
            return decode(stream.read(_LARGEST))[0]
    except UserError:
        return ""


def _parts(name: str, text: str) -> set[str]:
    """The files a draft includes, by their paths from the root."""
    found: list[str] = []
    for match in _INCLUDED.finditer(text):
        found += children(match[4]) if match[4] else [match[1] or match[2] or match[3]]
    folder = posixpath.dirname(name)
    paths = (part.lstrip("/") if part.startswith("/") else posixpath.join(folder, part) for part in found)
    return {posixpath.normpath(path) for path in paths}
