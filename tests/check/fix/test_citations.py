"""Where a citation goes: at the end of the claim, before the stop, and never where it breaks something."""

from pathlib import Path

import pytest

from tests.drafts import check_by_words
from whycite import read
from whycite.check.fix import apply, plan

LATEX = "\\documentclass{article}\n\\begin{document}\n%s\n\\bibliography{refs}\n\\end{document}\n"
BIB = "@article{doe, title = {Old work}, year = 2001}\n"
HERE = "~\\cite{doe}"


@pytest.mark.parametrize(
    "text",
    [
        "So do bees@. Cats do not.",
        "Do bees@? Cats do not.",
        "So do the bees@:\n\\begin{itemize}\n\\item Cats do not\n\\end{itemize}",
        "So do \\emph{bees}@. Cats do not.",
        "So do \\emph{bees@.} Cats do not.",
        "So do {\\em bees@.} Cats do not.",
        "So do bees (see below)@. Cats do not.",
        "(So do bees@.) Cats do not.",
        "Doe wrote ``so do bees.''@ Cats do not.",
        "Doe wrote \\enquote{so do bees}@. Cats do not.",
        "So do bees@.\\footnote{Perhaps.} Cats do not.",
        "So do bees\\footnote{Perhaps.}@. Cats do not.",
        "A note.\\footnote{So do bees@.} Cats do not.",
        "So do $n$ bees and $k = 5$@. Cats do not.",
        "So do the bees@ \\[ x = y. \\] Cats do not.",
        "For bees we have@\n\\begin{equation}\n x = y.\n\\end{equation}\nCats do not.",
        "For bees we have@: % see below\n\\begin{equation}\n x = y.\n\\end{equation}\nCats do not.",
        "So do bees in the U.S@.\n\nCats do not.",
        "So do bees on \\LaTeX@. Cats do not.",
        "So do bees % all of them\nat night@. Cats do not.",
        "\\begin{itemize}\n\\item So do bees@\n\\item Cats do not\n\\end{itemize}",
        "\\begin{figure}\n\\caption{So do bees@.\\label{fig:b}}\n\\end{figure}\n\nCats do not.",
        "\\section{Cats}\\label{sec:c}\nSo do bees@. Cats do not.",
        "So do bees with 50\\%@. Cats do not.",
        "So do bees\\label{bees}@. Cats do not.",
        "\\newcommand{\\tool}{Tool}So do bees with \\tool@. Cats do not.",
        "\\textcolor{red}{So do bees@.} Cats do not.",
        "\\newcommand{\\new}[1]{#1}\\new{Cats do~\\cite{doe}.} \\new{So do bees@.}",
        "So do bees@. % whycite\nCats do not.",
        "So do bees\n@. Cats do not.",
        "So do bees of the BBC@SPACED. Cats do not.",
        "(So do bees of the BBC@SPACED.) Cats do not.",
        "\\begin{itemize}\n\\item So do bees of the BBC@SPACED\n\\item Cats do not\n\\end{itemize}",
    ],
)
def test_in_latex(tmp_path: Path, text: str) -> None:
    lead = "." if "U.S" in text else ""
    gap = "" if "\n@" in text else "~"
    text = text.replace("SPACED", "\\\0")
    cite = f"{lead}{gap}\\cite{{doe}}"
    path = tmp_path / "main.tex"
    path.write_text(LATEX % text.replace("@", "").replace("\0", "@"), "utf-8")
    (tmp_path / "refs.bib").write_text(BIB, "utf-8")
    made = plan(check_by_words(path, key="doe", known=True))
    assert not made.refused
    apply(made)
    assert path.read_text("utf-8") == LATEX % text.replace("@", cite).replace("\0", "@")
    assert [s.citations[-1].keys for s in read(path).sentences if "bees" in s.text] == [("doe",)]


AFTER = ["Dogs sleep. \\cite{doe} ", "Ants sleep. \\cite{doe} ", "Mice sleep. \\cite{doe} "]


@pytest.mark.parametrize(
    ("text", "cite"),
    [
        ("".join(AFTER) + "So do bees.@ Cats do not.", " \\cite{doe}"),
        ("".join(AFTER).replace(". ", ".") + "So do bees.@ Cats do not.", "\\cite{doe}"),
        ("".join(AFTER[:2]) + "So do bees@. Cats do not.", " \\cite{doe}"),  # too few to be a habit
        ("".join(AFTER) + 3 * "Cats dream \\cite{doe}. " + "So do bees@.", " \\cite{doe}"),
        ("".join(AFTER) + "So do the bees@", " \\cite{doe}"),  # without a stop
    ],
)
def test_the_habit_of_citing_after_stops(tmp_path: Path, text: str, cite: str) -> None:
    path = tmp_path / "main.tex"
    path.write_text(LATEX % text.replace("@", ""), "utf-8")
    (tmp_path / "refs.bib").write_text(BIB, "utf-8")
    made = plan(check_by_words(path, key="doe", known=True))
    assert not made.refused
    apply(made)
    assert path.read_text("utf-8") == LATEX % text.replace("@", cite)
    assert [s.citations[-1].keys for s in read(path).sentences if "bees" in s.text] == [("doe",)]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Cats \\href{http://a.b}{sleep. So do bees.} Dogs.", "argument of \\href"),
        ("\\newcommand{\\odd}[1]{#1}\\odd{Cats sleep. So do bees.} Dogs.", "argument of \\odd"),
        ("\\newcommand{\\all}{Cats sleep. So do bees. Dogs too.}\\all", "would not be read"),
        ("\\section{Of bees \\cite{doe}}\nDogs.", "heading"),
        ("\\begin{tabular}{l}bees \\cite{doe}\\end{tabular} Dogs.", "table"),
        ("\\begin{description}\\item[So do bees. So do bees.] Dogs.\\end{description}", "optional argument"),
    ],
)
def test_what_is_refused_in_latex(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "main.tex"
    path.write_text(LATEX % text, "utf-8")
    (tmp_path / "refs.bib").write_text(BIB + "@misc{kaiser, title = {Sleep of bees}}\n", "utf-8")
    made = plan(check_by_words(path, key="kaiser", known=True))
    assert made.refused
    assert all(reason in refusal.reason for refusal in made.refused)
    assert not made.changes
    apply(made)
    assert path.read_text("utf-8") == LATEX % text


@pytest.mark.parametrize(
    "text",
    [
        "So do bees@. Cats do not.",
        "So do *bees*@. Cats do not.",
        "So do *bees@.* Cats do not.",
        "So do bees[^1]@. Cats do not.\n\n[^1]: Perhaps.",
        "So do bees in `code`@. Cats do not.",
        "So do bees for $x = 5$@. Cats do not.",
        "So do [bees](http://a.b)@. Cats do not.",
        "> So do bees@.\n\nCats do not.",
        "![So do the bees of the field@.](bees.png)\n\nCats do not.",
        "So do bees@\\. Cats do not",
    ],
)
def test_in_markdown(tmp_path: Path, text: str) -> None:
    head = "---\nbibliography: refs.bib\n---\n\n"
    path = tmp_path / "p.md"
    path.write_text(head + text.replace("@", "") + "\n", "utf-8")
    (tmp_path / "refs.bib").write_text(BIB, "utf-8")
    made = plan(check_by_words(path, key="doe", known=True))
    assert not made.refused
    apply(made)
    assert path.read_text("utf-8") == head + text.replace("@", " [@doe]") + "\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Cats [sleep. So do bees.](http://a.b) Dogs.", "text of a link"),
        ("# Of bees [@doe]\n\nDogs.", "heading"),
        ("So do bees [1]. Cats [1].\n\n# References\n\n[1] Doe, J. (2001). Old work. Nature.\n", "by hand"),
    ],
)
def test_what_is_refused_in_markdown(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "p.md"
    named = "---\nbibliography: refs.bib\n---\n\n" if "References" not in text else ""
    path.write_text(named + text, "utf-8")
    if named:
        (tmp_path / "refs.bib").write_text(BIB + "@misc{kaiser, title = {Sleep of bees}}\n", "utf-8")
    made = plan(check_by_words(path, key="kaiser", known=bool(named)))
    assert [reason in refusal.reason for refusal in made.refused] == [True]
    assert not made.changes


@pytest.mark.parametrize(
    "text",
    [
        "So do bees@. Cats do not.",
        "So do #emph[bees@.] Cats do not.",
        "So do _bees_@. Cats do not.",
        "So do bees#footnote[Perhaps.]@. Cats do not.",
        "For bees we have@\n$ x = y. $\nCats do not.",
        '#figure(image("b.png"), caption: [So do bees@.])\n\nCats do not.',
    ],
)
def test_in_typst(tmp_path: Path, text: str) -> None:
    end = '\n#bibliography("refs.bib")\n'
    path = tmp_path / "main.typ"
    path.write_text(text.replace("@", "") + end, "utf-8")
    (tmp_path / "refs.bib").write_text(BIB, "utf-8")
    made = plan(check_by_words(path, key="doe", known=True))
    assert not made.refused
    apply(made)
    assert path.read_text("utf-8") == text.replace("@", " @doe") + end
