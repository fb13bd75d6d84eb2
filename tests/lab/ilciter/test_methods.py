"""The published methods, against the paper's example and a plain second writing of the published procedure."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from random import Random

import numpy as np
import pytest
import rank_bm25  # type: ignore[import-untyped]
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.fakes import hashing_encoder
from tests.thoroughness import examples
from whycite.errors import UserError
from whycite.lab.ilciter import METHODS, EvidenceDatabase, IlciterMethods, IlciterPaper
from whycite.text.bm25 import Bm25Index
from whycite.text.tokens import words

WORDS = [f"w{number}" for number in range(40)]
SPANS = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join), min_size=1, max_size=90)
LISTS = {
    "bm25-okapi": ["okapi"],
    "bm25-plus-rank-bm25": ["plus"],
    "encoder": ["encoder"],
    "ensemble-okapi-encoder": ["okapi", "encoder"],
    "ensemble-plus-encoder": ["plus", "encoder"],
    "ensemble-all": ["okapi", "plus", "encoder"],
}


encode = hashing_encoder(dimensions=32).encode


def no_encoder(texts: Sequence[str]) -> NDArray[np.float32]:
    raise AssertionError(f"asked for vectors of {texts}")


def made(seed: int, spans: int) -> EvidenceDatabase:
    random = Random(seed)
    weights = [1 / (1 + rank) for rank in range(len(WORDS))]
    texts = [" ".join(random.choices(WORDS, weights, k=random.randint(1, 12))) for _ in range(spans)]
    return EvidenceDatabase.from_occurrences(
        (text, f"paper {random.randrange(60)}", random.choice([None, 1999, 2010, 2020])) for text in texts * 2
    )


def expected(database: EvidenceDatabase, method: str, query: str) -> list[tuple[str, int, int]]:
    """The published procedure in plain words, with the package the authors used: keys, best ranks, support."""
    tokenised = [words(span) for span in database.spans]
    tokens = words(query)
    sharing = [at for at, span in enumerate(tokenised) if set(span) & set(tokens)]
    scores = {
        "okapi": rank_bm25.BM25Okapi(tokenised).get_scores(tokens),
        "plus": rank_bm25.BM25Plus(tokenised).get_scores(tokens),
        "encoder": encode(database.spans) @ encode([query])[0],
    }
    lists = {name: sorted(sharing, key=lambda at: (-round(float(scores[name][at]), 9), at))[:50] for name in scores}
    union = sorted({*lists["okapi"], *lists["plus"]})
    lists["encoder"] = sorted(union, key=lambda at: -scores["encoder"][at])
    long = len(tokens) > 2.5 * sum(map(len, tokenised)) / len(tokenised)
    names = LISTS.get(method) or (["plus", "encoder"] if long else ["okapi", "plus"])
    found: dict[int, list[int]] = {}
    for span in union:
        rank = sum(lists[name].index(span) if span in lists[name] else len(lists[name]) for name in names)
        for paper, support in database.cited[span]:
            best = found.setdefault(paper, [rank, 0])
            best[0], best[1] = min(best[0], rank), best[1] + support
    rows = [
        (rank, -support, -(database.papers[paper][1] or 0), database.papers[paper][0])
        for paper, (rank, support) in found.items()
    ]
    return [(key, rank, -support) for rank, support, _, key in sorted(rows)]


def rows(database: EvidenceDatabase, ranked: list[IlciterPaper]) -> list[tuple[str, int, int]]:
    return [(database.papers[one.paper][0], one.rank_of_best, one.support) for one in ranked]


@pytest.fixture
def fastalign() -> EvidenceDatabase:
    """What table 3 shows of FastAlign, among spans of other things."""
    dyer = ("A simple, fast, and effective reparameterization of ibm model 2", 2013)
    return EvidenceDatabase.from_occurrences(
        [
            ("The alignment is induced with FastAlign", *dyer),
            ("One such method is the FastAlign word-alignment model", *dyer),
            ("the alignment of words is learned with the model", "Attention is all you need", 2017),
            ("FastAlign", *dyer),
            ("GIZA++", "A systematic comparison of various statistical alignment models", 2003),
            ("They used BERT", "Bert", 2019),
            ("fastalign", "some other paper", 2020),
        ]
    )


@pytest.mark.parametrize("method", METHODS)
def test_fastalign_of_table_3(fastalign: EvidenceDatabase, method: str) -> None:
    (found,) = IlciterMethods(fastalign, encode).rank(method, "FastAlign")
    assert fastalign.papers[found.paper][1] == 2013
    assert found.support == 3
    assert found.score == 1
    evidence = [fastalign.spans[span] for span in found.evidence]
    assert sorted(evidence) == [
        "FastAlign",
        "One such method is the FastAlign word-alignment model",
        "The alignment is induced with FastAlign",
    ]
    if "encoder" not in method:  # e1, e2 and e3 in the order of the table: the shorter, the better
        assert list(map(len, evidence)) == sorted(map(len, evidence))


@pytest.mark.parametrize("method", [*LISTS, "ilciter"])
@pytest.mark.parametrize("length", [1, 5, 40])
def test_the_published_procedure(method: str, length: int) -> None:
    database = made(seed=length, spans=400)
    query = " ".join(Random(length).choices(WORDS, k=length))
    assert rows(database, IlciterMethods(database, encode).rank(method, query)) == expected(database, method, query)


def test_textbook_plus_fetches_spans_too() -> None:
    database = made(seed=3, spans=600)
    methods = IlciterMethods(database, encode)
    query = " ".join(WORDS[:30])
    lists = Bm25Index(map(words, database.spans)).best(words(query), 50)
    used = {span for ranked in methods.rank("bm25-plus", query) for span in ranked.evidence}
    assert used == {*lists["okapi"].tolist(), *lists["plus"].tolist()}
    assert not set(lists["plus"].tolist()) <= {
        span for ranked in methods.rank("bm25-plus-rank-bm25", query) for span in ranked.evidence
    }


def test_only_long_queries_are_encoded() -> None:
    database = EvidenceDatabase.from_occurrences([("the parser", "a", 2000), ("of the", "b", 2001)])
    methods = IlciterMethods(database, no_encoder)
    assert methods.longest_short == 5  # two tokens a span
    assert methods.rank("ilciter", "the the the the the")
    with pytest.raises(AssertionError):
        methods.rank("ilciter", "the the the the the the")
    database = made(seed=4, spans=200)
    methods = IlciterMethods(database, encode)
    long = " ".join(WORDS)
    assert methods.rank("ilciter", long) == methods.rank("ensemble-plus-encoder", long)


def test_all_methods_at_once_are_the_methods_one_by_one() -> None:
    database = made(seed=1, spans=200)
    methods = IlciterMethods(database, encode)
    for query in ("w1 w2 w30", " ".join(WORDS)):
        together = methods.rank_all(query)
        assert list(together) == list(METHODS)
        assert together == {method: methods.rank(method, query) for method in METHODS}


def test_threads_change_nothing() -> None:
    database = made(seed=2, spans=200)
    queries = [" ".join(Random(seed).choices(WORDS, k=30)) for seed in range(24)]
    alone = list(map(IlciterMethods(database, encode).rank_all, queries))
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(IlciterMethods(database, encode).rank_all, queries)) == alone


@settings(deadline=None, max_examples=examples(60))
@given(SPANS, st.lists(st.sampled_from(WORDS), min_size=1, max_size=30).map(" ".join), st.randoms())
def test_the_order_of_the_database_changes_nothing_but_ties(spans: list[str], query: str, random: Random) -> None:
    occurrences = [(span, f"paper {at % 7}", 2000 + at % 3) for at, span in enumerate(spans)]
    before = EvidenceDatabase.from_occurrences(occurrences)
    sharing = [at for at, span in enumerate(before.spans) if set(words(span)) & set(words(query))]
    for scores in Bm25Index(map(words, before.spans)).scores(words(query)).values():
        assume(len(set(scores[sharing].round(6).tolist())) == len(sharing))
    random.shuffle(occurrences)
    after = EvidenceDatabase.from_occurrences(occurrences)
    first, second = IlciterMethods(before, encode).rank_all(query), IlciterMethods(after, encode).rank_all(query)
    for method in METHODS:
        assert rows(after, second[method]) == rows(before, first[method])


@settings(deadline=None, max_examples=examples(60))
@given(SPANS, st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join))
def test_what_is_ranked(spans: list[str], query: str) -> None:
    database = EvidenceDatabase.from_occurrences((span, f"paper {at % 7}", None) for at, span in enumerate(spans))
    for method, ranked in IlciterMethods(database, encode).rank_all(query).items():
        papers = [one.paper for one in ranked]
        assert len(papers) == len(set(papers)), method
        assert [one.score for one in ranked] == [1 / place for place in range(1, len(ranked) + 1)]
        best = [one.rank_of_best for one in ranked]
        assert best == sorted(best)
        for one in ranked:
            assert one.evidence
            cited = [dict(database.cited[span]) for span in one.evidence]
            assert one.support == sum(support[one.paper] for support in cited)
            assert all(set(words(database.spans[span])) & set(words(query)) for span in one.evidence)
        assert len({span for one in ranked for span in one.evidence}) <= 100


@pytest.mark.parametrize("query", ["", "  ", "unheard"])
def test_nothing_in_common(fastalign: EvidenceDatabase, query: str) -> None:
    assert IlciterMethods(fastalign, no_encoder).rank_all(query) == {method: [] for method in METHODS}
    assert IlciterMethods(EvidenceDatabase([], [], []), no_encoder).rank("ilciter", query) == []


def test_an_unknown_method_is_named(fastalign: EvidenceDatabase) -> None:
    with pytest.raises(UserError, match="unknown method 'bm26'; choose one of: bm25-okapi, "):
        IlciterMethods(fastalign, encode).rank("bm26", "FastAlign")
