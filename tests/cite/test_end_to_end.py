"""Recommendations from a real library of real articles."""

from __future__ import annotations

from itertools import islice
from math import fsum
from pathlib import Path

import pytest

from whycite.cite.recommendations import Claim, load_method, methods
from whycite.documents import stream
from whycite.documents.model import Citation, Document, Reference, Section, Sentence
from whycite.library import Library, add_documents

MARK = " [1]"
SAID = {
    "Chronic stress shrinks the dendrites of neurons in the prefrontal cortex": ("McEwen", "Stress and the brain"),
    "Chronic stress makes mice lose dendritic spines": ("McEwen", "Stress and the brain"),
    "Words are aligned with FastAlign": ("Dyer", "A reparameterization of IBM model 2"),
    "Deep galaxy surveys measure how fast stars form": ("Madau", "Cosmic star formation history"),
    "Bacteria exchange plasmids by conjugation": ("Lederberg", "Gene recombination in Escherichia coli"),
}


def document(number: int, sentence: str, author: str, title: str) -> Document:
    """A document that says one thing and cites one paper for it."""
    text = f"{sentence}{MARK}."
    citation = Citation(("r1",), len(sentence), len(text) - 1, len(sentence) + 1, len(text) - 1)
    return Document(
        f"{number}.txt",
        "plain",
        Reference("", title=f"Document number {number} of this library", year=2020),
        sections=(Section("Introduction", 1, "introduction"),),
        sentences=(Sentence(text, 0, 0, f"{number}.txt", 0, len(text), (citation,)),),
        references=(Reference("r1", title=title, authors=(f"{author}, A.",), year=2000 + number),),
    )


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    path = tmp_path_factory.mktemp("made") / "library"
    documents = [document(number, said, *paper) for number, (said, paper) in enumerate(SAID.items())]
    add_documents(path, documents, jobs=1)
    return Library.open(path)


@pytest.mark.parametrize("name", sorted(methods()))
def test_the_paper_that_others_cite_for_it(library: Library, name: str) -> None:
    claim = Claim("In mice, stress reduces dendritic spines of the prefrontal cortex")
    best = load_method(name, library).recommend(claim)[0]
    assert best.paper.title == "Stress and the brain"
    assert best.paper.authors == ("McEwen, A.",)
    assert best.support == 2
    assert {evidence.sentence for evidence in best.evidence} == {f"{said}{MARK}." for said in list(SAID)[:2]}
    assert {evidence.source.title for evidence in best.evidence} == {
        "Document number 0 of this library",
        "Document number 1 of this library",
    }
    assert fsum(best.shares.values()) == pytest.approx(best.score)


def test_context_of_the_draft(library: Library) -> None:
    claim = Claim(
        "Neurons change under stress",
        title="Document number 0 of this library",
        section_type="introduction",
        paragraph="Neurons change under stress. Mice that are stressed lose spines.",
        cited=("title:gene recombination in escherichia coli|2004|lederberg",),
        year=2003,
    )
    found = load_method("whycite", library).recommend(claim)
    best = found[0]
    assert best.paper.title == "Stress and the brain"
    assert [evidence.sentence for evidence in best.evidence] == [
        f"{list(SAID)[1]}{MARK}."
    ]  # the draft's own says nothing
    assert best.shares["context"] > 0
    assert all(one.paper.year is not None and one.paper.year <= 2003 for one in found)


def test_the_same_answer_each_time(library: Library) -> None:
    claim = Claim("Stars form in galaxies")
    assert load_method("whycite", library).recommend(claim) == load_method("whycite", library).recommend(claim)
    reopened = Library.open(library.path)
    assert load_method("whycite", reopened).recommend(claim) == load_method("whycite", library).recommend(claim)


@pytest.mark.parametrize(
    "text",
    [
        "x" * 100_000,
        "cells divide " * 8_000,
        '"cells" AND (divide OR \\',
        "細胞は分裂する",
        "\ud800 cells",
        "a\x00b",
        "the of",
    ],
    ids=["one word", "long", "signs", "japanese", "half a character", "nul", "function words"],
)
def test_strange_claims(library: Library, text: str) -> None:
    for name in ("whycite", "ilciter"):
        found = load_method(name, library).recommend(Claim(text))
        assert [one.rank for one in found] == [*range(1, len(found) + 1)]


def test_real_articles(data: Path, tmp_path: Path) -> None:
    articles = list(islice(stream(data / "elife" / "elife-tiny.jsonl.zst"), 3))
    add_documents(tmp_path / "library", articles, jobs=1)
    found = Library.open(tmp_path / "library")
    citing = [
        (article, sentence)
        for article in articles
        for sentence in article.sentences
        if sentence.kind == "prose" and len(sentence.citations) == 1 and len(sentence.citations[0].keys) == 1
    ][:12]
    recommender = load_method("whycite", found)
    hits = 0
    for article, sentence in citing:
        cited = article.by_id[sentence.citations[0].keys[0]]
        answer = recommender.recommend(Claim(sentence.without_citations()), 5)
        hits += any(one.paper.title == cited.title for one in answer)
    assert hits >= 11  # the sentence itself is in the library
