"""Save and load passage models, and train those that are missing or out of date."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from hashlib import blake2b
from pathlib import Path
from statistics import fmean
from typing import Any
from zipfile import BadZipFile

import numpy as np
import torch

from whycite.documents.jsontext import as_dict
from whycite.errors import UserError
from whycite.files import atomic_write, make_folder
from whycite.lab.thesis.datasets import PassageCase
from whycite.lab.thesis.experiment import CaseSplit, Fit
from whycite.lab.thesis.measures import ComparisonKind, Scorer, SentenceComparison, comparison_score, make_comparisons
from whycite.lab.thesis.networks import PassageNetwork, PassageRecipe, WordVectors, encoder_word_vectors
from whycite.lab.thesis.training import PassageModel, train
from whycite.lab.train.export import file_name

__all__ = ["PassageTrainer", "accuracy", "config_of", "fold_trainer", "load", "save"]


_CONFIG, _WEIGHTS, _WORDS = "passages.json", "weights.npz", "words.npz"


def save(
    folder: Path,
    model: PassageModel,
    data: Mapping[str, object],
    measured: Sequence[Mapping[str, float]],
    figures: Mapping[str, float],
) -> None:
    """Save a model, with its word vectors unless they are an encoder's."""
    make_folder(folder)
    lexicon = model.lexicon
    if lexicon.tokenizer is None:
        with atomic_write(folder / _WORDS) as file:
            np.savez(file, words=np.array(list(lexicon.numbers)), vectors=lexicon.vectors.astype(np.float16))
    with atomic_write(folder / _WEIGHTS) as file:  # no pickle, which could run code
        np.savez(file, **{name: weight.cpu().numpy() for name, weight in model.network.learned_weights().items()})
    config = {
        "recipe": asdict(model.recipe),
        "words": {"name": lexicon.name, "encoder": lexicon.tokenizer is not None, "version": lexicon.version},
        "data": dict(data),
        "measured": [dict(row) for row in measured],
        "figures": dict(figures),
    }
    with atomic_write(folder / _CONFIG) as file:
        file.write((json.dumps(config, indent=1) + "\n").encode())
    with atomic_write(folder / "README.md") as file:
        file.write(_card(folder, config).encode())


def config_of(folder: Path) -> dict[str, Any] | None:
    """The configuration of the model in a folder, or None."""
    try:
        config = json.loads((folder / _CONFIG).read_text("utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise UserError(f"{folder / _CONFIG} cannot be read ({error}); train the model again") from error
    return config if isinstance(config, dict) else {}


def load(folder: Path, lexicon: WordVectors | None = None) -> PassageModel:
    """Load the model in a folder, with `lexicon` as its word vectors if they match."""
    config = config_of(folder)
    if config is None:
        raise UserError(f"{folder}: not a model of passages; train one with `whycite train passages`")
    try:
        recipe, words = PassageRecipe(**config["recipe"]), config["words"]
        word_vectors = (
            lexicon if lexicon and lexicon.version == words["version"] else _stored_word_vectors(folder, words, recipe)
        )
        if word_vectors.version != words["version"]:
            raise UserError(
                f"{folder}: the encoder {words['name']} is not the one the model was trained with; train it again"
            )
        network = PassageNetwork(recipe, torch.from_numpy(word_vectors.vectors))
        with (folder / _WEIGHTS).open("rb") as file, np.load(file) as stored:
            network.load_learned({name: torch.from_numpy(stored[name]) for name in stored.files})
    except (KeyError, TypeError, ValueError, OSError, RuntimeError, EOFError, BadZipFile) as error:
        raise UserError(f"{folder}: incomplete model of passages ({error}); train it again") from error
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return PassageModel(network.to(device).eval(), word_vectors, recipe)


def _stored_word_vectors(folder: Path, words: Mapping[str, Any], recipe: PassageRecipe) -> WordVectors:
    if words["encoder"]:
        return encoder_word_vectors(words["name"], recipe.words)
    with np.load(folder / _WORDS) as stored:
        numbers = {str(word): number for number, word in enumerate(stored["words"], start=1)}
        return WordVectors(words["name"], stored["vectors"].astype(np.float32), numbers, words["version"])


def _card(folder: Path, config: Mapping[str, Any]) -> str:
    facts = {
        **config["recipe"],
        "vectors of words": file_name(config["words"]["name"]),
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


Tell = Callable[[str], None]


class PassageTrainer:
    """Trains models with the same word vectors and kind of pairs."""

    def __init__(
        self, lexicon: WordVectors, similarity: Scorer, kind: ComparisonKind = "augmented", tell: Tell = lambda _: None
    ) -> None:
        self._lexicon, self._similarity, self._kind, self._tell = lexicon, similarity, kind, tell

    def make(self, parts: CaseSplit, recipe: PassageRecipe, folder: Path | None = None) -> PassageModel:
        """Train on the parts and save the model in the folder, or load it if it is up to date."""
        data = {
            "pairs": self._kind,
            "cases": f"{len(parts.train)} to learn from, {len(parts.dev)} held out, {len(parts.test)} to test",
            "data": _digest([*parts.train, *parts.dev]),
        }
        if folder is not None and _is_current(config_of(folder), recipe, self._lexicon, data):
            return load(folder, self._lexicon)
        train_pairs, dev_pairs = self._pairs(parts.train, recipe.seed), self._pairs(parts.dev, recipe.seed)
        trained = train(train_pairs, dev_pairs, self._lexicon, recipe, self._tell)
        if folder is not None:
            tested = self._pairs(parts.test, recipe.seed)
            figures = {"dev": trained.accuracy} | ({"test": accuracy(tested, trained.model)} if tested else {})
            save(folder, trained.model, data, trained.measured, figures)
        return trained.model

    def _pairs(self, cases: Sequence[PassageCase], seed: int) -> list[SentenceComparison]:
        return make_comparisons(cases, self._similarity, self._kind, seed)


def fold_trainer(maker: PassageTrainer, recipe: PassageRecipe, work: Path | None) -> Fit:
    """Train a model for each fold of an evaluation, or reuse the one saved in `work`."""
    return lambda parts, fold: maker.make(parts, recipe, work and work / f"fold-{fold + 1}" / recipe.model)


def accuracy(comparisons: Sequence[SentenceComparison], scorer: Scorer) -> float:
    """The share of pairs that are ordered correctly."""
    scores = {
        case: scorer(case.claim, case.sentences)
        for case in dict.fromkeys(comparison.case for comparison in comparisons)
    }
    return fmean(comparison_score(comparison, scores[comparison.case]) for comparison in comparisons)


def _is_current(
    config: Mapping[str, Any] | None, recipe: PassageRecipe, lexicon: WordVectors, data: Mapping[str, str]
) -> bool:
    """Whether a saved model is the one that would be trained."""
    expected = {"recipe": asdict(recipe), "data": dict(data)}
    return config is not None and (
        {name: config.get(name) for name in expected} == expected
        and as_dict(config.get("words")).get("version") == lexicon.version
    )


def _digest(cases: Sequence[PassageCase]) -> str:
    digest = blake2b(digest_size=8)
    for case in cases:
        digest.update("\0".join([case.claim, *case.sentences, *map(str, sorted(case.gold))]).encode("utf-8", "replace"))
    return digest.hexdigest()
