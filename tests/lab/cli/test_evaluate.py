"""`whycite eval` as a user runs it, on a small corpus made for it and on real papers."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from whycite.cli import app
from whycite.errors import MissingExtra, UserError
from whycite.lab.evaluate.comparison import evaluate, read_qrels, read_run

FACTS = [
    "Sleep spindles support the consolidation of memory",
    "Place cells fire when the animal is at one place",
    "Dopamine neurons signal errors of predicted reward",
    "Grid cells tile the environment in hexagons",
    "Pruning of synapses shapes the circuits of adolescents",
]


def whycite(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from whycite.cli import main; main()", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)


def run(*arguments: str | Path) -> str:
    """What a command prints, run in this process."""
    result = CliRunner().invoke(app, [*map(str, arguments)])
    if result.exception is not None:
        raise result.exception
    assert result.stderr == ""
    return result.stdout


def record(number: int, subject: str) -> dict[str, Any]:
    """A paper that cites four of the five works, each for what it found."""
    text, spans = "", []
    for at in range(number, number + 4):
        text += f"As study {number} saw, {FACTS[at % 5].lower()} ("
        spans.append({"start": len(text), "end": len(text) + 9, "text": "Doe, 2001", "ref_id": f"b{at % 5}"})
        text += "Doe, 2001). "
    return {
        "paper_id": str(number),
        "doi": f"10.9/{number:02}",
        "title": f"Study number {number} of what brains do all day long",
        "abstract": "We study named entities (NER)." if subject == "Ecology" else "We study.",
        "year": 2020,
        "pub_date": f"2020-01-{number + 1:02}",
        "subjects": [subject],
        "body_text": [{"section": "Introduction", "text": text.strip(), "cite_spans": spans}],
        "bib_entries": {f"b{at}": {"title": fact, "year": 2001, "doi": f"10.1/{at}"} for at, fact in enumerate(FACTS)},
    }


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two files: seven papers of a subject, five of another."""
    folder = tmp_path_factory.mktemp("papers")
    for name, subject, numbers in (("a", "Neuroscience", range(7)), ("b", "Ecology", range(10, 15))):
        lines = (json.dumps(record(number, subject)) + "\n" for number in numbers)
        (folder / f"{name}.jsonl").write_text("".join(lines))
    return folder


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where what is made is kept for all tests."""
    return tmp_path_factory.mktemp("work")


def ilciter(papers: Path, work: Path, *more: str | Path) -> list[str | Path]:
    given = [papers / "a.jsonl", papers / "b.jsonl"]  # as a shell writes --data *.jsonl
    topics = "neuro,NER=named entities|NER"
    return [
        "eval",
        "ilciter",
        "--topics",
        topics,
        "--held-out",
        "2",
        "--jobs",
        "1",
        "--work",
        work,
        *more,
        "--data",
        *given,
    ]


def figures(result: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert result.returncode == 0, result.stderr
    content: dict[str, Any] = json.loads(result.stdout)
    return content


def test_the_whole_experiment(papers: Path, work: Path, tmp_path: Path) -> None:
    found = figures(whycite(*ilciter(papers, work, "--claims", "6", "--json", "--out", tmp_path / "out")))
    assert found["seed"] == 0
    neuro, ner = found["topics"]
    assert (neuro["topic"], neuro["rule"], neuro["papers"]) == ("Neuroscience", "subject Neuroscience", 5)
    assert (ner["topic"], ner["rule"], ner["papers"]) == ("NER", "abstract holds named entities or NER", 3)
    assert neuro["held_out"] == {"papers": 2, "oldest": "2020-01-06", "newest": "2020-01-07"}
    assert neuro["database"]["papers"] == 5
    assert neuro["claims"]["answerable"] == neuro["claims"]["all"]
    for topic in (neuro, ner):
        for choice in ("random", "supported"):
            chosen = topic["choices"][choice]
            assert chosen["claims"] == 6
            rows = {row["method"]: row for row in chosen["methods"]}
            assert len(rows) == 9
            assert rows["whycite"]["means"]["MRR"] > 0.9
            assert rows["whycite"]["p"].keys() == {"ilciter", "bm25-okapi"}
            stem = f"{topic['topic'].lower()}.{choice}"
            truth = read_qrels(tmp_path / "out" / f"{stem}.qrels")
            claims = (tmp_path / "out" / f"{stem}.claims.jsonl").read_text().splitlines()
            assert {json.loads(claim)["id"] for claim in claims} == set(truth)
            for method, row in rows.items():
                run = read_run(tmp_path / "out" / f"{stem}.{method}.run")
                assert evaluate(run, truth).means == pytest.approx(row["means"])


def test_the_same_again_and_in_tables(papers: Path, work: Path) -> None:
    asked = ilciter(papers, work, "--claims", "4", "--choice", "random", "--methods", "bm25-okapi,ilciter,whycite")
    once = run(*asked)
    assert run(*asked) == once
    lines = once.splitlines()
    assert "Neuroscience: 4 claims chosen at random." in lines
    assert not any("supported" in line or "table 5" in line for line in lines)
    (statistics,) = [line.split() for line in lines if line.startswith(" Neuroscience ")]
    assert (statistics[1], statistics[5], statistics[6]) == ("5", "5", "2")  # papers, cited papers, held out
    heads = next(line.split() for line in lines if "Method" in line)
    assert heads == [
        "Method",
        "MRR",
        "95%",
        "CI",
        "R@1",
        "R@3",
        "R@5",
        "R@10",
        "ilciter",
        "ilciter",
        "ilciter",
        "bm25-okapi",
    ]
    row = next(line.split() for line in lines if line.startswith(" ilciter "))
    assert row[7:10] == ["–", "–", "–"]  # not held against itself


def test_progress_is_shown_on_a_terminal(papers: Path, work: Path) -> None:
    asked = ilciter(papers, work, "--claims", "4", "--methods", "bm25-okapi", "--json")
    result = CliRunner().invoke(app, [*map(str, asked)], env={"FORCE_COLOR": "1", "TERM": "xterm"})
    assert "published methods" in result.stderr
    assert result.stdout == run(*asked)  # and changes nothing


def test_the_seed_decides(papers: Path, work: Path, tmp_path: Path) -> None:
    def asked(seed: str) -> tuple[str, str]:
        more = ("--claims", "4", "--choice", "random", "--methods", "bm25-okapi", "--seed", seed, "--out", tmp_path)
        return run(*ilciter(papers, work, *more)), (tmp_path / "neuroscience.random.claims.jsonl").read_text()

    assert asked("3") == asked("3")
    assert asked("3")[1] != asked("4")[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--topics", "botany"],
            "topic 'botany' is not a subject of these papers; choose one of: Ecology, Neuroscience",
        ),
        (
            ["--topics", "ecology", "--held-out", "5"],
            "topic 'ecology' (subject Ecology): cannot hold out 5 of 5 papers",
        ),
        (["--topics", "neuro", "--methods", "best"], "unknown method 'best'; choose one of: bm25-okapi, "),
        (["--topics", "neuro", "--data", "none"], "none: no such file or folder"),
        (["--topics", "neuro,"], "'' is not a topic; give a subject"),
    ],
    ids=["topic", "too few", "method", "data", "no topic"],
)
def test_mistakes(papers: Path, tmp_path: Path, options: list[str], message: str) -> None:
    with pytest.raises(UserError) as told:
        run("eval", "ilciter", "--data", papers, "--work", tmp_path, *options)
    assert str(told.value).startswith(message)


def test_a_mistake_is_one_sentence(papers: Path, tmp_path: Path) -> None:
    result = whycite("eval", "ilciter", "--data", papers, "--work", tmp_path, "--topics", "botany")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == (
        "whycite: topic 'botany' is not a subject of these papers; choose one of: Ecology, Neuroscience\n"
    )


@pytest.mark.parametrize("command", [["ilciter", "--topics", "neuro"], ["contexts"]], ids=["ilciter", "contexts"])
def test_without_the_extra(papers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]) -> None:
    """Said before anything is read or made."""
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    with pytest.raises(MissingExtra, match=r"^Evaluation needs more packages: pip install 'whycite\[eval\]'$"):
        run("eval", *command, "--data", papers, "--work", tmp_path)
    assert not list(tmp_path.iterdir())


def test_contexts(tmp_path: Path) -> None:
    papers = ({"paper_id": f"P{at}", "title": fact, "year": 2001} for at, fact in enumerate(FACTS))
    (tmp_path / "papers.jsonl").write_text("".join(json.dumps(paper) + "\n" for paper in papers))
    contexts = (
        {"context_id": f"c{at}", "text_masked": f"{fact} [CIT].", "cited": [f"P{at}"]} for at, fact in enumerate(FACTS)
    )
    (tmp_path / "contexts.jsonl").write_text("".join(json.dumps(context) + "\n" for context in contexts))
    command = ("eval", "contexts", "--data", tmp_path, "--limit", "4", "--methods", "bm25-okapi,encoder")
    found = json.loads(run(*command, "--json", "--seed", "2", "--out", tmp_path / "out"))
    assert (found["papers"], found["claims"], found["seed"]) == (5, {"asked": 4, "all": 5}, 2)
    assert [row["means"]["MRR"] for row in found["methods"]] == [1, 1]
    assert len(read_run(tmp_path / "out" / "contexts.encoder.run")) == 4
    shown = run(*command)
    assert "4 of 5 citing sentences, 5 papers to choose from." in shown
    assert "bm25-okapi" in shown


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_real_papers(data: Path, tmp_path: Path) -> None:
    """The published methods are near each other on real papers, and ours is better."""
    tiny = data / "elife" / "elife-tiny.jsonl.zst"
    options = ("--topics", "neuro", "--held-out", "10", "--claims", "80", "--choice", "random", "--work", tmp_path)
    methods = "bm25-okapi,ilciter,whycite"
    (topic,) = figures(whycite("eval", "ilciter", "--data", tiny, *options, "--methods", methods, "--json"))["topics"]
    rows = {row["method"]: row["means"] for row in topic["choices"]["random"]["methods"]}
    assert topic["claims"]["answerable"] > 400
    assert rows["ilciter"]["MRR"] == pytest.approx(rows["bm25-okapi"]["MRR"], abs=0.05)
    assert rows["whycite"]["MRR"] > 1.4 * rows["ilciter"]["MRR"]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_real_contexts(data: Path, tmp_path: Path) -> None:
    options = ("--limit", "100", "--work", tmp_path, "--json")
    found = figures(whycite("eval", "contexts", "--data", data / "nlp-contexts", *options))
    rows = {row["method"]: row["means"] for row in found["methods"]}
    assert found["claims"]["asked"] == 100
    assert rows["encoder"]["MRR"] > rows["bm25-okapi"]["MRR"] > 0.2
    assert rows["whycite"]["MRR"] > rows["bm25-okapi"]["MRR"]
