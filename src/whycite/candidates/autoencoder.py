"""The adversarial autoencoder over sets of cited papers, as it is run: plain numpy (SCOPE 3.3)."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whycite.candidates.model import K, Paper, Part
from whycite.candidates.pool import Pool
from whycite.candidates.titlewords import TitleWords
from whycite.errors import UserError
from whycite.files import replacing

__all__ = ["LAYERS", "Autoencoder", "load", "save"]

_FORM = "whycite-autoencoder-1"
LAYERS = ("encoder", "encoder.hidden", "code", "decoder", "decoder.hidden", "papers")
"""Its layers in the order they are gone through; each has a weight (inputs x outputs) and a bias."""

Floats = NDArray[np.float32]


class Autoencoder:
    """Recommends what it reconstructs of a set beside what is in it; conditions stand beside the code."""

    def __init__(
        self,
        name: str,
        pool: Pool,
        weights: Mapping[str, Floats],
        titles: TitleWords | None = None,
        sections: tuple[str, ...] = (),
    ) -> None:
        self.name, self.pool, self.weights = name, pool, weights
        self.titles, self.sections = titles, sections

    def recommend(self, part: Part, k: int = K) -> list[tuple[str, float]]:
        """The papers that most likely belong to the set; the score is the probability the autoencoder gives."""
        return self.pool.best(self.scores(part), part, k)

    def scores(self, part: Part) -> Floats:
        """The probability of every paper of the pool, by place."""
        cited, weights = self.pool.places(part.cited), self.weights
        state = weights["encoder.bias"]
        if len(cited):
            state = state + weights["encoder.weight"][cited].mean(axis=0)
        state = np.maximum(state, 0)
        state = np.maximum(self._through("encoder.hidden", state), 0)
        state = np.concatenate([self._through("code", state), *self._conditions(part)])
        for layer in ("decoder", "decoder.hidden"):
            state = np.maximum(self._through(layer, state), 0)
        odds = np.exp(-np.clip(self._through("papers", state), -60, 60))
        return (1 / (1 + odds)).astype(np.float32)

    def _through(self, layer: str, state: Floats) -> Floats:
        # Not a matrix product: its last digits depend on the number of threads, which a busy machine waits for.
        found: Floats = np.einsum("i,ij->j", state, self.weights[f"{layer}.weight"]) + self.weights[f"{layer}.bias"]
        return found

    def _conditions(self, part: Part) -> list[Floats]:
        found = []
        if self.titles is not None:
            found.append(self.titles.vector(part.title))
        if self.sections:
            # The first row stands for a section whose type is not known.
            rows = [self.sections.index(type) if type in self.sections else 0 for type in part.section_types] or [0]
            found.append(self.weights["sections"][sorted(rows)].mean(axis=0))
        return found


def save(model: Autoencoder, path: Path) -> None:
    """Write all of it to one .npz file."""
    arrays: dict[str, Any] = {f"weights/{name}": values for name, values in model.weights.items()}
    about: dict[str, Any] = {
        "form": _FORM,
        "name": model.name,
        "sections": model.sections,
        "papers": [asdict(paper) for paper in model.pool.papers],
    }
    if model.titles is not None:
        about["words"] = model.titles.words
        arrays |= {"titles/weights": model.titles.weights, "titles/vectors": model.titles.vectors}
    arrays["about"] = np.frombuffer(json.dumps(about).encode(), np.uint8)
    with replacing(path) as file:
        np.savez(file, **arrays)


def load(path: Path) -> Autoencoder:
    """The autoencoder in a file."""
    try:
        # Opened here: numpy leaves a file open that turns out to be no archive.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            about = json.loads(arrays["about"].tobytes())
            if about["form"] != _FORM:
                raise ValueError(f"its form is {about['form']}")
            weights = {name.removeprefix("weights/"): arrays[name] for name in arrays if name.startswith("weights/")}
            titles = None
            if "words" in about:
                titles = TitleWords(about["words"], arrays["titles/weights"], arrays["titles/vectors"])
            pool = Pool(Paper(**paper) for paper in about["papers"])
    except (OSError, ValueError, LookupError, TypeError, AttributeError, EOFError, zipfile.BadZipFile) as error:
        raise UserError(f"{path} holds no autoencoder that can be read ({error}): train it again") from error
    return Autoencoder(about["name"], pool, weights, titles, tuple(about["sections"]))
