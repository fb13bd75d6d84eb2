"""Making the reading copy of a commit. Rows that the copy before has are left where they are."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from whycite.library.copied import (
    CITED,
    FACTS,
    HEAPED,
    WORDS,
    Copied,
    Copy,
    cited_form,
    folder_of,
    open_copy,
)
from whycite.library.query import ROW, scanned, take, whole
from whycite.library.store import Store, Table
from whycite.library.support import Support

__all__ = ["copy"]

_BATCH = 10_000  # rows fetched together
_WASTE = 2  # a heap may be so many times as large as what is still needed of it
_SMALL = 16 << 20  # bytes; a heap that has fewer is soon written anew, and has no waste
_MAKING = ".making"

Integers = NDArray[np.int64]
Array = NDArray[Any]


def copy(store: Store, anew: bool = False) -> None:
    """Make the copy of the store's commit, which its tables are at, unless it is there; or all of it `anew`."""
    folder = folder_of(store.path, store.commit)
    before = None if anew else _before(store)
    if before is not None and before.folder == folder:
        return
    home = folder_of(store.path)
    making = home / _MAKING
    shutil.rmtree(making, ignore_errors=True)  # of a writer that was ended
    making.mkdir(parents=True)
    facts: dict[str, Any] = {
        "spans": _copy_rows(store, "spans", making, before.spans if before else None),
        "papers": _copy_rows(store, "papers", making, before.papers if before else None),
    }
    merged = whole(store["papers"], ["id", "same_as"], "id != same_as").sort_by("id")
    same_as = np.array([merged["id"].to_numpy(), merged["same_as"].to_numpy()])
    np.save(making / "papers.same_as.npy", same_as)
    facts["words"] = _copy_citations(store["citations"], making, same_as)
    (making / FACTS).write_text(json.dumps(facts), encoding="utf-8")
    shutil.rmtree(folder, ignore_errors=True)
    making.rename(folder)
    for other in home.iterdir():
        if other.is_dir() and other != folder:
            shutil.rmtree(other, ignore_errors=True)  # where it is open and cannot go, it goes the next time
        elif other.is_file() and other.name not in (facts["spans"], facts["papers"]):
            with suppress(PermissionError):
                other.unlink()


def _before(store: Store) -> Copy | None:
    """The last copy of those whose places of rows still count: none of before the library was moved to an encoder."""
    for commit in reversed(store.commits()):
        if commit.encoder != store.commit.encoder:
            return None
        if (found := open_copy(store.path, commit)) is not None:
            return found
    return None


def _copy_rows(store: Store, name: str, making: Path, before: Copied | None) -> str:
    """Copy a table; the name of its heap."""
    table = store[name]
    rows = whole(table, ["id", ROW]).sort_by(ROW)
    ids, places = rows["id"].to_numpy(), rows[ROW].to_numpy()
    starts, lengths = np.zeros(len(ids), np.int64), np.zeros(len(ids), np.int32)
    there = np.zeros(len(ids), bool)
    if before is not None and len(before.ids):
        at, there = _there(before, ids, places, same_places=name != "spans")
        starts[there], lengths[there] = before.starts[at], before.lengths[at]
        held, needed = before.heap.path.stat().st_size, int(lengths.sum())
        if needed * _WASTE < held or needed < held < _SMALL:
            there[:] = False
    heap = before.heap.path if before is not None and there.any() else making.parent / f"{name}-{uuid4().hex}.heap"
    with heap.open("ab") as file:
        end = file.tell()
        for at, records in _records(table, HEAPED[name], places, np.flatnonzero(~there)):
            sizes = np.array([len(record) for record in records], np.int64)
            starts[at], lengths[at] = end + np.cumsum(sizes) - sizes, sizes
            end += file.write(b"".join(records))
    order = np.argsort(ids, kind="stable").astype(np.int32)
    columns = {"ids": ids, "places": places, "starts": starts, "lengths": lengths, "order": order, "sorted": ids[order]}
    for column, values in columns.items():
        np.save(making / f"{name}.{column}.npy", values)
    return heap.name


def _there(before: Copied, ids: Integers, places: Array, same_places: bool) -> tuple[Integers, NDArray[np.bool_]]:
    """Where the copy before has rows, and which.

    A span is what its id says. A paper may have been told more: then it is in another place, and so it is in tables
    that were packed.
    """
    there = np.isin(ids, before.ids)
    at = before.find(ids[there])
    if same_places:
        same = before.places[at] == places[there]
        at, there[there] = at[same], same
    return at, there


def _records(
    table: Table, columns: tuple[str, ...], places: Array, wanted: Integers
) -> Iterator[tuple[Integers, list[bytes]]]:
    """The rows that are wanted as they stand in the heap, batch by batch, and which they are."""
    asked = ["vector", *columns, ROW]
    if 2 * len(wanted) > len(places):
        batches: Iterator[Any] = scanned(table, asked)
    else:
        parts = (places[wanted[at : at + _BATCH]].tolist() for at in range(0, len(wanted), _BATCH))
        batches = (batch for part in parts for batch in take(table, part, asked[:-1]).to_batches())
    is_wanted = np.zeros(len(places), bool)
    is_wanted[wanted] = True
    for batch in batches:
        at = np.searchsorted(places, batch[ROW].to_numpy())
        kept = is_wanted[at]
        rows = batch.filter(pa.array(kept))
        if len(rows):
            vectors = rows["vector"].flatten().to_numpy().reshape(len(rows), -1)
            told = zip(*(rows[column].to_pylist() for column in columns), strict=True)
            yield at[kept], [vector.tobytes() + _said(row) for vector, row in zip(vectors, told, strict=True)]


def _said(row: tuple[Any, ...]) -> bytes:
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode("utf-8")


def _copy_citations(table: Table, making: Path, same_as: Integers) -> dict[str, list[str]]:
    """Copy the citations, column by column, since all of them take much memory; the words of columns of words."""
    words: dict[str, list[str]] = {}
    for by, columns in CITED.items():
        ids = whole(table, [by])[by].to_numpy()
        order = np.argsort(ids, kind="stable")
        rows = np.empty(len(ids), cited_form(by))
        for name in columns:
            column = whole(table, [name])[name].combine_chunks()
            if name in WORDS:
                encoded = column.dictionary_encode()
                words[name], column = encoded.dictionary.to_pylist(), encoded.indices.fill_null(-1)
            rows[name] = column.to_numpy()[order]
        rows.tofile(making / f"citations.{by}.rows")
        found, begins = np.unique(rows[by], return_index=True)
        np.save(making / f"citations.{by}.ids.npy", found)
        np.save(making / f"citations.{by}.begins.npy", np.append(begins, len(rows)))
    support = Support.count(_standing(rows["paper"], same_as), rows["document"], rows["place"])
    np.save(making / "papers.support.npy", np.array([support.papers, support.counts]))
    return words


def _standing(versions: Integers, same_as: Integers) -> Integers:
    """The version that stands for each."""
    merged = np.isin(versions, same_as[0])
    papers = versions.copy()
    papers[merged] = same_as[1, np.searchsorted(same_as[0], versions[merged])]
    return papers
