"""The quantities in a sentence: numbers in digits or words, with their units, bounds and ranges."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from whycite.text.tokens import lemma
from whycite.text.wordlists import load_words

__all__ = ["UNIT", "Quantity", "quantities", "unit"]


_PREFIXES = {"p": 1e-12, "n": 1e-9, "u": 1e-6, "m": 1e-3, "c": 1e-2, "d": 1e-1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_NAMED_PREFIXES = {
    "pico": 1e-12, "nano": 1e-9, "micro": 1e-6, "milli": 1e-3, "centi": 1e-2, "deci": 1e-1, "kilo": 1e3,
    "mega": 1e6, "giga": 1e9, "tera": 1e12,
}  # fmt: skip
_LETTERS = r"[A-Za-zµμΩÅ°%‰][A-Za-z·]{0,5}[23]?"
UNIT = re.compile(
    r"percentage points?|percent points?|per ?cent|degrees? celsius|base pairs?|"
    rf"(?P<symbol>°[CF]|{_LETTERS}(?:/{_LETTERS}){{0,2}}(?![A-Za-z]))|[A-Za-z]{{3,14}}",
    re.IGNORECASE,
)


def unit(text: str) -> tuple[str, float] | None:
    """The dimension and size of a unit ("mg", "mg/kg", "hours", "%"); None if the text is not a unit."""
    return _unit(text.replace("µ", "u").replace("μ", "u"))


@lru_cache(maxsize=4096)
def _unit(text: str) -> tuple[str, float] | None:
    if "/" in text:
        above, *below = [_unit(part) for part in text.split("/")]
        if above is None or None in below:
            return None
        dimension, size = above
        for part in below:
            if part is not None:
                dimension, size = f"{dimension}/{part[0]}", size / part[1]
        return dimension, size
    if text in (plain := _units("plain")):
        return plain[text]
    if text in (symbols := _units("symbols")):
        return symbols[text]
    if text[1:] in symbols and text[0] in _PREFIXES:
        dimension, size = symbols[text[1:]]
        return dimension, size * _PREFIXES[text[0]]
    return _unit_by_name(" ".join(text.lower().split()))


def _unit_by_name(name: str) -> tuple[str, float] | None:
    names = _units("names")
    name = {"feet": "foot", "inches": "inch", "percents": "percent"}.get(name, name)
    singular = name.replace("degrees ", "degree ").removesuffix("s") if name not in names else name
    if singular in names:
        return names[singular]
    for prefix, factor in _NAMED_PREFIXES.items():
        if singular.startswith(prefix) and singular[len(prefix) :] in names:
            dimension, size = names[singular[len(prefix) :]]
            return dimension, size * factor
    return None


@cache
def _units(table: str) -> dict[str, tuple[str, float]]:
    """The units in a table of `data/units.toml`, each with its dimension and size."""
    return {name: (dimension, size) for name, (dimension, size) in _unit_tables()[table].items()}


@cache
def _unit_tables() -> dict[str, dict[str, Any]]:
    return tomllib.loads(files("whycite.verify").joinpath("data", "units.toml").read_text("utf-8"))


_CURRENCY_BEFORE = re.compile(r"(?<![A-Za-z])(?P<name>[A-Z]{0,3}[$€£¥]|[A-Z]{3}) ?$")
_CURRENCY_AFTER = re.compile(r" ?(?P<name>[$€£¥]|[A-Z]{3}\b)")


def _money(text: str, start: int, end: int) -> tuple[str, int, int] | None:
    """The currency of the number in a place, and where the sum with its sign or code begins and ends."""
    names = _unit_tables()["currencies"]
    before = _CURRENCY_BEFORE.search(text, max(0, start - _LEFT_CONTEXT), start)
    if before and (name := names.get(before["name"])):
        return f"#{name}", before.start(), end
    after = _CURRENCY_AFTER.match(text, end)
    if after and (name := names.get(after["name"])):
        return f"#{name}", start, after.end()
    return None


@dataclass(frozen=True, slots=True)
class Quantity:
    """A quantity from `low` to `high`: equal for a plain number, one infinite for a bound."""

    low: float
    high: float
    unit: str  # "%", "fold", a dimension, "#noun" for what is counted, "=name" for what is measured, "" for none
    text: str  # as written
    grain: float  # the value of one in the last digit
    about: bool = False  # given as approximate


_SUPERSCRIPT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_RAISED = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]+")
_PLAIN = str.maketrans({"−": "-", "‐": "-", "‑": "-", "–": "-", "—": "-", "\u00a0": " ", "\u2009": " ", "\u202f": " "})

_DIGITS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+|\d+,\d{1,2}(?=\s?%)|\d+|\.\d+"
_POWER = r"(?:\s?[×x*·]\s?10\s?(?:\^|\*\*)?\s?\{?(?P<power>[-+]?\d{1,2})\}?(?!\d)|[eE](?P<exponent>[-+]?\d{1,2})(?!\w))"
# A number that is not part of a name (IL-6, p53, H3K27, COVID-19) or of a longer number.
_NUMBER = re.compile(rf"(?<![\w.,])(?<![^\W\d_]-)(?P<sign>(?<![\d)])-)?(?P<digits>{_DIGITS}){_POWER}?(?![.,]?\d)")
_TEN_TO = re.compile(r"10\s?(?:\^|\*\*)\s?\{?(?P<power>[-+]?\d{1,2})\}?")
_RAISED_LOST = re.compile(r"10(?P<power>-\d{1,2})(?!\d)")  # "p < 10-5", which has lost its superscript
_CHANCE = re.compile(r"\b[pP](?:-?values?)? ?[<=>≤≥] ?$")
_BIG = re.compile(r"\s(dozen|hundred|thousand|million|billion|trillion)\b", re.IGNORECASE)
_BIG_LETTER = re.compile(r"([kKMB])(?= [a-z]{3})")
_SCALE = {"dozen": 12.0, "hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
_SCALE |= {"k": 1e3, "K": 1e3, "M": 1e6, "B": 1e9}

_COUNTS = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen twenty".split()
    )
} | {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
_PARTS = {
    "half": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8,
    "ninth": 9, "tenth": 10, "twentieth": 20, "hundredth": 100, "thousandth": 1000,
}  # fmt: skip
_PART = "|".join(f"{name}s?" for name in _PARTS)
_FOLD_WORDS = {
    "twice": 2, "double": 2, "doubled": 2, "doubles": 2, "doubling": 2, "thrice": 3, "triple": 3, "tripled": 3,
    "triples": 3, "tripling": 3, "quadrupled": 4, "quadruple": 4,
}  # fmt: skip
_NUMBER_WORD = "|".join(sorted((*_COUNTS, "hundred", "thousand"), key=len, reverse=True))
_IN_WORDS = re.compile(
    rf"\b(?:(?P<fold>{_NUMBER_WORD})[- ]?fold"
    rf"|(?P<whole>{'|'.join(_FOLD_WORDS)})(?![- ](?:blind|strand|mutant|knock|bond|check))"
    rf"|(?P<halved>halved|halves|halving)(?! of\b)"
    rf"|(?:(?P<parts>an?|one|two|three|four|five|nine)[- ])?(?P<part>{_PART})"
    rf"(?:(?= of\b|[- ](?:the|as|that|an?)\b)|(?P<bare>(?![\w-])))"
    rf"|(?P<count>{_NUMBER_WORD})(?:-(?P<ones>one|two|three|four|five|six|seven|eight|nine))?)\b(?!-)",
    re.IGNORECASE,
)
_LATER_WORD = re.compile(rf" (?:to|or) (?P<count>{'|'.join(_COUNTS)})\b(?!-)", re.IGNORECASE)  # "two to three"
# "four in five", "nine out of ten", "1 in 1,000": a share. "4 in 12" may be anything.
_SHARE = re.compile(
    rf"(?<!-)\b(?P<some>{_NUMBER_WORD}|(?<![\d.,])\d{{1,2}}) (?:in|out of)(?: every)? (?:an? |one )?"
    rf"(?P<all>{_NUMBER_WORD}|(?:[2-9]|10{{0,2}}(?:,000){{1,2}}|10{{1,6}})(?![\d.,\s]?\d))\b"
    r"(?!-\w)(?! (?:hundred|thousand|[mb]illion)\b)",
    re.IGNORECASE,
)
# "Two in three dimensions" are two, and not two thirds of the dimensions.
_IN_PLACE = re.compile(
    r" (?:[a-z]+[- ])?(?:dimension|direction|ax[ei]|plane|half|halve|part|step|stage|way|aspect|respect)s?\b",
    re.IGNORECASE,
)
_OF_COUNTED = re.compile(
    rf" of (?:all |the |these |those |our |their |its )*(?:{_NUMBER_WORD}|\d{{1,4}})(?=[- ][a-z])", re.IGNORECASE
)
_MAX_OF_COUNTED = 10  # larger numbers say enough without what they count

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
_PREFIX = re.compile(
    rf"(?:(?P<above>{_ABOVE})|(?P<below>{_BELOW})|(?P<about>about|around|approximately|approx\.?|roughly|nearly|almost|"
    rf"some|circa|ca\.?|close to|an estimated|~|≈|∼))\s?$",
    re.IGNORECASE,
)
_SUFFIX = re.compile(
    r"\s?(?:(?P<above>or (?:more|higher|above|greater|longer|over)\b|\+(?!\d))|"
    r"(?P<below>or (?:less|fewer|lower|below)\b))"
)
_TO = re.compile(r"\s?(?:-|to|and|through)\s?", re.IGNORECASE)
_RANGE_START = re.compile(r"\b(?:between|from)\s(?:about |around )?$", re.IGNORECASE)
_SPREAD = re.compile(r"\s?(?:±|\+/-|\+-)\s?\d+(?:\.\d+)?")
_MEASURE_NAME = re.compile(
    r"(?<![\w-])(?P<name>[A-Za-zα-ωΑ-Ω][\w²-]{0,11}?)(?:[- ]?(?:values?|scores?|measures?))?\s?"
    r"(?:=|<|>|≤|≥|≈|~|of|was|is|at|to|reaches|reached)\s?$"
)
_MEASURE_NAMES = load_words("whycite.verify", "measures")

# A number after one of these is a label, and a confidence level says nothing about what is measured.
_LABELLED = re.compile(
    rf"\b(?:{'|'.join(map(re.escape, sorted(load_words('whycite.verify', 'labels'))))})\s?#?\s?$", re.IGNORECASE
)
_LEVEL = re.compile(r"\s?%?\s?(?:CIs?\b|confidence|credible|CrI)", re.IGNORECASE)
_MARKER = re.compile(
    r"\[[\d\s,;-]{1,60}\]|\(\d{1,3}(?:\s?[-,;]\s?\d{1,3}){0,20}\)|[(\[][^()\[\]]{0,120}\b(?:1[89]|20)\d\d[a-z]?[)\]]"
)
_NOUN = re.compile(r"[- ]?(?P<noun>[a-z][a-z-]{2,20})")
_DECADE = re.compile(r"'?s\b")
_YEARS = range(1500, 2101)  # bare whole numbers in it are taken for years
_LEFT_CONTEXT = 40  # characters before a number that may bound or label it
_FRACTION_GRAIN = 5.0  # per cent: "a third" is anything near 33 %
_SHARE_GRAIN = 0.25  # of a small share: "one in a hundred" is 0.9 %, but not 2 %
_OF_ONE = re.compile(r" (?:of )?an? ")  # "a tenth of a millimetre", "half an hour"
_BY = re.compile(r"\bby (?:an? )?$")
_ONE_OF_TWO = re.compile(r"\b(?:first|second|other|latter|former|upper|lower|left|right)[ -]$", re.IGNORECASE)
_NOT_COUNTED = load_words("whycite.verify", "uncounted")


def quantities(text: str) -> list[Quantity]:
    """The quantities in a text; years, citations, names with numbers and labels do not count."""
    text = _RAISED.sub(lambda match: "^" + match[0].translate(_SUPERSCRIPT), text).translate(_PLAIN)
    text = _MARKER.sub(lambda match: " " * len(match[0]), text)
    occurrences: list[tuple[int, int, Quantity]] = []
    both = [*_in_digits(text), *_in_words(text)]
    for start, end, quantity in sorted(both, key=lambda occurrence: (occurrence[0], -occurrence[1])):
        if not occurrences or start >= occurrences[-1][1]:
            occurrences.append((start, end, quantity))
    return [quantity for _, _, quantity in occurrences]


def _in_digits(text: str) -> Iterator[tuple[int, int, Quantity]]:
    numbers = list(_NUMBER.finditer(text))
    covered_end = -1
    for index, number in enumerate(numbers):
        if number.start() < covered_end:
            continue
        start, end = number.start(), number.end()
        value, grain = _value(number)
        left_text = text[max(0, start - _LEFT_CONTEXT) : start]
        power = _TEN_TO.match(text, start) or (_CHANCE.search(left_text) and _RAISED_LOST.match(text, start)) or None
        if power is not None and number["power"] is None:
            value = grain = 10.0 ** int(power["power"])
            end = covered_end = power.end()
        if (
            _LABELLED.search(left_text)
            or _LEVEL.match(text, end)
            or (value >= _YEARS.start and _DECADE.match(text, end))
        ):
            continue
        high = value
        following = next((candidate for candidate in numbers[index + 1 : index + 3] if candidate.start() >= end), None)
        if (second := _range_end(text, end, following, left_text)) is not None:
            high, end, grain = second
            covered_end = end
        if spread := _SPREAD.match(text, end):
            end = covered_end = spread.end()
        if big := _BIG.match(text, end) or _BIG_LETTER.match(text, end):
            factor = _SCALE[big[1] if len(big[1]) == 1 else big[1].lower()]
            value, high, grain, end = value * factor, high * factor, grain * factor, big.end()
        measured: tuple[str, float, int] | None
        if money := _money(text, start, end):
            currency, start, end = money
            left_text = text[max(0, start - _LEFT_CONTEXT) : start]
            measured = currency, 1, end
        else:
            measured = _measure(text, end, left_text)
        if measured is None:
            continue
        name, size, end = measured
        if not name and _is_year(number, value, high, left_text):
            continue
        bounds = (value * size, high * size)
        written_end = end
        if not name and value <= _MAX_OF_COUNTED:
            name, written_end = _of_counted(text, end)
        yield start, end, _bounded(text, start, written_end, bounds, name, grain * size, left_text)


def _value(number: re.Match[str]) -> tuple[float, float]:
    """The value of a number, and of one in its last digit."""
    digits = number["digits"]
    if re.fullmatch(r"\d+,\d{1,2}", digits):
        digits = digits.replace(",", ".")
    digits = digits.replace(",", "")
    power = int(number["power"] or number["exponent"] or 0)
    grain = 10.0 ** (power - len(digits.partition(".")[2]))
    return float(digits) * 10.0**power * (-1 if number["sign"] else 1), grain


def _range_end(text: str, end: int, number: re.Match[str] | None, left_text: str) -> tuple[float, int, float] | None:
    """The upper end of "10-20", "10 to 20" or "between 10 and 20": its value, where it ends, and its grain."""
    if number is None:
        return None
    position = end
    if (unit_match := UNIT.match(text, position + (text[position : position + 1] == " "))) and unit(unit_match[0]):
        position = unit_match.end()  # "10 mg to 20 mg"
    link = _TO.match(text, position)
    if link is None or link.end() != number.start() + bool(number["sign"] and "-" not in link[0]):
        joined = link is not None and "-" in link[0] and link.end() == number.start() + 1
        if not joined:
            return None
    if link is not None and "and" in link[0] and not _RANGE_START.search(left_text):
        return None
    value, grain = _value(number)
    return abs(value), number.end(), grain


def _measure(text: str, end: int, left_text: str) -> tuple[str, float, int] | None:
    """The unit after a number or the measure before it, its size, and where it ends; None if it is no quantity."""
    if fold := _FOLD.match(text, end):
        return "fold", 1, fold.end()
    if _FACTOR.search(left_text):
        return "fold", 1, end
    if magnitude := _MAGNITUDE.match(text, end):
        return "magnitude", 1, magnitude.end()
    gap = 1 if text[end : end + 1] in (" ", "-") else 0
    if measured := _unit_at(text, end + gap):
        return measured
    if not gap and text[end : end + 1].isalpha():
        return None  # "3D", "5hmC"
    if (name_match := _MEASURE_NAME.search(left_text)) and name_match["name"].lower().replace(
        "²", "2"
    ) in _MEASURE_NAMES:
        return f"={name_match['name'].lower().replace('²', '2')}", 1, end
    noun = _NOUN.match(text, end)
    if noun and noun["noun"] not in _NOT_COUNTED:
        return f"#{lemma(noun['noun'])}", 1, end
    return "", 1, end


def _unit_at(text: str, start: int) -> tuple[str, float, int] | None:
    """The dimension and size of the unit that begins at a place, and where it ends."""
    if (unit_match := UNIT.match(text, start)) and (measure := unit(unit_match[0])):
        return *measure, unit_match.end()
    return None


def _is_year(number: re.Match[str], value: float, high: float, left_text: str) -> bool:
    if _PREFIX.search(left_text) and not re.search(r"\b(?:over|under|within|above|below)\s?$", left_text):
        return False
    return (
        "." not in number["digits"]
        and "," not in number["digits"]
        and _YEARS.start <= value <= _YEARS[-1]
        and high <= _YEARS[-1]
    )


def _bounded(
    text: str, start: int, end: int, value: tuple[float, float], name: str, grain: float, left_text: str
) -> Quantity:
    low, high = min(value), max(value)
    sign = _PREFIX.search(left_text)
    suffix = _SUFFIX.match(text, end)
    written = " ".join(text[start:end].split())
    if suffix:
        written = f"{written}{suffix[0]}"
    if (sign and sign["above"]) or (suffix and suffix["above"]):
        high = math.inf
    elif (sign and sign["below"]) or (suffix and suffix["below"]):
        low = -math.inf
    if sign:
        written = f"{sign[0].strip()} {written}"
    return Quantity(low, high, name, written, grain, about=bool(sign and sign["about"]))


def _in_words(text: str) -> Iterator[tuple[int, int, Quantity]]:
    for match in _SHARE.finditer(text):
        left_text = text[max(0, match.start() - _LEFT_CONTEXT) : match.start()]
        some, whole = _counted(match["some"]), _counted(match["all"])
        if " in " in match[0].lower() and _IN_PLACE.match(text, match.end()):
            continue
        if 0 < some < whole and not _LABELLED.search(left_text) and not _unit_at(text, match.end() + 1):
            share = 100 * some / whole
            grain = min(_FRACTION_GRAIN, _SHARE_GRAIN * share)
            yield (*match.span(), _bounded(text, *match.span(), (share, share), "%", grain, left_text))
    for match in _IN_WORDS.finditer(text):
        start, end = match.span()
        written_end, high = end, 0.0
        left_text = text[max(0, start - _LEFT_CONTEXT) : start]
        if match["halved"]:
            value, name = 50.0, "%"
        elif match["fold"]:
            value, name = float(_counted(match["fold"])), "fold"
        elif match["whole"]:
            value, name = float(_FOLD_WORDS[match["whole"].lower()]), "fold"
        elif match["part"]:
            if not _is_part(match, left_text):
                continue
            share = _counted(match["parts"] or "one") / _PARTS[match["part"].lower().removesuffix("s")]
            if of_one := _OF_ONE.match(text, end):
                measured = _unit_at(text, of_one.end())
                if measured is not None:
                    name, size, end = measured
                    value = share * size
                    yield start, end, _bounded(text, start, end, (value, value), name, value / 10, left_text)
                if measured is not None or " of" not in of_one[0]:
                    continue  # "half a dozen"
            value, name = 100 * share, "%"
        else:
            value = float(_counted(match["count"]) + (_counted(match["ones"]) if match["ones"] else 0))
            if value < 1 or _LABELLED.search(left_text):
                continue
            second = None if left_text.endswith("from ") else _LATER_WORD.match(text, end)  # a change, not a range
            if second and match["count"].lower() in _COUNTS and _counted(second["count"]) > value:
                high, end = float(_counted(second["count"])), second.end()
            if big := _BIG.match(text, end):
                value, high, end = value * _SCALE[big[1].lower()], high * _SCALE[big[1].lower()], big.end()
            measured = _measure(text, end, "")
            if measured is None:
                continue
            name, size, end = measured
            if not name and value <= _MAX_OF_COUNTED:
                name, written_end = _of_counted(text, end)
            if not name or (value == 1 and name[0] == "#"):  # "one" is a pronoun as often as a number
                continue
            value, high = value * size, high * size
        grain = _FRACTION_GRAIN if name == "%" and (match["part"] or match["halved"]) else 1.0
        yield start, end, _bounded(text, start, max(end, written_end), (value, high or value), name, grain, left_text)


def _of_counted(text: str, end: int) -> tuple[str, int]:
    """What is counted in "two of the three trials", after "two", and where "three" ends."""
    if (whole := _OF_COUNTED.match(text, end)) and (measured := _measure(text, whole.end(), "")):
        name, _, _ = measured
        if name.startswith("#"):
            return name, whole.end()
    return "", end


def _is_part(match: re.Match[str], left_text: str) -> bool:
    """Whether a word is a fraction: "a third of", "more than half", but not "the third of" or "the top half"."""
    if match["parts"] is None and (match["part"].lower() != "half" or _ONE_OF_TWO.search(left_text)):
        return False
    return match["bare"] is None or bool(_PREFIX.search(left_text) or _BY.search(left_text))


def _counted(word: str) -> int:
    word = word.lower().replace(",", "")
    if word.isdecimal():
        return int(word)
    return {"a": 1, "an": 1, "hundred": 100, "thousand": 1000}.get(word) or _COUNTS[word]
