"""Add documents: select the new ones, extract their evidence, encode and store it, with a commit per batch."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from whycite.documents.builder import explain
from whycite.documents.confined import stream_confined
from whycite.documents.identity import group_references, normalise_title, paper_key, tells_paper
from whycite.documents.model import Document, Reference
from whycite.documents.reading import check_format, papers_beside_drafts
from whycite.errors import UserError
from whycite.evidence import EvidenceSpan, extract_many
from whycite.evidence.spans import SkipDocument, SpanStream
from whycite.library.checksums import seal
from whycite.library.encoding import EncoderChoice, encoder_of, note_folder, resolve_encoder
from whycite.library.maintenance import index, needs_index, prune
from whycite.library.papers import version_of
from whycite.library.paths import default_path, file_of, stands_alone, stored_path
from whycite.library.readingcopy import write_copy
from whycite.library.records import AddProgress, AddReport
from whycite.library.store import Store, create_store, open_store, plain_errors, writing
from whycite.library.tables import identifier, read_columns, rows_by_id
from whycite.library.writer import BatchWriter, content_hash, storable_text, timed
from whycite.models import Encoder, load_encoder
from whycite.models.cache import CachedEncoder
from whycite.structure import label

__all__ = [
    "BATCH_DOCUMENTS",
    "BATCH_SECONDS",
    "BATCH_SPANS",
    "EvidenceSource",
    "Intake",
    "Watch",
    "add",
    "add_documents",
    "add_evidence",
]


# A batch is committed when it reaches one of these limits. Larger batches are faster to store, but more is lost if the
# process is killed.
BATCH_DOCUMENTS = 32
BATCH_SPANS = 8_000  # those of about 70 articles, so that books do not fill the memory
BATCH_SECONDS = 10.0

Watch = Callable[[AddProgress], None]


def add(
    path: Path | str | None,
    inputs: Sequence[Path | str],
    *,
    format: str | None = None,
    jobs: int | None = None,
    encoder: EncoderChoice | None = None,
    progress: Watch | None = None,
    own_text: bool = True,
) -> AddReport:
    """Add all documents from files, folders, archives or "-" to a library, which is created if needed.

    A new library gets the encoder, by default the bundled one; an existing one keeps its own. `own_text` stores what
    documents say in their own words, too, which takes more room.
    """
    check_format(format)
    with closing(stream_confined(inputs, format)) as documents:
        report = add_documents(path, documents, jobs=jobs, encoder=encoder, progress=progress, own_text=own_text)
    report.warnings += [warning for place in inputs for warning in papers_beside_drafts(place, format)]
    return report


def add_documents(
    path: Path | str | None,
    documents: Iterable[Document],
    *,
    jobs: int | None = None,
    encoder: EncoderChoice | None = None,
    progress: Watch | None = None,
    own_text: bool = True,
) -> AddReport:
    """Add documents to a library, except those it has already; those reported as added are on disk."""

    def extract_new(intake: Intake, skip: SkipDocument) -> SpanStream:
        return extract_many(intake.new_documents(documents), jobs or _cores(), skip)

    return add_evidence(path, extract_new, encoder=encoder, progress=progress, own_text=own_text)


EvidenceSource = Callable[["Intake", SkipDocument], SpanStream]
"""Gives the new documents with their evidence; those it cannot get evidence from are handed to the function."""


def add_evidence(
    path: Path | str | None,
    source: EvidenceSource,
    *,
    encoder: EncoderChoice | None = None,
    spread: Callable[[Encoder], Encoder] = lambda encoder: encoder,
    batch_factor: int = 1,
    progress: Watch | None = None,
    own_text: bool = True,
) -> AddReport:
    """Add documents whose evidence comes from elsewhere.

    `spread` may hand the library's encoder to other machines, which need batches `batch_factor` times as large.
    """
    place = Path(path).expanduser() if path is not None else default_path()
    report = AddReport()
    started = time.perf_counter()
    with _open_for_writing(place, "add", encoder) as (store, loaded_encoder), plain_errors(place):
        cached_encoder = CachedEncoder(spread(loaded_encoder))
        _AddSession(store, cached_encoder, report, progress, own_text, batch_factor).run(source)
    report.seconds = time.perf_counter() - started
    return report


@contextmanager
def _open_for_writing(path: Path, command: str, choice: EncoderChoice | None) -> Iterator[tuple[Store, Encoder]]:
    store = open_store(path)  # raises before anything is created
    encoder = resolve_encoder(choice) if choice is not None else None
    with plain_errors(path):
        path.mkdir(parents=True, exist_ok=True)
    with writing(path, command):
        store = open_store(path)
        if store is None or (encoder is not None and store.commit.number == 1):  # created, but still empty
            encoder = encoder or load_encoder()
            create_store(path, encoder.name, encoder.dimensions)
            store = open_store(path)
            assert store is not None
        encoder = encoder or encoder_of(store.commit.encoder, path)
        if encoder.name != store.commit.encoder:
            name = choice if isinstance(choice, str | Path) else encoder.name.partition("@")[0]
            raise UserError(
                f"{path}: uses the encoder {store.commit.encoder}, not {encoder.name}; omit --encoder, "
                f"or move the library first with: whycite library reindex --encoder {name}"
            )
        with plain_errors(path):
            store.roll_back()
        if choice is not None:
            note_folder(path, encoder, choice)
        yield store, encoder


class _AddSession:
    """One add: documents come in, batches go out."""

    def __init__(
        self,
        store: Store,
        encoder: Encoder,
        report: AddReport,
        progress: Watch | None,
        own_text: bool,
        batch_factor: int,
    ) -> None:
        self._store = store
        self._batch_factor = batch_factor
        self._report = report
        self._progress = progress
        self._stages = dict.fromkeys(("read", "evidence", "papers", "encode", "store", "index"), 0.0)
        report.stages = self._stages
        self._intake = Intake(store, report, self._stages)
        self._writer = BatchWriter(store, encoder, self._stages, own_text)
        self._batch: list[tuple[Document, list[EvidenceSpan]]] = []
        self._batch_started = time.monotonic()

    def run(self, source: EvidenceSource) -> None:
        """Add the documents that are new."""
        # Closed first on Ctrl-C, since it has its own processes.
        with closing(source(self._intake, self._skip)) as evidence:
            while True:
                with timed(self._stages, "evidence"):
                    document_spans = next(evidence, None)
                if document_spans is None:
                    break
                self._batch.append(document_spans)
                self._report_progress(document_spans[0].path)
                if self._is_full():
                    self._commit()
        if self._batch:
            self._commit()
        moved = self._intake.update_moved_paths()
        # Documents are read while evidence is extracted.
        self._stages["evidence"] = max(0.0, self._stages["evidence"] - self._stages["read"])
        self._report.papers = self._store["papers"].count_rows("id = same_as")
        # An earlier add may have been killed before it was done with the index.
        if self._report.added or self._report.replaced or moved or needs_index(self._store):
            self._index(more_coming=False)
            with timed(self._stages, "index"):
                prune(self._store)
        with timed(self._stages, "index"):
            write_copy(self._store)
            seal(self._store.path, self._store.commit)

    def _skip(self, document: Document, error: Exception) -> None:
        """Leave a document out whose evidence could not be extracted."""
        self._report.skipped.append((document.path, explain(error)))

    def _is_full(self) -> bool:
        spans = sum(len(spans) for _, spans in self._batch)
        waited = time.monotonic() - self._batch_started
        documents, factor = len(self._batch), self._batch_factor
        return documents >= factor * BATCH_DOCUMENTS or spans >= factor * BATCH_SPANS or waited >= BATCH_SECONDS

    def _commit(self) -> None:
        report, hashes = self._report, [content_hash(document) for document, _ in self._batch]
        replaced = {digest: old for digest in hashes if (old := self._intake.replaced_id(digest))}
        report.spans += self._writer.write(self._batch, replaced)
        self._index(more_coming=True)
        report.replaced += len(replaced)
        report.added += len(self._batch) - len(replaced)
        report.without_citations += sum(_cites_nothing(document) for document, _ in self._batch)
        last_path, self._batch, self._batch_started = self._batch[-1][0].path, [], time.monotonic()
        self._report_progress(last_path)

    def _index(self, more_coming: bool) -> None:
        with timed(self._stages, "index"):
            if needs_index(self._store, more_coming=more_coming):
                index(self._store)
            self._store.save()

    def _report_progress(self, path: str) -> None:
        if self._progress is not None:
            stored_count = self._report.added + self._report.replaced
            read = stored_count + len(self._batch)
            self._progress(AddProgress(read, stored_count, self._report.unchanged, self._report.spans, path))


def _cites_nothing(document: Document) -> bool:
    """Whether a document has text, unlike a bibliography, but no citations."""
    return bool(document.sentences) and not any(sentence.citations for sentence in document.sentences)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Intake:
    """Filters out documents that are already in the library."""

    def __init__(self, store: Store, report: AddReport, stages: dict[str, float]) -> None:
        self._documents = store["documents"]
        columns = ["hash", "paper", "path", "title", "year", "key", "added"]
        rows = read_columns(self._documents, columns).sort_by("added")
        self._by_hash: dict[str, _StoredDocument] = {}
        self._by_paper: dict[int, _StoredDocument] = {}
        self._by_path: dict[str, _StoredDocument] = {}  # the last that was added
        self._by_title: defaultdict[str, list[_StoredDocument]] = defaultdict(list)
        for row in rows.drop_columns("added").to_pylist():
            self._remember(_StoredDocument(**row))
        self._report = report
        self._stages = stages
        self._replaced: dict[str, int] = {}
        self._moved: dict[int, str] = {}
        self._seen_papers: set[int] = set()  # papers of this add
        self._seen_hashes: set[str] = set()  # hashes of the documents in this add

    def new_documents(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Yield the new documents."""
        source = iter(documents)
        while True:
            with timed(self._stages, "read"):
                document = next(source, None)
                is_new = document is not None and self.accepts(document)
            if document is None:
                return
            if is_new:
                yield label(document)

    def replaced_id(self, digest: str) -> int:
        """The id of the document that a new one replaces; 0 if none."""
        return self._replaced.get(digest, 0)

    def update_moved_paths(self) -> bool:
        """Store the new paths of moved documents; returns whether there were any."""
        rows = rows_by_id(self._documents, "id", sorted(self._moved), self._documents.schema.names)
        if rows.num_rows:
            paths = pa.array([self._moved[document] for document in rows["id"].to_pylist()], pa.string())
            column = rows.schema.get_field_index("path")
            rows = rows.set_column(column, rows.schema.field(column), paths)
            self._documents.merge_insert("id").when_matched_update_all().execute(rows)
        return bool(rows.num_rows)

    @property
    def known_hashes(self) -> Collection[str]:
        """The content hashes of the documents that are in the library."""
        return self._by_hash.keys()

    def accepts(self, document: Document) -> bool:
        """Whether a document is new; ask once for each, in their order."""
        report = self._report
        report.warnings += [(document.path, warning) for warning in document.warnings]
        if not document.sentences and not document.references:
            report.skipped.append((document.path, document.warnings[0] if document.warnings else "contains no text"))
            return False
        new = _StoredDocument(
            content_hash(document),
            _certain_version(document),
            storable_text(stored_path(document.path)),
            storable_text(document.paper.title),
            document.paper.year,
            paper_key(document.paper),
        )
        # Two versions of a paper in one file would replace each other each time the file is added.
        already_seen = new.paper in self._seen_papers
        self._seen_papers.add(new.paper)
        if new.hash in self._by_hash:
            self._record_path(self._by_hash[new.hash], new.path)
            return False
        old = self._same_paper(new)
        if old is not None and (already_seen or _is_elsewhere(old.path, document.path)):
            report.skipped.append((document.path, f"same paper as {old.path}"))
            return False
        old = old or self._replaced_document(new.path, document.path)
        if old is not None:
            self._replaced[new.hash] = old.id
            self._forget(old)
        self._remember(new)
        self._seen_hashes.add(new.hash)
        return True

    def _same_paper(self, new: _StoredDocument) -> _StoredDocument | None:
        """The document of the same paper; one of the two may lack a year or an identifier."""
        if not new.paper:
            return None
        if old := self._by_paper.get(new.paper):
            return old
        namesakes = self._by_title.get(normalise_title(new.title), ())
        return next((old for old in namesakes if len({*group_references((new.reference, old.reference))}) == 1), None)

    def _record_path(self, old: _StoredDocument, path: str) -> None:
        """Count a document that is in the library already, and note its path if its file was moved."""
        self._report.unchanged += 1
        already_seen = old.hash in self._seen_hashes
        self._seen_hashes.add(old.hash)
        if not already_seen and old.path != path and (file := file_of(path)) and file_of(old.path) in (None, file):
            self._forget(old)
            self._remember(replace(old, path=path))
            self._moved[old.id] = path

    def _replaced_document(self, path: str, original_path: str) -> _StoredDocument | None:
        """The document that was in a file before the file changed; None if that is uncertain."""
        old = self._by_path.get(path)
        if old is None or old.hash in self._seen_hashes:  # this add has seen it in another file
            return None
        # Two names that cannot be stored as they are may be stored alike.
        is_certain = path == stored_path(original_path) and stands_alone(original_path)
        return old if is_certain else None

    def _remember(self, document: _StoredDocument) -> None:
        self._by_hash[document.hash] = self._by_path[document.path] = document
        if document.paper:
            self._by_paper[document.paper] = document
            self._by_title[normalise_title(document.title)].append(document)

    def _forget(self, document: _StoredDocument) -> None:
        """Treat a replaced document as new if it appears again: its file may have been moved."""
        del self._by_hash[document.hash]
        if self._by_path.get(document.path) == document:
            del self._by_path[document.path]
        if self._by_paper.get(document.paper) == document:
            del self._by_paper[document.paper]
            self._by_title[normalise_title(document.title)].remove(document)


@dataclass(frozen=True, slots=True)
class _StoredDocument:
    """A document of the library."""

    hash: str
    paper: int
    path: str
    title: str
    year: int | None
    key: str

    @property
    def reference(self) -> Reference:
        """What identifies its paper; without authors, so only a long title can, not a short one."""
        scheme, _, value = self.key.partition(":")
        doi, arxiv, pmid = (value if scheme == name else "" for name in ("doi", "arxiv", "pmid"))
        return Reference(self.key, title=self.title, year=self.year, doi=doi, arxiv=arxiv, pmid=pmid)

    @property
    def id(self) -> int:
        return identifier(self.hash)


def _is_elsewhere(path: str, new_path: str) -> bool:
    """Whether a document of the library is in another file, which still exists."""
    file = file_of(path)
    return file is not None and file != file_of(new_path)


def _certain_version(document: Document) -> int:
    """The version of a document with an identifier or a long title; else 0, since others may share its key."""
    paper = document.paper
    identity = paper.doi or paper.arxiv or paper.pmid or tells_paper(normalise_title(paper.title))
    return version_of(paper) if identity else 0
