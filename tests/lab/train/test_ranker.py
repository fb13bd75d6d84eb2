"""The recipe of the ranker, and the lists that it is shown."""

from random import Random

import numpy as np
import pytest
import torch

from tests.fakes import tiny_base
from tests.lab.toys import make_corpus
from whycite.lab.thesis.datasets import PassageCase
from whycite.lab.train.bases import Base, Tokens, encode
from whycite.lab.train.claimencoder import ClaimExamples
from whycite.lab.train.corpus import Corpus
from whycite.lab.train.ranker import Loss, PairTokens, RankerRecipe, score, train
from whycite.lab.train.rankerexamples import (
    RankList,
    draw_claims,
    draw_examples,
    hide_abstracts,
    paper_lists,
    passage_lists,
    span_lists,
)
from whycite.models.pairs import claim_text


def _papers(base: Base, corpus: Corpus) -> tuple[ClaimExamples, list[RankList], list[RankList]]:
    examples = ClaimExamples(corpus)
    tokens = Tokens(base, examples.texts, 32)
    asked = draw_claims(examples, len(examples.sentences), Random(0))
    said = encode(base.model, tokens, [each.text for each in examples.sentences], "cls")
    named = encode(base.model, tokens, [examples.abstracts[paper] for paper in sorted(examples.titles)], "cls")
    claims = encode(base.model, tokens, [text for _, text, _ in asked], "cls")
    papers = list(paper_lists(examples, asked, claims, said, named, 10))
    return examples, papers, list(span_lists(examples, asked, claims, said, 10))


@pytest.mark.parametrize("loss", ["list", "triplet"])
def test_what_is_right_comes_first(loss: Loss) -> None:
    _, papers, spans = _papers(tiny_base(), make_corpus(20))
    told: list[str] = []
    trained = tiny_base(1)
    recipe = RankerRecipe(epochs=4, batch=16, negatives=5, rate=3e-3, longest=48, loss=loss, on_top=False)
    scorer = train(trained, [*papers, *spans], recipe, told.append)
    scorer.eval()
    usable = [each for each in papers if each.relevant and len(each.relevant) < len(each.texts)]
    with torch.no_grad():
        texts = [(claim_text("paper", each.claim), text) for each in usable for text in each.texts]
        found = score(scorer, PairTokens(trained, 48), texts).split([len(each.texts) for each in usable])
    first = np.mean([int(row.argmax()) in each.relevant for row, each in zip(found, usable, strict=True)])
    assert first > 2.5 * np.mean([len(each.relevant) / len(each.texts) for each in usable])
    assert [line.split()[1] for line in told] == ["1", "2", "3", "4"]


def test_lists_hold_no_evidence_of_the_claims_own_article() -> None:
    examples, papers, spans = _papers(tiny_base(), make_corpus(20))
    own = {examples.texts[each.text]: each.article for each in examples.sentences}
    assert any(each.relevant for each in papers)
    assert any(each.relevant for each in spans)
    for each in spans:
        assert own.get(each.claim, -1) not in {own[text] for text in each.texts if text != each.claim}
    for each in papers:
        assert list(each.scores) == sorted(each.scores, reverse=True)
        assert len(set(each.texts)) == len(each.texts) == len(each.scores)


def test_only_some_articles_ask() -> None:
    examples = ClaimExamples(make_corpus())
    asked = draw_claims(examples, 1000, Random(0), {3, 7})
    assert {examples.sentences[home].article for home, _, _ in asked} == {3, 7}
    assert len(asked) == sum(each.article in (3, 7) for each in examples.sentences)


def test_passages_stand_alone_and_between_their_neighbours() -> None:
    case = PassageCase("1", "made", "claim", "a", "b", ("one", "two", "three"), frozenset({1}))
    alone, between = passage_lists([case, PassageCase("2", "made", "claim", "a", "c", ("one",))])
    assert alone.texts == ("one", "two", "three")
    assert between.texts == ("one\ntwo", "two\none three", "three\ntwo")
    assert alone.relevant == between.relevant == {1}


def test_some_papers_are_shown_by_their_titles_alone() -> None:
    lists = [RankList("paper", "claim", tuple(f"title {at}\nmore" for at in range(200)), frozenset({0}))]
    texts = next(iter(hide_abstracts(lists, Random(0)))).texts
    assert 20 < sum("\n" not in text for text in texts) < 80


def test_lists_without_right_or_wrong_teach_nothing() -> None:
    lists = [
        RankList("paper", "claim", ("a", "b"), frozenset()),
        RankList("paper", "claim", ("a", "b"), frozenset({0, 1})),
        RankList("paper", "claim", ("a", "b", "c"), frozenset({2})),
    ]
    ((each, right, wrong),) = draw_examples(lists, Random(0), 5)
    assert each is lists[2]
    assert right == 2
    assert sorted(wrong) == [0, 1]
