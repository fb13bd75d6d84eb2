"""The weights of `whycite verify`, fitted to claims whose passages or verdicts are known.

Run: python -m whycite.training.passagefitting DATA OUT.json [UNSEEN.json]

The order of sentences is learnt from CL-SciSumm and SciFact; verdicts from SciFact and Citation-Integrity (training),
from claims altered so that they say something else, from claims of CL-SciSumm held against papers that they do not
cite, an easy case of what is not there, and from eLife articles that cite each other, with a like one as the hard case.
A ranker that has learnt from the same cases looks better on them than it is: what it adds is learnt from UNSEEN, the
scores of rankers that were trained without them, {"passage": {case: [score of each sentence]}, "stance": {case: score},
"altered": {case: [[claim, stance], …]}}, stances being those of the gold sentences joined.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whycite import structure
from whycite.encoders import Encoder, load
from whycite.encoders.cache import CachedEncoder
from whycite.errors import UserError
from whycite.evaluation.passages import citint, clscisumm, scifact
from whycite.evaluation.passages.alterations import KINDS as ALTERATIONS
from whycite.evaluation.passages.alterations import alter
from whycite.evaluation.passages.model import Case
from whycite.rerank.inputs import Kind
from whycite.rerank.ranker import Ranker, stored_with
from whycite.training.citedtexts import cited_texts
from whycite.training.passageweights import fit_classes, fit_order
from whycite.verify.passages import Prepared, kind_of
from whycite.verify.signs import POINTING, signs
from whycite.verify.weights import CLASSES, KINDS, STEPS, Weights

__all__ = ["Example", "Unseen", "examples", "fit_kinds", "fit_steps", "fit_verdicts", "prepare", "with_stances"]

_NOTHING = Weights({kind: {step: {} for step in STEPS} for kind in KINDS}, {})
_ALTERED = 2  # altered claims for each that is backed, at most
_COUNT = 0.15  # what each counts: enough to learn what tells them, not so much that contradiction seems usual
_BACKED = 1.5  # what a backed claim counts: drafts have more of them than the data
_RETRIEVED, _PAPERS = 800, 300  # cases of Citation-Integrity and CL-SciSumm that verdicts are learnt from
_MADE_UP, _LONG = 0.5, 5  # what a claim counts that was made up by mixing two; letters of the words that are mixed
_CITED = 400  # claims of articles that are held against the article they cite, and against another


@dataclass(frozen=True, slots=True)
class Example:
    """A claim, the sentences it is held against, and what is so."""

    case: Case
    label: str
    count: float = 1.0  # how much it counts
    stance: float | None = None  # where it is known already


class Unseen:
    """A ranker made of the scores that others gave to cases they had not learnt from."""

    name = "unseen"

    def __init__(self, scores: Iterable[tuple[Case, Sequence[float]]]) -> None:
        self._scores = {
            (case.claim, text): score
            for case, given in scores
            for text, score in zip(case.sentences, given, strict=True)
        }

    def score(self, kind: Kind, claim: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """The score that each text was given as a passage for the claim."""
        if kind != "passage":
            raise ValueError(f"no scores of kind {kind} are known")
        return np.array([self._scores[claim, text] for text in texts], np.float32)


def prepare(encoder: Encoder, ranker: Ranker | None, weights: Weights) -> Callable[[Case], Prepared]:
    """What makes the sentences of a case ready for claims, once for all cases that share them."""

    @cache
    def ready(sentences: tuple[str, ...], sections: tuple[str, ...]) -> Prepared:
        types = [_type(heading) for heading in sections] or [None] * len(sentences)
        return Prepared(sentences, types, encoder, ranker, weights)

    return lambda case: ready(case.sentences, case.sections)


def fit_steps(cases: Sequence[Case], encoder: Encoder, ranker: Ranker | None) -> Weights:
    """The weights of the steps, one after the other: each looks at what the one before has chosen."""
    weights = _NOTHING
    for kind in KINDS:
        own = [case for case in cases if case.gold and kind_of(case.sentences) == kind]
        for step in STEPS:
            if not own or (step == "read" and ranker is None):
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
    found, labels, counts = [], [], []
    ready = prepare(encoder, None, weights)
    for example in labelled:
        prepared, claim = ready(example.case), example.case.claim
        given = signs(claim, prepared, prepared.ranked(claim), stance=example.stance)
        if given is not None:
            found.append({name: value for name, value in given.values.items() if not stance or name in POINTING})
            labels.append(example.label)
            counts.append(example.count * (_BACKED if example.label == "backed" else 1.0))
    return fit_classes(found, labels, classes, counts)


def examples(labelled: Sequence[Case], papers: Sequence[Case], chance: Random) -> Iterator[Example]:
    """Labelled claims, claims held against the papers they cite and others, and backed ones altered or made up."""
    told = [Example(case, case.label) for case in labelled if case.label is not None and case.sentences]
    for example in (*told, *(Example(case, "backed") for case in papers)):
        yield example
        if example.label == "backed":
            altered = [alter(example.case.claim, kind, chance) for kind in ALTERATIONS]
            found = [each.text for each in altered if each is not None]
            for claim in chance.sample(found, min(_ALTERED, len(found))):
                yield Example(replace(example.case, claim=claim), "contradicted", _COUNT)
            if papers and kind_of(example.case.sentences) == "paper":
                made_up = mixed(example.case.claim, chance.choice(papers).claim, chance)
                yield Example(replace(example.case, claim=made_up, gold=frozenset()), "not found", _MADE_UP)
    for case in papers:
        other = chance.choice([each for each in papers if each.document != case.document])
        yield Example(replace(other, claim=case.claim, gold=frozenset()), "not found")


def mixed(claim: str, other: str, chance: Random) -> str:
    """A claim in which a third of the long words are those of another: about the same thing, and made up."""
    words = claim.split()
    long = [at for at, word in enumerate(words) if len(word) >= _LONG]
    strange = [word for word in other.split() if len(word) >= _LONG]
    for at in chance.sample(long, min(len(long), max(1, len(long) // 3))) if strange else ():
        words[at] = chance.choice(strange)
    return " ".join(words)


def with_stances(cases: Sequence[Case], unseen: Mapping[str, Any]) -> Iterator[Example]:
    """Cases and altered ones with the stances that rankers took which had not seen them."""
    for case in cases:
        if case.label is not None and case.id in unseen["stance"]:
            yield Example(case, case.label, stance=float(unseen["stance"][case.id]))
            for claim, stance in unseen["altered"].get(case.id, []):
                yield Example(replace(case, claim=claim), "contradicted", _COUNT, float(stance))


@cache
def _type(heading: str) -> str | None:
    return structure.section_type(heading)


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
    scores = Unseen((case, unseen["passage"][case.id]) for case in known) if unseen else None
    weights = fit_steps(cases, encoder, scores)
    tell("the order of sentences is fitted")
    shown = chance.sample(papers, _PAPERS)
    articles = cited_texts(sorted((data / "elife").glob("elife-[0-9]*")), _CITED, encoder, chance)
    tell(f"{len(articles)} claims with the text of articles")
    labelled = [*abstracts, *chance.sample(retrieved, min(_RETRIEVED, len(retrieved))), *articles]
    verdicts = fit_kinds(list(examples(labelled, shown, chance)), encoder, weights)
    if unseen and (ranker := stored_with(plain)) is not None:
        verdicts["stance"] = fit_verdicts(with_stances(abstracts, unseen), encoder, weights, stance=True)
        weights = replace(weights, ranker=ranker.name)
    replace(weights, verdicts=verdicts).write(out)
    tell(f"{out}: fitted to {len(cases)} claims with passages and {len(labelled)} with verdicts")


if __name__ == "__main__":
    main(sys.argv[1:])
