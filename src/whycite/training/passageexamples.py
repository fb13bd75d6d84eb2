"""What `whycite verify` learns from: claims with sentences and what is so, altered and made up ones too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whycite import structure
from whycite.encoders import Encoder
from whycite.evaluation.passages.alterations import KINDS as ALTERATIONS
from whycite.evaluation.passages.alterations import alter
from whycite.evaluation.passages.model import Case
from whycite.rerank.inputs import Kind
from whycite.rerank.ranker import Ranker
from whycite.verify.passages import Prepared, between, kind_of
from whycite.verify.weights import Weights

__all__ = ["Example", "Unseen", "examples", "mixed", "prepare", "with_stances"]

_ALTERED = 2  # altered claims for each that is backed, at most
_COUNT = 0.15  # what each counts: enough to learn what tells them, not so much that contradiction seems usual
_MADE_UP, _LONG = 0.5, 5  # what a claim counts that was made up by mixing two; letters of the words that are mixed


@dataclass(frozen=True, slots=True)
class Example:
    """A claim, the sentences it is held against, and what is so."""

    case: Case
    label: str
    count: float = 1.0  # how much it counts
    stance: float | None = None  # where it is known already


class Unseen:
    """A ranker made of the scores that others gave to cases they had not learnt from.

    By the id of a case, "passage" has one for each sentence, "between" one for each between those beside it.
    """

    name = "unseen"

    def __init__(self, cases: Iterable[Case], scores: Mapping[str, Mapping[str, Sequence[float]]]) -> None:
        self._scores: dict[tuple[str, str], float] = {}
        for case in cases:
            amid = [between(case.sentences, at) for at in range(len(case.sentences))]
            for texts, by in ((amid, "between"), (case.sentences, "passage")):
                given = map(float, scores[by][case.id])
                self._scores |= zip(((case.claim, text) for text in texts), given, strict=True)

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


@cache
def _type(heading: str) -> str | None:
    return structure.section_type(heading)


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
