"""Maintain a library: indices and old versions (after every change), `remove`, `compact` and `reindex`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
from lancedb.index import FTS, BTree, IvfRq, IvfSq

from whycite.errors import UserError
from whycite.library.checksums import seal
from whycite.library.encoding import EncoderChoice, encoder_of, note_folder, resolve_encoder
from whycite.library.paths import absolute, default_path
from whycite.library.reader import Library
from whycite.library.readingcopy import write_copy
from whycite.library.records import LibraryDocument
from whycite.library.store import Store, Table, open_store, plain_errors, writing
from whycite.library.tables import scan_columns, table_schemas
from whycite.library.writer import remove_documents, storable_text
from whycite.models import DEFAULT, Encoder
from whycite.models.cache import CachedEncoder

__all__ = [
    "MAX_FRAGMENTS",
    "MAX_UNINDEXED",
    "MIN_INDEXED_VECTORS",
    "PARTITION_ROWS",
    "PROGRESS_TEXTS",
    "PRUNE_SLACK",
    "READER_GRACE",
    "ReindexReport",
    "compact",
    "index",
    "needs_index",
    "prune",
    "reindex",
    "remove",
]


MAX_UNINDEXED = 2_000  # rows: a search scans them, 7 ms for a thousand
_PATIENCE = 5  # times as many are allowed while more are coming, since updating an index rewrites all of it,
_MAX_UNINDEXED_SHARE = 1 / 3  # or this share of the rows, if that is more
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
        store = _open_for_change(place)
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
        store = _open_for_change(place)
        index(store, everything=True)
        store.save()
        prune(store, everything=True)
        write_copy(store, anew=True)
        seal(store.path, store.commit)
    return size_before, Library.open(place).info().bytes


def _open_for_change(place: Path) -> Store:
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
        store = _open_for_change(place)
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
        limit = max(_PATIENCE * MAX_UNINDEXED, rows * _MAX_UNINDEXED_SHARE) if more_coming else MAX_UNINDEXED
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
