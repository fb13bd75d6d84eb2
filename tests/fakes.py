"""Stand-ins: an encoder, and a library in memory whose every cosine and BM25 score is given by the test."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from whycite.library import Library, LibraryInfo, Paper, PaperHit, PaperOutline, SourceDocument, SpanCitation, SpanHit
from whycite.library.tables import identifier

_T = TypeVar("_T")
SPANS = 22025  # log(1 + 22025) is 10


class FakeEncoder:
    """Every text is the same to it; what it was asked for is kept."""

    name = "fake@1"
    dimensions = 2

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def encode(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> NDArray[np.float32]:
        self.asked.append(list(texts))
        return np.tile(np.array([1, 0], np.float32), (len(texts), 1))


class FakeLibrary(Library):
    """Finds every span, and every paper that was given a hit, whatever is searched for."""

    path = Path("nowhere")

    def __init__(self, shuffle: Random | None = None) -> None:
        self.shuffle = shuffle
        self.hits: dict[int, SpanHit] = {}
        self.paper_hits: dict[int, PaperHit] = {}
        self.known: dict[int, Paper] = {}
        self.about: dict[int, float] = {}
        self.rows: list[SpanCitation] = []
        self.said: dict[int, str] = {}
        self.homes: dict[int, SourceDocument] = {}
        self.beside: dict[int, float] = {}
        self.calls: Counter[str] = Counter()

    def add_paper(
        self, key: str, title: str = "", year: int | None = 2000, about: float = 0.0, hit: float | None = None
    ) -> int:
        """A paper; `hit`: BM25 of its title, which then is among those found."""
        paper = identifier(key)
        self.known[paper] = Paper(key, title or f"On {key}", ("Doe, Jane",), year, "Journal", "")
        self.about[paper] = about
        if hit is not None:
            self.paper_hits[paper] = PaperHit(paper, about, hit)
        return paper

    def cite(
        self,
        span: str,
        *keys: str,
        cosine: float = 0.5,
        lexical: float = 0.0,
        kind: str = "sentence",
        document: str = "document",
        section: str | None = None,
        sentence: str | None = None,
    ) -> None:
        """A span of a document that cites papers; those not known yet are added."""
        whole = span if sentence is None else sentence
        for key in keys:
            if identifier(key) not in self.known:
                self.add_paper(key)
        for text in (span, whole):
            self.said[identifier(text)] = text
        self.hits[identifier(span)] = SpanHit(identifier(span), span, cosine, lexical)
        self.homes[identifier(document)] = SourceDocument(f"doi:{document}", document, 2020)
        place = len(self.rows)
        self.rows += [
            SpanCitation(
                identifier(span), identifier(key), identifier(document), identifier(whole), kind, section, place
            )
            for key in keys
        ]

    @property
    def encoder(self) -> str:
        return "fake@1"

    def info(self) -> LibraryInfo:
        return LibraryInfo(
            "", 1, len(self.known), SPANS, len(self.rows), 0, self.encoder, 1, 1, "2026-01-01T00:00:00+00:00"
        )

    def search(
        self, text: str, meaning: Callable[[], NDArray[np.float32]], spans: int = 100, papers: int = 50
    ) -> tuple[list[SpanHit], list[PaperHit]]:
        self.calls["search"] += 1
        return self._shuffled(list(self.hits.values())), self._shuffled(list(self.paper_hits.values()))

    def citations(self, spans: Sequence[int]) -> list[SpanCitation]:
        self.calls["citations"] += 1
        return self._shuffled([row for row in self.rows if row.span in spans])

    def papers(self, ids: Sequence[int]) -> dict[int, Paper]:
        self.calls["papers"] += 1
        return {paper: self.known[paper] for paper in self._shuffled(list(ids))}

    def outlines(
        self, ids: Sequence[int], vector: NDArray[np.float32], titles: bool = False
    ) -> dict[int, PaperOutline]:
        self.calls["outlines"] += 1
        found = {paper: self.known.get(paper) for paper in self._shuffled(list(ids)) if paper in self.about}
        return {
            id: PaperOutline(paper.year if paper else None, self.about[id], paper.title if paper and titles else "")
            for id, paper in found.items()
        }

    def support(self, ids: Sequence[int]) -> dict[int, int]:
        self.calls["support"] += 1
        places = {(row.paper, row.document, row.place) for row in self.rows}
        counted = Counter(paper for paper, _, _ in places)
        return {paper: counted[paper] for paper in ids}

    def cocited(self, keys: Sequence[str]) -> dict[int, float]:
        self.calls["cocited"] += 1
        return self.beside

    def sources(self, documents: Sequence[int]) -> dict[int, SourceDocument]:
        self.calls["sources"] += 1
        return {document: self.homes[document] for document in documents}

    def texts(self, spans: Sequence[int]) -> dict[int, str]:
        self.calls["texts"] += 1
        return {span: self.said[span] for span in spans}

    def occurrences(self) -> Iterator[tuple[str, str, int | None]]:
        self.calls["occurrences"] += 1
        for row in self.rows:
            if row.kind != "context":
                paper = self.known[row.paper]
                yield self.said[row.span], paper.key, paper.year

    def retitled(self, document: str, title: str) -> None:
        """Give a document a title that is not its name."""
        home = identifier(document)
        self.homes[home] = replace(self.homes[home], title=title)

    def _shuffled(self, items: list[_T]) -> list[_T]:
        if self.shuffle:
            self.shuffle.shuffle(items)
        return items
