"""The detector that lies in a folder: an ONNX model, or one of Hugging Face; a tokenizer, a head."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from whycite.encoders import hub, inference, tokens
from whycite.encoders.batches import batches, threaded
from whycite.encoders.facts import MODEL
from whycite.errors import UserError
from whycite.worthiness import facts
from whycite.worthiness.bibliography import Bibliography
from whycite.worthiness.detector import Paragraph
from whycite.worthiness.inputs import Frame, Reading, readings
from whycite.worthiness.variants import variant

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tokenizers import Tokenizer

__all__ = ["FolderDetector"]

_AT_ONCE = 1024  # paragraphs whose readings are held at a time
_CHARACTERS = 32  # a token has at most: no more of a sentence is looked at than can be read


class FolderDetector:
    """Reads paragraphs on `threads` threads; model and tokenizer are opened when they are first needed.

    What it says of a paragraph is the same whatever paragraphs are beside it, and on any number of threads.
    """

    def __init__(self, folder: Path, threads: int, decision: str | None = None) -> None:
        self._folder, self.threads = folder, threads
        self._facts = facts.read(folder)
        self._variant = variant(self._facts.variant)
        chosen = decision or next(iter(self._facts.decisions))
        if chosen not in self._facts.decisions:
            names = ", ".join(self._facts.decisions)
            raise UserError(f"'{self._facts.name}' is not calibrated for '{chosen}'; there are: {names}")
        self._decision = self._facts.decisions[chosen]
        self.name = f"{self._facts.name}@{facts.version(folder)}" + ("" if decision is None else f":{chosen}")

    @property
    def thresholds(self) -> Mapping[str, float]:
        """From which probability on a sentence alone needs a citation, by section type; "" for all others."""
        return self._decision.thresholds

    @property
    def bibliography(self) -> Bibliography | None:
        """What a document's bibliography counts, and the threshold of all documents then, where that was learned."""
        return self._decision.bibliography

    def worthiness(self, paragraphs: Sequence[Paragraph]) -> list[NDArray[np.float64]]:
        """For each paragraph a probability a sentence; 0 for one without a word."""
        return [
            np.where([any(map(str.isalpha, text)) for text in paragraph.sentences], self.calibrated(found), 0.0)
            for paragraph, found in zip(paragraphs, self.scores(paragraphs), strict=True)
        ]

    def calibrated(self, scores: NDArray[np.floating]) -> NDArray[np.float64]:
        """The probabilities that scores stand for."""
        return self._decision.calibration.probabilities(scores)

    def scores(self, paragraphs: Sequence[Paragraph]) -> list[NDArray[np.float32]]:
        """For each paragraph a score a sentence, before any calibration."""
        found = [np.zeros(len(paragraph.sentences), np.float32) for paragraph in paragraphs]
        for at in range(0, len(paragraphs), _AT_ONCE):
            read = [
                (at + number, reading)
                for number, paragraph in enumerate(paragraphs[at : at + _AT_ONCE])
                for reading in self._readings(paragraph)
            ]
            work = list(batches([len(reading.tokens) for _, reading in read]))
            parts = [[read[place][1] for place in batch] for batch in work]
            for batch, rows in zip(work, threaded(self._judged, parts, self.threads), strict=True):
                for place, scores in zip(batch, rows, strict=True):
                    number, reading = read[place]
                    found[number][[index for index, _, _ in reading.sentences]] = scores
        return found

    def _readings(self, paragraph: Paragraph) -> Iterator[Reading]:
        if not paragraph.sentences:
            return iter(())
        heading = paragraph.headings[0] if paragraph.headings else paragraph.section_type or ""
        ids = [self._ids(text) for text in paragraph.sentences]
        return readings(ids, self._ids(heading), self._variant, self._frame)

    def _ids(self, text: str) -> list[int]:
        cleaned = " ".join(text[: self._facts.max_tokens * _CHARACTERS].split())
        found: list[int] = self._tokenizer.encode(
            cleaned.encode("utf-8", "replace").decode("utf-8"), add_special_tokens=False
        ).ids
        return found

    def _judged(self, part: Sequence[Reading]) -> list[NDArray[np.float32]]:
        """The scores of the sentences of readings that are equally long."""
        ids = np.array([reading.tokens for reading in part], np.int64)
        states = self._run(ids)
        return [self._read_out(own, reading) for own, reading in zip(states, part, strict=True)]

    def _read_out(self, states: NDArray[np.float32], reading: Reading) -> NDArray[np.float32]:
        if self._facts.readout == "separator":
            rows = states[[stop for _, _, stop in reading.sentences]]
        else:
            rows = np.stack([states[start : max(stop, start + 1)].mean(0) for _, start, stop in reading.sentences])
        return self._head.scores(rows)

    @cached_property
    def _frame(self) -> Frame:
        first, *_, separator = self._tokenizer.encode("a").ids
        return Frame(first, separator, self._facts.max_tokens)

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return tokens.opened(self._folder, None)

    @cached_property
    def _head(self) -> facts.Head:
        return facts.Head.read(self._folder)

    @cached_property
    def _run(self) -> Callable[[NDArray[np.int64]], NDArray[np.float32]]:
        """Token ids of readings to the state of every token."""
        if not (self._folder / MODEL).is_file():
            return _by_torch(self._folder)
        session = inference.session(self._folder / MODEL)
        return lambda ids: session.run(None, {"input_ids": ids})[0]


def _by_torch(folder: Path) -> Callable[[NDArray[np.int64]], NDArray[np.float32]]:
    """The same by torch: models that no graph can be built for are kept as they were trained."""
    hub.require("This worthiness model")
    torch = import_module("torch")
    model = hub.model_of(folder)

    def run(ids: NDArray[np.int64]) -> NDArray[np.float32]:
        with torch.inference_mode():
            found: NDArray[np.float32] = model(torch.from_numpy(ids)).last_hidden_state.numpy()
        return found

    return run
