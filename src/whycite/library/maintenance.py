"""Keeping a library in order: indices, old versions, removing, packing, moving to another encoder.

First every text is encoded; the vectors wait in a file beside the tables, by text, so that whatever ends this and
whatever is added or removed in between, the next time goes on from there. Then the tables that have vectors are written
anew, and one commit shows them to readers, who saw the old ones until then.
"""

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
from whycite.library.encoding import EncoderChoice, encoder_of, note_folder, resolve_encoder
from whycite.library.paths import absolute, default_path
from whycite.library.reader import Library
from whycite.library.readingcopy import write_copy
from whycite.library.records import LibraryDocument
from whycite.library.store import Store, Table, open_store, plain_errors, writing
from whycite.library.tables import TABLES, table_schemas
from whycite.library.writer import remove_documents, storable_text
from whycite.models import DEFAULT, Encoder
from whycite.models.cache import CachedEncoder

__all__ = ["ReindexReport", "compact", "index", "needs_index", "prune", "reindex", "remove"]


_BEHIND = 2_000  # rows without index that are borne: a search looks at each of them, 7 ms for a thousand
_SHARE = 3  # while more is coming one in so many may be without: an index that grows rewrites the whole table
_VECTORS = 10_000  # from so many rows on vectors are indexed; below that looking at all is about as fast, and exact
_PARTITION = 4_000  # vectors that are looked at together
_BITS = 5  # of a number in the index of vectors: it keeps 97 % of the true neighbours; 4 keep 95 %, 7 keep 98 %
_PIECES = 64  # files that a table may be scattered over, and old versions that are borne
_GRACE = timedelta(minutes=15)  # how long a reader may go on with what it opened
_SLACK = timedelta(minutes=1)  # more than it takes to drop versions: age is counted from the end of that
_FOREVER = timedelta(days=36_500)

_IDS = {"papers": ("id",), "documents": ("id",), "spans": ("id",), "citations": ("span", "paper", "document")}
_TEXT = {"papers": "text", "spans": "text"}


def needs_index(store: Store, more_coming: bool = False) -> bool:
    """Whether so much was added that searches get slow, or words find nothing; with `more` to come, more may wait."""
    for name, column in _TEXT.items():
        rows = store[name].count_rows()
        if rows and store[name].index_stats(f"{column}_idx") is None:
            return True
        if _unindexed_rows(store[name], f"{column}_idx") > (
            max(5 * _BEHIND, rows // _SHARE) if more_coming else _BEHIND
        ):
            return True
    return any(store[name].stats()["fragment_stats"]["num_fragments"] > _PIECES for name in TABLES)


def index(store: Store, everything: bool = False) -> None:
    """Make the indices that are missing and bring the others up to date; `everything` packs the tables as well."""
    for name in TABLES:
        table = store[name]
        rows = table.count_rows()
        if not rows:
            continue
        existing = {entry.name: entry for entry in table.list_indices()}
        is_behind = any(_unindexed_rows(table, index_name) for index_name in existing)
        if existing and (everything or is_behind):
            table.optimize(cleanup_older_than=_FOREVER)  # nothing may go before the commit
        for column in _IDS[name]:
            if f"{column}_idx" not in existing:
                table.create_index(column, config=BTree())
        if name in _TEXT:
            if f"{_TEXT[name]}_idx" not in existing:
                table.create_index(_TEXT[name], config=FTS(language="English", stem=True, remove_stop_words=True))
            _index_vectors(table, rows, [index_name for index_name in existing if index_name.startswith("vector_")])


def prune(store: Store, everything: bool = False) -> None:
    """Drop what no commit and no reader needs; only ever after a commit.

    A table is packed on the way, which writes all of it anew: only where much can go, or with `everything`.
    """
    commits = store.database.open_table("commits")
    rows = sorted(commits.to_arrow().to_pylist(), key=lambda row: row["commit"])
    begin = datetime.now(UTC) - _GRACE
    # What was the last commit when the grace began a reader may have open, and what came later.
    needed = ([rows[0]] + [row for row in rows if datetime.fromisoformat(row["time"]) <= begin])[-1]
    for name in TABLES:
        if created := _version_times(store[name]).get(needed[name]):  # where clocks went wrong it may be gone already
            _drop_versions(store[name], created, always=everything)
    store.save()
    times = _version_times(commits).values()
    _drop_versions(commits, max((time for time in times if time <= begin), default=min(times)), always=True)


def _drop_versions(table: Table, needed: datetime, always: bool) -> None:
    """Drop the versions older than one that is needed.

    They are chosen by age alone. Versions that are needed can be old: of a table that has not changed for long.
    """
    cutoff = needed - _SLACK
    if always or sum(time < cutoff for time in _version_times(table).values()) > _PIECES:
        table.optimize(cleanup_older_than=_FOREVER)  # packs, which may take long
        table.optimize(cleanup_older_than=datetime.now(UTC) - cutoff)


def _version_times(table: Table) -> dict[int, datetime]:
    """When each version of a table was made."""
    return {version["version"]: version["timestamp"].astimezone(UTC) for version in table.list_versions()}


def _index_vectors(table: Table, rows: int, existing: list[str]) -> None:
    """Divide the vectors into partitions, anew when there are four times as many as the partitions were made for."""
    partitions = max(8, rows // _PARTITION)
    if rows < _VECTORS or any(int(name.split("_")[1]) * 4 > partitions for name in existing):
        return
    for name in existing:
        table.drop_index(name)
    config = _quantised(table.schema.field("vector").type.list_size, partitions)
    table.create_index("vector", config=config, name=f"vector_{partitions}_idx")


def _quantised(dimensions: int, partitions: int) -> IvfRq | IvfSq:
    """RaBitQ with five bits a dimension: faster than scalar quantisation, and finds 97 of the 100 nearest."""
    if dimensions % 8:  # it cannot
        return IvfSq(distance_type="dot", num_partitions=partitions, max_iterations=20, sample_rate=64)
    return IvfRq(distance_type="dot", num_partitions=partitions, num_bits=_BITS, max_iterations=20, sample_rate=64)


def _unindexed_rows(table: Table, name: str) -> int:
    stats = table.index_stats(name)
    return int(stats.num_unindexed_rows) if stats is not None else 0


def remove(
    path: Path | str | None, selectors: Sequence[str], *, encoder: Encoder | None = None
) -> list[LibraryDocument]:
    """Take documents out, named by key, path or id; all of them or, where one is not there, none."""
    place = Path(path).expanduser() if path is not None else default_path()
    entries = list(Library.open(place).documents())
    chosen: dict[int, LibraryDocument] = {}
    for selector in selectors:
        names = {storable_text(selector), storable_text(absolute(selector))} - {
            ""
        }  # which all documents without key have
        matches = [entry for entry in entries if names & {entry.key, entry.path, str(entry.id)}]
        if not matches:
            raise UserError(f"{place}: no document '{selector}'; see them with: whycite library list")
        chosen |= {entry.id: entry for entry in matches}
    with writing(place, "library remove"), plain_errors(place):
        store = _open_for_change(place)
        remove_documents(store, sorted(chosen), encoder or encoder_of(store.commit.encoder, place))
        store.save()
        prune(store)
        write_copy(store)
    return list(chosen.values())


def compact(path: Path | str | None) -> tuple[int, int]:
    """Pack the tables, bring the indices up to date, drop old versions; bytes before and after."""
    place = Path(path).expanduser() if path is not None else default_path()
    size_before = Library.open(place).info().bytes
    with writing(place, "library compact"), plain_errors(place):
        store = _open_for_change(place)
        index(store, everything=True)
        store.save()
        prune(store, everything=True)
        write_copy(store, anew=True)
    return size_before, Library.open(place).info().bytes


def _open_for_change(place: Path) -> Store:
    store = open_store(place)
    if store is None:
        raise UserError(f"{place}: no library here any more")
    store.roll_back()
    return store


_VECTOR_TABLES = ("spans", "papers")  # the tables that have a column `vector`, which is made from their `text`
_VECTOR_CACHE = "reindex.sqlite"
_BATCH = 2_048  # texts between two words of progress: seconds of work

Watch = Callable[[str, int, int | None], None]
"""Told what is done, how many texts are encoded and kept, and of how many."""


@dataclass(frozen=True, slots=True)
class ReindexReport:
    """What a reindex did."""

    before: str  # the encoder of the vectors there were; the same where there was nothing to do
    encoder: str
    spans: int
    papers: int
    seconds: float


def reindex(
    path: Path | str | None, *, encoder: EncoderChoice | None = None, progress: Watch | None = None
) -> ReindexReport:
    """Make all vectors of a library anew with an encoder, by default the bundled one, unless they are by it already."""
    started = time.perf_counter()
    place = Path(path).expanduser() if path is not None else default_path()
    choice = DEFAULT if encoder is None else encoder
    new_encoder = resolve_encoder(choice)
    Library.open(place)  # says what is wrong with it before anything is done
    with writing(place, "library reindex"), plain_errors(place):
        store = open_store(place)
        if store is None:
            raise UserError(f"{place}: no library here any more")
        store.roll_back()
        previous_encoder = store.commit.encoder
        note_folder(place, new_encoder, choice)
        if previous_encoder != new_encoder.name:
            _reencode(store, new_encoder, progress or _watch_nothing)
        _forget_waiting(place)
        spans, papers = store["spans"].count_rows(), store["papers"].count_rows("id = same_as")
    return ReindexReport(previous_encoder, new_encoder.name, spans, papers, time.perf_counter() - started)


def _reencode(store: Store, encoder: Encoder, watch: Watch) -> None:
    cached_encoder = CachedEncoder(CachedEncoder(encoder), store.path / _VECTOR_CACHE, limit=None)
    total = sum(store[name].count_rows() for name in _VECTOR_TABLES)
    encoded_count = 0
    watch("encoding", encoded_count, total)
    for name in _VECTOR_TABLES:
        for rows in _batches(store[name], ["text"]):
            cached_encoder.encode(rows["text"].to_pylist())
            encoded_count += len(rows)
            watch("encoding", encoded_count, total)
    watch("writing", total, total)
    for name in _VECTOR_TABLES:
        schema = table_schemas(encoder.dimensions)[name]
        batches = pa.RecordBatchReader.from_batches(schema, _with_vectors(store[name], cached_encoder, schema))
        store[name].add(batches, mode="overwrite")
    watch("indexing", total, total)
    index(store)
    store.commit = replace(store.commit, encoder=encoder.name, dimensions=encoder.dimensions)
    store.save()
    prune(store)
    write_copy(store)


def _with_vectors(table: Table, encoder: Encoder, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The rows of a table with vectors by an encoder in place of theirs."""
    for rows in _batches(table, [name for name in schema.names if name != "vector"]):
        vectors = encoder.encode(rows["text"].to_pylist()).astype(np.float16)
        column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), encoder.dimensions)
        yield pa.RecordBatch.from_arrays(
            [column if name == "vector" else rows[name] for name in schema.names], schema=schema
        )


def _batches(table: Table, columns: list[str]) -> Iterator[pa.RecordBatch]:
    yield from table.search().select(columns).to_batches(_BATCH)


def _forget_waiting(place: Path) -> None:
    for file in place.glob(f"{_VECTOR_CACHE}*"):
        file.unlink()


def _watch_nothing(stage: str, count: int, total: int | None) -> None:
    pass
