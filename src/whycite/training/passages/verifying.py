"""What `whycite verify` does, its weights fitted anew to what is not tested."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray

from whycite.documents.jsontext import as_dict
from whycite.encoders import Encoder
from whycite.errors import UserError
from whycite.evaluation.passages.experiment import Fit
from whycite.evaluation.passages.model import Case
from whycite.evaluation.passages.scoring import Scorer
from whycite.evaluation.passages.splitting import Parts
from whycite.rerank.ranker import Ranker
from whycite.training.passageexamples import Unseen, examples, prepare
from whycite.training.passagefitting import fit_kinds, fit_steps
from whycite.verify.weights import Weights

__all__ = ["out_of_fold", "refitted", "verifying"]


def verifying(encoder: Encoder, rankers: Sequence[Ranker | None]) -> Fit:
    """Fits the weights to the parts for training and choosing; each fold has a ranker of its own, or none."""

    def fit(parts: Parts, fold: int) -> Scorer:
        ranker = rankers[fold]
        ready = prepare(encoder, ranker, fit_steps([*parts.train, *parts.dev], encoder, ranker))
        # A scorer is given sentences alone; verify looks at their headings too.
        known = {case.sentences: case for case in (*parts.train, *parts.dev, *parts.test)}

        def score(claim: str, sentences: Sequence[str]) -> NDArray[np.floating]:
            return ready(known[tuple(sentences)]).ranked(claim).logits

        return score

    return fit


def out_of_fold(path: Path, cases: Iterable[Case]) -> Unseen:
    """The scores in a JSON file as a ranker: "passage" has for each case with gold, by id, one score a sentence.

    "between" has those of each between the sentences beside it. They come from rankers each of which was trained
    without the cases that it scores.
    """
    try:
        return Unseen((case for case in cases if case.gold), as_dict(json.loads(path.read_text("utf-8"))))
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise UserError(f"{path}: no scores for all sentences of these data sets are there ({error})") from error


def refitted(parts: Parts, encoder: Encoder) -> Weights:
    """Weights for order and verdicts without a ranker, by the parts for training and choosing."""
    learnt = [*parts.train, *parts.dev]
    weights = fit_steps(learnt, encoder, None)
    return replace(weights, verdicts=fit_kinds(list(examples(learnt, (), Random(0))), encoder, weights))
