"""How many papers removed from sets recommenders find again (SCOPE 5.3, tables 4, 5, 7 and 11)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from whycite.documents import Document, stream
from whycite.errors import UserError
from whycite.lab.evaluate.comparison import draw
from whycite.lab.evaluate.topics import Topic, Watch, publication_record, read_publication_records, resolve
from whycite.lab.scope.candidates import (
    CandidatePaper,
    CitedSet,
    CitingContext,
    CitingCorpus,
    CitingDocument,
    DraftPart,
    Lessons,
    Recommender,
    SetUnit,
    check_recommender,
    cited_sets,
    gather_citations,
    load_recommender,
    pool_of,
)
from whycite.lab.scope.inputvariants import ClaimPlace, claim_input, ranker_variant

__all__ = [
    "BASELINES",
    "CONTEXT_FREE",
    "DROPS",
    "METHODS",
    "GappedSet",
    "HeldOutContext",
    "HeldOutSplit",
    "MeanWithDeviation",
    "PrefetchFigures",
    "PrefetchOutcome",
    "PrefetchSetting",
    "as_dict",
    "check_recommenders",
    "draft_part",
    "gapped_sets",
    "held_out_contexts",
    "place_of",
    "read_citing_corpus",
    "run",
    "split",
]


CONTEXT_FREE = frozenset({"random", "most-popular", "local-bm25"})
"""Recommenders that ignore what else the draft cites."""


@dataclass(frozen=True, slots=True)
class HeldOutSplit:
    """Training documents and held-out documents."""

    learned: tuple[CitingDocument, ...]
    held_out: tuple[CitingDocument, ...]


@dataclass(frozen=True, slots=True)
class GappedSet:
    """What is left of a set, and the removed papers to find."""

    part: DraftPart
    missing: frozenset[str]


@dataclass(frozen=True, slots=True)
class HeldOutContext:
    """A sentence of a held-out document; `truth` are the papers it cites that can be found."""

    document: CitingDocument
    context: CitingContext
    truth: frozenset[str]

    @property
    def id(self) -> str:
        """Unique id."""
        return f"{self.document.key} {self.context.section_type} {self.context.position} {self.context.sentence}"


def read_citing_corpus(paths: Sequence[Path], topic: Topic | None, watch: Watch) -> tuple[CitingCorpus, list[str]]:
    """Read what documents cite; also return a message for each unreadable file."""
    watch("scanning data", 0, None)
    publications = read_publication_records(paths)
    if topic is not None:
        (topic,) = resolve(
            [topic], (subject for publication in publications.values() for subject in publication.subjects)
        )
    unread: list[str] = []

    def topic_documents() -> Iterator[Document]:
        for number, document in enumerate((document for path in paths for document in stream(path)), start=1):
            watch("reading papers", number, None)
            if document.warnings and not document.sentences:
                unread.append(document.warnings[0])
            if topic is None or topic.holds(
                publication_record(document.paper, publications).subjects, document.paper.abstract
            ):
                yield document

    corpus = gather_citations(topic_documents(), lambda paper: publication_record(paper, publications).date)
    return corpus, unread


def split(
    documents: Sequence[CitingDocument], held_out: int | None = None, by_lot: bool = False, seed: int = 0
) -> HeldOutSplit:
    """Hold out the newest documents, or random ones; by default a tenth."""
    number = max(1, len(documents) // 10) if held_out is None else held_out
    if number < 1:
        raise UserError(f"at least one document must be held out, not {number}")
    if len(documents) <= number:
        raise UserError(f"cannot hold out {number} of {len(documents)} documents with citations; add data")
    ordered = sorted(documents, key=lambda document: (document.date, document.key))
    if by_lot:
        ordered = draw(ordered, lambda document: document.key, len(ordered), seed)[::-1]
    return HeldOutSplit(tuple(ordered[:-number]), tuple(ordered[-number:]))


def check_recommenders(names: Sequence[str], drops: Sequence[float]) -> None:
    """Raise an error unless all recommenders are installed and all shares are possible."""
    for name in names:
        check_recommender(name)
    for drop in drops:
        _check_share(drop)


def _check_share(drop: float) -> None:
    """Raise an error unless the share is strictly between 0 and 1."""
    if not 0 < drop < 1:
        raise UserError(f"--drop must be between 0 and 1, not {drop:g}")


def gapped_sets(
    sets: Iterable[CitedSet],
    pool_keys: Collection[str],
    papers: Mapping[str, CandidatePaper],
    drop: float,
    seed: int,
    limit: int = 0,
) -> list[GappedSet]:
    """Remove the share `drop` of papers from each set, at least one and never all (SCOPE 4.4.3).

    Papers outside the pool cannot be found, so they are ignored. A larger share includes the smaller one.
    """
    _check_share(drop)
    keyed_sets = [(cited_set, [key for key in cited_set.papers if key in pool_keys]) for cited_set in sets]
    enough = [(cited_set, keys) for cited_set, keys in keyed_sets if len(keys) > 1]
    if limit:
        enough = draw(enough, lambda pair: _id(pair[0]), limit, seed)
    questions = []
    for cited_set, keys in enough:
        missing = _draw_dropped(keys, _id(cited_set), drop, seed)
        remaining = tuple(papers[key] for key in keys if key not in missing)
        questions.append(GappedSet(DraftPart(remaining, cited_set.title, cited_set.section_types), missing))
    return questions


def held_out_contexts(
    documents: Iterable[CitingDocument],
    pool_keys: Collection[str],
    papers: Mapping[str, CandidatePaper],
    seed: int,
    limit: int = 0,
) -> list[HeldOutContext]:
    """Sentences citing a known paper that is not newer than their document (SCOPE 4.2.4)."""
    questions = []
    for document in documents:
        for context in document.contexts:
            truth = frozenset(
                key for key in context.papers if key in pool_keys and not _is_newer(papers[key], document)
            )
            if truth:
                questions.append(HeldOutContext(document, context, truth))
    return draw(questions, lambda question: question.id, limit, seed) if limit else questions


def place_of(question: HeldOutContext) -> ClaimPlace:
    """The sentence and its draft as input for the variants."""
    document, context = question.document, question.context
    return ClaimPlace(context.paragraph, context.position, document.title, document.abstract, context.section_type)


def draft_part(
    question: HeldOutContext,
    pool_keys: Collection[str],
    papers: Mapping[str, CandidatePaper],
    drop: float | None,
    seed: int,
    by: SetUnit,
) -> DraftPart:
    """The sentence's section or draft with its other citations, less the share `drop` (None drops all)."""
    section_type = question.context.section_type
    neighbours = [
        context for context in question.document.contexts if by == "paper" or context.section_type == section_type
    ]
    cited_keys = {key for context in neighbours for key in context.papers if key in pool_keys} - question.context.papers
    if drop is None:
        cited_keys = set()
    elif len(cited_keys) > 1:
        cited_keys -= _draw_dropped(sorted(cited_keys), question.id, drop, seed)
    types = tuple(sorted({context.section_type for context in neighbours}))
    text = claim_input(ranker_variant("paragraph"), place_of(question), masked=False)
    cited = tuple(papers[key] for key in sorted(cited_keys))
    return DraftPart(cited, question.document.title, types, text, question.document.year)


def _draw_dropped(keys: Sequence[str], id: str, drop: float, seed: int) -> frozenset[str]:
    number = min(max(round(drop * len(keys)), 1), len(keys) - 1)
    return frozenset(draw(keys, lambda key: f"{id} {key}", number, seed))


def _is_newer(paper: CandidatePaper, document: CitingDocument) -> bool:
    return document.year is not None and paper.year is not None and paper.year > document.year


def _id(cited_set: CitedSet) -> str:
    return f"{cited_set.document} {cited_set.section_types}"


AUTOENCODERS = ("aae-none", "aae-title", "aae-section-title", "aae-section")
BASELINES = ("random", "accumulated-bm25", "most-popular", "co-occurrence")
LOCAL = ("local-bm25",)  # searches per sentence, so it is only tested on sentences
METHODS = (*AUTOENCODERS, *BASELINES, *LOCAL)
DROPS = (0.2, 0.5, 0.8)


@dataclass(frozen=True, slots=True)
class PrefetchSetting:
    """What to measure."""

    methods: tuple[str, ...] = METHODS
    by: tuple[SetUnit, ...] = ("paper", "section")
    drops: tuple[float, ...] = DROPS
    k: int = 2000
    floor: int = 1
    epochs: int = 20
    held_out: int | None = None
    by_lot: bool = False
    again: bool = False  # also train on the older half of the held-out documents (SCOPE C.2)
    limit: int = 1000
    seed: int = 0
    encoder: str | None = None
    word_vectors: Path | None = None

    def check(self) -> None:
        """Fail early, before any data is read, if something cannot be measured."""
        check_recommenders(self.methods, self.drops)


@dataclass(frozen=True, slots=True)
class MeanWithDeviation:
    """A mean over questions, with its standard deviation."""

    mean: float
    deviation: float


@dataclass(frozen=True, slots=True)
class PrefetchFigures:
    """What a recommender finds with the share `drop` removed; None for sentences if `drop` does not matter."""

    method: str
    by: SetUnit
    drop: float | None
    asked: int
    mrr: MeanWithDeviation
    recall: MeanWithDeviation  # at k


@dataclass(frozen=True, slots=True)
class TrainingCoverage:
    """Size of the training data, and the share of held-out citations whose papers are known."""

    by: SetUnit
    sets: int
    papers: int
    known: float


@dataclass(frozen=True, slots=True)
class PrefetchOutcome:
    """Results for sets (tables 4 and 5), sentences (table 7) and sets of the later split (table 11)."""

    setting: PrefetchSetting
    documents: int
    held_out: int
    oldest: str  # date of the oldest held-out document
    newest: str
    learned: tuple[TrainingCoverage, ...]
    sets: tuple[PrefetchFigures, ...]
    contexts: tuple[PrefetchFigures, ...]
    later: tuple[PrefetchFigures, ...] = ()


KeepRecommender = Callable[[Recommender, SetUnit], None]
"""Called with each recommender made and the unit of its sets."""


def run(
    gathered: CitingCorpus, setting: PrefetchSetting, watch: Watch, keep: KeepRecommender | None = None
) -> PrefetchOutcome:
    """Train every recommender on the documents not held out, and measure it."""
    setting.check()
    parts = split(gathered.documents, setting.held_out, setting.by_lot, setting.seed)
    learned: list[TrainingCoverage] = []
    sets: list[PrefetchFigures] = []
    contexts: list[PrefetchFigures] = []
    later: list[PrefetchFigures] = []
    for by in setting.by:
        experiment = _PrefetchExperiment(gathered, parts, setting, by, watch)
        learned.append(experiment.coverage())
        for name in setting.methods:
            recommender = experiment.make(name)
            if keep:
                keep(recommender, by)
            if name not in LOCAL:
                sets += experiment.ask_sets(recommender)
            contexts += experiment.ask_contexts(recommender)
        if setting.again:
            half = len(parts.held_out) // 2
            if not half:
                raise UserError("cannot train on half of one held-out document; raise --held-out")
            later_split = HeldOutSplit((*parts.learned, *parts.held_out[:half]), parts.held_out[half:])
            experiment = _PrefetchExperiment(gathered, later_split, setting, by, watch)
            for name in (name for name in setting.methods if name in AUTOENCODERS):
                later += experiment.ask_sets(experiment.make(name))
    dates = sorted(document.date for document in parts.held_out)
    return PrefetchOutcome(
        setting,
        len(gathered.documents),
        len(parts.held_out),
        dates[0],
        dates[-1],
        tuple(learned),
        tuple(sets),
        tuple(contexts),
        tuple(later),
    )


def as_dict(outcome: PrefetchOutcome) -> dict[str, Any]:
    """Results as plain types."""
    figures = asdict(outcome)
    figures["setting"]["word_vectors"] = str(outcome.setting.word_vectors or "")
    return figures


class _PrefetchExperiment:
    """Measurements on one split with one kind of sets."""

    def __init__(
        self, gathered: CitingCorpus, parts: HeldOutSplit, setting: PrefetchSetting, by: SetUnit, watch: Watch
    ) -> None:
        self._papers, self._parts, self._setting, self._by, self._watch = gathered.papers, parts, setting, by, watch
        self._lessons = Lessons(
            cited_sets(parts.learned, by),
            gathered.papers,
            setting.floor,
            setting.seed,
            setting.epochs,
            setting.encoder,
            setting.word_vectors,
        )
        self._pool_places = pool_of(self._lessons).place
        self._held_out_sets = cited_sets(parts.held_out, by)
        if not any(sum(key in self._pool_places for key in cited_set.papers) > 1 for cited_set in self._held_out_sets):
            raise UserError("no held-out set has two known papers; add data or lower --floor")

    def coverage(self) -> TrainingCoverage:
        cited = [key for cited_set in self._held_out_sets for key in cited_set.papers]
        share = sum(key in self._pool_places for key in cited) / len(cited)
        return TrainingCoverage(self._by, len(self._lessons.sets), len(self._pool_places), share)

    def make(self, name: str) -> Recommender:
        self._watch(f"training {name}, by {self._by}", 0, None)
        return load_recommender(name, self._lessons)

    def ask_sets(self, recommender: Recommender) -> list[PrefetchFigures]:
        setting = self._setting
        figures = []
        for drop in setting.drops:
            questions = gapped_sets(
                self._held_out_sets, self._pool_places, self._papers, drop, setting.seed, setting.limit
            )
            pairs = [(question.part, question.missing) for question in questions]
            figures.append(self._measure(recommender, drop, pairs, f"{drop:g} taken out"))
        return figures

    def ask_contexts(self, recommender: Recommender) -> list[PrefetchFigures]:
        """Test each sentence on its own, given the section or draft without it."""
        setting, papers = self._setting, self._papers
        questions = held_out_contexts(self._parts.held_out, self._pool_places, papers, setting.seed, setting.limit)
        drops: Sequence[float | None] = (None,) if recommender.name in CONTEXT_FREE else setting.drops
        figures = []
        for drop in drops:
            pairs = [
                (draft_part(question, self._pool_places, papers, drop, setting.seed, self._by), question.truth)
                for question in questions
            ]
            figures.append(self._measure(recommender, drop, pairs, "sentences"))
        return figures

    def _measure(
        self,
        recommender: Recommender,
        drop: float | None,
        questions: Sequence[tuple[DraftPart, frozenset[str]]],
        stage: str,
    ) -> PrefetchFigures:
        ranks, recalls = [], []
        for number, (part, truth) in enumerate(questions):
            self._watch(f"{recommender.name}, by {self._by}, {stage}", number, len(questions))
            keys = [key for key, _ in recommender.recommend(part, self._setting.k)]
            ranks.append(next((1 / rank for rank, key in enumerate(keys, start=1) if key in truth), 0.0))
            recalls.append(len(truth.intersection(keys)) / len(truth))
        return PrefetchFigures(
            recommender.name, self._by, drop, len(questions), _mean_with_deviation(ranks), _mean_with_deviation(recalls)
        )


def _mean_with_deviation(values: Sequence[float]) -> MeanWithDeviation:
    if not values:
        return MeanWithDeviation(0.0, 0.0)
    return MeanWithDeviation(float(np.mean(values)), float(np.std(values)))
