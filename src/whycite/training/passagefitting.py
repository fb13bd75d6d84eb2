"""The weights of `whycite verify`, fitted to claims whose passages or verdicts are known.

Run: python -m whycite.training.passagefitting DATA OUT.json [UNSEEN.json]

The order of sentences is learnt from CL-SciSumm and SciFact; verdicts from SciFact and Citation-Integrity (training),
from claims altered so that they say something else, from claims of CL-SciSumm held against papers that they do not
cite, an easy case of what is not there, and from two thirds of the eLife articles that cite each other, with like ones
and with other claims of the same documents as the hard case. How likely backing has to be to be told comes last.
A ranker that has learnt from the same cases looks better on them than it is: what it adds is learnt from UNSEEN, the
scores of rankers trained without them: {"passage": {case: [score of each sentence]}, "between": {case: [score of each
between those beside it]}, "stance": {case: score}, "altered": {case: [[claim, stance], …]}}, stances being those of the
gold sentences joined.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np

from whycite.encoders import Encoder, load
from whycite.encoders.cache import CachedEncoder
from whycite.errors import UserError
from whycite.evaluation.passages import citint, clscisumm, scifact
from whycite.evaluation.passages.model import Case
from whycite.rerank.ranker import Ranker, stored_with
from whycite.training.citedtexts import cited_texts
from whycite.training.passagebars import fit_bars
from whycite.training.passageexamples import Example, Unseen, examples, prepare, with_stances
from whycite.training.passageweights import fit_classes, fit_order
from whycite.verify.passages import kind_of
from whycite.verify.signs import signs
from whycite.verify.verdict import pointing
from whycite.verify.weights import CLASSES, KINDS, STEPS, Weights

__all__ = ["fit_kinds", "fit_steps", "fit_verdicts"]

_NOTHING = Weights({kind: {step: {} for step in STEPS} for kind in KINDS}, {})
_BACKED = 1.5  # what a backed claim counts: drafts have more of them than the data
_RETRIEVED, _PAPERS = 800, 300  # cases of Citation-Integrity and CL-SciSumm that verdicts are learnt from
_CITED = 250  # claims of articles that are held against the article they cite, and against another (see `citedtexts`)


def fit_steps(cases: Sequence[Case], encoder: Encoder, ranker: Ranker | None) -> Weights:
    """The weights of the steps, one after the other: each looks at what the one before has chosen."""
    weights = _NOTHING
    for kind in KINDS:
        own = [case for case in cases if case.gold and kind_of(case.sentences) == kind]
        for step in STEPS:
            if not own or (ranker is None and step in ("read", "between")):
                continue
            tables, gold, ready = [], [], prepare(encoder, ranker, weights)
            for case in own:
                table, rows = ready(case).table(case.claim, step)
                tables.append(table)
                gold.append(np.isin(rows, list(case.gold)))
            known = {**weights.steps[kind], step: fit_order(tables, gold, STEPS[step])}
            weights = replace(weights, steps={**weights.steps, kind: known})
    return weights


def fit_kinds(
    labelled: Sequence[Example], encoder: Encoder, weights: Weights
) -> dict[str, dict[str, dict[str, float]]]:
    """The weights of the signs by kind of document; a kind of which there is no example gets those of all."""
    found = {}
    for kind in KINDS:
        own = [example for example in labelled if kind_of(example.case.sentences) == kind]
        found[kind] = fit_verdicts(own or labelled, encoder, weights)
    return found


def fit_verdicts(
    labelled: Iterable[Example], encoder: Encoder, weights: Weights, stance: bool = False
) -> dict[str, dict[str, float]]:
    """The weights of the signs for each verdict; with stance, for backing and contradiction by what points to them."""
    classes = CLASSES[:2] if stance else CLASSES
    found: list[dict[str, float]] = []
    labels, counts = [], []
    ready = prepare(encoder, None, weights)
    for example in labelled:
        prepared, claim = ready(example.case), example.case.claim
        given = signs(claim, prepared, prepared.ranked(claim), stance=example.stance)
        if given is not None:
            found.append(pointing(given.values, prepared.kind, weights) if stance else given.values)
            labels.append(example.label)
            counts.append(example.count * (_BACKED if example.label == "backed" else 1.0))
    return fit_classes(found, labels, classes, counts)


def main(arguments: Sequence[str], tell: Callable[[str], None] = print) -> None:
    """Fit to the data sets in a folder and write the weights."""
    if len(arguments) not in (2, 3):
        raise UserError("give the folder of the data sets, the file to write, and one of scores of the unseen, if any")
    data, out, plain, chance = Path(arguments[0]), Path(arguments[1]), load(), Random(0)
    unseen = json.loads(Path(arguments[2]).read_text("utf-8")) if len(arguments) == 3 else None
    papers, abstracts = clscisumm.load(data / "clscisumm"), scifact.load(data / "scifact")
    retrieved = citint.load(data / "citint", "train")
    encoder, cases = CachedEncoder(plain), [*papers, *abstracts]
    known = [case for case in cases if unseen and case.id in unseen["passage"]]
    scores = Unseen(known, unseen) if unseen else None
    weights = fit_steps(cases, encoder, scores)
    tell("the order of sentences is fitted")
    shown = chance.sample(papers, min(_PAPERS, len(papers)))
    articles = cited_texts(sorted((data / "elife").glob("elife-[0-9]*")), _CITED, encoder, chance)
    tell(f"{len(articles)} claims with the text of articles")
    labelled = [*abstracts, *chance.sample(retrieved, min(_RETRIEVED, len(retrieved))), *articles]
    verdicts = fit_kinds(list(examples(labelled, shown, chance)), encoder, weights)
    weights = replace(weights, verdicts=verdicts)
    tell("verdicts are fitted")
    ranker = stored_with(plain) if unseen else None
    if unseen and ranker is not None:
        stances = fit_verdicts(with_stances(abstracts, unseen), encoder, weights, stance=True)
        weights = replace(weights, verdicts={**verdicts, "stance": stances}, ranker=ranker.name)
    told = [Example(case, case.label or "", stance=(unseen or {}).get("stance", {}).get(case.id)) for case in labelled]
    replace(weights, bars=fit_bars(told, encoder, ranker, weights)).write(out)
    tell(f"{out}: fitted to {len(cases)} claims with passages and {len(labelled)} with verdicts")


if __name__ == "__main__":
    main(sys.argv[1:])
