"""The bibliography files a draft names, each read in its format."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable

from whycite.documents.model import Reference
from whycite.documents.references import bbl, bibtex, csljson, hayagriva, ris
from whycite.documents.references.reader import Parse
from whycite.documents.sources import Source, decode

__all__ = ["load_bibliography", "nearby_bibliographies"]

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
