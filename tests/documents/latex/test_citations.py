"""Cite commands of every package, with notes, and macros that wrap them."""

from collections.abc import Callable

import pytest

from whycite.documents import Document

Read = Callable[..., Document]


@pytest.mark.parametrize(
    ("tex", "keys", "shown"),
    [
        (r"\cite{a}", ("a",), "[a]"),
        (r"\cite{a, b,c}", ("a", "b", "c"), "[a; b; c]"),
        (r"\cite[p.~3]{a}", ("a",), "[a, p. 3]"),
        (r"\citep[see][chap. 2]{a,b}", ("a", "b"), "[see a; b, chap. 2]"),
        (r"\citep[e.g.,][]{a}", ("a",), "[e.g., a]"),
        (r"\citet*{a}", ("a",), "[a]"),
        (r"\parencite*{a}", ("a",), "[a]"),
        (r"\textcite{a}", ("a",), "[a]"),
        (r"\Textcite{a}", ("a",), "[a]"),
        (r"\footcite[12]{a}", ("a",), "[a, 12]"),
        (r"\autocite{a}", ("a",), "[a]"),
        (r"\cites[1]{a}[2]{b}", ("a", "b"), "[a, 1; b, 2]"),
        (r"\parencites(see)(and more)[1]{a}{b}", ("a", "b"), "[see a, 1; b, and more]"),
        (r"\citeauthor{a}", ("a",), "[a]"),
        (r"\citealp{a}", ("a",), "[a]"),
        (r"\citeA<see>[p. 1]{a}", ("a",), "[see a, p. 1]"),
        ("\\cite{a,% the first\n  b}", ("a", "b"), "[a; b]"),
        ("\\citep\n  [see]\n  [p. 2]\n  {a}", ("a",), "[see a, p. 2]"),
        (r"\cite{a_b:c-d/e.f}", ("a_b:c-d/e.f",), "[a_b:c-d/e.f]"),
        (r"\cite{Müller2010}", ("Müller2010",), "[Müller2010]"),
        (r"\cite{}", (), "[]"),
        (r"\citeproc{ref-a}{Smith, 2010}", ("ref-a",), "Smith, 2010"),
    ],
)
def test_a_citation_has_its_keys_and_notes(read_latex: Read, tex: str, keys: tuple[str, ...], shown: str) -> None:
    body = f"This was shown {tex} before."
    document = read_latex(body)
    (sentence,) = document.sentences
    (citation,) = sentence.citations
    assert citation.keys == keys
    assert sentence.text == f"This was shown {shown} before."
    assert sentence.text[citation.text_start : citation.text_end] == shown
    text = "\\documentclass{article}\n\\begin{document}\n" + body
    assert text[citation.start : citation.end] == tex
    assert text[sentence.start : sentence.end] == body


@pytest.mark.parametrize(
    "tex",
    [
        r"\nocite{a}",
        r"\verb|\cite{a}|",
        r"\begin{verbatim}\cite{a}\end{verbatim}",
        r"\begin{lstlisting}\cite{a}\end{lstlisting}",
        r"\begin{comment}\cite{a}\end{comment}",
        r"\iffalse\cite{a}\fi",
        "% \\cite{a}\n",
        r"\newcommand{\x}{\cite{a}}",
        r"\defcitealias{a}{Paper I}",
        r"\citestyle{plain}",
        r"\lstinline{\cite{a}}",
    ],
)
def test_what_is_no_citation_is_not_taken_for_one(read_latex: Read, tex: str) -> None:
    document = read_latex(f"Words before {tex} and words after.")
    assert [c for s in document.sentences for c in s.citations] == []
    assert "and words after." in document.sentences[-1].text


@pytest.mark.parametrize(
    ("definition", "use", "keys"),
    [
        (r"\newcommand{\mycite}[1]{\citep{#1}}", r"\mycite{a,b}", ("a", "b")),
        (r"\newcommand{\seecite}[2]{(see #2 in \citealp[p. 1]{#1})}", r"\seecite{a}{more}", ("a",)),
        (r"\newcommand\cn[2][note]{\cite[#1]{#2}}", r"\cn{a}", ("a",)),
        (r"\newcommand\cn[2][note]{\cite[#1]{#2}}", r"\cn[other]{a}", ("a",)),
        (r"\def\c@te#1{\cite{#1}}\def\ct#1{\c@te{#1}}", r"\ct{a}", ("a",)),
        (r"\let\ct\citet", r"\ct{a}", ("a",)),
        (r"\let\ct=\citet", r"\ct[p. 2]{a}", ("a",)),
        (r"\newcommand{\ct}{\citet}", r"\ct{a}", ("a",)),
        (r"\newcommand{\bert}{BERT~\cite{devlin}}", r"\bert", ("devlin",)),
        (r"\NewDocumentCommand{\ct}{s O{} m}{\cite[#2]{#3}}", r"\ct*[p. 3]{a}", ("a",)),
        (r"\expandafter\def\csname ct\endcsname#1{\cite{#1}}", r"\ct{a}", ("a",)),
        (r"\DeclareRobustCommand{\ct}[1]{\cite{#1}}", r"\ct{a}", ("a",)),
    ],
)
def test_macros_that_wrap_a_citation(read_latex: Read, definition: str, use: str, keys: tuple[str, ...]) -> None:
    text = (
        f"\\documentclass{{article}}\n{definition}\n\\begin{{document}}\nAs {use} showed, it works.\n\\end{{document}}"
    )
    document = read_latex(text, whole=True)
    (sentence,) = document.sentences
    (citation,) = sentence.citations
    assert citation.keys == keys
    assert text[citation.start : citation.end] == use
    assert text[sentence.start : sentence.end] == f"As {use} showed, it works."


def test_citations_in_notes_captions_tables_theorems_and_headings_are_kept(read_latex: Read) -> None:
    document = read_latex(r"""
\section{On \cite{heading}}
Text\footnote{See \cite{note}.} goes on.
\begin{figure}\includegraphics{x}\caption[Short \cite{short}]{A picture from \cite{caption}.}\end{figure}
\begin{table}\begin{tabular}{ll}Method & Source\\ Ours & this \\ Theirs & \cite{cell}\end{tabular}\end{table}
\begin{theorem}[After \cite{theorem}]All is well.\end{theorem}
""")
    found = {citation.keys[0]: sentence.kind for sentence in document.sentences for citation in sentence.citations}
    assert found == {
        "heading": "heading",
        "note": "footnote",
        "short": "footnote",
        "caption": "caption",
        "cell": "table",
        "theorem": "prose",
    }
    assert [s.text for s in document.sentences if s.kind == "table"] == ["[cell]"]
    assert "Ours" not in " ".join(s.text for s in document.sentences)
    assert document.sections[0].heading == "On [heading]"
