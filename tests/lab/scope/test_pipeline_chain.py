"""SCOPE's chain on a draft whose every answer is known."""

from pathlib import Path

import numpy as np

import whycite
from tests.fakes import word_detector, word_encoder
from whycite.documents.model import Reference
from whycite.lab.scope.candidates import CandidatePaper, CitedSet, Lessons, load_recommender
from whycite.lab.scope.chain import MatchedReference, ReferenceMatcher, ScopeChain
from whycite.lab.scope.inputvariants import ClaimPlace, ranker_variant
from whycite.lab.scope.pipeline import ask_nothing, drafts_in, run
from whycite.lab.scope.reranking import Bm25Reranker
from whycite.structure import label

PAPERS = {
    "doi:10.1/sleep": CandidatePaper("doi:10.1/sleep", "Sleep of honeybees at night", "Bees need rest."),
    "title:dance of bees 2005": CandidatePaper("title:dance of bees 2005", "The dance of bees", year=2005),
    "title:wax 2001": CandidatePaper("title:wax 2001", "Wax and how it is made", year=2001),
}
DRAFT = """---
title: A draft on bees
references:
- {id: sleep, title: "Sleep in honeybees", DOI: 10.1/sleep}
- {id: dance, title: "The dance of bees", issued: 2005}
- {id: wax, title: "How wax is made by bees", issued: 2002}
- {id: other, title: "Qwertz", issued: 2002}
---
# Introduction

Previous studies show that bees need rest at night [@sleep]. Bees dance [@dance]. We like wax.
"""


def _chain(prefetch: str = "local-bm25") -> ScopeChain:
    sets = [CitedSet("doc", "", ("introduction",), tuple(sorted(PAPERS)))]
    reranker = Bm25Reranker(PAPERS.values(), ranker_variant("paragraph"), masked=False)
    return ScopeChain(PAPERS, load_recommender(prefetch, Lessons(sets, PAPERS)), reranker, 2)


def _draft(folder: Path) -> Path:
    path = folder / "drafts" / "bees.md"
    path.parent.mkdir()
    path.write_text(DRAFT, "utf-8")
    return path


def test_references_are_matched_and_guesses_are_called_so(tmp_path: Path) -> None:
    document = whycite.read(_draft(tmp_path))
    assert _chain().match(document) == {
        "sleep": MatchedReference("sleep", "doi:10.1/sleep", "identifier"),
        "dance": MatchedReference("dance", "title:dance of bees 2005", "title"),
        "wax": MatchedReference("wax", "title:wax 2001", "guess"),
    }
    assert ReferenceMatcher(PAPERS).match(Reference("x")) is None


def test_candidates_are_reranked_as_if_the_sentence_cited_nothing(tmp_path: Path) -> None:
    document = label(whycite.read(_draft(tmp_path)))
    chain = _chain()
    proposals, seconds = chain.propose(document, [0], chain.match(document), 5)
    # What the sentence itself cites is found; what its section cites elsewhere is not proposed again.
    assert proposals[0][0] == "doi:10.1/sleep"
    assert "title:dance of bees 2005" not in proposals[0]
    assert set(seconds) == {"prefetcher", "reranker"}


def test_the_pipeline_has_a_row_for_the_chain_and_one_that_asks_nothing(tmp_path: Path) -> None:
    drafts = drafts_in(_draft(tmp_path).parent)
    outcome = run(drafts, word_detector("rest"), word_encoder(), chain=_chain())
    assert outcome.pool == "local-bm25 and bm25-paragraph (no masking), 2 of 3 papers"
    assert [sentence.place for sentence in outcome.sentences if sentence.decided] == [1]
    assert outcome.guessed == 0
    silent = ask_nothing(outcome)
    assert silent.accuracy(10) == np.mean([not sentence.worthy for sentence in outcome.sentences])
    assert silent.recall(10) == 0


def test_every_document_of_a_folder_is_a_draft(tmp_path: Path) -> None:
    for name in ("a.xml", "b.nxml", "c.jsonl.gz", "d.md", "refs.bib", "notes.log"):
        (tmp_path / name).write_text("x")
    (tmp_path / "project").mkdir()
    assert [path.name for path in drafts_in(tmp_path)] == ["project", "a.xml", "b.nxml", "c.jsonl.gz", "d.md"]


def test_places_have_the_paragraph_without_citations(tmp_path: Path) -> None:
    document = label(whycite.read(_draft(tmp_path)))
    read: list[ClaimPlace] = []

    class Reader:
        name = "reader"

        def score(self, place: ClaimPlace, papers: object) -> np.ndarray:
            read.append(place)
            return np.zeros(len(list(papers)))  # type: ignore[call-overload]

    sets = [CitedSet("doc", "", (), tuple(PAPERS))]
    chain = ScopeChain(PAPERS, load_recommender("most-popular", Lessons(sets, PAPERS)), Reader(), 3)
    chain.propose(document, [1], chain.match(document), 3)
    assert read[0].paragraph[1] == "Bees dance."
    assert (read[0].title, read[0].section_type) == ("A draft on bees", "introduction")
