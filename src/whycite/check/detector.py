"""The detector of sentences that need a citation: its protocol, its folder, the bundled one."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from whycite.check.calibration import BibliographyWeights, Calibration
from whycite.check.modelinputs import ModelReading, SequenceFrame, find_variant, readings
from whycite.errors import UserError
from whycite.models import hub, runtime
from whycite.models.hub import CONFIG
from whycite.models.runtime import MODEL, TOKENIZER, batches, map_threaded

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = [
    "DEFAULT_DETECTOR",
    "DESCRIPTION_FILE",
    "HEAD_FILE",
    "Decision",
    "Detector",
    "DetectorDescription",
    "DetectorHead",
    "FolderDetector",
    "ParagraphText",
    "Readout",
    "bundled_detectors",
    "load_detector",
    "model_version",
    "read_description",
]


@dataclass(frozen=True, slots=True)
class ParagraphText:
    """Sentences without their citations, with the headings above them, the outermost first."""

    sentences: tuple[str, ...]
    headings: tuple[str, ...] = ()
    section_type: str | None = None


class Detector(Protocol):
    """Gives each sentence the probability that it needs a citation."""

    @property
    def name(self) -> str:
        """With a version: what two versions say does not compare."""

    @property
    def thresholds(self) -> Mapping[str, float]:
        """From which probability on a sentence alone needs one, by section type; "" for all others."""

    @property
    def bibliography(self) -> BibliographyWeights | None:
        """What a document's bibliography counts, and the threshold of all documents then, where that was learned."""

    def worthiness(self, paragraphs: Sequence[ParagraphText]) -> list[NDArray[np.float64]]:
        """For each paragraph a probability a sentence."""


DESCRIPTION_FILE, HEAD_FILE = "worthiness.json", "head.npz"
Readout = Literal["mean", "separator"]


@dataclass(frozen=True, slots=True)
class Decision:
    """How scores become probabilities in texts of a kind, and from which on a sentence needs a citation there."""

    calibration: Calibration
    thresholds: Mapping[str, float]  # of sentences alone, by section type; "" for all others
    bibliography: BibliographyWeights | None = (
        None  # what that of a document counts, and the threshold where they are read
    )


@dataclass(frozen=True, slots=True)
class DetectorDescription:
    """How a worthiness model is to be used; the first of its decisions is the usual one."""

    name: str
    variant: str
    readout: Readout
    max_tokens: int
    decisions: Mapping[str, Decision]

    def write(self, folder: Path) -> None:
        """Put them into the folder's `worthiness.json`."""
        (folder / DESCRIPTION_FILE).write_text(json.dumps(asdict(self), indent=2) + "\n", encoding="utf-8")


@dataclass(frozen=True, slots=True)
class DetectorHead:
    """One hidden layer with tanh, and one output (SCOPE 3.2)."""

    hidden: NDArray[np.float32]
    hidden_bias: NDArray[np.float32]
    output: NDArray[np.float32]
    output_bias: NDArray[np.float32]

    def scores(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """The score of each row: the logarithm of its odds."""
        # Row by row: a product of many rows adds in another order, and a score must not depend on those beside it.
        inner = np.stack([self.hidden @ row for row in rows]) + self.hidden_bias
        return np.asarray((np.tanh(inner) * self.output).sum(1) + self.output_bias, np.float32)

    def write(self, folder: Path) -> None:
        """Put it into the folder, in 16 bits."""
        arrays: dict[str, Any] = {name: value.astype(np.float16) for name, value in asdict(self).items()}
        np.savez(folder / HEAD_FILE, **arrays)

    @classmethod
    def read(cls, folder: Path) -> DetectorHead:
        """The head in a folder."""
        try:
            with np.load(folder / HEAD_FILE, allow_pickle=False) as arrays:
                return cls(**{name: arrays[name].astype(np.float32) for name in cls.__slots__})
        except (OSError, ValueError, KeyError) as error:
            raise UserError(f"{folder / HEAD_FILE} cannot be read ({error}): copy the folder again") from error


def read_description(folder: Path) -> DetectorDescription:
    """The facts of the worthiness model in a folder."""
    model = MODEL if not (folder / CONFIG).is_file() else CONFIG
    for name in (model, TOKENIZER, DESCRIPTION_FILE, HEAD_FILE):
        if not (folder / name).is_file():
            raise UserError(
                f"{folder} has no {name}: it holds no worthiness model; 'whycite train worthiness' makes one"
            )
    path = folder / DESCRIPTION_FILE
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        decisions = {name: _decision_from_record(decision) for name, decision in record["decisions"].items()}
        description = DetectorDescription(
            str(record["name"]), str(record["variant"]), record["readout"], int(record["max_tokens"]), decisions
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{path} does not say how the model is used ({error!r}): copy the folder again") from error
    find_variant(description.variant)
    if not decisions or description.readout not in get_args(Readout) or description.max_tokens < 64:
        raise UserError(f"{path} does not say how the model is used: copy the folder again")
    return description


def model_version(folder: Path) -> str:
    """Eight hex digits from everything that probabilities depend on."""
    digest = hashlib.sha256()
    models = sorted(path for path in folder.iterdir() if path.suffix in (".onnx", ".safetensors"))
    for path in (*models, *(folder / name for name in (TOKENIZER, HEAD_FILE, DESCRIPTION_FILE))):
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:8]


def _decision_from_record(record: Mapping[str, Any]) -> Decision:
    calibration = Calibration(float(record["calibration"]["scale"]), float(record["calibration"]["shift"]))
    thresholds = {str(type): float(value) for type, value in record["thresholds"].items()}
    if "" not in thresholds:
        raise ValueError("no threshold for all sections")
    weights = record.get("bibliography")
    return Decision(
        calibration,
        thresholds,
        BibliographyWeights(**{name: float(value) for name, value in weights.items()}) if weights else None,
    )


_PARAGRAPHS_AT_ONCE = 1024  # paragraphs whose readings are held at a time
_MAX_CHARACTERS = 32  # a token has at most: no more of a sentence is looked at than can be read


class FolderDetector:
    """Reads paragraphs on `threads` threads; model and tokenizer are opened when they are first needed.

    What it says of a paragraph is the same whatever paragraphs are beside it, and on any number of threads.
    """

    def __init__(self, folder: Path, threads: int, decision: str | None = None) -> None:
        self._folder, self.threads = folder, threads
        self._description = read_description(folder)
        self._variant = find_variant(self._description.variant)
        chosen = decision or next(iter(self._description.decisions))
        if chosen not in self._description.decisions:
            names = ", ".join(self._description.decisions)
            raise UserError(f"'{self._description.name}' is not calibrated for '{chosen}'; there are: {names}")
        self._decision = self._description.decisions[chosen]
        self.name = f"{self._description.name}@{model_version(folder)}" + ("" if decision is None else f":{chosen}")

    @property
    def thresholds(self) -> Mapping[str, float]:
        """From which probability on a sentence alone needs a citation, by section type; "" for all others."""
        return self._decision.thresholds

    @property
    def bibliography(self) -> BibliographyWeights | None:
        """What a document's bibliography counts, and the threshold of all documents then, where that was learned."""
        return self._decision.bibliography

    def worthiness(self, paragraphs: Sequence[ParagraphText]) -> list[NDArray[np.float64]]:
        """For each paragraph a probability a sentence; 0 for one without a word."""
        return [
            np.where([any(map(str.isalpha, text)) for text in paragraph.sentences], self.probabilities(scores), 0.0)
            for paragraph, scores in zip(paragraphs, self.scores(paragraphs), strict=True)
        ]

    def probabilities(self, scores: NDArray[np.floating]) -> NDArray[np.float64]:
        """The probabilities that scores stand for."""
        return self._decision.calibration.probabilities(scores)

    def scores(self, paragraphs: Sequence[ParagraphText]) -> list[NDArray[np.float32]]:
        """For each paragraph a score a sentence, before any calibration."""
        paragraph_scores = [np.zeros(len(paragraph.sentences), np.float32) for paragraph in paragraphs]
        for start in range(0, len(paragraphs), _PARAGRAPHS_AT_ONCE):
            numbered_readings = [
                (start + number, reading)
                for number, paragraph in enumerate(paragraphs[start : start + _PARAGRAPHS_AT_ONCE])
                for reading in self._readings(paragraph)
            ]
            work = list(batches([len(reading.tokens) for _, reading in numbered_readings]))
            parts = [[numbered_readings[place][1] for place in batch] for batch in work]
            for batch, rows in zip(work, map_threaded(self._score_readings, parts, self.threads), strict=True):
                for place, scores in zip(batch, rows, strict=True):
                    number, reading = numbered_readings[place]
                    paragraph_scores[number][[index for index, _, _ in reading.sentences]] = scores
        return paragraph_scores

    def _readings(self, paragraph: ParagraphText) -> Iterator[ModelReading]:
        if not paragraph.sentences:
            return iter(())
        heading = paragraph.headings[0] if paragraph.headings else paragraph.section_type or ""
        ids = [self._token_ids(text) for text in paragraph.sentences]
        return readings(ids, self._token_ids(heading), self._variant, self._frame)

    def _token_ids(self, text: str) -> list[int]:
        cleaned = " ".join(text[: self._description.max_tokens * _MAX_CHARACTERS].split())
        ids: list[int] = self._tokenizer.encode(
            cleaned.encode("utf-8", "replace").decode("utf-8"), add_special_tokens=False
        ).ids
        return ids

    def _score_readings(self, part: Sequence[ModelReading]) -> list[NDArray[np.float32]]:
        """The scores of the sentences of readings that are equally long."""
        ids = np.array([reading.tokens for reading in part], np.int64)
        states = self._run(ids)
        return [self._read_out(token_states, reading) for token_states, reading in zip(states, part, strict=True)]

    def _read_out(self, states: NDArray[np.float32], reading: ModelReading) -> NDArray[np.float32]:
        if self._description.readout == "separator":
            rows = states[[stop for _, _, stop in reading.sentences]]
        else:
            rows = np.stack([states[start : max(stop, start + 1)].mean(0) for _, start, stop in reading.sentences])
        return self._head.scores(rows)

    @cached_property
    def _frame(self) -> SequenceFrame:
        start_token, *_, separator = self._tokenizer.encode("a").ids
        return SequenceFrame(start_token, separator, self._description.max_tokens)

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return runtime.open_tokenizer(self._folder, None)

    @cached_property
    def _head(self) -> DetectorHead:
        return DetectorHead.read(self._folder)

    @cached_property
    def _run(self) -> Callable[[NDArray[np.int64]], NDArray[np.float32]]:
        """Token ids of readings to the state of every token."""
        if not (self._folder / MODEL).is_file():
            return _by_torch(self._folder)
        session = runtime.open_session(self._folder / MODEL)
        return lambda ids: session.run(None, {"input_ids": ids})[0]


def _by_torch(folder: Path) -> Callable[[NDArray[np.int64]], NDArray[np.float32]]:
    """The same by torch: models that no graph can be built for are kept as they were trained."""
    hub.require("This worthiness model")
    torch = import_module("torch")
    model = hub.model_of(folder)

    def run(ids: NDArray[np.int64]) -> NDArray[np.float32]:
        with torch.inference_mode():
            states: NDArray[np.float32] = model(torch.from_numpy(ids)).last_hidden_state.numpy()
        return states

    return run


DEFAULT_DETECTOR = "worthiness-30m"
_MODELS = Path(__file__).resolve().parents[1] / "models"


def bundled_detectors() -> list[str]:
    """The names of the detectors that come with whycite."""
    return sorted(path.parent.name for path in _MODELS.glob(f"*/{DESCRIPTION_FILE}"))


def load_detector(name: str | Path | None = None, threads: int | None = None, decision: str | None = None) -> Detector:
    """The detector of that name, or in that folder; the same object each time. `threads`: by default all cores.

    `decision` is the kind of text it is to be calibrated for: "drafts" (as the bundled one is) or "articles".
    """
    if threads is not None and threads < 1:
        raise UserError(f"threads must be 1 or more, not {threads}")
    return _load_detector(name or DEFAULT_DETECTOR, threads or _cores(), decision)


@cache
def _load_detector(name: str | Path, threads: int, decision: str | None) -> Detector:
    folder = _MODELS / name if name in bundled_detectors() else Path(name)
    if not folder.is_dir():
        names = ", ".join(bundled_detectors())
        raise UserError(f"no worthiness model '{name}'; there are: {names}, or the path of a folder that holds one")
    return FolderDetector(folder, threads, decision)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
