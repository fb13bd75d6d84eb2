"""The register of notices of a library: which papers were retracted or corrected, and which are notices themselves.

It is filled from documents as they are added and from the list of Retraction Watch.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whycite.documents.identity import paper_key
from whycite.documents.model import Document, Notice, Reference
from whycite.documents.references.notices import PaperStatus, describe_status, is_notice, paper_status, stated_notices
from whycite.library.records import identifier
from whycite.library.register import change_register, has_register, read_register, select_ids

__all__ = [
    "NoticeEntry",
    "PaperNotices",
    "forget_documents",
    "known_notices",
    "load_notices",
    "look_up",
    "read_notices",
    "record_documents",
    "registered_papers",
    "replace_list",
    "stated",
    "version_ids",
]

_ITSELF = Notice("itself")  # type: ignore[arg-type]  # in the register alone: the paper is a notice


@dataclass(frozen=True, slots=True)
class PaperNotices:
    """The notices about a paper, and whether it is one itself."""

    notices: tuple[Notice, ...] = ()
    itself_notice: bool = False

    @property
    def description(self) -> str:
        """What happened to the paper, in a line; "" if it stands."""
        return describe_status(self.status, self.notices)

    @property
    def status(self) -> PaperStatus:
        """What the paper has become."""
        return paper_status(self.notices, self.itself_notice)

    def merge(self, added: PaperNotices) -> PaperNotices:
        """These notices and those of another version or source."""
        notices = dict.fromkeys((*self.notices, *added.notices))
        return PaperNotices(tuple(notices), self.itself_notice or added.itself_notice)


def stated(reference: Reference) -> PaperNotices:
    """What a reference says itself."""
    return PaperNotices(stated_notices(reference), is_notice(reference))


def load_notices(plain: Mapping[str, Any]) -> PaperNotices:
    """Notices from plain fields."""
    return PaperNotices(tuple(Notice(**notice) for notice in plain["notices"]), plain["itself_notice"])


def known_notices(reference: Reference, registered: Mapping[int, PaperNotices], ids: Collection[int]) -> PaperNotices:
    """What a reference says itself, and what is registered under one of its ids."""
    notices = stated(reference)
    for id in sorted(registered.keys() & ids):
        notices = notices.merge(registered[id])
    return notices


def look_up(library: Path, references: Sequence[Reference]) -> list[PaperNotices]:
    """What references say themselves, and what the register of a library knows of them by their identifiers."""
    ids = [version_ids(reference) for reference in references]
    registered = read_notices(library, set().union(*ids))
    return [
        known_notices(reference, registered, paper_ids) for reference, paper_ids in zip(references, ids, strict=True)
    ]


def version_ids(reference: Reference) -> set[int]:
    """The ids under which the register may know a paper: of its key, its DOI and its PMID."""
    keys = {paper_key(reference), f"doi:{reference.doi}", f"pmid:{reference.pmid}"} - {"", "doi:", "pmid:"}
    return set(map(identifier, keys))


def read_notices(library: Path, papers: Collection[int]) -> dict[int, PaperNotices]:
    """What is registered of papers by id; those of which nothing is known are left out."""
    notices: dict[int, PaperNotices] = {}
    if not papers:
        return notices
    with read_register(library, "notices") as register:
        query = (
            "SELECT paper, kind, doi, date, reason, source FROM papers JOIN notices ON notices.id = notice "
            "WHERE paper IN ({ids}) ORDER BY date, id"
        )
        for paper, *fields in select_ids(register, query, papers) if register else ():
            notices[paper] = notices.get(paper, PaperNotices()).merge(_notices(fields))
    return notices


def registered_papers(library: Path) -> set[int]:
    """The ids of all papers that the register has notices about."""
    with read_register(library, "notices") as register:
        return {paper for (paper,) in register.execute("SELECT DISTINCT paper FROM papers")} if register else set()


def record_documents(library: Path, documents: Mapping[int, Document]) -> None:
    """Register what documents say of themselves, of their references, and of the papers they amend; by document id."""
    entries = {f"document:{id}": [*_document_entries(document)] for id, document in documents.items()}
    if any(entries.values()):
        _write(library, entries)


def forget_documents(library: Path, documents: Iterable[int]) -> None:
    """Take back what only these documents said."""
    if has_register(library):
        _write(library, {f"document:{id}": [] for id in documents})


def replace_list(library: Path, name: str, entries: Iterable[NoticeEntry]) -> None:
    """Register a list of notices in place of an older one of the same name."""
    _write(library, {f"list:{name}": entries})


NoticeEntry = tuple[Collection[int], PaperNotices]
"""The ids of a paper, and what is known of it."""


def _document_entries(document: Document) -> Iterator[NoticeEntry]:
    for reference in (document.paper, *document.references, *document.amended):
        notices = stated(reference)
        if notices != PaperNotices() and (key := paper_key(reference)):
            yield [identifier(key)], notices


def _notices(fields: list[str]) -> PaperNotices:
    notice = Notice(*fields)  # type: ignore[arg-type]  # only kinds are written
    return PaperNotices(itself_notice=True) if notice == _ITSELF else PaperNotices((notice,))


def _write(library: Path, entries: Mapping[str, Iterable[NoticeEntry]]) -> None:
    """Replace the entries of each origin, all at once."""
    with change_register(library) as register:
        for origin, origin_entries in entries.items():
            _delete(register, origin)
            _insert(register, origin, origin_entries)


def _delete(register: sqlite3.Connection, origin: str) -> None:
    [[is_known]] = register.execute("SELECT EXISTS (SELECT 1 FROM notices WHERE origin = ?)", (origin,))
    if is_known:
        of_origin = "SELECT id FROM notices WHERE origin = ?"
        register.execute(f"DELETE FROM papers WHERE notice IN ({of_origin})", (origin,))
        register.execute("DELETE FROM notices WHERE origin = ?", (origin,))


def _insert(register: sqlite3.Connection, origin: str, entries: Iterable[NoticeEntry]) -> None:
    [[last_number]] = register.execute("SELECT coalesce(max(id), 0) FROM notices")
    rows: list[tuple[object, ...]] = []
    papers: list[tuple[int, int]] = []
    themselves: set[int] = set()
    for ids, paper_notices in entries:
        for notice in paper_notices.notices:
            number = last_number + len(rows) + 1
            rows.append((number, origin, notice.kind, notice.doi, notice.date, notice.reason, notice.source))
            papers += [(paper, number) for paper in ids]
        if paper_notices.itself_notice:
            themselves.update(ids)
    if themselves:
        number = last_number + len(rows) + 1
        rows.append((number, origin, _ITSELF.kind, "", "", "", ""))
        papers += [(paper, number) for paper in themselves]
    register.executemany("INSERT INTO notices VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
    register.executemany("INSERT INTO papers VALUES (?, ?)", sorted(papers))  # in the order of the table: faster
