"""Papers a draft or section may cite next (SCOPE 3.3): citing documents, the pool and recommenders by name."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from itertools import groupby
from pathlib import Path
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from whycite.documents.identity import Papers, normalise_title, paper_key
from whycite.documents.model import Document, Reference, Sentence
from whycite.errors import UserError
from whycite.evidence.groups import join_texts, split_at_groups
from whycite.structure import label

__all__ = [
    "DEFAULT_RECOMMENDER",
    "POOL_SIZE",
    "CandidatePaper",
    "CitedSet",
    "CitingContext",
    "CitingCorpus",
    "CitingDocument",
    "DraftPart",
    "Lessons",
    "Pool",
    "Recommender",
    "RecommenderFactory",
    "SetUnit",
    "check_pool_size",
    "check_recommender",
    "cited_sets",
    "gather_citations",
    "load_recommender",
    "pool_of",
    "recommender_names",
]


POOL_SIZE = 2000  # papers in a pool (SCOPE 4.5.5)


@dataclass(frozen=True, slots=True)
class CandidatePaper:
    """A paper that is or may be cited."""

    key: str
    title: str = ""
    abstract: str = ""
    year: int | None = None
    authors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DraftPart:
    """A partly written draft or section; unknown fields may be left out."""

    cited: tuple[CandidatePaper, ...] = ()  # so far; never recommended
    title: str = ""  # of the draft; a paper with this title is never recommended
    section_types: tuple[str, ...] = ()  # all of them for a whole draft
    text: str = ""  # the claim and its context, for methods that search per sentence
    year: int | None = None  # newer papers are not recommended


@dataclass(frozen=True, slots=True)
class CitedSet:
    """The papers a document cites, overall or in its sections of one type (SCOPE 4.2.3)."""

    document: str
    title: str
    section_types: tuple[str, ...]
    papers: tuple[str, ...]  # unique keys, sorted


@dataclass(frozen=True, slots=True)
class Lessons:
    """What recommenders learn from; only trained ones use the last four."""

    sets: Sequence[CitedSet]
    papers: Mapping[str, CandidatePaper]
    floor: int = 1  # minimum number of documents citing a recommended paper (SCOPE 4.5.2)
    seed: int = 0
    epochs: int = 20
    encoder: str | None = None  # for word vectors; default: the bundled one
    word_vectors: Path | None = None  # file of word vectors to use instead

    def __post_init__(self) -> None:
        if self.floor < 1:
            raise UserError(f"--floor must be at least 1, not {self.floor}")
        if self.epochs < 1:
            raise UserError(f"--epochs must be at least 1, not {self.epochs}")


class Recommender(Protocol):
    """Recommends papers for a draft or section, as keys with scores, best first."""

    @property
    def name(self) -> str: ...

    def recommend(self, part: DraftPart, k: int = POOL_SIZE) -> list[tuple[str, float]]: ...


def check_pool_size(k: int) -> None:
    """Raise an error if the pool would be empty."""
    if k < 1:
        raise UserError(f"a pool must have at least one paper, not {k}")


SetUnit = Literal["paper", "section"]
"""Whether a set is everything a paper cites, or what it cites in its sections of one type."""


@dataclass(frozen=True, slots=True)
class CitingContext:
    """A citing sentence in its paragraph, with citations removed; `papers` are the keys of the papers it cites."""

    paragraph: tuple[str, ...]
    position: int  # of the sentence in the paragraph
    section_type: str  # "" if the heading gives none
    papers: frozenset[str]

    @property
    def sentence(self) -> str:
        """The citing sentence."""
        return self.paragraph[self.position]


@dataclass(frozen=True, slots=True)
class CitingDocument:
    """A document and its citing sentences; `date` is like "2025-10-20", "2025" or ""."""

    key: str
    title: str
    abstract: str
    year: int | None
    date: str
    contexts: tuple[CitingContext, ...]


@dataclass(frozen=True, slots=True)
class CitingCorpus:
    """Unique documents, oldest first, and all papers they cite."""

    documents: tuple[CitingDocument, ...]
    papers: Mapping[str, CandidatePaper]


def gather_citations(documents: Iterable[Document], date: Callable[[Reference], str] | None = None) -> CitingCorpus:
    """Collect what documents cite, merging references to the same paper; `date` may give more than the year."""
    identity = Papers()
    references: list[CandidatePaper] = []
    citing_documents: list[tuple[int, CitingDocument]] = []  # with the index of the document's own reference
    for document in map(label, documents):
        paper_number = len(references)
        numbers = {
            reference.id: str(paper_number + offset) for offset, reference in enumerate(document.references, start=1)
        }
        for reference in (document.paper, *document.references):
            identity.add(reference)
            references.append(
                CandidatePaper(
                    paper_key(reference) or f"{document.path}#{reference.id}",
                    reference.title or reference.text,
                    reference.abstract,
                    reference.year,
                    reference.authors,
                )
            )
        year = document.paper.year
        day = (date(document.paper) if date else "") or (f"{year:04}" if year else "")
        paper = references[paper_number]
        contexts = tuple(_contexts(document, numbers))
        citing_documents.append(
            (paper_number, CitingDocument(paper.key, paper.title, paper.abstract, year, day, contexts))
        )
    groups = identity.groups()
    papers = _merge_papers(references, groups, identity.representatives())
    unique_documents: dict[int, CitingDocument] = {}
    for paper_number, citing_document in sorted(citing_documents, key=lambda pair: (pair[1].date, pair[1].key)):
        contexts = tuple(_with_paper_keys(citing_document.contexts, groups, papers, groups[paper_number]))
        if contexts:
            keyed_document = replace(citing_document, key=papers[groups[paper_number]].key, contexts=contexts)
            unique_documents.setdefault(groups[paper_number], keyed_document)
    cited = {
        key
        for citing_document in unique_documents.values()
        for context in citing_document.contexts
        for key in context.papers
    }
    return CitingCorpus(tuple(unique_documents.values()), {paper.key: paper for paper in papers if paper.key in cited})


def cited_sets(documents: Iterable[CitingDocument], by: SetUnit) -> list[CitedSet]:
    """Sets of papers cited by each document, overall or by section type (SCOPE 4.2.3)."""
    if by not in ("paper", "section"):
        raise UserError(f"sets must be by paper or by section, not by '{by}'")
    sets = []
    for document in documents:
        papers: dict[str, set[str]] = {}
        for context in document.contexts:
            papers.setdefault(context.section_type, set()).update(context.papers)
        types = {type: sorted(cited) for type, cited in sorted(papers.items())}
        if by == "section":
            sets += [CitedSet(document.key, document.title, (type,), tuple(cited)) for type, cited in types.items()]
        else:
            together = sorted({key for cited in types.values() for key in cited})
            sets.append(CitedSet(document.key, document.title, tuple(types), tuple(together)))
    return sets


def _contexts(document: Document, numbers: Mapping[str, str]) -> Iterator[CitingContext]:
    """Citing sentences, with reference numbers in place of keys."""
    prose = (sentence for sentence in document.sentences if sentence.kind == "prose")
    for (section, _), group in groupby(prose, key=lambda sentence: (sentence.section, sentence.paragraph)):
        sentences = list(group)
        if not any(sentence.citations for sentence in sentences):
            continue
        type = document.sections[section].type if section < len(document.sections) else None
        paragraph = tuple(_unmarked(sentence, document) for sentence in sentences)
        for position, sentence in enumerate(sentences):
            keys = (key for citation in sentence.citations for key in citation.keys)
            papers = frozenset(numbers[key] for key in keys if key in numbers)
            if papers and paragraph[position]:
                yield CitingContext(paragraph, position, type or "", papers)


def _unmarked(sentence: Sentence, document: Document) -> str:
    return (
        join_texts(split_at_groups(sentence, document).texts) if sentence.citations else " ".join(sentence.text.split())
    )


def _merge_papers(
    references: list[CandidatePaper], groups: list[int], representatives: list[int]
) -> list[CandidatePaper]:
    """Merge references to the same paper: best key, a title, a year, authors and the longest abstract."""
    merged = [references[index] for index in representatives]
    for group, reference in zip(groups, references, strict=True):
        paper = merged[group]
        title = paper.title or reference.title
        abstract = max(paper.abstract, reference.abstract, key=len)
        year, authors = paper.year or reference.year, paper.authors or reference.authors
        merged[group] = replace(paper, title=title, abstract=abstract, year=year, authors=authors)
    return merged


def _with_paper_keys(
    contexts: Iterable[CitingContext], groups: list[int], papers: list[CandidatePaper], own_group: int
) -> Iterator[CitingContext]:
    for context in contexts:
        cited = frozenset(papers[group].key for number in context.papers if (group := groups[int(number)]) != own_group)
        if cited:
            yield replace(context, papers=cited)


_UNKNOWN = -10_000  # before any real year: a paper without a year may always be cited


class Pool:
    """Papers sorted by key, so that results do not depend on input order."""

    def __init__(self, papers: Iterable[CandidatePaper]) -> None:
        by_key = {paper.key: paper for paper in papers}
        if not by_key:
            raise UserError("no papers to recommend; add data or lower --floor")
        self.papers = tuple(by_key[key] for key in sorted(by_key))
        self.place: Mapping[str, int] = {paper.key: place for place, paper in enumerate(self.papers)}
        self._years = np.array([_UNKNOWN if paper.year is None else paper.year for paper in self.papers])

    def __len__(self) -> int:
        return len(self.papers)

    def places(self, papers: Iterable[CandidatePaper]) -> NDArray[np.int64]:
        """Sorted, unique positions of the papers in the pool; others are skipped."""
        return np.array(sorted({self.place[paper.key] for paper in papers if paper.key in self.place}), np.int64)

    def allowed(self, part: DraftPart) -> NDArray[np.bool_]:
        """Which papers may be recommended: not cited yet, not newer than the draft, not the draft itself."""
        allowed = np.ones(len(self.papers), np.bool_)
        if part.year is not None:
            allowed &= self._years <= part.year
        if part.title:
            allowed[self._titles.get(normalise_title(part.title), [])] = False
        allowed[self.places(part.cited)] = False
        return allowed

    def best(
        self, scores: NDArray[np.floating], part: DraftPart, k: int, *, above: float | None = None
    ) -> list[tuple[str, float]]:
        """The k best allowed papers, ties broken by key; with `above`, only those with a higher score."""
        check_pool_size(k)
        allowed = self.allowed(part)
        if above is not None:
            allowed &= scores > above
        among = np.flatnonzero(allowed)
        if len(among) > k:
            values = scores[among]
            among = among[values >= np.partition(values, len(among) - k)[len(among) - k]]
        among = among[np.argsort(-scores[among], kind="stable")][:k]
        return [(self.papers[place].key, float(scores[place])) for place in among]

    @cached_property
    def _titles(self) -> Mapping[str, list[int]]:
        places_by_title: dict[str, list[int]] = defaultdict(list)
        for place, paper in enumerate(self.papers):
            if title := normalise_title(paper.title):
                places_by_title[title].append(place)
        return dict(places_by_title)


def pool_of(lessons: Lessons) -> Pool:
    """Papers cited by enough documents; several sections of a document count once."""
    counts = Counter(
        key for _, key in {(cited_set.document, key) for cited_set in lessons.sets for key in cited_set.papers}
    )
    return Pool(lessons.papers[key] for key, number in counts.items() if number >= lessons.floor)


DEFAULT_RECOMMENDER = "local-bm25"  # the best in SCOPE's table 7
_GROUP = "whycite.candidates"

RecommenderFactory = Callable[[str, Lessons], Recommender]
"""Target of an entry point: makes a recommender from its name and lessons."""


def recommender_names() -> list[str]:
    """Names of all installed recommenders."""
    return sorted(_entries())


def load_recommender(name: str, lessons: Lessons) -> Recommender:
    """Load a recommender by name; only now are the packages it needs imported."""
    check_recommender(name)
    make: RecommenderFactory = _entries()[name].load()
    return make(name, lessons)


def check_recommender(name: str) -> None:
    """Fail early, before any data is read, if there is no recommender of that name."""
    names = recommender_names()
    if name not in names:
        raise UserError(f"unknown recommender '{name}'; choose one of: {', '.join(names)}")


def _entries() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=_GROUP)}
