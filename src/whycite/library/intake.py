"""Which documents an add takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from whycite.documents.identity import normalise_title, tells_paper
from whycite.documents.model import Document
from whycite.library.known import version_of
from whycite.library.model import Report
from whycite.library.rows import content_hash
from whycite.library.schema import identifier
from whycite.library.store import Store
from whycite.library.writer import timed
from whycite.structure import label

__all__ = ["Intake"]


class Intake:
    """Lets through the documents that the library does not have."""

    def __init__(self, store: Store, report: Report, stages: dict[str, float]) -> None:
        rows = store["documents"].search().select(["id", "hash", "paper", "path"]).to_arrow().to_pylist()
        self._hashes = {row["hash"] for row in rows}
        self._at = {row["paper"]: (row["id"], row["path"]) for row in rows if row["paper"]}
        self._report = report
        self._stages = stages
        self._replaced: dict[str, int] = {}
        self._met: set[int] = set()  # papers of this add

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

    def _takes(self, document: Document) -> bool:
        report = self._report
        report.warnings += len(document.warnings)
        if not document.sentences and not document.references:
            report.skipped.append((document.path, document.warnings[0] if document.warnings else "holds no text"))
            return False
        hashed = content_hash(document)
        paper = _telling_version(document)
        met = paper in self._met  # two of one file would take each other's place each time it is added
        self._met.add(paper)
        if hashed in self._hashes:
            report.unchanged += 1
            return False
        if paper and paper in self._at:
            old, path = self._at[paper]
            if met or (path != document.path and Path(path).exists()):
                report.skipped.append((document.path, f"is the same paper as {path}"))
                return False
            self._replaced[hashed] = old
        self._hashes.add(hashed)
        if paper:
            self._at[paper] = (identifier(hashed), document.path)
        return True


def _telling_version(document: Document) -> int:
    """The paper that a document is, where its identifiers or a long title tell; else 0."""
    paper = document.paper
    told = paper.doi or paper.arxiv or paper.pmid or tells_paper(normalise_title(paper.title))
    return version_of(paper) if told else 0
