"""Indices of the tables: made when they pay, kept up to date, old versions dropped."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from lancedb.index import FTS, BTree, IvfRq, IvfSq

from whycite.library.schema import TABLES
from whycite.library.store import Store, Table

__all__ = ["index", "needs_index", "prune"]

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


def needs_index(store: Store, more: bool = False) -> bool:
    """Whether so much was added that searches get slow, or words find nothing; with `more` to come, more may wait."""
    for name, column in _TEXT.items():
        rows = store[name].count_rows()
        if rows and store[name].index_stats(f"{column}_idx") is None:
            return True
        if _behind(store[name], f"{column}_idx") > (max(5 * _BEHIND, rows // _SHARE) if more else _BEHIND):
            return True
    return any(store[name].stats()["fragment_stats"]["num_fragments"] > _PIECES for name in TABLES)


def index(store: Store, everything: bool = False) -> None:
    """Make the indices that are missing and bring the others up to date; `everything` packs the tables as well."""
    for name in TABLES:
        table = store[name]
        rows = table.count_rows()
        if not rows:
            continue
        have = {found.name: found for found in table.list_indices()}
        behind = any(_behind(table, found) for found in have)
        if have and (everything or behind):
            table.optimize(cleanup_older_than=_FOREVER)  # nothing may go before the commit
        for column in _IDS[name]:
            if f"{column}_idx" not in have:
                table.create_index(column, config=BTree())
        if name in _TEXT:
            if f"{_TEXT[name]}_idx" not in have:
                table.create_index(_TEXT[name], config=FTS(language="English", stem=True, remove_stop_words=True))
            _index_vectors(table, rows, [found for found in have if found.startswith("vector_")])


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
        if made := _made(store[name]).get(needed[name]):  # where clocks went wrong it may be gone already
            _drop(store[name], made, always=everything)
    store.save()
    times = _made(commits).values()
    _drop(commits, max((time for time in times if time <= begin), default=min(times)), always=True)


def _drop(table: Table, needed: datetime, always: bool) -> None:
    """Drop the versions older than one that is needed.

    They are chosen by age alone. Versions that are needed can be old: of a table that has not changed for long.
    """
    cutoff = needed - _SLACK
    if always or sum(time < cutoff for time in _made(table).values()) > _PIECES:
        table.optimize(cleanup_older_than=_FOREVER)  # packs, which may take long
        table.optimize(cleanup_older_than=datetime.now(UTC) - cutoff)


def _made(table: Table) -> dict[int, datetime]:
    """When each version of a table was made."""
    return {found["version"]: found["timestamp"].astimezone(UTC) for found in table.list_versions()}


def _index_vectors(table: Table, rows: int, have: list[str]) -> None:
    """Divide the vectors into partitions, anew when there are four times as many as the partitions were made for."""
    partitions = max(8, rows // _PARTITION)
    if rows < _VECTORS or any(int(name.split("_")[1]) * 4 > partitions for name in have):
        return
    for name in have:
        table.drop_index(name)
    config = _quantised(table.schema.field("vector").type.list_size, partitions)
    table.create_index("vector", config=config, name=f"vector_{partitions}_idx")


def _quantised(dimensions: int, partitions: int) -> IvfRq | IvfSq:
    """RaBitQ with five bits a dimension: faster than scalar quantisation, and finds 97 of the 100 nearest."""
    if dimensions % 8:  # it cannot
        return IvfSq(distance_type="dot", num_partitions=partitions, max_iterations=20, sample_rate=64)
    return IvfRq(distance_type="dot", num_partitions=partitions, num_bits=_BITS, max_iterations=20, sample_rate=64)


def _behind(table: Table, name: str) -> int:
    stats = table.index_stats(name)
    return int(stats.num_unindexed_rows) if stats is not None else 0
