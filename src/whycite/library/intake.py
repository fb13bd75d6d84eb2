"""Which documents an add takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import pyarrow as pa

from whycite.documents.identity import normalise_title, tells_paper
from whycite.documents.model import Document
from whycite.library.known import version_of
from whycite.library.model import Report
from whycite.library.paths import file_of, stands_alone, stored_path
from whycite.library.query import matching, whole
from whycite.library.rows import content_hash, storable
from whycite.library.schema import identifier
from whycite.library.store import Store
from whycite.library.writer import timed
from whycite.structure import label

__all__ = ["Intake"]


@dataclass(frozen=True, slots=True)
class _Held:
    """A document of the library."""

    hash: str
    paper: int
    path: str

    @property
    def id(self) -> int:
        return identifier(self.hash)


class Intake:
    """Lets through the documents that the library does not have."""

    def __init__(self, store: Store, report: Report, stages: dict[str, float]) -> None:
        self._documents = store["documents"]
        rows = whole(self._documents, ["hash", "paper", "path", "added"]).sort_by("added")
        self._by_hash: dict[str, _Held] = {}
        self._by_paper: dict[int, _Held] = {}
        self._by_path: dict[str, _Held] = {}  # the last that was added
        for row in rows.drop_columns("added").to_pylist():
            self._hold(_Held(**row))
        self._report = report
        self._stages = stages
        self._replaced: dict[str, int] = {}
        self._moved: dict[int, str] = {}
        self._met: set[int] = set()  # papers of this add
        self._kept: set[str] = set()  # documents that are in the files of this add, by hash

    def fresh(self, documents: Iterable[Document]) -> Iterator[Document]:
        """The new documents among these."""
        source = iter(documents)
        while True:
            with timed(self._stages, "read"):
                document = next(source, None)
                taken = document is not None and self._takes(document)
            if document is None:
                return
            if taken:
                yield label(document)

    def replaces(self, hashed: str) -> int:
        """The document of the library that a new one stands for; 0 for none."""
        return self._replaced.get(hashed, 0)

    def follow(self) -> bool:
        """File documents whose file was moved under its new path; whether there were any."""
        rows = matching(self._documents, "id", sorted(self._moved), self._documents.schema.names)
        if rows.num_rows:
            paths = pa.array([self._moved[document] for document in rows["id"].to_pylist()], pa.string())
            at = rows.schema.get_field_index("path")
            rows = rows.set_column(at, rows.schema.field(at), paths)
            self._documents.merge_insert("id").when_matched_update_all().execute(rows)
        return bool(rows.num_rows)

    def _takes(self, document: Document) -> bool:
        report = self._report
        report.warnings += [(document.path, warning) for warning in document.warnings]
        if not document.sentences and not document.references:
            report.skipped.append((document.path, document.warnings[0] if document.warnings else "holds no text"))
            return False
        new = _Held(content_hash(document), _telling_version(document), storable(stored_path(document.path)))
        met = new.paper in self._met  # two of one file would take each other's place each time it is added
        self._met.add(new.paper)
        if new.hash in self._by_hash:
            self._keep(self._by_hash[new.hash], new.path)
            return False
        old = self._by_paper.get(new.paper) if new.paper else None
        if old is not None and (met or _is_elsewhere(old.path, document.path)):
            report.skipped.append((document.path, f"is the same paper as {old.path}"))
            return False
        old = old or self._before(new.path, document.path)
        if old is not None:
            self._replaced[new.hash] = old.id
            self._drop(old)
        self._hold(new)
        self._kept.add(new.hash)
        return True

    def _keep(self, old: _Held, path: str) -> None:
        """A document is there already; where it is in another place than before, remember that."""
        self._report.unchanged += 1
        met = old.hash in self._kept
        self._kept.add(old.hash)
        if not met and old.path != path and (file := file_of(path)) and file_of(old.path) in (None, file):
            self._drop(old)
            self._hold(replace(old, path=path))
            self._moved[old.id] = path

    def _before(self, path: str, given: str) -> _Held | None:
        """What was in a file before its content changed; nothing where that cannot be told."""
        old = self._by_path.get(path)
        if old is None or old.hash in self._kept:  # this add found it in another file
            return None
        told = path == stored_path(given) and stands_alone(given)  # names that cannot be stored may look alike
        return old if told else None

    def _hold(self, held: _Held) -> None:
        self._by_hash[held.hash] = self._by_path[held.path] = held
        if held.paper:
            self._by_paper[held.paper] = held

    def _drop(self, held: _Held) -> None:
        """Let a document that is replaced count as new where it is met again: its file may have been moved."""
        del self._by_hash[held.hash]
        if self._by_path.get(held.path) == held:
            del self._by_path[held.path]
        if self._by_paper.get(held.paper) == held:
            del self._by_paper[held.paper]


def _is_elsewhere(path: str, given: str) -> bool:
    """Whether a document of the library is in another file, which is still there."""
    file = file_of(path)
    return file is not None and file != file_of(given)


def _telling_version(document: Document) -> int:
    """The paper that a document is, where its identifiers or a long title tell; else 0."""
    paper = document.paper
    told = paper.doi or paper.arxiv or paper.pmid or tells_paper(normalise_title(paper.title))
    return version_of(paper) if told else 0
