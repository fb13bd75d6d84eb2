"""Models that read a claim beside a text: the ranker scores it, the entailment model judges what it says of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from whycite.models.encoders import Encoder
from whycite.models.folders import BUNDLED, ENTAILMENT, RANKER
from whycite.models.runtime import PairModel, thread_count

__all__ = [
    "CONTRADICTS",
    "DEFAULT_ENTAILMENT",
    "NEITHER",
    "RANKER_FOLDER",
    "RELEVANCE",
    "SUPPORTS",
    "EntailmentModel",
    "OnnxEntailment",
    "OnnxRanker",
    "Ranker",
    "TargetKind",
    "claim_text",
    "load_entailment",
    "load_ranker",
    "paper_text",
    "passage_text",
    "ranker_of",
]

TargetKind = Literal["paper", "passage", "span", "stance"]
"""What a claim is compared with: a paper, a sentence of the cited paper, or a text that cites the same paper.

A stance is that of a sentence of the cited paper: above 0 it agrees with the claim, below 0 it opposes it.
"""


def claim_text(kind: TargetKind, claim: str) -> str:
    """The claim, marked with what it is compared with."""
    return f"{kind}: {claim}"


def paper_text(title: str, *details: str) -> str:
    """The text of a paper: its title, then its abstract or what others say when they cite it, if known."""
    return "\n".join(filter(None, (title, *details)))


def passage_text(sentence: str, *neighbours: str) -> str:
    """A sentence, followed by its neighbours if given."""
    return "\n".join(filter(None, (sentence, " ".join(neighbours))))


RANKER_FOLDER = "ranker"  # in the folder of its encoder


class Ranker(Protocol):
    """Scores how well texts fit a claim; higher is better, and only scores of one kind are comparable."""

    @property
    def name(self) -> str: ...

    def score(self, kind: TargetKind, claim: str, texts: Sequence[str]) -> NDArray[np.float32]: ...


def load_ranker(folder: Path, threads: int | None = None) -> Ranker:
    """Load the ranker in a folder, once; `threads` defaults to all cores."""
    return _open_ranker(folder, thread_count(threads))


@cache
def _open_ranker(folder: Path, threads: int) -> Ranker:
    return OnnxRanker(folder, threads)


def ranker_of(encoder: Encoder) -> Ranker | None:
    """The ranker in an encoder's folder, or None."""
    folder: Path | None = getattr(encoder, "folder", None)
    if folder is None or not (folder / RANKER_FOLDER / RANKER.settings_file).is_file():
        return None
    return load_ranker(folder / RANKER_FOLDER)


class OnnxRanker(PairModel):
    """A ranker as an ONNX graph."""

    def __init__(self, folder: Path, threads: int) -> None:
        super().__init__(folder, RANKER, threads)

    def score(self, kind: TargetKind, claim: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """A score for each text, in order."""
        return self.outputs(claim_text(kind, claim), texts)


DEFAULT_ENTAILMENT = "entailment-58m"
RELEVANCE, SUPPORTS, CONTRADICTS, NEITHER = range(4)  # columns of what the model says of a passage


class EntailmentModel(Protocol):
    """Judges passages; the last three columns are logits of one choice, the first compares passages for one claim."""

    @property
    def name(self) -> str: ...

    def judge(self, claim: str, passages: Sequence[str]) -> NDArray[np.float64]:
        """A row for each passage."""


def load_entailment(folder: Path | str = DEFAULT_ENTAILMENT, threads: int | None = None) -> EntailmentModel:
    """Load the bundled entailment model or the one in a folder, once; `threads` defaults to all cores."""
    path = BUNDLED / folder if isinstance(folder, str) and folder in ENTAILMENT.bundled() else Path(folder)
    return _open_entailment(path, thread_count(threads))


@cache
def _open_entailment(folder: Path, threads: int) -> EntailmentModel:
    return OnnxEntailment(folder, threads)


class OnnxEntailment(PairModel):
    """An entailment model as an ONNX graph."""

    def __init__(self, folder: Path, threads: int) -> None:
        super().__init__(folder, ENTAILMENT, threads)

    def judge(self, claim: str, passages: Sequence[str]) -> NDArray[np.float64]:
        """Relevance and the logits of supports, contradicts and neither, a row per passage."""
        return self.outputs(claim, passages).astype(np.float64).reshape(len(passages), 4)
