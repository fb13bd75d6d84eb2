"""Contrast pairs made by rule from the findings of articles: a claim and a passage that backs it, or almost does.

Each kind changes one thing: the direction, a number, the entity, what the passage is (a hypothesis, an open question),
and so on. Where it can, the same change is made on both sides, too, so that the changed words alone tell nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import Literal, get_args

from whycite.lab.thesis.alterations import Alteration, alter, comparison_statements, turn_finding
from whycite.lab.thesis.datasets import Label
from whycite.text.wordlists import FUNCTION_WORDS, load_tables
from whycite.verify.roles import role_of

__all__ = [
    "CONTRAST_KINDS",
    "ArticleSentence",
    "ContrastKind",
    "ContrastPair",
    "comparison_pairs",
    "contrast_pairs",
    "finding_of",
    "wording_pairs",
]

ContrastKind = Literal[
    "finding",
    "direction",
    "negation",
    "number",
    "unit",
    "comparison",
    "denial",
    "entity",
    "population",
    "outcome",
    "quantifier",
    "modality",
    "cause",
    "hypothesis",
    "unknown",
    "others",
    "topic",
    "detail",
    "wording",
]
CONTRAST_KINDS: tuple[ContrastKind, ...] = get_args(ContrastKind)


@dataclass(frozen=True, slots=True)
class ArticleSentence:
    """A sentence of an article with the type of its section."""

    text: str
    section_type: str
    cites: bool


@dataclass(frozen=True, slots=True)
class ContrastPair:
    """A claim, a passage, and whether the passage backs the claim."""

    kind: ContrastKind
    claim: str
    passage: str
    label: Label


_TABLES = load_tables(__name__)
_FINDING_SECTIONS = frozenset({"abstract", "result", "experiment", "discussion", "conclusion"})
_MIN_WORDS, _MAX_WORDS = 7, 32  # of a finding
_LEAD = re.compile(
    r"^(?:(?:Here|Thus|Therefore|Hence|Moreover|Furthermore|In addition|Additionally|Finally|Interestingly|Notably|"
    r"Importantly|However|Consistently|In (?:summary|conclusion|contrast|particular)|Taken together|Together|"
    r"Collectively|Overall|As expected|Surprisingly|Strikingly|Indeed|Similarly|In this study|Conversely|"
    r"Specifically|Further|Also|At the same time|Again|Remarkably),? )?"
    r"(?:(?:we|our (?:results|data|findings|study|analysis)|these (?:results|data|findings|experiments)|"
    r"this (?:study|work|paper)|(?:the )?results|(?:the )?data) (?:also |further |then |clearly )?"
    r"(?:found|find|show|shows|showed|have shown|demonstrate|demonstrates|demonstrated|observed|observe|report|"
    r"reveal|reveals|revealed|confirm|confirmed|conclude|indicate|indicates|indicated|establish) that )?",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"\s?\((?:[^()]|\([^()]*\))*\)|\s?\[[^\[\]]*\]")
_UNUSABLE = re.compile(
    r"EQUATION|https?:|[:;?=]|\bDr\b|\b(?:figure|fig|table|supplement\w*|section|this|these|those|such|it|its|they|their|"
    r"above|below|former|latter|respectively|we|our|us)\b",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|can|may|might|could|does|did|[a-z]+(?:s|ed))\b",
)
_WORD = re.compile(r"[\w-]+")


def finding_of(sentence: ArticleSentence) -> str:
    """What a sentence reports as a statement of its own, without "We found that" and brackets; "" if it is none."""
    if sentence.section_type not in _FINDING_SECTIONS or sentence.cites:
        return ""
    text = _ASIDE.sub("", sentence.text).strip()
    if role_of(sentence.text, sentence.section_type, sentence.cites) != "own":
        return ""
    text = _LEAD.sub("", text, count=1).rstrip(". ")
    if not _MIN_WORDS <= len(text.split()) <= _MAX_WORDS or _UNUSABLE.search(text) or not _VERB.search(text):
        return ""
    return text[0].upper() + text[1:] + "."


def contrast_pairs(sentences: Sequence[ArticleSentence], chance: Random) -> Iterator[ContrastPair]:
    """All pairs of every kind that the rules make from an article."""
    findings = list(dict.fromkeys(finding for sentence in sentences if (finding := finding_of(sentence))))
    names = _names(findings)
    for finding in findings:
        yield ContrastPair("finding", finding, _frame("finding", finding, chance), "backed")
        for kind in get_args(Alteration):
            yield from _altered(kind, finding, chance)
        for made in (_unit, _comparison, _population, _denial, _hypothesis, _unknown, _others, _detail):
            yield from made(finding, chance)
        for kind, stronger in _STRONGER.items():
            yield from _strengthened(kind, stronger, finding)
        yield from _other_entity(finding, names, chance)
        yield from _other_outcome(finding, findings, chance)
        yield from _other_subject(finding, findings, chance)
    yield from _same_topic(findings)
    yield from _joined(findings, chance)


def _altered(kind: Alteration, finding: str, chance: Random) -> Iterator[ContrastPair]:
    if change := alter(finding, kind, chance):
        yield ContrastPair(kind, change.text, finding, "contradicted")
        yield ContrastPair(kind, finding, change.text, "contradicted")
        yield ContrastPair(kind, change.text, _frame("finding", change.text, chance), "backed")


_UNITS: Mapping[str, list[str]] = _TABLES["units"]
_QUANTITY = re.compile(rf"(\d\s?)({'|'.join(map(re.escape, sorted(_UNITS, key=len, reverse=True)))})\b(?![/-])")


def _unit(finding: str, chance: Random) -> Iterator[ContrastPair]:
    if match := _QUANTITY.search(finding):
        unit = chance.choice(_UNITS[match[2]])
        claim = finding[: match.start()] + match[1] + unit + finding[match.end() :]
        yield ContrastPair("unit", claim, finding, "contradicted")
        yield ContrastPair("unit", claim, claim, "backed")


def _comparison(finding: str, chance: Random) -> Iterator[ContrastPair]:
    """Turn a comparison round, and see it from the other side."""
    if turned := turn_finding(finding):
        yield ContrastPair("comparison", turned.same, finding, "backed")
        yield ContrastPair("comparison", finding, _frame("finding", turned.same, chance), "backed")
        for opposite in turned.opposites:
            yield ContrastPair("comparison", opposite, finding, "contradicted")
            yield ContrastPair("comparison", opposite, _frame("finding", opposite, chance), "backed")


def comparison_pairs(number: int, chance: Random) -> Iterator[ContrastPair]:
    """Pairs of statements that compare two sides."""
    for claim, passage, label in comparison_statements(number, chance):
        yield ContrastPair("comparison", claim, passage, label)


_POPULATIONS: Mapping[str, list[str]] = _TABLES["population"]


def _population(finding: str, chance: Random) -> Iterator[ContrastPair]:
    """The same in another population; and a finding that holds in one but not in another."""
    for group in _POPULATIONS.values():
        present = [name for name in group if re.search(rf"\b{re.escape(name)}\b", finding)]
        absent = [name for name in group if name not in present]
        if len(present) == 1 and absent:
            other = chance.choice(absent)
            claim = re.sub(rf"\b{re.escape(present[0])}\b", other, finding)
            yield ContrastPair("population", claim, finding, "not found")
            yield ContrastPair("population", claim, _frame("finding", claim, chance), "backed")
            return
    if re.search(r"\b(?:in|not)\b", finding):
        return
    studied, unstudied = chance.sample(_POPULATIONS["organisms"], 2)
    base = finding.rstrip(".")
    passage = f"{base} in {studied} but not in {unstudied}."
    yield ContrastPair("population", f"{base} in {studied}.", passage, "backed")
    yield ContrastPair("population", f"{base} in {unstudied}.", passage, "contradicted")
    yield ContrastPair("population", f"{base} in {unstudied}.", f"{base} in {studied}.", "not found")
    yield ContrastPair("population", finding, passage, "not found")


def _denial(finding: str, chance: Random) -> Iterator[ContrastPair]:
    yield ContrastPair("denial", finding, _frame("denial", finding, chance), "contradicted")


def _hypothesis(finding: str, chance: Random) -> Iterator[ContrastPair]:
    """Only named, named and refuted, named and confirmed."""
    passage = _frame("hypothesis", finding, chance)
    yield ContrastPair("hypothesis", finding, passage, "not found")
    yield ContrastPair("hypothesis", finding, f"{passage} {chance.choice(_TABLES['failed'])}", "contradicted")
    yield ContrastPair("hypothesis", finding, f"{passage} {chance.choice(_TABLES['held'])}", "backed")


def _unknown(finding: str, chance: Random) -> Iterator[ContrastPair]:
    yield ContrastPair("unknown", finding, _frame("unknown", finding, chance), "not found")


def _others(finding: str, chance: Random) -> Iterator[ContrastPair]:
    """What others found says so as well: that it is not the paper's own is for the roles of passages."""
    yield ContrastPair("others", finding, _frame("others", finding, chance), "backed")


# What can be left out of a sentence without making it say more: no condition, exception or restriction.
_FURTHER = re.compile(
    r"(?:, (?:which|whereas|while|suggesting|indicating|implying|consistent with|in line with|leading to|resulting in|"
    r"including|with)\b| (?:as well as|and thereby|and thus)\b| by (?:about |nearly |up to )?\d)[^,]*\.$"
)
_RESTRICTING = re.compile(r"\b(?:only|except|but|not|no|without|if|unless|neither|nor|either|or|both|than|between)\b")
_MIN_REST = 5  # words


def _detail(finding: str, chance: Random) -> Iterator[ContrastPair]:
    """A passage may say more than the claim; a claim that says more than the passage is not backed."""
    match = _FURTHER.search(finding)
    rest = finding[: match.start()] if match else ""
    if len(rest.split()) >= _MIN_REST and _VERB.search(rest) and not _RESTRICTING.search(finding):
        yield ContrastPair("detail", f"{rest}.", finding, "backed")
        yield ContrastPair("detail", f"{rest}.", _frame("finding", finding, chance), "backed")
        yield ContrastPair("detail", finding, f"{rest}.", "not found")
        yield ContrastPair("detail", finding, _frame("finding", f"{rest}.", chance), "not found")


_MAX_JOINED = 18  # words of each of two findings in one sentence


def _joined(findings: Sequence[str], chance: Random) -> Iterator[ContrastPair]:
    """Two findings in one sentence: it backs either, and contradicts the opposite of either."""
    short = [finding for finding in findings if len(finding.split()) <= _MAX_JOINED]
    for first, second in pairwise(short):
        passage = f"{first.rstrip('.')}, {chance.choice(_TABLES['joining'])} {_lower_start(second)}"
        yield ContrastPair("detail", second, passage, "backed")
        yield ContrastPair("detail", first, passage, "backed")
        if change := alter(second, chance.choice(("direction", "negation")), chance):
            yield ContrastPair("detail", change.text, passage, "contradicted")


def _lower_start(finding: str) -> str:
    """A finding with a small first letter, unless its first word is a name."""
    if finding[:2].istitle() and (finding.split()[0][1:].islower() or finding[1] == " "):
        return finding[0].lower() + finding[1:]
    return finding


def _frame(name: str, finding: str, chance: Random) -> str:
    """A finding as it would stand after the words of a frame."""
    statement = _lower_start(finding).rstrip(".")
    who, year = chance.choice(_TABLES["names"]), chance.randint(1995, 2024)
    frame: str = chance.choice(_TABLES[name])
    text = frame.format(x=statement, who=f"{who} et al. ({year})", cited=f"{who} et al., {year}")
    return text[0].upper() + text[1:]


_STRONGER: Mapping[ContrastKind, Mapping[str, str]] = {
    "quantifier": _TABLES["quantifier"],
    "modality": _TABLES["modality"],
    "cause": _TABLES["cause"],
}
_SUPERLATIVE = re.compile(r"\b(?:the|at) most\b|\bmost \w+(?:ly|ed|ent|ant|ive|ous|al)\b")


def _strengthened(kind: ContrastKind, stronger: Mapping[str, str], finding: str) -> Iterator[ContrastPair]:
    """A weaker word does not back a stronger one; the other way round it does."""
    if kind == "quantifier" and _SUPERLATIVE.search(finding):
        return
    for weak, strong in stronger.items():
        pattern = re.compile(rf"(?<![\w-]){re.escape(weak)}(?![\w-])")
        if len(pattern.findall(finding)) == 1:
            claim = pattern.sub(strong, finding)
            yield ContrastPair(kind, claim, finding, "not found")
            yield ContrastPair(kind, finding, claim, "backed")
            return


_NAME = re.compile(r"(?<![\w-])(?:[A-Z][a-z]*\d+[\w]*|[A-Z]{2,}[\w-]*|[a-z]{1,3}[A-Z][\w]*)(?![\w-])")
_MIN_NAME_COUNT = 2  # of findings with a name, so that misread words are left out


def _names(findings: Sequence[str]) -> list[str]:
    """Names such as genes, proteins and abbreviations that several findings mention."""
    counts = Counter(name for finding in findings for name in dict.fromkeys(_NAME.findall(finding)))
    return sorted(name for name, count in counts.items() if count >= _MIN_NAME_COUNT)


def _other_entity(finding: str, names: Sequence[str], chance: Random) -> Iterator[ContrastPair]:
    present = [name for name in names if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", finding)]
    absent = [name for name in names if name not in finding]
    if present and absent:
        name, other = chance.choice(present), chance.choice(absent)
        claim = re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", other, finding)
        yield ContrastPair("entity", claim, finding, "not found")
        yield ContrastPair("entity", finding, claim, "not found")
        yield ContrastPair("entity", claim, _frame("finding", claim, chance), "backed")


_TAIL = re.compile(r" (of|in|on|to|with|for|by|from) ((?:the |a |an )?[\w-]+(?: [\w-]+){0,4})\.$")


def _other_outcome(finding: str, findings: Sequence[str], chance: Random) -> Iterator[ContrastPair]:
    """The last phrase taken from another finding that ends with the same preposition."""
    match = _TAIL.search(finding)
    if not match:
        return
    words = _content_words(match[2])
    tails = [tail[2] for text in findings if (tail := _TAIL.search(text)) and tail[1] == match[1] and text != finding]
    strange = [tail for tail in tails if not words & _content_words(tail) and _content_words(tail)]
    if words and strange:
        claim = f"{finding[: match.start()]} {match[1]} {chance.choice(strange)}."
        yield ContrastPair("outcome", claim, finding, "not found")
        yield ContrastPair("outcome", claim, _frame("finding", claim, chance), "backed")


_SUBJECT = re.compile(
    r"^((?:[\w-]+ ){1,5}?)(?=(?:is|are|was|were|has|have|had|can|may|does|did|\w{3,}(?:ed|es)|shows?|leads?|led)\b)"
)


def _other_subject(finding: str, findings: Sequence[str], chance: Random) -> Iterator[ContrastPair]:
    """The first phrase taken from another finding."""
    match = _SUBJECT.match(finding)
    if not match:
        return
    words = _content_words(match[1])
    subjects = [subject[1] for text in findings if text != finding and (subject := _SUBJECT.match(text))]
    strange = [subject for subject in subjects if _content_words(subject) and not words & _content_words(subject)]
    if words and strange:
        claim = chance.choice(strange) + finding[match.end() :]
        yield ContrastPair("entity", claim, finding, "not found")
        yield ContrastPair("entity", finding, claim, "not found")
        yield ContrastPair("entity", claim, _frame("finding", claim, chance), "backed")


_LEAST_SHARED, _MOST_SHARED = 0.25, 0.45  # share of a claim's words: on the same topic, but not the same finding


def _same_topic(findings: Sequence[str]) -> Iterator[ContrastPair]:
    """A finding and the most similar one that says something else."""
    words = [_content_words(finding) for finding in findings]
    for place, finding in enumerate(findings):
        shares = [
            len(words[place] & other) / len(words[place]) if words[place] and index != place else 0.0
            for index, other in enumerate(words)
        ]
        likeness = max(shares, default=0.0)
        if _LEAST_SHARED <= likeness <= _MOST_SHARED:
            yield ContrastPair("topic", finding, findings[shares.index(likeness)], "not found")


def _content_words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(text) if word.lower() not in FUNCTION_WORDS)


_WORDING: Mapping[str, list[str]] = _TABLES["wording"]
_DIRECTIONS = ("less", "more", "none")


def wording_pairs(number: int, chance: Random) -> Iterator[ContrastPair]:
    """Pairs of short statements about one agent and outcome: the same in other words, the opposite, something else."""
    for _ in range(number):
        agent, other_agent = chance.sample(_WORDING["agents"], 2)
        outcome, other_outcome = chance.sample(_WORDING["outcomes"], 2)
        direction, opposite = chance.sample(_DIRECTIONS, 2)
        claim = _statement(direction, agent, outcome, chance)
        same = _statement(direction, agent, outcome, chance)
        choices: list[tuple[str, Label]] = [
            (same, "backed"),
            (_frame("finding", same, chance), "backed"),
            (_statement(opposite, agent, outcome, chance), "contradicted"),
            (_frame("finding", _statement(opposite, agent, outcome, chance), chance), "contradicted"),
            (_frame("denial", same, chance), "contradicted"),
            (_frame("hypothesis", same, chance), "not found"),
            (_frame("unknown", same, chance), "not found"),
            (_statement(direction, other_agent, outcome, chance), "not found"),
            (_statement(direction, agent, other_outcome, chance), "not found"),
        ]
        if direction != "none":
            studied, unstudied = chance.sample(_POPULATIONS["organisms"], 2)
            choices.append((f"{same.rstrip('.')} in {studied} but not in {unstudied}.", "not found"))
            choices.append((_statement(f"{direction}_linked", agent, outcome, chance), "not found"))
        passage, label = chance.choice(choices)
        yield ContrastPair("wording", claim, passage, label)


def _statement(direction: str, agent: str, outcome: str, chance: Random) -> str:
    frame = chance.choice(_WORDING[direction])
    subject = agent if frame.startswith("{s}") or agent[1].isupper() or agent[0].islower() else _lower_first(agent)
    text = frame.format(s=subject, o=outcome)
    return text[0].upper() + text[1:] + "."


def _lower_first(text: str) -> str:
    return text[0].lower() + text[1:]
