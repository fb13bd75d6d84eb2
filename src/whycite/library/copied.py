"""The reading copy of a library: what answers need of a commit, laid out so that it is at hand without a question.

LanceDB finds rows; to fetch the hundreds that an answer needs takes it longer than to find them. The copy holds them
again, one after the other in files, and says in arrays where each begins. Only the arrays are mapped into memory: of
what is read from the files nothing stays there. The copy is made by whoever writes (`copying`) and belongs to one
commit. Without it the tables answer the same, more slowly.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any
from weakref import finalize

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from whycite.errors import UserError
from whycite.library.query import ROW
from whycite.library.schema import identifier, tables
from whycite.library.store import Commit
from whycite.library.support import Support

__all__ = [
    "CITED",
    "FACTS",
    "HEAPED",
    "WORDS",
    "Copied",
    "CopiedCitations",
    "Copy",
    "cited_form",
    "folder_of",
    "open_copy",
]

HEAPED = {
    "spans": ("text",),
    "papers": ("key", "title", "authors", "year", "venue", "doi", "abstract", "text"),
}  # of each row, behind its vector
CITED = {
    "span": ("span", "paper", "document", "sentence", "place", "kind", "section_type"),
    "paper": ("paper", "document", "place"),
}  # what is copied of citations, in the order of their spans and in that of the papers
WORDS = ("kind", "section_type")  # columns of citations that hold few words again and again: they are numbered
FACTS = "facts.json"
_FOLDER = "reading"
_FORM = 2  # raised when the copy is laid out in another way

Integers = NDArray[np.int64]
Array = NDArray[Any]


def folder_of(library: Path, commit: Commit | None = None) -> Path:
    """Where the copy of a commit is, or all of them with their heaps."""
    if commit is None:
        return library / _FOLDER
    told = f"{_FORM} {commit.number} {commit.encoder} {commit.time} {sorted(commit.versions.items())}"
    return library / _FOLDER / f"{commit.number}-{identifier(told):x}"


@dataclass(frozen=True, slots=True)
class Copy:
    """What is copied of a library."""

    folder: Path
    spans: Copied
    papers: Copied
    citations: CopiedCitations
    same_as: dict[int, int]  # versions of papers, and the version that stands for each, where it is another
    support: Support


def open_copy(library: Path, commit: Commit) -> Copy | None:
    """The copy of a commit; nothing where there is none."""
    folder = folder_of(library, commit)
    try:
        told = (folder / FACTS).read_bytes()
        facts = json.loads(told)
        spans, papers = (Copied(folder, name, facts[name], commit.dimensions) for name in HEAPED)
        versions, same_as = _load(folder, "papers", "same_as").tolist()
        citations = CopiedCitations(folder, facts["words"])
        support = Support(*_load(folder, "papers", "support"))
        if (folder / FACTS).read_bytes() != told:  # made anew meanwhile, in other heaps: it would be half of each
            return None
        return Copy(folder, spans, papers, citations, dict(zip(versions, same_as, strict=True)), support)
    except (
        OSError,
        ValueError,
        KeyError,
        EOFError,
    ):  # not made yet, dropped just now, damaged: the tables have all
        return None


class _File:
    """A file of which pieces are read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        self._lock = Lock()
        finalize(self, os.close, self._file)

    def read(self, starts: Sequence[int], lengths: Sequence[int]) -> list[bytes]:
        """The pieces that begin at some places and have some lengths."""
        pieces = []
        with self._lock:
            for start, length in zip(starts, lengths, strict=True):
                os.lseek(self._file, start, os.SEEK_SET)
                pieces.append(os.read(self._file, length))
        if [*map(len, pieces)] != list(lengths):
            raise self.damaged()
        return pieces

    def damaged(self) -> UserError:
        """What to say where it does not hold what it should."""
        library = next(folder.parent for folder in self.path.parents if folder.name == _FOLDER)
        return UserError(f"{library}: its reading copy is damaged; make it anew with: whycite library compact")


class Copied:
    """The copied rows of a table, in the order of the table."""

    def __init__(self, folder: Path, name: str, heap: str, dimensions: int) -> None:
        """`heap`: name of the file that holds them."""
        load = partial(_load, folder, name)
        self.ids, self.places, self.starts, self.lengths = map(load, ("ids", "places", "starts", "lengths"))
        self._by_id, self._sorted = load("order"), load("sorted")
        self.heap = _File(folder.parent / heap)
        self._columns = HEAPED[name]
        self._vector = 2 * dimensions  # bytes
        self._schema = tables(dimensions)[name].append(pa.field(ROW, pa.uint64()))

    def matching(self, column: str, ids: Sequence[int], columns: Sequence[str]) -> pa.Table:
        """The rows of these ids."""
        return self._rows(np.sort(self.find(np.unique(np.array(ids, np.int64)))), columns)

    def take(self, places: Sequence[int], columns: Sequence[str]) -> pa.Table:
        """The rows at these places, with their places."""
        wanted = np.unique(np.array(places, np.uint64))
        at = np.searchsorted(self.places, wanted)
        if len(wanted) and (at[-1] == len(self.places) or (self.places[at] != wanted).any()):
            raise self.heap.damaged()
        return self._rows(at, [*columns, ROW])

    def find(self, ids: Integers) -> Integers:
        """Where those of the ids are that are there."""
        at = np.searchsorted(self._sorted, ids)
        inside = at < len(self._sorted)
        at = at[inside]
        found: Integers = self._by_id[at[self._sorted[at] == ids[inside]]]
        return found

    def _rows(self, at: Integers, columns: Sequence[str]) -> pa.Table:
        found: dict[str, Any] = {"id": self.ids[at], ROW: self.places[at]}
        told = not found.keys() | {"vector"} >= {*columns}
        if told or "vector" in columns:
            lengths = self.lengths[at] if told else np.full(len(at), self._vector)
            records = self.heap.read(self.starts[at].tolist(), lengths.tolist())
            vectors = pa.array(np.frombuffer(b"".join(each[: self._vector] for each in records), np.float16))
            found["vector"] = pa.FixedSizeListArray.from_arrays(vectors, self._vector // 2)
            if told:
                values = json.loads(b"[%s]" % b",".join(each[self._vector :] for each in records))
                found |= {name: [each[k] for each in values] for k, name in enumerate(self._columns)}
        return pa.table([found[name] for name in columns], pa.schema([self._schema.field(name) for name in columns]))


class CopiedCitations:
    """The copied citations."""

    def __init__(self, folder: Path, words: dict[str, list[str]]) -> None:
        """`words`: those that each column of words holds, which has their numbers; -1 where there is none."""
        self._ids = {column: _load(folder, f"citations.{column}", "ids") for column in CITED}
        self._begins = {column: _load(folder, f"citations.{column}", "begins") for column in CITED}
        self._rows = {column: _File(folder / f"citations.{column}.rows") for column in CITED}
        self._words = {name: pa.array(words[name], pa.string()) for name in WORDS}
        self._schema = tables(1)["citations"]

    def matching(self, column: str, ids: Sequence[int], columns: Sequence[str]) -> pa.Table:
        """The rows whose span or paper is one of the ids; of those by paper not every column is there."""
        wanted, known = np.unique(np.array(ids, np.int64)), self._ids[column]
        at = np.searchsorted(known, wanted)
        inside = at < len(known)
        at = at[inside][known[at[inside]] == wanted[inside]]
        form = cited_form(column)
        begins, ends = self._begins[column][at], self._begins[column][at + 1]
        pieces = self._rows[column].read((begins * form.itemsize).tolist(), ((ends - begins) * form.itemsize).tolist())
        rows = np.frombuffer(b"".join(pieces), form)
        found = [self._worded(name, rows[name]) if name in WORDS else rows[name] for name in columns]
        return pa.table(found, pa.schema([self._schema.field(name) for name in columns]))

    def _worded(self, name: str, numbers: Array) -> pa.Array:
        return self._words[name].take(pa.array(numbers, mask=numbers < 0))


def cited_form(column: str) -> np.dtype[Any]:
    """How a citation is written, of those in the order of their spans or papers."""
    sizes = dict.fromkeys(WORDS, np.int16) | {"place": np.int32}
    return np.dtype([(name, sizes.get(name, np.int64)) for name in CITED[column]])


def _load(folder: Path, name: str, column: str) -> Array:
    values: Array = np.load(folder / f"{name}.{column}.npy", mmap_mode="r")
    return values.view(np.ndarray)  # as it is, without the class for files, which is slow
