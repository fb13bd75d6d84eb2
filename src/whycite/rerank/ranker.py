"""The ranker: a claim and a text side by side, one score."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from whycite.encoders import Encoder, facts, inference, tokens
from whycite.encoders.batches import batches, threaded
from whycite.errors import UserError
from whycite.rerank.inputs import Kind, claim_text, side_by_side

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["FACTS", "FOLDER", "OnnxRanker", "Ranker", "load", "stored_with"]

FACTS = "ranker.json"
FOLDER = "ranker"  # in the folder of the encoder that it goes with


class Ranker(Protocol):
    """Says how well texts go with a claim; higher is better, and only scores of one kind compare."""

    @property
    def name(self) -> str: ...

    def score(self, kind: Kind, claim: str, texts: Sequence[str]) -> NDArray[np.float32]: ...


def load(folder: Path, threads: int | None = None) -> Ranker:
    """The ranker in a folder; the same object each time. `threads`: by default all cores."""
    if threads is not None and threads < 1:
        raise UserError(f"threads must be 1 or more, not {threads}")
    if not (folder / FACTS).is_file():
        raise UserError(f"{folder} holds no ranker: make one with 'whycite train ranker'")
    return _load(folder, threads or os.cpu_count() or 1)


@cache
def _load(folder: Path, threads: int) -> Ranker:
    return OnnxRanker(folder, threads)


def stored_with(encoder: Encoder) -> Ranker | None:
    """The ranker that lies in an encoder's folder, if there is one."""
    folder: Path | None = getattr(encoder, "folder", None)
    return load(folder / FOLDER) if folder and (folder / FOLDER / FACTS).is_file() else None


class OnnxRanker:
    """The ranker that lies in a folder as an ONNX model and a tokenizer; both are opened when they are first needed.

    A score is the same to the bit whatever texts are beside it, and on any number of threads.
    """

    def __init__(self, folder: Path, threads: int) -> None:
        self._folder, self.threads = folder, threads
        self._facts = facts.read(folder, FACTS)

    @cached_property
    def name(self) -> str:
        """What it is called, and its version; a model that is another than its facts say is refused."""
        version = facts.version(self._folder, self._facts)
        if self._facts.version not in ("", version):
            raise UserError(f"{self._folder} holds another model than {FACTS} says: copy the folder again")
        return f"{self._facts.name}@{version}"

    def score(self, kind: Kind, claim: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """One score a text, in order."""
        asked = self._ids(claim_text(kind, claim))
        rows = [side_by_side(asked, self._ids(text), self._facts.max_tokens) for text in texts]
        work = list(batches([len(row) for row in rows]))
        arrays = [np.array([rows[i] for i in batch], np.int64) for batch in work]
        scores = np.empty(len(texts), np.float32)
        for batch, found in zip(work, threaded(self._run, arrays, self.threads), strict=True):
            scores[batch] = found
        return scores

    def _ids(self, text: str) -> list[int]:
        found: list[int] = self._tokenizer.encode(tokens.cleaned(text, self._facts)).ids
        return found

    def _run(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        found: NDArray[np.float32] = self._session.run(None, {"input_ids": ids})[0]
        return found

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return tokens.opened(self._folder, self._facts.max_tokens)

    @cached_property
    def _session(self) -> Any:
        _ = self.name  # a model that is refused is not opened
        return inference.session(self._folder / facts.MODEL)
