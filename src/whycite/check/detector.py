"""The detector of sentences that need a citation: protocol, model folder, bundled model, and what a model reads."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from whycite.check.calibration import BibliographyWeights, Calibration
from whycite.errors import UserError
from whycite.models.folders import HEAD, PACKED, TOKENIZER, WORTHINESS, ModelFolder, files_version, require_torch
from whycite.models.runtime import batches, map_threaded, thread_count

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = [
    "DEFAULT_DETECTOR",
    "MAX_SECTION_TOKENS",
    "VARIANTS",
    "Decision",
    "Detector",
    "DetectorDescription",
    "DetectorHead",
    "FolderDetector",
    "InputSegment",
    "InputVariant",
    "ModelReading",
    "ParagraphText",
    "Readout",
    "SectionText",
    "SequenceFrame",
    "Window",
    "bundled_detectors",
    "find_variant",
    "load_detector",
    "readings",
    "segments",
    "windows",
]


@dataclass(frozen=True, slots=True)
class ParagraphText:
    """Sentences without their citations, and the headings above them, outermost first."""

    sentences: tuple[str, ...]
    headings: tuple[str, ...] = ()
    section_type: str | None = None


class Detector(Protocol):
    """Estimates the probability that a sentence needs a citation."""

    @property
    def name(self) -> str:
        """Its name and version; probabilities of different versions are not comparable."""

    @property
    def thresholds(self) -> Mapping[str, float]:
        """The probability from which a sentence alone needs a citation, by section type; "" for all others."""

    @property
    def bibliography(self) -> BibliographyWeights | None:
        """The weights of a document's bibliography and the threshold to use with them, if fitted."""

    def worthiness(self, paragraphs: Sequence[ParagraphText]) -> list[NDArray[np.float64]]:
        """The probability of each sentence, by paragraph."""


Readout = Literal["mean", "separator", "start"]
SectionText = Literal["heading", "type"]


@dataclass(frozen=True, slots=True)
class Decision:
    """The calibration and thresholds for one kind of text."""

    calibration: Calibration
    thresholds: Mapping[str, float]  # for sentences alone, by section type; "" for all others
    bibliography: BibliographyWeights | None = (
        None  # the weights of a document's bibliography, and the threshold to use with them
    )
    reader: bool = False  # scores say what a reader would ask about, not what authors cite


@dataclass(frozen=True, slots=True)
class DetectorDescription:
    """How to use a worthiness model; its first decision is the default."""

    name: str
    variant: str
    readout: Readout
    max_tokens: int
    decisions: Mapping[str, Decision]
    section: SectionText = "heading"  # what it reads of a section

    def write(self, folder: Path) -> None:
        """Write the description to `worthiness.json` in a folder."""
        content = json.dumps(asdict(self), indent=2) + "\n"
        (folder / WORTHINESS.settings_file).write_text(content, encoding="utf-8")


@dataclass(frozen=True, slots=True)
class DetectorHead:
    """One hidden layer with tanh (SCOPE 3.2); one output says what authors cite, a second what a reader would ask."""

    hidden: NDArray[np.float32]
    hidden_bias: NDArray[np.float32]
    output: NDArray[np.float32]  # outputs x width
    output_bias: NDArray[np.float32]

    def scores(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """The score of each row: the logarithm of its odds."""
        return self._output(rows, 0)

    def reader_scores(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """The score of each row by what a reader would ask about, not by what authors cite."""
        if len(self.output) < 2:
            raise UserError("this worthiness model has no weights of a reader's judgement: copy its folder again")
        return self._output(rows, 1)

    def _output(self, rows: NDArray[np.float32], place: int) -> NDArray[np.float32]:
        if not len(rows):
            return np.zeros(0, np.float32)
        # Row by row: a matrix product adds in a different order, and a score must not depend on the other rows.
        inner = np.stack([self.hidden @ row for row in rows]) + self.hidden_bias
        return np.asarray((np.tanh(inner) * self.output[place]).sum(1) + self.output_bias[place], np.float32)

    def write(self, folder: Path) -> None:
        """Save the head in a folder, in 16 bits."""
        arrays: dict[str, Any] = {name: value.astype(np.float16) for name, value in asdict(self).items()}
        np.savez(folder / HEAD, **arrays)

    @classmethod
    def read(cls, folder: Path) -> DetectorHead:
        """Load the head in a folder."""
        try:
            with np.load(folder / HEAD, allow_pickle=False) as arrays:
                head = cls(**{name: array.astype(np.float32) for name, array in arrays.items()})
        except (OSError, ValueError, TypeError) as error:
            raise UserError(f"{folder / HEAD} cannot be read ({error}): copy the folder again") from error
        return replace(head, output=np.atleast_2d(head.output))  # one output was written as a row


def _read_description(files: ModelFolder) -> DetectorDescription:
    problem = f"{files.settings_path} does not say how the model is used"
    record = files.read_settings()
    try:
        decisions = {name: _decision_from_record(decision) for name, decision in record["decisions"].items()}
        description = DetectorDescription(
            str(record["name"]),
            str(record["variant"]),
            record["readout"],
            int(record["max_tokens"]),
            decisions,
            record.get("section", "heading"),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{problem} ({error!r}): copy the folder again") from error
    find_variant(description.variant)
    is_known = description.readout in get_args(Readout) and description.section in get_args(SectionText)
    if not decisions or not is_known or description.max_tokens < 64:
        raise UserError(f"{problem}: copy the folder again")
    return description


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
        bool(record.get("reader", False)),
    )


_PARAGRAPHS_AT_ONCE = 1024  # paragraphs whose readings are in memory at a time
_MAX_CHARACTERS = 32  # per token at most; the rest of a sentence is too long for the model and is cut off


class FolderDetector:
    """A detector in a folder, run on `threads` threads; model and tokenizer are loaded on first use.

    The result for a paragraph depends neither on other paragraphs nor on the number of threads.
    """

    def __init__(self, folder: Path, threads: int, decision: str | None = None) -> None:
        self.threads = threads
        self._files = ModelFolder(folder, WORTHINESS)
        self._description = _read_description(self._files)
        self._variant = find_variant(self._description.variant)
        chosen = decision or next(iter(self._description.decisions))
        if chosen not in self._description.decisions:
            names = ", ".join(self._description.decisions)
            raise UserError(f"'{self._description.name}' is not calibrated for '{chosen}'; use {names}")
        self._decision = self._description.decisions[chosen]
        weights = sorted(
            path for path in folder.iterdir() if path.suffix in (".onnx", ".safetensors") or path.name == PACKED
        )
        settings = (folder / name for name in (TOKENIZER, HEAD, WORTHINESS.settings_file))
        self.name = f"{self._description.name}@{files_version([*weights, *settings])}"
        self.name += "" if decision is None else f":{chosen}"

    @property
    def thresholds(self) -> Mapping[str, float]:
        """The probability from which a sentence alone needs a citation, by section type; "" for all others."""
        return self._decision.thresholds

    @property
    def bibliography(self) -> BibliographyWeights | None:
        """The weights of a document's bibliography and the threshold to use with them, if fitted."""
        return self._decision.bibliography

    @property
    def decision(self) -> Decision:
        """The calibration, thresholds and reading that are in use."""
        return self._decision

    @property
    def head(self) -> DetectorHead:
        """What turns the states of sentences into scores."""
        return self._head

    def worthiness(self, paragraphs: Sequence[ParagraphText]) -> list[NDArray[np.float64]]:
        """The probability of each sentence, by paragraph; 0 for a sentence without words."""
        return [
            np.where([any(map(str.isalpha, text)) for text in paragraph.sentences], self.probabilities(scores), 0.0)
            for paragraph, scores in zip(paragraphs, self.scores(paragraphs), strict=True)
        ]

    def probabilities(self, scores: NDArray[np.floating]) -> NDArray[np.float64]:
        """Calibrate scores."""
        return self._decision.calibration.probabilities(scores)

    def scores(self, paragraphs: Sequence[ParagraphText]) -> list[NDArray[np.float32]]:
        """The uncalibrated score of each sentence, by paragraph."""
        score = self._head.reader_scores if self._decision.reader else self._head.scores
        return [score(rows) for rows in self.states(paragraphs)]

    def states(self, paragraphs: Sequence[ParagraphText]) -> list[NDArray[np.float32]]:
        """What the head reads of each sentence, by paragraph."""
        width = self._head.hidden.shape[1]
        paragraph_states = [np.zeros((len(paragraph.sentences), width), np.float32) for paragraph in paragraphs]
        for start in range(0, len(paragraphs), _PARAGRAPHS_AT_ONCE):
            numbered_readings = [
                (start + number, reading)
                for number, paragraph in enumerate(paragraphs[start : start + _PARAGRAPHS_AT_ONCE])
                for reading in self._readings(paragraph)
            ]
            work = list(batches([len(reading.tokens) for _, reading in numbered_readings]))
            parts = [[numbered_readings[place][1] for place in batch] for batch in work]
            for batch, rows in zip(work, map_threaded(self._read_states, parts, self.threads), strict=True):
                for place, states in zip(batch, rows, strict=True):
                    number, reading = numbered_readings[place]
                    paragraph_states[number][[index for index, _, _ in reading.sentences]] = states
        return paragraph_states

    def _readings(self, paragraph: ParagraphText) -> Iterator[ModelReading]:
        if not paragraph.sentences:
            return iter(())
        heading = paragraph.section_type or ""
        if paragraph.headings and self._description.section == "heading":
            heading = paragraph.headings[0]
        ids = [self._token_ids(text) for text in paragraph.sentences]
        return readings(ids, self._token_ids(heading), self._variant, self._frame)

    def _token_ids(self, text: str) -> list[int]:
        cleaned = " ".join(text[: self._description.max_tokens * _MAX_CHARACTERS].split())
        ids: list[int] = self._tokenizer.encode(
            cleaned.encode("utf-8", "replace").decode("utf-8"), add_special_tokens=False
        ).ids
        return ids

    def _read_states(self, part: Sequence[ModelReading]) -> list[NDArray[np.float32]]:
        """The states of the sentences in readings of equal length."""
        ids = np.array([reading.tokens for reading in part], np.int64)
        return [self._read_out(states, reading) for states, reading in zip(self._run(ids), part, strict=True)]

    def _read_out(self, states: NDArray[np.float32], reading: ModelReading) -> NDArray[np.float32]:
        if self._description.readout == "separator":
            return states[[stop for _, _, stop in reading.sentences]]
        if self._description.readout == "start":
            return states[[0] * len(reading.sentences)]
        return np.stack([states[start : max(stop, start + 1)].mean(0) for _, start, stop in reading.sentences])

    @cached_property
    def _frame(self) -> SequenceFrame:
        start_token, *_, separator = self._tokenizer.encode("a").ids
        return SequenceFrame(start_token, separator, self._description.max_tokens)

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return self._files.open_tokenizer()

    @cached_property
    def _head(self) -> DetectorHead:
        return DetectorHead.read(self._files.path)

    @cached_property
    def _run(self) -> Callable[[NDArray[np.int64]], NDArray[np.float32]]:
        """The function from the token ids of readings to the state of each token."""
        if self._files.is_onnx:
            session = self._files.open_session()
            return lambda ids: session.run(None, {"input_ids": ids})[0]
        # Models that cannot be exported to ONNX stay in the format they were trained in.
        require_torch("This worthiness model")
        torch, model = import_module("torch"), self._files.open_torch_model()

        def run(ids: NDArray[np.int64]) -> NDArray[np.float32]:
            with torch.inference_mode():
                states: NDArray[np.float32] = model(torch.from_numpy(ids)).last_hidden_state.numpy()
            return states

        return run


# -- what a model reads: variants, windows of long paragraphs, token sequences ---


@dataclass(frozen=True, slots=True)
class InputVariant:
    """Whether a sentence is read within its paragraph, and where its section goes."""

    name: str
    context: bool
    section: Literal["none", "extra", "first", "always"]


VARIANTS: tuple[InputVariant, ...] = (
    InputVariant("ctx", True, "none"),
    InputVariant("ctx-section-extra", True, "extra"),
    InputVariant("ctx-section-first", True, "first"),
    InputVariant("ctx-section-always", True, "always"),
    InputVariant("solo", False, "none"),
    InputVariant("solo-section-extra", False, "extra"),
    InputVariant("solo-section-firstalways", False, "always"),
)


@dataclass(frozen=True, slots=True)
class InputSegment:
    """The text before a separator: a sentence by its index, the section, or both."""

    section: bool
    sentence: int | None


def find_variant(name: str) -> InputVariant:
    """The variant of that name."""
    for variant in VARIANTS:
        if variant.name == name:
            return variant
    raise UserError(f"no input variant '{name}'; choose one of: {', '.join(variant.name for variant in VARIANTS)}")


def segments(variant: InputVariant, sentences: Sequence[int]) -> tuple[InputSegment, ...]:
    """The segments of one pass over sentences of a paragraph; a solo variant takes one sentence.

    ctx is "[CLS] sent [SEP] sent [SEP]", -extra "[CLS] sec [SEP] sent [SEP]", -first "[CLS] sec sent [SEP] sent [SEP]",
    -always "[CLS] sec sent [SEP] sec sent [SEP]".
    """
    if not variant.context and len(sentences) != 1:
        raise ValueError(f"{variant.name} reads one sentence at a time, not {len(sentences)}")
    always, is_first_only = variant.section == "always", variant.section == "first"
    extra = (InputSegment(True, None),) if variant.section == "extra" else ()
    return extra + tuple(
        InputSegment(always or (is_first_only and position == 0), index) for position, index in enumerate(sentences)
    )


@dataclass(frozen=True, slots=True)
class Window:
    """Sentences `start` to `stop` are read together; `judged_start` to `judged_stop` of them are judged."""

    start: int
    stop: int
    judged_start: int
    judged_stop: int


def windows(lengths: Sequence[int], limit: int, context: int | None = None) -> Iterator[Window]:
    """Windows of at most `limit` tokens; `lengths` are those of the sentences with their separators.

    Windows overlap, so that each sentence is judged with `context` tokens around it if possible, by default an eighth
    of the limit. A sentence longer than the limit has its own window.
    """
    if limit < 1:
        raise ValueError(f"a window needs room for at least one token, not {limit}")
    room = limit // 8 if context is None else context
    judged_start = 0
    while judged_start < len(lengths):
        start, used = judged_start, 0
        while (
            start and used + lengths[start - 1] <= room and used + lengths[start - 1] + lengths[judged_start] <= limit
        ):
            start -= 1
            used += lengths[start]
        stop = judged_start
        while stop < len(lengths) and (stop == judged_start or used + lengths[stop] <= limit):
            used += lengths[stop]
            stop += 1
        judged_stop = stop
        if stop < len(lengths):
            trailing_tokens = 0
            while judged_stop - 1 > judged_start and trailing_tokens + lengths[judged_stop - 1] <= room:
                judged_stop -= 1
                trailing_tokens += lengths[judged_stop]
        yield Window(start, stop, judged_start, judged_stop)
        judged_start = judged_stop


Tokens = Sequence[int]
MAX_SECTION_TOKENS = 48  # of a heading; the rest of a longer one is not read


@dataclass(frozen=True, slots=True)
class SequenceFrame:
    """The special tokens of a sequence, and its maximum length."""

    start_token: int  # "<s>" or "[CLS]"
    separator: int  # "</s>" or "[SEP]"
    limit: int


@dataclass(frozen=True, slots=True)
class ModelReading:
    """One pass: its tokens, and for every judged sentence its index and the range of its tokens.

    The separator of a sentence follows its range.
    """

    tokens: tuple[int, ...]
    sentences: tuple[tuple[int, int, int], ...]


def readings(
    sentences: Sequence[Tokens], section: Tokens, variant: InputVariant, frame: SequenceFrame
) -> Iterator[ModelReading]:
    """The passes that judge every sentence of a paragraph once: one, if the paragraph fits."""
    section = section[:MAX_SECTION_TOKENS] if variant.section != "none" else ()
    section_length = len(section) if variant.section == "always" else 0
    room = frame.limit - 1 - (len(section) + 1 if variant.section in ("extra", "first") else 0)
    longest = room - section_length - 1
    if longest < 1:
        raise ValueError(f"a limit of {frame.limit} tokens leaves no room for a sentence")
    cut = [sentence[:longest] for sentence in sentences]
    if not variant.context:
        yield from (_reading(cut, [index], [index], section, variant, frame) for index in range(len(cut)))
        return
    for window in windows([len(sentence) + 1 + section_length for sentence in cut], room):
        read, judged = range(window.start, window.stop), range(window.judged_start, window.judged_stop)
        yield _reading(cut, read, judged, section, variant, frame)


def _reading(
    sentences: Sequence[Tokens],
    read: Sequence[int],
    judged: Sequence[int],
    section: Tokens,
    variant: InputVariant,
    frame: SequenceFrame,
) -> ModelReading:
    tokens = [frame.start_token]
    places = []
    for segment in segments(variant, read):
        if segment.section:
            tokens += section
        if segment.sentence is not None:
            start = len(tokens)
            tokens += sentences[segment.sentence]
            if segment.sentence in judged:
                places.append((segment.sentence, start, len(tokens)))
        tokens.append(frame.separator)
    return ModelReading(tuple(tokens), tuple(places))


# -- the bundled model ---------------------------------------------------------

DEFAULT_DETECTOR = "worthiness-30m"


def bundled_detectors() -> list[str]:
    """The names of the bundled detectors."""
    return WORTHINESS.bundled()


def load_detector(name: str | Path | None = None, threads: int | None = None, decision: str | None = None) -> Detector:
    """Load a detector by name or folder, once; `threads` defaults to all cores.

    `decision` is the kind of text to calibrate for: "drafts" (the default of the bundled one) or "articles".
    """
    return _open_detector(name or DEFAULT_DETECTOR, thread_count(threads), decision)


@cache
def _open_detector(name: str | Path, threads: int, decision: str | None) -> Detector:
    return FolderDetector(WORTHINESS.find(name), threads, decision)
