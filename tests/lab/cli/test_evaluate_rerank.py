"""`whycite eval rerank` from the papers to the tables."""

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from tests.fakes import tiny_ranker
from whycite.errors import UserError
from whycite.lab.cli.evaluate_candidates import rerank

app = typer.Typer(rich_markup_mode=None)
app.command()(rerank)


@pytest.fixture(scope="module")
def ranker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ranker of random weights."""
    return tiny_ranker(tmp_path_factory.mktemp("rankers") / "tiny", "paper bees sleep night attention networks :")


@pytest.fixture(scope="module")
def articles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six papers that all cite the same two works."""
    folder = tmp_path_factory.mktemp("articles")
    for number in range(6):
        (folder / f"{number}.md").write_text(
            f"""---
title: Study {number} of rest and of attention
year: {2020 + number}
references:
- id: kaiser
  title: Busy bees that forage need rest at night, too
  author: [{{family: Kaiser, given: Walter}}]
  issued: 1988
- id: vaswani
  title: Networks of attention layers alone translate well
  author: [{{family: Vaswani, given: Ashish}}]
  issued: 2017
---

# Introduction

Honeybees sleep at night [@kaiser]. Networks of attention translate text [@vaswani]. Nobody knows why.
""",
            "utf-8",
        )
    return folder


def _run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["--data", *map(str, arguments)])


def test_every_row_of_every_table(articles: Path, ranker: Path) -> None:
    result = _run(articles, "--ranker", ranker, "--k", "2", "--epochs", "1", "--held-out", "2", "--drop", "0.5")
    assert result.exit_code == 0, result.output
    for row in (
        "default",
        "paragraph",
        "paragraph-notitle",
        "section",
        "section-paragraph",
        "section-paragraph-notitle",
    ):
        assert f" ranker-{row} " in result.stdout
    for row in ("bm25-default", "bm25-paragraph (no masking)", "encoder-default", "ranker-default + encoder-default"):
        assert row in result.stdout
    for prefetcher in ("aae-section-title", "co-occurrence", "most-popular", "local-bm25"):
        assert prefetcher in result.stdout
    assert result.stdout.index("(SCOPE, table 6)") < result.stdout.index("(SCOPE, table 7)")
    assert "(SCOPE, table 9)" not in result.stdout
    assert "4 sentences, 2 papers to choose from." in result.stdout


def test_rankers_side_by_side(articles: Path, ranker: Path) -> None:
    more = ("--prefetch", "none", "--variants", "default", "--held-out", "1", "--claims", "1")
    result = _run(articles, "--ranker", ranker, "--ranker", ranker, *more)
    assert result.exit_code == 0, result.output
    assert "(SCOPE, table 9)" in result.stdout
    assert "(SCOPE, table 7)" not in result.stdout
    assert "1 sentence, " in result.stdout


def test_json(articles: Path, ranker: Path) -> None:
    more = (
        "--prefetch",
        "local-bm25,most-popular",
        "--variants",
        "paragraph",
        "--held-out",
        "2",
        "--json",
        "--seed",
        "1",
    )
    result = _run(articles, "--ranker", ranker, *more)
    found = json.loads(result.stdout)
    assert {row["prefetch"] for row in found["oracle"]} == {"oracle"}
    assert {row["prefetch"] for row in found["real"]} == {"local-bm25", "most-popular"}
    by_words = next(row for row in found["oracle"] if row["reranker"] == "bm25-paragraph (with masking)")
    assert by_words["mrr"]["mean"] == 1.0
    assert found["setting"]["seed"] == 1


def test_without_a_ranker(articles: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("whycite.models.pairs.ranker_of", lambda encoder: None)
    result = _run(articles, "--prefetch", "none", "--held-out", "1")
    assert "The encoder has no ranker" in result.stderr
    assert "bm25-default" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--variants", "none"), "unknown input variant 'none'"),
        (("--prefetch", "nothing"), "unknown recommender 'nothing'"),
        (("--ranker", "nowhere"), "nowhere has no ranker.json: there is no such ranker folder"),
        (("--drop", "2"), "must be between 0 and 1"),
        (("--encoder", "nowhere"), "no encoder 'nowhere'"),
        (("--topic", "a,b"), "takes one topic"),
        (("--floor", "99"), "no papers to recommend"),
        (("--prefetch", "aae-title", "--word-vectors", "nowhere"), "No such file"),
    ],
    ids=["variant", "prefetch", "ranker", "drop", "encoder", "topics", "floor", "vectors"],
)
def test_mistakes(articles: Path, arguments: tuple[str, ...], message: str) -> None:
    result = _run(articles, *arguments)
    assert isinstance(result.exception, UserError)
    assert message in str(result.exception)
