"""Workflow commands: one line a finding, nothing in it that could be another command."""

from dataclasses import replace
from pathlib import Path

from whycite.check.findings import CheckedDraft
from whycite.check.reporting import codereview


def test_a_line_for_each_sentence_that_needs_a_citation(checked: CheckedDraft) -> None:
    first, second, third = codereview.github([checked]).splitlines()
    # Columns of a sentence over two lines are refused by the runner.
    assert first.startswith("::warning file=main.tex,line=5,endLine=6,title=whycite%3A needs a citation::This sentence")
    assert second.startswith("::warning file=main.tex,line=9,endLine=9,col=1,endColumn=18,title=")
    assert third.startswith("::warning file=main.tex,line=9,endLine=9,col=28,endColumn=")
    assert "%0A1. Busy bees, Kaiser et al. (1988), Journal [kaiser1988, not yet in your bibliography]%0A2. " in first


def test_nothing_found_is_nothing_said(checked: CheckedDraft) -> None:
    assert codereview.github([]) == ""
    assert codereview.github([CheckedDraft(checked.document, ())]) == ""


def test_text_cannot_break_out(hostile: CheckedDraft) -> None:
    report = codereview.github([hostile])
    assert report.splitlines() == report.split("\n")[:-1]  # no other line end either
    for line in report.splitlines():
        command, properties, message = line.removeprefix("::").partition(" ")[0], *line[10:].split("::", 1)
        assert command == "warning"
        named = dict(part.split("=", 1) for part in properties.split(","))
        assert (
            {"file", "line", "endLine", "title"}
            <= set(named)
            <= {"file", "line", "endLine", "col", "endColumn", "title"}
        )
        assert named["file"] == "a%2Cb%3Ac%25<img src=x onerror=window.broken=1>.tex"
        assert "\r" not in message


def test_a_file_elsewhere_keeps_its_path(checked: CheckedDraft, tmp_path: Path) -> None:
    moved = replace(checked.findings[0], file="/elsewhere/main.tex")
    assert "file=/elsewhere/main.tex," in codereview.github([replace(checked, findings=(moved,))])
    moved = replace(checked.findings[0], file=str(tmp_path / "main.tex"))
    assert "file=main.tex," in codereview.github([replace(checked, findings=(moved,))])


def test_what_cites_is_a_notice_where_papers_are_proposed_for_it(checked: CheckedDraft) -> None:
    cited = next(one for one in checked.findings if one.kind == "cited")
    assert codereview.github([replace(checked, findings=(cited,))]) == ""
    more = replace(cited, recommendations=checked.findings[0].recommendations)
    report = codereview.github([replace(checked, findings=(more,))])
    assert report.startswith("::notice file=main.tex,line=6,")
    assert "already cites doe" in report
