"""Parts that come by a command of the project's class, or by a path made of macros; and what is left over."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from whycite.documents import Document, read
from whycite.documents.latex import find_main
from whycite.documents.latex.project import find_including_macros
from whycite.documents.sources import MemoryFolder

Read = Callable[..., Document]
PART = "Bees dance \\cite{frisch}."
CLASS = r"""
\LoadClass{book}
\newcommand{\startpaper}[1]{\cleardoublepage\setcounter{section}{0}Paper #1}
\newcommand{\bringin}[2][]{% an \input{#1} in a comment
  \begingroup\@ifundefined{x}{}{}\startpaper{#2}\input{chapters/#2/text}\endgroup}
\def\chapterof#1{\bringin{#1}}
"""


def _keys(document: Document) -> list[str]:
    return [key for sentence in document.sentences for key in sentence.cited_keys]


@pytest.mark.parametrize(
    ("body", "files"),
    [
        (r"\includepaper{chapters/06}", {"chapters/06.tex": PART}),
        (r"\includepaper[short]{chapters/06}", {"chapters/06.tex": PART}),
        (
            r"\includepaper{chapters/06}",
            {
                "chapters/06.tex": r"\documentclass[output=paper]{langscibook}\begin{document}"
                + PART
                + r"\end{document}"
            },
        ),
        (r"\chap{06}", {"chapters/06.tex": PART, "own.sty": r"\newcommand{\chap}[1]{\input{chapters/#1}}"}),
        (r"\bringin{06}", {"chapters/06/text.tex": PART, "own.cls": CLASS}),
        (r"\chapterof{06}", {"chapters/06/text.tex": PART, "own.cls": CLASS}),
        (r"\newcommand{\ApndxDir}{./Appendices}\input{\ApndxDir/one}", {"Appendices/one.tex": PART}),
        (r"\def\root{.}\def\ApndxDir{\root/Appendices}\subfile{\ApndxDir/one.tex}", {"Appendices/one.tex": PART}),
        (r"\input{\ApndxDir/one}", {"Appendices/one.tex": PART, "p.sty": r"\providecommand{\ApndxDir}{Appendices}"}),
        (r"\input{\ApndxDir{}/one}", {"Appendices/one.tex": PART}),
        (r"\input{\jobname-text}", {"main-text.tex": PART}),
        (r"\input{\subfix{part/one}}", {"part/one.tex": PART}),
        ("\\input{part\\one}", {"part/one.tex": PART}),
    ],
)
def test_a_part_is_found(read_latex: Read, body: str, files: dict[str, str]) -> None:
    text = rf"\documentclass{{own}}\begin{{document}}First words. {body} Last words.\end{{document}}"
    document = read_latex(text, files, whole=True)
    assert [sentence.text for sentence in document.sentences] == ["First words.", "Bees dance [frisch].", "Last words."]
    assert not any("skipped" in warning or "not part of" in warning for warning in document.warnings)


@pytest.mark.parametrize(
    "body",
    [
        r"\includegraphics{part}",
        r"\includeonly{part}",
        r"\includepdf{part}",
        r"\somecommand{part}",
        r"\def\a{\b\b}\def\b{\a\a}\input{\a/part}",
    ],
)
def test_what_is_no_inclusion_is_not_followed_but_named(read_latex: Read, body: str) -> None:
    document = read_latex(body, {"part.tex": PART})
    assert not _keys(document)
    assert "main.tex: 1 .tex file with citations is not part of this draft, so not read: part.tex" in document.warnings


def test_nothing_outside_the_folder_is_read(tmp_path: Path) -> None:
    (tmp_path / "secret.tex").write_text(PART)
    project = tmp_path / "draft"
    project.mkdir()
    body = (
        r"\newcommand{\Up}{..}\newcommand{\Root}{" + str(tmp_path) + r"}\input{\Up/secret}\input{\Root/secret}"
        r"\includepaper{../secret}\includepaper{\Root/secret}\input{\Nowhere/../secret}\input{\Nowhere/secret}"
    )
    (project / "main.tex").write_text(rf"\documentclass{{article}}\begin{{document}}{body}\end{{document}}")
    document = read(project / "main.tex")
    assert not document.sentences
    outside = [warning for warning in document.warnings if "outside the draft's folder; skipped" in warning]
    assert len(outside) == 4
    assert any(r"\Nowhere is not defined here; skipped" in warning for warning in document.warnings)


def test_an_unknown_folder_is_not_guessed_between_two_files(read_latex: Read) -> None:
    document = read_latex(r"\input{\Dir/one}", {"a/one.tex": PART, "b/one.tex": PART})
    assert not _keys(document)
    assert r"main.tex:3: \input{\Dir/one}: \Dir is not defined here; skipped" in document.warnings
    assert any(warning.endswith("not read: a/one.tex, b/one.tex") for warning in document.warnings)


def test_leftovers_are_one_warning_of_ten_names(read_latex: Read) -> None:
    files = {f"old/{number:02}.tex": PART for number in range(11)}
    files["old/11.tex"] = rf"\documentclass[main]{{subfiles}}\begin{{document}}{PART}\end{{document}}"
    files |= {"plain.tex": "No citation.", "commented.tex": "% " + PART, "macros.tex": r"\newcommand\c[1]{\cite{#1}}"}
    files |= {"nocite.tex": r"\nocite{frisch}", "part.tex": PART}
    files |= {"talk.tex": rf"\documentclass{{beamer}}\begin{{document}}{PART}\end{{document}}"}
    document = read_latex(r"Text. \input{part} % \input{old/01}", files)
    (warning,) = (warning for warning in document.warnings if "not part of" in warning)
    names = ", ".join(f"old/{number:02}.tex" for number in range(10))
    assert (
        warning == f"main.tex: 12 .tex files with citations are not part of this draft, so not read: {names} and 2 more"
    )


def test_a_fragment_that_is_read_on_its_own_has_no_leftovers(read_latex: Read) -> None:
    document = read_latex("Just a chapter.", {"other.tex": PART}, whole=True)
    assert document.warnings == ()


def test_the_main_file_is_the_one_that_includes_papers() -> None:
    paper = rb"\documentclass[output=paper]{langscibook}\begin{document}A long paper that says much.\end{document}"
    book = rb"\documentclass[output=book]{langscibook}\begin{document}\includepaper{papers/a}\end{document}"
    main = find_main(MemoryFolder({"papers/a.tex": paper, "papers/zz/book.tex": book}, ""))
    assert main is not None
    assert main.name == "papers/zz/book.tex"


def test_only_the_inclusions_of_a_macro_are_kept() -> None:
    macros = find_including_macros([CLASS])
    assert {name: macro.body for name, macro in macros.items()} == {
        "bringin": r"\input{chapters/#2/text}",
        "chapterof": r"\bringin{#1}",
    }


@pytest.mark.parametrize(
    "text",
    [
        "\\" + "cite" * 50_000,
        "\\newcommand" + " " * 200_000,
        "\\cite" + "[" * 200_000,
        "\\newcommand\\a[1]{\\input{#1}}" * 5_000,
        "\\input{" * 50_000,
    ],
)
def test_searching_other_files_takes_no_longer_for_hostile_ones(read_latex: Read, text: str) -> None:
    start = time.process_time()
    read_latex(r"\unknown \input{\Dir/x} Text.", {"a.tex": text, "b.sty": text, "c.cls": text})
    assert time.process_time() - start < 5
