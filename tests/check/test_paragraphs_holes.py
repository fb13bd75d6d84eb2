"""Sentences that are incomplete without their citations, and how they are repaired."""

import re
from pathlib import Path

import pytest

import whycite
from whycite.check.paragraphs import (
    LabelledSentence,
    complete_text,
    labelled_document,
    leaves_hole,
    named_texts,
    prose_paragraphs,
    repaired_texts,
)
from whycite.documents.jsondocument import document_json
from whycite.evidence.groups import join_texts, split_at_groups

BIBLIOGRAPHY = """@article{a, author = {Kaiser, Walter}, title = {Busy bees need rest}, year = 1988}
@article{b, author = {Doe, Jane and Roe, Richard and Poe, Edgar}, title = {Bees}, year = 2001}
@misc{c, title = {A report without authors}}
"""


@pytest.fixture
def read(tmp_path: Path):  # type: ignore[no-untyped-def]
    def read_sentence(text: str):  # type: ignore[no-untyped-def]
        (tmp_path / "a.bib").write_text(BIBLIOGRAPHY, encoding="utf-8")
        draft = tmp_path / "draft.tex"
        draft.write_text(
            "\\documentclass{article}\n\\begin{document}\n\\section{Introduction}\n"
            f"{text}\n\\bibliography{{a}}\n\\end{{document}}\n",
            encoding="utf-8",
        )
        document = whycite.read(draft)
        (sentence,) = document.sentences
        return document, sentence

    return read_sentence


@pytest.mark.parametrize(
    "text",
    [
        r"\citet{a} showed that bees sleep at night.",
        r"Following \citet{a}, we count the bees that sleep.",
        r"That bees sleep at night was first shown by \cite{a}.",
        r"Bees sleep at night, see \cite{a} for a review of this.",
        r"While \cite{a} reported that bees sleep, whales do not.",
        r"In contrast, \cite{a} found that no bee ever sleeps.",
        r"\cite{a} is where the sleep of bees is described.",
        r"The count of Kaiser~\cite{a} is what we start from.",
    ],
)
def test_citations_that_are_part_of_the_grammar_leave_a_hole(read, text: str) -> None:  # type: ignore[no-untyped-def]
    document, sentence = read(text)
    parts = split_at_groups(sentence, document)
    assert leaves_hole(parts)
    repaired = join_texts(repaired_texts(parts))
    assert repaired == complete_text(sentence, document)
    assert re.search(r"Kaiser|(?:work|studies|study|authors)\b", repaired), repaired
    assert repaired[0].isupper()
    names = named_texts(parts)
    assert names is not None
    assert "Kaiser" in join_texts(names)


@pytest.mark.parametrize(
    "text",
    [
        "Bees sleep at night.",
        r"Bees sleep at night \citep{a}.",
        r"Bees \citep{a} and whales \citep{b} sleep at night.",
        r"Bees sleep at night (see \citet{a} for a review).",
        r"Bees sleep at night~\cite{a,b}, and so do we.",
    ],
)
def test_other_citations_leave_none(read, text: str) -> None:  # type: ignore[no-untyped-def]
    document, sentence = read(text)
    parts = split_at_groups(sentence, document)
    assert not leaves_hole(parts)
    assert repaired_texts(parts) == parts.texts


def test_repairs_vary_and_stay_the_same(read) -> None:  # type: ignore[no-untyped-def]
    texts = [complete_text(*reversed(read(rf"As shown by \citet{{b}}, {count} bees sleep."))) for count in range(30)]
    assert texts == [complete_text(*reversed(read(rf"As shown by \citet{{b}}, {n} bees sleep."))) for n in range(30)]
    leads = {re.split(r", \d", text)[0] for text in texts}
    assert "As shown by Doe et al." in leads
    assert any(re.fullmatch(r"As shown by Doe et al\. \(\d{4}\)", lead) for lead in leads)
    assert any(lead.endswith(("work", "studies", "authors")) for lead in leads)


def test_words_fit_what_follows(read) -> None:  # type: ignore[no-untyped-def]
    for count in range(30):
        assert "studies shows" not in complete_text(*reversed(read(rf"\citet{{b}} shows {count} bees.")))


def test_unknown_authors_get_names_too(read) -> None:  # type: ignore[no-untyped-def]
    document, sentence = read(r"That bees sleep was shown by \cite{c}.")
    parts = split_at_groups(sentence, document)
    assert named_texts(parts) is None
    assert join_texts(repaired_texts(parts)) != join_texts(parts.texts)


def test_possessives(read) -> None:  # type: ignore[no-untyped-def]
    document, sentence = read(r"We start from \citet{a}'s count of bees.")
    assert complete_text(sentence, document) == "We start from Kaiser's count of bees."


def test_labelled_and_checked_sentences_are_repaired(read) -> None:  # type: ignore[no-untyped-def]
    document, _ = read(r"Following \citet{a}, we count the bees that sleep.")
    (paragraph,) = labelled_document(document).paragraphs
    (labelled,) = paragraph.sentences
    assert isinstance(labelled, LabelledSentence)
    assert labelled.had_hole
    assert labelled.worthy
    assert labelled.text_with_names == "Following Kaiser, we count the bees that sleep."
    ((prose, _),) = prose_paragraphs(document)
    assert prose.sentences == (labelled.text,) != ("Following, we count the bees that sleep.",)


def test_read_says_which_citations_are_textual(read) -> None:  # type: ignore[no-untyped-def]
    document, _ = read(r"\citet{a} and others \citep{b} showed that bees sleep.")
    textual, parenthetical = document_json(document)["sentences"][0]["citations"]
    assert textual["textual"] is True
    assert "textual" not in parenthetical
