"""What real papers do, and what once went wrong."""

import time
from collections.abc import Callable

import pytest

from whycite.documents import Document

Read = Callable[..., Document]


def _keys(document: Document) -> list[str]:
    return [key for sentence in document.sentences for citation in sentence.citations for key in citation.keys]


def _texts(document: Document) -> list[str]:
    return [sentence.text for sentence in document.sentences]


def test_a_figure_without_end_swallows_nothing(read_latex: Read) -> None:
    document = read_latex(
        "Intro.\n\n\\begin{figure}\\caption{One.}\n\nPara one.\n\n\\section{Two} Para two.\n\n"
        "\\begin{figure}\\caption{Two.}\\end{figure}\n\nPara three."
    )
    assert [s.text for s in document.sentences if s.kind == "prose"] == [
        "Intro.",
        "Para one.",
        "Para two.",
        "Para three.",
    ]
    assert document.warnings == ("main.tex:5: \\begin{figure} has no matching \\end{figure}",)


@pytest.mark.parametrize(
    ("tex", "keys"),
    [
        (r"Print \verb|%d| as shown \cite{b}. More.", ["b"]),
        (r"See\footnote{At \url{http://x/%20y}.} and \cite{b}. More.", ["b"]),
        (r"\href{http://x/a%20y}{the page}, by \cite{b}.", ["b"]),
        (r"\begin{align} x \quad\text{by \cite{q}}\end{align} holds.", ["q"]),
        (r"So $x \text{ \citep[p. 1]{z}}$ holds.", ["z"]),
        (r"\volcite{2}[p. 3]{k} says.", ["k"]),
        (r"\citeposs{c} {\it d} says.", ["c"]),
        (r"\shortcites{a,b} Nothing.", []),
        ("\\cite{a,b and text.\n\nMore \\cite{c}.", ["a", "c"]),
        (r"\foo[see \cite{b}] it.", ["b"]),
        (r"\twocolumn[\begin{abstract}We cite \cite{a}.\end{abstract}] Body \cite{b}.", ["a", "b"]),
        (r"\if0 hidden \cite{a} \fi shown \cite{b}.", ["b"]),
        (r"\ifnum1=2 hidden \cite{a} \else shown \cite{b}.\fi", ["b"]),
    ],
)
def test_citations_are_neither_lost_nor_invented(read_latex: Read, tex: str, keys: list[str]) -> None:
    assert _keys(read_latex(tex)) == keys


@pytest.mark.parametrize(
    ("definition", "use", "text"),
    [
        (r"\newcommandx{\foo}[3][1=a,3=c]{(#1,#2,#3)}", r"X \foo{b} Y \foo[p]{q}[r].", "X (a,b,c) Y (p,q,r)."),
        (r"\newcommand{\chg}[2]{#2}", r"A \chg{old}{new \chg{older}{newer} end}.", "A new newer end."),
        (
            r"\NewDocumentCommand{\mc}{s m}{\IfBooleanTF{#1}{\citet{#2}}{\citep{#2}}}",
            r"By \mc{k} and \mc*{l}.",
            "By [k] and [l].",
        ),
        (
            r"\newenvironment{tight}{\begin{list}{$\bullet$}{}}{\end{list}}",
            r"\begin{tight}\item One.\end{tight}",
            "One.",
        ),
        (r"\newcommand{\todo}[2]{[#1: #2]}", r"Text \todo{me}{not this} more.", "Text more."),
    ],
)
def test_macros_as_people_write_them(read_latex: Read, definition: str, use: str, text: str) -> None:
    document = read_latex(
        f"\\documentclass{{article}}{definition}\\begin{{document}}{use}\\end{{document}}", whole=True
    )
    assert " ".join(_texts(document)) == text


def test_a_note_with_options_is_no_text(read_latex: Read) -> None:
    assert _texts(read_latex(r"Text \todo[inline]{Fix this} more.")) == ["Text more."]


def test_a_paragraph_ends_behind_a_macro(read_latex: Read) -> None:
    text = (
        "\\documentclass{article}\\newcommand{\\pb}{\\pagebreak}\\begin{document}One ends \\pb\n\nTwo.\\end{document}"
    )
    assert [s.paragraph for s in read_latex(text, whole=True).sentences] == [0, 1]


def test_two_sentences_of_one_macro_both_stand_for_its_call(read_latex: Read) -> None:
    text = "\\documentclass{article}\\newcommand{\\final}{end. New}\\begin{document}See the \\final one.\\end{document}"
    document = read_latex(text, whole=True)
    assert [text[s.start : s.end] for s in document.sentences] == ["See the \\final", "\\final one."]


@pytest.mark.parametrize(
    "abstract", [r"\abstract{We cite \cite{a}.}", r"\begin{abstract}We cite \cite{a}.\end{abstract}"]
)
def test_an_abstract_in_the_preamble(read_latex: Read, abstract: str) -> None:
    text = (
        f"\\documentclass{{mdpi}}\\Title{{My Title}}{abstract}\\begin{{document}}\\section{{One}}Text.\\end{{document}}"
    )
    document = read_latex(text, whole=True)
    assert document.paper.title == "My Title"
    assert [(s.heading, s.level) for s in document.sections] == [("Abstract", 1), ("One", 1)]
    assert _texts(document) == ["We cite [a].", "Text."]


def test_an_environment_of_ones_own_around_the_abstract(read_latex: Read) -> None:
    text = (
        "\\documentclass{article}\\newenvironment{myabs}{\\begin{abstract}}{\\end{abstract}}"
        "\\begin{document}\\begin{myabs}Short.\\end{myabs}\\section{Introduction}Long.\\end{document}"
    )
    assert [(s.heading, s.level) for s in read_latex(text, whole=True).sections] == [
        ("Abstract", 1),
        ("Introduction", 1),
    ]


def test_an_unclosed_heading_ends_with_its_line(read_latex: Read) -> None:
    document = read_latex("\\section{Method\nWe do.\n\n\\section{Results}\nWe did.}")
    assert [s.heading for s in document.sections] == ["Method", "Results"]
    assert _texts(document) == ["We do.", "We did."]


def test_sentences_end_after_cross_references(read_latex: Read) -> None:
    document = read_latex(r"It is in Section~\ref{a}. The next is in Eq.~\eqref{b}. See \cref{x}. It is so.")
    assert len(document.sentences) == 4


def test_a_table_stands_behind_the_paragraph_around_it(read_latex: Read) -> None:
    document = read_latex("Before\n\\begin{table}\\begin{tabular}{l}A \\cite{a}\\end{tabular}\\end{table}\nafter.")
    assert _texts(document) == ["Before after.", "A [a]"]


def test_files_that_read_each_other_twice_end(read_latex: Read) -> None:
    files = {f"f{i}.tex": f"\\input{{f{i + 1}}}\\input{{f{i + 1}}}" for i in range(24)} | {"f24.tex": "x. "}
    start = time.process_time()
    document = read_latex(r"\input{f0}", files)
    assert time.process_time() - start < 30
    assert any("read too many times" in warning for warning in document.warnings)


def test_one_expansion_cannot_fill_the_memory(read_latex: Read) -> None:
    document = read_latex("\\def\\x#1{" + "#1" * 4000 + "}\\x{" + "word " * 4000 + "}")
    assert any("expands to too much" in warning for warning in document.warnings)


def test_unclosed_formulas_and_many_macros_are_linear(read_latex: Read) -> None:
    text = "".join(f"\\def\\a{'x' * (i % 50)}{{x}}" for i in range(6000)) + "\\begin{equation}\n\n" * 6000
    start = time.process_time()
    read_latex(text)
    assert time.process_time() - start < 30


def test_a_missing_bibliography_is_not_replaced_by_another(read_latex: Read) -> None:
    document = read_latex(r"Text \cite{a}. \bibliography{gone}", {"other/x.bib": "@misc{a, title={Unrelated}}"})
    assert document.references == ()
