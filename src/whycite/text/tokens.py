"""Tokens: words as written, terms for matching, singulars by rule, and text made comparable: one spelling for all."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping

from whycite.text.wordlists import load_tables

__all__ = ["clean", "fold", "lemma", "spell_greek", "squeeze", "terms", "words"]

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


_IRREGULAR: dict[str, str] = _TABLES["irregular"]
# Words that end like a plural but are not one.
_SINGULAR = frozenset("always alias atlas bayes bias canvas chaos gas has lens means news perhaps was".split())
_SINGULAR_ENDINGS = ("ss", "us", "is", "ics")


def lemma(word: str) -> str:
    """The singular of a lower-case noun; any other word comes back unchanged, or nearly."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) < 4 or not word.endswith("s") or word in _SINGULAR or word.endswith(_SINGULAR_ENDINGS):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("yses", "eses")):  # analyses, hypotheses
        return word[:-2] + "is"
    if word.endswith(("sses", "xes", "ches", "shes", "oes")):
        return word[:-2]
    return word[:-1]


# Letters and digits, joined by hyphens, apostrophes and the points and commas of numbers. Each repetition starts with
# a separator, so matching takes linear time.
_WORD = re.compile(r"[^\W_]+(?:(?:[-‐‑'’]|(?<=\d)[.,](?=\d))[^\W_]+)*|\S")
_TERM = re.compile(r"[^\W_]+(?:(?<=\d)\.(?=\d)[^\W_]+)*")

_NAME_NUMBER = re.compile(r"(?<=[A-Z])-(?=\d)")
_MICRO = re.compile(r"μ(?=[a-zA-Z])")
_POSSESSIVE = re.compile(r"'s?(?![^\W_])|'(?=[^\W_])")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_ASCII_SIGNS = bytes(code for code in range(128) if not chr(code).isalnum())


def words(text: str) -> list[str]:
    """The words in their case, unstemmed, with every other sign as its own token (as ILCiteR counts tokens)."""
    return _WORD.findall(text)


def terms(text: str) -> list[str]:
    """The words and numbers for matching: no case, accents or punctuation; "IL-6" and "IL6" are one term.

    Parts of hyphenated words are separate terms, and so are Greek letters, by name: "TNFα" equals "TNF-alpha".
    """
    text = clean(text)
    # Most texts have few of these signs, and looking for them is faster than replacing them.
    if "-" in text:
        text = _NAME_NUMBER.sub("", text)
    if "μ" in text:
        text = _MICRO.sub("u", text)
    text = spell_greek(fold(text), padding=" ")
    if "'" in text:
        text = _POSSESSIVE.sub("", text)
    if "," in text:
        text = _THOUSANDS.sub("", text)
    return _TERM.findall(text)


def squeeze(text: str) -> bytes | None:
    """The letters and digits of a text, which include every one of its terms without points, to rule terms out fast.

    None if only `terms` can tell: with accents, Greek letters or apostrophes, terms are not what is written.
    """
    return None if "'" in text or not text.isascii() else text.encode().lower().translate(None, _ASCII_SIGNS)
