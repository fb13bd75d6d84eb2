"""Taking documents out of a library, with everything that only they brought."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from whycite.documents.model import Reference
from whycite.encoders import Encoder
from whycite.library.known import KnownPapers, reference_of
from whycite.library.query import chunks, matching, whole
from whycite.library.rows import paper_rows
from whycite.library.store import Store

__all__ = ["forget"]


def forget(store: Store, documents: Sequence[int], encoder: Encoder) -> None:
    """Delete documents, their citations, and the spans and papers that no other document brings."""
    if not documents:
        return
    gone = matching(store["documents"], "id", documents, ["id", "paper", "references"]).to_pylist()
    cited = matching(store["citations"], "document", documents, ["span", "sentence"])
    spans = {*_values(cited, "span"), *_values(cited, "sentence")}
    _delete(store["citations"], "document", documents)
    _delete(store["documents"], "id", documents)
    _delete(store["spans"], "id", sorted(spans - _still_cited(store, sorted(spans))))
    papers = {version for row in gone for version in (row["paper"], *row["references"]) if version}
    kept = _still_known(store, papers)
    _drop_papers(store, papers - kept)
    _untell(store, {row["paper"] for row in gone} & kept, encoder)


def _still_cited(store: Store, spans: Sequence[int]) -> set[int]:
    found: set[int] = set()
    for column in ("span", "sentence"):
        found |= _values(matching(store["citations"], column, spans, [column]), column)
    return found


def _still_known(store: Store, papers: set[int]) -> set[int]:
    """Those of the papers that a document of the library is or refers to."""
    rows = whole(store["documents"], ["paper", "references"])
    known = np.concatenate([rows["paper"].to_numpy(), rows["references"].combine_chunks().flatten().to_numpy()])
    return set(np.intersect1d(known, np.array(sorted(papers), np.int64)).tolist())


def _drop_papers(store: Store, versions: set[int]) -> None:
    """Delete versions; what they stood for, held together or kept apart is judged anew."""
    known = KnownPapers(store)
    gone = known.references(versions)
    _delete(store["papers"], "id", sorted(versions))
    move(store, known.without(gone))


def move(store: Store, moved: Mapping[int, int]) -> None:
    """Let versions of papers stand under another one."""
    if not moved:
        return
    papers = store["papers"]
    # Whole rows: of single columns all of a piece of the table is written, and its index lost.
    rows = matching(papers, "id", sorted(moved), papers.schema.names)
    same_as = pa.array([moved[version] for version in rows["id"].to_pylist()], pa.int64())
    rows = rows.set_column(papers.schema.get_field_index("same_as"), papers.schema.field("same_as"), same_as)
    papers.merge_insert("id").when_matched_update_all().execute(rows)


def _untell(store: Store, versions: Iterable[int], encoder: Encoder) -> None:
    """Take back the abstracts of papers that are still cited, but whose text is gone."""
    columns = ["same_as", "key", *Reference.__dataclass_fields__]
    rows = matching(store["papers"], "id", sorted(versions), columns).to_pylist()
    told = {row["id"]: replace(reference_of(row), abstract="") for row in rows if row["abstract"]}
    if told:
        same_as = {row["id"]: row["same_as"] for row in rows}
        vectors = encoder.encode([reference.title for reference in told.values()])
        new = paper_rows(told, same_as, vectors, store["papers"].schema)
        store["papers"].merge_insert("id").when_matched_update_all().execute(new)


def _delete(table: Any, column: str, ids: Sequence[int]) -> None:
    for some in chunks(ids):
        table.delete(f"{column} IN ({', '.join(map(str, some))})")


def _values(rows: pa.Table, column: str) -> set[int]:
    return set(rows[column].to_pylist())
