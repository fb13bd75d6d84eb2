"""One batch of documents into the tables."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np
import pyarrow as pa

from whycite.documents.model import Document
from whycite.encoders import Encoder
from whycite.evidence import Span
from whycite.library.known import Changes, KnownPapers
from whycite.library.query import whole
from whycite.library.removing import forget, move
from whycite.library.rows import citation_rows, content_hash, document_row, paper_rows, searched, span_rows
from whycite.library.schema import identifier
from whycite.library.store import Store

__all__ = ["Writer", "timed"]


class Writer:
    """Writes batches; knows which spans and papers the library has."""

    def __init__(self, store: Store, encoder: Encoder, stages: dict[str, float]) -> None:
        self._store = store
        self._encoder = encoder
        self._stages = stages
        self._read_what_is_there()

    def _read_what_is_there(self) -> None:
        self._papers = KnownPapers(self._store)
        ids = whole(self._store["spans"], ["id"])["id"].to_numpy()
        self._spans = np.sort(ids.astype(np.int64))
        self._new_spans: set[int] = set()

    def write(self, batch: Sequence[tuple[Document, Sequence[Span]]], replaced: Mapping[str, int]) -> int:
        """Write documents with their evidence in place of others (by hash); the number of new spans."""
        hashed = {content_hash(document): (document, spans) for document, spans in batch}
        if replaced:
            forget(self._store, sorted(replaced.values()), self._encoder)
            self._read_what_is_there()
        with timed(self._stages, "papers"):
            documents = [document for document, _ in hashed.values()]
            references = (reference for document in documents for reference in document.references)
            changes = self._papers.take((document.paper for document in documents), references)
        self._write_papers(changes)
        cited = {name: citation_rows(document, name, spans) for name, (document, spans) in hashed.items()}
        texts = [text for text in dict.fromkeys(t for each in cited.values() for t in each.texts) if self._is_new(text)]
        with timed(self._stages, "encode"):
            vectors = self._encoder.encode(texts)
        with timed(self._stages, "store"):
            if texts:
                self._store["spans"].add(span_rows(texts, vectors, self._store["spans"].schema))
            rows = [row for each in cited.values() for row in each.rows]
            if rows:
                self._store["citations"].add(pa.Table.from_pylist(rows, schema=self._store["citations"].schema))
            entries = [document_row(document, name, cited[name].places) for name, (document, _) in hashed.items()]
            self._store["documents"].add(pa.Table.from_pylist(entries, schema=self._store["documents"].schema))
        return len(texts)

    def _write_papers(self, changes: Changes) -> None:
        papers = {**changes.new, **changes.told}
        with timed(self._stages, "encode"):
            vectors = self._encoder.encode([searched(reference) for reference in papers.values()])
        with timed(self._stages, "store"):
            table = self._store["papers"]
            same_as = {version: self._papers.paper_of(version) for version in papers}
            rows = paper_rows(papers, same_as, vectors, table.schema)
            new = len(changes.new)
            if new:
                table.add(rows.slice(0, new))
            if len(papers) > new:
                table.merge_insert("id").when_matched_update_all().execute(rows.slice(new))
            move(self._store, {version: paper for version, paper in changes.moved.items() if version not in papers})

    def _is_new(self, text: str) -> bool:
        span = identifier(text)
        at = np.searchsorted(self._spans, span)
        if span in self._new_spans or (at < len(self._spans) and self._spans[at] == span):
            return False
        self._new_spans.add(span)
        return True


@contextmanager
def timed(stages: dict[str, float], name: str) -> Iterator[None]:
    """Count the time that passes as that of a stage."""
    begun = time.perf_counter()
    try:
        yield
    finally:
        stages[name] += time.perf_counter() - begun
