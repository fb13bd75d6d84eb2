"""What recommenders of candidates learn from and are asked: documents parted by date or by lot, sets with gaps."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from whycite.candidates.gathering import By, CitingDocument, Context, Gathered, gather
from whycite.candidates.model import CitedSet, Paper, Part
from whycite.documents import Document, stream
from whycite.errors import UserError
from whycite.evaluation.corpus import Watch
from whycite.evaluation.drawing import draw
from whycite.evaluation.records import facts_of, known_facts
from whycite.evaluation.topics import Topic, resolve
from whycite.rerank.variants import Place, claim, variant

__all__ = [
    "ALIKE",
    "AskedContext",
    "AskedSet",
    "Split",
    "asked_contexts",
    "asked_sets",
    "check_share",
    "part_of",
    "place_of",
    "read",
    "split",
]

ALIKE = frozenset({"random", "most-popular", "local-bm25"})
"""Recommenders to which it is nothing what else the draft cites."""


@dataclass(frozen=True, slots=True)
class Split:
    """Documents to learn from, and those that are held out."""

    learned: tuple[CitingDocument, ...]
    held_out: tuple[CitingDocument, ...]


@dataclass(frozen=True, slots=True)
class AskedSet:
    """What is left of a set, and what was taken out of it: that is to be found."""

    part: Part
    missing: frozenset[str]


@dataclass(frozen=True, slots=True)
class AskedContext:
    """A sentence of a document that is held out; `truth` are the papers it cites that can be found."""

    document: CitingDocument
    context: Context
    truth: frozenset[str]

    @property
    def id(self) -> str:
        """Tells it from all others."""
        return f"{self.document.key} {self.context.section_type} {self.context.at} {self.context.sentence}"


def read(paths: Sequence[Path], topic: Topic | None, watch: Watch) -> tuple[Gathered, list[str]]:
    """What the documents at the paths cite, and a sentence for each that could not be read."""
    watch("looking at the data", 0, None)
    known = known_facts(paths)
    if topic is not None:
        (topic,) = resolve([topic], (subject for facts in known.values() for subject in facts.subjects))
    unread: list[str] = []

    def wanted() -> Iterator[Document]:
        for number, document in enumerate((document for path in paths for document in stream(path)), start=1):
            watch("reading papers", number, None)
            if document.warnings and not document.sentences:
                unread.append(document.warnings[0])
            if topic is None or topic.holds(facts_of(document.paper, known).subjects, document.paper.abstract):
                yield document

    found = gather(wanted(), lambda paper: facts_of(paper, known).date)
    return found, unread


def split(
    documents: Sequence[CitingDocument], held_out: int | None = None, by_lot: bool = False, seed: int = 0
) -> Split:
    """The newest documents, or some by lot, held out; by default a tenth."""
    number = max(1, len(documents) // 10) if held_out is None else held_out
    if number < 1:
        raise UserError(f"at least one document must be held out, not {number}")
    if len(documents) <= number:
        raise UserError(f"{len(documents)} documents that cite are too few to hold out {number}: give more data")
    ordered = sorted(documents, key=lambda each: (each.date, each.key))
    if by_lot:
        ordered = draw(ordered, lambda each: each.key, len(ordered), seed)[::-1]
    return Split(tuple(ordered[:-number]), tuple(ordered[-number:]))


def check_share(drop: float) -> None:
    """Refuse to take out nothing or everything."""
    if not 0 < drop < 1:
        raise UserError(f"the share of papers to take out must lie between 0 and 1, not at {drop:g}")


def asked_sets(
    sets: Iterable[CitedSet],
    known: Collection[str],
    papers: Mapping[str, Paper],
    drop: float,
    seed: int,
    limit: int = 0,
) -> list[AskedSet]:
    """Sets with the share `drop` of their papers taken out, at least one, and one left (SCOPE 4.4.3).

    Only papers that are known can be found, so the others are left out of the sets; a larger share holds the smaller.
    """
    check_share(drop)
    kept = [(each, [key for key in each.papers if key in known]) for each in sets]
    enough = [(each, inside) for each, inside in kept if len(inside) > 1]
    if limit:
        enough = draw(enough, lambda pair: _id(pair[0]), limit, seed)
    found = []
    for each, inside in enough:
        missing = _dropped(inside, _id(each), drop, seed)
        left = tuple(papers[key] for key in inside if key not in missing)
        found.append(AskedSet(Part(left, each.title, each.section_types), missing))
    return found


def asked_contexts(
    documents: Iterable[CitingDocument], known: Collection[str], papers: Mapping[str, Paper], seed: int, limit: int = 0
) -> list[AskedContext]:
    """Sentences that cite a known paper that is no newer than their document (SCOPE 4.2.4)."""
    found = []
    for document in documents:
        for context in document.contexts:
            truth = frozenset(key for key in context.papers if key in known and not _newer(papers[key], document))
            if truth:
                found.append(AskedContext(document, context, truth))
    return draw(found, lambda each: each.id, limit, seed) if limit else found


def place_of(asked: AskedContext) -> Place:
    """The sentence and the draft around it, as input variants take it."""
    document, context = asked.document, asked.context
    return Place(context.paragraph, context.at, document.title, document.abstract, context.section_type)


def part_of(
    asked: AskedContext,
    known: Collection[str],
    papers: Mapping[str, Paper],
    drop: float | None,
    seed: int,
    by: By,
) -> Part:
    """The sentence's section, or draft, with what it cites beside the sentence, less the share `drop`; if None, all."""
    here = asked.context.section_type
    around = [context for context in asked.document.contexts if by == "paper" or context.section_type == here]
    beside = {key for context in around for key in context.papers if key in known} - asked.context.papers
    if drop is None:
        beside = set()
    elif len(beside) > 1:
        beside -= _dropped(sorted(beside), asked.id, drop, seed)
    types = tuple(sorted({context.section_type for context in around}))
    text = claim(variant("paragraph"), place_of(asked), masked=False)
    cited = tuple(papers[key] for key in sorted(beside))
    return Part(cited, asked.document.title, types, text, asked.document.year)


def _dropped(keys: Sequence[str], id: str, drop: float, seed: int) -> frozenset[str]:
    number = min(max(round(drop * len(keys)), 1), len(keys) - 1)
    return frozenset(draw(keys, lambda key: f"{id} {key}", number, seed))


def _newer(paper: Paper, document: CitingDocument) -> bool:
    return document.year is not None and paper.year is not None and paper.year > document.year


def _id(each: CitedSet) -> str:
    return f"{each.document} {each.section_types}"
