"""Weights fitted to what is known."""

import numpy as np
import pytest

from whycite.errors import UserError
from whycite.lab.train.verifyweights import fit_classes, fit_order

NAMES = ("tells", "noise", "constant")


def _cases(count: int = 60) -> tuple[list[np.ndarray], list[np.ndarray]]:
    chance = np.random.default_rng(1)
    tables, gold = [], []
    for _ in range(count):
        marked = np.zeros(20, np.bool_)
        marked[chance.integers(20)] = True
        table = np.stack([100 * (marked + chance.normal(0, 0.5, 20)), chance.normal(0, 1, 20), np.ones(20)], axis=1)
        tables.append(table)
        gold.append(marked)
    return tables, gold


def test_what_tells_gold_sentences_counts() -> None:
    tables, gold = _cases()
    weights = fit_order(tables, gold, NAMES)
    assert weights["tells"] > 0.01
    assert abs(weights["noise"]) < 50 * weights["tells"]
    assert weights["constant"] == 0
    above = [
        float((table @ [weights[name] for name in NAMES])[marked].max())
        for table, marked in zip(tables, gold, strict=True)
    ]
    below = [
        float((table @ [weights[name] for name in NAMES])[~marked].mean())
        for table, marked in zip(tables, gold, strict=True)
    ]
    assert np.mean(np.array(above) > np.array(below)) > 0.9


def test_logits_are_chances() -> None:
    tables, gold = _cases()
    weights = fit_order(tables, gold, NAMES)
    logits = np.concatenate(tables) @ [weights[name] for name in NAMES] + weights["bias"]
    assert float((1 / (1 + np.exp(-logits))).mean()) == pytest.approx(1 / 20, abs=0.01)


def test_nothing_to_fit_to() -> None:
    with pytest.raises(UserError, match="no cases with both gold"):
        fit_order([np.zeros((2, 3))], [np.zeros(2, np.bool_)], NAMES)
    with pytest.raises(UserError, match="with these labels"):
        fit_classes([{"a": 1.0}], ["else"], ("yes", "no"), [1.0])


def test_classes() -> None:
    signs = [{"a": float(n % 2), "b": float(n % 3)} for n in range(60)]
    weights = fit_classes(signs, ["yes" if n % 2 else "no" for n in range(60)], ("yes", "no"), [1.0] * 60)
    assert weights["yes"]["a"] > 1 > -1 > weights["no"]["a"]
    assert abs(weights["yes"]["b"]) < 0.3
    assert weights.keys() == {"yes", "no"}
