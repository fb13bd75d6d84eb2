"""Small data sets in the form of the real ones, and toy claims whose words tell which sentence is right."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import zstandard

from whycite.lab.thesis.comparisons import SentenceComparison
from whycite.lab.thesis.datasets import PassageCase
from whycite.lab.thesis.wordvectors import WordVectors

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes rows to a file of the folder that it returns, compressed where the name says so."""

    def write_rows(name: str, rows: Iterable[Any]) -> Path:
        data = "".join(json.dumps(row) + "\n" for row in rows).encode()
        (tmp_path / name).write_bytes(zstandard.compress(data) if name.endswith(".zst") else data)
        return tmp_path

    return write_rows


TOPICS = ["ants", "bees", "cats", "dogs"]
OTHERS = ["show", "that", "results", "grow", "slowly", "here", "and", "there"]
WORDS = [*TOPICS, *OTHERS]


def make_comparisons(number: int, seed: int, by_place: bool = False) -> list[SentenceComparison]:
    """The right sentence names the claim's topic, or it stands after "results", which others do not."""
    chance = Random(seed)
    found = []
    for at in range(number):
        topic = chance.choice(TOPICS)
        filler = chance.choice(["grow slowly here", "and there that"])  # few, so that claims share documents
        if by_place:
            right = chance.choice([1, 3])
            sentences = [f"{topic} {filler}"] * 4
            sentences[right - 1] = "results"
            others = [2 if right == 3 else 3] if right == 1 else [1]
        else:
            sentences = [f"{other} {filler}" for other in TOPICS]
            right = TOPICS.index(topic)
            others = [index for index in range(4) if index != right]
        case = PassageCase(
            f"{seed}-{at}", "toy", f"show {topic}", f"citing {at}", f"{at}", tuple(sentences), frozenset({right})
        )
        found += [SentenceComparison(case, right, other, 0) for other in others]
    return found


@pytest.fixture
def comparisons() -> Callable[..., list[SentenceComparison]]:
    """Makes comparisons."""
    return make_comparisons


@pytest.fixture
def lexicon() -> WordVectors:
    """Vectors of the few words, by lot."""
    vectors = np.random.default_rng(0).normal(size=(len(WORDS) + 1, 12)).astype(np.float32)
    vectors[0] = 0
    return WordVectors("toy", vectors, {word: number for number, word in enumerate(WORDS, start=1)}, "toy-1")
