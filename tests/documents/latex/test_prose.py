"""Sentences read like prose, whatever stands in the source."""

from collections.abc import Callable

import pytest

from whycite.documents import Document

Read = Callable[..., Document]


def _texts(document: Document) -> list[str]:
    return [sentence.text for sentence in document.sentences]


@pytest.mark.parametrize(
    ("tex", "text"),
    [
        (r"\textbf{Bold} and \emph{it \textit{is}} so.", "Bold and it is so."),
        (r"{\bf Bold} {\it words} are old.", "Bold words are old."),
        (r"Caf\'e, na\"{\i}ve, \c{c}a, \v{S}koda, Erd\H{o}s, \o re.", "Café, naïve, ça, Škoda, Erdős, øre."),
        (r"A 5\,\% rise \& a \$3 fall, 50~cm.", "A 5 % rise & a $3 fall, 50 cm."),
        (r"``Quoted'' text --- with dashes, pages 3--5.", "“Quoted” text — with dashes, pages 3–5."),
        (r"With $n = 5$ mice at $37^{\circ}$C and CO$_2$.", "With n = 5 mice at 37°C and CO2."),
        (r"Here $\alpha$ and $p < 0.05$ hold.", "Here α and p < 0.05 hold."),
        (r"It is $\sum_{i=1}^{n} \frac{x_i}{y_i}$ in all.", "It is EQUATION in all."),
        (r"So \[ x = y \] holds.", "So EQUATION holds."),
        (r"So $$ x = y $$ holds.", "So EQUATION holds."),
        ("So\n\\begin{align}\n x &= y \\\\ z\n\\end{align}\nholds.", "So EQUATION holds."),
        (r"See Figure~\ref{fig:a} and Eq.~\eqref{e}.", "See Figure REF and Eq. REF."),
        (r"At \url{https://a.b/c_d%20e} it is.", "At https://a.b/c_d%20e it is."),
        (r"The \href{https://a.b/%20}{web page} is.", "The web page is."),
        (r"Run \verb|a_b \x| now.", "Run a_b x now."),
        (r"\textcolor{red}{Red} words, \parbox{3cm}{boxed}.", "Red words, boxed."),
        (r"\SI{5}{\micro\metre\per\second} and \num{1000} fast.", "5 µm/s and 1000 fast."),
        (r"Hyphen\-ated and\\ broken.", "Hyphenated and broken."),
        (r"A word\index{word} stays.\label{x}", "A word stays."),
        ("One % a comment\nline.", "One line."),
        ("No%\nspace.", "Nospace."),
        (r"\enquote{Words} and \foo[x=1]{kept}.", "“Words” and kept."),
        ("Windows\r\nline ends.", "Windows line ends."),
        (r"Done\todo{check this!} and dusted.", "Done and dusted."),
    ],
)
def test_a_sentence_reads_like_prose(read_latex: Read, tex: str, text: str) -> None:
    assert _texts(read_latex(tex)) == [text]


def test_macros_are_expanded_and_their_words_stand_for_the_call(read_latex: Read) -> None:
    source = r"""\documentclass{article}
\newcommand{\tool}{SuperTool\xspace}
\newcommand{\new}[1]{\textcolor{blue}{#1}}
\begin{document}
We use \tool every day. \new{This part is new. It has two sentences.}
\end{document}"""
    document = read_latex(source, whole=True)
    assert _texts(document) == ["We use SuperTool every day.", "This part is new.", "It has two sentences."]
    cut = [source[s.start : s.end] for s in document.sentences]
    assert cut == [r"We use \tool every day.", "This part is new.", "It has two sentences."]


def test_sections_levels_and_paragraphs(read_latex: Read) -> None:
    document = read_latex(r"""
\begin{abstract}What we did.\end{abstract}
\section*{Introduction}\label{sec:intro}
One. Two.

Three.
\subsection[Short]{The \emph{long} one}
Four.
\appendix
\section{Proofs}
Five.
""")
    assert [(s.heading, s.level) for s in document.sections] == [
        ("Abstract", 1),
        ("Introduction", 1),
        ("The long one", 2),
        ("Appendix", 1),
        ("Proofs", 2),
    ]
    assert [(s.text, s.section, s.paragraph) for s in document.sentences] == [
        ("What we did.", 0, 0),
        ("One.", 1, 1),
        ("Two.", 1, 1),
        ("Three.", 1, 2),
        ("Four.", 2, 3),
        ("Five.", 4, 4),
    ]


def test_chapters_are_the_top_level_of_a_thesis(read_latex: Read) -> None:
    document = read_latex(r"\chapter{One}\section{Two}Text.")
    assert [(s.heading, s.level) for s in document.sections] == [("One", 1), ("Two", 2)]


def test_notes_captions_and_lists_do_not_cut_sentences(read_latex: Read) -> None:
    document = read_latex(r"""
A sentence\footnote{A note. Two.} that goes on
\begin{figure}\caption{A caption.}\end{figure}
to its end. We do:
\begin{itemize}
\item first this
\item[Then] that
\end{itemize}
""")
    assert [(s.kind, s.text) for s in document.sentences] == [
        ("prose", "A sentence that goes on to its end."),
        ("prose", "We do:"),
        ("prose", "first this"),
        ("prose", "Then that"),
        ("footnote", "A note."),
        ("footnote", "Two."),
        ("caption", "A caption."),
    ]


def test_formulas_begun_and_ended_by_macros(read_latex: Read) -> None:
    document = read_latex(
        r"""\documentclass{article}\newcommand{\be}{\begin{equation}}\newcommand{\ee}{\end{equation}}
\newenvironment{formula}{\begin{align*}}{\end{align*}}
\begin{document}We have \be x = \mathrm{y} \ee here. And \begin{formula}a\end{formula} there.\end{document}""",
        whole=True,
    )
    assert _texts(document) == ["We have EQUATION here.", "And EQUATION there."]


@pytest.mark.parametrize(
    "definition",
    [
        r"\newenvironment{ccode}{\minted{c}}{\endminted}",
        r"\newenvironment{ccode}{\begin{lstlisting}}{\end{lstlisting}}",
        r"\lstnewenvironment{ccode}[1][]{\lstset{language=C}}{}",
        r"\DefineVerbatimEnvironment{ccode}{Verbatim}{fontsize=\small}",
        r"\newminted[ccode]{c}{linenos}",
        r"\newminted{c}{linenos}",
        r"\newtcblisting{ccode}{colback=white}",
    ],
)
def test_code_in_an_environment_of_the_draft_is_no_prose(read_latex: Read, definition: str) -> None:
    document = read_latex(
        rf"""\documentclass{{article}}{definition}
\begin{{document}}Bees sleep.

\begin{{ccode}}
// Wasps have been shown to dream.
if (bee) {{ sleep();
\end{{ccode}}

Wasps dream.\end{{document}}""",
        whole=True,
    )
    assert _texts(document) == ["Bees sleep.", "Wasps dream."]


def test_an_environment_that_begins_with_a_whole_table_is_prose(read_latex: Read) -> None:
    document = read_latex(
        r"""\documentclass{article}
\newenvironment{remark}{\begin{tabular}{l}Remark\end{tabular}}{}
\begin{document}\begin{remark}Bees sleep.\end{remark}\end{document}""",
        whole=True,
    )
    assert [(sentence.kind, sentence.text) for sentence in document.sentences] == [("prose", "Bees sleep.")]


def test_a_table_in_an_environment_of_the_draft_is_a_table(read_latex: Read) -> None:
    document = read_latex(
        r"""\documentclass{article}
\newenvironment{hives}[1]{\noindent\tabularx{\textwidth}{#1}}{\endtabularx}
\begin{document}Bees sleep.
\begin{hives}{lL}one & Bees of the first hive \\\end{hives}
Wasps dream.\end{document}""",
        whole=True,
    )
    kinds = {sentence.kind for sentence in document.sentences if "first hive" in sentence.text}
    assert kinds <= {"table"}
    prose = [sentence.text for sentence in document.sentences if sentence.kind == "prose"]
    assert prose == ["Bees sleep.", "Wasps dream."]


@pytest.mark.parametrize(
    ("tex", "text"),
    [
        (r"one \iffalse two \else three \fi four", "one three four"),
        (r"\newif\ifdraft one \ifdraft two \else three \fi", "one three"),
        (r"\newif\ifdraft\drafttrue one \ifdraft two \else three \fi", "one two"),
        (r"\ifx\undefinedmacro\undefined one \else two \fi", "one"),
        (r"\def\main{}\ifx\main\undefined one \else two \fi", "two"),
        (r"\iffalse one \iftrue two \fi three \fi four", "four"),
        (r"one \ifodd\thepage two \else three \fi four", "one two four"),
    ],
)
def test_conditionals(read_latex: Read, tex: str, text: str) -> None:
    assert _texts(read_latex(tex)) == [text]


def test_title_and_preamble_are_not_sentences(read_latex: Read) -> None:
    document = read_latex(
        r"""\documentclass[11pt]{article}
\title[Short]{A \emph{good} title\thanks{Money}}
\author{Jane Doe\and John Roe}
\date{Today}
\begin{document}\maketitle Text.\end{document} Not text.""",
        whole=True,
    )
    assert document.paper.title == "A good title"
    assert _texts(document) == ["Text."]


def test_a_typed_reference_list_is_told(read_latex: Read) -> None:
    warning = "main.tex: the reference list is typed; its entries and the citations of them are not read as such"
    assert read_latex("Bees sleep (Kaiser, 1995).\n\\section*{References}\nKaiser, W. (1995). Bees.").warnings == (
        warning,
    )
    assert not read_latex("Bees sleep.\n\\section*{Reference trees}\nTrees grow.").warnings
