"""`whycite references`: command in, answer out."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

Run = Callable[..., Result]

BIBLIOGRAPHY = """\
@article{vaswani, title = {Attention Is All You Need}, author = {Vaswani, Ashish and Shazeer, Noam}, journal = {X},
  year = 2017, doi = {10.1000/attention}}
@article{wrong, title = {Wasps sleep}, author = {Smith, Ann}, journal = {X}, year = 2017, doi = {10.1000/Attention}}
@article{kaiser, title = {Busy bees need rest, too}, author = {Jones, Ann}, journal = {X}, year = 2034}
@misc{unused, title = {Never cited}}
"""
DRAFT = r"""\documentclass{article}
\begin{document}
Attention is enough~\cite{vaswani,wrong}. Bees sleep~\cite{kaiser,lost}.
\bibliography{refs}
\end{document}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "refs.bib").write_text(BIBLIOGRAPHY, "utf-8")
    (tmp_path / "draft.tex").write_text(DRAFT, "utf-8")
    return tmp_path


def _rules(result: Result) -> dict[str, tuple[str, list[str]]]:
    references: list[dict[str, Any]] = json.loads(result.stdout)["references"]
    return {
        reference["key"]: (reference["verdict"], [problem["rule"] for problem in reference["problems"]])
        for reference in references
    }


def test_a_draft_beside_a_library(run: Run, project: Path, library: Path) -> None:
    result = run("references", "draft.tex", "--library", library, "--json")
    assert result.exit_code == 0
    assert _rules(result) == {
        "vaswani": ("confirmed", ["authors-missing"]),
        "wrong": ("differs", ["title-differs", "shared-identifier"]),
        "kaiser": ("unknown", ["future-year"]),  # too short a title to tell that it is the same paper
        "unused": ("unknown", ["uncited"]),
        "lost": ("unknown", ["missing-entry"]),
    }


def test_a_bibliography_without_a_library(run: Run, project: Path) -> None:
    result = run("references", "refs.bib")
    assert result.exit_code == 0
    assert "refs.bib:3: wrong  unknown" in result.stdout
    assert "error: 2034 is in the future (future-year)" in result.stdout
    assert "never cited" not in result.stdout
    assert "0 confirmed, 0 differ, 0 retracted, 4 unknown; 3 errors" in result.stdout


def test_findings_can_fail_the_command(run: Run, project: Path) -> None:
    assert run("references", "refs.bib", "--fail-on", "error").exit_code == 1
    (project / "refs.bib").write_text("@misc{a, title = {Bees}, doi = {doi:10.1000/x}}", "utf-8")
    assert run("references", "refs.bib", "--fail-on", "warning").exit_code == 0
    assert run("references", "refs.bib", "--fail-on", "note").exit_code == 1


def test_fix_shows_a_diff_and_writes_only_when_asked(run: Run, project: Path) -> None:
    (project / "refs.bib").write_text("@misc{a, title = {Bees}, doi = {doi:10.1000/x}}\n", "utf-8")
    result = run("references", "refs.bib", "--fix")
    assert result.exit_code != 0  # it cannot ask
    assert "+@misc{a, title = {Bees}, doi = {10.1000/x}}" in result.stdout
    assert "doi:" in (project / "refs.bib").read_text("utf-8")
    assert "Mended 1 problem in 1 file." in run("references", "refs.bib", "--fix", "--yes").stdout
    assert "doi:" not in (project / "refs.bib").read_text("utf-8")
    assert "Nothing to mend" in run("references", "refs.bib", "--fix", "--yes").stdout


def test_fix_adds_the_doi_that_the_library_knows(run: Run, project: Path, library: Path) -> None:
    entry = "@article{v, title = {Attention Is All You Need}, author = {Vaswani, A.}, journal = {X}, year = 2017}\n"
    (project / "refs.bib").write_text(entry, "utf-8")
    run("references", "refs.bib", "--fix", "--yes", "--library", library)
    assert (project / "refs.bib").read_text("utf-8") == entry.replace("2017}", "2017, doi = {10.1000/attention}}")


def test_reports_for_machines(run: Run, project: Path) -> None:
    github = run("references", "refs.bib", "--format", "github").stdout
    assert "::error file=refs.bib,line=4,title=whycite%3A future-year::kaiser: 2034 is in the future" in github
    log = json.loads(run("references", "refs.bib", "--format", "sarif").stdout)
    [future] = [result for result in log["runs"][0]["results"] if result["ruleId"] == "future-year"]
    assert future["locations"][0]["physicalLocation"]["region"] == {"startLine": 4}
    run("references", "refs.bib", "--out", "report.txt")
    assert "future-year" in (project / "report.txt").read_text("utf-8")


@pytest.mark.parametrize(
    "options",
    [
        ("--json", "--format", "sarif"),
        ("--yes",),
        ("--fix", "--json"),
        ("--library", "x", "--no-library"),
    ],
)
def test_options_that_contradict_each_other(run: Run, project: Path, options: tuple[str, ...]) -> None:
    result = run("references", "refs.bib", *options)
    assert result.exit_code != 0
    assert result.exception is not None


@pytest.mark.parametrize("format", ["text", "json", "github", "sarif"])
def test_check_with_references(run: Run, project: Path, format: str) -> None:
    result = run("check", "draft.tex", "--references", "--no-library", "--format", format)
    assert result.exit_code == 0
    if format == "json":
        assert _rules(result)["kaiser"] == ("unknown", ["future-year"])
    elif format == "sarif":
        citations, bibliography = json.loads(result.stdout)["runs"]
        assert citations["tool"]["driver"]["name"] == "whycite"
        assert "future-year" in [result["ruleId"] for result in bibliography["results"]]
    else:
        assert "2034 is in the future" in result.stdout
        assert "draft.tex: 0 of 2 sentences need" in result.stdout or format == "github"


def test_check_without_references_says_nothing_of_them(run: Run, project: Path) -> None:
    assert "future-year" not in run("check", "draft.tex", "--no-library").stdout
    assert "references" not in json.loads(run("check", "draft.tex", "--no-library", "--json").stdout)
    assert run("check", "draft.tex", "--references", "--fix").exit_code != 0


def test_a_retracted_reference(run: Run, project: Path) -> None:
    entry = "@misc{a, title = {RETRACTED: Bees never sleep}}\n@misc{b, title = {Wasps}, note = {Retracted in 2020}}\n"
    (project / "refs.bib").write_text(entry, "utf-8")
    result = run("references", "refs.bib", "--json")
    assert _rules(result) == {"a": ("retracted", ["retracted"]), "b": ("retracted", ["retracted"])}
    assert "a  retracted" in run("references", "refs.bib").stdout
