"""TeX accents and symbols as Unicode, and `untex`, which turns a short TeX string into plain text."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from whycite.text.wordlists import load_tables

__all__ = ["ACCENTS", "MATH_SYMBOLS", "SYMBOLS", "untex"]

_TABLES = load_tables(__name__)
ACCENTS: dict[str, str] = _TABLES["accents"]  # command -> combining character for the next letter

SYMBOLS: dict[str, str] = _TABLES["symbols"]  # control word -> text outside formulas

MATH_SYMBOLS: dict[str, str] = _TABLES["math_symbols"]  # control word -> text inside formulas

_NOT_TEXT: dict[str, int] = _TABLES["not_text"]  # command -> how many of its arguments are not text
# Commands that print text before and after their argument.
_ENCLOSING = {
    "enquote": ("“", "”"),
    "mkbibquote": ("“", "”"),
    "frac": ("", "/"),
    "tfrac": ("", "/"),
    "dfrac": ("", "/"),
    "sfrac": ("", "/"),
    "nicefrac": ("", "/"),
}
_SIGNS = {  # control symbol -> text
    "\\": " ", "-": "", "/": "", ",": " ", ";": " ", ":": " ", "!": "", " ": " ", "\n": " ", "\r": " ", "\t": " ",
    ">": " ", "@": "", "+": "", "*": "", "|": "‖",
}  # fmt: skip
_LIGATURES = {"---": "—", "--": "–", "``": "“", "''": "”", "~": " ", "!`": "¡", "?`": "¿"}
_SPACING_ACCENTS = {"\u0303": "~", "\u0302": "^", "\u0300": "`", "\u0301": "'"}
_DOTLESS = {"ı": "i", "ȷ": "j"}

_TOKEN = re.compile(
    r"\\(?P<word>[a-zA-Z]+)(?P<space>\s*)|\\(?P<sign>[^a-zA-Z])|(?P<brace>[{}])|(?P<math>\$\$?)|(?P<script>[_^])"
    r"|(?P<pair>---?|``|''|~|[!?]`)|(?P<text>[^\\{}$_^~\-`'!?]+|.)",
    re.DOTALL,
)
_TEX = re.compile(r"[\\{}$~]|--|``|''|[!?]`")


def untex(text: str) -> str:
    """A short TeX string (a title, a name) as Unicode text, without markup and extra white space."""
    if _TEX.search(text):
        text = _TexReading().read(text)
    return " ".join(text.split())


@dataclass(frozen=True, slots=True)
class _TexGroup:
    """What to do when a brace closes: the text to print, and the state to return to."""

    closing: str
    muted: bool
    math: bool


class _TexReading:
    """The state of one pass over a string."""

    def __init__(self) -> None:
        self._out: list[str] = []
        self._groups: list[_TexGroup] = []
        self._accents: list[str] = []  # that wait for their letter, outermost first
        self._mute = 0  # how many more groups to skip
        self._muted = False  # inside a skipped group
        self._enclosing: tuple[str, str] | None = None
        self._math = False

    def read(self, text: str) -> str:
        for token in _TOKEN.finditer(text):
            kind, value = token.lastgroup, token.group()
            if kind == "space":
                self._word(token["word"], token["space"])
            elif kind == "sign":
                self._sign(token["sign"])
            elif kind == "brace":
                self._open() if value == "{" else self._close()
            elif kind == "math":
                self._math = not self._math
            elif kind == "script":
                self._put("" if self._math else value)
            elif kind == "pair":
                self._put(_LIGATURES[value])
            elif value != "\\":  # a backslash at the very end
                self._put(value)
        self._drop_accents()
        return "".join(self._out)

    def _word(self, word: str, space: str) -> None:
        if word in ACCENTS and (self._math or len(word) == 1 or word == "textcommabelow"):
            self._accents.append(ACCENTS[word])
        elif word in _NOT_TEXT:
            self._mute = _NOT_TEXT[word]
        elif word in _ENCLOSING:
            self._enclosing = _ENCLOSING[word]
        elif word == "ensuremath":
            self._math = True
        else:
            preferred, fallback = (MATH_SYMBOLS, SYMBOLS) if self._math else (SYMBOLS, MATH_SYMBOLS)
            symbol = preferred.get(word) or fallback.get(word, "")
            # TeX drops the space after a control word, but after a relation in a formula the text reads better with it.
            self._put(symbol + (" " if self._math and space and symbol and not symbol.isalpha() else ""))

    def _sign(self, sign: str) -> None:
        if sign in "()[]":
            self._math = sign in "(["
        elif sign in ACCENTS:
            self._accents.append(ACCENTS[sign])
        else:
            self._put(_SIGNS.get(sign, sign))

    def _open(self) -> None:
        opening, closing = self._enclosing or ("", "")
        self._enclosing = None
        self._put(opening)
        self._groups.append(_TexGroup(closing, self._muted, self._math))
        if self._mute:
            self._mute -= 1
            self._muted = True

    def _close(self) -> None:
        self._drop_accents()
        if self._groups:
            group = self._groups.pop()
            self._muted, self._math = group.muted, group.math
            self._put(group.closing)

    def _drop_accents(self) -> None:
        """Print accents that have no letter: a tilde or circumflex in an address, otherwise nothing."""
        if self._accents:
            standing = "".join(_SPACING_ACCENTS.get(accent, "") for accent in self._accents)
            self._accents.clear()
            self._put(standing)

    def _put(self, text: str) -> None:
        if self._muted or not text:
            return
        if self._accents:
            text = text.lstrip()
            if not text:
                return
            letter = _DOTLESS.get(text[0], text[0])
            text = unicodedata.normalize("NFC", letter + "".join(reversed(self._accents))) + text[1:]
            self._accents.clear()
        self._mute = 0
        self._out.append(text)
