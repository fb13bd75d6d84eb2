"""A library opened for reading."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property, wraps
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from whycite.documents.model import Reference
from whycite.errors import UserError
from whycite.library.copied import WORDS, open_copy
from whycite.library.kept import Kept
from whycite.library.known import KnownPapers
from whycite.library.model import Citation, Entry, Info, Outline, Paper, PaperHit, Source, SpanHit
from whycite.library.place import default_path
from whycite.library.query import ROW, Asked, whole
from whycite.library.schema import identifier
from whycite.library.searching import Found, Searched, cosines, search
from whycite.library.store import Store, open_store, plain_errors
from whycite.library.support import Support

__all__ = ["Library"]

Vector = NDArray[np.float32]
_Asked = ParamSpec("_Asked")
_Answer = TypeVar("_Answer")


def _plainly(
    ask: Callable[Concatenate[Library, _Asked], _Answer],
) -> Callable[Concatenate[Library, _Asked], _Answer]:
    """Let a method say in a sentence what is wrong with the files; it has read them when it returns."""

    @wraps(ask)
    def asked(library: Library, /, *args: _Asked.args, **options: _Asked.kwargs) -> _Answer:
        with plain_errors(library.path):
            return ask(library, *args, **options)

    return asked


class Library:
    """A library as it was at its last commit; what is added later is seen by whoever opens it later."""

    def __init__(self, store: Store) -> None:
        with plain_errors(store.path):
            store.settle()
            self._searchable = store.asynchronous("spans", "papers")
        self._store = store
        self._copy = copy = open_copy(store.path, store.commit)
        self._spans = copy.spans if copy else Asked(store["spans"])
        self._papers = copy.papers if copy else Kept(store["papers"], ["id"], [ROW], others=["year"])
        self._documents = Kept(store["documents"], ["id"], [ROW], others=["key", "title", "year", "path"])
        self._citations = (
            copy.citations
            if copy
            else Kept(store["citations"], ["span", "paper"], ["document", "sentence", "place"], WORDS)
        )

    @classmethod
    def open(cls, path: Path | str | None = None) -> Library:
        """Open the library at a path, by default the user's own."""
        place = Path(path).expanduser() if path is not None else default_path()
        store = open_store(place)
        if store is None or store.commit.number == 1:
            raise UserError(f"{place}: no library here yet; make one with: whycite add FOLDER")
        return cls(store)

    @property
    def path(self) -> Path:
        """Where it is."""
        return self._store.path

    @property
    def version(self) -> int:
        """The number of its last commit: same version, same answers."""
        return self._store.commit.number

    @property
    def encoder(self) -> str:
        """The name of the encoder that made its vectors."""
        return self._store.commit.encoder

    @_plainly
    def info(self) -> Info:
        """What it holds."""
        commit = self._store.commit
        return Info(
            path=str(self.path),
            documents=self._store["documents"].count_rows(),
            papers=self._store["papers"].count_rows("id = same_as"),
            spans=self._store["spans"].count_rows(),
            citations=self._store["citations"].count_rows(),
            bytes=_size(self.path),
            encoder=commit.encoder,
            version=commit.number,
            schema=commit.schema,
            changed=commit.time,
        )

    @_plainly
    def documents(self) -> Iterator[Entry]:
        """The documents, by path."""
        columns = ["id", "key", "title", "year", "path", "format", "added", "hash", "citations"]
        rows = whole(self._store["documents"], columns)
        rows = rows.sort_by([("path", "ascending"), ("key", "ascending"), ("id", "ascending")])
        return (Entry(content_hash=row.pop("hash"), **row) for row in rows.to_pylist())

    @_plainly
    def search(
        self, text: str, meaning: Callable[[], Vector], spans: int = 100, papers: int = 50
    ) -> tuple[list[SpanHit], list[PaperHit]]:
        """What `search_spans` and `search_papers` find, sooner: the vector is made while words are searched."""
        found, titles = search(text, meaning, self._searched_spans(spans), self._searched_papers(papers))
        return _span_hits(found), self._paper_hits(titles)

    @_plainly
    def search_spans(self, text: str, vector: Vector, k: int = 100) -> list[SpanHit]:
        """The k best spans by words and the k best by meaning."""
        [found] = search(text, lambda: vector, self._searched_spans(k))
        return _span_hits(found)

    @_plainly
    def search_papers(self, text: str, vector: Vector, k: int = 50) -> list[PaperHit]:
        """The k best papers by words and the k best by meaning of their titles, and abstracts where known."""
        [found] = search(text, lambda: vector, self._searched_papers(k))
        return self._paper_hits(found)

    @_plainly
    def citations(self, spans: Sequence[int]) -> list[Citation]:
        """What spans cite, in a fixed order."""
        columns = ["span", "paper", "document", "sentence", "kind", "section_type", "place"]
        rows = self._citations.matching("span", spans, columns)
        order = [(name, "ascending") for name in ("span", "document", "place", "paper", "kind")]
        lists = rows.sort_by(order).to_pydict()
        same_as = self._same_as
        lists["paper"] = [same_as.get(version, version) for version in lists["paper"]]
        return [Citation(*row) for row in zip(*(lists[name] for name in columns), strict=True)]

    @_plainly
    def papers(self, ids: Sequence[int]) -> dict[int, Paper]:
        """Papers by id."""
        columns = ["id", "key", "title", "authors", "year", "venue", "doi", "abstract"]
        found = {}
        for row in self._papers.matching("id", sorted(set(ids)), columns).to_pylist():
            paper, row["authors"] = row.pop("id"), tuple(row["authors"] or ())
            found[paper] = Paper(**row)
        return found

    @_plainly
    def outlines(self, ids: Sequence[int], vector: Vector, titles: bool = False) -> dict[int, Outline]:
        """What a choice among many papers needs to know of each; reading titles as well takes half as long again."""
        columns = ["id", "year", "vector", *(["title"] if titles else [])]
        rows = self._papers.matching("id", sorted(set(ids)), columns)
        said = rows["title"].to_pylist() if titles else [""] * len(rows)
        known = zip(rows["year"].to_pylist(), cosines(rows, vector).tolist(), said, strict=True)
        return dict(zip(rows["id"].to_pylist(), (Outline(*row) for row in known), strict=True))

    @_plainly
    def support(self, ids: Sequence[int]) -> dict[int, int]:
        """In how many places each paper is cited, in whatever version."""
        if self._copy:
            return self._copy.support.of(ids)
        versions = sorted({version for paper in ids for version in (paper, *self._versions.get(paper, ()))})
        return self._support(self._citations.matching("paper", versions, ["paper", "document", "place"])).of(ids)

    @_plainly
    def all_support(self) -> dict[int, int]:
        """In how many places each paper is cited that is cited at all."""
        if self._copy:
            return self._copy.support.all()
        return self._support(whole(self._store["citations"], ["paper", "document", "place"])).all()

    @_plainly
    def all_years(self) -> list[int]:
        """The year of each paper that has one."""
        rows = whole(self._store["papers"], ["year"], "id = same_as AND year IS NOT NULL")
        years: list[int] = rows["year"].to_pylist()
        return years

    @_plainly
    def cocited(self, keys: Sequence[str]) -> dict[int, float]:
        """Papers cited by the documents that cite the papers of these keys: by how many of them, 0 to 1."""
        versions = [
            other
            for key in keys
            for paper in (self._paper_of(identifier(key)),)
            for other in (paper, *self._versions.get(paper, ()))
        ]
        rows = self._citations.matching("paper", sorted(set(versions)), ["paper", "document"])
        shared: Counter[int] = Counter()
        for _, document in set(zip(rows["paper"].to_pylist(), rows["document"].to_pylist(), strict=True)):
            shared[document] += 1
        nearest = [document for document, _ in sorted(shared.items(), key=lambda pair: (-pair[1], pair[0]))[:200]]
        references = self._documents.matching("id", nearest, ["id", "references"]).to_pylist()
        strength: defaultdict[int, float] = defaultdict(float)
        for row in sorted(references, key=lambda row: row["id"]):
            for paper in {self._paper_of(version) for version in row["references"]}:
                strength[paper] += shared[row["id"]] / max(len(keys), 1)
        return dict(strength)

    @_plainly
    def sources(self, documents: Sequence[int]) -> dict[int, Source]:
        """The documents in which spans stand; one without title goes by its path."""
        rows = self._documents.matching("id", sorted(set(documents)), ["id", "key", "title", "year", "path"])
        return {row["id"]: Source(row["key"], row["title"] or row["path"], row["year"]) for row in rows.to_pylist()}

    @_plainly
    def texts(self, spans: Sequence[int]) -> dict[int, str]:
        """The texts of spans."""
        rows = self._spans.matching("id", sorted(set(spans)), ["id", "text"])
        return dict(zip(rows["id"].to_pylist(), rows["text"].to_pylist(), strict=True))

    @_plainly
    def occurrences(self) -> Iterator[tuple[str, str, int | None]]:
        """The pairs of ILCiteR's database: text of a span, key and year of a paper it cites, once each time."""
        papers = self._all_papers
        return ((text, *papers[paper]) for text, paper in self.pairs())

    @_plainly
    def pairs(self) -> Iterator[tuple[str, int]]:
        """The text of each span of section 5.2 with each paper it cites, once each time it does."""
        spans = whole(self._store["spans"], ["id", "text"])
        texts = dict(zip(spans["id"].to_pylist(), spans["text"].to_pylist(), strict=True))
        columns = ["document", "place", "span", "paper"]
        rows = whole(self._store["citations"], columns, "kind != 'context'")
        rows = rows.sort_by([(name, "ascending") for name in columns])
        same_as = self._same_as
        cited = zip(rows["span"].to_pylist(), rows["paper"].to_pylist(), strict=True)
        return ((texts[span], same_as.get(version, version)) for span, version in cited)

    @_plainly
    def find(self, references: Sequence[Reference]) -> list[str | None]:
        """The key of the library's paper for each reference, where it has the paper."""
        return KnownPapers(self._store).find(references)

    def _searched_spans(self, k: int) -> Searched:
        return Searched(self._searchable[0], self._spans, k)

    def _searched_papers(self, k: int) -> Searched:
        return Searched(self._searchable[1], self._papers, k)

    def _paper_hits(self, found: Found) -> list[PaperHit]:
        best: dict[int, PaperHit] = {}
        columns = (found.ids.tolist(), found.texts, found.cosines.tolist(), found.lexical.tolist())
        for version, known, cosine, lexical in zip(*columns, strict=True):
            if not known:
                continue  # neither title nor abstract: its vector is that of nothing
            paper = self._paper_of(version)
            other = best.get(paper)
            best[paper] = PaperHit(
                paper, max(cosine, other.cosine if other else -1.0), max(lexical, other.lexical if other else 0.0)
            )
        return [best[paper] for paper in sorted(best)]

    def _support(self, citations: pa.Table) -> Support:
        papers = [self._paper_of(version) for version in citations["paper"].to_pylist()]
        return Support.count(
            np.array(papers, np.int64), citations["document"].to_numpy(), citations["place"].to_numpy()
        )

    def _paper_of(self, version: int) -> int:
        return self._same_as.get(version, version)

    @cached_property
    def _same_as(self) -> dict[int, int]:
        if self._copy:
            return self._copy.same_as
        rows = whole(self._store["papers"], ["id", "same_as"], "id != same_as")
        return dict(zip(rows["id"].to_pylist(), rows["same_as"].to_pylist(), strict=True))

    @cached_property
    def _versions(self) -> dict[int, list[int]]:
        versions: defaultdict[int, list[int]] = defaultdict(list)
        for version, paper in self._same_as.items():
            versions[paper].append(version)
        return dict(versions)

    @cached_property
    def _all_papers(self) -> dict[int, tuple[str, int | None]]:
        rows = whole(self._store["papers"], ["id", "key", "year"])
        return {row["id"]: (row["key"], row["year"]) for row in rows.to_pylist()}


def _span_hits(found: Found) -> list[SpanHit]:
    columns = (found.ids.tolist(), found.texts, found.cosines.tolist(), found.lexical.tolist())
    return [SpanHit(*row) for row in zip(*columns, strict=True)]


def _size(folder: Path) -> int:
    """The bytes of all files in a folder; what a writer drops just now counts as nothing."""
    size = 0
    for inside, _, files in os.walk(folder):
        for file in files:
            with suppress(FileNotFoundError):
                size += Path(inside, file).stat().st_size
    return size
