"""Rerankers on sentences, over an oracle's candidates and over real ones."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.fakes import FakeEncoder, FakeRanker, unit
from whycite.errors import UserError
from whycite.lab.scope.candidates import CandidatePaper, CitingContext, CitingCorpus, CitingDocument
from whycite.lab.scope.inputvariants import VARIANTS, ClaimPlace, ranker_variant
from whycite.lab.scope.reranking import RankerEntry, Reranker, RerankSetting, TokenRoom, as_dict, rerankers, run

PAPERS = {f"p{at:02}": CandidatePaper(f"p{at:02}", f"Paper of subject{at}", year=1995 + at) for at in range(12)}
WORDS = "one two three four five six seven eight nine ten eleven twelve".split()


def _document(at: int) -> CitingDocument:
    sentences = tuple(f"We speak {WORDS[n]} of subject{n}." for n in range(12))
    contexts = tuple(CitingContext(sentences, n, "method", frozenset({f"p{n:02}"})) for n in range(12))
    return CitingDocument(f"d{at}", f"Study {at}", "An abstract.", 2004, f"2004-01-{at + 1:02}", contexts)


GATHERED = CitingCorpus(tuple(_document(at) for at in range(4)), PAPERS)
SETTING = RerankSetting(
    prefetch=("co-occurrence", "most-popular", "local-bm25"), k=3, held_out=1, limit=0, drops=(0.5,)
)


def _reader() -> FakeRanker:
    """A ranker that counts the words of the claim's first sentence."""
    return FakeRanker(lambda kind, claim, text: len({*claim.split(".")[0].split()} & {*text.split()}))


def _subjects(text: str) -> NDArray[np.float32]:
    """A vector by the subjects that a text names."""
    names = text.replace(".", " ").split()
    return unit(np.array([(f"subject{n}" in names) + 1e-6 for n in range(12)], np.float32))


def _watch(what: str, done: int, total: int | None) -> None: ...


def _made(ranker: Any = None, encoder: Any = None) -> tuple[list[Reranker], list[Reranker]]:
    rankers = [RankerEntry("ranker", ranker)] if ranker else []
    return rerankers(PAPERS.values(), encoder, rankers)


def test_every_row_of_table_6() -> None:
    table_6, table_7 = _made(_reader(), FakeEncoder(_subjects, 12))
    assert [each.name for each in table_6] == [
        *(f"ranker-{each.name}" for each in VARIANTS),
        "ranker-default + encoder-default",
        "ranker-paragraph + encoder-paragraph",
        "ranker-paragraph-notitle + encoder-paragraph-notitle",
        "bm25-default",
        "bm25-paragraph (with masking)",
        "bm25-paragraph (no masking)",
        "bm25-paragraph-notitle (with masking)",
        "bm25-paragraph-notitle (no masking)",
        "encoder-default",
        "encoder-paragraph",
        "encoder-paragraph-notitle",
    ]
    assert [each.name for each in table_7] == [
        "ranker-paragraph",
        "ranker-paragraph + encoder-paragraph",
        "bm25-paragraph (no masking)",
        "encoder-paragraph",
    ]
    assert [each.name for each in _made()[1]] == ["bm25-paragraph (no masking)"]


def test_oracle_and_real_candidates_stand_apart() -> None:
    ranker = _reader()
    outcome = run(GATHERED, SETTING, *_made(ranker, FakeEncoder(_subjects, 12)), _watch)
    # p10 to p11 came out after 2004, the document's year: they are neither asked nor offered.
    assert outcome.contexts == 10
    assert {row.prefetch for row in outcome.oracle} == {"oracle"}
    assert all(row.found.mean == 1.0 for row in outcome.oracle)
    assert {row.reranker: row.mrr.mean for row in outcome.oracle}["encoder-default"] == 1.0
    real = {(row.prefetch, row.drop, row.reranker): row for row in outcome.real}
    assert real["local-bm25", None, "encoder-paragraph"].found.mean <= 1
    assert real["most-popular", None, "ranker-paragraph"].found.mean == pytest.approx(0.3)  # the first 3 of 10
    assert ("co-occurrence", 0.5, "ranker-paragraph") in real
    offered = {text for _, _, texts in ranker.asked for text in texts}
    assert not any(text.startswith(("Paper of subject10", "Paper of subject11")) for text in offered)
    assert "Paper of subject3\n1998" in offered  # with the section, the year
    assert as_dict(outcome)["oracle"][0]["recall"].keys() == {5, 10}


def test_an_order_is_not_given_away_by_the_candidates() -> None:
    outcome = run(GATHERED, replace(SETTING, prefetch=()), *_made(FakeRanker()), _watch)
    blind = next(row for row in outcome.oracle if row.reranker == "ranker-default")
    assert blind.mrr.mean < 1
    assert outcome.real == ()


def test_room_for_a_claim() -> None:
    room = TokenRoom(100, lambda word: 2)
    assert room.for_claim(["a b", "a b c d"]) == 100 - 8 - 5
    assert room.for_claim(["a " * 60]) == 50 - 5
    ranker = _reader()
    table_6, _ = rerankers(
        PAPERS.values(),
        None,
        [RankerEntry("ranker", ranker, TokenRoom(24, lambda word: 1))],
        [ranker_variant("paragraph")],
    )
    table_6[0].score(ClaimPlace(tuple(f"Sentence number {n}." for n in range(9)), 4, "Title"), [PAPERS["p01"]])
    assert ranker.asked[0][1].split() == (
        "Sentence number 4. Title Sentence number 2. Sentence number 3. "
        "TARGETSENT Sentence number 5. Sentence number 6.".split()
    )


def test_nothing_to_ask() -> None:
    with pytest.raises(UserError, match="unknown recommender 'x'"):
        run(GATHERED, replace(SETTING, prefetch=("x",)), *_made(), _watch)
    old = CitingCorpus(tuple(replace(each, year=1900) for each in GATHERED.documents), PAPERS)
    with pytest.raises(UserError, match="no held-out sentence cites a known paper"):
        run(old, SETTING, *_made(), _watch)
