"""Claims as they are asked where nothing but titles and abstracts is known."""

import numpy as np

from whycite.cite.scoring import EVIDENCE, PAPER, TITLE, RankingFeatures
from whycite.lab.train.citeweights import LabelledFeatures, as_uncited


def test_what_others_say_is_not_known() -> None:
    # The first paper has a title and a span, the second a span, the third a title.
    spans = np.array([TITLE, 7, 8, TITLE])
    evidence = np.arange(4 * len(EVIDENCE), dtype=np.float64).reshape(4, -1)
    paper = np.arange(1, 1 + 3 * len(PAPER), dtype=np.float64).reshape(3, -1)
    features = RankingFeatures(np.array([11, 12, 13]), np.array([0, 0, 1, 2]), spans, evidence, paper)
    (found,) = as_uncited([LabelledFeatures(features, np.array([False, True, True]))])

    assert found.features.papers.tolist() == [11, 13]
    assert found.features.paper_index.tolist() == [0, 1]
    assert found.features.spans.tolist() == [TITLE, TITLE]
    assert found.features.evidence.tolist() == evidence[[0, 3]].tolist()
    assert found.relevant.tolist() == [False, True]
    gone = [PAPER.index("support"), PAPER.index("cocited")]
    assert not found.features.paper[:, gone].any()
    kept = [column for column in range(len(PAPER)) if column not in gone]
    assert found.features.paper[:, kept].tolist() == paper[[0, 2]][:, kept].tolist()
    assert features.paper[0, gone[0]]  # what was given stays as it is


def test_papers_without_titles_are_not_found_at_all() -> None:
    evidence, paper = np.ones((1, len(EVIDENCE))), np.ones((1, len(PAPER)))
    features = RankingFeatures(np.array([1]), np.array([0]), np.array([5]), evidence, paper)
    (found,) = as_uncited([LabelledFeatures(features, np.array([True]))])
    assert not len(found.features.papers)
    assert not found.relevant.any()
