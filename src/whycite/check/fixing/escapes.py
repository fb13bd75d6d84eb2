"""Letters as TeX writes them, for files whose encoding has no others."""

from __future__ import annotations

import unicodedata

from whycite.text.accents import ACCENTS, MATH_SYMBOLS, SYMBOLS

__all__ = ["escaped"]

_SIGNS = {
    "\u00a0": "~", "–": "{--}", "—": "{---}", "“": "{``}", "”": "{''}", "‘": "{`}", "’": "{'}", "‐": "-", "‑": "-",
    "−": "$-$", "\u2009": "~", "\u202f": "~", "\u200b": "", "\u00ad": "", "\ufeff": "",
}  # fmt: skip
_ACCENT_OF = {combining: name for name, combining in reversed(ACCENTS.items()) if len(name) == 1}
_WORD_OF = {text: name for name, text in reversed(SYMBOLS.items()) if len(text) == 1}
_MATH_OF = {text: name for name, text in reversed(MATH_SYMBOLS.items()) if len(text) == 1}
_DOTTED = {"i": r"\i", "j": r"\j"}
_ABOVE = frozenset("`'^~=.\"uvHr")


def escaped(text: str) -> str:
    """The text in ASCII; ValueError names a letter that TeX has no plain way to write."""
    return "".join(letter if letter.isascii() else _one(letter) for letter in unicodedata.normalize("NFC", text))


def _one(letter: str) -> str:
    if letter in _SIGNS:
        return _SIGNS[letter]
    if letter in _WORD_OF:
        return f"{{\\{_WORD_OF[letter]}}}"
    apart = unicodedata.normalize("NFD", letter)
    base, accents = apart[0], apart[1:]
    if base.isascii() and accents and all(accent in _ACCENT_OF for accent in accents):
        written = base
        for accent in accents:
            name = _ACCENT_OF[accent]
            inner = _DOTTED.get(written, written) if name in _ABOVE else written
            written = f"\\{name}{{{inner}}}"
        return f"{{{written}}}"
    if letter in _MATH_OF:
        return f"{{$\\{_MATH_OF[letter]}$}}"
    raise ValueError(letter)
