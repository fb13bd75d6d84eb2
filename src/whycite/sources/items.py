"""Add items of a source to a library: only what changed since the last time, with the citation keys of the user."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path

from whycite.documents.identity import fill_gaps
from whycite.documents.model import Document, Reference
from whycite.documents.reading import stream
from whycite.errors import UserError
from whycite.library import AddProgress, AddReport, Library, add_documents, default_path, remove
from whycite.library.papers import version_of
from whycite.library.records import identifier
from whycite.library.register import TakenItem, drop_items, read_items, record_addresses, record_items
from whycite.library.store import open_store
from whycite.library.writer import content_hash

__all__ = ["SourceItem", "TakeReport", "merge_reports", "open_library", "take_items", "taken_names"]

_NONE = TakenItem("", "", 0, 0, "")  # in place of an item that was never taken
_RECORDED = 32  # items recorded at once; those of a killed process that were not are read again


@dataclass(frozen=True, slots=True)
class SourceItem:
    """A paper as a source has it."""

    name: str  # that no other item has, and the path of its document if no file has text
    reference: Reference  # what the source knows of the paper
    key: str = ""  # by which the user cites it
    files: tuple[Path, ...] = ()  # full texts, best first
    warnings: tuple[str, ...] = ()  # what is reported if no file has text
    address: str = ""  # by which the source's plug-ins for word processors cite it

    @property
    def state(self) -> str:
        """A hash that changes whenever the item or one of its files does."""
        files = [(str(file), *_file_state(file)) for file in self.files]
        return blake2b(repr((self.reference, self.key, files)).encode("utf-8", "replace"), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class TakeReport:
    """What was taken from a source."""

    items: int  # in the source
    unchanged: int  # since they were last taken
    with_text: int  # of those taken now
    gone: int  # no longer in the source; their documents stay in the library
    added: AddReport = field(default_factory=AddReport)


def take_items(
    path: Path | str | None,
    items: Sequence[SourceItem],
    origin: str | None,
    *,
    jobs: int | None = None,
    encoder: str | None = None,
    progress: Callable[[AddProgress], None] | None = None,
    own_text: bool = True,
) -> TakeReport:
    """Add the items that are new or changed to a library, which is created if needed.

    `origin` is how the names of all items of the source begin, None if these are not all: it tells which are gone.
    """
    place = Path(path).expanduser() if path is not None else default_path()
    stored_items = read_items(place)
    stored = _document_ids(place)
    states = {item.name: item.state for item in items}
    changed = [item for item in items if not _is_taken(stored_items.get(item.name), states[item.name], stored)]
    gone = {name for name in stored_items if origin and name.startswith(origin)} - states.keys()
    intake = _ItemIntake(place, states)
    report, waiting = AddReport(), changed
    while waiting:
        try:
            added = add_documents(
                place, intake.documents(waiting), jobs=jobs, encoder=encoder, progress=progress, own_text=own_text
            )
        finally:
            intake.flush()
        removed = _remove_outdated(place, stored_items.values(), intake.rows)
        # A document that was taken for a copy of the one that it takes the place of: there is room for it now.
        skipped = {skipped_path for skipped_path, _ in added.skipped}
        waiting = [
            item
            for item in waiting
            if intake.paths[item.name] in skipped and stored_items.get(item.name, _NONE).document in removed
        ]
        again = {intake.paths[item.name] for item in waiting}
        added.skipped = [entry for entry in added.skipped if entry[0] not in again]
        intake.record_skipped(skipped - again)
        report = merge_reports(report, added)
    drop_items(place, gone)
    record_addresses(place, {item.name: item.address for item in items if item.address})
    report.unchanged += len(items) - len(changed)
    return TakeReport(len(items), len(items) - len(changed), intake.with_text, len(gone), report)


def merge_reports(report: AddReport, later: AddReport) -> AddReport:
    """Two adds to one library as one."""
    names = ("added", "replaced", "unchanged", "skipped", "warnings", "without_citations", "spans", "seconds")
    return AddReport(
        **{name: getattr(report, name) + getattr(later, name) for name in names},
        papers=max(report.papers, later.papers),
        stages={
            name: report.stages.get(name, 0.0) + later.stages.get(name, 0.0)
            for name in {**report.stages, **later.stages}
        },
    )


def taken_names(path: Path | str | None) -> set[str]:
    """The names of the items whose documents a library has."""
    place = Path(path).expanduser() if path is not None else default_path()
    stored = _document_ids(place)
    return {name for name, row in read_items(place).items() if not row.document or row.document in stored}


def open_library(path: Path | str | None) -> Library | None:
    """The library at a path; None if there is none yet, or nothing in it."""
    place = Path(path).expanduser() if path is not None else default_path()
    store = open_store(place)
    return None if store is None or store.commit.number == 1 else Library(store)


def _document_ids(place: Path) -> set[int]:
    library = open_library(place)
    return set(library.snapshot.all_rows("documents", ["id"])["id"].to_pylist()) if library else set()


def _is_taken(row: TakenItem | None, state: str, stored: Collection[int]) -> bool:
    return row is not None and row.state == state and (not row.document or row.document in stored)


def _remove_outdated(place: Path, old_rows: Iterable[TakenItem], new_rows: Mapping[str, TakenItem]) -> set[int]:
    """Remove documents that an item no longer has: without text until its file came, or read from another file."""
    outdated = {
        row.document for row in old_rows if row.item in new_rows and row.document != new_rows[row.item].document
    }
    needed = {row.document for row in read_items(place).values()}
    if remaining := (outdated - needed) & _document_ids(place):
        remove(place, [str(document) for document in sorted(remaining)])
    return remaining


class _ItemIntake:
    """Reads items into documents, and records each so that it need not be read again."""

    def __init__(self, place: Path, states: Mapping[str, str]) -> None:
        self._place, self._states = place, states
        self._waiting: list[TakenItem] = []
        self.rows: dict[str, TakenItem] = {}
        self.paths: dict[str, str] = {}
        self._with_text: set[str] = set()

    @property
    def with_text(self) -> int:
        """The number of items that have text."""
        return len(self._with_text)

    def documents(self, items: Iterable[SourceItem]) -> Iterator[Document]:
        """Read items one by one."""
        for item in items:
            document = _read_item(item)
            if document.sentences:
                self._with_text.add(item.name)
            paper = version_of(document.paper) or version_of(item.reference)
            row = TakenItem(item.name, self._states[item.name], identifier(content_hash(document)), paper, item.key)
            self.rows[item.name], self.paths[item.name] = row, document.path
            self._waiting.append(row)
            if len(self._waiting) >= _RECORDED:
                self.flush()
            yield document

    def flush(self) -> None:
        """Record what was read."""
        record_items(self._place, self._waiting)
        self._waiting = []

    def record_skipped(self, paths: Collection[str]) -> None:
        """Record that the library does not want the documents at these paths."""
        rows = [replace(row, document=0) for name, row in self.rows.items() if self.paths[name] in paths]
        record_items(self._place, rows)


def _read_item(item: SourceItem) -> Document:
    """The first file of an item that has text, with what the source knows of the paper; else its reference alone."""
    warnings = list(item.warnings)
    for file in item.files:
        try:
            document = next(stream(file), None)
        except UserError as error:
            warnings.append(str(error))
            continue
        if document is not None and document.sentences:
            paper = replace(fill_gaps(item.reference, document.paper), id=document.paper.id)
            return replace(document, paper=paper)
        warnings += document.warnings if document else ()
    references = (item.reference,) if version_of(item.reference) else ()
    return Document(item.name, "reference", Reference(""), references=references, warnings=tuple(warnings))


def _file_state(file: Path) -> tuple[int, int]:
    try:
        state = file.stat()
    except OSError:
        return 0, 0
    return state.st_mtime_ns, state.st_size
