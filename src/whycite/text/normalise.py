"""Text made comparable: one spelling for what can be written in several ways."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping

from whycite.text.wordlists import load_tables

__all__ = ["clean", "fold", "spell_greek"]

# Invisible characters go; quotes, dashes and slashes get one form each.
_PLAIN_SIGNS = {
    **dict.fromkeys("\u00ad\u034f\u061c\u200b\u200c\u200d\u200e\u200f\u2060\ufeff", ""),
    **dict.fromkeys("‘’‚‛`´ʹʻʼʽˈ′＇", "'"),
    **dict.fromkeys("“”„‟«»″＂", '"'),
    **dict.fromkeys("‐‑‒–—―⁃−﹘﹣－", "-"),
    **dict.fromkeys("⁄∕", "/"),
}
_TABLES = load_tables(__name__)
_PLAIN_LETTERS: dict[str, str] = _TABLES["plain_letters"]  # for letters that keep their stroke when decomposed
_ACCENTS = re.compile("[\u0300-\u036f]+")  # the block of general combining marks

_GREEK: dict[str, str] = _TABLES["greek"]
_SYMBOL = re.compile("(?<![α-ω])[α-ω]{1,2}(?![α-ω])")


def _replacer(replacements: Mapping[str, str]) -> Callable[[str], str]:
    """A function that replaces characters, faster than `str.translate` where there are few of them."""
    pattern = re.compile(f"[{re.escape(''.join(replacements))}]")
    return lambda text: pattern.sub(lambda match: replacements[match[0]], text)


_make_plain, _strip_strokes = _replacer(_PLAIN_SIGNS), _replacer(_PLAIN_LETTERS)


def clean(text: str) -> str:
    """The text with compatibility forms, quotes and dashes made plain, and without invisible or extra white space."""
    if not text.isascii():
        # Once before NFKC, which would split "´" into a space and an accent, and once after it for the rest.
        text = _make_plain(unicodedata.normalize("NFKC", _make_plain(text)))
    return " ".join(text.split())


def fold(text: str) -> str:
    """The text for matching: clean, without case, and without accents on Latin, Greek and Cyrillic letters."""
    if text.isascii():
        return " ".join(text.split()).lower()
    text = clean(text).casefold()
    if text.isascii():
        return text
    # Only general combining marks are removed: those of Indic scripts, Thai or kana are part of the letter.
    text = _strip_strokes(_ACCENTS.sub("", unicodedata.normalize("NFKD", text)))
    return " ".join(unicodedata.normalize("NFC", text).split())  # an accent without a letter leaves a space


def spell_greek(text: str, padding: str = "") -> str:
    """Folded text with Greek symbols, not words, spelled out ("β" as "beta"); `padding` goes on either side."""
    if text.isascii():
        return text
    return _SYMBOL.sub(lambda match: "".join(f"{padding}{_GREEK[letter]}{padding}" for letter in match[0]), text)
