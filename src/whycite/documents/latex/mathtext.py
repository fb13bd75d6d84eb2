"""Formulas in running text: simple ones as plain characters, the rest as the word EQUATION."""

from __future__ import annotations

import re
from functools import lru_cache

from whycite.text.accents import MATH_SYMBOLS

__all__ = ["EQUATION", "displayed", "math_text"]

EQUATION = "EQUATION"
_LONGEST = 60  # characters of source; what is longer is no aside in a sentence
_LAST = re.compile(r"(?:\s|[{}]|\\(?:[,;:! ]|\\|nonumber|notag|qed)|\\(?:label|tag)\s*\{[^{}]{0,100}\})*+$")
_TOKEN = re.compile(r"\\([A-Za-z]+)(\s*)|\\(.)|([{}])|([\^_])|([A-Za-z0-9.,+\-=<>/()\[\]|!*:;%'\s°µ]|[^\x00-\x7f])")
_FONTS = frozenset(
    "mathrm mathit mathbf mathsf mathtt mathcal mathbb mathfrak mathscr text textrm textit textbf textsc rm it bf sf "
    "cal boldsymbol bm operatorname mbox hbox ensuremath left right bigl bigr big Big displaystyle textstyle limits "
    "nolimits nonumber mathstrut".split()
)
_FUNCTIONS = frozenset(
    "log ln exp sin cos tan max min arg argmax argmin lim sup inf det dim ker deg gcd Pr sinh cosh tanh mod".split()
)
_SPACES = {",": " ", ";": " ", ":": " ", " ": " ", "!": "", "%": "%", "&": "&", "$": "$", "#": "#", "_": "_"}


def displayed(tex: str) -> str:
    """What stands for a formula on lines of its own: the stop or comma in it belongs to the sentence around it."""
    tail = tex[-200:]
    stop = next((tail[match.start() - 1] for match in _LAST.finditer(tail) if match.start()), "")
    return f" {EQUATION}{stop if stop in '.,;' else ''} "


@lru_cache(maxsize=10_000)  # the same few symbols come back all over a paper
def math_text(tex: str) -> str:
    """The formula as it reads in a sentence: "n = 5", "λ", "10^-3", "CO2"; EQUATION where it is not simple."""
    if len(tex) > _LONGEST:
        return EQUATION
    parts: list[str] = []
    raised = ""
    at = 0
    while at < len(tex):
        match = _TOKEN.match(tex, at)
        if match is None:
            return EQUATION
        at = match.end()
        word, gap, symbol, brace, script, plain = match.groups()
        if script:
            raised = script
            continue
        if brace:
            continue
        if word is not None:
            piece = _word(word)
            if piece and gap and not piece.isalpha():  # a sign between two things, with space around it
                piece += " "
        elif symbol is not None:
            piece = _SPACES.get(symbol)
        else:
            piece = plain
        if piece is None:
            return EQUATION
        if raised:
            piece = _scripted(raised, piece)
            raised = ""
        parts.append(piece)
    text = " ".join("".join(parts).split())
    return text or EQUATION


def _word(word: str) -> str | None:
    if word in _FONTS:
        return ""
    if word in _FUNCTIONS:
        return word + " "
    return MATH_SYMBOLS.get(word)


def _scripted(script: str, piece: str) -> str:
    if piece.strip() in "°′″" or (script == "_" and piece.isdigit()):
        return piece.strip()
    return script + piece
