"""Every model of the thesis learns what it can learn, and only that."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from tests.lab.toys import make_comparisons, toy_lexicon
from whycite.cli import app
from whycite.errors import UserError
from whycite.lab.thesis.modelstore import accuracy, load, save
from whycite.lab.thesis.networks import MODELS, PassageRecipe
from whycite.lab.thesis.training import train

TINY = {"words": 12, "hidden": 16, "dropout": 0.0, "rate": 1e-2, "batch": 8, "epochs": 15, "patience": 15}


@pytest.mark.parametrize("model", MODELS)
def test_learns_which_sentence_names_the_topic_of_the_claim(model: str) -> None:
    told: list[str] = []
    recipe = PassageRecipe(model=model, **TINY)  # type: ignore[arg-type]
    trained = train(make_comparisons(64, 1), make_comparisons(32, 2), toy_lexicon(), recipe, told.append)
    assert accuracy(make_comparisons(32, 3), trained.model) > 0.9
    assert trained.accuracy == max(each["dev accuracy"] for each in trained.measured)
    assert len(told) == len(trained.measured)
    assert f"{model}: epoch 1, loss" in told[0]


@pytest.mark.parametrize(("model", "least", "most"), [("bilstm", 0.45, 0.55), ("document", 0.9, 1.0)])
def test_only_documents_tell_what_stands_before(model: str, least: float, most: float) -> None:
    recipe = PassageRecipe(model=model, **{**TINY, "epochs": 12})  # type: ignore[arg-type]
    trained = train(make_comparisons(64, 1, True), make_comparisons(32, 2, True), toy_lexicon(), recipe)
    assert least <= accuracy(make_comparisons(32, 3, True), trained.model) <= most


def test_the_seed_decides_and_the_best_weights_are_kept() -> None:
    def scores(seed: int) -> list[float]:
        recipe = PassageRecipe(model="gru", **{**TINY, "epochs": 3}, seed=seed)  # type: ignore[arg-type]
        trained = train(make_comparisons(16, 1), make_comparisons(16, 2), toy_lexicon(), recipe)
        assert accuracy(make_comparisons(16, 2), trained.model) == pytest.approx(trained.accuracy)
        return [float(score) for score in trained.model("show ants", ["ants grow", "bees grow"])]

    assert scores(0) == scores(0)
    assert scores(0) != scores(1)


def test_training_ends_when_it_gets_no_better() -> None:
    recipe = PassageRecipe(model="lstm", **{**TINY, "rate": 1e-9, "patience": 2})  # type: ignore[arg-type]
    assert len(train(make_comparisons(8, 1), make_comparisons(8, 2), toy_lexicon(), recipe).measured) == 3


def test_scores_do_not_hang_on_what_is_scored_beside() -> None:
    recipe = PassageRecipe(model="bidaf", **{**TINY, "epochs": 1})  # type: ignore[arg-type]
    model = train(make_comparisons(8, 1), make_comparisons(8, 2), toy_lexicon(), recipe).model
    sentences = ["ants grow slowly here and there", "bees", "", "unknown words alone"]
    together = model("show ants", sentences)
    alone = [float(model("show ants", [sentence])[0]) for sentence in sentences]
    np.testing.assert_allclose(together, alone, rtol=1e-5, atol=1e-6)
    assert model("show ants", []).shape == (0,)


def test_threads_are_as_before() -> None:
    before = torch.get_num_threads()
    train(make_comparisons(2, 1), make_comparisons(2, 2), toy_lexicon(), PassageRecipe(**{**TINY, "epochs": 1}))  # type: ignore[arg-type]
    assert torch.get_num_threads() == before


def test_mistakes() -> None:
    with pytest.raises(UserError, match="too few claims"):
        train([], [], toy_lexicon(), PassageRecipe())
    with pytest.raises(UserError, match=r"unknown model 'cnn'; choose one of: rnn, gru, lstm"):
        PassageRecipe(model="cnn")
    with pytest.raises(UserError, match="hidden must be even"):
        PassageRecipe(hidden=5)
    with pytest.raises(UserError, match="must be at least 1"):
        PassageRecipe(epochs=0)
    with pytest.raises(UserError, match="the rate must be above 0"):
        PassageRecipe(rate=0)


@pytest.mark.parametrize("model", MODELS)
def test_every_model_orders_the_passages_of_verify(model: str, tmp_path: Path) -> None:
    recipe = PassageRecipe(model=model, **{**TINY, "epochs": 1})  # type: ignore[arg-type]
    trained = train(make_comparisons(8, 1), make_comparisons(8, 2), toy_lexicon(), recipe)
    save(tmp_path / "model", trained.model, {"pairs": "hard"}, trained.measured, {})
    paper, sentences = (
        tmp_path / "paper.md",
        ["Ants grow slowly.", "Bees sleep at night.", "Wasps build nests of paper."],
    )
    paper.write_text("# Results\n\n" + " ".join(sentences), "utf-8")
    arguments = ["verify", str(paper), "--claim", "Bees sleep.", "--model", str(tmp_path / "model"), "--json"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.exception
    ranked = sorted(json.loads(result.stdout)["passages"], key=lambda passage: passage["rank"])  # what decides is first
    expected = np.argsort(-load(tmp_path / "model")("Bees sleep.", sentences), kind="stable").tolist()
    assert [passage["index"] for passage in ranked] == expected
