"""Maintain a library: indices and old versions (after every change), `remove`, `compact`, `reindex`, `inspect`."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
from lancedb.index import FTS, BTree, IvfRq, IvfSq

from whycite.errors import UserError
from whycite.library.checksums import damaged_files, forget_seal, missing_files, read_seal, seal
from whycite.library.encoding import EncoderChoice, encoder_of, note_folder, resolve_encoder
from whycite.library.paths import REGISTER, absolute, default_path
from whycite.library.reader import Library
from whycite.library.readingcopy import copy_folder, find_damage, write_copy
from whycite.library.records import LibraryDocument
from whycite.library.store import Store, Table, has_writer, open_store, plain_errors, writing
from whycite.library.tables import scan_columns, table_schemas
from whycite.library.writer import remove_documents, storable_text
from whycite.models import DEFAULT, Encoder
from whycite.models.cache import CachedEncoder

__all__ = [
    "MAX_ALWAYS_INDEXED",
    "MAX_FRAGMENTS",
    "MAX_UNINDEXED",
    "MAX_UNINDEXED_SHARE",
    "MIN_INDEXED_VECTORS",
    "PARTITION_ROWS",
    "PROGRESS_TEXTS",
    "PRUNE_SLACK",
    "READER_GRACE",
    "Damage",
    "DamageKind",
    "Inspection",
    "ReindexReport",
    "compact",
    "index",
    "inspect",
    "needs_index",
    "open_for_change",
    "prune",
    "reindex",
    "remove",
]


MAX_UNINDEXED = 2_000  # rows: a search scans them, 7 ms for a thousand
# BM25 counts the words of indexed rows alone: if others wait, scores depend on what was added when. In a table of at
# most so many rows none waits. Updating the index of 300,000 spans takes 0.6 s and 24 MB: in larger ones 1 % may wait.
MAX_ALWAYS_INDEXED = 20_000
MAX_UNINDEXED_SHARE = 0.01
_PATIENCE = 5  # times as many are allowed while more are coming, since updating an index rewrites all of it,
_PATIENT_SHARE = 1 / 3  # or this share of the rows, if that is more
MIN_INDEXED_VECTORS = 10_000  # rows: below that scanning all vectors is about as fast, and exact
PARTITION_ROWS = 4_000  # vectors that are scanned together
_MIN_PARTITIONS = 8
_REPARTITION = 4  # partition the vectors again after growth by this factor
_VECTOR_BITS = 5  # per dimension in the index: finds 97 % of the true neighbours; 4 bits find 95 %, 7 find 98 %
_ITERATIONS, _SAMPLE_RATE = 20, 64  # of k-means; LanceDB's defaults, 50 and 256, take longer
MAX_FRAGMENTS = 64  # files of a table, all of which a query opens; also the limit of its old versions
READER_GRACE = timedelta(minutes=15)  # how long a reader can use what it opened
PRUNE_SLACK = timedelta(minutes=1)  # more than dropping versions takes, since their age is measured at its end
_FOREVER = timedelta(days=36_500)  # drops no version

_ID_COLUMNS = {
    "papers": ("id",),
    "documents": ("id",),
    "spans": ("id",),
    "citations": ("span", "paper", "document"),
    "passages": ("document",),
}
_SEARCHED = ("spans", "papers")  # the tables with a column `text`, and a column `vector` made from it
_WORDED = (*_SEARCHED, "passages")  # the tables whose texts are searched by words

_VECTOR_CACHE = "reindex.sqlite"  # in the library, while a reindex is unfinished
PROGRESS_TEXTS = 2_048  # texts between two progress reports: seconds of work

Watch = Callable[[str, int, int | None], None]
"""Called with the stage, the number of encoded texts, and the total."""


def remove(
    path: Path | str | None, selectors: Sequence[str], *, encoder: Encoder | None = None
) -> list[LibraryDocument]:
    """Remove documents by key, path or id; none of them if one is not found."""
    place = Path(path).expanduser() if path is not None else default_path()
    entries = list(Library.open(place).documents())
    chosen: dict[int, LibraryDocument] = {}
    for selector in selectors:
        # Not "", which is the key of all documents without one.
        names = {storable_text(selector), storable_text(absolute(selector))} - {""}
        matches = [entry for entry in entries if names & {entry.key, entry.path, str(entry.id)}]
        if not matches:
            raise UserError(f"{place}: no document '{selector}'; list documents with: whycite library list")
        chosen |= {entry.id: entry for entry in matches}
    with writing(place, "library remove"), plain_errors(place):
        store = open_for_change(place)
        remove_documents(store, sorted(chosen), encoder or encoder_of(store.commit.encoder, place))
        store.save()
        prune(store)
        write_copy(store)
        seal(store.path, store.commit)
    return list(chosen.values())


def compact(path: Path | str | None) -> tuple[int, int]:
    """Pack the tables, update the indices and drop old versions; returns the bytes before and after."""
    place = Path(path).expanduser() if path is not None else default_path()
    size_before = Library.open(place).info().bytes
    with writing(place, "library compact"), plain_errors(place):
        store = open_for_change(place)
        index(store, everything=True)
        store.save()
        prune(store, everything=True)
        write_copy(store, from_scratch=True)
        seal(store.path, store.commit)
    return size_before, Library.open(place).info().bytes


def open_for_change(place: Path) -> Store:
    """The store as of its last commit, for the holder of the lock."""
    store = open_store(place)
    if store is None:
        raise UserError(f"{place}: the library was deleted")
    store.roll_back()
    return store


@dataclass(frozen=True, slots=True)
class ReindexReport:
    """What a reindex did."""

    before: str  # the previous encoder; the same if there was nothing to do
    encoder: str
    spans: int
    papers: int
    seconds: float


def reindex(
    path: Path | str | None, *, encoder: EncoderChoice | None = None, progress: Watch | None = None
) -> ReindexReport:
    """Move a library to another encoder, by default the bundled one.

    First all texts are encoded into a file in the library. If that is interrupted, the next call continues, whatever
    was added or removed meanwhile. Then the tables are rewritten; readers see the old ones until a single commit.
    """
    started = time.perf_counter()
    place = Path(path).expanduser() if path is not None else default_path()
    choice = DEFAULT if encoder is None else encoder
    new_encoder = resolve_encoder(choice)
    Library.open(place)  # raises before anything is done
    with writing(place, "library reindex"), plain_errors(place):
        store = open_for_change(place)
        previous_encoder = store.commit.encoder
        note_folder(place, new_encoder, choice)
        if previous_encoder != new_encoder.name:
            _reencode(store, new_encoder, progress or (lambda *_: None))
        _delete_vector_cache(place)
        spans, papers = store["spans"].count_rows(), store["papers"].count_rows("id = same_as")
    return ReindexReport(previous_encoder, new_encoder.name, spans, papers, time.perf_counter() - started)


def _reencode(store: Store, encoder: Encoder, watch: Watch) -> None:
    cached_encoder = CachedEncoder(CachedEncoder(encoder), store.path / _VECTOR_CACHE, limit=None)
    total = sum(store[name].count_rows() for name in _SEARCHED)
    encoded_count = 0
    watch("encoding", encoded_count, total)
    for name in _SEARCHED:
        for rows in scan_columns(store[name], ["text"], size=PROGRESS_TEXTS):
            cached_encoder.encode(rows["text"].to_pylist())
            encoded_count += len(rows)
            watch("encoding", encoded_count, total)
    watch("writing", total, total)
    for name in _SEARCHED:
        schema = table_schemas(encoder.dimensions)[name]
        batches = pa.RecordBatchReader.from_batches(schema, _with_vectors(store[name], cached_encoder, schema))
        store[name].add(batches, mode="overwrite")
    watch("indexing", total, total)
    index(store)
    store.commit = replace(store.commit, encoder=encoder.name, dimensions=encoder.dimensions)
    store.save()
    prune(store)
    write_copy(store)
    seal(store.path, store.commit)


def _with_vectors(table: Table, encoder: Encoder, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The rows of a table with new vectors."""
    existing = [name for name in table.schema.names if name != "vector"]  # an older version had fewer columns
    for rows in scan_columns(table, existing, size=PROGRESS_TEXTS):
        vectors = encoder.encode(rows["text"].to_pylist()).astype(np.float16)
        column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), encoder.dimensions)
        columns = {name: rows[name] for name in existing} | {"vector": column}
        nothing = pa.nulls(len(rows))
        yield pa.RecordBatch.from_arrays(
            [columns[field.name] if field.name in columns else nothing.cast(field.type) for field in schema],
            schema=schema,
        )


def _delete_vector_cache(place: Path) -> None:
    for file in place.glob(f"{_VECTOR_CACHE}*"):
        file.unlink()


def needs_index(store: Store, more_coming: bool = False) -> bool:
    """Whether searches are slow or impossible without an index update; `more_coming` raises the limit."""
    for name in store.names:
        rows = store[name].count_rows() if name in _WORDED else 0
        if rows and store[name].index_stats("text_idx") is None:
            return True
        limit = min(MAX_UNINDEXED, rows * MAX_UNINDEXED_SHARE) if rows > MAX_ALWAYS_INDEXED else 0
        if more_coming:
            limit = max(_PATIENCE * MAX_UNINDEXED, rows * _PATIENT_SHARE)
        if rows and _unindexed_rows(store[name], "text_idx") > limit:
            return True
    return any(store[name].stats()["fragment_stats"]["num_fragments"] > MAX_FRAGMENTS for name in store.names)


def index(store: Store, everything: bool = False) -> None:
    """Create missing indices and update the others; `everything` packs the tables as well."""
    for name in store.names:
        table = store[name]
        rows = table.count_rows()
        if not rows:
            continue
        existing = {entry.name: entry for entry in table.list_indices()}
        is_behind = any(_unindexed_rows(table, index_name) for index_name in existing)
        if existing and (everything or is_behind):
            table.optimize(cleanup_older_than=_FOREVER)  # nothing may be dropped before the commit
        for column in _ID_COLUMNS[name]:
            if f"{column}_idx" not in existing:
                table.create_index(column, config=BTree())
        if name in _WORDED and "text_idx" not in existing:
            table.create_index("text", config=FTS(language="English", stem=True, remove_stop_words=True))
        if name in _SEARCHED:
            _index_vectors(table, rows, [index_name for index_name in existing if index_name.startswith("vector_")])


def prune(store: Store, everything: bool = False) -> None:
    """Drop versions that no commit and no reader needs; call it only after a commit.

    This packs a table, which rewrites all of it: only tables with many versions to drop, or all with `everything`.
    """
    commits = store.database.open_table("commits")
    rows = sorted(commits.to_arrow().to_pylist(), key=lambda row: row["commit"])
    begin = datetime.now(UTC) - READER_GRACE
    # A reader may have opened the last commit at that time, or a later one.
    needed = ([rows[0]] + [row for row in rows if datetime.fromisoformat(row["time"]) <= begin])[-1]
    for name in store.names:
        if created := _version_times(store[name]).get(needed[name]):  # it may be gone if the clock was wrong
            _drop_versions(store[name], created, always=everything)
    store.save()
    times = _version_times(commits).values()
    _drop_versions(commits, max((time for time in times if time <= begin), default=min(times)), always=True)


def _drop_versions(table: Table, needed: datetime, always: bool) -> None:
    """Drop the versions that are older than a needed one, which can be old itself if the table rarely changes."""
    cutoff = needed - PRUNE_SLACK
    if always or sum(time < cutoff for time in _version_times(table).values()) > MAX_FRAGMENTS:
        table.optimize(cleanup_older_than=_FOREVER)  # packs the table, which may take long
        table.optimize(cleanup_older_than=datetime.now(UTC) - cutoff)


def _version_times(table: Table) -> dict[int, datetime]:
    """The time of each version of a table."""
    return {version["version"]: version["timestamp"].astimezone(UTC) for version in table.list_versions()}


def _index_vectors(table: Table, rows: int, existing: list[str]) -> None:
    """Partition the vectors, once and again after growth; the name of the index includes the number of partitions."""
    partitions = max(_MIN_PARTITIONS, rows // PARTITION_ROWS)
    if rows < MIN_INDEXED_VECTORS or any(int(name.split("_")[1]) * _REPARTITION > partitions for name in existing):
        return
    for name in existing:
        table.drop_index(name)
    config = _quantised(table.schema.field("vector").type.list_size, partitions)
    table.create_index("vector", config=config, name=f"vector_{partitions}_idx")


def _quantised(dimensions: int, partitions: int) -> IvfRq | IvfSq:
    """RaBitQ, which is faster than scalar quantisation but needs a multiple of eight dimensions."""
    if dimensions % 8:
        return IvfSq("dot", partitions, max_iterations=_ITERATIONS, sample_rate=_SAMPLE_RATE)
    return IvfRq("dot", partitions, num_bits=_VECTOR_BITS, max_iterations=_ITERATIONS, sample_rate=_SAMPLE_RATE)


def _unindexed_rows(table: Table, name: str) -> int:
    stats = table.index_stats(name)
    return int(stats.num_unindexed_rows) if stats is not None else 0


DamageKind = Literal["table", "index", "copy", "checksums", "register"]


@dataclass(frozen=True, slots=True)
class Damage:
    """A file that is not what was written."""

    file: str  # its path in the library
    kind: DamageKind
    repaired: bool = False


@dataclass(frozen=True, slots=True)
class Inspection:
    """What a check of a library found."""

    path: str
    files: int  # files of the tables with a checksum; 0 if a library of an older version has none
    state: str | None  # a checksum of all files of the tables; None if it is not known
    damage: tuple[Damage, ...]

    @property
    def is_sound(self) -> bool:
        """Whether all is as it was written, or was mended."""
        return all(damage.repaired for damage in self.damage)


def inspect(path: Path | str | None, *, repair: bool = False) -> Inspection:
    """Read all files of a library and compare them with their checksums.

    `repair` rebuilds what follows from the tables: indices, the reading copy and the list of checksums.
    """
    place = Path(path).expanduser() if path is not None else default_path()
    with plain_errors(place):
        damage = _find_table_damage(place)
        if any(entry.kind == "table" for entry in damage):  # it may not even open
            return Inspection(str(place), _sealed_files(place), None, tuple(damage))
        store = _open_existing(place)
        damage += _find_other_damage(store)
        if repair:
            with writing(place, "library check --repair"):
                store = _open_existing(place)
                damage = _repair(store, damage)
        return Inspection(str(place), _sealed_files(place), _state(store), tuple(damage))


def _sealed_files(place: Path) -> int:
    try:
        sealed = read_seal(place)
    except UserError:  # in the report already
        return 0
    return len(sealed.files) if sealed else 0


def _state(store: Store) -> str | None:
    try:
        sealed = read_seal(store.path)
    except UserError:  # in the report already
        return None
    return sealed.state if sealed is not None and sealed.commit == store.commit.number else None


def _open_existing(place: Path) -> Store:
    store = open_store(place, verify=False)
    if store is None:
        raise UserError(f"{place}: no library here yet; create one with: whycite add FOLDER")
    return store


def _find_table_damage(place: Path) -> list[Damage]:
    try:
        files = damaged_files(place)
        if not has_writer(place):  # which may drop what is no longer needed
            files += missing_files(place)
    except UserError:
        return [Damage("checksums.json", "checksums")]
    return [Damage(file, "index" if "_indices" in Path(file).parts else "table") for file in files]


def _find_other_damage(store: Store) -> list[Damage]:
    damage = []
    home = copy_folder(store.path, store.commit)
    for file in find_damage(store.path, store.commit):
        place = home / file if (home / file).exists() else home.parent / file
        damage.append(Damage(place.relative_to(store.path).as_posix(), "copy"))
    if _is_register_damaged(store.path / REGISTER):
        damage.append(Damage(REGISTER, "register"))
    return damage


def _is_register_damaged(register: Path) -> bool:
    if not register.exists():
        return False
    try:
        with closing(sqlite3.connect(f"{register.resolve().as_uri()}?mode=ro", uri=True)) as database:
            return bool(database.execute("PRAGMA integrity_check").fetchone() != ("ok",))
    except sqlite3.DatabaseError:
        return True


def _repair(store: Store, damage: list[Damage]) -> list[Damage]:
    """Rebuild what can be rebuilt."""
    kinds = {entry.kind for entry in damage}
    store.roll_back()
    broken = [entry.file for entry in damage if entry.kind == "index"]
    for name in {Path(file).parts[0].removesuffix(".lance") for file in broken}:
        for broken_index in store[name].list_indices():
            store[name].drop_index(broken_index.name)
    if broken:
        index(store)
        store.save()
        prune(store, everything=True)
        for file in broken:  # of versions that some reader may still have open
            (store.path / file).unlink(missing_ok=True)
    if kinds & {"index", "copy"}:
        write_copy(store, from_scratch=True)
    if "checksums" in kinds:
        forget_seal(store.path)
    seal(store.path, store.commit)
    return [replace(entry, repaired=entry.kind != "register") for entry in damage]
