"""Claims, tasks and labellers of known skill."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from whycite.lab.annotate.tasks import LABELS, LabellingTask, TaskKind, TaskOption

Simulated = tuple[dict[str, LabellingTask], dict[str, dict[str, str]]]
Simulate = Callable[..., Simulated]
Write = Callable[[str, Sequence[dict[str, object]]], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes lines of JSON."""

    def written(name: str, rows: Sequence[dict[str, object]]) -> Path:
        path = tmp_path / name
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        return path

    return written


@pytest.fixture
def tasks() -> Callable[..., dict[str, LabellingTask]]:
    """So many tasks of a kind, each with documents of its own."""

    def made(number: int, kind: TaskKind = "BR") -> dict[str, LabellingTask]:
        options = 2 if kind == "BR" else 1
        return {
            f"t{at}": LabellingTask(
                f"t{at}",
                kind,
                f"Claim {at}.",
                tuple(TaskOption(which, f"Sentence {which} of {at}.") for which in range(options)),
                f"citing {at}",
                f"cited {at}",
            )
            for at in range(number)
        }

    return made


@pytest.fixture
def simulate(tasks: Callable[..., dict[str, LabellingTask]]) -> Simulate:
    """Tasks with gold and what labellers of these skills say, by GLAD's own model of them."""

    def simulated(skills: Sequence[float], number: int = 300, kind: TaskKind = "BR", seed: int = 0) -> Simulated:
        random = np.random.default_rng(seed)
        known, answered = {}, {}
        for id, task in tasks(number, kind).items():
            true, easiness = int(random.integers(2)), float(np.exp(random.normal(0.5, 0.3)))
            known[id] = replace(task, gold=LABELS[kind][true])
            right = random.random(len(skills)) < 1 / (1 + np.exp(-np.array(skills) * easiness))
            answered[id] = {
                f"labeller {at}": LABELS[kind][true if right[at] else 1 - true] for at in range(len(skills))
            }
        return known, answered

    return simulated
