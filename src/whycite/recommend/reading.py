"""The best papers read side by side with the claim."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from whycite.recommend.features import TITLE, Features
from whycite.recommend.scoring import DIGITS, Scores
from whycite.recommend.search import Found, Query
from whycite.recommend.weights import EVIDENCE, PAPER
from whycite.rerank.inputs import paper_text
from whycite.rerank.ranker import Ranker

if TYPE_CHECKING:
    from whycite.library import Library

__all__ = ["READ", "read"]

# Papers: what the ranker says of more of them changes MRR by less than .001, and takes as much longer.
READ = 5


def read(library: Library, ranker: Ranker, query: Query, found: Found, features: Features, scores: Scores) -> Features:
    """The features with what the ranker says of the best papers, of the others the least that it says of these.

    The paper that it likes best has 0, so that scores mean the same whether papers are read or not.
    """
    best = np.lexsort((features.papers, -scores.papers.round(DIGITS)))[:READ].tolist()
    said = [_said(found, features, scores, at) for at in best]
    if not any(said):
        return features  # by titles and abstracts alone it orders papers no better than they are
    ids = features.papers.tolist()
    papers = library.papers([ids[at] for at in best])
    texts = [
        paper_text(papers[ids[at]].title, text or papers[ids[at]].abstract) for at, text in zip(best, said, strict=True)
    ]
    values = ranker.score("paper", query.text, texts)
    values = values - values.max()
    table = features.paper.copy()
    table[:, PAPER.index("ranker")] = values.min()
    table[best, PAPER.index("ranker")] = values
    return replace(features, paper=table)


def _said(found: Found, features: Features, scores: Scores, at: int) -> str:
    """The evidence that speaks most for the paper at a place, a whole sentence if there is one; "" if none does."""
    rows = np.flatnonzero((features.of == at) & (features.spans != TITLE))
    if not len(rows):
        return ""
    part = features.evidence[rows, EVIDENCE.index("part")]
    order = np.lexsort((features.spans[rows], -scores.evidence[rows].round(DIGITS), part))
    return found.spans[int(features.spans[rows[order[0]]])].text
