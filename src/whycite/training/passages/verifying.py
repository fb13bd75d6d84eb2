"""What `whycite verify` does to order sentences, its weights fitted anew for each fold of an evaluation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from whycite.encoders import Encoder
from whycite.evaluation.passages.experiment import Fit
from whycite.evaluation.passages.scoring import Scorer
from whycite.evaluation.passages.splitting import Parts
from whycite.rerank.ranker import Ranker
from whycite.training.passagefitting import fit_steps, prepare

__all__ = ["verifying"]


def verifying(encoder: Encoder, rankers: Sequence[Ranker | None]) -> Fit:
    """Fits the weights to the parts for training and choosing; each fold has a ranker of its own, or none."""

    def fit(parts: Parts, fold: int) -> Scorer:
        ranker = rankers[fold]
        ready = prepare(encoder, ranker, fit_steps([parts], encoder, ranker))
        # A scorer is given sentences alone; verify looks at their headings too.
        known = {case.sentences: case for case in (*parts.train, *parts.dev, *parts.test)}

        def score(claim: str, sentences: Sequence[str]) -> NDArray[np.floating]:
            return ready(known[tuple(sentences)]).ranked(claim).logits

        return score

    return fit
