"""Alter claims by rules to change their meaning: numbers, directions, negations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random
from types import MappingProxyType
from typing import Literal, get_args

__all__ = ["KINDS", "OPPOSITES", "Alteration", "AlteredClaim", "alter", "has_negation", "numbers", "replace_words"]

Alteration = Literal["number", "direction", "negation"]
KINDS: tuple[Alteration, ...] = get_args(Alteration)

_VERBS = {
    "accelerate": "delay",
    "activate": "inhibit",
    "alleviate": "exacerbate",
    "amplify": "attenuate",
    "attenuate": "amplify",
    "augment": "diminish",
    "cause": "prevent",
    "decrease": "increase",
    "delay": "accelerate",
    "diminish": "augment",
    "downregulate": "upregulate",
    "down-regulate": "up-regulate",
    "enhance": "impair",
    "exacerbate": "alleviate",
    "facilitate": "hinder",
    "hinder": "facilitate",
    "impair": "enhance",
    "improve": "worsen",
    "increase": "decrease",
    "induce": "prevent",
    "inhibit": "activate",
    "prevent": "cause",
    "promote": "suppress",
    "reduce": "increase",
    "repress": "activate",
    "stabilize": "destabilize",
    "stimulate": "inhibit",
    "strengthen": "weaken",
    "suppress": "promote",
    "upregulate": "downregulate",
    "up-regulate": "down-regulate",
    "weaken": "strengthen",
    "worsen": "improve",
}
_WORDS = (
    "above below|activation inhibition|activator inhibitor|acute chronic|after before|agonist antagonist|"
    "anterior posterior|better worse|common rare|dependent independent|dorsal ventral|earlier later|"
    "essential dispensable|excitatory inhibitory|faster slower|gain loss|greater smaller|high low|higher lower|"
    "longer shorter|malignant benign|maximal minimal|more less|positive negative|positively negatively|"
    "presence absence|proximal distal|stronger weaker|sufficient insufficient|susceptible resistant|"
    "upregulation downregulation|upstream downstream"
)
_ONE_WAY = {
    "deficiency": "excess",
    "elevated": "lowered",
    "larger": "smaller",
    "necessary": "unnecessary",
    "overexpression": "depletion",
    "poorer": "better",
    "reduction": "increase",
    "sensitive": "insensitive",
    "suppression": "promotion",
}
_COUNTS = {
    "doubled": "halved",
    "twice": "ten times",
    "twofold": "tenfold",
    "two": "five",
    "three": "seven",
    "four": "nine",
    "five": "two",
    "six": "three",
    "seven": "four",
    "eight": "three",
    "nine": "four",
    "ten": "three",
}
# Verbs whose third person is usually not a noun.
_THIRD_PERSON_VERBS = (
    "activate affect bind cause contribute correlate decrease depend determine drive enable encode enhance facilitate "
    "improve increase indicate induce inhibit interact lead mediate modulate occur phosphorylate play predict prevent "
    "promote protect recruit reduce regulate require stimulate suggest suppress target trigger"
).split()
_AUXILIARIES = "is|are|was|were|can|could|will|would|should|does|do|did"
_NUMBER = re.compile(r"(?<![\w.,/–-])\d{1,3}(?:(?:,\d{3})+|\d*)(?:\.\d+)?(?![\w/–-]|[.,]\d)")
_WORD = re.compile(r"[A-Za-z][\w-]*")
_INSERTIONS = (
    (re.compile(r"\b(has|have|had|plays?|shows?|showed) an? "), r"\1 no "),
    (re.compile(rf"\b({_AUXILIARIES})\b(?! (?:not|no|never|only)\b)"), r"\1 not"),
    (re.compile(r"\b(has|have|had)(?= (?:been|\w+ed)\b)"), r"\1 not"),
)
_REMOVALS = (
    (re.compile(r"\bdo not (?=\w)"), ""),
    (re.compile(rf"\b({_AUXILIARIES}|has|have|had|may|might|need) not\b"), r"\1"),
    (re.compile(r"\bcannot\b"), "can"),
    (re.compile(r"\bfails to\b"), "is able to"),
    (re.compile(r"\bfailed to\b"), "was able to"),
    (re.compile(r"\bunable\b"), "able"),
    (re.compile(r"\bunlikely\b"), "likely"),
    (re.compile(r"\bnever\b"), "always"),
    (re.compile(r"\bwithout\b"), "with"),
    (re.compile(r"\bno longer\b"), "still"),
    (re.compile(r"\bno (?=[a-z])"), "some "),
    (re.compile(r"\bnot "), ""),
)
_NOUN = re.compile(r"causes? of\b")
_DOES_NOT = re.compile(r"\bdoes not ([a-z]+)")


@dataclass(frozen=True, slots=True)
class AlteredClaim:
    """A claim with one change: the words before and after."""

    kind: Alteration
    text: str
    was: str
    now: str


def alter(claim: str, kind: Alteration, chance: Random) -> AlteredClaim | None:
    """Alter the claim at a random place; None if no rule applies."""
    alterations = list(
        {"number": _other_numbers, "direction": _other_directions, "negation": _negations}[kind](claim, chance)
    )
    return chance.choice(alterations) if alterations else None


def numbers(text: str) -> list[str]:
    """The numbers in a text as written, except those in names."""
    return [match[0] for match in _NUMBER.finditer(text)]


def has_negation(text: str) -> bool:
    """Whether a text has a negation that the rules know."""
    return any(pattern.search(text) for pattern, _ in _REMOVALS)


def replace_words(text: str, was: str, now: str) -> str:
    """Replace an expression wherever it occurs as whole words."""
    pattern = re.compile(rf"(?<![\w-]){re.escape(was)}(?![\w-])", re.IGNORECASE)
    return pattern.sub(lambda match: _match_case(match[0], now), text)


def _other_numbers(claim: str, chance: Random) -> Iterator[AlteredClaim]:
    for match in _NUMBER.finditer(claim):
        now = _other_number(match[0], claim[match.end() : match.end() + 1] == "%", chance)
        yield _alteration("number", claim, match, now)
    for match in _WORD.finditer(claim):
        if now := _COUNTS.get(match[0].lower(), ""):
            yield _alteration("number", claim, match, _match_case(match[0], now))


def _other_number(written: str, percent: bool, chance: Random) -> str:
    plain = written.replace(",", "")
    value, digits = float(plain), len(plain.partition(".")[2])
    if not digits and "," not in written and not percent and 1800 <= value < 2100:
        return str(int(value) + chance.choice((-1, 1)) * chance.randint(3, 20))
    alternatives = {value * 10, value / 10, value * 2, value / 2, value * 3, value / 3, value + 5 * 10**-digits}
    shown = {
        f"{alternative:,.{digits}f}" if "," in written else f"{alternative:.{digits}f}"
        for alternative in sorted(alternatives)
    }
    least = float(f"{value:.{digits}f}")
    usable = [
        text
        for text in sorted(shown)
        if (number := float(text.replace(",", ""))) not in (0, least) and not (percent and value <= 100 < number)
    ]
    return chance.choice(usable)


def _other_directions(claim: str, _: Random) -> Iterator[AlteredClaim]:
    for match in _WORD.finditer(claim):
        now = OPPOSITES.get(match[0].lower(), "")
        if now and not _NOUN.match(claim, match.start()):
            yield _alteration("direction", claim, match, _match_case(match[0], now))


def _negations(claim: str, _: Random) -> Iterator[AlteredClaim]:
    """Remove the first negation, or insert one if there is none."""
    if match := _DOES_NOT.search(claim):
        yield _alteration("negation", claim, match, _inflections(match[1])[1])
        return
    for is_removal, patterns in ((True, _REMOVALS), (False, _INSERTIONS)):
        for pattern, now in patterns:
            if match := pattern.search(claim):
                yield _alteration("negation", claim, match, match.expand(now))
                return
        if not is_removal and (match := _THIRD.search(claim)):
            yield _alteration("negation", claim, match, f"does not {_BASES[match[0]]}")


def _alteration(kind: Alteration, claim: str, match: re.Match[str], now: str) -> AlteredClaim:
    return AlteredClaim(kind, claim[: match.start()] + now + claim[match.end() :], match[0], now)


def _match_case(was: str, now: str) -> str:
    return now[:1].upper() + now[1:] if was[:1].isupper() else now


def _inflections(verb: str) -> tuple[str, str, str, str]:
    """A regular verb: itself, "-s", "-ed", "-ing"."""
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb, f"{verb[:-1]}ies", f"{verb[:-1]}ied", f"{verb}ing"
    stem = verb.removesuffix("e")
    return verb, f"{verb}es" if verb.endswith(("s", "sh", "ch", "x")) else f"{verb}s", f"{stem}ed", f"{stem}ing"


def _opposites() -> dict[str, str]:
    opposites = dict(_ONE_WAY)
    for pair in _WORDS.split("|"):
        word, opposite = pair.split()
        opposites |= {word: opposite, opposite: word}
    for word, opposite in _VERBS.items():
        opposites |= zip(_inflections(word), _inflections(opposite), strict=True)
    return opposites


OPPOSITES: Mapping[str, str] = MappingProxyType(_opposites())
"""Words for a direction and their opposites, in lower case."""
_BASES = {_inflections(verb)[1]: verb for verb in _THIRD_PERSON_VERBS}
_THIRD = re.compile(rf"\b(?:{'|'.join(_BASES)})\b(?! (?:of|in)\b)")  # "increases in": a noun
