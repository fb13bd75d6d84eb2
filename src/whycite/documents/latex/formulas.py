"""Formulas, units, accents and control symbols as they read in running text."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

from whycite.documents.latex.cursor import LatexFrame, LatexRange, LatexText
from whycite.documents.markup import EQUATION
from whycite.text.accents import ACCENTS, MATH_SYMBOLS, SYMBOLS, untex
from whycite.text.wordlists import load_tables

if TYPE_CHECKING:
    from whycite.documents.latex.walker import LatexWalker

__all__ = [
    "DASHES_AND_QUOTES",
    "QUANTITIES",
    "cite_in_formula",
    "display_text",
    "math_text",
    "read_formula",
    "read_letter",
    "read_symbol",
    "unit_text",
]


_MAX_FORMULA_LENGTH = 60  # characters of source; a longer formula does not read as part of a sentence
_MAX_FORMULA_END = 200  # characters of labels, spacing and the like after the last sign of a formula
_FORMULA_END = re.compile(r"(?:\s|[{}]|\\(?:[,;:! ]|\\|nonumber|notag|qed)|\\(?:label|tag)\s*\{[^{}]{0,100}\})*+$")
_MATH_TOKEN = re.compile(
    r"\\([A-Za-z]+)(\s*)|\\(.)|([{}])|([\^_])|([A-Za-z0-9.,+\-=<>/()\[\]|!*:;%'\s°µ]|[^\x00-\x7f])"
)
_TABLES = load_tables(__name__)
_FONTS = frozenset(_TABLES["fonts"].split())  # commands that change the look, not what is said
_FUNCTIONS = frozenset(_TABLES["functions"].split())  # commands that print their own name
_SPACES = {",": " ", ";": " ", ":": " ", " ": " ", "!": "", "%": "%", "&": "&", "$": "$", "#": "#", "_": "_"}


def display_text(tex: str) -> str:
    """The placeholder for a displayed formula, with its final stop or comma, which belongs to the sentence."""
    tail = tex[-_MAX_FORMULA_END:]
    stop = next((tail[match.start() - 1] for match in _FORMULA_END.finditer(tail) if match.start()), "")
    return f" {EQUATION}{stop if stop in '.,;' else ''} "


@lru_cache(maxsize=10_000)  # the same few symbols recur throughout a paper
def math_text(tex: str) -> str:
    """The formula as it reads in a sentence: "n = 5", "λ", "10^-3", "CO2"; EQUATION if it is not simple."""
    if len(tex) > _MAX_FORMULA_LENGTH:
        return EQUATION
    parts: list[str] = []
    pending_script = ""
    position = 0
    while position < len(tex):
        match = _MATH_TOKEN.match(tex, position)
        if match is None:
            return EQUATION
        position = match.end()
        word, gap, symbol, brace, script, plain = match.groups()
        if script:
            pending_script = script
            continue
        if brace:
            continue
        if word is not None:
            piece = _word_text(word)
            if piece and gap and not piece.isalpha():  # an operator with space around it
                piece += " "
        elif symbol is not None:
            piece = _SPACES.get(symbol)
        else:
            piece = plain
        if piece is None:
            return EQUATION
        if pending_script:
            piece = _script_text(pending_script, piece)
            pending_script = ""
        parts.append(piece)
    text = " ".join("".join(parts).split())
    return text or EQUATION


def _word_text(word: str) -> str | None:
    if word in _FONTS:
        return ""
    if word in _FUNCTIONS:
        return word + " "
    return MATH_SYMBOLS.get(word)


def _script_text(script: str, piece: str) -> str:
    if piece.strip() in "°′″" or (script == "_" and piece.isdigit()):
        return piece.strip()
    return script + piece


# siunitx: command -> its arguments (n a number, u a unit, o options), and how they are printed.
QUANTITIES = {
    "SI": ("onou", "{0} {1}"),
    "qty": ("onu", "{0} {1}"),
    "SIrange": ("onnu", "{0} to {1} {2}"),
    "qtyrange": ("onnu", "{0} to {1} {2}"),
    "SIlist": ("onu", "{0} {1}"),
    "qtylist": ("onu", "{0} {1}"),
    "num": ("on", "{0}"),
    "numrange": ("onn", "{0} to {1}"),
    "numlist": ("on", "{0}"),
    "ang": ("on", "{0}°"),
    "si": ("ou", "{0}"),
    "unit": ("ou", "{0}"),
}
_UNIT_SYMBOLS: dict[str, str] = _TABLES["unit_symbols"]
_UNIT_PREFIXES = frozenset(_TABLES["unit_prefixes"].split())
_UNIT_WORD = re.compile(r"\\([A-Za-z]+)|([^\\])")


def unit_text(tex: str) -> str:
    """A unit such as `\\micro\\metre\\per\\second` as it is printed: µm/s."""
    parts: list[str] = []
    glue = True
    for match in _UNIT_WORD.finditer(tex):
        word, plain = match.groups()
        if plain is not None:
            parts.append({"~": " ", ".": " ", "{": "", "}": ""}.get(plain, plain))
            glue = True
        elif word == "per":
            parts.append("/")
            glue = True
        else:
            symbol = _UNIT_SYMBOLS.get(word, word)
            parts.append(symbol if glue or symbol[0] == "^" else " " + symbol)
            glue = word in _UNIT_PREFIXES
    return "".join(parts)


_CITE_COMMAND = re.compile(r"\\(?!no)[a-zA-Z]{0,12}cite[a-z]{0,9}\*?(?:\[[^\]\n]{0,100}\]){0,2}\{([^{}\\]{1,500})\}")
_LINE_SPACE = re.compile(r"\s{0,20}\[\s{0,9}-?[\d.]{1,9}\s{0,9}[a-z\\]{2,20}\]")
DASHES_AND_QUOTES = {"---": "—", "--": "–", "``": "“", "''": "”", "`": "‘"}
_SPACING = {  # control symbols that print a space or nothing
    " ": " ", ",": " ", ";": " ", ":": " ", "!": "", "/": "", "-": "", "@": "", "\n": " ", "\r": " ", "\t": " ",
    "": "", "+": "", "*": "", "<": "", ">": "", ")": "", "]": "",
}  # fmt: skip


def read_symbol(walker: LatexWalker, frame: LatexFrame, symbol: str, start: int) -> None:
    """A control symbol: an accent, a line end, a formula, a space, or the sign itself."""
    call = LatexRange(frame.source, start, frame.pos)
    if symbol in ACCENTS:
        _put_accent(walker, call, ACCENTS[symbol])
    elif symbol == "\\":
        frame.pos += walker.peek() == "*"
        if space := _LINE_SPACE.match(frame.source.text, frame.pos, frame.end):
            frame.pos = space.end()
        walker.row(call)
    elif symbol and symbol in "([":
        close = frame.source.environment_end("\\" + symbol, start)
        if close is not None and close < frame.end:
            formula = frame.source.text[start + 2 : close]
            text = display_text(formula) if symbol == "[" else math_text(formula)
            cite_in_formula(walker, frame.source, start, close)
            walker.page.put(text, frame.source, start, close + 2)
            frame.pos = close + 2
    else:
        walker.page.put(_SPACING.get(symbol, symbol), call.source, call.start, call.end)


def read_letter(walker: LatexWalker, call: LatexRange, name: str) -> bool:
    """Whether a control word prints a letter or sign (`\\o`, `\\v s`, `\\alpha`), and if so, print it."""
    if name in ACCENTS and (len(name) == 1 or name == "textcommabelow"):
        _put_accent(walker, call, ACCENTS[name])
        return True
    symbol = SYMBOLS[name] if name in SYMBOLS else MATH_SYMBOLS.get(name)
    if symbol is not None:
        walker.page.put(symbol, call.source, call.start, call.end)
    return symbol is not None


def read_formula(walker: LatexWalker, frame: LatexFrame, start: int, end: int) -> None:
    """A formula between dollars; one that never ends is ignored."""
    mark = frame.source.text[start:end]
    close = _closing_dollar(frame, end, mark)
    if close is not None:
        formula = frame.source.text[end:close]
        text = math_text(formula) if mark == "$" else display_text(formula)
        frame.pos = close + len(mark)
        walker.page.put(text, frame.source, start, frame.pos)
        cite_in_formula(walker, frame.source, end, close)
    elif mark == "$":
        walker.warn(frame.source, start, "$ is never closed")


def cite_in_formula(walker: LatexWalker, source: LatexText, start: int, end: int) -> None:
    """Cite what a formula cites: "\\text{by \\cite{a}}"."""
    for match in _CITE_COMMAND.finditer(source.text, start, end) if source.text.find("cite", start, end) >= 0 else ():
        keys = tuple(key.strip() for key in match[1].split(",") if key.strip())
        walker.page.cite(f"[{'; '.join(keys)}]", keys, source.file, *source.origin(*match.span()))


def _closing_dollar(frame: LatexFrame, position: int, mark: str) -> int | None:
    text = frame.source.text
    stop = min(frame.source.paragraph_end(position), frame.end)
    while (close := text.find("$", position, stop)) >= 0:
        if (close - len(text[position:close].rstrip("\\")) - position) % 2 == 0:  # not escaped
            return close if mark == "$" or text.startswith("$$", close) else None
        position = close + 1
    return None


def _put_accent(walker: LatexWalker, call: LatexRange, combining: str) -> None:
    argument = walker.mandatory_argument()
    if argument is None:
        return
    base = untex(argument.text)[:2] or " "
    letter = unicodedata.normalize("NFC", base[0].replace("ı", "i").replace("ȷ", "j") + combining) + base[1:]
    walker.page.put(letter.strip(), call.source, call.start, walker.call_end(call))
