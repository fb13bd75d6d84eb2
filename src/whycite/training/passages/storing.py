"""A trained model in a folder: weights, what it is made of, its words, and a card."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import numpy as np
import torch

from whycite.errors import UserError
from whycite.files import make_folder, replacing
from whycite.training.cards import named
from whycite.training.passages.networks import Network
from whycite.training.passages.recipe import Recipe
from whycite.training.passages.scoring import PassageModel
from whycite.training.passages.vectors import Lexicon, of_encoder

__all__ = ["config_of", "load", "save"]

_CONFIG, _WEIGHTS, _WORDS = "passages.json", "weights.pt", "words.npz"


def save(
    folder: Path,
    model: PassageModel,
    data: Mapping[str, object],
    measured: Sequence[Mapping[str, float]],
    figures: Mapping[str, float],
) -> None:
    """Write the folder: vectors of a file go with it, those of an encoder stay where they are."""
    make_folder(folder)
    lexicon = model.lexicon
    if lexicon.tokenizer is None:
        with replacing(folder / _WORDS) as file:
            np.savez(file, words=np.array(list(lexicon.numbers)), vectors=lexicon.vectors.astype(np.float16))
    with replacing(folder / _WEIGHTS) as file:
        torch.save({name: weight.cpu() for name, weight in model.network.learned().items()}, file)
    config = {
        "recipe": asdict(model.recipe),
        "words": {"name": lexicon.name, "encoder": lexicon.tokenizer is not None, "version": lexicon.version},
        "data": dict(data),
        "measured": [dict(each) for each in measured],
        "figures": dict(figures),
    }
    with replacing(folder / _CONFIG) as file:
        file.write((json.dumps(config, indent=1) + "\n").encode())
    with replacing(folder / "README.md") as file:
        file.write(_card(folder, config).encode())


def config_of(folder: Path) -> dict[str, Any] | None:
    """What is told of the model in a folder; None where there is none."""
    try:
        found = json.loads((folder / _CONFIG).read_text("utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise UserError(f"{folder / _CONFIG} cannot be read ({error}): train the model again") from error
    return found if isinstance(found, dict) else {}


def load(folder: Path, lexicon: Lexicon | None = None) -> PassageModel:
    """The model in a folder; `lexicon` is its words where they are at hand already."""
    config = config_of(folder)
    if config is None:
        raise UserError(f"{folder} holds no model of passages: make one with 'whycite train passages'")
    try:
        recipe, words = Recipe(**config["recipe"]), config["words"]
        known = lexicon if lexicon and lexicon.version == words["version"] else _lexicon(folder, words, recipe)
        if known.version != words["version"]:
            raise UserError(f"{folder}: the encoder {words['name']} is not the one it was trained with; train it again")
        network = Network(recipe, torch.from_numpy(known.vectors))
        network.put(torch.load(folder / _WEIGHTS, map_location="cpu", weights_only=True))
    except (KeyError, TypeError, ValueError, OSError, RuntimeError, EOFError, UnpicklingError) as error:
        raise UserError(f"{folder} holds no whole model of passages ({error}): train it again") from error
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return PassageModel(network.to(device).eval(), known, recipe)


def _lexicon(folder: Path, words: Mapping[str, Any], recipe: Recipe) -> Lexicon:
    if words["encoder"]:
        return of_encoder(words["name"], recipe.words)
    with np.load(folder / _WORDS) as stored:
        numbers = {str(word): number for number, word in enumerate(stored["words"], start=1)}
        return Lexicon(words["name"], stored["vectors"].astype(np.float32), numbers, words["version"])


def _card(folder: Path, config: Mapping[str, Any]) -> str:
    facts = {
        **config["recipe"],
        "vectors of words": named(config["words"]["name"]),
        **config["data"],
    }
    figures = {name: f"{value:.4f}" for name, value in config["figures"].items()}
    return "\n".join(
        [
            f"# {folder.resolve().name}",
            "",
            "A model of “Why did they cite that?” (chapter 5): a higher score for what backs a claim more.",
            "",
            *_table(facts),
            "",
            "## Measured",
            "",
            "Share of pairs in which the sentence that people marked is above the other; no document is in two parts.",
            "",
            *_table(figures),
            "",
        ]
    )


def _table(facts: Mapping[str, object]) -> list[str]:
    return [
        "| | |",
        "| --- | --- |",
        *(f"| {name} | {str(value).replace('|', '/')} |" for name, value in facts.items()),
    ]
