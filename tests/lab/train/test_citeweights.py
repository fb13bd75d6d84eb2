"""Weights fitted to claims whose papers are known."""

import numpy as np
import pytest

from whycite.cite.scoring import EVIDENCE, PAPER, RankingFeatures, RankingWeights, score
from whycite.lab.train.citeweights import LabelledFeatures, doubt_threshold, fit, fit_ranker_weight, ranks, surprise


def _asked(claims: int, true: RankingWeights, seed: int = 0) -> list[LabelledFeatures]:
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
        features = RankingFeatures(np.arange(8), of, np.arange(16), evidence, paper)
        scores = score(features, true).papers
        chances = np.exp(scores - scores.max())
        right = np.zeros(8, bool)
        right[chance.choice(8, p=chances / chances.sum())] = True
        found.append(LabelledFeatures(features, right))
    return found


def test_the_weights_that_made_the_answers_are_found() -> None:
    true = RankingWeights(sentence_cosine=6.0, lexical=0.1, ranker=0.7)
    asked = _asked(400, true)
    start = RankingWeights(sentence_cosine=1.0, lexical=0.0, ranker=0.0)
    found = fit(asked, start, ("sentence_cosine", "lexical", "ranker"))
    assert abs(found.sentence_cosine - 6) < 1.2
    assert abs(found.lexical - 0.1) < 0.03
    assert abs(found.ranker - 0.7) < 0.15
    assert found.title == start.title
    assert np.mean(np.array(ranks(asked, found)) == 1) > np.mean(np.array(ranks(asked, start)) == 1)


def test_fitting_makes_surprise_small() -> None:
    true = RankingWeights(sentence_cosine=6.0, lexical=0.1, ranker=0.7)
    asked = _asked(100, true)
    found = fit(asked, RankingWeights(), ("sentence_cosine", "lexical", "ranker"))
    assert surprise(asked, found).mean() < surprise(asked, true).mean() < surprise(asked, RankingWeights()).mean()
    alone = LabelledFeatures(asked[0].features, np.ones(8, bool))
    assert surprise([alone], true).tolist() == pytest.approx([0.0])
    assert not len(surprise([LabelledFeatures(asked[0].features, np.zeros(8, bool))], true))


def test_every_setting_counts_the_same() -> None:
    many, few = _asked(200, RankingWeights(sentence_cosine=8.0)), _asked(100, RankingWeights(sentence_cosine=2.0), 1)
    start = RankingWeights(sentence_cosine=5.0)
    free = ("sentence_cosine",)
    alike = fit(many, start, free, [few]).sentence_cosine
    assert fit(few, start, free, [many, []]).sentence_cosine == pytest.approx(alike, abs=1e-6)
    assert fit(many, start, free, [few * 2]).sentence_cosine == pytest.approx(alike, abs=1e-6)
    assert fit(few, start, free).sentence_cosine < alike < fit([*many, *few], start, free).sentence_cosine


def test_what_is_not_free_stays() -> None:
    start = RankingWeights(sentence_cosine=3.0)
    found = fit(_asked(50, start), start, ("ranker",))
    assert found.sentence_cosine == 3.0
    assert found.ranker != start.ranker


def test_a_ranker_is_used_if_claims_gain_by_it() -> None:
    held = RankingWeights(sentence_cosine=6.0, lexical=0.1)
    found, gain = fit_ranker_weight(_asked(200, RankingWeights(sentence_cosine=6.0, lexical=0.1, ranker=0.7)), held)
    assert found.ranker > 0.4
    assert gain > 0.05


def test_a_ranker_that_tells_nothing_is_not_used() -> None:
    held = RankingWeights(sentence_cosine=6.0, lexical=0.1)
    found, gain = fit_ranker_weight(_asked(200, held), held)
    assert found == held
    assert abs(gain) < 0.05
    (asked,) = _asked(1, held)
    assert fit_ranker_weight([LabelledFeatures(asked.features, np.zeros(8, bool))] * 2, held) == (held, 0.0)


def test_claims_without_an_answer_rank_nothing() -> None:
    (asked,) = _asked(1, RankingWeights())
    nothing = LabelledFeatures(asked.features, np.zeros(8, bool))
    assert ranks([nothing], RankingWeights()) == [0]


def test_doubt_begins_where_few_answers_are_right() -> None:
    wrong = [(score / 10, False) for score in range(100)]
    right = [(8 + score / 10, True) for score in range(50)]
    doubt = doubt_threshold([*wrong, *right])
    assert doubt is not None
    assert 7.9 <= doubt <= 8.1
    assert doubt_threshold(right) is None
    assert doubt_threshold([]) is None
