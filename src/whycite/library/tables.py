"""The tables of a library, the ids of their rows, queries for rows, and what citations count for.

Ids are hashes of content, so the same documents make the same rows, in whatever order and batches they are added.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from whycite.library.records import identifier

__all__ = [
    "COMMITS",
    "MAX_QUERY_IDS",
    "ROW",
    "SCHEMA",
    "TABLES",
    "SupportCounts",
    "id_chunks",
    "id_condition",
    "identifier",
    "read_columns",
    "rows_at",
    "rows_by_id",
    "scan_columns",
    "table_schemas",
]


SCHEMA = 2  # increase it when older versions cannot read what this one writes

TABLES = ("papers", "documents", "spans", "citations", "passages")

# One row for each commit, with its version of every table.
COMMITS = pa.schema(
    [
        ("commit", pa.int64()),
        ("schema", pa.int32()),
        ("encoder", pa.string()),
        ("dimensions", pa.int32()),
        ("time", pa.string()),
        *((table, pa.int64()) for table in TABLES),
    ]
)


def table_schemas(dimensions: int) -> dict[str, pa.Schema]:
    """The schema of each table."""
    vector = pa.list_(pa.float16(), dimensions)
    return {
        # A row for each version of a work; versions share `same_as`, the id of the version that stands for them.
        "papers": pa.schema(
            [
                ("id", pa.int64()),
                ("same_as", pa.int64()),
                ("key", pa.string()),
                ("title", pa.string()),
                ("authors", pa.list_(pa.string())),
                ("year", pa.int32()),
                ("venue", pa.string()),
                ("doi", pa.string()),
                ("arxiv", pa.string()),
                ("pmid", pa.string()),
                ("isbn", pa.string()),
                ("abstract", pa.string()),
                ("text", pa.string()),  # title and abstract, which are searched
                ("traits", pa.list_(pa.int64())),  # hashes that versions of one work may share
                ("vector", vector),
                # What else is known of how it was published, as JSON. Libraries of older versions lack the column.
                ("publication", pa.string()),
            ]
        ),
        "documents": pa.schema(
            [
                ("id", pa.int64()),
                ("hash", pa.string()),
                ("paper", pa.int64()),
                ("key", pa.string()),
                ("title", pa.string()),
                ("year", pa.int32()),
                ("path", pa.string()),
                ("format", pa.string()),
                ("added", pa.string()),
                ("citations", pa.int32()),
                ("references", pa.list_(pa.int64())),  # papers of its bibliography, cited in the text or not
                # The citing sentence as it was written, by place; null where it is that of the place before.
                # Libraries of older versions lack the column, and rows written by these have null.
                ("quotations", pa.list_(pa.string())),
            ]
        ),
        "spans": pa.schema([("id", pa.int64()), ("text", pa.string()), ("vector", vector)]),
        "citations": pa.schema(
            [
                ("span", pa.int64()),
                ("paper", pa.int64()),  # the version that is cited
                ("document", pa.int64()),
                ("sentence", pa.int64()),
                ("kind", pa.string()),
                ("section_type", pa.string()),
                ("place", pa.int32()),
                ("start", pa.int64()),
                ("end", pa.int64()),
            ]
        ),
        # What documents say in their own words, found by words alone: vectors would take as long as all spans together.
        # Libraries of older versions lack the table.
        "passages": pa.schema(
            [
                ("id", pa.int64()),
                ("document", pa.int64()),
                ("paper", pa.int64()),  # the version that the document is
                ("section", pa.string()),
                ("section_type", pa.string()),
                ("page", pa.int32()),
                ("text", pa.string()),  # the sentences of a paragraph that cite nothing, one a line
            ]
        ),
    }


ROW = "_rowid"  # the column with a row's place in its table
_ROW_FIELD = pa.field(ROW, pa.uint64())
MAX_QUERY_IDS = 4_000  # ids in one query, which LanceDB parses as text
_SCAN_ROWS = 20_000  # rows of a batch: with LanceDB's default, reading a whole table takes ten times as long


def id_condition(column: str, ids: Sequence[int]) -> str:
    """The condition that a column has one of the ids."""
    return f"{column} IN ({', '.join(map(str, ids))})"


def id_chunks(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    """The ids in parts that fit into one query."""
    for start in range(0, len(ids), MAX_QUERY_IDS):
        yield ids[start : start + MAX_QUERY_IDS]


def rows_by_id(table: Any, column: str, ids: Sequence[int], columns: Sequence[str]) -> pa.Table:
    """The rows whose column has one of the ids, in the order of the table."""
    if not ids:
        return _schema(table, columns).empty_table()  # limit(0) is no limit
    parts = [
        table.search().where(id_condition(column, chunk)).select(list(columns)).to_arrow() for chunk in id_chunks(ids)
    ]
    return pa.concat_tables(parts)


def rows_at(table: Any, rows: Sequence[int], columns: Sequence[str]) -> pa.Table:
    """The rows at these places, each once and in the order of the table, with their places."""
    if not rows:
        return _schema(table, [*columns, ROW]).empty_table()
    selection: pa.Table = table.take_row_ids(list(rows)).with_row_id().select([*columns, ROW]).to_arrow()
    return selection.sort_by(ROW)


def read_columns(table: Any, columns: Sequence[str], where: str | None = None) -> pa.Table:
    """Columns of all rows, or of those that meet a condition, in the order of the table."""
    return pa.Table.from_batches(scan_columns(table, columns, where), _schema(table, columns))


def scan_columns(
    table: Any, columns: Sequence[str], where: str | None = None, size: int = _SCAN_ROWS
) -> Iterator[pa.RecordBatch]:
    """Like `read_columns`, in batches of at most `size` rows."""
    query = table.search().select([name for name in columns if name != ROW]).with_row_id(ROW in columns)
    if where is not None:
        query = query.where(where)
    return (batch.select(list(columns)) for batch in query.to_batches(size))


def _schema(table: Any, columns: Sequence[str]) -> pa.Schema:
    schema = table.schema.append(_ROW_FIELD)
    return pa.schema([schema.field(column) for column in columns])


Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SupportCounts:
    """Cited papers in the order of their ids, and the number of places that cite each."""

    papers: Integers
    counts: Integers

    @classmethod
    def count(cls, papers: Integers, documents: Integers, places: Integers) -> SupportCounts:
        """Count citations; a place in a document counts once, however many spans there cite a paper."""
        rows = np.array([papers, documents, places], np.int64)
        rows = rows[:, np.lexsort(rows)]
        is_distinct = np.append(True, (rows[:, 1:] != rows[:, :-1]).any(axis=0))[: len(papers)]
        return cls(*np.unique(rows[0, is_distinct], return_counts=True))

    def of_papers(self, papers: Sequence[int]) -> dict[int, int]:
        """The support of papers, in the order given."""
        if not len(self.papers):
            return dict.fromkeys(papers, 0)
        ids = np.array(papers, np.int64)
        positions = np.minimum(np.searchsorted(self.papers, ids), len(self.papers) - 1)
        return dict(
            zip(papers, np.where(self.papers[positions] == ids, self.counts[positions], 0).tolist(), strict=True)
        )

    def of_all_papers(self) -> dict[int, int]:
        """The support of every cited paper."""
        return dict(zip(self.papers.tolist(), self.counts.tolist(), strict=True))
