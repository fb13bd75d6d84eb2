"""Score papers for a claim: features, weights, and the parts of a score."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, fields, replace
from functools import lru_cache
from math import log1p
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from whycite.cite.recommendations import Claim
from whycite.cite.search import CandidatePapers, ClaimMatches, ClaimQuery
from whycite.errors import UserError
from whycite.library.tables import identifier
from whycite.models import Encoder
from whycite.text.tokens import fold

if TYPE_CHECKING:
    from whycite.library import SpanCitation

__all__ = [
    "DIGITS",
    "EVIDENCE",
    "FILE",
    "PAPER",
    "PASSAGE",
    "SHARES",
    "TITLE",
    "FittedWeights",
    "RankingFeatures",
    "RankingScores",
    "RankingWeights",
    "candidate_features",
    "full_match",
    "match_features",
    "score",
    "shares",
    "stored_with",
]


FILE = "weights.json"  # in the folder of the encoder


@dataclass(frozen=True, slots=True)
class RankingWeights:
    """The weights of the features of a piece of evidence, then those of a paper.

    Fitted by `whycite train weights`: softmax cross-entropy over the candidate papers of 4,000 claims from two subjects
    of eLife (Developmental Biology, Immunology and Inflammation), with older articles of the same subject as library;
    then `cocited` and `cited`, with the citations of earlier sentences. These defaults were fitted to
    granite-embedding-30m-english and serve encoders without weights of their own (`stored_with`).
    """

    # A span that is a whole sentence.
    sentence_cosine: float = 20.3
    sentence_coverage: float = 2.0
    # A span that is an entity or a piece of a sentence.
    part: float = 5.5
    part_cosine: float = 12.7
    part_coverage: float = 1.8
    part_equal: float = -4.0  # the part is the whole claim: a name alone says little about what it is cited for
    # Any span.
    lexical: float = 0.051
    crowd: float = -0.2
    same_section: float = 0.1
    same_topic: float = 0.2
    # The paper's own title and abstract, if among the nearest.
    title: float = -2.3
    title_cosine: float = 24.2
    title_coverage: float = 1.5
    title_lexical: float = 0.0
    # What the paper says in its own words, if among the best paragraphs; fitted by `benchmarks/sources.py`.
    own: float = 2.63
    own_coverage: float = 7.35
    own_lexical: float = 0.062

    # The paper, whatever its evidence.
    about: float = 16.6
    support: float = 0.25
    age: float = -0.18
    cocited: float = 0.9
    cited: float = 3.1
    ranker: float = 0.0  # the ranker's score of claim and paper

    @property
    def evidence(self) -> NDArray[np.float64]:
        """The weights of the columns of a piece of evidence."""
        return _columns(self)[0]

    @property
    def paper(self) -> NDArray[np.float64]:
        """The weights of the columns of a paper."""
        return _columns(self)[1]


@dataclass(frozen=True, slots=True)
class FittedWeights:
    """Weights, and the score of the best paper below which probably no paper fits the claim."""

    weights: RankingWeights
    doubt: float | None = None  # None if it was not fitted

    def write(self, folder: Path) -> None:
        """Save the weights in the folder of an encoder."""
        content = {"doubt": self.doubt, "weights": asdict(self.weights)}
        (folder / FILE).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def stored_with(encoder: Encoder) -> FittedWeights:
    """The weights in an encoder's folder, or the defaults."""
    folder: Path | None = getattr(encoder, "folder", None)
    path = (folder or Path()) / FILE
    if folder is None or not path.is_file():
        return FittedWeights(RankingWeights())
    try:
        content = json.loads(path.read_text("utf-8"))
        doubt = None if content["doubt"] is None else float(content["doubt"])
        return FittedWeights(
            RankingWeights(**{name: float(value) for name, value in content["weights"].items()}), doubt
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(f"{path}: not a file of weights ({error}); make one with: whycite train weights") from error


@lru_cache(maxsize=4)
def _columns(weights: RankingWeights) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Cached, since every score needs them."""
    evidence, paper = np.split(np.array(astuple(weights)), [len(EVIDENCE)])
    evidence.flags.writeable = paper.flags.writeable = False
    return evidence, paper


_NAMES = tuple(field.name for field in fields(RankingWeights))
_FIRST_OF_PAPER = _NAMES.index("about")
EVIDENCE, PAPER = _NAMES[:_FIRST_OF_PAPER], _NAMES[_FIRST_OF_PAPER:]

# The part of a score that --explain shows each feature under.
SHARES: Mapping[str, str] = MappingProxyType(
    {
        "sentence_cosine": "spans by meaning",
        "part_cosine": "spans by meaning",
        "sentence_coverage": "spans by words",
        "part_coverage": "spans by words",
        "lexical": "spans by words",
        "part": "kind of span",
        "part_equal": "kind of span",
        "crowd": "kind of span",
        "title": "title",
        "title_cosine": "title",
        "title_coverage": "title",
        "title_lexical": "title",
        "own": "own words",
        "own_coverage": "own words",
        "own_lexical": "own words",
        "about": "title",
        "support": "support",
        "age": "recency",
        "same_section": "context",
        "same_topic": "context",
        "cocited": "context",
        "cited": "context",
        "ranker": "ranker",
    }
)


TITLE = -1  # the span id of a paper's own title
PASSAGE = -2  # the span id of what a paper says in its own words
UNKNOWN_AGE = 12  # years, for papers without a year
_WHOLE = frozenset({"sentence", "context"})

Booleans = NDArray[np.bool_]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class RankingFeatures:
    """A row for every piece of evidence and one for every paper; every paper has evidence, if only its title.

    The columns are `EVIDENCE` and `PAPER`. The score of a paper is the logarithm of the sum of exp(row · weights) over
    its evidence, plus its own row · weights.
    """

    papers: Integers  # ids, ascending
    paper_index: Integers  # for each piece of evidence, its paper as an index into `papers`; ascending
    spans: Integers  # for each piece of evidence, the id of its span, TITLE or PASSAGE
    evidence: Floats
    paper: Floats

    def select_papers(self, is_selected: Booleans) -> RankingFeatures:
        """The features of the selected papers."""
        rows = is_selected[self.paper_index]
        paper_index = (np.cumsum(is_selected) - 1)[self.paper_index[rows]]
        return RankingFeatures(
            self.papers[is_selected], paper_index, self.spans[rows], self.evidence[rows], self.paper[is_selected]
        )


def full_match(words: int, texts: int) -> float:
    """Roughly the BM25 score of a text with all words of a claim, in a collection of `texts` texts.

    An average word is assumed to count half as much as the rarest one; the weights are fitted to this scale.
    """
    return max(words, 1) * log1p(max(texts, 1)) / 2


def match_features(
    matches: ClaimMatches, query: ClaimQuery, full: float, full_title: float, full_passage: float
) -> RankingFeatures:
    """The features of all matching papers; those that `candidate_features` adds are 0."""
    papers = sorted({*matches.citations, *matches.titles, *matches.passages})
    places = {paper: place for place, paper in enumerate(papers)}
    pairs = [(places[paper], span) for paper, spans in matches.citations.items() for span in spans]
    titles = [(places[paper], TITLE) for paper in sorted(matches.titles)]
    passages = [(places[paper], PASSAGE) for paper in sorted(matches.passages)]
    rows = np.concatenate(
        [
            _span_features(matches, query, papers, pairs, full),
            _title_features(matches, full_title),
            _passage_features(matches, full_passage),
        ]
    )
    paper_index, spans = np.array([*pairs, *titles, *passages], np.int64).reshape(-1, 2).T
    order = np.lexsort((spans, paper_index))
    cocited = np.array([matches.cocited.get(paper, 0.0) for paper in papers], np.float64)
    return RankingFeatures(
        np.array(papers, np.int64),
        paper_index[order],
        spans[order],
        rows[order],
        _table(len(papers), PAPER, {"cocited": cocited / (1 + cocited)}),
    )


def candidate_features(
    features: RankingFeatures, candidates: CandidatePapers, claim: Claim, now: int
) -> RankingFeatures:
    """The features of the candidates, with their titles, support and age."""
    features = features.select_papers(np.isin(features.papers, [*candidates.papers]))
    ids = features.papers.tolist()
    papers = [candidates.papers[paper] for paper in ids]
    ages = [UNKNOWN_AGE if paper.year is None else max(0, (claim.year or now) - paper.year) for paper in papers]
    table = features.paper.copy()
    table[:, PAPER.index("about")] = [paper.cosine for paper in papers]
    table[:, PAPER.index("support")] = np.log1p([candidates.support.get(paper, 0) for paper in ids])
    table[:, PAPER.index("age")] = np.log1p(ages)
    table[:, PAPER.index("cited")] = np.isin(features.papers, [*map(identifier, claim.cited)])
    return replace(features, paper=table)


def _span_features(
    matches: ClaimMatches, query: ClaimQuery, papers: Sequence[int], pairs: Sequence[tuple[int, int]], full: float
) -> Floats:
    hits = [matches.spans[span] for _, span in pairs]
    cited = [matches.citations[papers[place]][span] for place, span in pairs]
    whole = np.array([any(row.kind in _WHOLE for row in rows) for rows in cited], bool)
    parts = {span for (_, span), is_whole in zip(pairs, whole.tolist(), strict=True) if not is_whole}
    equal = {span for span in parts if fold(matches.spans[span].text) == query.folded}
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
        "crowd": np.log([matches.crowds[span] for _, span in pairs]),
        "same_section": np.array([_same_section(rows, query.claim) for rows in cited], bool),
    }
    if matches.topics:
        columns["same_topic"] = np.array([max(matches.topics.get(row.document, 0.0) for row in rows) for rows in cited])
    return _table(len(pairs), EVIDENCE, columns)


def _title_features(matches: ClaimMatches, full: float) -> Floats:
    hits = [matches.titles[paper] for paper in sorted(matches.titles)]
    lexical = np.array([hit.lexical for hit in hits], np.float64)
    columns = {
        "title": np.ones(len(hits)),
        "title_cosine": np.array([hit.cosine for hit in hits], np.float64),
        "title_coverage": lexical / full,
        "title_lexical": lexical,
    }
    return _table(len(hits), EVIDENCE, columns)


def _passage_features(matches: ClaimMatches, full: float) -> Floats:
    lexical = np.array([matches.passages[paper].lexical for paper in sorted(matches.passages)], np.float64)
    columns = {"own": np.ones(len(lexical)), "own_coverage": np.minimum(lexical / full, 1), "own_lexical": lexical}
    return _table(len(lexical), EVIDENCE, columns)


def _same_section(rows: Sequence[SpanCitation], claim: Claim) -> bool:
    return claim.section_type is not None and any(row.section_type == claim.section_type for row in rows)


def _table(rows: int, names: Sequence[str], columns: Mapping[str, NDArray[np.generic]]) -> Floats:
    table = np.zeros((rows, len(names)))
    for name, values in columns.items():
        table[:, names.index(name)] = values
    return table


DIGITS = 9  # scores are compared rounded, so that the order does not depend on rounding errors
NUMBER = "number of spans"  # the part of a score that --explain shows for several spans together


@dataclass(frozen=True, slots=True)
class RankingScores:
    """The scores of papers and of their evidence."""

    papers: Floats
    evidence: Floats  # r, features times weights
    sums: Floats  # log sum exp(r) over the evidence of each paper


def score(features: RankingFeatures, weights: RankingWeights) -> RankingScores:
    """Score papers: log sum exp(r) over their evidence, plus the weighted features of the papers themselves."""
    # Not matrix products: their last digits depend on the number of threads.
    evidence = (features.evidence * weights.evidence).sum(axis=1)
    paper_scores = (features.paper * weights.paper).sum(axis=1)
    sums = _log_sums(evidence, features)
    return RankingScores(sums + paper_scores, evidence, sums)


def shares(features: RankingFeatures, weights: RankingWeights, scores: RankingScores, place: int) -> dict[str, float]:
    """The parts of the score of the paper at an index; they add up to it.

    log sum exp(r) is the mean of r, weighted by each piece's share of the sum, plus the entropy of these shares, which
    is what several spans add to one.
    """
    rows = np.flatnonzero(features.paper_index == place)
    weight = np.exp(scores.evidence[rows] - scores.sums[place])
    means = (weight[:, None] * features.evidence[rows]).sum(axis=0) * weights.evidence
    paper_terms = features.paper[place] * weights.paper
    totals = dict.fromkeys([*SHARES.values(), NUMBER], 0.0)
    for name, value in zip([*EVIDENCE, *PAPER], [*means.tolist(), *paper_terms.tolist()], strict=True):
        totals[SHARES[name]] += value
    totals[NUMBER] = float(scores.sums[place]) - float(means.sum())
    return totals


def _log_sums(evidence: Floats, features: RankingFeatures) -> Floats:
    if not len(evidence):
        return np.zeros(len(features.papers))
    order = np.lexsort((-evidence, features.paper_index))  # best first, so that equal evidence gives equal sums
    starts = np.searchsorted(features.paper_index, np.arange(len(features.papers)))
    best = evidence[order][starts]
    sums = np.add.reduceat(np.exp(evidence - best[features.paper_index])[order], starts)
    return np.asarray(best + np.log(sums))
