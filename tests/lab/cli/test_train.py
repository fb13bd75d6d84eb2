"""From data to the folder of a model, by the command."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.fakes import tiny_base
from tests.lab.toys import make_corpus
from whycite.cli import app
from whycite.errors import UserError
from whycite.lab.thesis.datasets import PassageCase
from whycite.lab.train import verifyexamples
from whycite.lab.train.bases import save_base
from whycite.lab.train.corpus import Corpus, save
from whycite.lab.train.corpus import load as load_corpus
from whycite.lab.train.verifyexamples import training_cases
from whycite.models import load_encoder, pairs

_RESTATING = """---
title: Sleep of bees
abstract: Foraging honeybees sleep longer at night than 40 nurse bees that we filmed in the hive.
---
# Results
In the hive foraging honeybees sleep longer at night than 40 nurse bees that were filmed.
We saw whales. Ants walk far. Snow is cold today.
"""


def _run(*arguments: str | Path) -> str:
    result = CliRunner().invoke(app, ["train", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_an_encoder_then_a_ranker(tmp_path: Path) -> None:
    tiny = tiny_base()
    save_base(tmp_path / "base", tiny.model, tiny.tokenizer, max_tokens=32)
    save(make_corpus(), tmp_path / "corpus.xz")
    encoder, ranker = tmp_path / "encoder", tmp_path / "ranker"
    data = ("--data", tmp_path / "corpus.xz", "--held-out", "10")
    told = _run("claims", *data, "--base", tmp_path / "base", "--out", encoder, "--epochs", "2", "--batch", "64")
    assert "epoch 2" in told
    assert load_encoder(encoder).encode(["w4 w5 w6"]).shape == (1, 32)
    card = (encoder / "README.md").read_text("utf-8")
    assert "30 articles of 2020-01-01" in card
    assert "| epochs | 2 |" in card
    assert not (encoder / "checkpoint.pt").exists()

    told = _run("ranker", *data, "--base", encoder / "trained", "--out", ranker, "--lists", "100", "--batch", "16")
    assert "by both" in told
    scores = pairs.load_ranker(ranker, threads=1).score("paper", "w4 w5 w6", ["w4 w5 w6 w7", "w30 w31"])
    assert scores.shape == (2,)
    assert json.loads((ranker / "ranker.json").read_text("utf-8"))["name"] == "ranker"


def test_what_is_left_out(tmp_path: Path) -> None:
    tiny = tiny_base()
    save_base(tmp_path / "base", tiny.model, tiny.tokenizer, max_tokens=32)
    whole = make_corpus()
    save(whole, tmp_path / "corpus.xz")
    gone = [article.key for article in whole.articles[:4]]
    (tmp_path / "gone.txt").write_text("\n".join([*gone, " doi:10.1/nowhere ", ""]), encoding="utf-8")
    told = _run(
        *("claims", "--data", tmp_path / "corpus.xz", "--base", tmp_path / "base", "--out", tmp_path / "encoder"),
        *("--until", "2020-01-15", "--without", tmp_path / "gone.txt", "--held-out", "5", "--epochs", "1"),
        *("--batch", "32", "--rate", "0.001", "--seed", "3"),
    )
    kept = [each for each in whole.articles if each.date < "2020-01-15" and each.key not in gone]
    assert "4 of 5 keys to exclude are in the data" in told
    assert f"{len(kept) - 5} articles, {8 * (len(kept) - 5)} sentences" in told
    card = (tmp_path / "encoder" / "README.md").read_text("utf-8")
    assert "| seed | 3 |" in card
    assert "| rate | 0.001 |" in card
    assert str(tmp_path) not in card
    with pytest.raises(UserError, match="already contains a model"):
        _run("claims", "--data", tmp_path / "corpus.xz", "--held-out", "5", "--out", tmp_path / "encoder")


def test_a_ranker_by_scopes_recipe_with_passages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny = tiny_base()
    save_base(tmp_path / "base", tiny.model, tiny.tokenizer, max_tokens=32)
    whole = make_corpus()
    save(whole, tmp_path / "corpus.xz")
    (tmp_path / "unseen.txt").write_text("\n".join(article.key for article in whole.articles[:20]), encoding="utf-8")
    (tmp_path / "paper.md").write_text(_RESTATING, encoding="utf-8")
    cases = [
        PassageCase(f"{at}", "made", "w4 w5", f"a{at}", f"b{at}", ("w4 w6", "w90", "w91"), frozenset({0}), "backed")
        for at in range(9)
    ]
    monkeypatch.setitem(verifyexamples.DATA_SETS, "scifact", lambda folder: cases)
    (tmp_path / "scifact").mkdir()
    told = _run(
        *("ranker", "--data", tmp_path / "corpus.xz", "--base", tmp_path / "base", "--out", tmp_path / "ranker"),
        *("--encoder", tmp_path / "base", "--passages", tmp_path / "scifact", "--loss", "triplet"),
        *("--held-out", "10", "--lists", "30", "--batch", "4", "--epochs", "1"),
        *("--whole", "--restated", tmp_path / "paper.md", "--unseen", tmp_path / "unseen.txt"),
    )
    assert "by both" in told
    assert re.search(r"lists and [1-9]\d* stances to train on", told)  # what was said again, altered by rule
    assert len(training_cases([tmp_path / "scifact"], whole=True)) == 9 > len(training_cases([tmp_path / "scifact"]))
    assert "stances to settle on" in told
    assert "| loss | triplet |" in (tmp_path / "ranker" / "README.md").read_text("utf-8")
    with pytest.raises(UserError, match="expected a folder named citint, clscisumm, scifact"):
        training_cases([tmp_path])


def test_dates_and_keys_that_are_none(tmp_path: Path) -> None:
    whole = make_corpus()
    save(whole, tmp_path / "corpus.xz")
    command = ("claims", "--data", tmp_path / "corpus.xz", "--held-out", "5", "--out", tmp_path / "out")
    with pytest.raises(UserError, match=r"'30\.9\.2020' is not a date"):
        _run(*command, "--until", "30.9.2020")
    with pytest.raises(UserError, match=r"nowhere\.txt: cannot read keys"):
        _run(*command, "--without", tmp_path / "nowhere.txt")
    years = Corpus(tuple(replace(article, date="2020") for article in whole.articles), whole.papers)
    assert years.until("2020-06-30").articles == ()  # they may be newer
    assert years.until("2021").articles == years.articles


def test_two_corpora_are_not_taken_together(tmp_path: Path) -> None:
    for name in ("a.xz", "b.xz"):
        save(make_corpus(), tmp_path / name)
    with pytest.raises(UserError, match="cannot be combined"):
        _run("corpus", "--data", tmp_path / "a.xz", tmp_path / "b.xz", "--out", tmp_path / "c.xz")


def test_a_corpus_of_papers(tmp_path: Path) -> None:
    draft = tmp_path / "draft.md"
    draft.write_text("# Bees\n\nBees dance to tell where food is [@frisch].\n", encoding="utf-8")
    (tmp_path / "refs.bib").write_text("@book{frisch, title={The Dance Language of Bees}, year=1967}", encoding="utf-8")
    told = _run("corpus", "--data", draft, "--out", tmp_path / "corpus.xz", "--jobs", "1")
    assert "Wrote 1 article with 1 citing sentence" in told
    (article,) = load_corpus(tmp_path / "corpus.xz").articles
    assert article.sentences[0].text == "Bees dance to tell where food is"


def test_a_file_that_is_no_corpus_is_not_written_as_one(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"must end with \.xz"):
        CliRunner().invoke(
            app, ["train", "corpus", "--data", str(tmp_path), "--out", str(tmp_path / "c")], catch_exceptions=False
        )


def test_too_few_articles(tmp_path: Path) -> None:
    save(make_corpus(articles=3), tmp_path / "corpus.xz")
    with pytest.raises(UserError, match="too few to hold out 60"):
        CliRunner().invoke(
            app,
            ["train", "claims", "--data", str(tmp_path / "corpus.xz"), "--out", str(tmp_path / "out")],
            catch_exceptions=False,
        )


def test_options_that_a_recipe_does_not_use_are_refused(tmp_path: Path) -> None:
    shared = ("--data", tmp_path, "--out", tmp_path / "out")

    def said(*arguments: str | Path) -> str:
        result = CliRunner().invoke(app, ["train", *map(str, [*arguments, *shared])])
        assert isinstance(result.exception, UserError)
        return str(result.exception)

    assert said("ranker", "--recipe", "scope", "--batch", "3") == (
        "--batch is not used with --recipe scope; leave it out"
    )
    assert "--loss is not used" in said("ranker", "--recipe", "scope", "--loss", "list")
    assert "--variant is not used with --recipe own" in said("ranker", "--variant", "section")
    assert "--readout is not used" in said("worthiness", "--recipe", "scope", "--readout", "mean")
    assert "--folds is not used" in said("worthiness", "--recipe", "scope", "--folds", "2")
