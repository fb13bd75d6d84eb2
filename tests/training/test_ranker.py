"""The recipe of the ranker, and the lists that it is shown."""

from collections.abc import Callable
from random import Random

import numpy as np
import pytest
import torch

from whycite.evaluation.passages.model import Case
from whycite.rerank.inputs import claim_text
from whycite.training.bases import Base
from whycite.training.corpus import Corpus
from whycite.training.examples import Examples
from whycite.training.lists import RankList, ask, barer, draw, paper_lists, passage_lists, span_lists
from whycite.training.ranker import Loss, Pairs, Recipe, score, train
from whycite.training.tokens import Tokens, encode

MakeBase = Callable[..., Base]
MakeCorpus = Callable[..., Corpus]


def _papers(base: Base, corpus: Corpus) -> tuple[Examples, list[RankList], list[RankList]]:
    examples = Examples(corpus)
    tokens = Tokens(base, examples.texts, 32)
    asked = ask(examples, len(examples.sentences), Random(0))
    said = encode(base.model, tokens, [each.text for each in examples.sentences], "cls")
    named = encode(base.model, tokens, [examples.abstracts[paper] for paper in sorted(examples.titles)], "cls")
    claims = encode(base.model, tokens, [text for _, text, _ in asked], "cls")
    papers = list(paper_lists(examples, asked, claims, said, named, 10))
    return examples, papers, list(span_lists(examples, asked, claims, said, 10))


@pytest.mark.parametrize("loss", ["list", "triplet"])
def test_what_is_right_comes_first(base: MakeBase, corpus: MakeCorpus, loss: Loss) -> None:
    _, papers, spans = _papers(base(), corpus())
    told: list[str] = []
    trained = base(1)
    recipe = Recipe(epochs=4, batch=16, negatives=5, rate=3e-3, longest=48, loss=loss, on_top=False)
    scorer = train(trained, [*papers, *spans], recipe, told.append)
    scorer.eval()
    usable = [each for each in papers if each.right and len(each.right) < len(each.texts)]
    with torch.no_grad():
        texts = [(claim_text("paper", each.claim), text) for each in usable for text in each.texts]
        found = score(scorer, Pairs(trained, 48), texts).split([len(each.texts) for each in usable])
    first = np.mean([int(row.argmax()) in each.right for row, each in zip(found, usable, strict=True)])
    assert first > 2.5 * np.mean([len(each.right) / len(each.texts) for each in usable])
    assert [line.split()[1] for line in told] == ["1", "2", "3", "4"]


def test_lists_hold_no_evidence_of_the_claims_own_article(base: MakeBase, corpus: MakeCorpus) -> None:
    examples, papers, spans = _papers(base(), corpus())
    own = {examples.texts[each.text]: each.article for each in examples.sentences}
    assert any(each.right for each in papers)
    assert any(each.right for each in spans)
    for each in spans:
        assert own.get(each.claim, -1) not in {own[text] for text in each.texts if text != each.claim}
    for each in papers:
        assert list(each.scores) == sorted(each.scores, reverse=True)
        assert len(set(each.texts)) == len(each.texts) == len(each.scores)


def test_only_some_articles_ask(corpus: MakeCorpus) -> None:
    examples = Examples(corpus())
    asked = ask(examples, 1000, Random(0), {3, 7})
    assert {examples.sentences[home].article for home, _, _ in asked} == {3, 7}
    assert len(asked) == sum(each.article in (3, 7) for each in examples.sentences)


def test_passages_stand_alone_and_between_their_neighbours() -> None:
    case = Case("1", "made", "claim", "a", "b", ("one", "two", "three"), frozenset({1}))
    alone, between = passage_lists([case, Case("2", "made", "claim", "a", "c", ("one",))])
    assert alone.texts == ("one", "two", "three")
    assert between.texts == ("one\ntwo", "two\none three", "three\ntwo")
    assert alone.right == between.right == {1}


def test_some_papers_are_shown_by_their_titles_alone() -> None:
    lists = [RankList("paper", "claim", tuple(f"title {at}\nmore" for at in range(200)), frozenset({0}))]
    texts = next(iter(barer(lists, Random(0)))).texts
    assert 20 < sum("\n" not in text for text in texts) < 80


def test_lists_without_right_or_wrong_teach_nothing() -> None:
    lists = [
        RankList("paper", "claim", ("a", "b"), frozenset()),
        RankList("paper", "claim", ("a", "b"), frozenset({0, 1})),
        RankList("paper", "claim", ("a", "b", "c"), frozenset({2})),
    ]
    ((each, right, wrong),) = draw(lists, Random(0), 5)
    assert each is lists[2]
    assert right == 2
    assert sorted(wrong) == [0, 1]
