"""Adding documents: read, find what they cite for what, encode, store; batch by batch, each a commit."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import chain
from pathlib import Path

from whycite.documents.model import Document, Reference
from whycite.documents.reading import stream
from whycite.documents.registry import check_format
from whycite.encoders import Encoder, load
from whycite.encoders.cache import CachedEncoder
from whycite.errors import UserError
from whycite.evidence import Span, extract_many
from whycite.library.copying import copy
from whycite.library.encoding import Chosen, chosen, encoder_of, note_folder
from whycite.library.indexing import index, needs_index, prune
from whycite.library.intake import Intake
from whycite.library.lock import writing
from whycite.library.model import Progress, Report
from whycite.library.place import default_path
from whycite.library.rows import content_hash
from whycite.library.store import Store, create, open_store, plain_errors
from whycite.library.writer import Writer, timed

__all__ = ["add", "add_documents"]

_BATCH = 32  # documents of a commit
_BATCH_SPANS = 8_000
_BATCH_SECONDS = 10.0  # after which fewer are committed too: what is not is lost when the process is ended

Watch = Callable[[Progress], None]


def add(
    path: Path | str | None,
    inputs: Sequence[Path | str],
    *,
    format: str | None = None,
    jobs: int | None = None,
    encoder: Chosen | None = None,
    progress: Watch | None = None,
) -> Report:
    """Add every document at the inputs (files, folders, archives, "-") to a library, which is made if there is none.

    A new library gets the encoder, by default the bundled one; a library that is there keeps its own.
    """
    check_format(format)
    documents = chain.from_iterable(_readable(given, format) for given in inputs)
    return add_documents(path, documents, jobs=jobs, encoder=encoder, progress=progress)


def _readable(given: Path | str, format: str | None) -> Iterator[Document]:
    """What can be read of an input; what cannot is a document that says why, so that the other inputs are added."""
    try:
        yield from stream(given, format)
    except UserError as error:
        yield Document(str(given), "unknown", Reference(id=""), warnings=(str(error),))


def add_documents(
    path: Path | str | None,
    documents: Iterable[Document],
    *,
    jobs: int | None = None,
    encoder: Chosen | None = None,
    progress: Watch | None = None,
) -> Report:
    """Add documents to a library; those it has are left alone, and what is reported as added is on disk."""
    place = Path(path).expanduser() if path is not None else default_path()
    report = Report()
    started = time.perf_counter()
    with _for_writing(place, "add", encoder) as (store, used), plain_errors(place):
        _Adding(store, used, report, progress).run(documents, jobs or _cores())
    report.seconds = time.perf_counter() - started
    return report


@contextmanager
def _for_writing(path: Path, what: str, given: Chosen | None) -> Iterator[tuple[Store, Encoder]]:
    store = open_store(path)  # says what is wrong before anything is made
    encoder = chosen(given) if given is not None else None
    with plain_errors(path):
        path.mkdir(parents=True, exist_ok=True)
    with writing(path, what):
        store = open_store(path)
        if store is None or (encoder is not None and store.commit.number == 1):  # begun, and nothing is in it
            encoder = encoder or load()
            create(path, encoder.name, encoder.dimensions)
            store = open_store(path)
            assert store is not None
        encoder = encoder or encoder_of(store.commit.encoder, path)
        if encoder.name != store.commit.encoder:
            name = given if isinstance(given, str | Path) else encoder.name.partition("@")[0]
            raise UserError(
                f"{path}: its vectors were made by {store.commit.encoder}, not by {encoder.name}; "
                f"use that encoder, or move the library first with: whycite library reindex --encoder {name}"
            )
        with plain_errors(path):
            store.take_back()
        if given is not None:
            note_folder(path, encoder, given)
        yield store, CachedEncoder(encoder)


class _Adding:
    """One add: documents come in, batches go out."""

    def __init__(self, store: Store, encoder: Encoder, report: Report, progress: Watch | None) -> None:
        self._store = store
        self._report = report
        self._progress = progress
        self._stages = dict.fromkeys(("read", "evidence", "papers", "encode", "store", "index"), 0.0)
        report.stages = self._stages
        self._intake = Intake(store, report, self._stages)
        self._writer = Writer(store, encoder, self._stages)
        self._batch: list[tuple[Document, list[Span]]] = []
        self._begun = time.monotonic()  # the batch

    def run(self, documents: Iterable[Document], jobs: int) -> None:
        """Add the documents that are new."""
        with closing(extract_many(self._intake.fresh(documents), jobs)) as found:  # on Ctrl-C too, before all else
            while True:
                with timed(self._stages, "evidence"):
                    held = next(found, None)
                if held is None:
                    break
                self._batch.append(held)
                self._tell(held[0].path)
                if self._is_full():
                    self._commit()
        if self._batch:
            self._commit()
        moved = self._intake.follow()
        # Documents are read while evidence is asked for.
        self._stages["evidence"] = max(0.0, self._stages["evidence"] - self._stages["read"])
        self._report.papers = self._store["papers"].count_rows("id = same_as")
        if self._report.added or self._report.replaced or moved:
            self._index(more=False)
            with timed(self._stages, "index"):
                prune(self._store)
        with timed(self._stages, "index"):
            copy(self._store)

    def _is_full(self) -> bool:
        spans = sum(len(spans) for _, spans in self._batch)
        waited = time.monotonic() - self._begun
        return len(self._batch) >= _BATCH or spans >= _BATCH_SPANS or waited >= _BATCH_SECONDS

    def _commit(self) -> None:
        report, hashes = self._report, [content_hash(document) for document, _ in self._batch]
        replaced = {hashed: old for hashed in hashes if (old := self._intake.replaces(hashed))}
        report.spans += self._writer.write(self._batch, replaced)
        self._index(more=True)
        report.replaced += len(replaced)
        report.added += len(self._batch) - len(replaced)
        report.without_citations += sum(_cites_nothing(document) for document, _ in self._batch)
        last, self._batch, self._begun = self._batch[-1][0].path, [], time.monotonic()
        self._tell(last)

    def _index(self, more: bool) -> None:
        with timed(self._stages, "index"):
            if needs_index(self._store, more=more):
                index(self._store)
            self._store.save()

    def _tell(self, path: str) -> None:
        if self._progress is not None:
            kept = self._report.added + self._report.replaced
            read = kept + len(self._batch)
            self._progress(Progress(read, kept, self._report.unchanged, self._report.spans, path))


def _cites_nothing(document: Document) -> bool:
    """Whether it has text, unlike a bibliography, and no citation in it."""
    return bool(document.sentences) and not any(sentence.citations for sentence in document.sentences)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
