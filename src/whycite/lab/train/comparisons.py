"""Contrast pairs of comparisons: the same seen from the other side, turned round, denied, or of other things.

"Dark gardens had more visits than lit ones" says what "lit gardens had fewer visits than dark ones" says, although
every word of direction differs. Statements are made from frames; findings of articles are turned by rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from whycite.lab.thesis.alterations import OPPOSITES
from whycite.lab.thesis.datasets import Label
from whycite.text.wordlists import load_tables

__all__ = ["TurnedFinding", "comparison_statements", "turn_finding"]

_TABLES: Mapping[str, Any] = load_tables(__name__)
_SIDES: Sequence[Sequence[str]] = _TABLES["sides"]
_TOPICS: Sequence[Mapping[str, Any]] = _TABLES["topics"]
_ASIDES: Sequence[str] = _TABLES["asides"]
_BEFORE: Sequence[str] = _TABLES["before"]
_UNDECIDED: Sequence[str] = _TABLES["undecided"]
_PLAIN = 0.5  # share of passages that have nothing around the comparison


@dataclass(frozen=True, slots=True)
class _Comparison:
    """What is compared, on which two sides, by the frames of a topic."""

    topic: Mapping[str, Any]
    words: tuple[str, str]  # for more and for less, where the frames leave them open
    measure: str
    more: str
    less: str

    def state(self, frames: str, chance: Random) -> str:
        """One of the topic's sentences of that kind."""
        high, low = self.words
        frame: str = chance.choice(self.topic[frames])
        return _capitalise(frame.format(m=self.measure, a=self.more, b=self.less, high=high, low=low)) + "."


def comparison_statements(number: int, chance: Random) -> Iterator[tuple[str, str, Label]]:
    """Claims and passages that compare two sides, with whether the passage backs the claim."""
    for _ in range(number):
        topic = chance.choice(_TOPICS)
        measure, other_measure = chance.sample(topic["measures"], 2)
        (more, less), (stranger, _) = chance.sample(_SIDES, 2)
        if chance.random() < 0.5:
            more, less = less, more
        high, low = chance.choice(topic.get("words", [["", ""]]))
        comparison = _Comparison(topic, (high, low), measure, more, less)
        turned = replace(comparison, more=less, less=more)
        said = comparison.state("more", chance)
        whole = comparison.state("more", chance)
        claim = comparison.state(chance.choice(["more", "more", "more", "short"]), chance)
        choices: list[tuple[str, str, Label]] = [
            (claim, said, "backed"),
            (claim, comparison.state("strong", chance), "backed"),
            (claim, turned.state("more", chance), "contradicted"),
            (claim, turned.state("strong", chance), "contradicted"),
            (claim, turned.state("equal", chance), "contradicted"),
            (comparison.state("equal", chance), turned.state("equal", chance), "backed"),
            (comparison.state("equal", chance), said, "contradicted"),
            (comparison.state("strong", chance), said, "not found"),
            (whole, replace(comparison, measure=other_measure).state("more", chance), "not found"),
            (whole, replace(comparison, more=stranger).state("more", chance), "not found"),
            (claim, chance.choice(_UNDECIDED).format(x=said[0].lower() + said[1:].rstrip(".")), "not found"),
        ]
        # A comparison that stands and one that is turned are the hardest to tell apart: half of the pairs.
        weights = [6, 2, 6, 2, 1.5, 1.5, 1, 1, 1.5, 1.5, 1.5]
        [(claim, passage, label)] = chance.choices(choices, weights)
        yield claim, _surround(passage, chance), label


def _surround(passage: str, chance: Random) -> str:
    """A passage as it would stand in an article, with words before it and an aside after it."""
    if chance.random() < _PLAIN:
        return passage
    text = passage.rstrip(".")
    if chance.random() < 0.5:
        text = chance.choice(_BEFORE) + text[0].lower() + text[1:]
    return f"{text}{chance.choice(_ASIDES)}."


@dataclass(frozen=True, slots=True)
class TurnedFinding:
    """A finding that compares: the same seen from the other side, and two that say the opposite."""

    same: str
    opposites: tuple[str, str]


_SIDE = r"((?:the |a |an )?(?:[\w-]+ ){0,4}?[\w-]+)"
_DIRECTION = "|".join(_TABLES["directions"])
_OTHER_WAY = {**OPPOSITES, "fewer": "more", "larger": "smaller", "elevated": "reduced", "reduced": "increased"}
_IN_BOTH = re.compile(
    rf"^(?P<head>[^,]*\b)(?P<word>{_DIRECTION})\b(?P<middle>[^,]*?) (?P<where>in|for|with|by|among|during|after) "
    rf"(?P<first>{_SIDE}) (?P<link>than (?:in|for|with|by|among|during|after)|compared (?:with|to)|relative to|versus) "
    rf"(?P<second>{_SIDE})\.$"
)
_SUBJECTS = re.compile(
    rf"^(?P<first>{_SIDE}) (?P<verb>was|were|is|are|had|has|have|showed|show|shows|exhibited|displayed) "
    rf"(?P<head>[^,]*?\b)?(?P<word>{_DIRECTION})\b(?P<middle>[^,]*?) (?P<link>than) (?P<second>{_SIDE})\.$"
)
_EQUAL = re.compile(r"\b(?:no|not|nor|similar|differ\w*|equal\w*|comparable|same|between|that|those)\b", re.IGNORECASE)


def turn_finding(finding: str) -> TurnedFinding | None:
    """A comparison of two sides seen from the other side; None if the finding compares nothing or it cannot be told."""
    if _EQUAL.search(finding) or len(re.findall(rf"\b(?:{_DIRECTION})\b", finding)) != 1:
        return None
    match = _IN_BOTH.match(finding)
    if match:
        frame = "{head}{word}{middle} {where} {first} {link} {second}."
    elif match := _SUBJECTS.match(finding):
        frame = "{first} {verb} {head}{word}{middle} {link} {second}."
    else:
        return None
    parts = {name: text or "" for name, text in match.groupdict().items()}
    other_way = _OTHER_WAY.get(parts["word"])
    if not other_way or parts["first"] == parts["second"]:
        return None
    sides = {"first": _lower_first(parts["second"]), "second": _lower_first(parts["first"])}
    same = frame.format(**{**parts, **sides, "word": other_way})
    turned, reversed_ = frame.format(**{**parts, **sides}), frame.format(**{**parts, "word": other_way})
    return TurnedFinding(_capitalise(same), (_capitalise(turned), _capitalise(reversed_)))


def _lower_first(text: str) -> str:
    return text[0].lower() + text[1:] if text[1:2].islower() else text


def _capitalise(text: str) -> str:
    return text[0].upper() + text[1:]
