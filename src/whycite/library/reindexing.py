"""Moving a library to another encoder.

First every text is encoded; the vectors wait in a file beside the tables, by text, so that whatever ends this and
whatever is added or removed in between, the next time goes on from there. Then the tables that have vectors are written
anew, and one commit shows them to readers, who saw the old ones until then.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from whycite.encoders import DEFAULT, Encoder
from whycite.encoders.cache import CachedEncoder
from whycite.errors import UserError
from whycite.library.copying import copy
from whycite.library.encoding import Chosen, chosen, note_folder
from whycite.library.indexing import index, prune
from whycite.library.library import Library
from whycite.library.lock import writing
from whycite.library.place import default_path
from whycite.library.schema import tables
from whycite.library.store import Store, Table, open_store, plain_errors

__all__ = ["Reindexed", "reindex"]

_ENCODED = ("spans", "papers")  # the tables that have a column `vector`, which is made from their `text`
_WAITING = "reindex.sqlite"
_BATCH = 2_048  # texts between two words of progress: seconds of work

Watch = Callable[[str, int, int | None], None]
"""Told what is done, how many texts are encoded and kept, and of how many."""


@dataclass(frozen=True, slots=True)
class Reindexed:
    """What a reindex did."""

    before: str  # the encoder of the vectors there were; the same where there was nothing to do
    encoder: str
    spans: int
    papers: int
    seconds: float


def reindex(path: Path | str | None, *, encoder: Chosen | None = None, progress: Watch | None = None) -> Reindexed:
    """Make all vectors of a library anew with an encoder, by default the bundled one, unless they are by it already."""
    begun = time.perf_counter()
    place = Path(path).expanduser() if path is not None else default_path()
    given = DEFAULT if encoder is None else encoder
    made_by = chosen(given)
    Library.open(place)  # says what is wrong with it before anything is done
    with writing(place, "library reindex"), plain_errors(place):
        store = open_store(place)
        if store is None:
            raise UserError(f"{place}: no library here any more")
        store.take_back()
        before = store.commit.encoder
        note_folder(place, made_by, given)
        if before != made_by.name:
            _move(store, made_by, progress or _watch_nothing)
        _forget_waiting(place)
        spans, papers = store["spans"].count_rows(), store["papers"].count_rows("id = same_as")
    return Reindexed(before, made_by.name, spans, papers, time.perf_counter() - begun)


def _move(store: Store, encoder: Encoder, watch: Watch) -> None:
    kept = CachedEncoder(CachedEncoder(encoder), store.path / _WAITING, limit=None)
    total = sum(store[name].count_rows() for name in _ENCODED)
    done = 0
    watch("encoding", done, total)
    for name in _ENCODED:
        for rows in _batches(store[name], ["text"]):
            kept.encode(rows["text"].to_pylist())
            done += len(rows)
            watch("encoding", done, total)
    watch("writing", total, total)
    for name in _ENCODED:
        schema = tables(encoder.dimensions)[name]
        anew = pa.RecordBatchReader.from_batches(schema, _with_vectors(store[name], kept, schema))
        store[name].add(anew, mode="overwrite")
    watch("indexing", total, total)
    index(store)
    store.commit = replace(store.commit, encoder=encoder.name, dimensions=encoder.dimensions)
    store.save()
    prune(store)
    copy(store)


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
    for file in place.glob(f"{_WAITING}*"):
        file.unlink()


def _watch_nothing(what: str, done: int, total: int | None) -> None:
    pass
