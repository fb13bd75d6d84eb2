"""Input made to hurt: every one is read within seconds and a bounded amount of memory, with a warning at most."""

import gc
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.thoroughness import examples, scaled
from whycite.documents import Document
from whycite.documents.latex import READER
from whycite.documents.sources import MemoryFolder, Source

LIMIT = 5.0  # seconds of work; a busy machine may take longer on the clock


def _read(text: str | bytes, **files: str) -> Document:
    data = text.encode() if isinstance(text, str) else text
    folder = MemoryFolder({"main.tex": data, **{f"{name}.tex": body.encode() for name, body in files.items()}}, "")
    return next(READER.read(Source(folder, "main.tex")))


def _timed(text: str | bytes) -> Document:
    start = time.process_time()
    document = _read(text)
    assert time.process_time() - start < LIMIT
    return document


MEGABYTE = scaled(1 << 20)
ADVERSARIAL = {
    "braces": "{" * scaled(10_000) + "x" + "}" * scaled(10_000),
    "open braces": "{" * MEGABYTE,
    "closing braces": "}" * MEGABYTE,
    "one line": "word " * (MEGABYTE // 5),
    "no spaces": "x" * MEGABYTE,
    "itself": r"\def\x{\x}\x",
    "each other": r"\def\x{\y}\def\y{\x}\x",
    "with arguments": r"\def\x#1{\x{#1#1}}\x{a}",
    "doubling": "".join(
        rf"\def\{a}{{\{b}\{b}}}" for a, b in zip("abcdefghijklmnopqrs", "bcdefghijklmnopqrst", strict=True)
    )
    + r"\a",
    "doubling by arguments": r"\newcommand{\d}[1]{#1#1}" + r"\d{" * 40 + "x" + "}" * 40,
    "environments": "".join(
        rf"\newenvironment{{e{i}}}{{\begin{{itemize}}}}{{\end{{itemize}}}}" + "\n" for i in range(500)
    ),
    "begins": r"\begin{equation}" * scaled(30_000),
    "figures": r"\begin{figure}" * scaled(30_000),
    "lists": r"\begin{itemize}\item x" * scaled(20_000),
    "ends": r"\end{x}" * scaled(100_000),
    "mixed ends": r"\begin{a}" * scaled(20_000) + r"\end{b}" * scaled(20_000),
    "notes in notes": r"\footnote{" * scaled(20_000) + "x" + "}" * scaled(20_000),
    "sections in sections": r"\section{" * scaled(20_000) + "x" + "}" * scaled(20_000),
    "open notes": r"\footnote{" * scaled(30_000),
    "dollars": "$" * MEGABYTE,
    "odd dollars": "$x " * scaled(99_999),
    "brackets": r"\[" * scaled(100_000),
    "options": r"\foo[" * scaled(100_000),
    "cites": r"\cite[" * scaled(100_000),
    "keys": r"\cite{" + "a," * scaled(300_000) + "}",
    "conditionals": r"\iffalse" * scaled(50_000),
    "branches": r"\iftrue\else" * scaled(50_000),
    "comments": "%\n" * scaled(300_000),
    "backslashes": "\\" * MEGABYTE,
    "accents": r"\'" * scaled(200_000),
    "verbs": r"\verb" * scaled(100_000),
    "verbatim": r"\begin{verbatim}" * scaled(30_000),
    "urls": r"\url{" * scaled(100_000),
    "definitions": r"\def\x" * scaled(100_000),
    "dashes": "-" * MEGABYTE,
    "quotes": "'" * MEGABYTE,
    "blank lines": "\n" * MEGABYTE,
    "carriage returns": "\r" * MEGABYTE,
    "items": r"\item" * scaled(200_000),
    "cells": r"\begin{tabular}{l}" + "a & " * scaled(200_000) + r"\end{tabular}",
    "inputs": r"\input{gone}" * scaled(50_000),
    "full stops": "a. " * scaled(100_000),
    "titles": r"\title{" * scaled(50_000),
    "csnames": r"\expandafter\def\csname" * scaled(30_000),
}


@pytest.mark.parametrize("text", ADVERSARIAL.values(), ids=ADVERSARIAL.keys())
def test_adversarial_text_is_read_in_time(text: str) -> None:
    document = _timed(text)
    assert len(document.warnings) <= 60


@pytest.mark.parametrize(
    "name", ["braces", "one line", "begins", "odd dollars", "cells", "full stops", "notes in notes"]
)
def test_time_grows_linearly(name: str) -> None:
    text = ADVERSARIAL[name]

    def seconds(part: str) -> float:
        gc.collect()
        gc.disable()  # what it takes hangs on all that other tests have left behind
        try:
            start = time.process_time()
            _read(part)
            return time.process_time() - start
        finally:
            gc.enable()

    quarter = whole = float("inf")
    for _ in range(5):  # what else the machine does can only add to the time
        quarter, whole = min(quarter, seconds(text[: len(text) // 4])), min(whole, seconds(text))
        if whole < 10 * quarter + 0.2:
            break
    assert whole < 10 * quarter + 0.2  # linear is 4; quadratic 16


def test_deep_macros_keep_their_text() -> None:
    document = _timed(r"\newcommand{\b}[1]{\textbf{#1}}" + r"\b{" * 100 + "deep" + "}" * 100)
    assert [sentence.text for sentence in document.sentences] == ["deep"]


def test_a_macro_that_calls_itself_is_a_warning() -> None:
    document = _read("Text.\n\\def\\x{\\x}\\x")
    assert document.warnings == ("main.tex:2: \\x is defined in terms of itself; not expanded",)


def test_unbalanced_braces_are_a_warning_and_lose_nothing() -> None:
    document = _read("One.}} \\textbf{Two.\n\n\\section{Three}\nFour \\cite{a}. Five.\n\n\\footnote{Six.\n\nSeven.")
    texts = [sentence.text for sentence in document.sentences]
    assert texts == ["One.", "Two.", "Four [a].", "Five.", "Six.", "Seven."]
    assert "main.tex:1: { is never closed" in document.warnings


@pytest.mark.parametrize(
    "data", [b"\x00\x01\x02\xff" * 5000, bytes(range(256)) * 100, b"\x89PNG\r\n\x1a\n" + b"\x00" * 99]
)
def test_a_binary_named_tex_is_a_warning(data: bytes) -> None:
    document = _timed(data)
    assert any("binary data" in warning for warning in document.warnings)


def test_nothing_at_all() -> None:
    assert _read("").sentences == ()
    assert _read(" \n\n ").sentences == ()


COMMANDS = r"""
    \ { } [ ] $ $$ % & ~ #1 `` '' -- word é \cite{a} \section{ \footnote{ \caption{ \title{ \x{ \y \'e \\ \[ \] \( \)
    \verb|
    \begin{equation} \end{equation} \begin{figure} \end{figure} \begin{tabular}{ll} \end{tabular} \begin{itemize} \item
    \end{itemize} \begin{verbatim} \end{verbatim} \newcommand{\x}[1]{ \def\y#1{ \let\z\x \csname \input{other}
    \input{main}
    \iffalse \else \fi \begin{document} \end{document} \bibliography{x} \begin{thebibliography}{9} \bibitem{a}
    \end{thebibliography} \appendix \endinput
""".split()
SPACED = [" ", "\n", "\n\n", "\r\n", "\0", "Two words.", r"\citep[see][p. 3]{a,b}"]
FRAGMENTS = st.sampled_from(COMMANDS + SPACED)


@settings(max_examples=examples(400), deadline=None)
@given(st.lists(FRAGMENTS | st.text(max_size=8), max_size=60).map("".join))
def test_any_text_is_read_and_every_range_lies_in_its_file(text: str) -> None:
    text = text.encode("utf-8", "ignore").decode()
    files = {"main.tex": text, "other.tex": "Other words \\cite{o}."}
    document = _read(text, other=files["other.tex"])
    for sentence in document.sentences:
        source = files[sentence.file]
        assert 0 <= sentence.start <= sentence.end <= len(source)
        assert sentence.text == sentence.text.strip()
        for citation in sentence.citations:
            assert 0 <= citation.start <= citation.end <= len(source)
            assert 0 <= citation.text_start <= citation.text_end <= len(sentence.text)


PLAIN = st.lists(st.from_regex(r"[A-Z][a-z]{2,8}( [a-z]{3,9}){1,6}", fullmatch=True), min_size=1, max_size=6)


@settings(max_examples=examples(200), deadline=None)
@given(PLAIN, st.sampled_from(["\\emph{%s}", "{\\bf %s}", "%s\\label{x}", "%s~\\cite{k}", "\\foo[o]{%s}", "%% c\n%s"]))
def test_words_survive_markup_with_their_place(sentences: list[str], markup: str) -> None:
    text = "\n".join(markup.replace("%s", sentence).replace("%%", "%") + "." for sentence in sentences)
    document = _read(text)
    read = " ".join(sentence.text for sentence in document.sentences)
    assert re.findall(r"[A-Za-z]{3,}", read) == re.findall(r"[A-Za-z]{3,}", " ".join(sentences))
    for sentence in document.sentences:
        cut = text[sentence.start : sentence.end]
        assert all(word in cut for word in re.findall(r"[A-Za-z]{3,}", sentence.text))
