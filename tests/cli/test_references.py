"""`whycite references`: command in, answer out."""

import gzip
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from whycite.cli.references import _SUMMED_UP
from whycite.references import fixing
from whycite.references.fixing import apply_changes
from whycite.references.report import COMMON_RULES

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
        "kaiser": ("unknown", ["future-year", "no-identifier"]),  # too short a title to tell that it is the same paper
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


def test_fix_tells_what_is_left_and_fails_on_it(run: Run, project: Path) -> None:
    (project / "refs.bib").write_text("@article{a, title = {Bees}, year = 2150, doi = {doi:10.1000/x}}\n", "utf-8")
    result = run("references", "refs.bib", "--fix", "--yes", "--fail-on", "error")
    left = "Left for you: 1 error, 2 warnings; whycite references refs.bib lists them."
    assert result.stdout.endswith(f"Mended 1 problem in 1 file.\n{left}\n")
    assert result.exit_code == 1
    (project / "refs.bib").write_text("@misc{a, title = {Bees}, doi = {doi:10.1000/x}}\n", "utf-8")
    result = run("references", "refs.bib", "--fix", "--yes", "--fail-on", "note")
    assert "Left" not in result.stdout
    assert result.exit_code == 0  # the note is mended


def test_a_year_in_the_future_is_told_with_the_one_of_the_library(run: Run, project: Path, library: Path) -> None:
    entry = "@article{v, title = {Attention Is All You Need}, author = {Vaswani, A.}, journal = {X}, year = 2170}\n"
    (project / "refs.bib").write_text(entry, "utf-8")
    known = run("references", "refs.bib", "--library", library).stdout
    assert "error: 2170 is in the future; your library has 2017 (future-year)" in known
    assert "2170 is in the future (future-year)" in run("references", "refs.bib", "--no-library").stdout


def test_references_that_no_record_confirms_are_named(run: Run, project: Path, library: Path) -> None:
    shown = run("references", "draft.tex", "--library", library).stdout
    assert "2 references are confirmed by no record: kaiser, unused" in shown
    assert shown.endswith("Look up what no record confirms with --online.\n")
    assert "by no record" not in run("references", "draft.tex", "--no-library").stdout


def test_fix_adds_the_doi_that_the_library_knows(run: Run, project: Path, library: Path) -> None:
    entry = "@article{v, title = {Attention Is All You Need}, author = {Vaswani, A.}, journal = {X}, year = 2017}\n"
    (project / "refs.bib").write_text(entry, "utf-8")
    run("references", "refs.bib", "--fix", "--yes", "--library", library)
    assert (project / "refs.bib").read_text("utf-8") == entry.replace("2017}", "2017, doi = {10.1000/attention}}")


def test_what_is_left_after_fix_is_what_another_run_says(
    run: Run, project: Path, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two entries with one key each keeps its record, and one that somebody else adds meanwhile has none."""
    file = project / "refs.bib"
    file.write_text(
        "@article{k, title = {Attention Is All You Need}, author = {Smith, Ann}, journal = {X}, year = 2017,\n"
        "  doi = {doi:10.1000/attention}}\n"
        "@article{k, title = {Wasps sleep in the rain}, author = {Smith, Ann}, journal = {X}, year = 2018}\n",
        "utf-8",
    )

    def apply_beside_others(changes: Any) -> None:
        apply_changes(changes)
        with file.open("a", encoding="utf-8") as opened:
            opened.write("@misc{late, title = {Moths}}\n")

    monkeypatch.setattr(fixing, "apply_changes", apply_beside_others)
    mended = run("references", "refs.bib", "--fix", "--yes", "--library", library).stdout
    left = re.search(r"Left for you: (.*);", mended)
    again = run("references", "refs.bib", "--library", library).stdout
    assert left
    counts = [count for count in re.search(r"; (\d+ error.*)\.", again)[1].split(", ") if count[0] != "0"]  # type: ignore[index]
    assert left[1].split(", ") == counts


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
        assert _rules(result)["kaiser"] == ("unknown", ["future-year", "no-identifier"])
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


def test_a_missing_entry_is_told_where_it_is_cited(run: Run, project: Path) -> None:
    (project / "draft.tex").write_text(DRAFT.replace("lost", "lost,Unused"), "utf-8")
    result = run("references", "draft.tex")
    assert "draft.tex:3: lost  unknown\n  error: the draft cites this key, but no entry has it" in result.stdout
    assert "Unused  unknown\n  warning: the draft cites this key, but the entry is called 'unused'" in result.stdout
    assert "never cited" not in result.stdout
    assert "draft.tex,line=3" in run("references", "draft.tex", "--format", "github").stdout


def test_a_parent_that_is_not_there(run: Run, project: Path) -> None:
    entry = "@inproceedings{a, crossref = {acl}, title = {Bees}, author = {Li, Q.}}\n"
    (project / "refs.bib").write_text(entry, "utf-8")
    result = run("references", "refs.bib")
    assert "error: the entry takes fields from 'acl', but no entry has this key (missing-entry)" in result.stdout
    assert "missing-field" not in result.stdout  # they would come from there
    parent = "@proceedings{acl, title = {ACL 2020}, year = 2020}\n"
    (project / "refs.bib").write_text(entry + parent, "utf-8")
    assert "0 errors, 0 warnings" in run("references", "refs.bib").stdout


def test_what_is_said_of_many_entries_is_summed_up(run: Run, project: Path) -> None:
    assert set(_SUMMED_UP) == COMMON_RULES
    result = run("references", "draft.tex")
    assert "1 article has no DOI or other identifier: kaiser\n" in result.stdout
    assert "1 entry is never cited: unused\n" in result.stdout
    assert "Nothing was compared with a record, since none is known here." in result.stdout


def test_any_file_of_entries(run: Run, project: Path) -> None:
    """Fields are checked wherever entries come from; only a plain file is mended."""
    data = (project / "refs.bib").read_bytes()
    (project / "refs.bib.gz").write_bytes(gzip.compress(data))
    (project / "windows.bib").write_bytes(data.replace(b"\n", b"\r\n"))
    expected = _rules(run("references", "refs.bib", "--json"))
    for result in (
        run("references", "refs.bib.gz", "--json"),
        run("references", "windows.bib", "--json"),
        run("references", "-", "--json", stdin=data),
    ):
        assert _rules(result) == expected
    for place, text in (("refs.bib.gz", b""), ("-", data)):
        result = run("references", place, "--fix", "--yes", stdin=text)
        assert "has no BibTeX file that could be mended" in str(result.exception)


def test_what_cannot_be_checked_is_said(run: Run, project: Path) -> None:
    with zipfile.ZipFile("draft.zip", "w") as archive:
        archive.write("draft.tex")
        archive.write("refs.bib")
    assert "in an archive, so the fields of its entries are not checked" in run("references", "draft.zip").stdout
    (project / "empty.md").write_text("Bees sleep.\n", "utf-8")
    assert run("references", "empty.md").stdout == "empty.md: no references found.\n"
    for name in ("draft.tex", "draft.zip", "empty.md"):
        (project / name).unlink()
    assert "name the file, such as" in str(run("references", ".").exception)
