"""Models that order passages in place of our own; they come from plug-ins, and the verdict stays ours."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.metadata import entry_points
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from whycite.errors import MissingExtra, UserError
from whycite.verify.verification import Verification

__all__ = ["PassageModelLoader", "PassageScorer", "load_passage_model", "reorder_passages"]

_LOG = logging.getLogger("whycite")
_GROUP = "whycite.passages"

PassageScorer = Callable[[str, Sequence[str]], NDArray[np.floating]]
"""Scores each sentence of a document, given in order, for a claim; higher is better."""

PassageModelLoader = Callable[[Path], PassageScorer | None]
"""What an entry point names: a function that opens the model in a folder, or gives None if it is not of its kind."""


def load_passage_model(folder: Path) -> PassageScorer:
    """Open the model in a folder with the plug-in that knows it."""
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder; train a model with `whycite train passages`")
    for entry in entry_points(group=_GROUP):
        try:
            scorer: PassageScorer | None = entry.load()(folder)
        except (UserError, MissingExtra):
            raise
        except Exception as error:  # noqa: BLE001 - one broken plug-in must not disable the others
            _LOG.warning("cannot use the plug-in '%s' (%s): %s", entry.name, entry.value, error)
            continue
        if scorer is not None:
            return scorer
    raise UserError(f"{folder}: not a model of passages; train one with `whycite train passages`")


def reorder_passages(verification: Verification, scorer: PassageScorer) -> Verification:
    """The same verification with its passages ordered by a model, whose scores are brought to 0 to 1."""
    in_order = sorted(verification.passages, key=lambda passage: passage.index)
    if not in_order:
        return verification
    scores = np.asarray(scorer(verification.claim, [passage.text for passage in in_order]), np.float64)
    if scores.shape != (len(in_order),) or not np.isfinite(scores).all():
        raise UserError(f"the model of passages gave no number for each of {len(in_order)} sentences; train it again")
    shares = 1 / (1 + np.exp(-np.clip(scores, -500, 500)))
    order = np.argsort(-scores, kind="stable").tolist()
    passages = tuple(
        replace(in_order[place], rank=rank, score=float(shares[place])) for rank, place in enumerate(order, start=1)
    )
    return replace(verification, passages=passages)
