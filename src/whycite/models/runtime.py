"""A model's folder and how it runs: settings and version, tokenizer, batches and threads, ONNX session."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from threading import local
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from whycite.errors import UserError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = [
    "ENCODER_SETTINGS",
    "MODEL",
    "TOKENIZER",
    "ModelSettings",
    "OnnxModel",
    "Pooling",
    "batches",
    "check_settings",
    "clean_input",
    "disable_threads",
    "map_threaded",
    "model_version",
    "open_model",
    "open_session",
    "open_tokenizer",
    "read_settings",
]


MODEL, TOKENIZER, ENCODER_SETTINGS = "model.onnx", "tokenizer.json", "encoder.json"
Pooling = Literal["cls", "mean"]


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """How an encoder is to be used; `version` and `dimensions` may be left open."""

    name: str
    version: str = ""
    dimensions: int = 0
    max_tokens: int = 256
    pooling: Pooling = "cls"
    prefix: str = ""

    def write(self, folder: Path, file: str = ENCODER_SETTINGS) -> None:
        """Put them into the folder's `encoder.json`, or another file."""
        (folder / file).write_text(json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def read_settings(folder: Path, file: str = ENCODER_SETTINGS) -> ModelSettings:
    """The facts of the encoder in a folder; without an `encoder.json` they are those of most encoders."""
    for name in (MODEL, TOKENIZER):
        if not (folder / name).is_file():
            raise UserError(f"{folder} has no {name}: the folder of an encoder holds {MODEL} and {TOKENIZER}")
    path = folder / file
    if not path.is_file():
        return ModelSettings(folder.resolve().name)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UserError(f"{path} is not JSON ({error}): mend or remove it") from error
    if not isinstance(content, dict):
        raise UserError(f"{path} holds no JSON object: mend or remove it")
    return check_settings(path, {"name": folder.resolve().name, **content})


def model_version(folder: Path, settings: ModelSettings) -> str:
    """Eight hex digits from everything that vectors depend on: the model, the tokenizer, how they are used."""
    digest = hashlib.sha256(json.dumps([settings.max_tokens, settings.pooling, settings.prefix]).encode())
    for name in (MODEL, TOKENIZER):
        with (folder / name).open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:8]


def check_settings(path: Path, content: dict[str, object]) -> ModelSettings:
    """The facts that a file holds, if they are such."""
    defaults = asdict(ModelSettings(""))
    for key, value in content.items():
        if key not in defaults:
            raise UserError(f"{path} has '{key}', which is not known; there are: {', '.join(defaults)}")
        if type(value) is not type(defaults[key]):
            kind = "text" if isinstance(defaults[key], str) else "a whole number"
            raise UserError(f"{path} has {value!r} as '{key}': it must be {kind}")
    settings = ModelSettings(**content)  # type: ignore[arg-type]  # checked above
    if settings.pooling not in get_args(Pooling):
        raise UserError(f"{path} has '{settings.pooling}' as 'pooling'; there are: {', '.join(get_args(Pooling))}")
    if settings.max_tokens < 3:
        raise UserError(f"{path} has {settings.max_tokens} as 'max_tokens': it must be 3 or more")
    return settings


_CHARACTERS_A_TOKEN = 32  # prose has five: no more of a text is looked at than can have a token


def open_tokenizer(folder: Path, max_tokens: int | None) -> Tokenizer:
    """The folder's tokenizer, cutting at so many tokens."""
    path = folder / TOKENIZER
    try:
        tokenizer = _copy_tokenizer(_parse_tokenizer(path.read_bytes()))
    except Exception as error:  # it raises nothing more exact
        raise UserError(f"{path} is no tokenizer that can be read ({error}): copy the folder again") from error
    if max_tokens:
        tokenizer.enable_truncation(max_tokens)
    return tokenizer


@lru_cache(maxsize=2)
def _parse_tokenizer(content: bytes) -> Tokenizer:
    """A tokenizer's file, read once: models of one family have the same, and it takes longer than the model's."""
    from tokenizers import Tokenizer

    return Tokenizer.from_buffer(content)


def _copy_tokenizer(read: Tokenizer) -> Tokenizer:
    """The same tokenizer for one user: words and rules are shared, where it cuts is not; it pads nothing."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer(read.model)
    for part in ("normalizer", "pre_tokenizer", "post_processor", "decoder"):
        if (rule := getattr(read, part)) is not None:
            setattr(tokenizer, part, rule)
    for _, token in sorted(read.get_added_tokens_decoder().items()):
        (tokenizer.add_special_tokens if token.special else tokenizer.add_tokens)([token])
    return tokenizer


def clean_input(text: str, settings: ModelSettings) -> str:
    """A text as it is encoded: single blanks, no half characters, no longer than can matter, the prefix in front."""
    text = " ".join(text.split())[: settings.max_tokens * _CHARACTERS_A_TOKEN]
    return settings.prefix + text.encode("utf-8", "replace").decode("utf-8")


Work = TypeVar("Work")
Output = TypeVar("Output")
BATCH_TOKENS = 256  # in a batch; what comes out of its widest layer still fits a core's own cache
_THREAD = local()


def batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Indices of texts of the same length in tokens, the longest first, at most `TOKENS` together.

    Nothing is ever padded, so no text's vector depends on the texts beside it. Texts of a few hundred are enough to
    fill batches, and half-filled ones cost little: 64 tokens together run within 5 % of the speed of 256.
    """
    by_length: dict[int, list[int]] = defaultdict(list)
    for index, length in enumerate(lengths):
        by_length[length].append(index)
    for length in sorted(by_length, reverse=True):
        size = max(1, BATCH_TOKENS // max(1, length))
        yield from (by_length[length][start : start + size] for start in range(0, len(by_length[length]), size))


def disable_threads() -> None:
    """Let the thread that calls this do all its work itself from now on: for one of many that have enough to do."""
    _THREAD.kept = True


def map_threaded(function: Callable[[Work], Output], work: Sequence[Work], threads: int) -> Iterator[Output]:
    """The function of each piece of work, in order, on so many threads."""
    if threads == 1 or len(work) == 1 or getattr(_THREAD, "kept", False):
        yield from map(function, work)
        return
    pool = ThreadPoolExecutor(max(1, min(threads, len(work))), "whycite-model")
    try:
        yield from pool.map(function, work)
    finally:
        pool.shutdown(cancel_futures=True)


_CONSTANT_INPUTS = {"attention_mask": 1, "token_type_ids": 0}  # inputs whose values are known: no text is padded


@dataclass(frozen=True, slots=True)
class OnnxModel:
    """An opened model; it may be run from several threads at once, each run takes one."""

    session: Any
    inputs: tuple[str, ...]
    dimensions: int
    settings: ModelSettings

    def vectors(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """The unit vectors of texts that have equally many tokens, one row each."""
        if not ids.size:  # tokenizers that mark no beginning make nothing of an empty text
            return np.zeros((len(ids), self.dimensions), np.float32)
        feed = {
            name: np.full_like(ids, _CONSTANT_INPUTS[name]) if name in _CONSTANT_INPUTS else ids for name in self.inputs
        }
        output: NDArray[np.float32] = self.session.run(None, feed)[0]
        if output.ndim == 3:  # of every token; a model of our own pools itself
            output = output[:, 0] if self.settings.pooling == "cls" else output.mean(1)
        lengths = np.linalg.norm(output, axis=1, keepdims=True)
        return np.asarray(output / np.maximum(lengths, 1e-30), np.float32)


def open_session(path: Path) -> Any:
    """A session of the runtime that runs the model there."""
    import onnxruntime  # type: ignore[import-untyped]

    options = onnxruntime.SessionOptions()
    # Threads run whole batches (see `threaded`): that is faster than sharing one, and gives the same numbers.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its errors have no class of their own in common
        raise UserError(f"{path} is no model that can be run ({error}): copy or export it again") from error


def open_model(folder: Path, settings: ModelSettings) -> OnnxModel:
    """The folder's encoder."""
    path = folder / MODEL
    onnx_session = open_session(path)
    inputs = tuple(node.name for node in onnx_session.get_inputs())
    unknown = set(inputs) - {"input_ids", *_CONSTANT_INPUTS}
    if unknown or "input_ids" not in inputs:
        raise UserError(f"{path} takes {', '.join(inputs)}: an encoder takes input_ids, attention_mask, token_type_ids")
    return OnnxModel(onnx_session, inputs, _dimensions(path, onnx_session.get_outputs()[0].shape, settings), settings)


def _dimensions(path: Path, shape: list[int | str | None], settings: ModelSettings) -> int:
    """How long vectors are, from the model or, where it leaves that open, from `encoder.json`."""
    if len(shape) not in (2, 3):
        raise UserError(f"{path} gives an output of {len(shape)} axes: an encoder gives one vector a text or a token")
    dimensions = shape[-1] if isinstance(shape[-1], int) else settings.dimensions
    if not dimensions:
        raise UserError(
            f"{path} does not say how long its vectors are: write it as 'dimensions' into {ENCODER_SETTINGS}"
        )
    if settings.dimensions not in (0, dimensions):
        raise UserError(
            f"{path} gives vectors of {dimensions}, not of {settings.dimensions} as {ENCODER_SETTINGS} says: mend it"
        )
    return dimensions
