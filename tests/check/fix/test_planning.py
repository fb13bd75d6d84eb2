"""What a fix does not do: the reason is said, and no byte is written."""

import gzip
import json
import tarfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.drafts import check_by_words
from whycite import read
from whycite.check.fix import apply, plan
from whycite.errors import UserError

LATEX = "\\documentclass{article}\n\\begin{document}\nSo do bees. Cats \\cite{doe}.\n%s\\end{document}\n"
NAMED = "\\bibliography{refs}\n"
BIB = "@article{doe, title = {Old work}, year = 2001}\n"
BBL = "\\begin{thebibliography}{1}\n\\bibitem{%s}\nR. Roe. Late work. 2002.\n\\end{thebibliography}\n"


def _refused(path: Path, **options: Any) -> str:
    before = {file: file.read_bytes() for file in path.parent.rglob("*") if file.is_file()}
    made = plan(check_by_words(path, **options))
    assert not made.changes
    assert made.diff() == ""
    apply(made)
    assert {file: file.read_bytes() for file in path.parent.rglob("*") if file.is_file()} == before
    [refusal] = made.refused
    assert refusal.finding.text == "So do bees."
    return refusal.reason


def test_without_a_bibliography_it_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "a.tex").write_text(LATEX % "", "utf-8")
    assert "\\bibliography{references}" in _refused(tmp_path / "a.tex")
    (tmp_path / "a.md").write_text("So do bees. Cats too.\n", "utf-8")
    assert "bibliography: references.bib" in _refused(tmp_path / "a.md")
    (tmp_path / "a.typ").write_text("So do bees. Cats too.\n", "utf-8")
    assert '#bibliography("references.bib")' in _refused(tmp_path / "a.typ")


@pytest.mark.parametrize("known", [False, True], ids=["new", "known"])
def test_a_bibliography_that_only_lies_beside_the_draft(tmp_path: Path, known: bool) -> None:
    (tmp_path / "r.bib").write_text(BIB, "utf-8")
    (tmp_path / "a.tex").write_text(LATEX % "% \\bibliography{r}\n\\bibliographystyle{plain}\n", "utf-8")
    options = {"key": "doe", "known": True} if known else {}
    assert "write \\bibliography{r}" in _refused(tmp_path / "a.tex", **options)
    (tmp_path / "r.bbl").write_text(BBL % "doe", "utf-8")  # of another draft, too
    assert "names no bibliography; if" in _refused(tmp_path / "a.tex", **options)


@pytest.mark.parametrize(
    "text", [LATEX % "\\bibliographyA{r}\n", "So do bees. Cats \\cite{doe}.\n"], ids=["lists", "part"]
)
def test_a_bibliography_that_is_named_elsewhere(tmp_path: Path, text: str) -> None:
    (tmp_path / "r.bib").write_text(BIB, "utf-8")
    (tmp_path / "a.tex").write_text(text, "utf-8")
    assert len(plan(check_by_words(tmp_path / "a.tex")).changes) == 2


def test_a_key_that_only_an_earlier_run_has(tmp_path: Path) -> None:
    (tmp_path / "a.tex").write_text(LATEX.replace("{doe}", "{doe,roe}") % NAMED, "utf-8")
    (tmp_path / "refs.bib").write_text(BIB, "utf-8")
    (tmp_path / "a.bbl").write_text(BBL % "roe", "utf-8")
    assert "roe is only in the .bbl of an earlier run" in _refused(tmp_path / "a.tex", key="roe", known=True)
    (tmp_path / "a.bbl").write_text(BBL % "kaiser1988", "utf-8")  # nothing cites it any more: it comes into the .bib
    made = plan(check_by_words(tmp_path / "a.tex"))
    assert [change.path.name for change in made.changes] == ["a.tex", "refs.bib"]


def test_a_bibliography_that_is_no_bibtex(tmp_path: Path) -> None:
    (tmp_path / "refs.json").write_text(json.dumps([{"id": "doe", "title": "Old work"}]), "utf-8")
    (tmp_path / "a.md").write_text("---\nbibliography: refs.json\n---\nSo do bees. Cats [@doe].\n", "utf-8")
    assert "refs.json is not BibTeX" in _refused(tmp_path / "a.md")


def test_a_key_that_means_another_work(tmp_path: Path) -> None:
    (tmp_path / "a.tex").write_text(LATEX % NAMED, "utf-8")
    (tmp_path / "refs.bib").write_text(BIB, "utf-8")
    assert "belongs to another work" in _refused(tmp_path / "a.tex", key="doe")
    assert "no longer has the entry" in _refused(tmp_path / "a.tex", key="gone", known=True)


def test_the_same_work_under_that_key_is_known(tmp_path: Path) -> None:
    (tmp_path / "a.tex").write_text(LATEX % NAMED, "utf-8")
    (tmp_path / "refs.bib").write_text(BIB, "utf-8")
    made = plan(check_by_words(tmp_path / "a.tex", key="doe", title="Old Work"))
    assert [change.path.name for change in made.changes] == ["a.tex"]


@pytest.mark.parametrize("key", ["a b", "a,b", "a}b", "a%b", "a\\b", ""], ids=repr)
def test_a_key_that_no_command_takes(tmp_path: Path, key: str) -> None:
    (tmp_path / "a.tex").write_text(LATEX % NAMED, "utf-8")
    (tmp_path / "refs.bib").write_text(BIB, "utf-8")
    assert "cannot be written" in _refused(tmp_path / "a.tex", key=key)


def test_an_entry_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "a.tex").write_text(LATEX % NAMED, "utf-8")
    (tmp_path / "refs.bib").write_text(BIB, "utf-8")
    checked = check_by_words(tmp_path / "a.tex")
    broken = replace(checked.findings[0].recommendations[0], bibtex="@article{other, title = {X}}")
    made = plan(checked, {0: broken})
    assert "no BibTeX entry" in made.refused[0].reason


def test_two_works_with_one_new_key(tmp_path: Path) -> None:
    (tmp_path / "a.tex").write_text(LATEX.replace("Cats", "Cats, and bees. Dogs") % NAMED, "utf-8")
    (tmp_path / "refs.bib").write_text(BIB, "utf-8")
    checked = check_by_words(tmp_path / "a.tex")
    other = check_by_words(tmp_path / "a.tex", title="Another work").findings[0].recommendations[0]
    made = plan(checked, {0: checked.findings[0].recommendations[0], 1: other})
    assert len(made.fixed) == 1
    assert "two new works" in made.refused[0].reason


def test_a_bibliography_whose_end_is_broken(tmp_path: Path) -> None:
    (tmp_path / "a.tex").write_text(LATEX % NAMED, "utf-8")
    (tmp_path / "refs.bib").write_text(BIB + "@comment{never closed\n", "utf-8")
    made = plan(check_by_words(tmp_path / "a.tex"))
    # Either the entry reads back, or nothing is written.
    assert bool(made.changes) != bool(made.refused)
    apply(made)
    assert ("kaiser1988" in read(tmp_path / "a.tex").by_id) == bool(made.changes)


def test_a_draft_that_changed_since_it_was_checked(tmp_path: Path) -> None:
    path = tmp_path / "a.tex"
    path.write_text(LATEX % NAMED, "utf-8")
    (tmp_path / "refs.bib").write_text(BIB, "utf-8")
    checked = check_by_words(path)
    path.write_text("% one more line\n" + LATEX % NAMED, "utf-8")
    with pytest.raises(UserError, match="changed since it was checked"):
        plan(checked)


def test_archives_and_compressed_files_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "a.tex").write_text(LATEX % NAMED, "utf-8")
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        archive.add(tmp_path / "a.tex", "a.tex")
    with pytest.raises(UserError, match="not a file on disk"):
        plan(check_by_words(tmp_path / "a.tar"))
    (tmp_path / "b.tex.gz").write_bytes(gzip.compress((LATEX % NAMED).encode()))
    with pytest.raises(UserError, match="compressed"):
        plan(check_by_words(tmp_path / "b.tex.gz"))


def test_nothing_outside_the_folder_is_written(tmp_path: Path) -> None:
    (tmp_path / "outside.bib").write_text(BIB, "utf-8")
    project = tmp_path / "project"
    project.mkdir()
    (project / "refs.bib").symlink_to(tmp_path / "outside.bib")
    (project / "a.tex").write_text(LATEX % NAMED, "utf-8")
    assert "no bibliography" in _refused(project / "a.tex")
    assert (tmp_path / "outside.bib").read_text("utf-8") == BIB
    (project / "sub").mkdir()
    with pytest.raises(UserError, match="outside"):
        plan(check_by_words(project / "a.tex"), root=project / "sub")


def test_a_format_that_has_no_citations_to_write(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("So do bees.\n\nCats do not sleep at all.\n", "utf-8")
    assert "plain drafts" in _refused(path)
