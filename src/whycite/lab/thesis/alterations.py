"""Change claims and findings by rules: numbers, directions, negations, and comparisons turned round.

"Dark gardens had more visits than lit ones" says what "lit gardens had fewer visits than dark ones" says, although
every word of direction differs. Comparisons are made from frames; findings of articles are turned by rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from types import MappingProxyType
from typing import Any, Literal, get_args

from whycite.lab.thesis.datasets import Label
from whycite.text.wordlists import load_tables

__all__ = [
    "KINDS",
    "OPPOSITES",
    "Alteration",
    "AlteredClaim",
    "TurnedFinding",
    "alter",
    "comparison_statements",
    "has_negation",
    "numbers",
    "replace_words",
    "turn_finding",
]

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
        statement = comparison.state("more", chance)
        whole = comparison.state("more", chance)
        claim = comparison.state(chance.choice(["more", "more", "more", "short"]), chance)
        choices: list[tuple[str, str, Label]] = [
            (claim, statement, "backed"),
            (claim, comparison.state("strong", chance), "backed"),
            (claim, turned.state("more", chance), "contradicted"),
            (claim, turned.state("strong", chance), "contradicted"),
            (claim, turned.state("equal", chance), "contradicted"),
            (comparison.state("equal", chance), turned.state("equal", chance), "backed"),
            (comparison.state("equal", chance), statement, "contradicted"),
            (comparison.state("strong", chance), statement, "not found"),
            (whole, replace(comparison, measure=other_measure).state("more", chance), "not found"),
            (whole, replace(comparison, more=stranger).state("more", chance), "not found"),
            (claim, chance.choice(_UNDECIDED).format(x=statement[0].lower() + statement[1:].rstrip(".")), "not found"),
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
