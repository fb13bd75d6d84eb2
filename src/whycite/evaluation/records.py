"""What records say of a paper beside what a document holds: the day it came out and its subjects."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whycite.documents.containers import unwrap
from whycite.documents.identity import normalise_doi
from whycite.documents.jsontext import as_list, as_text, records
from whycite.documents.model import Reference
from whycite.documents.sources import DiskFolder, Source

__all__ = ["Facts", "Known", "facts_of", "known_facts"]

_RECORDS = re.compile(r"\.(?:jsonl|ndjson|json)(?:\.(?:gz|bz2|xz|zst))?$", re.IGNORECASE)
_DATE = re.compile(r"\d{4}(?:-\d\d){0,2}")


@dataclass(frozen=True, slots=True)
class Facts:
    """When a paper came out, as "2025-10-20", "2025" or "", and what it is about."""

    date: str = ""
    subjects: tuple[str, ...] = ()


Known = dict[str, Facts]
"""Facts by DOI, or by the record's own id where it has none."""


def facts_of(paper: Reference, known: Known) -> Facts:
    """The facts of a document's own paper; without a date in its record, the year."""
    found = known.get(paper.doi) or known.get(paper.id) or Facts()
    return Facts(found.date or (f"{paper.year:04}" if paper.year else ""), found.subjects)


def known_facts(paths: Iterable[Path]) -> Known:
    """The facts in all records under the paths; files of other formats have none."""
    found = (_named(record.data) for path in paths for file in _files(path) for record in records(file) if record.data)
    return {name: facts for name, facts in found if name}


def _files(path: Path) -> Iterator[Source]:
    folder = DiskFolder(path if path.is_dir() else path.parent)
    names = folder.names() if path.is_dir() else [path.name]
    return (unwrap(Source(folder, name)) for name in names if _RECORDS.search(name))


def _named(data: dict[str, Any]) -> tuple[str, Facts]:
    date = _DATE.match(as_text(data.get("pub_date") or data.get("publish_time")))
    subjects = tuple(subject for subject in as_list(data.get("subjects")) if isinstance(subject, str))
    name = normalise_doi(as_text(data.get("doi"))) or as_text(data.get("paper_id"))
    return name, Facts(date[0] if date else "", subjects)
