"""Passages that say the contrary of a claim in its own words: they deny it, or name the other way or extreme."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from whycite.verify.lexical import forms
from whycite.verify.negation import negated
from whycite.verify.polarity import pointing

__all__ = ["reversed_by"]

_DENIED = re.compile(
    r"\b(?P<said>(?:do|does|did|is|are|was|were|can|could|has|have|had|will|would) (?:not|never)|(?:do|does|did|is|are|"
    r"was|were|could|would)n[’']t|cannot|never|fail(?:s|ed)? to)"
    r"(?: (?!only|merely|simply|solely|necessarily|fully|entirely|completely)[a-z]+ly| been| be)? (?P<verb>[a-z]+)",
    re.IGNORECASE,
)
_NONE = re.compile(
    r"\b(?P<said>no (?:(?:statistically )?significant |marked |obvious |clear |apparent |overall )?)"
    r"(?P<verb>[a-z]{4,})",
    re.IGNORECASE,
)
_NOT_DENIED = frozenset("only yet necessarily just merely until always".split())
_CLAUSE = re.compile(
    r"[,;:.()]|\b(?:but|although|though|whereas|while|because|which|who|when|if|unless|than)\b", re.IGNORECASE
)
_LEAST = 2  # words of the claim that have to stand in one clause with the verb that is denied
_ALL, _MOST_OF, _HALF = 0.9, 0.6, 0.5  # of the claim's words the shares that a passage has to hold to be about the same
_EFFECT = frozenset(forms("alter influence affect change impact modify"))  # verbs of which one denies the other
_STEM = 5  # letters in which a noun agrees with its verb: "no reductions", "reduced"
_WAYS = ("direction", "height")  # in which what is measured goes up or down: "lower recall", "raised recall"
_BEHIND = 3  # words behind one that points, among which what it is said of is looked for
_ENDS = frozenset("and or in".split())
# Extremes by name, each with its contrary, as pairs of what may stand behind "the" or "is".
_EXTREMES = (
    (r"best", r"worst|poorest"),
    (r"highest|greatest|largest|biggest|maximal", r"lowest|smallest|fewest|minimal"),
    (r"fastest|quickest", r"slowest"),
    (r"easiest|simplest", r"hardest|most difficult|toughest"),
    (r"strongest", r"weakest"),
    (r"cheapest|least (?:expensive|costly)", r"most (?:expensive|costly)|costliest|dearest"),
    (r"longest", r"shortest"),
    (r"earliest|oldest", r"latest|youngest|newest"),
    (r"most (?:common|frequent)", r"rarest|least (?:common|frequent)"),
)
_WORD = re.compile(r"[a-z]+(?:-regulat[a-z]*)?", re.IGNORECASE)
_MOST = re.compile(r"\b(?P<degree>most|least) (?P<word>[a-z]{4,})", re.IGNORECASE)
_PAIRS = [
    (re.compile(rf"\b(?:{a})\b", re.IGNORECASE), re.compile(rf"\b(?:{b})\b", re.IGNORECASE)) for a, b in _EXTREMES
]


def reversed_by(claim: str, passage: str) -> str:
    """How a passage says the contrary of a claim, in words; nothing where that is not clear."""
    ours, theirs = set(forms(claim)), set(forms(passage))
    held = len(ours & theirs) / max(len(ours), 1)
    told = ""
    if not negated(claim):
        told = _denied(_DENIED, passage, ours, ours) if held >= _ALL else ""
        told = told or (_denied(_NONE, passage, ours, {form[:_STEM] for form in ours}) if held >= _MOST_OF else "")
        if not told and held >= _MOST_OF and ours & _EFFECT:
            told = _denied(_DENIED, passage, ours, _EFFECT)
    return told or (_extreme(claim, passage) or _other_way(claim, passage) if held >= _HALF else "")


def _denied(denial: re.Pattern[str], passage: str, ours: set[str], verbs: set[str] | frozenset[str]) -> str:
    """The denial of one of some verbs, in a clause that has other words of the claim."""
    for found in denial.finditer(passage):
        verb = forms(found["verb"])
        if found["verb"].lower() in _NOT_DENIED or not verb or not verbs & {verb[0], verb[0][:_STEM]}:
            continue
        before, after = passage[: found.start()], passage[found.end() :]
        clause = f"{_CLAUSE.split(before)[-1]} {_CLAUSE.split(after)[0]}"
        if not _says(before + after, verb[0]) and len(ours & set(forms(clause))) >= _LEAST:
            return f"only the passage says “{found['said'].strip().lower()} {found['verb'].lower()}”"
    return ""


def _says(rest: str, verb: str) -> bool:
    """Whether what is left of a sentence may say the same without denying it."""
    return any(form[:_STEM] == verb[:_STEM] or {form, verb} <= _EFFECT for form in forms(rest))


@dataclass(frozen=True, slots=True)
class _Directed:
    """A word that points up or down, and what it is said of."""

    word: str
    up: bool
    of: frozenset[str]


def _other_way(claim: str, passage: str) -> str:
    """What the claim lets go up or be high and the passage down or low, or the reverse; neither denies anything."""
    ours = list(_directed(claim))
    if len(ours) != 1 or negated(claim) or negated(passage):
        return ""
    theirs = [each for each in _directed(passage) if each.of & ours[0].of]
    if not theirs or any(each.up == ours[0].up for each in theirs):
        return ""
    return _told(ours[0].word, theirs[0].word)


def _directed(text: str) -> Iterator[_Directed]:
    words = [word.lower() for word in _WORD.findall(text)]
    for at, word in enumerate(words):
        ways = {up for way, up in pointing(word) if way in _WAYS}
        if len(ways) != 1:
            continue
        of: list[str] = []
        for behind in words[at + 1 : at + 1 + _BEHIND]:
            if behind in _ENDS or any(pointing(behind)):
                break
            of += forms(behind)
        yield _Directed(word, ways.pop(), frozenset(of[:2]))


def _extreme(claim: str, passage: str) -> str:
    """The other extreme of what the claim names, where the passage does not name the same."""
    for pair in _PAIRS:
        for ours, theirs in (pair, pair[::-1]):
            said, other = ours.search(claim), theirs.search(passage)
            if said and other and not ours.search(passage) and not theirs.search(claim):
                return _told(said[0], other[0])
    claims = {each["word"].lower(): each["degree"].lower() for each in _MOST.finditer(claim)}
    passages = [(each["word"].lower(), each["degree"].lower()) for each in _MOST.finditer(passage)]
    for word, degree in claims.items():
        degrees = {of for other, of in passages if other == word}
        if degrees and degree not in degrees:
            return _told(f"{degree} {word}", f"{degrees.pop()} {word}")
    return ""


def _told(ours: str, theirs: str) -> str:
    return f"“{ours.lower()}” in the claim, “{theirs.lower()}” here"
