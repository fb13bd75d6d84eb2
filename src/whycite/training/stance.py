"""Claims beside passages that say so or say otherwise: as people marked them, and altered by rule."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

from whycite.evaluation.passages.alterations import KINDS, OPPOSITES, Altered, alter, negated, numbers, replaced
from whycite.evaluation.passages.model import Case
from whycite.text.tokens import terms

__all__ = ["Stance", "altered_stances", "marked_stances", "nearest"]

_LABELS = {"backed": 1.0, "contradicted": 0.0, "not found": 0.5}
_DOUBT = 0.1  # where people marked a claim and not the passage
_OTHERS = 2  # sentences that say neither, a claim
_UNRELATED = 0.2  # share of pairs that are also shown with a text of another pair


@dataclass(frozen=True, slots=True)
class Stance:
    """A claim and a text; `said` is 1 where the text says so, 0 where it says otherwise, 0.5 where neither."""

    claim: str
    text: str
    said: float


def marked_stances(cases: Iterable[Case], chance: Random) -> Iterator[Stance]:
    """Cases that have a label: with their gold sentences, one by one and together, and some others that say neither.

    Without gold the sentence with most of the claim's words stands in, and all sentences together, with some doubt.
    """
    for case in cases:
        if case.label is None or not case.sentences:
            continue
        said = _LABELS[case.label]
        gold = [case.sentences[at] for at in sorted(case.gold)]
        if gold:
            others = [sentence for at, sentence in enumerate(case.sentences) if at not in case.gold]
            for text in chance.sample(others, min(_OTHERS, len(others))):
                yield Stance(case.claim, text, 0.5)
        else:
            said = min(max(said, _DOUBT), 1 - _DOUBT)
            gold = [nearest(case.claim, case.sentences)]
        for text in dict.fromkeys([*gold, " ".join(gold)]):
            yield Stance(case.claim, text, said)


def altered_stances(alike: Sequence[tuple[str, str]], chance: Random) -> Iterator[Stance]:
    """Pairs of a claim and a text that says the same: as they are, with either one altered, with both.

    What was altered in both says the same again, so that no side alone tells.
    """
    for claim, text in alike:
        if chance.random() < _UNRELATED:
            other = chance.choice(alike)
            yield Stance(claim, other[1], 1.0 if other == (claim, text) else 0.5)
        for kind in KINDS:
            altered = alter(claim, kind, chance)
            if altered and _tells(claim, altered, text):
                yield Stance(claim, text, 1.0)
                yield Stance(altered.text, text, 0.0)
                both = replaced(text, altered.was.strip(), altered.now.strip())
                if both != text:
                    yield Stance(claim, both, 0.0)
                    yield Stance(altered.text, both, 1.0)


def _tells(claim: str, altered: Altered, text: str) -> bool:
    """Whether the text is sure to disagree with the altered claim: what was altered stands in it too."""
    if altered.kind == "number":
        return replaced(text, altered.was, altered.now) != text and altered.now not in numbers(text)
    if altered.kind == "negation":
        return negated(claim) == negated(text)
    words = set(text.lower().split())
    return altered.now.lower() not in words and bool(words & OPPOSITES.keys())


def nearest(claim: str, sentences: Sequence[str]) -> str:
    """The sentence with the largest share of words in common with the claim, the first of equal ones."""
    asked = set(terms(claim))
    return max(sentences, key=lambda sentence: len(asked & (has := set(terms(sentence)))) / (1 + len(asked | has)))
