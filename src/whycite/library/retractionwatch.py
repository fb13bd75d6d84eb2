"""The list of Retraction Watch, a CSV file that Crossref publishes: read it and register its notices."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from whycite.documents.identity import normalise_doi, normalise_pmid, normalise_title, paper_key, tells_paper
from whycite.documents.model import Notice, NoticeKind, Reference
from whycite.documents.references.reader import year_of
from whycite.documents.sources import decode
from whycite.errors import UserError
from whycite.library.notices import PaperNotices, registered_papers, replace_list
from whycite.library.paths import default_path, library_exists
from whycite.library.records import Paper, identifier

__all__ = ["ImportReport", "import_list"]

_NAME = "Retraction Watch"
_COLUMNS = ("Title", "RetractionDate", "RetractionDOI", "OriginalPaperDOI", "OriginalPaperPubMedID", "RetractionNature")
_KINDS: dict[str, NoticeKind] = {
    "retraction": "retraction",
    "expression of concern": "concern",
    "correction": "correction",
    "reinstatement": "reinstatement",
}
_DATE = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})")  # month first, as the list writes dates
_MAX_FIELD = 10 << 20  # characters of a field; some list hundreds of institutions


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import registered."""

    notices: Mapping[str, int]  # by kind
    skipped: int  # rows of no known kind, or about papers that nothing identifies
    papers: tuple[Paper, ...]  # of the library that notices are about


def import_list(path: Path | str | None, file: Path | str) -> ImportReport:
    """Register the notices of a Retraction Watch CSV for a library, in place of those of an earlier list."""
    place = Path(path).expanduser() if path is not None else default_path()
    kinds: Counter[str] = Counter()
    entries: list[tuple[set[int], PaperNotices]] = []
    skipped = 0
    for row in _read_rows(Path(file)):
        kind = _KINDS.get(row["RetractionNature"].strip().lower())
        papers = _papers(row)
        if kind is None or not papers:
            skipped += 1
            continue
        kinds[kind] += 1
        doi = normalise_doi(row["RetractionDOI"])
        notice = Notice(kind, doi, _iso_date(row["RetractionDate"]), _reasons(row.get("Reason") or ""), _NAME)
        entries.append((papers, PaperNotices((notice,))))
        if doi and doi != normalise_doi(row["OriginalPaperDOI"]):
            entries.append(({identifier(f"doi:{doi}")}, PaperNotices(itself_notice=True)))
    if not entries:
        raise UserError(f"{file}: no notices in this file")
    replace_list(place, _NAME, entries)
    return ImportReport(dict(kinds), skipped, _affected_papers(place))


def _read_rows(file: Path) -> Iterator[dict[str, str]]:
    try:
        data = file.read_bytes()
    except OSError as error:
        raise UserError(f"{file}: {error.strerror or error}") from error
    csv.field_size_limit(_MAX_FIELD)
    rows = csv.DictReader(io.StringIO(decode(data)[0].removeprefix("\ufeff"), newline=""))
    missing = [column for column in _COLUMNS if column not in (rows.fieldnames or ())]
    if missing:
        raise UserError(
            f"{file}: not the list of Retraction Watch (no column {missing[0]}); "
            "get it from https://gitlab.com/crossref/retraction-watch-data"
        )
    try:
        for row in rows:
            yield {name: value or "" for name, value in row.items() if isinstance(name, str)}
    except csv.Error as error:
        raise UserError(f"{file}:{rows.line_num}: not a valid CSV file ({error})") from error


def _papers(row: Mapping[str, str]) -> set[int]:
    """The ids of the paper that a row is about: by DOI and PMID, and by title and year if the title tells it."""
    doi, pmid = normalise_doi(row["OriginalPaperDOI"]), normalise_pmid(row["OriginalPaperPubMedID"])
    keys = {f"doi:{doi}" if doi else "", f"pmid:{pmid}" if pmid.strip("0") else ""}
    year = year_of(row.get("OriginalPaperDate", ""))
    if year and tells_paper(normalise_title(row["Title"])):
        keys.add(paper_key(Reference("", title=row["Title"], year=year)))
    return {identifier(key) for key in keys if key}


def _iso_date(text: str) -> str:
    if match := _DATE.match(text):
        return f"{match[3]}-{match[1]:0>2}-{match[2]:0>2}"
    return text[:10] if re.match(r"\d{4}-\d\d-\d\d", text) else ""


def _reasons(text: str) -> str:
    """The reasons as a list with commas; the file has "+One;+Another;"."""
    return ", ".join(reason for part in text.split(";") if (reason := part.strip(" +")))


def _affected_papers(place: Path) -> tuple[Paper, ...]:
    """The papers of the library that notices are about, retracted ones first."""
    if not library_exists(place):
        return ()
    from whycite.library.reader import Library

    library = Library.open(place)
    papers = library.papers(library.known_ids(registered_papers(place)))
    affected = [paper for paper in papers.values() if paper.status not in ("", "notice")]
    return tuple(sorted(affected, key=lambda paper: (paper.status != "retracted", paper.key)))
