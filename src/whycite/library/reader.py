"""A library opened for reading."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial, wraps
from itertools import starmap
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from whycite.documents.model import Reference
from whycite.documents.references.notices import PaperStatus, may_state_notice
from whycite.errors import NoLibrary
from whycite.library.checksums import read_seal
from whycite.library.notices import PaperNotices, known_notices, read_notices, registered_papers, stated, version_ids
from whycite.library.papers import KnownPapers, complete_reference, reference_of
from whycite.library.paths import default_path
from whycite.library.records import (
    CitedSpan,
    LibraryDocument,
    LibraryInfo,
    Paper,
    PaperHit,
    PaperOutline,
    PassageHit,
    SourceDocument,
    SpanCitation,
    SpanHit,
)
from whycite.library.register import ItemNames, item_names
from whycite.library.snapshot import (
    SCORE,
    AskShards,
    Search,
    SearchHits,
    Snapshot,
    best_rows,
    cosines,
    search_shards,
    search_snapshot,
    search_tables,
)
from whycite.library.store import Store, open_store, plain_errors
from whycite.library.tables import identifier, rows_by_id

__all__ = ["Library"]


Vector = NDArray[np.float32]
_Parameters = ParamSpec("_Parameters")
_Answer = TypeVar("_Answer")

_PAPER_COLUMNS = ["id", "key", "title", "authors", "year", "venue", "doi", "abstract", "text", "arxiv", "pmid", "isbn"]
_PASSAGE_COLUMNS = ["id", "paper", "section", "page", "text"]
_SOURCE_COLUMNS = ["id", "key", "title", "year", "path", "paper"]
_MAX_COCITING = 200  # documents searched for co-cited papers: those with the most papers in common


def _with_plain_errors(
    method: Callable[Concatenate[Library, _Parameters], _Answer],
) -> Callable[Concatenate[Library, _Parameters], _Answer]:
    """Wrap a method in `plain_errors`; it must have read everything when it returns."""

    @wraps(method)
    def wrapper(library: Library, /, *args: _Parameters.args, **options: _Parameters.kwargs) -> _Answer:
        with plain_errors(library.path):
            return method(library, *args, **options)

    return wrapper


class Library:
    """A library as of its last commit; open it again to see what is added later."""

    def __init__(self, store: Store) -> None:
        self._store = store
        with plain_errors(store.path):
            self.snapshot = Snapshot(store)
        self._search: Search = partial(search_snapshot, self.snapshot)
        # Those read so far, with the number of the paper, since answers often share documents.
        self._sources: dict[int, tuple[SourceDocument, int]] = {}

    @classmethod
    def open(cls, path: Path | str | None = None) -> Library:
        """Open the library at a path, by default the user's own."""
        place = Path(path).expanduser() if path is not None else default_path()
        store = open_store(place)
        if store is None or store.commit.number == 1:
            raise NoLibrary(f"{place}: no library here yet; create one with: whycite add FOLDER")
        return cls(store)

    @property
    def path(self) -> Path:
        """The folder of the library."""
        return self._store.path

    @property
    def version(self) -> int:
        """The number of its last commit: same version, same answers."""
        return self._store.commit.number

    @property
    def state(self) -> str | None:
        """A checksum of all that answers rest on; None if the last writer did not finish or was an older version."""
        sealed = read_seal(self.path)
        return sealed.state if sealed is not None and sealed.commit == self.version else None

    @property
    def encoder(self) -> str:
        """The name of the encoder that made its vectors."""
        return self._store.commit.encoder

    @_with_plain_errors
    def info(self) -> LibraryInfo:
        """Its size, encoder and last change."""
        commit = self._store.commit
        return LibraryInfo(
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

    @_with_plain_errors
    def documents(self) -> Iterator[LibraryDocument]:
        """The documents, by path."""
        columns = ["id", "key", "title", "year", "path", "format", "added", "hash", "citations", "paper"]
        rows = self.snapshot.all_rows("documents", columns)
        rows = rows.sort_by([("path", "ascending"), ("key", "ascending"), ("id", "ascending")])
        documents = rows.to_pylist()
        notices = read_notices(self.path, registered_papers(self.path) & {row["paper"] for row in documents})
        stated_by_title = {row["paper"]: stated(Reference("", title=row["title"])) for row in documents}
        return (
            LibraryDocument(
                content_hash=row.pop("hash"),
                status=stated_by_title[paper].merge(notices.get(paper, PaperNotices())).status,
                **row,
            )
            for row in documents
            for paper in [row.pop("paper")]
        )

    @_with_plain_errors
    def search(
        self, text: str, meaning: Callable[[], Vector], spans: int = 100, papers: int = 50, passages: int = 0
    ) -> tuple[list[SpanHit], list[PaperHit], list[PassageHit]]:
        """All searches in one, and faster: `meaning` is called while words are searched.

        `passages` are searched by words alone, and of each paper the best one is returned.
        """
        limits = {"spans": spans, "papers": papers}
        candidates = self._search(text, meaning, limits, passages, _PASSAGE_COLUMNS)
        span_hits, titles = map(best_rows, candidates.tables, limits.values())
        passage_hits = [hit for rows in candidates.passages for hit in self._passage_hits(rows)]
        return _span_hits(span_hits), self._paper_hits(titles), passage_hits

    def search_with(self, shards: AskShards) -> None:
        """Let shards search, which together have the rows of this library; this process reads what they found."""
        self._search = partial(search_shards, shards, self.version)

    @_with_plain_errors
    def search_spans(self, text: str, vector: Vector, k: int = 100) -> list[SpanHit]:
        """The k best spans by words and the k best by meaning."""
        [candidates] = search_tables(self.snapshot, text, lambda: vector, {"spans": k})
        return _span_hits(best_rows(candidates, k))

    @_with_plain_errors
    def search_papers(self, text: str, vector: Vector, k: int = 50) -> list[PaperHit]:
        """The k best papers by words and the k best by meaning of their titles and, if known, abstracts."""
        [candidates] = search_tables(self.snapshot, text, lambda: vector, {"papers": k})
        return self._paper_hits(best_rows(candidates, k))

    @_with_plain_errors
    def citations(self, spans: Sequence[int]) -> list[SpanCitation]:
        """What spans cite, in a fixed order."""
        columns = ["span", "paper", "document", "sentence", "kind", "section_type", "place"]
        rows = self.snapshot.rows_by_id("citations", "span", spans, columns)
        order = [(name, "ascending") for name in ("span", "document", "place", "paper", "kind")]
        lists = rows.sort_by(order).to_pydict()
        lists["paper"] = list(map(self.snapshot.paper_of, lists["paper"]))
        return [SpanCitation(*row) for row in zip(*(lists[name] for name in columns), strict=True)]

    @_with_plain_errors
    def papers(self, ids: Sequence[int]) -> dict[int, Paper]:
        """Papers by id."""
        versions = self.snapshot.versions_of(ids)
        rows = self.snapshot.rows_by_id("papers", "id", versions, self._paper_columns).to_pylist()
        registered = read_notices(self.path, versions.union(*(_pmid_ids(row["pmid"]) for row in rows)))
        names = item_names(self.path, versions)
        rows_by_paper: defaultdict[int, list[dict[str, Any]]] = defaultdict(list)
        for row in rows:
            rows_by_paper[self.snapshot.paper_of(row["id"])].append(row)
        papers = {}
        for paper in ids:
            # The version that stands for the paper comes first.
            family = sorted(rows_by_paper[paper], key=lambda row: row["id"] != paper)
            if family and family[0]["id"] == paper:
                papers[paper] = _paper(family, registered, names)
        return papers

    @cached_property
    def _paper_columns(self) -> list[str]:
        has_publication = self.snapshot.has_column("papers", "publication")
        return [*_PAPER_COLUMNS, "publication"] if has_publication else _PAPER_COLUMNS

    @_with_plain_errors
    def outlines(self, ids: Sequence[int], vector: Vector, texts: bool = False) -> dict[int, PaperOutline]:
        """Year, cosine with a vector and, on request, status and texts of papers, which take longer."""
        columns = ["id", "year", "vector", *(["title", "pmid", "authors", "abstract"] if texts else [])]
        rows = self.snapshot.rows_by_id("papers", "id", ids, columns)
        fields: list[Iterable[Any]] = [rows["year"].to_pylist(), cosines(rows, vector).tolist()]
        if texts:
            authors = map(tuple, (names or () for names in rows["authors"].to_pylist()))
            abstracts = (abstract or "" for abstract in rows["abstract"].to_pylist())
            fields += [rows["title"].to_pylist(), self._statuses(rows), authors, abstracts]
        outlines = dict(zip(rows["id"].to_pylist(), starmap(PaperOutline, zip(*fields, strict=True)), strict=True))
        if texts:
            # Versions of a paper complete each other.
            versions = self.snapshot.versions_of(outlines) - outlines.keys()
            merged = sorted({self.snapshot.paper_of(version) for version in versions})
            for id, paper in self.papers(merged).items() if merged else ():
                outlines[id] = replace(outlines[id], authors=paper.authors, abstract=paper.abstract)
        return outlines

    def _statuses(self, rows: pa.Table) -> list[PaperStatus]:
        """The status of papers, by their titles and the register."""
        ids, titles, pmids = (rows[name].to_pylist() for name in ("id", "title", "pmid"))
        versions = [self.snapshot.versions_of([id]) | _pmid_ids(pmid) for id, pmid in zip(ids, pmids, strict=True)]
        registered = read_notices(self.path, set().union(*versions))
        return [
            known_notices(Reference("", title=title), registered, own_ids).status
            if may_state_notice(title) or not own_ids.isdisjoint(registered)
            else ""
            for title, own_ids in zip((title or "" for title in titles), versions, strict=True)
        ]

    @_with_plain_errors
    def known_ids(self, versions: Collection[int]) -> list[int]:
        """The papers of the library that have one of these versions."""
        stored = self.snapshot.all_rows("papers", ["id"])["id"].to_numpy()
        shared = np.intersect1d(stored, np.array(sorted(versions), np.int64)).tolist()
        return sorted({self.snapshot.paper_of(version) for version in shared})

    @_with_plain_errors
    def notices(self, references: Sequence[Reference], keys: Sequence[str | None]) -> list[PaperNotices]:
        """What was published about the paper of each reference, given with the library's key of it, if known."""
        ids = [
            version_ids(reference)
            | (self.snapshot.versions_of([self.snapshot.paper_of(identifier(key))]) if key else set())
            for reference, key in zip(references, keys, strict=True)
        ]
        registered = read_notices(self.path, {id for paper_ids in ids for id in paper_ids})
        return [
            known_notices(reference, registered, paper_ids)
            for reference, paper_ids in zip(references, ids, strict=True)
        ]

    @_with_plain_errors
    def support(self, ids: Sequence[int]) -> dict[int, int]:
        """The number of places that cite each paper, in any version."""
        return self.snapshot.support(ids).of_papers(ids)

    @_with_plain_errors
    def count_passages(self) -> int:
        """The number of paragraphs in which documents say something in their own words."""
        return int(self._store["passages"].count_rows()) if "passages" in self._store.names else 0

    @_with_plain_errors
    def citing_documents(self, ids: Sequence[int]) -> dict[int, int]:
        """The number of documents that cite each paper, in any version."""
        rows = self.snapshot.rows_by_id("citations", "paper", self.snapshot.versions_of(ids), ["paper", "document"])
        versions, documents = rows["paper"].to_pylist(), rows["document"].to_pylist()
        paper_of = self.snapshot.paper_of
        pairs = {(paper_of(version), document) for version, document in zip(versions, documents, strict=True)}
        counts = Counter(paper for paper, _ in pairs)
        return {paper: counts[paper] for paper in ids}

    @_with_plain_errors
    def citing_places(self, paper: int) -> list[tuple[int, int]]:
        """Where a paper is cited, in any version: documents and places in them, in a fixed order."""
        versions = self.snapshot.versions_of([paper])
        rows = self.snapshot.rows_by_id("citations", "paper", versions, ["document", "place"])
        return sorted(set(zip(rows["document"].to_pylist(), rows["place"].to_pylist(), strict=True)))

    @_with_plain_errors
    def paper_id(self, key: str) -> int:
        """The id of the paper with a key, which may be that of any of its versions."""
        return self.snapshot.paper_of(identifier(key))

    @_with_plain_errors
    def documents_of(self, paper: int) -> list[int]:
        """The documents that are a paper, in any version."""
        rows = self.snapshot.rows_by_id("documents", "paper", self.snapshot.versions_of([paper]), ["id"])
        return sorted(rows["id"].to_pylist())

    @_with_plain_errors
    def references_of(self, documents: Sequence[int]) -> list[int]:
        """The papers in the bibliographies of documents."""
        rows = self.snapshot.rows_by_id("documents", "id", documents, ["references"])
        versions = {version for references in rows["references"].to_pylist() for version in references or ()}
        return sorted({self.snapshot.paper_of(version) for version in versions})

    @_with_plain_errors
    def passages_of(self, documents: Sequence[int], n: int) -> list[tuple[str, str, int | None]]:
        """The first paragraphs in which documents say something in their own words: text, section and page."""
        if "passages" not in self._store.names or not documents:
            return []
        columns = ["text", "section", "page"]
        rows = rows_by_id(self._store["passages"], "document", documents, columns).slice(0, n).to_pylist()
        return [(" ".join(row["text"].split("\n")), row["section"] or "", row["page"]) for row in rows]

    @_with_plain_errors
    def all_support(self) -> dict[int, int]:
        """The number of places that cite each paper, for all cited papers."""
        return self.snapshot.support().of_all_papers()

    @_with_plain_errors
    def all_years(self) -> list[int]:
        """The year of each paper that has one."""
        rows = self.snapshot.all_rows("papers", ["year"], "id = same_as AND year IS NOT NULL")
        years: list[int] = rows["year"].to_pylist()
        return years

    @_with_plain_errors
    def cocited(self, keys: Sequence[str]) -> dict[int, float]:
        """Papers cited by documents that cite these keys; each document counts by the share of the keys it cites."""
        snapshot = self.snapshot
        versions = snapshot.versions_of(snapshot.paper_of(identifier(key)) for key in keys)
        rows = snapshot.rows_by_id("citations", "paper", versions, ["paper", "document"])
        shared: Counter[int] = Counter()
        for _, document in set(zip(rows["paper"].to_pylist(), rows["document"].to_pylist(), strict=True)):
            shared[document] += 1
        nearest = sorted(shared, key=lambda document: (-shared[document], document))[:_MAX_COCITING]
        references = snapshot.rows_by_id("documents", "id", nearest, ["id", "references"]).to_pylist()
        strength: defaultdict[int, float] = defaultdict(float)
        for row in sorted(references, key=lambda row: row["id"]):
            for paper in {snapshot.paper_of(version) for version in row["references"]}:
                strength[paper] += shared[row["id"]] / max(len(keys), 1)
        return dict(strength)

    @_with_plain_errors
    def sources(self, documents: Sequence[int]) -> dict[int, SourceDocument]:
        """Documents by id; those without a title have their path instead."""
        if unread := {*documents} - self._sources.keys():
            self._read_sources(self.snapshot.rows_by_id("documents", "id", unread, _SOURCE_COLUMNS))
        stored = {document: self._sources[document] for document in sorted({*documents}) if document in self._sources}
        notices = read_notices(self.path, {paper for _, paper in stored.values()})  # these may change at any time
        statuses = {
            document: stated(Reference("", title=source.title)).merge(notices.get(paper, PaperNotices())).status
            for document, (source, paper) in stored.items()
        }
        return {
            document: replace(source, status=status) if (status := statuses[document]) else source
            for document, (source, _) in stored.items()
        }

    def _read_sources(self, rows: pa.Table) -> None:
        for row in rows.select(_SOURCE_COLUMNS).to_pylist():
            source = SourceDocument(row["key"], row["title"] or row["path"], row["year"])
            self._sources[row["id"]] = source, row["paper"]

    @_with_plain_errors
    def quotations(self, citations: Iterable[SpanCitation]) -> dict[tuple[int, int], str]:
        """The sentences of citations as they were written, by document and place.

        Documents that were added by a version that did not store them have none.
        """
        return self.sentences_at((citation.document, citation.place) for citation in citations)

    @_with_plain_errors
    def sentences_at(self, citing_places: Iterable[tuple[int, int]]) -> dict[tuple[int, int], str]:
        """The sentences that cite at places of documents, as they were written; see `quotations`."""
        places: defaultdict[int, set[int]] = defaultdict(set)
        for document, place in citing_places:
            places[document].add(place)
        if not self.snapshot.has_column("documents", "quotations"):
            return {}
        # Whoever quotes a document names it as well: one query for both.
        rows = self.snapshot.rows_by_id("documents", "id", places, [*_SOURCE_COLUMNS, "quotations"])
        self._read_sources(rows)
        return {
            (document, place): _quotation(quotations, place)
            for document, quotations in zip(rows["id"].to_pylist(), rows["quotations"], strict=True)
            if quotations.is_valid
            for place in places[document]
        }

    @_with_plain_errors
    def texts(self, spans: Sequence[int]) -> dict[int, str]:
        """The texts of spans."""
        rows = self.snapshot.rows_by_id("spans", "id", spans, ["id", "text"])
        return dict(zip(rows["id"].to_pylist(), rows["text"].to_pylist(), strict=True))

    @_with_plain_errors
    def occurrences(self) -> Iterator[tuple[str, str, int | None]]:
        """The pairs of ILCiteR's database, once per citation: text of a span, key and year of the cited paper."""
        rows = self.snapshot.all_rows("papers", ["id", "key", "year"]).to_pylist()
        papers = {row["id"]: (row["key"], row["year"]) for row in rows}
        return ((text, *papers[paper]) for text, paper in self.pairs())

    def pairs(self) -> Iterator[tuple[str, int]]:
        """The text of each span of section 5.2 with each paper it cites, once per citation."""
        return ((cited.text, cited.paper) for cited in self.cited_spans())

    @_with_plain_errors
    def cited_spans(self) -> Iterator[CitedSpan]:
        """Each span of section 5.2 with each paper it cites, by document and in the order of the text."""
        spans = self.snapshot.all_rows("spans", ["id", "text"])
        texts = dict(zip(spans["id"].to_pylist(), spans["text"].to_pylist(), strict=True))
        columns = ["document", "sentence", "section_type", "span", "paper", "place"]
        rows = self.snapshot.all_rows("citations", columns, "kind != 'context'")
        rows = rows.sort_by([(name, "ascending") for name in ("document", "place", "span", "paper")])
        paper_of = self.snapshot.paper_of
        return (
            CitedSpan(document, texts[sentence], section_type, texts[span], paper_of(version))
            for batch in rows.to_batches()
            for document, sentence, section_type, span, version, _ in zip(*map(pa.Array.to_pylist, batch), strict=True)
        )

    @_with_plain_errors
    def find(self, references: Sequence[Reference]) -> list[str | None]:
        """The key of the library's paper for each reference; None if it is not in the library."""
        return KnownPapers(self._store).find(references)

    @_with_plain_errors
    def similar_papers(self, references: Sequence[Reference]) -> list[list[Reference]]:
        """For each reference what the library has under the same identifier or title; it may be another paper."""
        return KnownPapers(self._store).similar(references)

    def _passage_hits(self, rows: pa.Table) -> list[PassageHit]:
        """The best passage of each paper."""
        best: dict[int, PassageHit] = {}
        for row in sorted(rows.to_pylist(), key=lambda row: (-row[SCORE], row["id"])):
            paper, sentences = self.snapshot.paper_of(row["paper"]), tuple(row["text"].split("\n"))
            best.setdefault(paper, PassageHit(paper, sentences, row["section"], row["page"], row[SCORE]))
        return [best[paper] for paper in sorted(best)]

    def _paper_hits(self, hits: SearchHits) -> list[PaperHit]:
        best: dict[int, PaperHit] = {}
        columns = (hits.ids.tolist(), hits.texts, hits.cosines.tolist(), hits.lexical.tolist())
        for version, text, cosine, lexical in zip(*columns, strict=True):
            if not text:
                continue  # neither title nor abstract: its vector means nothing
            paper = self.snapshot.paper_of(version)
            previous = best.get(paper)
            best[paper] = PaperHit(
                paper,
                max(cosine, previous.cosine if previous else -1.0),
                max(lexical, previous.lexical if previous else 0.0),
            )
        return [best[paper] for paper in sorted(best)]


def _pmid_ids(pmid: str | None) -> set[int]:
    """The id under which a list may name a paper whose key is another."""
    return {identifier(f"pmid:{pmid}")} if pmid else set()


def _paper(
    versions: Sequence[dict[str, Any]], registered: Mapping[int, PaperNotices], names: Mapping[int, ItemNames]
) -> Paper:
    """The paper of these rows, the first of which stands for it."""
    complete = complete_reference([reference_of(row) for row in versions])
    ids = {id for row in versions for id in (row["id"], *_pmid_ids(row["pmid"]))}
    notices = known_notices(complete, registered, ids)
    items = [names[row["id"]] for row in versions if row["id"] in names]
    return Paper(
        key=versions[0]["key"],
        title=versions[0]["title"],
        authors=complete.authors,
        year=complete.year,
        venue=complete.venue,
        doi=complete.doi,
        abstract=complete.abstract,
        arxiv=complete.arxiv,
        pmid=complete.pmid,
        isbn=complete.isbn,
        publication=complete.publication,
        status=notices.status,
        notices=notices.notices,
        citation_key=next((item.key for item in items if item.key), ""),
        address=next((item.address for item in items if item.address), ""),
    )


def _span_hits(hits: SearchHits) -> list[SpanHit]:
    columns = (hits.ids.tolist(), hits.texts, hits.cosines.tolist(), hits.lexical.tolist())
    return [SpanHit(*row) for row in zip(*columns, strict=True)]


def _quotation(quotations: pa.ListScalar, place: int) -> str:
    """The quotation of a place, which is that of the place before if it has none of its own."""
    while not quotations[place].is_valid:
        place -= 1
    text: str = quotations[place].as_py()
    return text


def _size(folder: Path) -> int:
    """The bytes of all files in a folder; a writer may delete some meanwhile."""
    size = 0
    for directory, _, files in os.walk(folder):
        for file in files:
            with suppress(FileNotFoundError):
                size += Path(directory, file).stat().st_size
    return size
