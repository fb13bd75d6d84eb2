"""The complete pipeline, measured end to end on drafts (SCOPE 4.4.6, 5.6).

Each citing sentence is tested with its own citations hidden and all others visible, as while writing a draft.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import whycite
from whycite.check.detector import Detector
from whycite.check.memory import CachedLibrary
from whycite.check.paragraphs import prose_paragraphs
from whycite.check.proposals import propose
from whycite.check.worthiness import Judgement, judge
from whycite.documents import stream
from whycite.documents.model import Document
from whycite.errors import UserError
from whycite.lab.scope.chain import ScopeChain
from whycite.lab.scope.worthinessmeasures import WorthinessScores, measure
from whycite.models import Encoder
from whycite.structure import label

if TYPE_CHECKING:
    from whycite.library import Library

__all__ = [
    "KS",
    "PUBLISHED",
    "PUBLISHED_MS",
    "PipelineOutcome",
    "SentenceOutcome",
    "as_dict",
    "ask_nothing",
    "drafts_in",
    "milliseconds",
    "run",
]

KS = (5, 10)
# SCOPE's table 8 (raw arXiv sources), and the milliseconds of section 5.6 (2,000 papers to rerank, on an A100).
PUBLISHED = {
    "P": 0.1844,
    "R": 0.4901,
    "F1": 0.2675,
    "A": 0.6353,
    "A@5": 0.5686,
    "A@10": 0.5686,
    "R@5": 0.0430,
    "R@10": 0.0497,
}
PUBLISHED_MS = {"extraction": 110.0, "worthiness": 100.0, "prefetcher": 42.0, "reranker": 5.0 * 2000}
Watch = Callable[[str, int, int | None], None]
_RECORDS = (".jsonl", ".ndjson")
_COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
_FORMATS = (*_RECORDS, ".md", ".markdown", ".qmd", ".rmd", ".typ", ".xml", ".nxml", ".tei", ".pdf")


@dataclass(frozen=True, slots=True)
class SentenceOutcome:
    """Whether a sentence cites, whether it was flagged as needing a citation, and the rank of the first true paper.

    `place` counts from 1; 0 if no true paper was recommended. `linked` says whether any paper it cites is known.
    """

    worthy: bool
    decided: bool
    linked: bool = False
    place: int = 0
    guessed: bool = False  # what it cites is known only by the nearest title

    def is_right(self, k: int) -> bool:
        """Correct by SCOPE's accuracy: nothing needed and not flagged, or a true paper among the first k."""
        return not self.decided if not self.worthy else 0 < self.place <= k


@dataclass(frozen=True, slots=True)
class PipelineOutcome:
    """Results over all drafts."""

    drafts: int
    paragraphs: int
    sentences: tuple[SentenceOutcome, ...]
    seconds: dict[str, float]
    unread: tuple[str, ...] = ()
    pool: str = ""  # where papers are proposed from

    @property
    def detection_accuracy(self) -> float:
        """The share of sentences that are rightly flagged or not."""
        return sum(sentence.worthy == sentence.decided for sentence in self.sentences) / max(len(self.sentences), 1)

    @property
    def in_pool(self) -> float:
        """The share of citing sentences of which a cited paper can be proposed at all."""
        worthy = [sentence for sentence in self.sentences if sentence.worthy]
        return sum(sentence.linked for sentence in worthy) / max(len(worthy), 1)

    @property
    def guessed(self) -> float:
        """The share of citing sentences whose papers are only guessed to be in the pool, by the nearest title."""
        worthy = [sentence for sentence in self.sentences if sentence.worthy]
        return sum(sentence.guessed for sentence in worthy) / max(len(worthy), 1)

    @property
    def worthiness(self) -> WorthinessScores:
        """Precision, recall and F1 of the worthy class."""
        worthy, decided = (
            np.array([getattr(sentence, name) for sentence in self.sentences], bool) for name in ("worthy", "decided")
        )
        return measure(worthy, decided)

    def accuracy(self, k: int) -> float:
        """A@k, excluding sentences that cite only what the pool lacks."""
        sentences = [sentence for sentence in self.sentences if sentence.linked or not sentence.worthy]
        return sum(sentence.is_right(k) for sentence in sentences) / max(len(sentences), 1)

    def recall(self, k: int) -> float:
        """SCOPE's R@k: the share of detected citing sentences with a true paper among the first k."""
        sentences = [
            sentence for sentence in self.sentences if sentence.worthy and sentence.decided and sentence.linked
        ]
        return sum(sentence.is_right(k) for sentence in sentences) / max(len(sentences), 1)


def drafts_in(folder: Path) -> list[Path]:
    """Drafts in a folder: its subfolders and every document; a folder with only LaTeX files is one draft."""
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder")
    inner = sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    files = sorted(path for path in folder.iterdir() if path.is_file() and _format_of(path) in _FORMATS)
    drafts = [*inner, *files]
    return drafts or [folder]


def _format_of(path: Path) -> str:
    """The last suffix of a file in lower case, without those of compression."""
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() not in _COMPRESSED]
    return suffixes[-1] if suffixes else ""


def _documents(path: Path) -> Iterator[Document]:
    """The documents at a path: all records of a file of records, or the one draft that is there."""
    if path.is_file() and _format_of(path) in _RECORDS:
        yield from stream(path)
    else:
        yield whycite.read(path)


def ask_nothing(outcome: PipelineOutcome) -> PipelineOutcome:
    """What a program reaches that never says anything."""
    silent = tuple(replace(sentence, decided=False, place=0) for sentence in outcome.sentences)
    return replace(outcome, sentences=silent, seconds={}, pool="nothing is asked")


def run(
    drafts: Sequence[Path],
    detector: Detector,
    encoder: Encoder,
    library: Library | None = None,
    *,
    threshold: float | None = None,
    bibliography: bool = True,
    chain: ScopeChain | None = None,
    watch: Watch = lambda stage, count, total: None,
) -> PipelineOutcome:
    """Try to recover the citations of every draft; unreadable drafts are reported.

    With a `chain`, papers are proposed as in SCOPE, from the chain's own pool.
    """
    seconds: defaultdict[str, float] = defaultdict(float)
    sentences: list[SentenceOutcome] = []
    unread: list[str] = []
    read = number = 0
    shelf = CachedLibrary(library) if library is not None else None
    for index, path in enumerate(drafts):
        watch(f"checking {path.name}", index, len(drafts))
        clock = _EvaluationClock(seconds)
        try:
            for document in _documents(path):
                clock.end("extraction")
                if document.warnings and not document.sentences:
                    unread.append(document.warnings[0])
                    continue
                outcomes, paragraph_count = _judge_sentences(
                    document, detector, encoder, shelf, clock, threshold, bibliography, chain
                )
                sentences += outcomes
                number += paragraph_count
                read += 1
                clock.restart()
        except UserError as error:
            unread.append(str(error))
    if not sentences:
        raise UserError(unread[0] if unread else "these drafts contain no sentences to test")
    pool = _POOLS[bibliography, library is not None] if chain is None else chain.name
    return PipelineOutcome(read, number, tuple(sentences), dict(seconds), tuple(unread), pool)


_POOLS = {
    (True, False): "the draft's bibliography",
    (True, True): "bibliography and library",
    (False, True): "library, without the bibliography",
    (False, False): "nothing",
}


def _judge_sentences(
    document: Document,
    detector: Detector,
    encoder: Encoder,
    shelf: CachedLibrary | None,
    clock: _EvaluationClock,
    threshold: float | None = None,
    bibliography: bool = True,
    chain: ScopeChain | None = None,
) -> tuple[list[SentenceOutcome], int]:
    """Judge every prose sentence; also return the number of paragraphs."""
    read = prose_paragraphs(document)
    sentence_indices = [index for _, places in read for index in places]
    visible_document = document if bibliography else replace(document, references=())
    judgement = judge(visible_document, detector, encoder, ask_again=True)  # authors do cite the same method twice
    clock.end("worthiness")
    decided = [
        index
        for index in sentence_indices
        if judgement.worthiness[index] >= _threshold(document, index, judgement, threshold)
    ]
    if chain is not None:
        return _chain_outcomes(label(document), sentence_indices, decided, chain, clock), len(read)
    proposed = propose(document, decided, encoder, shelf, max(KS), bibliography=bibliography, masked=True)
    clock.add(proposed.seconds)
    chosen = set(decided)
    known_references = _known_references(document, shelf, bibliography)
    outcomes = []
    for index in sentence_indices:
        sentence = document.sentences[index]
        true = {key for citation in sentence.citations for key in citation.keys} & known_references
        ranked = enumerate(proposed.by_sentence.get(index, ()), start=1)
        place = min((rank for rank, proposal in ranked if proposal.in_bibliography and proposal.key in true), default=0)
        outcomes.append(SentenceOutcome(bool(sentence.citations), index in chosen, bool(true), place))
    return outcomes, len(read)


def _chain_outcomes(
    document: Document, sentences: Sequence[int], decided: Sequence[int], chain: ScopeChain, clock: _EvaluationClock
) -> list[SentenceOutcome]:
    """What SCOPE's chain finds; a reference counts as the paper that it was matched to."""
    matches = chain.match(document)
    proposals, seconds = chain.propose(document, decided, matches, max(KS))
    clock.add(seconds)
    outcomes = []
    for index in sentences:
        cited = document.sentences[index].cited_keys
        true = {matches[key].paper for key in cited if key in matches}
        ranked = enumerate(proposals.get(index, ()), start=1)
        place = min((rank for rank, key in ranked if key in true), default=0)
        guessed = bool(true) and all(matches[key].by == "guess" for key in cited if key in matches)
        outcomes.append(SentenceOutcome(bool(cited), index in proposals, bool(true), place, guessed))
    return outcomes


def _known_references(document: Document, shelf: CachedLibrary | None, bibliography: bool) -> Set[str]:
    """The ids of references that can be proposed: all, or those that the library has."""
    if bibliography:
        return document.by_id.keys()
    references = list(document.references)
    keys = shelf.find(references) if shelf is not None else [None] * len(references)
    return {reference.id for reference, key in zip(references, keys, strict=True) if key}


def as_dict(outcome: PipelineOutcome) -> dict[str, Any]:
    """Results as plain types."""
    scores = outcome.worthiness
    return {
        "pool": outcome.pool,
        "in_pool": outcome.in_pool,
        "guessed": outcome.guessed,
        "A": outcome.detection_accuracy,
        "drafts": outcome.drafts,
        "sentences": len(outcome.sentences),
        "worthy": sum(sentence.worthy for sentence in outcome.sentences),
        "P": scores.precision,
        "R": scores.recall,
        "F1": scores.f1,
        **{f"A@{k}": outcome.accuracy(k) for k in KS},
        **{f"R@{k}": outcome.recall(k) for k in KS},
        "milliseconds": milliseconds(outcome),
        "unread": list(outcome.unread),
    }


def milliseconds(outcome: PipelineOutcome) -> dict[str, float]:
    """Time of each stage in SCOPE's units: per sentence, per paragraph or per sentence found worthy."""
    decided = max(sum(sentence.decided for sentence in outcome.sentences), 1)
    by = {"extraction": len(outcome.sentences), "worthiness": outcome.paragraphs}
    return {stage: 1000 * value / max(by.get(stage, decided), 1) for stage, value in outcome.seconds.items()}


class _EvaluationClock:
    """Adds up the seconds spent in each stage."""

    def __init__(self, seconds: defaultdict[str, float]) -> None:
        self._seconds, self._started = seconds, time.perf_counter()

    def end(self, stage: str) -> None:
        self.add({stage: time.perf_counter() - self._started})

    def add(self, seconds: dict[str, float]) -> None:
        for stage, value in seconds.items():
            self._seconds[stage] += value
        self.restart()

    def restart(self) -> None:
        self._started = time.perf_counter()


def _threshold(document: Document, index: int, judgement: Judgement, threshold: float | None) -> float:
    if threshold is not None:
        return threshold
    return judgement.threshold(document.sections[document.sentences[index].section].type)
