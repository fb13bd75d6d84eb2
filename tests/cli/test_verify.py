"""`whycite verify` as a user runs it."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from whycite.errors import UserError

Run = Callable[..., Result]
pytestmark = pytest.mark.usefixtures("judged_by_words")

PAPER = """\
---
title: Busy bees need rest, too
date: 1988
---

# Results

Foraging honeybees sleep at night and hang their antennae low.
The temperature of the thorax fell by 7.7 % during sleep.
We painted the antennae of forty bees.
"""
DRAFT = """\
---
title: A draft
references:
- {id: kaiser, title: "Busy bees need rest, too", author: [{family: Kaiser}], issued: 1988}
- {id: roe, title: A paper that nobody has at hand here, author: [{family: Roe}], issued: 2001}
---

# Introduction

Honeybees that forage sleep at night [@kaiser].
Ants never sleep at all in the dry season [@roe].
"""
CLAIM = "Honeybees that forage sleep at night"


@pytest.fixture
def paper(tmp_path: Path) -> Path:
    (tmp_path / "papers").mkdir()
    path = tmp_path / "papers" / "bees.md"
    path.write_text(PAPER, "utf-8")
    return path


@pytest.fixture
def draft(tmp_path: Path) -> Path:
    path = tmp_path / "draft.md"
    path.write_text(DRAFT, "utf-8")
    return path


def _lines(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, (result.output, result.exception)
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_a_person_reads_verdict_reason_and_passages(run: Run, paper: Path) -> None:
    result = run("verify", "--claim", CLAIM, paper, "-n", "1")
    assert result.exit_code == 0, result.exception
    verdict, reason, _, passage, beside = result.stdout.splitlines()
    assert verdict.startswith("backed, ")
    assert verdict.endswith("%)")
    assert reason == "A sentence in “Results” says so."
    assert passage.lstrip(" ▶") == "1  “Foraging honeybees sleep at night and hang their antennae low.”"
    assert "█" in beside
    assert beside.endswith("  Results")


def test_numbers_are_told(run: Run, paper: Path) -> None:
    shown = run("verify", "--claim", "The temperature of the thorax fell by 77 % during sleep", paper).stdout
    assert not shown.startswith("backed")
    assert "77 % in the claim, 7.7 % here" in shown


def test_json_has_the_agreed_keys(run: Run, paper: Path) -> None:
    (found,) = _lines(run("verify", "--claim", CLAIM, paper, "--json", "-n", "2"))
    assert found["verdict"] == "backed"
    assert len(found["passages"]) == 2
    assert found["passages"][0].keys() >= {"rank", "index", "score", "text", "section"}


def test_claim_and_paper_from_standard_input(run: Run, paper: Path) -> None:
    (found,) = _lines(run("verify", "--claim", "-", paper, "--json", stdin=CLAIM))
    assert found["claim"] == CLAIM
    (found,) = _lines(run("verify", "--claim", CLAIM, "-", "--json", stdin=PAPER))
    assert found["verdict"] == "backed"
    assert isinstance(run("verify", "--claim", "-", "-").exception, UserError)


def test_a_draft(run: Run, draft: Path, paper: Path) -> None:
    shown = run("verify", draft, "--papers", paper.parent).stdout
    assert "backed, " in shown
    assert "“Honeybees that forage sleep at night.”" in shown
    assert f"{draft}:10  Introduction" in shown
    assert "  cites kaiser: Busy bees need rest, too" in shown
    assert "No full text of 1 paper" in shown
    assert "   1×  Roe (2001). A paper that nobody has at hand here" in shown
    assert "Ants never sleep" not in shown  # one line a paper, not a block a citation
    assert shown.splitlines()[-1] == "2 citations: 1 backed, 1 could not check."


def test_a_chapter_that_is_missing_and_a_folder_without_papers_are_told(run: Run, paper: Path, tmp_path: Path) -> None:
    draft = tmp_path / "thesis.tex"
    text = r"Bees sleep~\cite{kaiser}.\input{method}\bibliography{refs}"
    draft.write_text(rf"\documentclass{{article}}\begin{{document}}{text}\end{{document}}", "utf-8")
    (tmp_path / "refs.bib").write_text("@article{kaiser, title = {Busy bees need rest, too}}", "utf-8")
    told = " ".join(run("verify", draft, "--papers", paper.parent).stderr.split())
    assert told.endswith(r"thesis.tex:1: \input{method}: file not found in this folder")
    (tmp_path / "pictures").mkdir()
    for format in ("text", "json"):
        result = run("verify", draft, "--papers", tmp_path / "pictures", "--format", format)
        assert "pictures: contains no document that whycite can read" in " ".join(result.stderr.split())
        assert "could not check" in result.stdout


def test_a_draft_as_a_page(run: Run, draft: Path, paper: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    result = run("verify", draft, "--papers", paper.parent, "--format", "html", "--out", page)
    assert (result.exit_code, result.stdout) == (0, ""), result.exception
    text = page.read_text("utf-8")
    assert "2 citations: 1 backed, 1 could not check." in text
    assert "Foraging honeybees sleep at night and hang their antennae low." in text
    assert "<code>draft.md:10</code>" in text
    assert str(tmp_path) not in text  # folders are private


def test_a_draft_as_markdown(run: Run, draft: Path, paper: Path, tmp_path: Path) -> None:
    file = tmp_path / "review.md"
    printed = run("verify", draft, "--papers", paper.parent, "--format", "markdown").stdout
    assert run("verify", draft, "--papers", paper.parent, "--format", "markdown", "--out", file).stdout == ""
    assert file.read_text("utf-8") == printed
    assert printed.startswith("# Citations of “A draft”\n\n2 citations: 1 backed, 1 could not check.\n")
    assert "> “Honeybees that forage sleep at night.”" in printed


def test_a_draft_of_four_hundred_citations_without_papers(run: Run, tmp_path: Path) -> None:
    """The report names the papers; it does not repeat for every citation that it could not be checked."""
    draft = tmp_path / "draft.md"
    entries = [
        f"- {{id: r{n}, title: Ants of the dry season number {n}, author: [{{family: Roe{n}}}], issued: 2001}}"
        for n in range(40)
    ]
    text = "\n\n".join(f"Ants of kind {n} never sleep in the dry season [@r{n % 40}]." for n in range(400))
    head = "\n".join(["---", "title: How ants rest in the dry season", "references:", *entries, "---"])
    draft.write_text(f"{head}\n\n{text}\n", "utf-8")
    folder = tmp_path / "papers"
    folder.mkdir()
    shown = run("verify", draft, "--papers", folder).stdout.splitlines()
    assert shown[-1] == "400 citations: 400 could not check."
    assert len(shown) < 25
    assert shown[1] == "  10×  Roe0 (2001). Ants of the dry season number 0"
    assert "and 20 more; --format html lists them all" in shown[21]
    printed = run("verify", draft, "--papers", folder, "--format", "markdown").stdout.splitlines()
    assert len(printed) < 60
    assert "<details><summary>20 more</summary>" in printed
    assert "- `r39` Roe39 (2001). Ants of the dry season number 39. 10 citations" in printed
    assert (
        run("verify", draft, "--papers", folder, "--format", "html", "--out", tmp_path / "report.html").exit_code == 0
    )
    assert (tmp_path / "report.html").stat().st_size < 30_000
    lines = _lines(run("verify", draft, "--papers", folder, "--json"))
    assert len(lines) == 400
    assert all(line["missing"] and "notes" not in line for line in lines)


def test_a_name_that_disagrees_with_the_reference_is_noted(run: Run, draft: Path, paper: Path) -> None:
    draft.write_text(DRAFT.replace("Ants never", "Smith et al. (2019) [@roe] say that ants never"), "utf-8")
    _, ants, _ = _lines(run("verify", draft, "--papers", paper.parent, "--json"))
    assert ants["notes"] == ["the sentence says Smith 2019, the entry is Roe 2001"]
    assert ants["verdict"] == "could not check"
    shown = run("verify", draft, "--papers", paper.parent).stdout
    assert "  note: the sentence says Smith 2019, the entry is Roe 2001" in shown


def test_a_draft_as_json(run: Run, draft: Path, paper: Path) -> None:
    bees, ants = _lines(run("verify", draft, "--papers", paper.parent, "--json"))
    assert bees["reference"] == {
        "id": "kaiser",
        "title": "Busy bees need rest, too",
        "authors": ["Kaiser"],
        "year": 1988,
        "doi": "",
    }
    assert "notes" not in bees
    assert (bees["file"], bees["line"]) == (str(draft), 10)
    assert bees["paper"] == str(paper)
    assert bees["verdict"] == "backed"
    assert (ants["verdict"], ants["paper"], ants["passages"]) == ("could not check", "", [])


@pytest.mark.parametrize(
    ("verdicts", "code"), [(["backed"], 1), (["contradicted"], 0), (["contradicted", "could not check"], 1)], ids=str
)
def test_exit_code(run: Run, draft: Path, paper: Path, verdicts: list[str], code: int) -> None:
    options = [word for verdict in verdicts for word in ("--fail-on", verdict)]
    assert run("verify", draft, "--papers", paper.parent, *options).exit_code == code


def test_exit_code_of_one_claim(run: Run, paper: Path) -> None:
    assert run("verify", "--claim", "Galaxies have arms of stars", paper, "--fail-on", "not found").exit_code == 1


def test_a_batch(run: Run, tmp_path: Path) -> None:
    sentences = ["Wasps build nests of paper.", "Foraging honeybees sleep at night.", "Ants carry leaves."]
    records = [{"id": "a", "claim": CLAIM, "sentences": sentences}, {"id": 2, "claim": CLAIM, "sentences": []}]
    path = tmp_path / "batch.jsonl"
    path.write_bytes("\r\n".join(json.dumps(record) for record in records).encode())
    for result in (run("verify", "--batch", path), run("verify", "--batch", "-", stdin=path.read_bytes())):
        first, second = _lines(result)
        assert first["id"] == "a"
        assert first.keys() >= {"id", "scores", "verdict", "confidence"}
        assert len(first["scores"]) == 3
        assert max(first["scores"]) == first["scores"][1]
        assert (second["id"], second["scores"], second["verdict"]) == (2, [], "could not check")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "invalid JSON"),
        ("[]", "expected a JSON object"),
        ('{"id": 1, "sentences": []}', '"claim" is missing'),
        ('{"id": 1, "claim": "a", "sentences": [1]}', '"sentences" must be a list of strings'),
        ('{"id": 1, "claim": 2, "sentences": []}', '"claim" must be a string'),
        ('{"id": [], "claim": "a", "sentences": []}', '"id" must be'),
        ('{"id": 1, "claim": " ", "sentences": ["a"]}', "claim is empty"),
        ('{"id": 1, "claim": "a", "sentences": ["a"], "sections": []}', "0 headings for 1 sentences"),
    ],
)
def test_mistakes_in_a_batch_name_file_and_line(run: Run, tmp_path: Path, line: str, told: str) -> None:
    path = tmp_path / "batch.jsonl"
    path.write_text(f'{{"id": 0, "claim": "bees", "sentences": []}}\n{line}\n', "utf-8")
    result = run("verify", "--batch", path)
    assert isinstance(result.exception, UserError)
    assert str(result.exception).startswith(f"{path}:2: ")
    assert told in str(result.exception)
    assert json.loads(result.stdout)["id"] == 0


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["paper.md", "--claim", " "],
        ["paper.md", "--claim", "a", "--papers", "x"],
        ["paper.md", "--batch", "x"],
        ["paper.md", "--heatmap"],
        ["paper.md", "--claim", "a", "--format", "html"],
        ["paper.md", "--claim", "a", "--out", "x"],
        ["paper.md", "--claim", "a", "--format", "markdown"],
        ["paper.md", "--format", "html"],
        ["paper.md", "--out", "x"],
        ["--batch", "x", "--format", "markdown"],
        ["paper.md", "--claim", "a", "--json", "--format", "text"],
        ["paper.md", "--claim", "a", "--heatmap", "--json"],
        ["paper.md", "--claim", "a", "--fail-on", "wrong"],
        ["nowhere.md", "--claim", "a bee"],
    ],
    ids=" ".join,
)
def test_mistakes(run: Run, arguments: list[str]) -> None:
    assert isinstance(run("verify", *arguments).exception, UserError)


def test_heat_maps(run: Run, paper: Path, tmp_path: Path) -> None:
    shown = run("verify", "--claim", CLAIM, paper, "--heatmap")
    assert shown.exit_code == 0, shown.exception
    assert "Foraging honeybees sleep at night" in shown.stdout
    page = tmp_path / "page.html"
    assert run("verify", "--claim", CLAIM, paper, "--format", "html", "--out", page).exit_code == 0
    assert "Foraging honeybees sleep at night" in page.read_text("utf-8")


def test_control_codes_do_not_reach_the_terminal(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "paper.md"
    path.write_text("# Results\n\nBees \x1b[31msleep [bold]at night[/bold] in hives.\n", "utf-8")
    shown = run("verify", "--claim", "Bees sleep at night", path).stdout
    assert "\x1b" not in shown
    assert "[bold]" in shown


def test_a_long_document(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "thesis.md"
    lines = [f"Sentence {n} is about the weather of the {n}th day in some small town." for n in range(6000)]
    path.write_text("# Results\n\n" + "\n\n".join([*lines, "Foraging honeybees sleep at night."]), "utf-8")
    start = time.process_time()
    (found,) = _lines(run("verify", "--claim", CLAIM, path, "--json", "-n", "1"))
    assert found["passages"][0]["text"] == "Foraging honeybees sleep at night."
    assert time.process_time() - start < 30
