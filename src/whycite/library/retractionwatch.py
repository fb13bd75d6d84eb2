"""The list of Retraction Watch, a CSV file that Crossref publishes: read it and register its notices."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from whycite.documents.identity import normalise_doi, normalise_pmid, title_key
from whycite.documents.model import Notice, NoticeKind
from whycite.documents.references.reader import year_of
from whycite.documents.sources import decode
from whycite.errors import UserError
from whycite.library.notices import NoticeEntry, PaperNotices, registered_papers, replace_list
from whycite.library.paths import default_path, library_exists
from whycite.library.records import Paper, identifier

__all__ = ["ImportReport", "import_list"]

_NAME = "Retraction Watch"
_KINDS: dict[str, NoticeKind] = {
    "retraction": "retraction",
    "expression of concern": "concern",
    "correction": "correction",
    "reinstatement": "reinstatement",
}
_DATE = re.compile(r"(?<!\d)(\d{1,2})([/.-])(\d{1,2})\2(\d{4})(?!\d)")  # month first, as the list writes dates
_MONTHS = 12
_MAX_FIELD = 10 << 20  # characters of a field; some list hundreds of institutions
_SKIPPED = ""  # counted beside the kinds
_ITSELF_NOTICE = PaperNotices(itself_notice=True)


class _Row(NamedTuple):
    """What a row says of a paper, by the names of the columns."""

    Title: str
    RetractionDate: str
    RetractionDOI: str
    OriginalPaperDOI: str
    OriginalPaperPubMedID: str
    RetractionNature: str
    OriginalPaperDate: str = ""
    Reason: str = ""
    day_first: bool = False  # dates, as spreadsheets of many countries save them


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
    entries = _entries(_read_rows(Path(file)), kinds)
    first_entry = next(entries, None)
    if first_entry is None:
        raise UserError(f"{file}: no notices in this file")
    replace_list(place, _NAME, chain([first_entry], entries))
    skipped = kinds.pop(_SKIPPED, 0)
    return ImportReport(dict(kinds), skipped, _affected_papers(place))


def _entries(rows: Iterable[_Row], kinds: Counter[str]) -> Iterator[NoticeEntry]:
    """What rows say of papers; notices are counted by kind, and rows that say nothing as skipped."""
    for row in rows:
        kind = _KINDS.get(row.RetractionNature.strip().lower())
        original_doi = normalise_doi(row.OriginalPaperDOI)
        papers = _papers(row, original_doi)
        if kind is None or not papers:
            kinds[_SKIPPED] += 1
            continue
        kinds[kind] += 1
        doi = normalise_doi(row.RetractionDOI)
        date = _iso_date(row.RetractionDate, row.day_first)
        notice = Notice(kind, doi, date, _reasons(row.Reason), _NAME)
        yield papers, PaperNotices((notice,))
        if doi and doi != original_doi:
            yield [identifier(f"doi:{doi}")], _ITSELF_NOTICE


def _read_rows(file: Path) -> Iterator[_Row]:
    try:
        data = file.read_bytes()
    except OSError as error:
        raise UserError(f"{file}: {error.strerror or error}") from error
    csv.field_size_limit(_MAX_FIELD)
    text = decode(data)[0].removeprefix("\ufeff")
    if not text.strip():
        raise UserError(f"{file}: the file is empty")
    header = text.partition("\n")[0]
    delimiter = max(",;\t", key=header.count)  # spreadsheets save the list with others
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    day_first = _is_day_first(text)
    try:
        columns = next(rows, [])
        names = _Row._fields[:-1]
        missing = [name for name in names if name not in columns]
        if required := [name for name in missing if name not in _Row._field_defaults]:
            raise UserError(
                f"{file}: not the list of Retraction Watch (no column {required[0]}); "
                "get it from https://gitlab.com/crossref/retraction-watch-data"
            )
        # A row may be cut off; what it lacks is as empty as a column that the file does not have.
        width = len(columns)
        places = itemgetter(*(columns.index(name) if name in columns else width for name in names))
        for row in filter(None, rows):
            cells = row[:width]
            cells += [""] * (width + 1 - len(cells))
            yield _Row._make((*places(cells), day_first))
    except csv.Error as error:
        raise UserError(f"{file}:{rows.line_num}: not a valid CSV file ({error})") from error


def _papers(row: _Row, doi: str) -> list[int]:
    """The ids of the paper that a row is about: by DOI and PMID, and by title and year if the title tells it."""
    pmid = normalise_pmid(row.OriginalPaperPubMedID)
    keys = (
        f"doi:{doi}" if doi else "",
        f"pmid:{pmid}" if pmid.strip("0") else "",
        title_key(row.Title, _year(row.OriginalPaperDate)),
    )
    return [identifier(key) for key in keys if key]


_year = lru_cache(year_of)


def _is_day_first(text: str) -> bool:
    """Whether the dates of a list have the day first: more of them have no other reading than have none with it."""
    dates = [(int(match[1]), int(match[3])) for match in _DATE.finditer(text)]
    return sum(first > _MONTHS for first, _ in dates) > sum(second > _MONTHS for _, second in dates)


@lru_cache
def _iso_date(text: str, day_first: bool) -> str:
    if match := _DATE.match(text):
        month, day = (match[3], match[1]) if day_first else (match[1], match[3])
        return f"{match[4]}-{month:0>2}-{day:0>2}" if int(month) <= _MONTHS else ""
    return text[:10] if re.match(r"\d{4}-\d\d-\d\d", text) else ""


@lru_cache
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
