"""Claims beside passages that say so or say otherwise."""

from random import Random

import pytest
import torch

from tests.fakes import tiny_base
from whycite.documents import Document
from whycite.documents.model import Reference, Section, Sentence
from whycite.lab.thesis.datasets import Label, PassageCase
from whycite.lab.train.ranker import PairTokens, RankerRecipe, score, train
from whycite.lab.train.rankerexamples import (
    RankList,
    Stance,
    altered_stances,
    backed_pairs,
    marked_stances,
    restated_pairs,
    same_span_pairs,
)
from whycite.models.pairs import claim_text


def _case(label: Label | None, gold: frozenset[int]) -> PassageCase:
    said = ("bees dance", "stars burn", "bees dance to tell where food is")
    return PassageCase("1", "made", "bees dance to tell", "a", "b", said, gold, label)


@pytest.mark.parametrize(("label", "said"), [("backed", 1.0), ("contradicted", 0.0)])
def test_what_people_marked(label: Label, said: float) -> None:
    found = list(marked_stances([_case(label, frozenset({0, 2}))], Random(0)))
    assert [each.text for each in found if each.agreement == 0.5] == ["stars burn"]
    assert [each.text for each in found if each.agreement == said] == [
        "bees dance",
        "bees dance to tell where food is",
        "bees dance bees dance to tell where food is",
    ]


def test_without_gold_the_nearest_sentence_stands_in() -> None:
    cases = [_case("backed", frozenset()), _case("not found", frozenset()), _case(None, frozenset({1}))]
    found = list(marked_stances(cases, Random(0)))
    assert [(each.text, each.agreement) for each in found] == [
        ("bees dance to tell where food is", 0.9),
        ("bees dance to tell where food is", 0.5),
    ]


def test_what_is_altered_on_both_sides_agrees_again() -> None:
    pair = ("Heat increases growth by 40% in plants", "We found growth increases of 40% when heat was given")
    found = list(altered_stances([pair] * 20, Random(0)))
    assert {each.agreement for each in found if each.claim == pair[0] and each.text == pair[1]} == {1.0}
    for each in found:
        same = (each.claim == pair[0]) == (each.text == pair[1])
        if "not" not in each.claim and "not" not in each.text:
            assert each.agreement == float(same)
    assert {True, False} == {"decreases" in each.claim and "decreases" in each.text for each in found}


def test_a_text_that_may_agree_with_the_altered_claim_teaches_nothing() -> None:
    pair = ("Drug lowers risk after higher doses", "After lower and higher doses it differed")
    assert [each for each in altered_stances([pair], Random(1)) if "lower " in each.claim and each.agreement == 0] == []


def test_pairs_that_say_the_same() -> None:
    long = "bees dance in the dark to tell others where food is"
    lists = [
        RankList("span", long, ("stars burn", f"some {long}"), frozenset({1}), (19.0, 18.0)),
        RankList("span", long, (f"far {long}",), frozenset({0}), (10.0,)),
        RankList("span", "bees", ("bees dance",), frozenset({0}), (19.0,)),
        RankList("span", long, (f"wrong {long}",), frozenset(), (19.0,)),
        RankList("paper", long, (f"paper {long}",), frozenset({0}), (19.0,)),
    ]
    assert list(same_span_pairs(lists)) == [(long, f"some {long}")]
    assert list(backed_pairs([_case("backed", frozenset({0})), _case("contradicted", frozenset({0}))])) == [
        ("bees dance to tell", "bees dance")
    ]


def test_what_an_abstract_says_the_body_says_again() -> None:
    texts = [
        "Stars burn hydrogen in their cores for billions of years.",
        "The dance of honey bees tells other bees the direction of rich food.",
        "Honey bees tell by their dance the direction of food.",
    ]
    document = Document(
        "a.md",
        "markdown",
        Reference("", title="Bees", abstract="The dance of honey bees tells the direction of food. Plants grow."),
        (Section("Results", 1, "result"), Section("Methods", 1, "method")),
        tuple(Sentence(text, int(at == 2), 0, "a.md", 0, 0) for at, text in enumerate(texts)),
    )
    assert list(restated_pairs([document])) == [("The dance of honey bees tells the direction of food.", texts[1])]


def test_the_sign_tells() -> None:
    said = [Stance(f"w4 w{at}", f"w{at} w5", 1.0) for at in range(6, 30)]
    said += [Stance(f"w4 w{at}", f"w{at} w5 w99", 0.0) for at in range(6, 30)]
    trained, told = tiny_base(1), list[str]()
    recipe = RankerRecipe(epochs=30, batch=1, negatives=15, rate=3e-3, longest=48)
    scorer = train(trained, [], recipe, told.append, said)
    scorer.eval()
    with torch.no_grad():
        found = score(scorer, PairTokens(trained, 48), [(claim_text("stance", each.claim), each.text) for each in said])
    assert ((found > 0) == torch.tensor([each.agreement > 0.5 for each in said])).float().mean() > 0.9
    assert len(told) == 30
