"""Whether a paper fits a claim depends on the two alone, and a library that grows makes no fit look worse."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fakes import FakeEncoder, FakeLibrary
from tests.thoroughness import THOROUGH
from whycite.cite.evidence_sum import EvidenceSum
from whycite.cite.fit import (
    BAR,
    BIBLIOGRAPHY,
    LIBRARY,
    ClaimWords,
    FitSigns,
    FitWeights,
    best_chance,
    fit_chance,
    insertion_chance,
    may_insert,
    nothing_fits,
    proper_names,
)
from whycite.cite.recommendations import Claim, Recommendations, load_method
from whycite.documents.model import Citation, Document, Reference, Section, Sentence
from whycite.library import Library, add_documents

CLAIM = "The tool Cytoscape draws networks of proteins, as Shannon showed."
COSINES = st.integers(0, 20).map(lambda number: number / 20)
# A text that cites papers, and its cosine with the claim.
SPANS = st.lists(
    st.tuples(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=3, unique=True), COSINES), min_size=1, max_size=8
)


def signs(title: str, *texts: str, authors: tuple[str, ...] = ()) -> FitSigns:
    return ClaimWords(CLAIM).signs(0.5, title, authors, texts)


def test_signs_by_hand() -> None:
    found = signs("Drawing networks with Cytoscape", "Cytoscape.", authors=("Doe, J.", "Shannon, P."))
    assert found == FitSigns(meaning=0.5, title=2 / 3, author=0.5, named=1.0, missing=0.0)
    assert signs("Networks").title == 1 / 3  # a title of one word is in many claims
    assert signs("Networks").missing == 1.0
    assert signs("Networks", "Nothing.", "It is done with Cytoscape.").missing == 0.5
    assert ClaimWords("proteins form networks").signs(0.5, "Networks", (), ()).named == 0.0


@pytest.mark.parametrize(
    ("claim", "names"),
    [
        ("We follow Reimers and Gurevych.", {"reimers", "gurevych"}),
        ("HMM-crowd beats the model.", {"hmm", "crowd"}),
        ("Bees sleep (see Figure REF and Table 2).", set()),
        ("Bees sleep, EQUATION, at night.", set()),
        ("", set()),
    ],
)
def test_names_are_written_with_capitals(claim: str, names: set[str]) -> None:
    assert proper_names(claim) == names


@pytest.mark.parametrize("weights", [BIBLIOGRAPHY, LIBRARY], ids=["bibliography", "library"])
def test_what_speaks_for_a_paper_raises_its_chance(weights: FitWeights) -> None:
    plain = FitSigns(meaning=0.6, title=0.2, author=0.0, named=1.0, missing=0.5)
    better = [replace(plain, meaning=0.8), replace(plain, title=0.6), replace(plain, author=1.0)]
    better += [replace(plain, missing=0.0)]
    assert all(fit_chance(signs, weights) > fit_chance(plain, weights) for signs in better)
    assert (
        0
        < fit_chance(replace(plain, meaning=-1.0), weights)
        < BAR
        < fit_chance(replace(plain, author=1.0), weights)
        < 1
    )


def test_nothing_is_said_where_nothing_is_known() -> None:
    assert not nothing_fits(None)
    assert nothing_fits(0.0)
    assert not nothing_fits(BAR)
    assert best_chance([None, 0.2, 0.4, None]) == 0.4
    assert best_chance([None]) is None
    assert not may_insert(None, 0.1, 1.0)


def test_what_is_inserted_fits_better_than_its_rivals() -> None:
    assert insertion_chance(0.8, 0.3, 0.6) > insertion_chance(0.8, 0.7, 0.6)
    assert insertion_chance(0.8, 0.3, 0.6) > insertion_chance(0.8, 0.3, 0.2)
    assert insertion_chance(0.8, 0.3, 0.6) > insertion_chance(0.5, 0.3, 0.6)
    assert may_insert(0.9, None, 1.0)
    assert not may_insert(BAR - 0.01, None, 1.0)


def test_a_notebook_says_that_nothing_fits_only_by_the_chance(library: FakeLibrary, encoder: FakeEncoder) -> None:
    library.cite("cells divide", "a", cosine=0.9)
    answer = EvidenceSum(library, encoder).recommend(Claim("Cells divide."))
    assert "clear match" not in answer._repr_html_()
    assert "clear match" in Recommendations(answer, fits=0.0)._repr_html_()


@given(SPANS, SPANS, st.integers(1, 6))
def test_a_library_that_grows_makes_no_fit_look_worse(
    spans: list[tuple[list[str], float]], more: list[tuple[list[str], float]], n: int
) -> None:
    library = FakeLibrary()
    for number, (keys, cosine) in enumerate(spans):
        library.cite(f"text {number}", *keys, cosine=cosine)
    method = EvidenceSum(library, FakeEncoder())
    before = method.recommend(Claim(CLAIM), 6)
    for number, (keys, cosine) in enumerate(more):
        library.cite(f"new text {number}", *keys, f"new {number}", cosine=cosine)
    after = EvidenceSum(library, FakeEncoder()).recommend(Claim(CLAIM), n)
    assert before.fits is not None
    assert after.fits is not None
    assert after.fits >= before.fits
    chances = {recommendation.paper.key: recommendation.fits for recommendation in before}
    assert all((one.fits or 0) >= (chances.get(one.paper.key) or 0) for one in after)


STUDIES = {
    "Honeybees that forage sleep at night": "Busy bees need rest",
    "Foraging honeybees rest in the dark": "Sleep of honeybees",
    "Old honeybees sleep more than young ones": "Age and rest in bees",
    "Bumblebees warm their brood": "Warm nests of bumblebees",
    "Bacteria exchange plasmids": "Gene exchange in bacteria",
    "Stone bridges last for centuries": "Bridges made of granite",
}


def study(said: str, title: str) -> Document:
    """A document that says one thing and cites one paper for it."""
    text = f"{said} [1]."
    citation = Citation(("r1",), len(said), len(text) - 1, len(said) + 1, len(text) - 1)
    return Document(
        f"{title}.txt",
        "plain",
        Reference("", title=f"A study that cites {title.lower()}", year=2020),
        sections=(Section("Introduction", 1, "introduction"),),
        sentences=(Sentence(text, 0, 0, f"{title}.txt", 0, len(text), (citation,)),),
        references=(Reference("r1", title=title, authors=("Doe, J.",), year=2000),),
    )


@settings(max_examples=5 if THOROUGH else 3, deadline=None)
@given(order=st.permutations(list(STUDIES)))
def test_several_good_papers_fit_as_well_as_one(order: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("growing") / "library"
    fits: list[float] = []
    for said in order:
        add_documents(path, [study(said, STUDIES[said])], jobs=1)
        answer = load_method("whycite", Library.open(path)).recommend(Claim("Honeybees sleep at night."), 1)
        assert isinstance(answer, Recommendations)
        fits.append(answer.fits or 0.0)
    assert fits == sorted(fits)
    assert fits[-1] > BAR


def test_each_paper_keeps_its_chance_whatever_else_there_is(tmp_path: Path) -> None:
    claim = Claim("Honeybees sleep at night.")
    chances = []
    for number in (2, len(STUDIES)):
        add_documents(tmp_path / f"{number}", [study(*pair) for pair in list(STUDIES.items())[:number]], jobs=1)
        answer = load_method("whycite", Library.open(tmp_path / f"{number}")).recommend(claim)
        chances.append({one.paper.title: one.fits for one in answer})
    few, many = chances
    assert {title: many[title] for title in few} == pytest.approx(few)
