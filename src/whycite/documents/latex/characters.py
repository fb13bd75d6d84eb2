"""Control symbols, accents and formulas in running text."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from whycite.documents.latex.cursor import Frame, Range
from whycite.documents.latex.mathtext import displayed, math_text
from whycite.documents.latex.text import LatexText
from whycite.text.accents import ACCENTS, MATH_SYMBOLS, SYMBOLS, untex

if TYPE_CHECKING:
    from whycite.documents.latex.walker import Walker

__all__ = ["MARKS", "cite_inside", "read_formula", "read_letter", "read_symbol"]

_CITED = re.compile(r"\\(?!no)[a-zA-Z]{0,12}cite[a-z]{0,9}\*?(?:\[[^\]\n]{0,100}\]){0,2}\{([^{}\\]{1,500})\}")
_LINE_SPACE = re.compile(r"\s{0,20}\[\s{0,9}-?[\d.]{1,9}\s{0,9}[a-z\\]{2,20}\]")
MARKS = {"---": "—", "--": "–", "``": "“", "''": "”", "`": "‘"}
_SPACING = {
    " ": " ", ",": " ", ";": " ", ":": " ", "!": "", "/": "", "-": "", "@": "", "\n": " ", "\r": " ", "\t": " ",
    "": "", "+": "", "*": "", "<": "", ">": "", ")": "", "]": "",
}  # fmt: skip


def read_symbol(walker: Walker, frame: Frame, symbol: str, start: int) -> None:
    """A control symbol: an accent, a line end, a formula, a space, or the sign itself."""
    call = Range(frame.source, start, frame.pos)
    if symbol in ACCENTS:
        _accent(walker, call, ACCENTS[symbol])
    elif symbol == "\\":
        frame.pos += walker.peek() == "*"
        if space := _LINE_SPACE.match(frame.source.text, frame.pos, frame.end):
            frame.pos = space.end()
        walker.row(call)
    elif symbol and symbol in "([":
        close = frame.source.environment_end("\\" + symbol, start)
        if close is not None and close < frame.end:
            inside = frame.source.text[start + 2 : close]
            shown = displayed(inside) if symbol == "[" else math_text(inside)
            cite_inside(walker, frame.source, start, close)
            walker.page.put(shown, frame.source, start, close + 2)
            frame.pos = close + 2
    else:
        walker.page.put(_SPACING.get(symbol, symbol), call.source, call.start, call.end)


def read_letter(walker: Walker, call: Range, name: str) -> bool:
    """Whether a control word prints a letter or sign (`\\o`, `\\v s`, `\\alpha`), and if so, print it."""
    if name in ACCENTS and (len(name) == 1 or name == "textcommabelow"):
        _accent(walker, call, ACCENTS[name])
        return True
    symbol = SYMBOLS[name] if name in SYMBOLS else MATH_SYMBOLS.get(name)
    if symbol is not None:
        walker.page.put(symbol, call.source, call.start, call.end)
    return symbol is not None


def read_formula(walker: Walker, frame: Frame, start: int, end: int) -> None:
    """A formula between dollars; one that never ends is passed over."""
    mark = frame.source.text[start:end]
    close = _closing_dollar(frame, end, mark)
    if close is not None:
        inside = frame.source.text[end:close]
        shown = math_text(inside) if mark == "$" else displayed(inside)
        frame.pos = close + len(mark)
        walker.page.put(shown, frame.source, start, frame.pos)
        cite_inside(walker, frame.source, end, close)
    elif mark == "$":
        walker.warn(frame.source, start, "this $ is never closed")


def cite_inside(walker: Walker, source: LatexText, start: int, end: int) -> None:
    """The citations that stand in a formula: "\\text{by \\cite{a}}"."""
    for match in _CITED.finditer(source.text, start, end) if source.text.find("cite", start, end) >= 0 else ():
        keys = tuple(key.strip() for key in match[1].split(",") if key.strip())
        walker.page.cite(f"[{'; '.join(keys)}]", keys, source.file, *source.origin(*match.span()))


def _closing_dollar(frame: Frame, at: int, mark: str) -> int | None:
    text = frame.source.text
    stop = min(frame.source.paragraph_end(at), frame.end)
    while (close := text.find("$", at, stop)) >= 0:
        if (close - len(text[at:close].rstrip("\\")) - at) % 2 == 0:  # not escaped
            return close if mark == "$" or text.startswith("$$", close) else None
        at = close + 1
    return None


def _accent(walker: Walker, call: Range, combining: str) -> None:
    argument = walker.mandatory()
    if argument is None:
        return
    base = untex(argument.text)[:2] or " "
    letter = unicodedata.normalize("NFC", base[0].replace("ı", "i").replace("ȷ", "j") + combining) + base[1:]
    walker.page.put(letter.strip(), call.source, call.start, walker.end_of(call))
