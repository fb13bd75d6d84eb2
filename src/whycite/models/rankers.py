"""The ranker, which reads a claim and a text side by side and scores the pair."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from whycite.models.encoders import Encoder
from whycite.models.folders import RANKER, ModelFolder
from whycite.models.runtime import batches, map_threaded, thread_count

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = [
    "RANKER_FOLDER",
    "OnnxRanker",
    "Ranker",
    "TargetKind",
    "claim_text",
    "load_ranker",
    "paper_text",
    "passage_text",
    "ranker_of",
    "side_by_side",
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


def side_by_side(claim: Sequence[int], text: Sequence[int], longest: int) -> list[int]:
    """The tokens of the claim, then those of the text without its start token; the longer one is cut at its end.

    Both include the special tokens that the tokenizer puts at either end.
    """
    room = longest - len(claim) - len(text) + 1
    if room < 0:
        half = longest // 2
        limit = max(half, longest - len(text) + 1)
        if len(claim) > limit:
            claim = [*claim[: limit - 1], claim[-1]]
        limit = longest - len(claim)
        text = [*text[:limit], text[-1]] if len(text) > limit + 1 else text
    return [*claim, *text[1:]]


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


class OnnxRanker:
    """Runs an ONNX model on `threads` threads; model and tokenizer are loaded on first use.

    A score depends neither on the other texts nor on the number of threads, to the bit.
    """

    def __init__(self, folder: Path, threads: int) -> None:
        self.threads = threads
        self._files = ModelFolder(folder, RANKER)
        self._settings = self._files.settings

    @cached_property
    def name(self) -> str:
        """Its name and version."""
        return f"{self._settings.name}@{self._files.version}"

    def score(self, kind: TargetKind, claim: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """A score for each text, in order."""
        claim_ids = self._ids(claim_text(kind, claim))
        rows = [side_by_side(claim_ids, self._ids(text), self._settings.max_tokens) for text in texts]
        work = list(batches([len(row) for row in rows]))
        arrays = [np.array([rows[i] for i in batch], np.int64) for batch in work]
        scores = np.empty(len(texts), np.float32)
        for batch, batch_scores in zip(work, map_threaded(self._run, arrays, self.threads), strict=True):
            scores[batch] = batch_scores
        return scores

    def _ids(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(self._settings.clean(text)).ids
        return ids

    def _run(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        scores: NDArray[np.float32] = self._session.run(None, {"input_ids": ids})[0]
        return scores

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return self._files.open_tokenizer(self._settings.max_tokens)

    @cached_property
    def _session(self) -> Any:
        _ = self._files.version  # raises if the model is not the one in its settings
        return self._files.open_session()
