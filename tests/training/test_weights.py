"""Weights fitted to claims whose papers are known."""

import numpy as np
import pytest

from whycite.recommend.features import Features
from whycite.recommend.scoring import score
from whycite.recommend.weights import EVIDENCE, PAPER, Weights
from whycite.training.fitting import doubtful_below, with_ranker
from whycite.training.weights import Asked, fit, ranks, surprise


def _asked(claims: int, true: Weights, seed: int = 0) -> list[Asked]:
    """Claims whose right paper is drawn by the true weights' scores."""
    chance = np.random.default_rng(seed)
    found = []
    for _ in range(claims):
        of = np.repeat(np.arange(8), 2)
        evidence = np.zeros((16, len(EVIDENCE)))
        evidence[:, EVIDENCE.index("sentence_cosine")] = chance.uniform(0, 1, 16)
        evidence[:, EVIDENCE.index("lexical")] = chance.uniform(0, 40, 16)
        paper = np.zeros((8, len(PAPER)))
        paper[:, PAPER.index("ranker")] = chance.normal(0, 2, 8)
        features = Features(np.arange(8), of, np.arange(16), evidence, paper)
        scores = score(features, true).papers
        chances = np.exp(scores - scores.max())
        right = np.zeros(8, bool)
        right[chance.choice(8, p=chances / chances.sum())] = True
        found.append(Asked(features, right))
    return found


def test_the_weights_that_made_the_answers_are_found() -> None:
    true = Weights(sentence_cosine=6.0, lexical=0.1, ranker=0.7)
    asked = _asked(400, true)
    start = Weights(sentence_cosine=1.0, lexical=0.0, ranker=0.0)
    found = fit(asked, start, ("sentence_cosine", "lexical", "ranker"))
    assert abs(found.sentence_cosine - 6) < 1.2
    assert abs(found.lexical - 0.1) < 0.03
    assert abs(found.ranker - 0.7) < 0.15
    assert found.title == start.title
    assert np.mean(np.array(ranks(asked, found)) == 1) > np.mean(np.array(ranks(asked, start)) == 1)


def test_fitting_makes_surprise_small() -> None:
    true = Weights(sentence_cosine=6.0, lexical=0.1, ranker=0.7)
    asked = _asked(100, true)
    found = fit(asked, Weights(), ("sentence_cosine", "lexical", "ranker"))
    assert surprise(asked, found).mean() < surprise(asked, true).mean() < surprise(asked, Weights()).mean()
    alone = Asked(asked[0].features, np.ones(8, bool))
    assert surprise([alone], true).tolist() == pytest.approx([0.0])
    assert not len(surprise([Asked(asked[0].features, np.zeros(8, bool))], true))


def test_every_setting_counts_the_same() -> None:
    many, few = _asked(200, Weights(sentence_cosine=8.0)), _asked(100, Weights(sentence_cosine=2.0), 1)
    start = Weights(sentence_cosine=5.0)
    free = ("sentence_cosine",)
    alike = fit(many, start, free, [few]).sentence_cosine
    assert fit(few, start, free, [many, []]).sentence_cosine == pytest.approx(alike, abs=1e-6)
    assert fit(many, start, free, [few * 2]).sentence_cosine == pytest.approx(alike, abs=1e-6)
    assert fit(few, start, free).sentence_cosine < alike < fit([*many, *few], start, free).sentence_cosine


def test_what_is_not_free_stays() -> None:
    start = Weights(sentence_cosine=3.0)
    found = fit(_asked(50, start), start, ("ranker",))
    assert found.sentence_cosine == 3.0
    assert found.ranker != start.ranker


def test_a_ranker_is_used_if_claims_gain_by_it() -> None:
    held = Weights(sentence_cosine=6.0, lexical=0.1)
    found, gain = with_ranker(_asked(200, Weights(sentence_cosine=6.0, lexical=0.1, ranker=0.7)), held)
    assert found.ranker > 0.4
    assert gain > 0.05


def test_a_ranker_that_tells_nothing_is_not_used() -> None:
    held = Weights(sentence_cosine=6.0, lexical=0.1)
    found, gain = with_ranker(_asked(200, held), held)
    assert found == held
    assert abs(gain) < 0.05
    (asked,) = _asked(1, held)
    assert with_ranker([Asked(asked.features, np.zeros(8, bool))] * 2, held) == (held, 0.0)


def test_claims_without_an_answer_rank_nothing() -> None:
    (asked,) = _asked(1, Weights())
    nothing = Asked(asked.features, np.zeros(8, bool))
    assert ranks([nothing], Weights()) == [0]


def test_doubt_begins_where_few_answers_are_right() -> None:
    wrong = [(score / 10, False) for score in range(100)]
    right = [(8 + score / 10, True) for score in range(50)]
    doubt = doubtful_below([*wrong, *right])
    assert doubt is not None
    assert 7.9 <= doubt <= 8.1
    assert doubtful_below(right) is None
    assert doubtful_below([]) is None
