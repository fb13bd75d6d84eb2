"""The quantities of a sentence: numbers with their units, comparisons and ranges, also where they are words."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from whycite.text.lemmas import lemma
from whycite.verify.units import UNIT, unit

__all__ = ["Quantity", "quantities"]


@dataclass(frozen=True, slots=True)
class Quantity:
    """A quantity: from `low` to `high` of `unit`, the same for a plain number, without end for a bound."""

    low: float
    high: float
    unit: str  # "%", "fold", a dimension, "#noun" for what is counted, "=name" for what is measured, "" for none
    text: str  # as it is written
    grain: float  # what the last digit that is written counts
    about: bool = False  # said to be near it


_SUPERSCRIPT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_RAISED = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]+")
_PLAIN = str.maketrans({"−": "-", "‐": "-", "‑": "-", "–": "-", "—": "-", "\u00a0": " ", "\u2009": " ", "\u202f": " "})

_DIGITS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+|\d+,\d{1,2}(?=\s?%)|\d+|\.\d+"
_POWER = r"(?:\s?[×x*·]\s?10\s?(?:\^|\*\*)?\s?\{?(?P<power>[-+]?\d{1,2})\}?(?!\d)|[eE](?P<exponent>[-+]?\d{1,2})(?!\w))"
# A number that is no part of a name (IL-6, p53, H3K27, COVID-19) or of a longer number.
_NUMBER = re.compile(rf"(?<![\w.,])(?<![^\W\d_]-)(?P<sign>(?<![\d)])-)?(?P<digits>{_DIGITS}){_POWER}?(?![.,]?\d)")
_TEN_TO = re.compile(r"10\s?(?:\^|\*\*)\s?\{?(?P<power>[-+]?\d{1,2})\}?")
_RAISED_LOST = re.compile(r"10(?P<power>-\d{1,2})(?!\d)")  # "p < 10-5", whose exponent was raised once
_CHANCE = re.compile(r"\b[pP](?:-?values?)? ?[<=>≤≥] ?$")
_BIG = re.compile(r"\s(hundred|thousand|million|billion|trillion)\b", re.IGNORECASE)
_BIG_LETTER = re.compile(r"([kKMB])(?= [a-z]{3})")
_SCALE = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "k": 1e3, "K": 1e3}
_SCALE |= {"M": 1e6, "B": 1e9}

_COUNTS = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen twenty".split()
    )
} | {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
_PARTS = {"half": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "tenth": 10}
_FOLD_WORDS = {
    "twice": 2, "double": 2, "doubled": 2, "doubles": 2, "doubling": 2, "thrice": 3, "triple": 3, "tripled": 3,
    "triples": 3, "tripling": 3, "quadrupled": 4, "quadruple": 4,
}  # fmt: skip
_NUMBER_WORD = "|".join(sorted((*_COUNTS, "hundred", "thousand"), key=len, reverse=True))
_IN_WORDS = re.compile(
    rf"\b(?:(?P<fold>{_NUMBER_WORD})[- ]?fold"
    rf"|(?P<whole>{'|'.join(_FOLD_WORDS)})(?![- ](?:blind|strand|mutant|knock|bond|check))"
    rf"|(?:(?P<parts>an?|one|two|three|four)[- ])?(?P<part>half|halves|thirds?|quarters?|fourths?|fifths?|tenths?)"
    rf"(?= of\b|[- ](?:the|as|that)\b)"
    rf"|(?P<count>{_NUMBER_WORD})(?:-(?P<ones>one|two|three|four|five|six|seven|eight|nine))?)\b(?!-)",
    re.IGNORECASE,
)

_FOLD = re.compile(
    r"[- ]?fold\b|\s?[×x](?![\w×])|[- ]times (?=higher|lower|more|less|greater|larger|smaller|faster|slower|as |the |"
    r"better|longer|shorter|stronger|weaker)",
    re.IGNORECASE,
)
_FACTOR = re.compile(r"\bfactors? of (?:about |around )?$", re.IGNORECASE)
_MAGNITUDE = re.compile(r" orders? of magnitude\b", re.IGNORECASE)

_ABOVE = (
    r"(?:more|greater|higher|larger|longer|older|better) than|"
    r"at least|over|above|exceed\w*|no (?:less|fewer) than|minimum of|>=?|≥|≧|⩾"
)
_BELOW = (
    r"(?:less|fewer|lower|smaller|shorter|younger) than|"
    r"at most|under|below|up to|no more than|not exceeding|maximum of|within|<=?|≤|≦|⩽"
)
_BEFORE = re.compile(
    rf"(?:(?P<above>{_ABOVE})|(?P<below>{_BELOW})|(?P<about>about|around|approximately|approx\.?|roughly|nearly|almost|"
    rf"some|circa|ca\.?|close to|an estimated|~|≈|∼))\s?$",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"\s?(?:(?P<above>or (?:more|higher|above|greater|longer|over)\b|\+(?!\d))|"
    r"(?P<below>or (?:less|fewer|lower|below)\b))"
)
_TO = re.compile(r"\s?(?:-|to|and|through)\s?", re.IGNORECASE)
_BETWEEN = re.compile(r"\b(?:between|from)\s(?:about |around )?$", re.IGNORECASE)
_SPREAD = re.compile(r"\s?(?:±|\+/-|\+-)\s?\d+(?:\.\d+)?")
_NAMED = re.compile(
    r"(?<![\w-])(?P<name>[A-Za-zα-ωΑ-Ω][\w²-]{0,11}?)(?:[- ]?(?:values?|scores?|measures?))?\s?"
    r"(?:=|<|>|≤|≥|≈|~|of|was|is|at|to|reaches|reached)\s?$"
)
_NAMES = frozenset(
    "p n r r2 or hr rr auc auroc f1 f k df t z d accuracy precision recall sensitivity specificity map mrr ndcg bleu "
    "rouge kappa alpha beta bmi".split()
)

# What a number belongs to that is none of the claim's: figures, references, kinds of things, confidence levels.
_LABELLED = re.compile(
    r"\b(?:fig(?:ure|s)?\.?|tables?|tab\.|sections?|sec\.|chapter|eqs?\.?|equation|refs?\.?|appendix|algorithm|"
    r"supplementary|theorem|lemma|step|type|phase|grade|stage|class|group|level|layer|version|model|experiment|"
    r"exon|chromosome|serine|residues?|day|figs?|page|pp?\.|vol\.|no\.|chapter|line|case|study|cohort|dataset|"
    r"grant|isbn|doi|covid|panel|box|movie|video|file|question|item|cluster|area|region|task|track|semeval|conll|"
    r"muc|trec|duc|tac|subgroup)\s?#?\s?$",
    re.IGNORECASE,
)
_LEVEL = re.compile(r"\s?%?\s?(?:CIs?\b|confidence|credible|CrI)", re.IGNORECASE)
_MARKER = re.compile(
    r"\[[\d\s,;-]{1,60}\]|\(\d{1,3}(?:\s?[-,;]\s?\d{1,3}){0,20}\)|[(\[][^()\[\]]{0,120}\b(?:1[89]|20)\d\d[a-z]?[)\]]"
)
_NOUN = re.compile(r"[- ]?(?P<noun>[a-z][a-z-]{2,20})")
_DECADE = re.compile(r"'?s\b")
_STOPPED = frozenset(
    "and or of in to the with from for by at on than per as is are was were times fold that were those these which "
    "different distinct other more most further new separate independent out percent".split()
)


def quantities(text: str) -> list[Quantity]:
    """The quantities that a text states; years, citations, names with numbers and labels are none."""
    text = _RAISED.sub(lambda found: "^" + found[0].translate(_SUPERSCRIPT), text).translate(_PLAIN)
    text = _MARKER.sub(lambda found: " " * len(found[0]), text)
    found: list[tuple[int, int, Quantity]] = []
    for start, end, quantity in sorted((*_in_digits(text), *_in_words(text)), key=lambda each: each[:2]):
        if not found or start >= found[-1][1]:
            found.append((start, end, quantity))
    return [quantity for _, _, quantity in found]


def _in_digits(text: str) -> Iterator[tuple[int, int, Quantity]]:
    numbers = list(_NUMBER.finditer(text))
    taken = -1
    for at, number in enumerate(numbers):
        if number.start() < taken:
            continue
        start, end = number.start(), number.end()
        value, grain = _value(number)
        before = text[max(0, start - 40) : start]
        power = _TEN_TO.match(text, start) or (_CHANCE.search(before) and _RAISED_LOST.match(text, start)) or None
        if power is not None and number["power"] is None:
            value = grain = 10.0 ** int(power["power"])
            end = taken = power.end()
        if _LABELLED.search(before) or _LEVEL.match(text, end) or (value >= 1500 and _DECADE.match(text, end)):
            continue
        high = value
        following = next((other for other in numbers[at + 1 : at + 3] if other.start() >= end), None)
        if (second := _second(text, end, following, before)) is not None:
            high, end, grain = second
            taken = end
        if spread := _SPREAD.match(text, end):
            end = taken = spread.end()
        if big := _BIG.match(text, end) or _BIG_LETTER.match(text, end):
            factor = _SCALE[big[1] if len(big[1]) == 1 else big[1].lower()]
            value, high, grain, end = value * factor, high * factor, grain * factor, big.end()
        measured = _measure(text, end, before)
        if measured is None:
            continue
        name, size, end = measured
        if not name and _is_year(number, value, high, before):
            continue
        yield start, end, _bounded(text, start, end, (value * size, high * size), name, grain * size, before)


def _value(number: re.Match[str]) -> tuple[float, float]:
    """The value of a number, and what its last digit counts."""
    digits = number["digits"]
    if re.fullmatch(r"\d+,\d{1,2}", digits):
        digits = digits.replace(",", ".")
    digits = digits.replace(",", "")
    power = int(number["power"] or number["exponent"] or 0)
    grain = 10.0 ** (power - len(digits.partition(".")[2]))
    return float(digits) * 10.0**power * (-1 if number["sign"] else 1), grain


def _second(text: str, end: int, other: re.Match[str] | None, before: str) -> tuple[float, int, float] | None:
    """The other end of a range: "10-20", "10 to 20", "between 10 and 20"; its value, its end, its last digit."""
    if other is None:
        return None
    at = end
    if (own := UNIT.match(text, at + (text[at : at + 1] == " "))) and unit(own[0]):
        at = own.end()  # "10 mg to 20 mg"
    link = _TO.match(text, at)
    if link is None or link.end() != other.start() + bool(other["sign"] and "-" not in link[0]):
        joined = link is not None and "-" in link[0] and link.end() == other.start() + 1
        if not joined:
            return None
    if link is not None and "and" in link[0] and not _BETWEEN.search(before):
        return None
    value, grain = _value(other)
    return abs(value), other.end(), grain


def _measure(text: str, end: int, before: str) -> tuple[str, float, int] | None:
    """The unit behind a number or its name before it, its size, and where it ends; None: the number is no quantity."""
    if fold := _FOLD.match(text, end):
        return "fold", 1, fold.end()
    if _FACTOR.search(before):
        return "fold", 1, end
    if magnitude := _MAGNITUDE.match(text, end):
        return "magnitude", 1, magnitude.end()
    gap = 1 if text[end : end + 1] in (" ", "-") else 0
    if (own := UNIT.match(text, end + gap)) and (known := unit(own[0])):
        return known[0], known[1], own.end()
    if not gap and text[end : end + 1].isalpha():
        return None  # "3D", "5hmC"
    if (named := _NAMED.search(before)) and named["name"].lower().replace("²", "2") in _NAMES:
        return f"={named['name'].lower().replace('²', '2')}", 1, end
    noun = _NOUN.match(text, end)
    if noun and noun["noun"] not in _STOPPED:
        return f"#{lemma(noun['noun'])}", 1, end
    return "", 1, end


def _is_year(number: re.Match[str], value: float, high: float, before: str) -> bool:
    if _BEFORE.search(before) and not re.search(r"\b(?:over|under|within|above|below)\s?$", before):
        return False
    return "." not in number["digits"] and "," not in number["digits"] and 1500 <= value <= 2100 and high <= 2100


def _bounded(
    text: str, start: int, end: int, value: tuple[float, float], name: str, grain: float, before: str
) -> Quantity:
    low, high = min(value), max(value)
    sign = _BEFORE.search(before)
    after = _AFTER.match(text, end)
    written = " ".join(text[start:end].split())
    if after:
        written = f"{written}{after[0]}"
    if (sign and sign["above"]) or (after and after["above"]):
        high = math.inf
    elif (sign and sign["below"]) or (after and after["below"]):
        low = -math.inf
    if sign:
        written = f"{sign[0].strip()} {written}"
    return Quantity(low, high, name, written, grain, about=bool(sign and sign["about"]))


def _in_words(text: str) -> Iterator[tuple[int, int, Quantity]]:
    for found in _IN_WORDS.finditer(text):
        start, end = found.span()
        before = text[max(0, start - 40) : start]
        if found["fold"]:
            value, name = float(_counted(found["fold"])), "fold"
        elif found["whole"]:
            value, name = float(_FOLD_WORDS[found["whole"].lower()]), "fold"
        elif found["part"]:
            of = _PARTS[found["part"].lower().removesuffix("s") if found["part"].lower() != "halves" else "half"]
            value, name = (
                100
                * _counted({"a": "one", "an": "one"}.get((found["parts"] or "a").lower(), found["parts"] or "one"))
                / of,
                "%",
            )
        else:
            value = float(_counted(found["count"]) + (_counted(found["ones"]) if found["ones"] else 0))
            if value < 1 or _LABELLED.search(before):
                continue
            if big := _BIG.match(text, end):
                value, end = value * _SCALE[big[1].lower()], big.end()
            measured = _measure(text, end, "")
            if measured is None:
                continue
            name, size, end = measured
            if not name or (value == 1 and name[0] == "#"):  # "one" is a pronoun as often as a number
                continue
            value *= size
        grain = 1.0 if name != "%" or found["part"] is None else 5.0
        yield start, end, _bounded(text, start, end, (value, value), name, grain, before)


def _counted(word: str) -> int:
    word = word.lower()
    return {"hundred": 100, "thousand": 1000}.get(word) or _COUNTS[word]
