"""The recipe of the claim encoder, on a corpus small enough for a test."""

from pathlib import Path

import pytest
import torch

from tests.fakes import tiny_base
from tests.lab.toys import make_corpus
from whycite.errors import UserError
from whycite.lab.train.build import CorpusSplit, split_corpus
from whycite.lab.train.claimencoder import EncoderRecipe, train

RECIPE = EncoderRecipe(epochs=4, batch=64, rate=1e-2, longest=16, mined=12, learnt=1.0)


def _parts(**options: bool) -> CorpusSplit:
    return split_corpus(make_corpus(**options), held_out=10)


def test_what_cites_the_same_paper_comes_to_lie_together() -> None:
    told: list[str] = []
    parts = _parts()
    measured = train(tiny_base(), parts.trained, parts.held_out, RECIPE, told.append)
    assert [row["epoch"] for row in measured] == [0, 1, 2, 3, 4, 4]
    assert measured[-1]["MRR"] > 1.7 * measured[0]["MRR"]
    assert measured[4]["loss"] < measured[1]["loss"]
    assert sum("mined" in line for line in told) == 4


def test_citations_at_random_teach_nothing() -> None:
    parts = _parts(shuffled=True)
    measured = train(tiny_base(), parts.trained, parts.held_out, RECIPE, lambda _: None)
    chance = sum(1 / rank for rank in range(1, 31)) / 30  # of one right among thirty, in any order
    assert measured[-1]["MRR"] < 1.6 * chance


def test_a_stopped_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = _parts()
    whole = tiny_base()
    expected = train(whole, parts.trained, parts.held_out, RECIPE, lambda _: None)

    class Stop(Exception):
        pass

    def stop(told: str) -> None:
        if told.startswith("epoch 2"):
            raise Stop

    stopped = tiny_base()
    with pytest.raises(Stop):
        train(stopped, parts.trained, parts.held_out, RECIPE, stop, tmp_path / "checkpoint.pt")
    again = tiny_base()
    heard: list[str] = []
    measured = train(again, parts.trained, parts.held_out, RECIPE, heard.append, tmp_path / "checkpoint.pt")
    assert sum("mined" in line for line in heard) == 3  # epoch 1 was kept
    assert [row["MRR"] for row in measured] == pytest.approx([row["MRR"] for row in expected])
    for name, value in whole.model.state_dict().items():
        assert torch.allclose(value, again.model.state_dict()[name], atol=1e-5), name


def test_a_run_of_other_data_is_not_gone_on_with(tmp_path: Path) -> None:
    file = tmp_path / "checkpoint.pt"
    parts, others = _parts(), _parts(shuffled=True)
    recipe = EncoderRecipe(epochs=1, batch=64, longest=16, mined=12)
    train(tiny_base(), parts.trained, parts.held_out, recipe, lambda _: None, file)
    with pytest.raises(UserError, match="belongs to other data or another recipe"):
        train(tiny_base(), others.trained, others.held_out, recipe, lambda _: None, file)
    file.write_bytes(b"broken")
    with pytest.raises(UserError, match="delete it to start again"):
        train(tiny_base(), parts.trained, parts.held_out, recipe, lambda _: None, file)


def test_the_base_comes_back_by_its_share() -> None:
    parts = _parts()
    start = {name: value.clone() for name, value in tiny_base().model.state_dict().items()}
    models = {}
    for learnt in (1.0, 0.5):
        trained = tiny_base()
        recipe = EncoderRecipe(epochs=1, batch=64, rate=3e-3, longest=16, mined=12, learnt=learnt)
        train(trained, parts.trained, parts.held_out, recipe, lambda _: None)
        models[learnt] = trained.model.state_dict()
    name = "encoder.layer.0.output.dense.weight"
    assert torch.allclose(models[0.5][name], (start[name] + models[1.0][name]) / 2, atol=1e-6)


def test_no_article_is_on_both_sides() -> None:
    whole = make_corpus()
    gone = [article.key for article in whole.articles[:3]]
    parts = split_corpus(whole, held_out=10, until="2020-01-20", without=gone)
    trained = {article.key for article in parts.trained.articles}
    held_out = {article.key for article in parts.held_out.articles}
    assert not trained & held_out
    assert not {*trained, *held_out} & {*gone}
    assert max(article.date for article in parts.held_out.articles) < "2020-01-20"
    assert max(a.date for a in parts.trained.articles) <= min(a.date for a in parts.held_out.articles)
