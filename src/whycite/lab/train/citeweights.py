"""Fit the weights of the default `cite` method to claims whose papers are known.

Titles and abstracts matter more for papers that no one has cited than next to what others say about a paper, and
words of an abstract matter more than words of a title. Weights fitted only to cited papers miss this.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from whycite.cite.evidence_sum import EvidenceSum
from whycite.cite.recommendations import Claim
from whycite.cite.scoring import EVIDENCE, PAPER, TITLE, FittedWeights, RankingFeatures, RankingWeights, score
from whycite.documents import Reference
from whycite.errors import UserError
from whycite.lab.evaluate.abstracts import library_of
from whycite.lab.evaluate.comparison import draw
from whycite.lab.evaluate.topics import Topic, Watch
from whycite.lab.ilciter.experiment import claim_of, database_of, support_of
from whycite.lab.ilciter.workspace import ClaimCase, HeldOutPaper, PreparedTopic, answerable, choose, prepare
from whycite.lab.train.bases import Tensor
from whycite.library import Library
from whycite.library.encoding import encoder_of
from whycite.library.tables import identifier
from whycite.models import load_encoder, pairs

__all__ = [
    "CONTEXT",
    "OWN",
    "TITLES",
    "LabelledFeatures",
    "answer_claims",
    "as_uncited",
    "doubt_threshold",
    "draw_topic_claims",
    "features_by_abstracts",
    "fit",
    "fit_ranker_weight",
    "fit_weights",
    "label_features",
    "ranks",
    "surprise",
]


CONTEXT = ("same_section", "same_topic", "cocited", "cited")  # known only with the draft
OWN = tuple(name for name in (*EVIDENCE, *PAPER) if name not in (*CONTEXT, "ranker"))
TITLES = ("title", "title_cosine", "title_coverage", "title_lexical", "about")  # what a paper says about itself
_STEPS, _RATE = 400, 0.1
_PULL = 1e-4  # regularisation towards zero


@dataclass(frozen=True, slots=True)
class LabelledFeatures:
    """The features of all candidate papers for a claim, and which papers are right."""

    features: RankingFeatures
    relevant: NDArray[np.bool_]


def label_features(
    method: EvidenceSum, cases: Iterable[ClaimCase], sources: Sequence[HeldOutPaper], setting: str = "whycite"
) -> list[LabelledFeatures]:
    """Compute features for claims, given the claim alone or whatever else `given` says (see evaluation.ranking)."""
    labelled = []
    for case in cases:
        features = method.features(claim_of(case, sources[case.source], setting))
        relevant = np.isin(features.papers, [identifier(key) for key in case.truth])
        labelled.append(LabelledFeatures(features, relevant))
    return labelled


def fit(
    labelled: Sequence[LabelledFeatures],
    start: RankingWeights,
    free: Collection[str],
    other_settings: Sequence[Sequence[LabelledFeatures]] = (),
) -> RankingWeights:
    """Fit the weights named in `free` by softmax cross-entropy over the papers of each claim.

    Claims from other settings can be passed as `beside`; each setting counts equally, however many claims it has.
    """
    sets = [[claim for claim in claims if claim.relevant.any()] for claims in (labelled, *other_settings)]
    answered = [claim for claims in sets for claim in claims]
    if not answered:
        raise UserError("no correct paper was found for any claim to fit weights to; add papers")
    set_sizes = [len(claims) for claims in sets if claims]
    table = _FeatureTable.stack(answered, np.repeat([1 / (len(set_sizes) * size) for size in set_sizes], set_sizes))
    weights = torch.tensor(list(asdict(start).values()), dtype=torch.float64, requires_grad=True)
    freed = torch.tensor([name in free for name in (*EVIDENCE, *PAPER)], dtype=torch.float64)
    # Features differ in scale by a factor of a hundred, so steps must too.
    size = torch.cat([table.evidence.abs().amax(0), table.paper.abs().amax(0)]).clamp(min=1)
    optimiser = torch.optim.Adam([weights], lr=_RATE)
    fixed, scaled = weights.detach().clone(), weights.detach() * size
    weights.data = scaled
    for _ in range(_STEPS):
        optimiser.zero_grad()
        current = weights / size * freed + fixed * (1 - freed)
        loss = table.loss(current) + _PULL * ((weights * freed) ** 2).mean()
        loss.backward()
        optimiser.step()
    final = (weights / size * freed + fixed * (1 - freed)).detach().tolist()
    return replace(start, **dict(zip((*EVIDENCE, *PAPER), final, strict=True)))


def surprise(labelled: Sequence[LabelledFeatures], weights: RankingWeights) -> NDArray[np.float64]:
    """The loss of each claim that has a right paper: -log of the share of its right papers."""
    surprises = []
    for claim in labelled:
        if claim.relevant.any():
            scores = score(claim.features, weights).papers
            surprises.append(np.logaddexp.reduce(scores) - np.logaddexp.reduce(scores[claim.relevant]))
    return np.array(surprises)


def ranks(labelled: Sequence[LabelledFeatures], weights: RankingWeights) -> list[int]:
    """The rank of the best right paper of each claim, or 0 if there is none."""
    best_ranks = []
    for claim in labelled:
        scores = score(claim.features, weights).papers
        best = scores[claim.relevant].max(initial=-np.inf)
        best_ranks.append(int((scores > best).sum()) + 1 if claim.relevant.any() else 0)
    return best_ranks


@dataclass(frozen=True, slots=True)
class _FeatureTable:
    """The features of all claims, stacked."""

    evidence: Tensor
    evidence_paper: Tensor  # paper of each piece of evidence
    paper: Tensor
    claim: Tensor  # claim of each paper
    relevant: Tensor
    shares: Tensor  # weight of each claim in the loss; they sum to 1

    @classmethod
    def stack(cls, labelled: Sequence[LabelledFeatures], shares: NDArray[np.float64]) -> _FeatureTable:
        starts = np.cumsum([0, *(len(claim.relevant) for claim in labelled)])
        return cls(
            torch.from_numpy(np.concatenate([claim.features.evidence for claim in labelled])),
            torch.from_numpy(
                np.concatenate(
                    [claim.features.paper_index + start for claim, start in zip(labelled, starts, strict=False)]
                )
            ),
            torch.from_numpy(np.concatenate([claim.features.paper for claim in labelled])),
            torch.from_numpy(np.repeat(np.arange(len(labelled)), [end - start for start, end in pairwise(starts)])),
            torch.from_numpy(np.concatenate([claim.relevant for claim in labelled])),
            torch.from_numpy(shares),
        )

    def loss(self, weights: Tensor) -> Tensor:
        width = len(EVIDENCE)
        scores = (
            _log_sum(self.evidence @ weights[:width], self.evidence_paper, len(self.claim))
            + self.paper @ weights[width:]
        )
        claims = len(self.shares)
        all_papers = _log_sum(scores, self.claim, claims)
        return ((all_papers - _log_sum(scores[self.relevant], self.claim[self.relevant], claims)) * self.shares).sum()


def _log_sum(values: Tensor, groups: Tensor, number: int) -> Tensor:
    """The log-sum-exp of each group."""
    maxima = torch.full((number,), -torch.inf, dtype=values.dtype).scatter_reduce(0, groups, values.detach(), "amax")
    return maxima + torch.log(
        torch.zeros(number, dtype=values.dtype).scatter_add(0, groups, torch.exp(values - maxima[groups]))
    )


_FOLDER = "abstracts"  # next to a topic's library


def as_uncited(labelled: Sequence[LabelledFeatures]) -> list[LabelledFeatures]:
    """The claims as if no document in the library cited any paper."""
    return [_as_uncited(claim) for claim in labelled]


def _as_uncited(claim: LabelledFeatures) -> LabelledFeatures:
    features = claim.features
    titles = features.spans == TITLE
    has_title = np.zeros(len(features.papers), bool)
    has_title[features.paper_index[titles]] = True
    bare = replace(
        features,
        paper_index=features.paper_index[titles],
        spans=features.spans[titles],
        evidence=features.evidence[titles],
    ).select_papers(has_title)
    paper = bare.paper.copy()
    paper[:, [PAPER.index(name) for name in ("support", "cocited")]] = 0
    return LabelledFeatures(replace(bare, paper=paper), claim.relevant[has_title])


def features_by_abstracts(
    prepared: Sequence[PreparedTopic], claims: int, seed: int, weights: RankingWeights, watch: Watch
) -> list[LabelledFeatures]:
    """Features of some claims of each topic that cite a document of its library, found by title and abstract."""
    labelled: list[LabelledFeatures] = []
    for topic in prepared:
        library = Library.open(topic.library)
        papers = _documents(library)
        cases = [case for case in topic.claims.cases if papers.keys() & {*case.truth}]
        if not cases:
            continue
        watch(f"{topic.topic}: abstracts", 0, None)
        encoder = encoder_of(library.encoder, library.path)
        folder = topic.library.parent / _FOLDER
        abstract_library = library_of(folder, str(topic.library), [*papers.values()], encoder)
        keys = {
            key: library_key
            for key, library_key in zip(papers, abstract_library.find([*papers.values()]), strict=True)
            if library_key
        }
        answerable_cases = [
            replace(case, truth=tuple(keys[key] for key in case.truth if key in keys)) for case in cases
        ]
        labelled += label_features(
            EvidenceSum(abstract_library, encoder, weights),
            draw(answerable_cases, lambda case: case.id, claims, seed),
            topic.claims.sources,
        )
    return labelled


def _documents(library: Library) -> dict[str, Reference]:
    """The documents with an abstract, by key."""
    keys = [entry.key for entry in library.documents() if entry.key]
    papers = library.papers(sorted({identifier(key) for key in keys}))
    return {
        key: Reference(key, paper.title, paper.authors, paper.year, doi=paper.doi, abstract=paper.abstract)
        for key in dict.fromkeys(keys)
        if (paper := papers.get(identifier(key))) and paper.abstract
    }


_MIN_ERRORS = 2  # a gain must exceed this many standard errors
_SHOWN = 10  # papers in an answer
_DOUBTFUL = 0.02  # largest share of answers below the threshold that contain a right paper
_LEAST = 20  # fewest answers to set the threshold by


def fit_weights(
    paths: Sequence[Path],
    topics: Sequence[Topic],
    out: Path,
    claims: int,
    held_out: int,
    work: Path | None,
    seed: int,
    jobs: int,
    watch: Watch,
    tell: Callable[[str], None],
) -> RankingWeights:
    """Fit in turn the weights for the claim alone, for papers' own text, for the draft, and for the ranker.

    Each group is fitted with the others fixed. Those for papers' own text are fitted jointly to cited papers, to the
    same papers as if no one cited them, and to abstracts.
    """
    if not out.is_dir():
        raise UserError(f"{out}: no such folder; weights are saved in the folder of their encoder")
    folder = str(out.resolve())  # a path, not the name of a bundled encoder
    ranker = pairs.ranker_of(load_encoder(folder))
    prepared, unread = prepare(paths, topics, held_out, work, jobs, watch, folder)
    for sentence in unread:
        tell(f"warning: {sentence}")
    weights = RankingWeights()
    labelled = draw_topic_claims(prepared, claims, seed, weights, None, "whycite", watch)
    uncited = as_uncited(labelled)
    abstracts = features_by_abstracts(prepared, claims, seed, weights, watch)
    weights = fit(labelled, weights, OWN)
    weights = fit(labelled, weights, TITLES, (uncited, abstracts))
    tell(f"claims only: MRR {_mrr(labelled, weights):.4f}")
    tell(f"without citing documents: MRR {_mrr(uncited, weights):.4f}")
    tell(f"abstracts only, {len(abstracts)} claims: MRR {_mrr(abstracts, weights):.4f}")
    labelled = draw_topic_claims(prepared, claims, seed, weights, None, "whycite+draft", watch)
    weights = fit(labelled, weights, CONTEXT)
    tell(f"with context of the draft: MRR {_mrr(labelled, weights):.4f}")
    if ranker:
        labelled = draw_topic_claims(prepared, claims, seed, weights, ranker, "whycite", watch)
        weights, gain = fit_ranker_weight(labelled, weights)
        tell(f"with the ranker: MRR {gain:+.4f}, so it is {'used' if weights.ranker else 'not used'}")
    doubt = doubt_threshold(answer_claims(prepared, claims, seed, weights, watch))
    FittedWeights(weights, doubt).write(out)
    tell(", ".join(f"{name} {value:.3g}" for name, value in asdict(weights).items()))
    tell("nothing is doubtful" if doubt is None else f"doubtful below a score of {doubt:.2f}")
    return weights


def fit_ranker_weight(
    labelled: Sequence[LabelledFeatures], base_weights: RankingWeights
) -> tuple[RankingWeights, float]:
    """Add the ranker's weight if held-out claims gain from it; also return the gain in MRR.

    A ranker whose gain may be chance is not used, since reading takes time. The test is on the share that right papers
    get, which is more sensitive than ranks: most of those do not change.
    """
    parts = labelled[::2], labelled[1::2]
    if not all(any(claim.relevant.any() for claim in part) for part in parts):
        return base_weights, 0.0
    fitted = [fit(part, base_weights, ("ranker",)) for part in parts]
    crossed = list(zip(parts, reversed(fitted), strict=True))
    gains = np.concatenate([surprise(part, base_weights) - surprise(part, weights) for part, weights in crossed])
    rank_gains = np.concatenate(
        [_reciprocal_ranks(part, weights) - _reciprocal_ranks(part, base_weights) for part, weights in crossed]
    )
    is_sure = gains.mean() > _MIN_ERRORS * gains.std() / np.sqrt(len(gains))
    return (fit(labelled, base_weights, ("ranker",)) if is_sure else base_weights), float(rank_gains.mean())


def doubt_threshold(answers: Sequence[tuple[float, bool]]) -> float | None:
    """The highest score below which few answers are right, from best scores and whether the answers were right."""
    ordered = sorted(answers)
    right_count, limit = 0, None
    for number, (best_score, is_right) in enumerate(ordered, start=1):
        right_count += is_right
        if number >= _LEAST and right_count <= _DOUBTFUL * number:
            limit = best_score
    return limit


def answer_claims(
    prepared: Sequence[PreparedTopic], claims: int, seed: int, weights: RankingWeights, watch: Watch
) -> list[tuple[float, bool]]:
    """Answer claims of each topic, answerable or not: the best score, and whether a right paper is shown."""
    answers = []
    for topic in prepared:
        library = Library.open(topic.library)
        encoder = encoder_of(library.encoder, library.path)
        method = EvidenceSum(library, encoder, weights, pairs.ranker_of(encoder))
        drawn = draw(topic.claims.cases, lambda case: case.id, claims, seed)
        for position, case in enumerate(drawn):
            watch(f"{topic.topic}: any claim", position, len(drawn))
            answer = method.recommend(Claim(case.text), _SHOWN)
            if answer:
                answers.append(
                    (answer[0].score, any(recommendation.paper.key in case.truth for recommendation in answer))
                )
    return answers


def draw_topic_claims(
    prepared: Sequence[PreparedTopic],
    claims: int,
    seed: int,
    weights: RankingWeights,
    ranker: pairs.Ranker | None,
    setting: str,
    watch: Watch,
) -> list[LabelledFeatures]:
    """Draw some answerable claims of each topic at random."""
    labelled: list[LabelledFeatures] = []
    for topic in prepared:
        library = Library.open(topic.library)
        support = support_of(database_of(library))
        cases = choose(answerable(topic.claims.cases, support), support, "random", claims, seed)
        method = EvidenceSum(library, encoder_of(library.encoder, library.path), weights, ranker)
        for start in range(0, len(cases), 50):
            watch(f"{topic.topic}: {setting}", start, len(cases))
            labelled += label_features(method, cases[start : start + 50], topic.claims.sources, setting)
    return labelled


def _mrr(labelled: Sequence[LabelledFeatures], weights: RankingWeights) -> float:
    return float(_reciprocal_ranks(labelled, weights).sum()) / max(1, len(labelled))


def _reciprocal_ranks(labelled: Sequence[LabelledFeatures], weights: RankingWeights) -> NDArray[np.float64]:
    """The reciprocal rank of the best right paper of each claim, or 0 if there is none."""
    return np.array([1 / rank if rank else 0.0 for rank in ranks(labelled, weights)])
