"""From documents to the folder of a worthiness model: trained, exported, compared with the trained one, with a card."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from whycite.encoders import load as load_encoder
from whycite.errors import UserError
from whycite.evaluation.worthiness import Split, by_date, taught
from whycite.files import make_folder
from whycite.training.bases import load_base
from whycite.training.cards import write_card
from whycite.training.worthiness.exporting import export, parity
from whycite.training.worthiness.recipe import Recipe
from whycite.training.worthiness.report import Judged
from whycite.training.worthiness.training import Outcome, train
from whycite.worthiness.bibliography import Bibliography, signs
from whycite.worthiness.calibration import Calibration
from whycite.worthiness.facts import FACTS, Decision
from whycite.worthiness.model import LabelledDocument

__all__ = ["make"]

Tell = Callable[[str], None]
_COMPARED = 20  # documents that the export is compared on
_WHAT = "A worthiness model: how likely each sentence of a paragraph needs a citation."


def make(
    documents: Iterable[LabelledDocument],
    out: Path,
    recipe: Recipe,
    tell: Tell,
    dev: int = 100,
    test: int = 200,
    workers: int = 0,
    deadline: float = math.inf,
) -> Outcome:
    """A worthiness model in the folder `out`; the newest documents are held out to choose by and to measure on."""
    if (make_folder(out) / FACTS).exists():
        raise UserError(f"{out} holds a model already: name another --out, or remove it")
    base = load_base(recipe.base)
    if recipe.judge:
        load_base(recipe.judge)  # to say at once where there is none
    parts = by_date(documents, dev, test)
    outcome = train(parts.train, parts.dev, parts.test, recipe, tell, workers, deadline)
    figures = outcome.report
    calibration = Calibration(**figures["calibration"])
    # One threshold: those by section type were never better on documents they were not chosen by.
    chosen = Decision(
        calibration, {"": figures["thresholds"][""]}, _bibliography(parts.dev, outcome.dev, calibration, tell)
    )
    with TemporaryDirectory(dir=out) as temporary:
        new = Path(temporary)
        export(outcome.network, base, recipe, {"articles": chosen}, out.resolve().name, new)
        like = parity(new, parts.test[:_COMPARED], outcome.test)
        rows = [{key: float(value) for key, value in figures["test"]["all"].items()}]
        said = "All sentences of the documents held out for the test, at the threshold that is best on those before:"
        write_card(new, out, _WHAT, recipe.base, _facts(parts), asdict(recipe), said, rows, like)
        for file in sorted(new.iterdir()):
            file.replace(out / file.name)
    tell(f"written to {out}: " + ", ".join(f"{name} {value:.4f}" for name, value in like.items()))
    return outcome


def _bibliography(
    documents: Sequence[LabelledDocument], judged: Judged, calibration: Calibration, tell: Tell
) -> Bibliography | None:
    """What bibliographies count, as the documents to choose by have it; none where these tell nothing."""
    sizes = [sum(len(paragraph.sentences) for paragraph in each.paragraphs) for each in documents]
    ends = np.cumsum(sizes)[:-1]
    alone = np.split(calibration.probabilities(judged.scores), ends)
    if not any(each.titles for each in documents):
        return None
    tell(f"reading the bibliographies of {sum(bool(each.titles) for each in documents)} documents")
    encoder = load_encoder()
    found = [signs(own, each.texts, each.titles, encoder) for each, own in zip(documents, alone, strict=True)]
    return taught(alone, found, np.split(judged.worthy, ends))


def _facts(parts: Split) -> dict[str, object]:
    def told(documents: Sequence[LabelledDocument]) -> str:
        dates = [each.date for each in documents if each.date]
        between = f" of {dates[0]} to {dates[-1]}" if dates else ""
        sentences = sum(len(paragraph.sentences) for each in documents for paragraph in each.paragraphs)
        return f"{len(documents):,} documents{between}, {sentences:,} sentences"

    return {"Trained on": told(parts.train), "Chosen by": told(parts.dev), "Measured on": told(parts.test)}
