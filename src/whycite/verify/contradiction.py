"""Passages that say the opposite of a claim in its own words: denied, compared or paired the other way round."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Literal

from whycite.text.wordlists import load_words
from whycite.verify.lexical import forms
from whycite.verify.polarity import is_negated, word_ways

__all__ = ["ComparisonOrder", "claims_better", "comparison_order", "crossed_numbers", "reversed_by"]


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
_CLAUSE_BREAK = re.compile(
    r"[,;:.()]|\b(?:but|although|though|whereas|while|because|which|who|when|if|unless|than)\b", re.IGNORECASE
)
_MIN_SHARED_WORDS = 2  # words of the claim in the clause of the denied verb
# The shares of the claim's words that a passage must have to be about the same thing; the less ambiguous a sign, the
# fewer are needed. Set by hand; `python benchmarks/verify.py` measures altered claims.
_SHARE_FOR_DENIED_VERB = 0.9
_SHARE_FOR_DENIED_NOUN = 0.6
_SHARE_FOR_OPPOSITE = 0.5
_EFFECT = frozenset(
    forms("alter influence affect change impact modify")
)  # denying one of these verbs denies the others
_STEM = 5  # letters that a noun and its verb share: "no reductions", "reduced"
_WAYS = ("direction", "height")  # tables of opposites for what goes up or down: "lower recall", "raised recall"
_SUBJECT_REACH = 3  # words after a pointer that may name its subject
_SUBJECT_ENDS = frozenset("and or in".split())
# Superlatives and their opposites.
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
_SUPERLATIVE = re.compile(r"\b(?P<degree>most|least) (?P<word>[a-z]{4,})", re.IGNORECASE)
_EXTREME_PAIRS = [
    (re.compile(rf"\b(?:{a})\b", re.IGNORECASE), re.compile(rf"\b(?:{b})\b", re.IGNORECASE)) for a, b in _EXTREMES
]


def reversed_by(claim: str, passage: str) -> str:
    """How a passage says the opposite of a claim, as a phrase; "" if it does not clearly do so."""
    claim_forms, passage_forms = set(forms(claim)), set(forms(passage))
    coverage = len(claim_forms & passage_forms) / max(len(claim_forms), 1)
    message = ""
    if not is_negated(claim):
        message = _denial(_DENIED, passage, claim_forms, claim_forms) if coverage >= _SHARE_FOR_DENIED_VERB else ""
        message = message or (
            _denial(_NONE, passage, claim_forms, {form[:_STEM] for form in claim_forms})
            if coverage >= _SHARE_FOR_DENIED_NOUN
            else ""
        )
        if not message and coverage >= _SHARE_FOR_DENIED_NOUN and claim_forms & _EFFECT:
            message = _denial(_DENIED, passage, claim_forms, _EFFECT)
    return message or (
        _opposite_extreme(claim, passage) or _opposite_direction(claim, passage)
        if coverage >= _SHARE_FOR_OPPOSITE
        else ""
    )


def _denial(denial: re.Pattern[str], passage: str, claim_forms: set[str], verbs: set[str] | frozenset[str]) -> str:
    """A phrase on a denied verb, if its clause has other words of the claim."""
    for match in denial.finditer(passage):
        verb = forms(match["verb"])
        if match["verb"].lower() in _NOT_DENIED or not verb or not verbs & {verb[0], verb[0][:_STEM]}:
            continue
        left_text, right_text = passage[: match.start()], passage[match.end() :]
        clause = f"{_CLAUSE_BREAK.split(left_text)[-1]} {_CLAUSE_BREAK.split(right_text)[0]}"
        if not _says(left_text + right_text, verb[0]) and len(claim_forms & set(forms(clause))) >= _MIN_SHARED_WORDS:
            return f"only the passage says “{match['said'].strip().lower()} {match['verb'].lower()}”"
    return ""


def _says(rest: str, verb: str) -> bool:
    """Whether the rest of a sentence may say the same without denying it."""
    return any(form[:_STEM] == verb[:_STEM] or {form, verb} <= _EFFECT for form in forms(rest))


@dataclass(frozen=True, slots=True)
class _Direction:
    """A word that points up or down, and its subject."""

    word: str
    up: bool
    subject: frozenset[str]


def _opposite_direction(claim: str, passage: str) -> str:
    """A phrase on what is up in the claim and down in the passage, or the reverse; neither may deny anything."""
    claim_directions = list(_directions(claim))
    if len(claim_directions) != 1 or is_negated(claim) or is_negated(passage):
        return ""
    passage_directions = [
        direction for direction in _directions(passage) if direction.subject & claim_directions[0].subject
    ]
    if not passage_directions or any(direction.up == claim_directions[0].up for direction in passage_directions):
        return ""
    return _contrast_message(claim_directions[0].word, passage_directions[0].word)


def _directions(text: str) -> Iterator[_Direction]:
    words = [word.lower() for word in _WORD.findall(text)]
    for position, word in enumerate(words):
        ways = {up for way, up in word_ways(word) if way in _WAYS}
        if len(ways) != 1:
            continue
        subject: list[str] = []
        for next_word in words[position + 1 : position + 1 + _SUBJECT_REACH]:
            if next_word in _SUBJECT_ENDS or any(word_ways(next_word)):
                break
            subject += forms(next_word)
        yield _Direction(word, ways.pop(), frozenset(subject[:2]))


def _opposite_extreme(claim: str, passage: str) -> str:
    """A phrase on the passage's superlative, if it is the opposite of the claim's."""
    for pair in _EXTREME_PAIRS:
        for claim_pattern, passage_pattern in (pair, pair[::-1]):
            claim_match, passage_match = claim_pattern.search(claim), passage_pattern.search(passage)
            if (
                claim_match
                and passage_match
                and not claim_pattern.search(passage)
                and not passage_pattern.search(claim)
            ):
                return _contrast_message(claim_match[0], passage_match[0])
    claims = {match["word"].lower(): match["degree"].lower() for match in _SUPERLATIVE.finditer(claim)}
    passages = [(match["word"].lower(), match["degree"].lower()) for match in _SUPERLATIVE.finditer(passage)]
    for word, degree in claims.items():
        degrees = {passage_degree for passage_word, passage_degree in passages if passage_word == word}
        if degrees and degree not in degrees:
            return _contrast_message(f"{degree} {word}", f"{degrees.pop()} {word}")
    return ""


def _contrast_message(claim_words: str, passage_words: str) -> str:
    return f"“{claim_words.lower()}” in the claim, “{passage_words.lower()}” here"


ComparisonOrder = Literal["same", "reversed", "other", "none"]
"""How a passage compares what a claim compares: the same way, the other way round, the claim's lesser one as better
than something else ("other"), or not at all."""

_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_CLAUSE_END = re.compile(r"[.;:!?]\s|[.;:!?]$")
# The signs of a comparison; a number after "than" is a bound.
_THAN = re.compile(
    rf"\b(?P<word>{'|'.join(sorted(load_words('whycite.verify', 'comparatives')))})\b"
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
_SIDE = 400  # characters on either side of a comparison that are read
_MAX_COMPARISONS = 20  # per text, so that hostile input cannot take long
_GOOD = {"better": True, "superior": True, "best": True, "worse": False, "inferior": False}
_DOWN = {"lower": "higher", "smaller": "larger", "slower": "faster", "weaker": "stronger", "shorter": "longer"}
_DOWN |= {"poorer": "better", "fewer": "more", "later": "earlier", "cheaper": "dearer", "easier": "harder"}
_UP = {"greater": "higher", "larger": "higher", "quicker": "faster"}
_MEASURED = re.compile(r"\b(?:results?|performance|accurac(?:y|ies)|scores?|f-measures?|f1)\b", re.IGNORECASE)
_AGAINST = re.compile(
    r"^(?:as |when )?(?:compared (?:to|with)|in contrast (?:to|with)|unlike|relative to) (?P<other>[^,]+),"
)
_SIDE_START = re.compile(
    r".*\b(?:that|whereas|while|but|although|though|because|since|and that|which)\b", re.IGNORECASE
)
_SIDE_END = re.compile(
    r",|\b(?:but|whereas|while|because|when|which|although|though|since|if|where|by)\b", re.IGNORECASE
)
_ADVERB = re.compile(r"\b[a-z]{4,}ly\b")
_PLACE = re.compile(r"\b(?:in|among|for|with|from|on|at|of|by|to) ", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _TextComparison:
    """What is above what, as the words that only one of the two has, and the scale."""

    scale: str
    above: frozenset[str]
    below: frozenset[str]


def claims_better(claim: str) -> bool:
    """Whether the point of a claim is that one thing is better than another."""
    claim_comparison = _single_comparison(claim)
    return (
        claim_comparison is not None
        and claim_comparison.scale == _QUALITY
        and len(claim_comparison.above | claim_comparison.below) >= len(set(forms(claim))) / 2
    )


def comparison_order(claim: str, passage: str) -> ComparisonOrder:
    """How a passage compares what a claim compares; "reversed" only on the same scale."""
    claim_comparison = _single_comparison(claim)
    if claim_comparison is None:
        return "none"
    passage_order: ComparisonOrder = "none"
    for passage_comparison in islice(_comparisons(passage), _MAX_COMPARISONS):
        direct = len(claim_comparison.above & passage_comparison.above) + len(
            claim_comparison.below & passage_comparison.below
        )
        above, below = (
            claim_comparison.above & passage_comparison.below,
            claim_comparison.below & passage_comparison.above,
        )
        across = len(above) + len(below)
        if direct > across:
            return "same"
        # Both may share a verb before the comparison: "beavers build better dams".
        if (
            passage_comparison.scale == claim_comparison.scale
            and across > direct
            and below
            and not claim_comparison.below & passage_comparison.below
        ):
            passage_order = "reversed" if above or passage_order == "reversed" else "other"
    return passage_order


def _single_comparison(claim: str) -> _TextComparison | None:
    """The comparison of a claim that makes exactly one, with something on either side."""
    comparisons = list(islice(_comparisons(claim), 2))
    return comparisons[0] if len(comparisons) == 1 and comparisons[0].above and comparisons[0].below else None


def _comparisons(text: str) -> Iterator[_TextComparison]:
    for clause in _CLAUSE_END.split(_BRACKETS.sub(" ", text)):
        clause = " ".join(clause.split())
        yield from _clause_comparisons(clause)


def _clause_comparisons(clause: str) -> Iterator[_TextComparison]:
    end_position = -1
    for match in sorted((*_THAN.finditer(clause), *_VERB.finditer(clause)), key=lambda match: match.start()):
        left_text = clause[max(0, match.start() - _SIDE) : match.start()]
        right_text = clause[match.end() : match.end() + _SIDE]
        if match.start() < end_position or _UNSAID.search(left_text):
            continue
        groups = match.groupdict()
        if "verb" in groups:
            if bool(groups["passive"]) != bool(groups["by"]) and groups["verb"].lower().startswith(("outp", "surp")):
                continue  # "are surpassed", but not by what
            up = groups["verb"].lower() != "inferior to" and not groups["by"]
            scale, left_side = _QUALITY, left_text
        else:
            word = groups["word"].lower()
            scale, up, left_side, right_text = _read_than(word, groups["between"], left_text, right_text)
        end_position = match.end()
        yield _sides(scale, up, left_side, right_text)
    if end_position < 0 and (alone := _ALONE.search(clause)) and not _UNSAID.search(clause[: alone.start()]):
        yield _sides(_QUALITY, _GOOD[alone["word"].lower()], clause[max(0, alone.start() - _SIDE) : alone.start()], "")


def _read_than(word: str, middle: str, left_text: str, right_text: str) -> tuple[str, bool, str, str]:
    """The scale, whether the first is above, and the text of either side: "higher in mice than in rats"."""
    middle = middle.strip()
    left_side = left_text
    place = _PLACE.search(middle + " ")
    if place and right_text.lower().startswith(place[0].lower()):
        left_side = middle[place.start() :]
    scale_words = forms(middle[: place.start()] if place else middle)
    if word in ("more", "less"):
        return (scale_words[0] if scale_words else "more"), word == "more", left_side, right_text
    if word in _GOOD:
        return _QUALITY, _GOOD[word], left_side, right_text
    scale = _DOWN.get(word, word)
    scale = _UP.get(scale, scale)
    if scale == "higher" and _MEASURED.search(f"{left_text} {middle}"):
        scale = _QUALITY
    return scale, word not in _DOWN, left_side, right_text


def _sides(scale: str, up: bool, left_text: str, right_text: str) -> _TextComparison:
    contrast = ""
    if against := _AGAINST.match(left_text.lower()):
        contrast, left_text = left_text[: against.end()], left_text[against.end() :]
    begins = _SIDE_START.match(left_text)
    left_text = left_text[begins.end() :] if begins else left_text
    ends = _SIDE_END.search(right_text)
    right_text = right_text[: ends.start()] if ends else right_text
    left_words, right_words = (
        frozenset(forms(_ADVERB.sub(" ", text))) for text in (left_text, f"{contrast} {right_text}")
    )
    left_words, right_words = left_words - right_words, right_words - left_words
    return _TextComparison(scale, left_words, right_words) if up else _TextComparison(scale, right_words, left_words)


_TOKEN = re.compile(r"(?P<number>\d+(?:[.,]\d+)*)|[^\W\d_]+")
_MAX_DISTANCE = 6  # tokens between a number and its word
_MAX_TERMS = 12  # numbers and words compared; pairs grow with the square


@dataclass(frozen=True, slots=True)
class _TermPositions:
    """The tokens of a text, and the positions of the numbers and words that occur once."""

    tokens: tuple[str, ...]
    numbers: dict[str, int]
    words: dict[str, int]


def crossed_numbers(claim: str, passage: str) -> str:
    """A phrase on two numbers that a passage gives the other way round; "" if that is not clear.

    It is not if another pair of words goes with the numbers as in the claim.
    """
    claim_terms, passage_terms = _term_positions(claim), _term_positions(passage)
    numbers = [number for number in claim_terms.numbers if number in passage_terms.numbers][:_MAX_TERMS]
    words = [word for word in claim_terms.words if word in passage_terms.words][:_MAX_TERMS]
    message = ""
    for pair in combinations(numbers, 2):
        crossings: list[dict[str, str]] = []
        for names in combinations(words, 2):
            claim_pairs, passage_pairs = (
                _paired_words(claim_terms, pair, names),
                _paired_words(passage_terms, pair, names),
            )
            if claim_pairs and claim_pairs == passage_pairs:
                crossings = []
                break
            if claim_pairs and passage_pairs and _parallel(claim_terms, claim_pairs):
                crossings.append(claim_pairs)
        if crossings and not message:
            number, word = min(crossings[0].items(), key=lambda entry: claim_terms.numbers[entry[0]])
            other_number = next(candidate for candidate in pair if candidate != number)
            message = (
                f"{number} goes with “{claim_terms.tokens[claim_terms.words[word]]}” in the claim, {other_number} here"
            )
    return message


def _term_positions(text: str) -> _TermPositions:
    tokens = list(_TOKEN.finditer(text))
    written = [token[0] for token in tokens]
    numbers = [token[0].replace(",", ".") if token["number"] else "" for token in tokens]
    words = ["" if token["number"] else "".join(forms(token[0])) for token in tokens]
    return _TermPositions(tuple(written), _unique_positions(numbers), _unique_positions(words))


def _unique_positions(items: list[str]) -> dict[str, int]:
    counts = Counter(items)
    return {item: position for position, item in enumerate(items) if item and counts[item] == 1}


def _paired_words(text: _TermPositions, numbers: tuple[str, str], words: tuple[str, str]) -> dict[str, str]:
    """The word of each number, if numbers and words alternate and each is near its own; else empty."""
    places = sorted(
        [(text.numbers[term], term, True) for term in numbers] + [(text.words[term], term, False) for term in words]
    )
    if places[0][2] == places[1][2] or [place[2] for place in places[:2]] != [place[2] for place in places[2:]]:
        return {}
    if any(places[index + 1][0] - places[index][0] > _MAX_DISTANCE for index in (0, 2)):
        return {}
    return dict((head[1], tail[1]) if head[2] else (tail[1], head[1]) for head, tail in (places[:2], places[2:]))


def _parallel(text: _TermPositions, pairs: dict[str, str]) -> bool:
    """Whether two words are used alike: after the same word, or next to their numbers."""
    preceding_words = {
        text.tokens[position - 1].lower() if (position := text.words[word]) else "" for word in pairs.values()
    }
    near = all(abs(text.words[word] - text.numbers[number]) == 1 for number, word in pairs.items())
    return near or len(preceding_words) == 1
