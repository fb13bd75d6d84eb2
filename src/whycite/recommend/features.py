"""What is known of a claim, the papers that may back it and their evidence, as numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import log1p
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from whycite.library.schema import identifier
from whycite.recommend.model import Claim
from whycite.recommend.search import Facts, Found, Query
from whycite.recommend.weights import EVIDENCE, PAPER
from whycite.text.normalise import fold

if TYPE_CHECKING:
    from whycite.library import Citation

__all__ = ["TITLE", "Features", "full_match", "of_found", "with_facts"]

TITLE = -1  # stands for a span where a paper's own title is the evidence
UNKNOWN_AGE = 12  # years
_WHOLE = frozenset({"sentence", "context"})

Booleans = NDArray[np.bool_]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Features:
    """A row for every piece of evidence and one for every paper; every paper has evidence, if only its title.

    Columns are named in `weights.EVIDENCE` and `weights.PAPER`. The score of a paper is the logarithm of the sum of
    exp(row · weights) over its evidence, plus its own row · weights.
    """

    papers: Integers  # ids, ascending
    of: Integers  # for each piece of evidence its paper, as a place in `papers`; ascending
    spans: Integers  # for each piece of evidence the id of its span, or TITLE
    evidence: Floats
    paper: Floats

    def only(self, kept: Booleans) -> Features:
        """Of these papers only."""
        rows = kept[self.of]
        of = (np.cumsum(kept) - 1)[self.of[rows]]
        return Features(self.papers[kept], of, self.spans[rows], self.evidence[rows], self.paper[kept])


def full_match(words: int, texts: int) -> float:
    """About the BM25 of a text that says all words of a claim, among so many texts.

    A word of content is taken to weigh half of what the rarest one does: the weights are fitted to this scale.
    """
    return max(words, 1) * log1p(max(texts, 1)) / 2


def of_found(found: Found, query: Query, full: float, full_title: float) -> Features:
    """The features of all papers that were found, given full matches; those that `with_facts` knows are 0."""
    papers = sorted({*found.citations, *found.titles})
    places = {paper: place for place, paper in enumerate(papers)}
    pairs = [(places[paper], span) for paper, spans in found.citations.items() for span in spans]
    titles = [(places[paper], TITLE) for paper in sorted(found.titles)]
    rows = np.concatenate([_of_spans(found, query, papers, pairs, full), _of_titles(found, full_title)])
    of, spans = np.array([*pairs, *titles], np.int64).reshape(-1, 2).T
    order = np.lexsort((spans, of))
    cocited = np.array([found.cocited.get(paper, 0.0) for paper in papers], np.float64)
    return Features(
        np.array(papers, np.int64),
        of[order],
        spans[order],
        rows[order],
        _table(len(papers), PAPER, {"cocited": cocited / (1 + cocited)}),
    )


def with_facts(features: Features, facts: Facts, claim: Claim, now: int) -> Features:
    """The features of those papers of which facts are known, with these."""
    features = features.only(np.isin(features.papers, [*facts.papers]))
    ids = features.papers.tolist()
    papers = [facts.papers[paper] for paper in ids]
    ages = [UNKNOWN_AGE if paper.year is None else max(0, (claim.year or now) - paper.year) for paper in papers]
    table = features.paper.copy()
    table[:, PAPER.index("about")] = [paper.cosine for paper in papers]
    table[:, PAPER.index("support")] = np.log1p([facts.support.get(paper, 0) for paper in ids])
    table[:, PAPER.index("age")] = np.log1p(ages)
    table[:, PAPER.index("cited")] = np.isin(features.papers, [*map(identifier, claim.cited)])
    return replace(features, paper=table)


def _of_spans(
    found: Found, query: Query, papers: Sequence[int], pairs: Sequence[tuple[int, int]], full: float
) -> Floats:
    hits = [found.spans[span] for _, span in pairs]
    cited = [found.citations[papers[place]][span] for place, span in pairs]
    whole = np.array([any(row.kind in _WHOLE for row in rows) for rows in cited], bool)
    parts = {span for (_, span), is_whole in zip(pairs, whole.tolist(), strict=True) if not is_whole}
    equal = {span for span in parts if fold(found.spans[span].text) == query.folded}
    cosine = np.array([hit.cosine for hit in hits], np.float64)
    lexical = np.array([hit.lexical for hit in hits], np.float64)
    coverage = lexical / full
    columns = {
        "sentence_cosine": whole * cosine,
        "sentence_coverage": whole * coverage,
        "part": ~whole,
        "part_cosine": ~whole * cosine,
        "part_coverage": ~whole * coverage,
        "part_equal": ~whole * np.array([span in equal for _, span in pairs], bool),
        "lexical": lexical,
        "crowd": np.log([found.crowds[span] for _, span in pairs]),
        "same_section": np.array([_same_section(rows, query.claim) for rows in cited], bool),
    }
    if found.topics:
        columns["same_topic"] = np.array([max(found.topics.get(row.document, 0.0) for row in rows) for rows in cited])
    return _table(len(pairs), EVIDENCE, columns)


def _of_titles(found: Found, full: float) -> Floats:
    hits = [found.titles[paper] for paper in sorted(found.titles)]
    lexical = np.array([hit.lexical for hit in hits], np.float64)
    columns = {
        "title": np.ones(len(hits)),
        "title_cosine": np.array([hit.cosine for hit in hits], np.float64),
        "title_coverage": lexical / full,
        "title_lexical": lexical,
    }
    return _table(len(hits), EVIDENCE, columns)


def _same_section(rows: Sequence[Citation], claim: Claim) -> bool:
    return claim.section_type is not None and any(row.section_type == claim.section_type for row in rows)


def _table(rows: int, names: Sequence[str], columns: Mapping[str, NDArray[np.generic]]) -> Floats:
    table = np.zeros((rows, len(names)))
    for name, values in columns.items():
        table[:, names.index(name)] = values
    return table
