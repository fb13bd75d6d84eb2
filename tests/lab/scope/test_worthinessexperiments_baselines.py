"""What worthiness must be better than."""

import sys

import numpy as np
import pytest

from whycite.errors import MissingExtra, UserError
from whycite.lab.scope.worthinessexperiments import chance, class_weighted, draws, fit_regression
from whycite.lab.scope.worthinessmeasures import best_threshold, measure

LABELS = (
    [("introduction", True)] * 40 + [("introduction", False)] * 60 + [("method", False)] * 95 + [("method", True)] * 5
)


def test_chance() -> None:
    decided = draws(chance(), ["method"] * 4000, seed=1)
    assert 0.47 < decided.mean() < 0.53
    assert (decided == draws(chance(), ["method"] * 4000, seed=1)).all()
    assert (decided != draws(chance(), ["method"] * 4000, seed=2)).any()


def test_class_weighted() -> None:
    prior = class_weighted(LABELS)
    assert prior.general == pytest.approx(0.225)
    assert prior.probabilities(["introduction", None]) == pytest.approx([0.225, 0.225])


def test_section_prior() -> None:
    prior = class_weighted(LABELS, by_section=True)
    assert prior.probabilities(["introduction", "method", "result"]) == pytest.approx([0.4, 0.05, 0.225])
    decided = draws(prior, ["introduction"] * 2000 + ["method"] * 2000, seed=0)
    assert 0.36 < decided[:2000].mean() < 0.44
    assert 0.03 < decided[2000:].mean() < 0.07


def test_nothing_to_learn_from() -> None:
    with pytest.raises(UserError):
        class_weighted([])
    with pytest.raises(UserError):
        fit_regression([], [], [])


def test_regression_learns_words_pairs_and_sections() -> None:
    pytest.importorskip("scipy")
    random = np.random.default_rng(0)
    texts, types, worthy = [], [], []
    for _ in range(600):
        words = random.permutation(["cells", "divide", "often", "here"])
        type = ["introduction", "method"][random.integers(2)]
        texts.append(" ".join(words) + ("." if random.random() < 0.5 else " as known."))
        types.append(type)
        worthy.append("as known" in texts[-1] and type == "introduction")
    model = fit_regression(texts[:400], types[:400], worthy[:400])
    found = model.probabilities(texts[400:], types[400:])
    labels = np.array(worthy[400:])
    assert measure(labels, found >= best_threshold(labels, found)).f1 > 0.95
    assert abs(found.mean() - labels.mean()) < 0.05


def test_without_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    with pytest.raises(MissingExtra, match="eval"):
        fit_regression(["a b."], [None], [True])
