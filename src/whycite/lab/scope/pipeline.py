"""SCOPE's end-to-end evaluation (4.4.6, 5.6): recover the citations of drafts.

Each citing sentence is tested with its own citations hidden and all others visible, as while writing a draft.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import whycite
from whycite.check.answers import CachedLibrary
from whycite.check.detector import Detector
from whycite.check.paragraphs import prose_paragraphs
from whycite.check.proposals import propose
from whycite.check.worthiness import Judgement, judge
from whycite.documents.model import Document
from whycite.errors import UserError
from whycite.lab.scope.worthinessmeasures import WorthinessScores, measure
from whycite.models import Encoder

if TYPE_CHECKING:
    from whycite.library import Library

__all__ = [
    "KS",
    "PUBLISHED",
    "PUBLISHED_MS",
    "PipelineOutcome",
    "SentenceOutcome",
    "as_dict",
    "drafts_in",
    "milliseconds",
    "run",
]

KS = (5, 10)
# SCOPE's table 8 (raw arXiv sources), and the milliseconds of section 5.6 (2,000 papers to rerank, on an A100).
PUBLISHED = {"P": 0.1844, "R": 0.4901, "F1": 0.2675, "A@5": 0.5686, "A@10": 0.5686, "R@5": 0.0430, "R@10": 0.0497}
PUBLISHED_MS = {"extraction": 110.0, "worthiness": 100.0, "prefetcher": 42.0, "reranker": 5.0 * 2000}
Watch = Callable[[str, int, int | None], None]


@dataclass(frozen=True, slots=True)
class SentenceOutcome:
    """Whether a sentence cites, whether it was flagged as needing a citation, and the rank of the first true paper.

    `place` counts from 1; 0 if no true paper was recommended. `linked` says whether any paper it cites is known.
    """

    worthy: bool
    decided: bool
    linked: bool = False
    place: int = 0

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

    @property
    def worthiness(self) -> WorthinessScores:
        """Precision, recall and F1 of the worthy class."""
        worthy, decided = (
            np.array([getattr(sentence, name) for sentence in self.sentences], bool) for name in ("worthy", "decided")
        )
        return measure(worthy, decided)

    def accuracy(self, k: int) -> float:
        """A@k, excluding sentences that cite only what the draft's bibliography lacks."""
        sentences = [sentence for sentence in self.sentences if sentence.linked or not sentence.worthy]
        return sum(sentence.is_right(k) for sentence in sentences) / max(len(sentences), 1)

    def recall(self, k: int) -> float:
        """SCOPE's R@k: the share of detected citing sentences with a true paper among the first k."""
        sentences = [
            sentence for sentence in self.sentences if sentence.worthy and sentence.decided and sentence.linked
        ]
        return sum(sentence.is_right(k) for sentence in sentences) / max(len(sentences), 1)


def drafts_in(folder: Path) -> list[Path]:
    """Drafts in a folder: its subfolders and files; a folder with only LaTeX files is one draft."""
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder")
    inner = sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    files = sorted(path for path in folder.iterdir() if path.suffix.lower() in (".md", ".qmd", ".rmd", ".typ"))
    drafts = [*inner, *files]
    return drafts or [folder]


def run(
    drafts: Sequence[Path],
    detector: Detector,
    encoder: Encoder,
    library: Library | None = None,
    *,
    threshold: float | None = None,
    bibliography: bool = True,
    watch: Watch = lambda stage, count, total: None,
) -> PipelineOutcome:
    """Try to recover the citations of every draft; unreadable drafts are reported."""
    seconds: defaultdict[str, float] = defaultdict(float)
    sentences: list[SentenceOutcome] = []
    unread: list[str] = []
    read = number = 0
    shelf = CachedLibrary(library) if library is not None else None
    for index, path in enumerate(drafts):
        watch(f"checking {path.name}", index, len(drafts))
        clock = _EvaluationClock(seconds)
        try:
            document = whycite.read(path)
        except UserError as error:
            unread.append(str(error))
            continue
        clock.end("extraction")
        outcomes, paragraph_count = _judge_sentences(document, detector, encoder, shelf, clock, threshold, bibliography)
        sentences += outcomes
        number += paragraph_count
        read += 1
    if not sentences:
        raise UserError(unread[0] if unread else "these drafts contain no sentences to test")
    return PipelineOutcome(read, number, tuple(sentences), dict(seconds), tuple(unread))


def _judge_sentences(
    document: Document,
    detector: Detector,
    encoder: Encoder,
    shelf: CachedLibrary | None,
    clock: _EvaluationClock,
    threshold: float | None = None,
    bibliography: bool = True,
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
    proposed = propose(document, decided, encoder, shelf, max(KS), bibliography=bibliography, masked=True)
    clock.add(proposed.seconds)
    chosen = set(decided)
    outcomes = []
    for index in sentence_indices:
        sentence = document.sentences[index]
        true = {key for citation in sentence.citations for key in citation.keys} & document.by_id.keys()
        ranked = enumerate(proposed.by_sentence.get(index, ()), start=1)
        place = min((rank for rank, proposal in ranked if proposal.in_bibliography and proposal.key in true), default=0)
        outcomes.append(SentenceOutcome(bool(sentence.citations), index in chosen, bool(true), place))
    return outcomes, len(read)


def as_dict(outcome: PipelineOutcome) -> dict[str, Any]:
    """Results as plain types."""
    scores = outcome.worthiness
    return {
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
        self._started = time.perf_counter()


def _threshold(document: Document, index: int, judgement: Judgement, threshold: float | None) -> float:
    if threshold is not None:
        return threshold
    return judgement.threshold(document.sections[document.sentences[index].section].type)
