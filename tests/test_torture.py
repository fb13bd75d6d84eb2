"""The torture itself: the same seed gives the same accidents, and a broken promise is reported."""

import json
import random
from pathlib import Path

import pytest

from tests import torture


def test_the_same_seed_gives_the_same_accidents() -> None:
    others = list(torture.SEEDS.values())
    first, second = ([torture.mutate(seed, others, random.Random(3)) for seed in others] for _ in range(2))
    assert first == second
    assert sum(mutated != seed for mutated, seed in zip(first, others, strict=True)) > len(others) / 2


@pytest.mark.slow
def test_a_round_of_damaged_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torture, "FILES_PER_ROUND", 20)
    report = torture.torture(1, 0, 1, tmp_path / "report", ["fuzz"])
    assert report.failures == []
    assert report.events["files read"] == 22
    assert json.loads((tmp_path / "report" / "report.json").read_text())["rounds"] == {"fuzz": 1}


def test_what_breaks_a_promise_is_reported_with_its_seed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def lose(*_: object) -> None:
        raise torture.BrokenPromise("a document was lost")

    monkeypatch.setitem(torture.ROUNDS, "kill", lose)
    report = torture.torture(5, 0, 2, tmp_path, ["kill"])
    assert [(failure["seed"], failure["detail"]) for failure in report.failures] == [
        (5, "a document was lost"),
        (6, "a document was lost"),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["flip", "kill", "fill"])
def test_a_round_of_the_others(kind: str, tmp_path: Path) -> None:
    assert torture.torture(1, 0, 1, tmp_path, [kind]).failures == []
