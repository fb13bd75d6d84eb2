"""Write documents and their evidence to the tables, and remove them."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, replace
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from whycite.documents.identity import paper_key, traits
from whycite.documents.jsondocument import publication_fields
from whycite.documents.model import Document, Publication, Reference, Sentence
from whycite.evidence import EvidenceSpan
from whycite.evidence.groups import quote
from whycite.evidence.words import trim_sentence
from whycite.library.notices import forget_documents, record_documents
from whycite.library.papers import KnownPapers, PaperChanges, reference_of, version_of
from whycite.library.paths import stored_path
from whycite.library.register import forget_item_documents
from whycite.library.store import Store
from whycite.library.tables import id_chunks, id_condition, identifier, read_columns, rows_by_id
from whycite.models import Encoder

__all__ = [
    "BatchWriter",
    "EvidenceRows",
    "citation_rows",
    "content_hash",
    "document_row",
    "paper_rows",
    "passage_rows",
    "remove_documents",
    "search_text",
    "span_rows",
    "storable_text",
    "timed",
]


_UNLINKED = re.compile(r"\bet al\b|\((?:[^()]{0,80}\b)?(?:1[89]|20)\d\d[a-z]?\)")  # "Doe et al.", "(Doe, 1999)"
_MAX_SEARCH_CHARS = 4_000  # of title and abstract, enough for nearly all


class BatchWriter:
    """Writes batches of documents, with only their new spans and papers."""

    def __init__(self, store: Store, encoder: Encoder, stages: dict[str, float], own_text: bool = True) -> None:
        """`own_text`: whether to store what documents say in their own words."""
        self._store = store
        self._encoder = encoder
        self._stages = stages
        self._own_text = own_text
        store.add_missing_tables()
        self._load_known_ids()

    def _load_known_ids(self) -> None:
        self._papers = KnownPapers(self._store)
        ids = read_columns(self._store["spans"], ["id"])["id"].to_numpy()
        self._spans = np.sort(ids.astype(np.int64))
        self._new_spans: set[int] = set()

    def write(self, batch: Sequence[tuple[Document, Sequence[EvidenceSpan]]], replaced: Mapping[str, int]) -> int:
        """Write documents and their evidence; `replaced`: old ids by new hash. Returns the number of new spans."""
        self._store.add_missing_columns()
        batch_by_hash = {content_hash(document): (document, spans) for document, spans in batch}
        if replaced:
            remove_documents(self._store, sorted(replaced.values()), self._encoder)
            self._load_known_ids()
        with timed(self._stages, "papers"):
            documents = [document for document, _ in batch_by_hash.values()]
            references = (reference for document in documents for reference in document.references)
            changes = self._papers.record_references((document.paper for document in documents), references)
        self._write_papers(changes)
        evidence_by_hash = {
            digest: citation_rows(document, digest, spans) for digest, (document, spans) in batch_by_hash.items()
        }
        texts = [
            text
            for text in dict.fromkeys(t for evidence in evidence_by_hash.values() for t in evidence.texts)
            if self._is_new(text)
        ]
        with timed(self._stages, "encode"):
            vectors = self._encoder.encode(texts)
        with timed(self._stages, "store"):
            # Before the commit: what a killed process leaves in the register is true, and written again later.
            record_documents(
                self._store.path,
                {identifier(digest): document for digest, (document, _) in batch_by_hash.items()},
            )
            if texts:
                self._store["spans"].add(span_rows(texts, vectors, self._store["spans"].schema))
            rows = [row for evidence in evidence_by_hash.values() for row in evidence.rows]
            if rows:
                self._store["citations"].add(pa.Table.from_pylist(rows, schema=self._store["citations"].schema))
            entries = [
                document_row(document, digest, evidence_by_hash[digest])
                for digest, (document, _) in batch_by_hash.items()
            ]
            passages = [
                row
                for digest, (document, _) in batch_by_hash.items()
                if self._own_text
                for row in passage_rows(document, digest)
            ]
            if passages:
                self._store["passages"].add(pa.Table.from_pylist(passages, schema=self._store["passages"].schema))
            documents_table = self._store["documents"]
            documents_table.add(pa.Table.from_pylist(entries, schema=documents_table.schema))
        return len(texts)

    def _write_papers(self, changes: PaperChanges) -> None:
        papers = {**changes.new, **changes.updated}
        with timed(self._stages, "encode"):
            vectors = self._encoder.encode([search_text(reference) for reference in papers.values()])
        with timed(self._stages, "store"):
            table = self._store["papers"]
            same_as = {version: self._papers.paper_of(version) for version in papers}
            rows = paper_rows(papers, same_as, vectors, table.schema)
            new = len(changes.new)
            if new:
                table.add(rows.slice(0, new))
            if len(papers) > new:
                table.merge_insert("id").when_matched_update_all().execute(rows.slice(new))
            reassign_versions(
                self._store, {version: paper for version, paper in changes.moved.items() if version not in papers}
            )

    def _is_new(self, text: str) -> bool:
        span = identifier(text)
        position = np.searchsorted(self._spans, span)
        if span in self._new_spans or (position < len(self._spans) and self._spans[position] == span):
            return False
        self._new_spans.add(span)
        return True


@dataclass(frozen=True, slots=True)
class EvidenceRows:
    """The evidence of a document: its texts that cite, and the rows of its citations."""

    texts: Sequence[str]
    rows: Sequence[Mapping[str, Any]]
    places: int
    quotations: Sequence[str | None]  # by place, as stored


def content_hash(document: Document) -> str:
    """A hash of a document's sentences, citations and references, independent of its path."""
    state = blake2b(digest_size=16)
    for line in document.sentences:
        keys = ",".join(key for citation in line.citations for key in citation.keys)
        state.update(f"{line.text}\1{keys}\0".encode("utf-8", "replace"))
    for reference in (document.paper, *document.references):
        state.update(f"{_hashed_fields(reference)}\0".encode("utf-8", "replace"))
    return state.hexdigest()


def _hashed_fields(reference: Reference) -> tuple[Any, ...]:
    """The fields of a reference; those that older versions did not read only if there are any."""
    *fields, publication, notices = astuple(reference)
    is_plain = reference.publication == Publication() and not notices
    return tuple(fields) if is_plain else (*fields, publication, notices)


def citation_rows(document: Document, digest: str, spans: Iterable[EvidenceSpan]) -> EvidenceRows:
    """A row for each span and paper it cites, and for the whole sentence if that is not a span itself."""
    by_id = document.by_id
    document_id = identifier(digest)
    texts: dict[str, None] = {}
    rows: list[dict[str, Any]] = []
    places: dict[tuple[int, int, int], int] = {}
    whole: set[tuple[int, str]] = set()  # groups whose sentence is a span already
    groups: dict[int, tuple[EvidenceSpan, str]] = {}
    for span in spans:
        text = storable_text(span.text)
        full = storable_text(trim_sentence(span.context)) or text
        place = places.setdefault((span.sentence, span.start, span.end), len(places))
        new_rows = _citation_rows(span, text, span.kind, full, place, document_id, by_id)
        if not new_rows:
            continue  # nothing identifies what it cites
        groups.setdefault(place, (span, full))
        whole.add((place, text))
        rows += new_rows
        texts |= {text: None, full: None}
    for place, (span, full) in groups.items():
        if (place, full) not in whole:
            rows += _citation_rows(span, full, "context", full, place, document_id, by_id)
    return EvidenceRows(list(texts), rows, len(groups), _quotations(document, [sentence for sentence, _, _ in places]))


def _quotations(document: Document, sentences: Sequence[int]) -> list[str | None]:
    """The sentence of each place as it was written; None if it is the same as that of the place before."""
    return [
        None if position and sentences[position - 1] == sentence else _quotation(document, sentence)
        for position, sentence in enumerate(sentences)
    ]


def _quotation(document: Document, sentence: int) -> str:
    return storable_text(quote(document.sentences[sentence], document.by_id))


def _citation_rows(
    span: EvidenceSpan, text: str, kind: str, full: str, place: int, document_id: int, by_id: Mapping[str, Reference]
) -> list[dict[str, Any]]:
    cited = dict.fromkeys(version_of(by_id[key]) for key in span.keys if key in by_id)
    return [
        {
            "span": identifier(text),
            "paper": version,
            "document": document_id,
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


def passage_rows(document: Document, digest: str) -> list[dict[str, Any]]:
    """A row for each paragraph in which a document says something itself: its sentences that cite nothing."""
    version, document_id = version_of(document.paper), identifier(digest)
    paragraphs: dict[tuple[int, int], list[Sentence]] = {}
    for sentence in document.sentences:
        if version and sentence.kind == "prose" and sentence.text.strip() and not _tells_of_others(sentence):
            paragraphs.setdefault((sentence.section, sentence.paragraph), []).append(sentence)
    return [
        {
            "id": identifier(f"{digest} {section} {paragraph}"),
            "document": document_id,
            "paper": version,
            "section": storable_text(document.sections[section].heading) if document.sections else "",
            "section_type": document.sections[section].type if document.sections else None,
            "page": sentences[0].page,
            "text": storable_text("\n".join(" ".join(sentence.text.split()) for sentence in sentences)),
        }
        for (section, paragraph), sentences in paragraphs.items()
    ]


def _tells_of_others(sentence: Sentence) -> bool:
    """Whether a sentence says what others found: it cites, or has a citation that could not be linked."""
    return sentence.cites or bool(_UNLINKED.search(sentence.text))


def document_row(document: Document, digest: str, evidence: EvidenceRows) -> dict[str, Any]:
    """The row of a document."""
    paper = document.paper
    references = dict.fromkeys(version_of(reference) for reference in document.references)
    return {
        "id": identifier(digest),
        "hash": digest,
        "paper": version_of(paper),
        "key": storable_text(paper_key(paper)),
        "title": storable_text(paper.title),
        "year": _year(paper),
        "path": storable_text(stored_path(document.path)),
        "format": document.format,
        "added": datetime.now(UTC).isoformat(timespec="seconds"),
        "citations": evidence.places,
        "references": [version for version in references if version],
        "quotations": evidence.quotations,
    }


def span_rows(texts: Sequence[str], vectors: NDArray[np.float32], schema: pa.Schema) -> pa.Table:
    """Texts as rows."""
    columns = {"id": [identifier(text) for text in texts], "text": list(texts)}
    return _with_vectors(pa.Table.from_pydict(columns, schema=_without_vector(schema)), vectors, schema)


def paper_rows(
    papers: Mapping[int, Reference], same_as: Mapping[int, int], vectors: NDArray[np.float32], schema: pa.Schema
) -> pa.Table:
    """Versions of papers as rows, with the vectors of their search texts."""
    rows = [
        {
            "id": version,
            "same_as": same_as.get(version, version),
            "key": storable_text(paper_key(reference)),
            "title": storable_text(reference.title or reference.text),
            "authors": list(map(storable_text, reference.authors)),
            "year": _year(reference),
            **{
                name: storable_text(getattr(reference, name))
                for name in ("venue", "doi", "arxiv", "pmid", "isbn", "abstract")
            },
            "text": search_text(reference),
            "traits": traits(reference),
            "publication": _publication_text(reference),
        }
        for version, reference in papers.items()
    ]
    return _with_vectors(pa.Table.from_pylist(rows, schema=_without_vector(schema)), vectors, schema)


def _publication_text(reference: Reference) -> str | None:
    fields = publication_fields(reference.publication)
    return storable_text(json.dumps(fields, ensure_ascii=False)) if fields else None


def search_text(reference: Reference) -> str:
    """The text of a paper to search; not an entry as printed, which includes authors and journal."""
    return storable_text(f"{reference.title}\n{reference.abstract}".strip()[:_MAX_SEARCH_CHARS])


def storable_text(text: str) -> str:
    """A text without lone surrogates, which file names and broken JSON can have and tables cannot store."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _year(reference: Reference) -> int | None:
    return reference.year if reference.year is not None and 0 < reference.year < 10_000 else None


def _without_vector(schema: pa.Schema) -> pa.Schema:
    return schema.remove(schema.get_field_index("vector"))


def _with_vectors(rows: pa.Table, vectors: NDArray[np.float32], schema: pa.Schema) -> pa.Table:
    field = schema.field("vector")
    flat = pa.array(vectors.astype(np.float16).ravel())
    rows = rows.append_column(field, pa.FixedSizeListArray.from_arrays(flat, field.type.list_size))
    return rows.select(schema.names).cast(schema)


def remove_documents(store: Store, documents: Sequence[int], encoder: Encoder) -> None:
    """Delete documents, their citations, and the spans and papers that no other document has."""
    if not documents:
        return
    gone = rows_by_id(store["documents"], "id", documents, ["id", "paper", "references"]).to_pylist()
    cited = rows_by_id(store["citations"], "document", documents, ["span", "sentence"])
    spans = {*_values(cited, "span"), *_values(cited, "sentence")}
    _delete(store["citations"], "document", documents)
    _delete(store["documents"], "id", documents)
    if "passages" in store.names:
        _delete(store["passages"], "document", documents)
    _delete(store["spans"], "id", sorted(spans - _still_cited(store, sorted(spans))))
    papers = {version for row in gone for version in (row["paper"], *row["references"]) if version}
    remaining = _still_referenced(store, papers)
    _drop_papers(store, papers - remaining)
    _drop_abstracts(store, {row["paper"] for row in gone} & remaining, encoder)
    forget_documents(store.path, documents)
    forget_item_documents(store.path, documents)


def _still_cited(store: Store, spans: Sequence[int]) -> set[int]:
    cited_ids: set[int] = set()
    for column in ("span", "sentence"):
        cited_ids |= _values(rows_by_id(store["citations"], column, spans, [column]), column)
    return cited_ids


def _still_referenced(store: Store, papers: set[int]) -> set[int]:
    """The papers that are documents of the library or in their bibliographies."""
    rows = read_columns(store["documents"], ["paper", "references"])
    referenced_ids = np.concatenate(
        [rows["paper"].to_numpy(), rows["references"].combine_chunks().flatten().to_numpy()]
    )
    return set(np.intersect1d(referenced_ids, np.array(sorted(papers), np.int64)).tolist())


def _drop_papers(store: Store, versions: set[int]) -> None:
    """Delete versions, and regroup the related ones into papers."""
    known_papers = KnownPapers(store)
    gone = known_papers.references(versions)
    _delete(store["papers"], "id", sorted(versions))
    reassign_versions(store, known_papers.regroup_without(gone))


def reassign_versions(store: Store, moved: Mapping[int, int]) -> None:
    """Store the new paper of each moved version."""
    if not moved:
        return
    papers = store["papers"]
    # Whole rows: updating single columns rewrites a whole fragment of the table and loses its index.
    rows = rows_by_id(papers, "id", sorted(moved), papers.schema.names)
    same_as = pa.array([moved[version] for version in rows["id"].to_pylist()], pa.int64())
    rows = rows.set_column(papers.schema.get_field_index("same_as"), papers.schema.field("same_as"), same_as)
    papers.merge_insert("id").when_matched_update_all().execute(rows)


def _drop_abstracts(store: Store, versions: Iterable[int], encoder: Encoder) -> None:
    """Remove the abstracts of papers that are still cited, but no longer documents of the library."""
    rows = rows_by_id(store["papers"], "id", sorted(versions), store["papers"].schema.names).to_pylist()
    references = {row["id"]: replace(reference_of(row), abstract="") for row in rows if row["abstract"]}
    if references:
        same_as = {row["id"]: row["same_as"] for row in rows}
        vectors = encoder.encode([reference.title for reference in references.values()])
        new = paper_rows(references, same_as, vectors, store["papers"].schema)
        store["papers"].merge_insert("id").when_matched_update_all().execute(new)


def _delete(table: Any, column: str, ids: Sequence[int]) -> None:
    for chunk in id_chunks(ids):
        table.delete(id_condition(column, chunk))


def _values(rows: pa.Table, column: str) -> set[int]:
    return set(rows[column].to_pylist())


@contextmanager
def timed(stages: dict[str, float], name: str) -> Iterator[None]:
    """Add the elapsed time to a stage."""
    started = time.perf_counter()
    try:
        yield
    finally:
        stages[name] += time.perf_counter() - started
