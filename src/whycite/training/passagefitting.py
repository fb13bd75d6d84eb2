"""The weights of `whycite verify`, fitted to claims whose passages or verdicts are known.

Run: python -m whycite.training.passagefitting DATA OUT.json [RANKER]

The order of sentences is learnt from CL-SciSumm and SciFact (parts for training and choosing; what the ranker adds from
the part for choosing alone, since it has learnt from the other), verdicts from SciFact, Citation-Integrity (training),
the same claims altered so that they say something else, and claims of CL-SciSumm held against papers they do not cite.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray

from whycite import structure
from whycite.encoders import Encoder, load
from whycite.encoders.cache import CachedEncoder
from whycite.errors import UserError
from whycite.evaluation.passages import citint, clscisumm, scifact
from whycite.evaluation.passages.alterations import KINDS, alter
from whycite.evaluation.passages.model import Case
from whycite.evaluation.passages.splitting import Parts, split
from whycite.rerank.ranker import Ranker, stored_with
from whycite.rerank.ranker import load as load_ranker
from whycite.training.passageweights import fit_classes, fit_order
from whycite.verify.passages import Prepared
from whycite.verify.signs import signs
from whycite.verify.weights import CLASSES, STEPS, Weights

__all__ = ["Example", "examples", "fit", "fit_steps", "fit_verdicts", "prepare"]

Gold = NDArray[np.bool_]
_NOTHING = Weights({step: {} for step in STEPS}, {})
_ALTERED = 2  # altered claims for each that is backed, at most
_COUNT = 0.15  # what each counts: enough to learn what tells them, not so much that contradiction seems usual


@dataclass(frozen=True, slots=True)
class Example:
    """A claim, the sentences it is held against, and what is so."""

    case: Case
    label: str
    count: float = 1.0  # how much it counts


def prepare(encoder: Encoder, ranker: Ranker | None, weights: Weights) -> Callable[[Case], Prepared]:
    """What makes the sentences of a case ready for claims, once for all cases that share them."""

    @cache
    def ready(sentences: tuple[str, ...], sections: tuple[str, ...]) -> Prepared:
        types = [_type(heading) for heading in sections] or [None] * len(sentences)
        return Prepared(sentences, types, encoder, ranker, weights)

    return lambda case: ready(case.sentences, case.sections)


def fit(parts: Sequence[Parts], labelled: Sequence[Example], encoder: Encoder, ranker: Ranker | None) -> Weights:
    """All weights: of the steps, then of the verdicts with and without a ranker."""
    weights = fit_steps(parts, encoder, ranker)
    verdicts = {"plain": fit_verdicts(labelled, encoder, None, weights)}
    if ranker is not None:
        known = replace(weights, verdicts={"stance": {}}, ranker=ranker.name)
        verdicts["stance"] = fit_verdicts(labelled, encoder, ranker, known)
    return replace(weights, verdicts=verdicts, ranker=ranker.name if ranker else "")


def fit_steps(parts: Sequence[Parts], encoder: Encoder, ranker: Ranker | None) -> Weights:
    """The weights of the steps, one after the other: each looks at what the one before has chosen."""
    learnt = [case for part in parts for case in (*part.train, *part.dev) if case.gold]
    unread = [case for part in parts for case in part.dev if case.gold]
    weights = _NOTHING
    for step, cases in (("words", learnt), ("meaning", learnt), ("read", unread)):
        if step == "read" and ranker is None:
            break
        tables, gold, ready = [], [], prepare(encoder, ranker, weights)
        for case in cases:
            table, rows = ready(case).table(case.claim, step)
            tables.append(table)
            gold.append(np.isin(rows, list(case.gold)))
        weights = replace(weights, steps={**weights.steps, step: fit_order(tables, gold, STEPS[step])})
    return weights


def fit_verdicts(
    labelled: Sequence[Example], encoder: Encoder, ranker: Ranker | None, weights: Weights
) -> dict[str, dict[str, float]]:
    """The weights of the signs for each verdict."""
    found, labels, counts = [], [], []
    ready = prepare(encoder, ranker, weights)
    for example in labelled:
        prepared = ready(example.case)
        if (given := signs(example.case.claim, prepared, prepared.ranked(example.case.claim))) is not None:
            found.append(given.values)
            labels.append(example.label)
            counts.append(example.count)
    return fit_classes(found, labels, CLASSES, counts)


def examples(labelled: Sequence[Case], papers: Sequence[Case], chance: Random) -> Iterator[Example]:
    """Labelled claims, those that are backed altered so that they are not, and claims held against other papers."""
    for case in labelled:
        if case.label is not None and case.sentences:
            yield Example(case, case.label)
            if case.label == "backed":
                altered = [found for kind in KINDS if (found := alter(case.claim, kind, chance)) is not None]
                for found in chance.sample(altered, min(_ALTERED, len(altered))):
                    yield Example(replace(case, claim=found.text), "contradicted", _COUNT)
    for case in papers:
        yield Example(case, "backed")
        other = chance.choice([each for each in papers if each.document != case.document])
        yield Example(
            replace(
                case, sentences=other.sentences, sections=other.sections, gold=frozenset(), document=other.document
            ),
            "not found",
        )


@cache
def _type(heading: str) -> str | None:
    return structure.section_type(heading)


def main(arguments: Sequence[str], tell: Callable[[str], None] = print) -> None:
    """Fit to the data sets in a folder and write the weights."""
    if len(arguments) not in (2, 3):
        raise UserError("give the folder of the data sets, the file to write, and the folder of a ranker, if any")
    data, out = Path(arguments[0]), Path(arguments[1])
    plain = load()
    ranker = load_ranker(Path(arguments[2])) if len(arguments) == 3 else stored_with(plain)
    papers, abstracts = split(clscisumm.load(data / "clscisumm")), split(scifact.load(data / "scifact"))
    chance = Random(0)
    retrieved = citint.load(data / "citint", "train")
    labelled = [*abstracts.train, *abstracts.dev, *chance.sample(retrieved, min(800, len(retrieved)))]
    shown = chance.sample(papers.dev, min(60, len(papers.dev)))
    weights = fit([papers, abstracts], list(examples(labelled, shown, chance)), CachedEncoder(plain), ranker)
    weights.write(out)
    tell(f"{out}: fitted to {len(labelled)} labelled claims, with {ranker.name if ranker else 'no ranker'}")


if __name__ == "__main__":
    main(sys.argv[1:])
