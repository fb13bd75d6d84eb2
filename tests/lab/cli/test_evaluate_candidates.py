"""`whycite eval candidates` from the papers to the tables."""

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from whycite.errors import UserError
from whycite.lab.cli.evaluate_candidates import candidates
from whycite.lab.scope.autoencoder import load_autoencoder
from whycite.lab.scope.candidates import DraftPart

app = typer.Typer(rich_markup_mode=None)
app.command()(candidates)
FAST = ("--methods", "most-popular,co-occurrence,local-bm25")


def _record(number: int) -> dict[str, object]:
    """A paper that cites four of eight works, half of them in its methods."""
    entries, body = {}, []
    for heading, works in (("Introduction", range(2)), ("Methods", range(2, 4))):
        text, spans = "", []
        for at in works:
            work = (number + at) % 8
            text += f"Finding number{work} is well known ("
            spans.append({"start": len(text), "end": len(text) + 9, "text": "Doe, 2001", "ref_id": f"b{work}"})
            text += "Doe, 2001). "
            title = f"The report on finding number{work} and its long history"
            entries[f"b{work}"] = {"title": title, "authors": ["Doe J"], "year": 2001, "doi": f"10.1/{work}"}
        body.append({"section": heading, "text": text.strip(), "cite_spans": spans})
    return {
        "paper_id": str(number),
        "doi": f"10.9/{number:02}",
        "title": f"Study number {number} of what is known",
        "abstract": "We study.",
        "year": 2020,
        "pub_date": f"2020-01-{number + 1:02}",
        "subjects": ["Ecology" if number % 2 else "Neuroscience"],
        "body_text": body,
        "bib_entries": entries,
    }


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("papers") / "papers.jsonl"
    path.write_text("".join(json.dumps(_record(number)) + "\n" for number in range(16)), "utf-8")
    return path


def _run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["--data", *map(str, arguments)])


def _json(*arguments: str | Path) -> dict[str, object]:
    result = _run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    found: dict[str, object] = json.loads(result.stdout)
    return found


def test_every_row_of_every_table(papers: Path, tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("study 1 0\nnumber 0 1\n", "utf-8")
    result = _run(papers, "--epochs", "1", "--again", "--held-out", "4", "--k", "3", "--word-vectors", words)
    assert result.exit_code == 0, result.output
    shown = result.stdout
    for table in (
        "by paper (SCOPE, table 4)",
        "by section (SCOPE, table 4)",
        "(SCOPE, table 5)",
        "(SCOPE, table 11)",
        "(SCOPE, table 7)",
    ):
        assert table in shown
    for head in ("d = 0.2", "d = 0.5", "d = 0.8", "MRR", "R@3"):
        assert head in shown
    for method in ("random", "accumulated-bm25", "most-popular", "co-occurrence", "local-bm25"):
        assert method in shown
    for trained in ("aae-none", "aae-title", "aae-section-title", "aae-section"):
        lines = [line.split() for line in shown.splitlines() if line.split()[:1] == [trained]]
        marks = [line[1:3] for line in lines]
        for by in ("paper", "section"):
            assert [by, "0"] in [[mark[0], mark[1][0]] for mark in marks]
            assert {(by + ",", "old"), (by + ",", "new")} <= {tuple(mark) for mark in marks}
    assert "16 documents with citations, 4 held out (2020-01-13 to 2020-01-16)." in shown
    assert "…" not in shown


def test_json_and_choices(papers: Path) -> None:
    found = _json(papers, *FAST, "--by", "section", "--drop", "0.5", "--drop", "0.2", "--held-out", "3", "--k", "2")
    assert {(row["by"], row["drop"]) for row in found["sets"]} == {("section", 0.5), ("section", 0.2)}  # type: ignore[attr-defined]
    assert found["setting"]["k"] == 2  # type: ignore[index]
    assert found["held_out"] == 3
    assert found == _json(
        papers, *FAST, "--by", "section", "--drop", "0.5", "--drop", "0.2", "--held-out", "3", "--k", "2"
    )


def test_topic_floor_limit_and_lot(papers: Path) -> None:
    found = _json(papers, *FAST, "--topic", "ecology", "--held-out", "2", "--floor", "2", "--limit", "1", "--seed", "3")
    assert found["documents"] == 8
    assert {row["asked"] for row in found["sets"]} == {1}  # type: ignore[attr-defined]
    lot = _json(papers, *FAST, "--split", "document", "--held-out", "2")
    assert lot["newest"] != "2020-01-16" or lot["oldest"] != "2020-01-15"


def test_autoencoders_are_kept(papers: Path, tmp_path: Path) -> None:
    _json(papers, "--methods", "aae-section,random", "--epochs", "1", "--by", "paper", "--out", tmp_path / "kept")
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["aae-section-by-paper.npz"]
    made = load_autoencoder(tmp_path / "kept" / "aae-section-by-paper.npz")
    assert len(made.recommend(DraftPart(section_types=("method",)), k=3)) == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--methods", "nothing"), "unknown recommender 'nothing'"),
        (("--drop", "1"), "must be between 0 and 1"),
        (("--topic", "a,b"), "takes one topic, not 2"),
        (("--topic", "history"), "is not a subject of these papers"),
        (("--held-out", "16"), "cannot hold out 16"),
        ((*FAST, "--floor", "99"), "no papers to recommend"),
    ],
    ids=["method", "drop", "topics", "topic", "held out", "floor"],
)
def test_mistakes(papers: Path, arguments: tuple[str, ...], message: str) -> None:
    result = _run(papers, *arguments)
    assert isinstance(result.exception, UserError)
    assert message in str(result.exception)


def test_real_articles(data: Path) -> None:
    articles = data / "elife" / "elife-tiny.jsonl.zst"
    methods = "aae-none,most-popular,co-occurrence,local-bm25"
    found = _json(articles, "--methods", methods, "--by", "section", "--epochs", "1", "--k", "200", "--limit", "10")
    assert found["documents"] == 60
    recall = {row["method"]: row["recall"]["mean"] for row in found["contexts"] if row["drop"] in (None, 0.2)}  # type: ignore[attr-defined]
    assert 0 < recall["local-bm25"] <= 1
    assert 0 < recall["co-occurrence"] <= 1
