"""Weights for what a citation is for, from data sets to a file."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from whycite.errors import UserError
from whycite.evidence.citationfunctions import FUNCTIONS, FunctionWeights, citation_functions
from whycite.lab.train.functionweights import cross_validate, drop_bar, fit_functions, load_functions, main

SCICITE = [
    ("Bees {} sleep at night (Doe, 2001).", "background"),
    ("We used the software of ants {} [3].", "method"),
    ("Our results on wasps {} are consistent with Roe (2002).", "result"),
]
ACL_ARC = [
    ("Parsers {} are slow ( Doe , 2001 ) .", "Background"),
    ("We used the tagger {} .", "Uses"),
    ("We extend it {} .", "Extends"),
    ("In contrast to ours , {} differ .", "CompareOrContrast"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    numbers = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
    for part in ("train", "dev"):
        for name, kinds in (("sci-cite", SCICITE), ("citation_intent", ACL_ARC)):
            rows = [{"text": f"{n}: " + text.format(n), "label": label} for text, label in kinds for n in numbers]
            _write(tmp_path / f"{name}-{part}.jsonl", rows)
    return tmp_path


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def test_examples_lose_their_markers(folder: Path) -> None:
    examples = load_functions(folder, "train")
    assert len(examples) == 12 * 6  # without those that extend a paper
    assert examples[0].claim == "one: Bees one sleep at night."
    assert {(example.dataset, example.function) for example in examples[-12:]} == {("citation_intent", "result")}


def test_unknown_labels(folder: Path) -> None:
    _write(folder / "sci-cite-dev.jsonl", [{"text": "Bees sleep.", "label": "Maybe"}])
    with pytest.raises(UserError, match=r"sci-cite-dev\.jsonl:1: \"label\" must be one of background, method, result"):
        load_functions(folder, "dev")


def test_from_data_to_weights(folder: Path) -> None:
    told: list[str] = []
    main([str(folder), str(folder / "out.json"), "--dev"], told.append)
    weights = FunctionWeights(**json.loads((folder / "out.json").read_text("utf-8")))
    claims = ["Bees thirteen sleep at night.", "We used the software of ants thirteen."]
    assert citation_functions(claims, weights) == ["background", "method"]
    assert sum(line.startswith("pull") for line in told) == 4
    assert "dev, all: methods left out 24 of 24 (100.0%), others left out 0 of 48" in told[-1]
    with pytest.raises(UserError, match="expected the folder"):
        main([str(folder)])


def test_the_bar_drops_few_others() -> None:
    random = np.random.default_rng(0)
    targets = random.integers(3, size=2000)
    features = random.normal(size=(2000, 4))
    features[:, 0] += 2 * (targets == FUNCTIONS.index("method"))
    chances = cross_validate(features, targets, np.arange(2000) % 5, 0.01)
    bar = drop_bar(chances, targets)
    method = FUNCTIONS.index("method")
    dropped = chances[:, method] >= bar
    assert 0.015 <= dropped[targets != method].mean() <= 0.02
    assert 0.3 < dropped[targets == method].mean() < 0.8
    weights, _ = fit_functions(features, targets, 0.01)
    assert np.abs(weights[0, method]) > 3 * np.abs(weights[1:, method]).max()
