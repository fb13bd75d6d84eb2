"""Retracted papers are not inserted, and the reason is said."""

from pathlib import Path

import pytest

from tests.drafts import check_by_words
from whycite.check.fix import plan

LATEX = """\\documentclass{article}
\\begin{document}
So do bees. Cats \\cite{doe}.
\\bibliography{refs}
\\end{document}
"""


def _reasons(folder: Path, bib: str, title: str, known: bool) -> list[str]:
    (folder / "a.tex").write_text(LATEX, "utf-8")
    (folder / "refs.bib").write_text("@article{doe, title = {Old work}, year = 2001}\n" + bib, "utf-8")
    made = plan(check_by_words(folder / "a.tex", known=known, title=title))
    assert bool(made.changes) != bool(made.refused)
    return [refusal.reason for refusal in made.refused]


def test_a_new_paper(tmp_path: Path) -> None:
    assert _reasons(tmp_path, "", "RETRACTED: Sleep of bees", known=False) == ["the paper was retracted"]
    assert _reasons(tmp_path, "", "Retraction of wings in bees", known=False) == []


@pytest.mark.parametrize(
    ("fields", "retracted"),
    [
        ("title = {Sleep of bees}, note = {Retracted in 2001}", True),
        ("title = {{RETRACTED}: Sleep of bees}", True),
        ("title = {Sleep of bees}, note = {Second edition}", False),
    ],
    ids=["note", "title", "neither"],
)
def test_an_entry_of_the_bibliography(tmp_path: Path, fields: str, retracted: bool) -> None:
    reasons = _reasons(tmp_path, f"@article{{kaiser1988, {fields}}}\n", "Sleep of bees", known=True)
    assert reasons == ["the paper was retracted"] * retracted
