"""From papers of some topics to the weights that lie with an encoder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from whycite.encoders import load
from whycite.errors import UserError
from whycite.evaluation.cases import answerable, choose
from whycite.evaluation.corpus import Watch
from whycite.evaluation.drawing import draw
from whycite.evaluation.ranking import database_of, support_of
from whycite.evaluation.topics import Topic
from whycite.evaluation.workspace import Prepared, prepare
from whycite.library import Library
from whycite.library.encoding import encoder_of
from whycite.recommend.evidence_sum import EvidenceSum
from whycite.recommend.model import Claim
from whycite.recommend.weights import Fitted, Weights
from whycite.rerank import ranker as rankers
from whycite.training.alone import abstracts_asked, uncited
from whycite.training.weights import CONTEXT, OWN, TITLES, Asked, ask, fit, ranks, surprise

__all__ = ["asked_blindly", "claims_asked", "doubtful_below", "fit_weights", "with_ranker"]

_SURE = 2  # standard errors that a gain must be above nothing
_SHOWN = 10  # papers of an answer
_DOUBTFUL = 0.02  # of answers that score so little so many have a right paper among them
_LEAST = 20  # answers that tell it


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
) -> Weights:
    """Fit, first what a claim alone tells, then what papers say of themselves, what the draft tells, and the ranker.

    Each is fitted with the others held; what papers say of themselves to cited papers, to the same as if no one cited
    them, and to abstracts alike.
    """
    if not out.is_dir():
        raise UserError(f"{out}: no such folder; weights are kept in that of the encoder they are for")
    folder = str(out.resolve())  # a path, not the name of a bundled encoder
    ranker = rankers.stored_with(load(folder))
    prepared, unread = prepare(paths, topics, held_out, work, jobs, watch, folder)
    for sentence in unread:
        tell(f"warning: {sentence}")
    found = Weights()
    asked = claims_asked(prepared, claims, seed, found, None, "whycite", watch)
    alone = uncited(asked)
    abstracts = abstracts_asked(prepared, claims, seed, found, watch)
    found = fit(asked, found, OWN)
    found = fit(asked, found, TITLES, (alone, abstracts))
    tell(f"claims alone: MRR {_mrr(asked, found):.4f}")
    tell(f"the same where no document cites the papers: MRR {_mrr(alone, found):.4f}")
    tell(f"by abstracts, {len(abstracts)} claims: MRR {_mrr(abstracts, found):.4f}")
    asked = claims_asked(prepared, claims, seed, found, None, "whycite+draft", watch)
    found = fit(asked, found, CONTEXT)
    tell(f"with what the draft tells: MRR {_mrr(asked, found):.4f}")
    if ranker:
        asked = claims_asked(prepared, claims, seed, found, ranker, "whycite", watch)
        found, gain = with_ranker(asked, found)
        tell(f"with the ranker: MRR {gain:+.4f}, so that it is {'used' if found.ranker else 'not used'}")
    doubt = doubtful_below(asked_blindly(prepared, claims, seed, found, watch))
    Fitted(found, doubt).write(out)
    tell(", ".join(f"{name} {value:.3g}" for name, value in asdict(found).items()))
    tell("nothing is doubtful" if doubt is None else f"doubtful below a score of {doubt:.2f}")
    return found


def with_ranker(asked: Sequence[Asked], held: Weights) -> tuple[Weights, float]:
    """The weights with the ranker's word, if claims that it was not fitted to gain by it; and how much MRR they gain.

    A ranker whose gain may be chance is not asked: reading takes time. What is judged is the share that right papers
    get, which tells more than ranks do: most of these stay as they are.
    """
    parts = asked[::2], asked[1::2]
    if not all(any(each.right.any() for each in part) for part in parts):
        return held, 0.0
    fitted = [fit(part, held, ("ranker",)) for part in parts]
    crossed = list(zip(parts, reversed(fitted), strict=True))
    gains = np.concatenate([surprise(part, held) - surprise(part, weights) for part, weights in crossed])
    found = np.concatenate([_found(part, weights) - _found(part, held) for part, weights in crossed])
    sure = gains.mean() > _SURE * gains.std() / np.sqrt(len(gains))
    return (fit(asked, held, ("ranker",)) if sure else held), float(found.mean())


def doubtful_below(answers: Sequence[tuple[float, bool]]) -> float | None:
    """The highest score such that of the answers below it few are right: best scores, and whether they were."""
    ordered = sorted(answers)
    right, limit = 0, None
    for number, (score, found) in enumerate(ordered, start=1):
        right += found
        if number >= _LEAST and right <= _DOUBTFUL * number:
            limit = score
    return limit


def asked_blindly(
    prepared: Sequence[Prepared], claims: int, seed: int, weights: Weights, watch: Watch
) -> list[tuple[float, bool]]:
    """Claims of every topic, whether they can be answered or not: the best score, and whether a right one is shown."""
    found = []
    for topic in prepared:
        library = Library.open(topic.library)
        encoder = encoder_of(library.encoder, library.path)
        method = EvidenceSum(library, encoder, weights, rankers.stored_with(encoder))
        drawn = draw(topic.claims.cases, lambda case: case.id, claims, seed)
        for at, case in enumerate(drawn):
            watch(f"{topic.topic}: any claim", at, len(drawn))
            answer = method.recommend(Claim(case.text), _SHOWN)
            if answer:
                found.append((answer[0].score, any(each.paper.key in case.truth for each in answer)))
    return found


def claims_asked(
    prepared: Sequence[Prepared],
    claims: int,
    seed: int,
    weights: Weights,
    ranker: rankers.Ranker | None,
    given: str,
    watch: Watch,
) -> list[Asked]:
    """Some claims of every topic, drawn at random from those that can be answered."""
    found: list[Asked] = []
    for topic in prepared:
        library = Library.open(topic.library)
        support = support_of(database_of(library))
        cases = choose(answerable(topic.claims.cases, support), support, "random", claims, seed)
        method = EvidenceSum(library, encoder_of(library.encoder, library.path), weights, ranker)
        for at in range(0, len(cases), 50):
            watch(f"{topic.topic}: {given}", at, len(cases))
            found += ask(method, cases[at : at + 50], topic.claims.sources, given)
    return found


def _mrr(asked: Sequence[Asked], weights: Weights) -> float:
    return float(_found(asked, weights).sum()) / max(1, len(asked))


def _found(asked: Sequence[Asked], weights: Weights) -> NDArray[np.float64]:
    """1 / the rank of the best right paper of each claim; 0 where there is none."""
    return np.array([1 / rank if rank else 0.0 for rank in ranks(asked, weights)])
