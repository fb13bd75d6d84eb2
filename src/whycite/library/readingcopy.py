"""The reading copy of a commit: the rows that answers need, laid out for fast reading.

LanceDB takes longer to fetch the hundreds of rows that an answer needs than to find them. The copy stores these rows
one after another in a file for each table (a heap), with arrays of their offsets. Only the arrays are mapped into
memory. Writers make the copy when they are done; it belongs to one commit.

Nothing is read that is not what was written. The manifest has the checksums of the arrays and citations, with the size
and time they had then; who opens a large copy reads those files again that differ in size or time, and once a week all
of them. Every record of a heap has checksums of its own, which are compared whenever it is read: a heap has gigabytes.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any
from uuid import uuid4
from weakref import finalize

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from whycite.errors import UserError
from whycite.library.checksums import SMALL, TRUST_SECONDS, digest_file, stamp_file
from whycite.library.records import Commit
from whycite.library.store import Store, Table
from whycite.library.tables import ROW, SupportCounts, identifier, read_columns, rows_at, scan_columns, table_schemas

__all__ = [
    "CITATION_COLUMNS",
    "CODED_COLUMNS",
    "MANIFEST",
    "RECORD_COLUMNS",
    "CopiedCitations",
    "CopiedRows",
    "CopyDamage",
    "ReadingCopy",
    "citation_dtype",
    "copied_files",
    "copy_folder",
    "find_damage",
    "load_column",
    "open_copy",
    "write_copy",
]


RECORD_COLUMNS = {
    "spans": ("text",),
    "papers": (
        "key", "title", "authors", "year", "venue", "doi", "abstract", "text", "arxiv", "pmid", "isbn", "publication",
    ),
}  # fmt: skip
# Fields of a record, after the vector. New ones come last: records of older versions end before them.
_OLD_COLUMNS = {"spans": ["text"]}  # of copies that do not say; the records of papers are incomplete
CITATION_COLUMNS = {
    "span": ("span", "paper", "document", "sentence", "place", "kind", "section_type"),
    "paper": ("paper", "document", "place"),
}  # fields of citations, which are copied twice: by span and by paper
CODED_COLUMNS = ("kind", "section_type")  # have few distinct values, which are stored as numbers
MANIFEST = "facts.json"
_VERIFIED = "verified"  # an empty file: its time says when all others were read last
_FOLDER = "reading"
_LAYOUT = 2  # increase it when the layout changes, which hides older copies

_LOG = logging.getLogger("whycite")

Integers = NDArray[np.int64]
Array = NDArray[Any]


def copy_folder(library: Path, commit: Commit | None = None) -> Path:
    """The folder of a commit's copy, or of all copies and their heaps."""
    if commit is None:
        return library / _FOLDER
    state = f"{_LAYOUT} {commit.number} {commit.encoder} {commit.time} {sorted(commit.versions.items())}"
    return library / _FOLDER / f"{commit.number}-{identifier(state):x}"


@dataclass(frozen=True, slots=True)
class ReadingCopy:
    """A reading copy, open."""

    folder: Path
    rows: Mapping[str, CopiedRows]  # spans and papers
    citations: CopiedCitations
    same_as: dict[int, int]  # the version that stands for each version of a paper, if it is another
    support: SupportCounts
    columns: Mapping[str, list[str]]  # fields of the records of each table


def open_copy(library: Path, commit: Commit) -> ReadingCopy | None:
    """The copy of a commit; None if there is none."""
    folder = copy_folder(library, commit)
    try:
        content = (folder / MANIFEST).read_bytes()
        manifest = json.loads(content)
        if damaged := _damaged_files(folder, manifest, trust_stamps=True):
            _LOG.warning("%s: damaged; answering without the reading copy, which is slower", folder / damaged[0])
            return None
        rows = {name: CopiedRows(folder, name, manifest[name], commit.dimensions) for name in RECORD_COLUMNS}
        versions, same_as = load_column(folder, "papers", "same_as").tolist()
        citations = CopiedCitations(folder, manifest["words"])
        support = SupportCounts(*load_column(folder, "papers", "support"))
        if (folder / MANIFEST).read_bytes() != content:  # rebuilt in the meantime, with other heaps
            return None
        columns = manifest.get("columns", _OLD_COLUMNS)
        return ReadingCopy(folder, rows, citations, dict(zip(versions, same_as, strict=True)), support, columns)
    except (OSError, ValueError, KeyError, EOFError):  # missing, just deleted, or damaged: use the tables
        return None


def copied_files(library: Path, commit: Commit) -> list[str]:
    """The files of a commit's copy, by their names in the library; none if there is no copy."""
    folder = copy_folder(library, commit)
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
    except (OSError, ValueError):
        return []
    heaps = [folder.parent / manifest[name] for name in RECORD_COLUMNS]
    return [file.relative_to(library).as_posix() for file in (*sorted(folder.iterdir()), *heaps)]


def find_damage(library: Path, commit: Commit) -> list[str]:
    """The files of a commit's copy that are not what was written; reads all of them."""
    folder = copy_folder(library, commit)
    if not folder.exists():
        return []
    try:
        damaged = _damaged_files(folder, json.loads((folder / MANIFEST).read_bytes()), trust_stamps=False)
    except (OSError, ValueError, KeyError, TypeError):
        return [MANIFEST]
    if damaged:
        return damaged
    reading_copy = open_copy(library, commit)
    if reading_copy is None:
        return [MANIFEST]
    return [rows.heap.path.name for rows in reading_copy.rows.values() if not rows.is_intact()]


def _damaged_files(folder: Path, manifest: dict[str, Any], trust_stamps: bool) -> list[str]:
    """The files of a copy that are not what was written; none if the version that wrote it did not store checksums."""
    if "files" not in manifest:
        return []
    if manifest.pop("checksum") != _manifest_checksum(manifest):
        return [MANIFEST]
    is_small = sum(size for size, _, _ in manifest["files"].values()) <= SMALL
    trust_stamps &= not is_small and _was_verified_lately(folder)
    damaged = []
    for name, (size, changed, digest) in manifest["files"].items():
        status = (folder / name).stat()
        is_unchanged = trust_stamps and (status.st_size, status.st_mtime_ns) == (size, changed)
        if not is_unchanged and digest_file(folder / name) != digest:
            damaged.append(name)
    if not (trust_stamps or is_small or damaged):
        with suppress(OSError):  # the library may be read-only
            (folder / _VERIFIED).touch()
    return damaged


def _was_verified_lately(folder: Path) -> bool:
    try:
        return 0 <= time.time() - (folder / _VERIFIED).stat().st_mtime < TRUST_SECONDS
    except OSError:
        return False


def _manifest_checksum(manifest: Mapping[str, Any]) -> str:
    return hashlib.blake2b(json.dumps(manifest, sort_keys=True).encode(), digest_size=16).hexdigest()


class CopyDamage(UserError):
    """A part of the reading copy is not what was written; the tables have the same rows."""


class _RecordFile:
    """A file of records, read in pieces."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        self._lock = Lock()
        finalize(self, os.close, self._file)

    def read(self, starts: Sequence[int], lengths: Sequence[int]) -> list[bytes]:
        """The pieces at these starts, with these lengths."""
        if hasattr(os, "pread"):
            pieces = [os.pread(self._file, length, start) for start, length in zip(starts, lengths, strict=True)]
        else:  # on Windows
            pieces = []
            with self._lock:
                for start, length in zip(starts, lengths, strict=True):
                    os.lseek(self._file, start, os.SEEK_SET)
                    pieces.append(os.read(self._file, length))
        if [*map(len, pieces)] != list(lengths):
            raise self.damage_error()
        return pieces

    def damage_error(self) -> CopyDamage:
        """The error for a damaged file."""
        library = next(folder.parent for folder in self.path.parents if folder.name == _FOLDER)
        return CopyDamage(f"{library}: the reading copy is damaged; mend it with: whycite library check --repair")


class CopiedRows:
    """The rows of a table in a copy, in the order of the table."""

    def __init__(self, folder: Path, name: str, heap: str, dimensions: int) -> None:
        """`heap` is the name of the file with the records."""
        load = partial(load_column, folder, name)
        self.ids, self.places, self.starts, self.lengths = map(load, ("ids", "places", "starts", "lengths"))
        self._by_id, self._sorted = load("order"), load("sorted")
        has_checks = (folder / f"{name}.checks.npy").exists()  # copies of older versions have none
        self.checks = load("checks") if has_checks else None
        self.heap = _RecordFile(folder.parent / heap)
        self._columns = RECORD_COLUMNS[name]
        self._vector_bytes = 2 * dimensions  # float16
        self._schema = table_schemas(dimensions)[name].append(pa.field(ROW, pa.uint64()))

    def rows_by_id(self, column: str, ids: Sequence[int], columns: Sequence[str]) -> pa.Table:
        """The rows of these ids."""
        return self._rows(np.sort(self.find(np.unique(np.array(ids, np.int64)))), columns)

    def rows_at(self, places: Sequence[int], columns: Sequence[str]) -> pa.Table:
        """The rows at these places, with their places."""
        unique_places = np.unique(np.array(places, np.uint64))
        positions = np.searchsorted(self.places, unique_places)
        if len(unique_places) and (
            positions[-1] == len(self.places) or (self.places[positions] != unique_places).any()
        ):
            raise self.heap.damage_error()
        return self._rows(positions, [*columns, ROW])

    def find(self, ids: Integers) -> Integers:
        """The row numbers of those ids that exist."""
        positions = np.searchsorted(self._sorted, ids)
        in_range = positions < len(self._sorted)
        positions = positions[in_range]
        row_numbers: Integers = self._by_id[positions[self._sorted[positions] == ids[in_range]]]
        return row_numbers

    def _rows(self, positions: Integers, columns: Sequence[str]) -> pa.Table:
        column_values: dict[str, Any] = {"id": self.ids[positions], ROW: self.places[positions]}
        needs_record = not column_values.keys() | {"vector"} >= {*columns}
        if needs_record or "vector" in columns:
            lengths = self.lengths[positions] if needs_record else np.full(len(positions), self._vector_bytes)
            records = self.heap.read(self.starts[positions].tolist(), lengths.tolist())
            if self.checks is not None and not self._matches(records, self.checks[positions], needs_record):
                raise self.heap.damage_error()
            vectors = pa.array(np.frombuffer(b"".join(record[: self._vector_bytes] for record in records), np.float16))
            column_values["vector"] = pa.FixedSizeListArray.from_arrays(vectors, self._vector_bytes // 2)
            if needs_record:
                values = json.loads(b"[%s]" % b",".join(record[self._vector_bytes :] for record in records))
                column_values |= {
                    name: [fields[number] if number < len(fields) else None for fields in values]
                    for number, name in enumerate(self._columns)
                    if name in columns
                }
        return pa.table(
            [column_values[name] for name in columns], pa.schema([self._schema.field(name) for name in columns])
        )

    def _matches(self, records: Sequence[bytes], checks: Array, whole: bool) -> bool:
        """Whether records are what was written: their vectors, or all of them."""
        size = self._vector_bytes
        if not whole:
            return bool([zlib.crc32(record) for record in records] == checks[:, 0].tolist())
        return [_checks(record, size) for record in records] == [*map(tuple, checks.tolist())]

    def is_intact(self) -> bool:
        """Whether all records are what was written."""
        try:
            for start in range(0, len(self.ids), _FETCH_ROWS):
                self._rows(np.arange(start, min(start + _FETCH_ROWS, len(self.ids))), ["id", self._columns[0]])
        except (CopyDamage, ValueError):
            return False
        return True


def _checks(record: bytes, vector_bytes: int) -> tuple[int, int]:
    """The checksums of a record: of its vector, which may be read alone, and of the rest."""
    return zlib.crc32(record[:vector_bytes]), zlib.crc32(record[vector_bytes:])


class CopiedCitations:
    """The citations of a copy."""

    def __init__(self, folder: Path, words: dict[str, list[str]]) -> None:
        """`words` has the values of each coded column by number; -1 stands for none."""
        self._ids = {column: load_column(folder, f"citations.{column}", "ids") for column in CITATION_COLUMNS}
        self._begins = {column: load_column(folder, f"citations.{column}", "begins") for column in CITATION_COLUMNS}
        self._rows = {column: _RecordFile(folder / f"citations.{column}.rows") for column in CITATION_COLUMNS}
        self._words = {name: pa.array(words[name], pa.string()) for name in CODED_COLUMNS}
        self._schema = table_schemas(1)["citations"]

    def rows_by_id(self, column: str, ids: Sequence[int], columns: Sequence[str]) -> pa.Table:
        """The rows whose span or paper is one of the ids; by paper there are fewer columns."""
        unique_ids, stored_ids = np.unique(np.array(ids, np.int64)), self._ids[column]
        positions = np.searchsorted(stored_ids, unique_ids)
        in_range = positions < len(stored_ids)
        positions = positions[in_range][stored_ids[positions[in_range]] == unique_ids[in_range]]
        dtype = citation_dtype(column)
        begins, ends = self._begins[column][positions], self._begins[column][positions + 1]
        pieces = self._rows[column].read(
            (begins * dtype.itemsize).tolist(), ((ends - begins) * dtype.itemsize).tolist()
        )
        rows = np.frombuffer(b"".join(pieces), dtype)
        column_values = [
            self._decode_words(name, rows[name]) if name in CODED_COLUMNS else rows[name] for name in columns
        ]
        return pa.table(column_values, pa.schema([self._schema.field(name) for name in columns]))

    def _decode_words(self, name: str, numbers: Array) -> pa.Array:
        return self._words[name].take(pa.array(numbers, mask=numbers < 0))


def citation_dtype(column: str) -> np.dtype[Any]:
    """The layout of a citation by span or by paper."""
    sizes = dict.fromkeys(CODED_COLUMNS, np.int16) | {"place": np.int32}
    return np.dtype([(name, sizes.get(name, np.int64)) for name in CITATION_COLUMNS[column]])


def load_column(folder: Path, name: str, column: str) -> Array:
    """A column of the copy, mapped into memory."""
    values: Array = np.load(folder / f"{name}.{column}.npy", mmap_mode="r")
    return values.view(np.ndarray)  # a plain array: np.memmap is slow


_FETCH_ROWS = 10_000  # rows read from a table at once, which bounds the memory
_MAX_WASTE = 2  # rewrite a heap larger than this many times the bytes still needed
_SMALL_HEAP = 16 << 20  # bytes; smaller heaps are rewritten at any waste, since that takes no time
_STAGING = ".making"


def write_copy(store: Store, from_scratch: bool = False) -> None:
    """Write the copy of the store's commit if it is missing, reusing previous heaps unless `from_scratch` is true."""
    folder = copy_folder(store.path, store.commit)
    previous = None if from_scratch else _latest_copy(store)
    if previous is not None and previous.folder == folder:
        return
    existing = {name: set(store[name].schema.names) for name in RECORD_COLUMNS}
    columns = {name: [column for column in names if column in existing[name]] for name, names in RECORD_COLUMNS.items()}
    reusable = {
        name: rows
        for name, rows in (previous.rows if previous else {}).items()
        if previous and previous.columns.get(name) == columns[name] and rows.checks is not None
    }
    home = copy_folder(store.path)
    staging = home / _STAGING
    shutil.rmtree(staging, ignore_errors=True)  # left by a killed writer
    staging.mkdir(parents=True)
    manifest: dict[str, Any] = {
        name: _copy_rows(store, name, columns[name], staging, reusable.get(name)) for name in RECORD_COLUMNS
    }
    manifest["columns"] = columns
    merged = read_columns(store["papers"], ["id", "same_as"], "id != same_as").sort_by("id")
    same_as = np.array([merged["id"].to_numpy(), merged["same_as"].to_numpy()])
    np.save(staging / "papers.same_as.npy", same_as)
    manifest["words"] = _copy_citations(store["citations"], staging, same_as)
    manifest["files"] = {file.name: list(stamp_file(file)) for file in sorted(staging.iterdir())}
    manifest["checksum"] = _manifest_checksum(manifest)
    (staging / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
    (staging / _VERIFIED).touch()
    shutil.rmtree(folder, ignore_errors=True)
    staging.rename(folder)
    for entry in home.iterdir():
        if entry.is_dir() and entry != folder:
            shutil.rmtree(entry, ignore_errors=True)  # on Windows, it stays while a reader has it open
        elif entry.is_file() and entry.name not in (manifest["spans"], manifest["papers"]):
            with suppress(PermissionError):
                entry.unlink()


def _latest_copy(store: Store) -> ReadingCopy | None:
    """The latest copy with the same encoder; changing the encoder rewrites the tables, and rows change places."""
    for commit in reversed(store.commits()):
        if commit.encoder != store.commit.encoder:
            return None
        if (reading_copy := open_copy(store.path, commit)) is not None:
            return reading_copy
    return None


def _copy_rows(store: Store, name: str, columns: Sequence[str], staging: Path, previous: CopiedRows | None) -> str:
    """Copy a table; returns the name of its heap."""
    table = store[name]
    rows = read_columns(table, ["id", ROW]).sort_by(ROW)
    ids, places = rows["id"].to_numpy(), rows[ROW].to_numpy()
    starts, lengths = np.zeros(len(ids), np.int64), np.zeros(len(ids), np.int32)
    checks = np.zeros((len(ids), 2), np.uint32)
    vector_bytes = 2 * store.commit.dimensions
    reusable = np.zeros(len(ids), bool)
    if previous is not None and len(previous.ids):
        positions, reusable = _reusable_rows(previous, ids, places, same_places=name != "spans")
        starts[reusable], lengths[reusable] = previous.starts[positions], previous.lengths[positions]
        assert previous.checks is not None  # others are not reused
        checks[reusable] = previous.checks[positions]
        heap_size, needed = previous.heap.path.stat().st_size, int(lengths.sum())
        if needed * _MAX_WASTE < heap_size or needed < heap_size < _SMALL_HEAP:
            reusable[:] = False
    heap = (
        previous.heap.path if previous is not None and reusable.any() else staging.parent / f"{name}-{uuid4().hex}.heap"
    )
    with heap.open("ab") as file:
        end = file.tell()
        for positions, records in _records(table, columns, places, np.flatnonzero(~reusable)):
            sizes = np.array([len(record) for record in records], np.int64)
            checks[positions] = [_checks(record, vector_bytes) for record in records]
            starts[positions], lengths[positions] = end + np.cumsum(sizes) - sizes, sizes
            end += file.write(b"".join(records))
    order = np.argsort(ids, kind="stable").astype(np.int32)
    arrays = {
        "ids": ids, "places": places, "starts": starts, "lengths": lengths, "checks": checks, "order": order,
        "sorted": ids[order],
    }  # fmt: skip
    for column, values in arrays.items():
        np.save(staging / f"{name}.{column}.npy", values)
    return heap.name


def _reusable_rows(
    previous: CopiedRows, ids: Integers, places: Array, same_places: bool
) -> tuple[Integers, NDArray[np.bool_]]:
    """The row numbers in the previous copy of the rows it has unchanged, and which rows these are.

    A span never changes. An updated paper gets another place in its table (as all rows do when the table is packed).
    """
    reusable = np.isin(ids, previous.ids)
    positions = previous.find(ids[reusable])
    if same_places:
        same = previous.places[positions] == places[reusable]
        positions, reusable[reusable] = positions[same], same
    return positions, reusable


def _records(
    table: Table, columns: Sequence[str], places: Array, missing: Integers
) -> Iterator[tuple[Integers, list[bytes]]]:
    """The missing rows as records of the heap, batch by batch, and which they are."""
    selected_columns = ["vector", *columns, ROW]
    if 2 * len(missing) > len(places):
        batches: Iterator[Any] = scan_columns(table, selected_columns)
    else:
        parts = (places[missing[start : start + _FETCH_ROWS]].tolist() for start in range(0, len(missing), _FETCH_ROWS))
        batches = (batch for part in parts for batch in rows_at(table, part, selected_columns[:-1]).to_batches())
    is_missing = np.zeros(len(places), bool)
    is_missing[missing] = True
    for batch in batches:
        positions = np.searchsorted(places, batch[ROW].to_numpy())
        selected = is_missing[positions]
        rows = batch.filter(pa.array(selected))
        if len(rows):
            vectors = rows["vector"].flatten().to_numpy().reshape(len(rows), -1)
            fields = zip(*(rows[column].to_pylist() for column in columns), strict=True)
            yield (
                positions[selected],
                [vector.tobytes() + _encode_row(row) for vector, row in zip(vectors, fields, strict=True)],
            )


def _encode_row(row: tuple[Any, ...]) -> bytes:
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode("utf-8")


def _copy_citations(table: Table, staging: Path, same_as: Integers) -> dict[str, list[str]]:
    """Copy the citations, one column at a time to save memory; returns the values of coded columns."""
    words: dict[str, list[str]] = {}
    for by, columns in CITATION_COLUMNS.items():
        ids = read_columns(table, [by])[by].to_numpy()
        order = np.argsort(ids, kind="stable")
        rows = np.empty(len(ids), citation_dtype(by))
        for name in columns:
            column = read_columns(table, [name])[name].combine_chunks()
            if name in CODED_COLUMNS:
                encoded = column.dictionary_encode()
                words[name], column = encoded.dictionary.to_pylist(), encoded.indices.fill_null(-1)
            rows[name] = column.to_numpy()[order]
        rows.tofile(staging / f"citations.{by}.rows")
        unique_ids, begins = np.unique(rows[by], return_index=True)
        np.save(staging / f"citations.{by}.ids.npy", unique_ids)
        np.save(staging / f"citations.{by}.begins.npy", np.append(begins, len(rows)))
    support = SupportCounts.count(_standing_versions(rows["paper"], same_as), rows["document"], rows["place"])
    np.save(staging / "papers.support.npy", np.array([support.papers, support.counts]))
    return words


def _standing_versions(versions: Integers, same_as: Integers) -> Integers:
    """The version that stands for the paper of each."""
    merged = np.isin(versions, same_as[0])
    papers = versions.copy()
    papers[merged] = same_as[1, np.searchsorted(same_as[0], versions[merged])]
    return papers
