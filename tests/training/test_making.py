"""From data to the folder of a model, by the command."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from whycite.cli import app
from whycite.encoders import load
from whycite.errors import UserError
from whycite.rerank import ranker as rankers
from whycite.training.bases import Base, save_base
from whycite.training.corpus import Corpus, save
from whycite.training.corpus import load as load_corpus

MakeBase = Callable[..., Base]
MakeCorpus = Callable[..., Corpus]


def _run(*arguments: str | Path) -> str:
    result = CliRunner().invoke(app, ["train", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_an_encoder_then_a_ranker(base: MakeBase, corpus: MakeCorpus, tmp_path: Path) -> None:
    tiny = base()
    save_base(tmp_path / "base", tiny.model, tiny.tokenizer, max_tokens=32)
    save(corpus(), tmp_path / "corpus.xz")
    encoder, ranker = tmp_path / "encoder", tmp_path / "ranker"
    data = ("--data", tmp_path / "corpus.xz", "--held-out", "10")
    told = _run("claims", *data, "--base", tmp_path / "base", "--out", encoder, "--epochs", "2", "--batch", "64")
    assert "epoch 2" in told
    assert load(encoder).encode(["w4 w5 w6"]).shape == (1, 32)
    card = (encoder / "README.md").read_text("utf-8")
    assert "30 articles of 2020-01-01" in card
    assert "| epochs | 2 |" in card
    assert not (encoder / "checkpoint.pt").exists()

    told = _run("ranker", *data, "--base", encoder / "trained", "--out", ranker, "--lists", "100", "--batch", "16")
    assert "by both" in told
    scores = rankers.load(ranker, threads=1).score("paper", "w4 w5 w6", ["w4 w5 w6 w7", "w30 w31"])
    assert scores.shape == (2,)
    assert json.loads((ranker / "ranker.json").read_text("utf-8"))["name"] == "ranker"


def test_a_corpus_of_papers(tmp_path: Path) -> None:
    draft = tmp_path / "draft.md"
    draft.write_text("# Bees\n\nBees dance to tell where food is [@frisch].\n", encoding="utf-8")
    (tmp_path / "refs.bib").write_text("@book{frisch, title={The Dance Language of Bees}, year=1967}", encoding="utf-8")
    told = _run("corpus", "--data", draft, "--out", tmp_path / "corpus.xz", "--jobs", "1")
    assert "1 article, 1 citing sentence" in told
    (article,) = load_corpus(tmp_path / "corpus.xz").articles
    assert article.sentences[0].text == "Bees dance to tell where food is"


def test_a_file_that_is_no_corpus_is_not_written_as_one(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"ends with \.xz"):
        CliRunner().invoke(
            app, ["train", "corpus", "--data", str(tmp_path), "--out", str(tmp_path / "c")], catch_exceptions=False
        )


def test_too_few_articles(base: MakeBase, corpus: MakeCorpus, tmp_path: Path) -> None:
    save(corpus(articles=3), tmp_path / "corpus.xz")
    with pytest.raises(UserError, match="too few to hold out 60"):
        CliRunner().invoke(
            app,
            ["train", "claims", "--data", str(tmp_path / "corpus.xz"), "--out", str(tmp_path / "out")],
            catch_exceptions=False,
        )
