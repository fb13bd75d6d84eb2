"""Who is said to be better than whom: a passage that says it the other way round, or not at all, backs nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from whycite.verify.lexical import forms

__all__ = ["Order", "better", "order"]

Order = Literal["same", "reversed", "other", "none"]
"""How a passage compares what a claim compares: as the claim does, the other way round, the lesser one of the claim as
better than something else, or not at all."""

_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_CLAUSE = re.compile(r"[.;:!?]\s|[.;:!?]$")
# What a comparison is told by; behind "than" a number is a bound.
_THAN = re.compile(
    r"\b(?P<word>more|less|better|worse|fewer|higher|lower|greater|larger|smaller|bigger|faster|slower|quicker|"
    r"stronger|weaker|longer|shorter|earlier|later|easier|harder|simpler|cheaper|richer|poorer|closer|deeper|wider|"
    r"older|younger|heavier|lighter|safer|rarer|warmer|colder|denser)\b"
    r"(?P<between>(?: (?!(?:more|less|better|worse|higher|lower|greater|than)\b)[^\s,;]+){0,6}),? "
    r"(?:than|(?:as |when )?compared (?:to|with)|relative to) "
    r"(?!\d|half|one\b|two\b|just\b|expected|chance|ever\b|that\b)",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"\b(?P<passive>(?:is|are|was|were|been) )?(?P<verb>outperform(?:s|ed|ing)?|surpass(?:es|ed|ing)?|superior to|"
    r"inferior to|improve[sd]? (?:upon|over)|beats?)(?P<by> by)?(?! \d)\b",
    re.IGNORECASE,
)
_ALONE = re.compile(
    r"\b(?:is|are|was|were|does|do|did|perform(?:s|ed)?) (?:[a-z]+ly |much |still )?(?P<word>better|superior|worse|"
    r"best)(?: results)?(?=$|[.,;])",
    re.IGNORECASE,
)
_UNSAID = re.compile(
    r"\b(?:not|no|never|neither|nor|cannot|[a-z]+n[’']t)\b(?: \S+){0,3} ?$|\b(?:whether|if|hypothesi[sz]\w+)\b",
    re.IGNORECASE,
)
_QUALITY = "better"
_SIDE = 400  # characters of a sentence on either side
_MANY = 20  # comparisons of a text that are looked at
_GOOD = {"better": True, "superior": True, "best": True, "worse": False, "inferior": False}
_DOWN = {"lower": "higher", "smaller": "larger", "slower": "faster", "weaker": "stronger", "shorter": "longer"}
_DOWN |= {"poorer": "better", "fewer": "more", "later": "earlier", "cheaper": "dearer", "easier": "harder"}
_UP = {"greater": "higher", "larger": "higher", "quicker": "faster"}
_MEASURED = re.compile(r"\b(?:results?|performance|accurac(?:y|ies)|scores?|f-measures?|f1)\b", re.IGNORECASE)
_AGAINST = re.compile(
    r"^(?:as |when )?(?:compared (?:to|with)|in contrast (?:to|with)|unlike|relative to) (?P<other>[^,]+),"
)
_BEGINS = re.compile(r".*\b(?:that|whereas|while|but|although|though|because|since|and that|which)\b", re.IGNORECASE)
_ENDS = re.compile(r",|\b(?:but|whereas|while|because|when|which|although|though|since|if|where|by)\b", re.IGNORECASE)
_ADVERB = re.compile(r"\b[a-z]{4,}ly\b")
_PLACE = re.compile(r"\b(?:in|among|for|with|from|on|at|of|by|to) ", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Comparison:
    """What is above what, as the words that only one of the two has, and by what they are compared."""

    scale: str
    above: frozenset[str]
    below: frozenset[str]


def better(claim: str) -> bool:
    """Whether a claim says in the main that one thing is better than another."""
    ours = _only(claim)
    return ours is not None and ours.scale == _QUALITY and len(ours.above | ours.below) >= len(set(forms(claim))) / 2


def order(claim: str, passage: str) -> Order:
    """How a passage compares what a claim compares; the other way round only where it is by the same thing."""
    ours = _only(claim)
    if ours is None:
        return "none"
    found: Order = "none"
    for theirs in islice(_comparisons(passage), _MANY):
        direct = len(ours.above & theirs.above) + len(ours.below & theirs.below)
        above, below = ours.above & theirs.below, ours.below & theirs.above
        across = len(above) + len(below)
        if direct > across:
            return "same"
        # Both may have a verb before the comparison in common: "beavers build better dams".
        if theirs.scale == ours.scale and across > direct and below and not ours.below & theirs.below:
            found = "reversed" if above or found == "reversed" else "other"
    return found


def _only(claim: str) -> _Comparison | None:
    """The comparison of a claim that makes one, with something on either side."""
    found = list(islice(_comparisons(claim), 2))
    return found[0] if len(found) == 1 and found[0].above and found[0].below else None


def _comparisons(text: str) -> Iterator[_Comparison]:
    for clause in _CLAUSE.split(_BRACKETS.sub(" ", text)):
        clause = " ".join(clause.split())
        yield from _in_clause(clause)


def _in_clause(clause: str) -> Iterator[_Comparison]:
    ended = -1
    for found in sorted((*_THAN.finditer(clause), *_VERB.finditer(clause)), key=lambda each: each.start()):
        before = clause[max(0, found.start() - _SIDE) : found.start()]
        after = clause[found.end() : found.end() + _SIDE]
        if found.start() < ended or _UNSAID.search(before):
            continue
        known = found.groupdict()
        if "verb" in known:
            if bool(known["passive"]) != bool(known["by"]) and known["verb"].lower().startswith(("outp", "surp")):
                continue  # "are surpassed", by nobody that is named
            up = known["verb"].lower() != "inferior to" and not known["by"]
            scale, left = _QUALITY, before
        else:
            word = known["word"].lower()
            scale, up, left, after = _by_than(word, known["between"], before, after)
        ended = found.end()
        yield _sides(scale, up, left, after)
    if ended < 0 and (alone := _ALONE.search(clause)) and not _UNSAID.search(clause[: alone.start()]):
        yield _sides(_QUALITY, _GOOD[alone["word"].lower()], clause[max(0, alone.start() - _SIDE) : alone.start()], "")


def _by_than(word: str, between: str, before: str, after: str) -> tuple[str, bool, str, str]:
    """By what is compared, whether the first is above, and the text of either side: "higher in mice than in rats"."""
    between = between.strip()
    left = before
    place = _PLACE.search(between + " ")
    if place and after.lower().startswith(place[0].lower()):
        left = between[place.start() :]
    named = forms(between[: place.start()] if place else between)
    if word in ("more", "less"):
        return (named[0] if named else "more"), word == "more", left, after
    if word in _GOOD:
        return _QUALITY, _GOOD[word], left, after
    scale = _DOWN.get(word, word)
    scale = _UP.get(scale, scale)
    if scale == "higher" and _MEASURED.search(f"{before} {between}"):
        scale = _QUALITY
    return scale, word not in _DOWN, left, after


def _sides(scale: str, up: bool, before: str, after: str) -> _Comparison:
    other = ""
    if against := _AGAINST.match(before.lower()):
        other, before = before[: against.end()], before[against.end() :]
    begins = _BEGINS.match(before)
    before = before[begins.end() :] if begins else before
    ends = _ENDS.search(after)
    after = after[: ends.start()] if ends else after
    left, right = (frozenset(forms(_ADVERB.sub(" ", text))) for text in (before, f"{other} {after}"))
    left, right = left - right, right - left
    return _Comparison(scale, left, right) if up else _Comparison(scale, right, left)
