"""Markdown and Typst drafts in several files: which files are drafts, and which are parts of one."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from whycite.documents.markdown.floats import child_files
from whycite.documents.sources import Folder, Source, decode
from whycite.errors import UserError

__all__ = ["list_drafts"]

_SUFFIXES = (".md", ".markdown", ".qmd", ".rmd", ".typ")
_INCLUSION = re.compile(
    r"\{\{<[ \t]*include[ \t]+[\"']?([^\"'\s>]{1,300})|^#include[ \t]*\"([^\"\n]{1,300})\""
    r"|^[`:]{3,}[ \t]*\{include\}[ \t]*(\S{1,300})|^[`~]{3,}[ \t]*\{([^{}\n]*\bchild[^{}\n]{1,2000})\}",
    re.MULTILINE,
)
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
