"""Units of measurement: what they measure, and how much of it one is."""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["UNIT", "unit"]

_PREFIXES = {"p": 1e-12, "n": 1e-9, "u": 1e-6, "m": 1e-3, "c": 1e-2, "d": 1e-1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_NAMED_PREFIXES = {
    "pico": 1e-12, "nano": 1e-9, "micro": 1e-6, "milli": 1e-3, "centi": 1e-2, "deci": 1e-1, "kilo": 1e3,
    "mega": 1e6, "giga": 1e9, "tera": 1e12,
}  # fmt: skip
# Symbols that take prefixes: their dimension and size.
_SYMBOLS: dict[str, tuple[str, float]] = {
    "g": ("mass", 1), "m": ("length", 1), "s": ("time", 1), "L": ("volume", 1), "l": ("volume", 1),
    "mol": ("amount", 1), "M": ("concentration", 1), "Hz": ("frequency", 1), "V": ("voltage", 1),
    "A": ("current", 1), "W": ("power", 1), "J": ("energy", 1), "Pa": ("pressure", 1), "N": ("force", 1),
    "Da": ("molecular mass", 1), "eV": ("energy, eV", 1), "bp": ("bases", 1), "b": ("bases", 1),
    "B": ("bytes", 1), "cal": ("heat", 1), "Gy": ("dose", 1), "Sv": ("dose, Sv", 1), "T": ("field", 1),
    "F": ("capacitance", 1), "S": ("conductance", 1), "Bq": ("activity", 1), "U": ("enzyme", 1), "pc": ("parsec", 1),
    "W·h": ("energy, Wh", 1), "Wh": ("energy, Wh", 1), "Ω": ("resistance", 1), "bar": ("pressure", 1e5),
}  # fmt: skip
# Symbols and abbreviations that take none.
_ALONE: dict[str, tuple[str, float]] = {
    "%": ("%", 1), "‰": ("%", 0.1), "pp": ("percentage points", 1), "min": ("time", 60), "h": ("time", 3600),
    "hr": ("time", 3600), "hrs": ("time", 3600), "sec": ("time", 1), "secs": ("time", 1), "mins": ("time", 60),
    "d": ("time", 86400), "dpi": ("time", 86400), "dpc": ("time", 86400), "hpi": ("time", 3600),
    "yr": ("time", 31557600), "yrs": ("time", 31557600), "y": ("time", 31557600),
    "°C": ("°C", 1), "°F": ("°F", 1), "K": ("K", 1), "°": ("angle", 1), "Å": ("length", 1e-10), "ha": ("area", 1e4),
    "mmHg": ("mmHg", 1), "rpm": ("rotation", 1), "dB": ("dB", 1), "ppm": ("ppm", 1), "ppb": ("ppm", 1e-3),
    "IU": ("IU", 1), "m2": ("area", 1), "cm2": ("area", 1e-4), "mm2": ("area", 1e-6), "km2": ("area", 1e6),
    "m3": ("volume", 1000), "cm3": ("volume", 1e-3), "mm3": ("volume", 1e-6), "cc": ("volume", 1e-3),
    "dl": ("volume", 0.1), "dL": ("volume", 0.1),
}  # fmt: skip
# Names in the singular; those of the first line take named prefixes.
_NAMES: dict[str, tuple[str, float]] = {
    "gram": ("mass", 1), "meter": ("length", 1), "metre": ("length", 1), "liter": ("volume", 1),
    "litre": ("volume", 1), "second": ("time", 1), "molar": ("concentration", 1), "mole": ("amount", 1),
    "hertz": ("frequency", 1), "volt": ("voltage", 1), "watt": ("power", 1), "joule": ("energy", 1),
    "dalton": ("molecular mass", 1), "byte": ("bytes", 1), "base": ("bases", 1), "calorie": ("heat", 1),
    "percent": ("%", 1), "per cent": ("%", 1), "percentage point": ("percentage points", 1),
    "percent point": ("percentage points", 1), "minute": ("time", 60), "hour": ("time", 3600),
    "day": ("time", 86400), "week": ("time", 604800), "month": ("time", 2629800), "year": ("time", 31557600),
    "decade": ("time", 315576000), "tonne": ("mass", 1e6), "ton": ("mass", 1e6), "mile": ("length", 1609.344),
    "inch": ("length", 0.0254), "foot": ("length", 0.3048), "degree celsius": ("°C", 1), "degree": ("angle", 1),
    "base pair": ("bases", 1),
}  # fmt: skip

_LETTERS = r"[A-Za-zµμΩÅ°%‰][A-Za-z·]{0,5}[23]?"
UNIT = re.compile(
    r"percentage points?|percent points?|per ?cent|degrees? celsius|base pairs?|"
    rf"(?P<symbol>°[CF]|{_LETTERS}(?:/{_LETTERS}){{0,2}}(?![A-Za-z]))|[A-Za-z]{{3,14}}",
    re.IGNORECASE,
)


def unit(text: str) -> tuple[str, float] | None:
    """The dimension and size of a unit ("mg", "mg/kg", "hours", "%"), or None where the text is none."""
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
    if text in _ALONE:
        return _ALONE[text]
    if text in _SYMBOLS:
        return _SYMBOLS[text]
    if text[1:] in _SYMBOLS and text[0] in _PREFIXES:
        dimension, size = _SYMBOLS[text[1:]]
        return dimension, size * _PREFIXES[text[0]]
    return _named(" ".join(text.lower().split()))


def _named(name: str) -> tuple[str, float] | None:
    name = {"feet": "foot", "inches": "inch", "percents": "percent"}.get(name, name)
    singular = name.replace("degrees ", "degree ").removesuffix("s") if name not in _NAMES else name
    if singular in _NAMES:
        return _NAMES[singular]
    for prefix, factor in _NAMED_PREFIXES.items():
        if singular.startswith(prefix) and singular[len(prefix) :] in _NAMES:
            dimension, size = _NAMES[singular[len(prefix) :]]
            return dimension, size * factor
    return None
