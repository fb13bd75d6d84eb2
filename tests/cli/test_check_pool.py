"""`whycite check --pool`: papers proposed by SCOPE's chain, from what other papers cite."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from tests.fakes import word_detector
from whycite.check import pipeline
from whycite.cli.check import check
from whycite.errors import UserError

Run = Callable[..., Result]
DRAFT = """---
title: A draft on bees
references:
- {id: sleep, title: "Sleep of honeybees at night"}
---
# Introduction

It is known that honeybees rest at night. Wax is a material. Bees dance [@sleep].
"""
CITING = """---
title: What bees do
references:
- {id: a, title: "Sleep of honeybees at night", author: [{family: Kaiser, given: W.}], issued: 1988}
- {id: b, title: "How honeybees rest in the hive", author: [{family: Klein, given: B.}], issued: 2008, DOI: 10.1/rest}
- {id: c, title: "The chemistry of wax"}
---
# Introduction

Honeybees sleep [@a]. They rest at night [@b]. Wax is made by bees [@c].
"""


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    monkeypatch.setenv("WHYCITE_LIBRARY", str(tmp_path / "own library"))
    monkeypatch.setattr(pipeline, "load_detector", lambda: word_detector("known"))
    monkeypatch.chdir(tmp_path)
    Path("draft.md").write_text(DRAFT, "utf-8")
    Path("pool").mkdir()
    Path("pool", "citing.md").write_text(CITING, "utf-8")
    app = typer.Typer()
    app.command()(check)
    return lambda *arguments: CliRunner().invoke(app, ["draft.md", *arguments])


def proposals(result: Result) -> list[tuple[str, bool, str]]:
    assert result.exit_code == 0, result.output
    [finding] = [one for one in json.loads(result.stdout)["findings"] if one["kind"] == "needs-citation"]
    return [(one["cite_key"], one["known"], one["paper"]["title"]) for one in finding["recommendations"]]


def test_papers_are_proposed_from_the_pool(run: Run) -> None:
    # What the section cites already is no candidate, as in SCOPE.
    assert proposals(run("--pool", "pool", "--json"))[0] == (
        "klein2008honeybees",
        False,
        "How honeybees rest in the hive",
    )
    assert "Klein (2008), doi:10.1/rest" in run("--pool", "pool").stdout


def test_sentences_that_cite_get_other_papers_footnotes_too(run: Run) -> None:
    Path("draft.md").write_text(DRAFT + "\nWax is nice.[^n]\n\n[^n]: Bees rest [@sleep].\n", "utf-8")
    result = run("--pool", "pool", "--all", "--json")
    assert result.exit_code == 0, result.output
    findings = [finding for finding in json.loads(result.stdout)["findings"] if finding["kind"] == "cited"]
    keys = {finding["text"]: [one["cite_key"] for one in finding["recommendations"]] for finding in findings}
    for sentence in ("Bees dance [sleep].", "Bees rest [sleep]."):
        assert "klein2008honeybees" in keys[sentence]
        assert "sleep" not in keys[sentence]


@pytest.mark.parametrize("prefetcher", ["most-popular", "co-occurrence", "accumulated-bm25"])
def test_the_prefetcher_and_what_the_reranker_reads_can_be_chosen(run: Run, prefetcher: str) -> None:
    result = run("--pool", "pool", "--prefetch", prefetcher, "--variant", "default", "--json", "-n", "1")
    assert [title for _, _, title in proposals(result)] == ["How honeybees rest in the hive"]


def test_mistakes_are_told(run: Run, tmp_path: Path) -> None:
    def mistake(*arguments: str) -> str:
        exception = run(*arguments).exception
        assert isinstance(exception, UserError), exception
        return str(exception)

    assert "give the papers it searches with --pool" in mistake("--prefetch", "random")
    assert "give the papers it searches with --pool" in mistake("--ranker", "folder")
    assert "unknown recommender 'nobody'; choose one of: aae-none" in mistake("--pool", "pool", "--prefetch", "nobody")
    assert "unknown" in mistake("--pool", "pool", "--variant", "nothing")
    assert "cannot be used with --library" in mistake("--pool", "pool", "--library", "elsewhere")
    assert "cannot be used with --fix" in mistake("--pool", "pool", "--fix")
    Path("plain.md").write_text("Bees dance.", "utf-8")
    assert "no paper cites another one" in mistake("--pool", "plain.md")
    (tmp_path / "folder").mkdir()
    assert "folder" in mistake("--pool", "pool", "--ranker", "folder")
