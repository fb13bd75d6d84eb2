"""Passages that say the contrary of a claim in its own words: they deny its verb, or name the other extreme."""

from __future__ import annotations

import re

from whycite.verify.lexical import forms
from whycite.verify.negation import negated

__all__ = ["reversed_by"]

_DENIED = re.compile(
    r"\b(?P<said>(?:do|does|did|is|are|was|were|can|could|has|have|had|will|would) (?:not|never)|(?:do|does|did|is|are|"
    r"was|were|could|would)n[’']t|cannot|never|fail(?:s|ed)? to)"
    r"(?: (?!only|merely|simply|solely|necessarily|fully|entirely|completely)[a-z]+ly| been| be)? (?P<verb>[a-z]+)",
    re.IGNORECASE,
)
_NOT_DENIED = frozenset("only yet necessarily just merely until always".split())
_CLAUSE = re.compile(
    r"[,;:.()]|\b(?:but|although|though|whereas|while|because|which|who|when|if|unless|than)\b", re.IGNORECASE
)
_LEAST = 2  # words of the claim that have to stand in one clause with the verb that is denied
_ALL, _HALF = 0.9, 0.5  # of the claim's words the share that the passage has to hold to deny it, or to name an extreme
# Extremes by name, each with its contrary, as pairs of what may stand behind "the" or "is".
_EXTREMES = (
    (r"best", r"worst|poorest"),
    (r"highest|greatest|largest|biggest|maximal", r"lowest|smallest|minimal"),
    (r"fastest|quickest", r"slowest"),
    (r"easiest|simplest", r"hardest|most difficult|toughest"),
    (r"strongest", r"weakest"),
    (r"cheapest|least (?:expensive|costly)", r"most (?:expensive|costly)|costliest|dearest"),
    (r"longest", r"shortest"),
    (r"earliest|oldest", r"latest|youngest|newest"),
    (r"most (?:common|frequent)", r"rarest|least (?:common|frequent)"),
)
_MOST = re.compile(r"\b(?P<degree>most|least) (?P<word>[a-z]{4,})", re.IGNORECASE)
_PAIRS = [
    (re.compile(rf"\b(?:{a})\b", re.IGNORECASE), re.compile(rf"\b(?:{b})\b", re.IGNORECASE)) for a, b in _EXTREMES
]


def reversed_by(claim: str, passage: str) -> str:
    """How a passage says the contrary of a claim, in words; nothing where that is not clear."""
    ours, theirs = set(forms(claim)), set(forms(passage))
    held = len(ours & theirs) / max(len(ours), 1)
    told = _denied(claim, passage, ours) if held >= _ALL else ""
    return told or (_extreme(claim, passage) if held >= _HALF else "")


def _denied(claim: str, passage: str, ours: set[str]) -> str:
    """The denial of a verb of the claim, which denies nothing itself."""
    if negated(claim):
        return ""
    for found in _DENIED.finditer(passage):
        verb = forms(found["verb"])
        if found["verb"].lower() in _NOT_DENIED or not verb or verb[0] not in ours:
            continue
        before, after = passage[: found.start()], passage[found.end() :]
        # What is left of the sentence may say the same without denying it.
        clause = f"{_CLAUSE.split(before)[-1]} {_CLAUSE.split(after)[0]}"
        if verb[0] not in forms(before + after) and len(ours & set(forms(clause))) >= _LEAST:
            return f"only the passage says “{found['said'].lower()} {found['verb'].lower()}”"
    return ""


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
