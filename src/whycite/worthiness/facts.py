"""What is known of the worthiness model in a folder: `worthiness.json`, its head, and the version they give it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from whycite.encoders.facts import MODEL, TOKENIZER
from whycite.encoders.hub import CONFIG
from whycite.errors import UserError
from whycite.worthiness.bibliography import Bibliography
from whycite.worthiness.calibration import Calibration
from whycite.worthiness.variants import variant

__all__ = ["FACTS", "HEAD", "Decision", "Facts", "Head", "Readout", "read", "version"]

FACTS, HEAD = "worthiness.json", "head.npz"
Readout = Literal["mean", "separator"]


@dataclass(frozen=True, slots=True)
class Decision:
    """How scores become probabilities in texts of a kind, and from which on a sentence needs a citation there."""

    calibration: Calibration
    thresholds: Mapping[str, float]  # of sentences alone, by section type; "" for all others
    bibliography: Bibliography | None = None  # what that of a document counts, and the threshold where they are read


@dataclass(frozen=True, slots=True)
class Facts:
    """How a worthiness model is to be used; the first of its decisions is the usual one."""

    name: str
    variant: str
    readout: Readout
    max_tokens: int
    decisions: Mapping[str, Decision]

    def write(self, folder: Path) -> None:
        """Put them into the folder's `worthiness.json`."""
        (folder / FACTS).write_text(json.dumps(asdict(self), indent=2) + "\n", encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Head:
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
        np.savez(folder / HEAD, **arrays)

    @classmethod
    def read(cls, folder: Path) -> Head:
        """The head in a folder."""
        try:
            with np.load(folder / HEAD, allow_pickle=False) as found:
                return cls(**{name: found[name].astype(np.float32) for name in cls.__slots__})
        except (OSError, ValueError, KeyError) as error:
            raise UserError(f"{folder / HEAD} cannot be read ({error}): copy the folder again") from error


def read(folder: Path) -> Facts:
    """The facts of the worthiness model in a folder."""
    model = MODEL if not (folder / CONFIG).is_file() else CONFIG
    for name in (model, TOKENIZER, FACTS, HEAD):
        if not (folder / name).is_file():
            raise UserError(
                f"{folder} has no {name}: it holds no worthiness model; 'whycite train worthiness' makes one"
            )
    path = folder / FACTS
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        decisions = {name: _decision(own) for name, own in found["decisions"].items()}
        made = Facts(str(found["name"]), str(found["variant"]), found["readout"], int(found["max_tokens"]), decisions)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{path} does not say how the model is used ({error!r}): copy the folder again") from error
    variant(made.variant)
    if not decisions or made.readout not in get_args(Readout) or made.max_tokens < 64:
        raise UserError(f"{path} does not say how the model is used: copy the folder again")
    return made


def version(folder: Path) -> str:
    """Eight hex digits from everything that probabilities depend on."""
    digest = hashlib.sha256()
    models = sorted(path for path in folder.iterdir() if path.suffix in (".onnx", ".safetensors"))
    for path in (*models, *(folder / name for name in (TOKENIZER, HEAD, FACTS))):
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:8]


def _decision(found: Mapping[str, Any]) -> Decision:
    calibration = Calibration(float(found["calibration"]["scale"]), float(found["calibration"]["shift"]))
    thresholds = {str(type): float(value) for type, value in found["thresholds"].items()}
    if "" not in thresholds:
        raise ValueError("no threshold for all sections")
    weights = found.get("bibliography")
    return Decision(
        calibration,
        thresholds,
        Bibliography(**{name: float(value) for name, value in weights.items()}) if weights else None,
    )
