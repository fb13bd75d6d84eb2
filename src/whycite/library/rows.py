"""From documents with their evidence to the rows of a library."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from whycite.documents.identity import paper_key, traits
from whycite.documents.model import Document, Reference
from whycite.evidence import Span
from whycite.evidence.trimming import sentence
from whycite.library.known import version_of
from whycite.library.paths import stored_path
from whycite.library.schema import identifier

__all__ = ["Cited", "citation_rows", "content_hash", "document_row", "paper_rows", "searched", "span_rows", "storable"]

_LONGEST = 4_000  # characters of title and abstract that are searched


def storable(text: str) -> str:
    """A text without half characters, which names of files and broken JSON have and no table takes."""
    return text.encode("utf-8", "replace").decode("utf-8")


def content_hash(document: Document) -> str:
    """A hash of what a document says, cites and tells of what it cites; the same for the same content elsewhere."""
    state = blake2b(digest_size=16)
    for line in document.sentences:
        keys = ",".join(key for citation in line.citations for key in citation.keys)
        state.update(f"{line.text}\1{keys}\0".encode("utf-8", "replace"))
    for reference in (document.paper, *document.references):
        state.update(f"{astuple(reference)}\0".encode("utf-8", "replace"))
    return state.hexdigest()


@dataclass(frozen=True, slots=True)
class Cited:
    """The evidence of a document: the texts that cite, and the rows that say what."""

    texts: Sequence[str]
    rows: Sequence[Mapping[str, Any]]
    places: int


def citation_rows(document: Document, hashed: str, spans: Iterable[Span]) -> Cited:
    """Each span with each paper it cites; the whole sentence too where it is no span of its own."""
    by_id = document.by_id
    home = identifier(hashed)
    texts: dict[str, None] = {}
    rows: list[dict[str, Any]] = []
    places: dict[tuple[int, int, int], int] = {}
    whole: set[tuple[int, str]] = set()  # groups whose sentence is a span already
    groups: dict[int, tuple[Span, str]] = {}
    for span in spans:
        text = storable(span.text)
        full = storable(sentence(span.context)) or text
        place = places.setdefault((span.sentence, span.start, span.end), len(places))
        found = _rows(span, text, span.kind, full, place, home, by_id)
        if not found:
            continue  # nothing says what it cites
        groups.setdefault(place, (span, full))
        whole.add((place, text))
        rows += found
        texts |= {text: None, full: None}
    for place, (span, full) in groups.items():
        if (place, full) not in whole:
            rows += _rows(span, full, "context", full, place, home, by_id)
    return Cited(list(texts), rows, len(groups))


def _rows(
    span: Span, text: str, kind: str, full: str, place: int, home: int, by_id: Mapping[str, Reference]
) -> list[dict[str, Any]]:
    cited = dict.fromkeys(version_of(by_id[key]) for key in span.keys if key in by_id)
    return [
        {
            "span": identifier(text),
            "paper": version,
            "document": home,
            "sentence": identifier(full),
            "kind": kind,
            "section_type": span.section_type,
            "place": place,
            "start": span.start,
            "end": span.end,
        }
        for version in cited
        if version
    ]


def document_row(document: Document, hashed: str, places: int) -> dict[str, Any]:
    """What is kept of a document itself."""
    paper = document.paper
    references = dict.fromkeys(version_of(reference) for reference in document.references)
    return {
        "id": identifier(hashed),
        "hash": hashed,
        "paper": version_of(paper),
        "key": storable(paper_key(paper)),
        "title": storable(paper.title),
        "year": _year(paper),
        "path": storable(stored_path(document.path)),
        "format": document.format,
        "added": datetime.now(UTC).isoformat(timespec="seconds"),
        "citations": places,
        "references": [version for version in references if version],
    }


def searched(reference: Reference) -> str:
    """The text by which a paper is found; an entry as printed, which names authors and journals, is none."""
    return storable(f"{reference.title}\n{reference.abstract}".strip()[:_LONGEST])


def _year(reference: Reference) -> int | None:
    return reference.year if reference.year is not None and 0 < reference.year < 10_000 else None


def paper_rows(
    papers: Mapping[int, Reference], same_as: Mapping[int, int], vectors: NDArray[np.float32], schema: pa.Schema
) -> pa.Table:
    """Versions of papers as rows, with the vectors of what is searched of them."""
    rows = [
        {
            "id": version,
            "same_as": same_as.get(version, version),
            "key": storable(paper_key(reference)),
            "title": storable(reference.title or reference.text),
            "authors": list(map(storable, reference.authors)),
            "year": _year(reference),
            **{
                name: storable(getattr(reference, name))
                for name in ("venue", "doi", "arxiv", "pmid", "isbn", "abstract")
            },
            "text": searched(reference),
            "traits": traits(reference),
        }
        for version, reference in papers.items()
    ]
    return _with_vectors(pa.Table.from_pylist(rows, schema=_without_vector(schema)), vectors, schema)


def span_rows(texts: Sequence[str], vectors: NDArray[np.float32], schema: pa.Schema) -> pa.Table:
    """Texts as rows."""
    columns = {"id": [identifier(text) for text in texts], "text": list(texts)}
    return _with_vectors(pa.Table.from_pydict(columns, schema=_without_vector(schema)), vectors, schema)


def _without_vector(schema: pa.Schema) -> pa.Schema:
    return schema.remove(schema.get_field_index("vector"))


def _with_vectors(rows: pa.Table, vectors: NDArray[np.float32], schema: pa.Schema) -> pa.Table:
    field = schema.field("vector")
    flat = pa.array(vectors.astype(np.float16).ravel())
    return rows.append_column(field, pa.FixedSizeListArray.from_arrays(flat, field.type.list_size)).cast(schema)
