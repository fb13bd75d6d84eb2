"""`whycite reproduce` as a user runs it: on a few made papers, and on real ones where they are at hand."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from tests.fakes import tiny_base
from tests.lab.cli.test_evaluate import record
from whycite.cli import app
from whycite.cli.terminal import Interruption
from whycite.errors import UserError
from whycite.lab.reproduce.tables import FigureStore
from whycite.lab.train.bases import save_base

DRAFT = """---
title: A draft on bees
references:
- {id: sleep, title: "Sleep of honeybees at night"}
---
# Introduction

Previous studies have shown that honeybees sleep at night [@sleep]. We like wax.
"""
WORDS = ["bees", "sleep", "dance", "honey", "wax", "night", "food", "queen", "drones", "hive"]


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["reproduce", *map(str, arguments)])


def tables(result: Result) -> dict[str, dict[str, Any]]:
    assert result.exit_code == 0, result.exception
    return {table["table"]: table for table in json.loads(result.stdout)["tables"]}


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("papers") / "papers.jsonl"
    path.write_text("".join(json.dumps(record(number, "Neuroscience")) + "\n" for number in range(24)))
    return path


@pytest.fixture
def claims(tmp_path: Path) -> Path:
    """Claims in SciFact's form, whose evidence repeats a word of the claim."""
    corpus, rows = [], []
    for number in range(40):
        word = WORDS[number % len(WORDS)]
        sentences = [f"{other} are seen in trial {number} ." for other in WORDS]
        corpus.append({"doc_id": number, "title": "", "abstract": sentences})
        evidence = {str(number): [{"sentences": [WORDS.index(word)], "label": "SUPPORT"}]}
        rows.append({"id": number, "claim": f"{word} matter {number}", "evidence": evidence, "cited_doc_ids": [number]})
    folder = tmp_path / "claims"
    folder.mkdir()
    for name, content in (("corpus", corpus), ("claims_train", rows)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in content))
    return folder


def vectors(folder: Path) -> Path:
    path = folder / "words.txt"
    random = np.random.default_rng(0)
    words = [*WORDS, "are", "seen", "in", "trial", "matter"]
    path.write_text("".join(f"{word} {' '.join(f'{x:.3f}' for x in random.normal(size=16))}\n" for word in words))
    return path


def test_ilciter_from_papers_to_every_format(papers: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    made = tables(run("ilciter", "--data", papers, "--quick", "--out", out, "--jobs", "1", "--json"))
    assert list(made) == ["2", "4", "5"]
    assert made["2"]["rows"][-1] == {
        "group": "",
        "name": "Neuroscience",
        "paper": None,
        "ours": made["2"]["rows"][-1]["ours"],
        "p": {},
        "note": "",
    }
    mean = next(row for row in made["4"]["rows"] if row["name"] == "Conditional Ensembling")
    assert mean["paper"]["MRR"]["value"] == pytest.approx(0.391, abs=0.001)
    assert "claims-30m" in made["4"]["conditions"]["ours"]["encoder"]
    assert "SciBERT" in made["4"]["conditions"]["paper"]["encoder"]
    assert 0 < mean["ours"]["MRR"]["value"] <= 1
    tested = [row for row in made["4"]["rows"] if row["p"]]
    assert {row["name"] for row in tested} >= {"BM25Okapi", "BM25Plus"}
    assert made["4"]["not_comparable"]
    assert {"tables.json", "tables.md", "tables.html"} <= {file.name for file in out.iterdir()}
    assert "<svg" in (out / "tables.html").read_text("utf-8")

    kept = {file: file.stat().st_mtime_ns for file in (out / "figures").iterdir()}
    text = run("ilciter", "--data", papers, "--quick", "--out", out, "--jobs", "1", "--tables", "4")
    assert "table 4: Conditional ensembling" in text.stdout
    assert "table 5" not in text.stdout
    assert "Made by `whycite reproduce ilciter --quick --tables 4 --seed 0`" in (out / "tables.md").read_text("utf-8")
    assert {file: file.stat().st_mtime_ns for file in (out / "figures").iterdir()} == kept  # nothing is measured again


def test_mistakes_are_said_before_anything_is_read(
    papers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def said(*arguments: str | Path) -> str:
        exception = run(*arguments, "--out", tmp_path / "out").exception
        assert isinstance(exception, UserError)
        return str(exception)

    monkeypatch.delenv("WHYCITE_DATA", raising=False)
    assert "give papers with --data, or set $WHYCITE_DATA" in said("ilciter")
    assert "no table '3' to make; choose from: 2, 4, 5" in said("ilciter", "--data", papers, "--tables", "3")
    assert "give both --tasks and --answers" in said("thesis", "--tasks", papers)
    assert "give --data, or set $WHYCITE_DATA" in said("thesis")
    assert "give a folder of them with --drafts" in said("scope", "--data", papers, "--tables", "8")
    quick = ("ilciter", "--data", papers, "--quick", "--tables", "2", "--topics", "X=study|S", "--jobs", "1")
    run(*quick, "--out", tmp_path / "out")
    assert "choose another --out" in said(*quick, "--seed", "1")


def test_a_run_that_is_stopped_says_what_it_keeps_and_continues(
    papers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ("ilciter", "--data", papers, "--quick", "--out", tmp_path / "out", "--jobs", "1", "--tables", "2")
    measure = FigureStore.measure
    computed: list[str] = []

    def recorded(store: FigureStore, name: str, compute: Callable[[], Any]) -> Any:
        def counted() -> Any:
            computed.append(name)
            return compute()

        return measure(store, name, counted)

    def stopped(*arguments: Any) -> Any:
        recorded(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(FigureStore, "measure", stopped)
        result = run(*arguments)
    assert isinstance(result.exception, Interruption)
    assert "1 measurement kept in" in str(result.exception)
    assert "run the command again to continue" in str(result.exception)
    monkeypatch.setattr(FigureStore, "measure", recorded)
    assert run(*arguments).exit_code == 0
    assert len(computed) == 1  # what was kept is not measured again


def test_thesis_models_learn_what_can_be_learned(claims: Path, tmp_path: Path) -> None:
    words = vectors(tmp_path)
    shared = ("--data", claims, "--other", claims, "--vectors", words, "--quick", "--json")
    made = tables(run("thesis", *shared, "--out", tmp_path / "out", "--tables", "4.1,7.1,7.3"))
    votes = {(row["group"], row["name"]): row["ours"] for row in made["4.1"]["rows"] if row["ours"]}
    assert {("BR", "Vote 3"), ("BR", "GLAD 4"), ("BC-E", "Vote 3"), ("BC-R", "Vote 3")} <= votes.keys()
    assert any("simulated" in note for note in made["4.1"]["notes"])
    rows = {row["name"]: row for row in made["7.1"]["rows"]}
    assert list(rows) == ["majority", "high majority", "unanimous", "augmented", "marked by annotators"]
    assert "pairs to train on" in rows["majority"]["note"]
    other = {row["name"]: row for row in made["7.3"]["rows"] if row["ours"]}
    assert list(other) == ["claims, majority of votes", "claims, marked by annotators"]
    assert other["claims, majority of votes"]["ours"]["attention"]["value"] > 0
    assert any("simulated" in note for note in made["7.3"]["notes"])


def test_scope_trains_all_models_and_tells_of_each_epoch(papers: Path, tmp_path: Path) -> None:
    tiny = tiny_base()
    save_base(tmp_path / "base", tiny.model, tiny.tokenizer, max_tokens=32)
    drafts = tmp_path / "drafts"
    drafts.mkdir()
    (drafts / "draft.md").write_text(DRAFT, "utf-8")
    out = tmp_path / "out"
    shared = ("--data", papers, "--drafts", drafts, "--base", tmp_path / "base", "--quick", "--out", out, "--json")
    made = tables(run("scope", *shared))
    assert list(made) == ["2", "3", "4", "5", "6", "7", "8", "9", "11", "13", "14"]

    def ours(number: str) -> list[str]:
        return [row["name"] for row in made[number]["rows"] if row["ours"]]

    assert made["2"]["conditions"]["ours"]["data"] == "section headings of 24 papers"
    assert ours("3")[:4] == ["ctx", "ctx-section-extra", "ctx-section-always", "ctx-section-first"]
    assert ours("14") == ["solo", "solo-section-extra", "solo-section-firstalways"]
    assert len(ours("4")) == 8
    assert sum(name.startswith("SciBERT-") for name in ours("6")) == 6
    assert ours("7")[-2:] == ["Most Popular baseline", "LocalBM25-paragraph (no masking)"]
    assert [row["group"] for row in made["7"]["rows"][-2:]] == ["any d"] * 2  # not those of the d above them
    assert ours("8") == ["Pipeline", "nothing is asked (ours)"]
    epochs = [row for row in made["9"]["rows"] if row["ours"]]
    assert [row["name"] for row in epochs] == ["1", "2"]
    assert epochs[0]["paper"]["MRR"] == {"value": 0.58, "spread": 0.005}
    variants = {json.loads((folder / "scope.json").read_text("utf-8"))["variant"] for folder in out.glob("ranker-*")}
    assert len(variants) == 6  # six trainings
    assert all("k" in made[number]["conditions"]["ours"] for number in ("4", "6", "7"))
    assert "by section" in made["4"]["conditions"]["ours"]["pool"]
    assert "by paper" not in made["4"]["conditions"]["ours"]["pool"]
    assert "trained on the older half of those held out" in made["11"]["conditions"]["ours"]["data"]
    groups = [row["group"] for row in made["11"]["rows"]]
    assert groups == sorted(groups)  # rows that only we have stand with theirs


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("paper", ["ilciter", "scope", "thesis"])
def test_quick_runs_through_on_real_data(
    paper: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WHYCITE_DATA", str(data))
    made = tables(run(paper, "--quick", "--out", tmp_path / "out", "--json"))
    assert all(any(row["ours"] for row in table["rows"]) for table in made.values())
