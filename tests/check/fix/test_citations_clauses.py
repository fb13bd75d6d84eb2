"""Where a citation goes: after the authors it names, or where the clause that needs it ends."""

from pathlib import Path

import pytest

from tests.drafts import check_by_words
from whycite.check.fix import apply, plan
from whycite.check.fix.citations import clause_end, name_ends
from whycite.library.records import Paper

BIB = "@article{doe, title = {Old work}, author = {Doe, Jane}, year = 2001}\n"
LATEX = "\\documentclass{article}\n\\begin{document}\n%s Cats~\\cite{doe}.\n\\bibliography{refs}\n\\end{document}\n"
MARKDOWN = "---\nbibliography: refs.bib\n---\n\n%s Cats [@doe].\n"
TYPST = '%s Cats @doe.\n\n#bibliography("refs.bib")\n'


def _named(text: str, *authors: str, year: int | None = 1988) -> list[str]:
    paper = Paper("title:x", "X", authors or ("Kaiser, Walter",), year, "", "")
    return [text[:offset] for offset in name_ends(text, 0, len(text), paper)]


@pytest.mark.parametrize(
    ("text", "head"),
    [
        ("Kaiser et al. show that bees rest.", "Kaiser et al."),
        ("Kaiser \\emph{et al.} show it.", "Kaiser \\emph{et al.}"),
        ("Kaiser *et al.* show it.", "Kaiser *et al.*"),
        ("As Kaiser and colleagues say, bees rest.", "As Kaiser and colleagues"),
        ("In Kaiser~(1988), bees rest.", "In Kaiser~(1988)"),
        ("In Kaiser et al.'s work, bees rest.", "In Kaiser et al.'s"),
        ("In Kaiser's (1988) work, bees rest.", "In Kaiser's (1988)"),
        ("As shown by Kaiser, bees rest.", "As shown by Kaiser"),
        ("Then Kaiser reported rest.", "Then Kaiser"),
        ("Kaiser and Roe (1988) found rest.", "Kaiser and Roe (1988)"),
    ],
)
def test_after_the_name(text: str, head: str) -> None:
    authors = ("Kaiser, Walter", "Roe, Jane") if "Roe" in text else ("Kaiser, Walter",)
    assert _named(text, *authors) == [head]


@pytest.mark.parametrize(
    "text",
    [
        "The Kaiser rolls are good.",
        "Kaisers et al. rest.",
        "Kaiser (1995) found rest.",
        "McKaiser et al. rest.",
        "By Kaiser's theorem, all rest.",
    ],
)
def test_no_name_of_this_paper(text: str) -> None:
    assert _named(text) == []


def test_a_common_word_is_no_name() -> None:
    assert _named("Brown bears rest.", "Brown, Ann") == []
    assert _named("Brown et al. rest.", "Brown, Ann") == ["Brown et al."]
    assert _named("Li showed it.", "Li, An") == []  # too short to be sure


@pytest.mark.parametrize(
    ("text", "clause"),
    [
        ("Wild honey bees rest at night, so we filmed them.", "Wild honey bees rest at night"),
        ("While honey bees rest at night, we film by day.", "While honey bees rest at night"),
        ("Honey bees rest at night ; thus this paper is on cats.", "Honey bees rest at night"),
        ("To film honey bees at night, we use a camera.", None),
        ("Honey bees rest at night, but we film by day.", None),
        ("We film honey bees that rest, and we wait.", None),
        ("First, we film honey bees.", None),
        ("Honey bees rest at night, and cats by day.", None),
    ],
)
def test_the_end_of_the_clause(text: str, clause: str | None) -> None:
    end = clause_end(text, 0, len(text))
    assert (None if end is None else text[:end]) == clause


@pytest.mark.parametrize(
    ("sentence", "written"),
    [
        ("As Kaiser et al. show, bees rest.", "As Kaiser et al.%s show, bees rest."),
        ("Kaiser (1988) found that bees rest.", "Kaiser (1988)%s found that bees rest."),
        ("Wild bees rest at night, so we filmed them.", "Wild bees rest at night%s, so we filmed them."),
        ("Kaiser (1975) found that bees rest.", "Kaiser (1975) found that bees rest%s."),
        ("All bees rest; so do all cats.", "All bees rest; so do all cats%s."),
    ],
)
@pytest.mark.parametrize(
    ("name", "frame", "citation"),
    [
        ("a.tex", LATEX, "~\\cite{kaiser1988}"),
        ("a.md", MARKDOWN, " [@kaiser1988]"),
        ("a.typ", TYPST, " @kaiser1988"),
    ],
)
def test_in_every_format(tmp_path: Path, sentence: str, written: str, name: str, frame: str, citation: str) -> None:
    path = tmp_path / name
    path.write_bytes((frame % sentence).encode())
    (tmp_path / "refs.bib").write_text(BIB, "utf-8")
    apply(plan(check_by_words(path)))
    assert path.read_bytes() == (frame % (written % citation)).encode()
