"""The marks in a Markdown paragraph: code, formulas, brackets, emphasis, keys; paired where they belong together.

Among them are MyST roles and raw LaTeX: "{cite:p}`a,b`", ":cite:`a`", "\\citep[p. 3]{a,b}", "\\@ref(fig:x)".
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import unescape
from itertools import accumulate
from typing import Literal, NamedTuple

from whycite.documents.latex.commands import (
    ARGUMENTS,
    CROSS_REFERENCES,
    MATH_ENVIRONMENTS,
    is_citation,
    looks_like_citation,
)
from whycite.documents.latex.formulas import display_text, math_text
from whycite.documents.markup import EQUATION, POINTER
from whycite.text.accents import SYMBOLS, untex

__all__ = ["CommandReading", "MarkdownToken", "TokenKind", "pair_tokens", "read_role", "read_tex", "tokenise"]

_ROLE = re.compile(
    r"(?:\{(?P<braced>[\w:.+-]{1,40})\}|:(?P<plain>[a-z][\w:.+-]{0,40}):)(?P<ticks>`+)(?P<text>[^`]+)(?P=ticks)(?!`)"
)
# A key in a role, with its notes: "{see}smith20{p. 3}".
_CITE = re.compile(r"(?:\{(?P<before>[^{}]{0,300})\})?(?P<key>[^{},;]+)(?:\{(?P<after>[^{}]{0,300})\})?")
_BOOKDOWN = re.compile(r"\\@ref\([^()\s]{1,200}\)")
_ANCHOR = re.compile(r"\\#[\w:.-]{1,200}\)")
_COMMAND = re.compile(r"\\([A-Za-z]+)\*?")
_BEGIN = re.compile(r"\\(begin|end)\s*\{([A-Za-z]{1,40}\*?)\}(?:\[[^\[\]]{0,300}\])?")
_CITE_ARGUMENTS = re.compile(r"((?:\s?\[[^\[\]]{0,500}\]){0,2})\s?\{([^{}]{0,5000})\}")
_OPTIONAL = re.compile(r"\s?\[[^\[\]]{0,500}\]")
_GROUP = re.compile(r"\s?\{(?:[^{}]|\{[^{}]*\})*\}")
_POINTER_ROLES = frozenset("ref numref eq doc keyref cref any download".split())
_HIDDEN_ROLES = frozenset("index label".split())
_COMPUTED_ROLES = frozenset("eval glue".split())


class CommandReading(NamedTuple):
    """How a command reads: as text, or as a citation of `keys` shown as that text; `inner` is still to be read."""

    start: int
    end: int
    text: str = ""
    keys: tuple[str, ...] = ()
    inner: tuple[int, int] | None = None  # from the end of the command to the brace that closes it
    is_displayed: bool = False


def read_role(text: str, start: int) -> CommandReading | None:
    """The role that begins here, or None."""
    role = _ROLE.match(text, start)
    if role is None:
        return None
    name = (role["braced"] or role["plain"]).lower()
    inner = role["text"]
    if "cite" in name:
        cites = [cite for cite in _CITE.finditer(inner) if cite["key"].strip()]
        display = "; ".join(map(_cite_text, cites))
        return CommandReading(start, role.end(), f"[{display}]", tuple(cite["key"].strip() for cite in cites))
    base = name.partition(":")[0]
    if base == "math":
        return CommandReading(start, role.end(), math_text(inner))
    if base in _COMPUTED_ROLES:
        return CommandReading(start, role.end(), EQUATION)
    if base in _HIDDEN_ROLES:
        return CommandReading(start, role.end())
    has_title = inner.rstrip().endswith(">") and "<" in inner
    if base in _POINTER_ROLES and not has_title:
        return CommandReading(start, role.end(), POINTER)
    display = inner[: inner.rindex("<")] if has_title else inner
    return CommandReading(start, role.end(), display.replace("%s", POINTER).replace("{number}", POINTER).strip())


def _cite_text(cite: re.Match[str]) -> str:
    prenote, key, postnote = ((cite[part] or "").strip() for part in ("before", "key", "after"))
    return f"{prenote} " * bool(prenote) + key + f", {postnote}" * bool(postnote)


def read_tex(text: str, start: int, find: Callable[[str, int], int]) -> CommandReading | None:
    """The LaTeX command that begins here, or None; `find` searches for a string from an offset."""
    if pointer := _BOOKDOWN.match(text, start):
        return CommandReading(start, pointer.end(), POINTER)
    if (anchor := _ANCHOR.match(text, start)) and text[start - 1 : start] == "(":
        return CommandReading(start - 1, anchor.end())
    if environment := _BEGIN.match(text, start):
        return _read_environment(text, environment, find)
    command = _COMMAND.match(text, start)
    if command is None:
        return None
    name, end = command[1], command.end()
    if name == "nocite" or name in CROSS_REFERENCES:
        group = _GROUP.match(text, end)
        return CommandReading(start, group.end() if group else end, POINTER if group and name != "nocite" else "")
    if is_citation(name) or looks_like_citation(name):
        return _read_citation(text, start, end)
    if name in SYMBOLS and name not in ARGUMENTS:
        return CommandReading(start, end + 2 * text.startswith("{}", end), SYMBOLS[name])
    for argument in ARGUMENTS.get(name, ""):
        if argument == "t":
            break
        group = (_OPTIONAL if argument == "o" else _GROUP).match(text, end)
        end = group.end() if group else end
    if (group := _GROUP.match(text, end)) and text[end] == "{":
        return CommandReading(start, end + 1, inner=(end + 1, group.end() - 1))
    return CommandReading(start, end)


def _read_environment(text: str, command: re.Match[str], find: Callable[[str, int], int]) -> CommandReading:
    name = command[2]
    if command[1] == "begin" and name in MATH_ENVIRONMENTS:
        closing = f"\\end{{{name}}}"
        close = find(closing, command.end())
        if close >= 0:
            display = display_text(text[command.end() : close])
            return CommandReading(command.start(), close + len(closing), display, is_displayed=True)
    return CommandReading(command.start(), command.end())


def _read_citation(text: str, start: int, end: int) -> CommandReading:
    arguments = _CITE_ARGUMENTS.match(text, end)
    keys = tuple(key for part in arguments[2].split(",") if (key := part.strip())) if arguments else ()
    if arguments is None or not keys:
        return CommandReading(start, arguments.end() if arguments else end)
    notes = [untex(note[0].strip()[1:-1]) for note in _OPTIONAL.finditer(arguments[1])]
    prenote = f"{notes[0]} " if len(notes) == 2 and notes[0] else ""
    postnote = f", {notes[-1]}" if notes and notes[-1] else ""
    return CommandReading(start, arguments.end(), f"[{prenote}{'; '.join(keys)}{postnote}]", keys)


TokenKind = Literal["shown", "dropped", "cited", "key", "note", "doi", "open", "close", "emphasis", "display", "break"]


@dataclass(slots=True)
class MarkdownToken:
    """A mark at a range of the text; everything between tokens is plain text."""

    kind: TokenKind
    start: int
    end: int
    text: str = ""  # how the range reads
    keys: tuple[str, ...] = ()
    mate: int = -1  # index of the other bracket
    opening: str = ""  # before an opening bracket: "!", "^" or nothing


def tokenise(text: str, extra_tokens: Sequence[MarkdownToken] = ()) -> list[MarkdownToken]:
    """The marks of a paragraph and `extra_tokens`, in order; brackets and emphasis without a partner are text."""
    return pair_tokens(text, sorted([*extra_tokens, *_MarkScanner(text).scan()], key=lambda token: token.start))


def pair_tokens(text: str, tokens: list[MarkdownToken]) -> list[MarkdownToken]:
    """The tokens with brackets and emphasis paired, without those that have no partner."""
    if tokens:
        _pair_brackets(tokens)
        _pair_emphasis(text, tokens)
        tokens = _drop_plain_tokens(text, tokens)
    return tokens


def _drop_plain_tokens(text: str, tokens: Sequence[MarkdownToken]) -> list[MarkdownToken]:
    """The tokens without those that change nothing; the indices of partners are updated."""
    keep_flags = [
        token.mate >= 0
        if token.kind in ("open", "close")
        else token.kind != "shown" or token.text != text[token.start : token.end]
        for token in tokens
    ]
    places = list(accumulate(keep_flags, initial=0))
    remaining = [token for token, stays in zip(tokens, keep_flags, strict=True) if stays]
    if len(remaining) == len(tokens):
        return remaining
    for token in remaining:
        if token.mate >= 0:
            token.mate = places[token.mate]
    return remaining


def _pair_brackets(tokens: Sequence[MarkdownToken]) -> None:
    open_indices: list[int] = []
    for index, token in enumerate(tokens):
        if token.kind == "open":
            open_indices.append(index)
        elif token.kind == "close" and open_indices:
            token.mate = open_indices.pop()
            tokens[token.mate].mate = index


def _pair_emphasis(text: str, tokens: Sequence[MarkdownToken]) -> None:
    """Remove the signs of emphasis that have a partner, and make the others text."""
    open_tokens: dict[str, list[MarkdownToken]] = {"*": [], "_": []}
    unpaired: dict[int, int] = {}  # start of a run -> how many of its signs have no partner yet
    for token in tokens:
        if token.kind != "emphasis":
            continue
        sign = text[token.start]
        opens, closes = _flanks(text, token.start, token.end)
        unpaired[token.start] = token.end - token.start
        while closes and unpaired[token.start] and open_tokens[sign]:
            opener = open_tokens[sign][-1]
            pair_count = min(unpaired[opener.start], unpaired[token.start])
            unpaired[opener.start] -= pair_count
            unpaired[token.start] -= pair_count
            if not unpaired[opener.start]:
                open_tokens[sign].pop()
        if opens and unpaired[token.start]:
            open_tokens[sign].append(token)
    for token in tokens:
        if token.kind == "emphasis":
            token.kind, token.text = "shown", text[token.start] * unpaired[token.start]


def _flanks(text: str, start: int, end: int) -> tuple[bool, bool]:
    """Whether a run of signs can open and can close emphasis, judging by its neighbours."""
    previous_sign, next_sign = text[start - 1 : start] or " ", text[end : end + 1] or " "
    solid_before, solid_after = not previous_sign.isspace(), not next_sign.isspace()
    left_flanking = solid_after and (next_sign.isalnum() or not solid_before or not previous_sign.isalnum())
    right_flanking = solid_before and (previous_sign.isalnum() or not solid_after or not next_sign.isalnum())
    if text[start] == "_":
        return left_flanking and (not right_flanking or not previous_sign.isalnum()), right_flanking and (
            not left_flanking or not next_sign.isalnum()
        )
    return left_flanking, right_flanking


_SPECIAL = re.compile(r"[\\`*_\[\]<@$^~{&]|!(?=\[)|:(?=[a-z]+[:`])|-{2,3}|https?://|www\.")
_KEY = re.compile(r"@(?:\{([^{}\s]{1,200})\}|([^\W]\w*(?:[:.#$%&\-+?<>~/]\w+)*))")
_AUTOLINK = re.compile(r"<([A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*|[\w.+-]{1,64}@[\w.-]{1,255})>")
_DOI = re.compile(r"doi:|https?://(?:dx\.)?doi\.org/", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][\w:-]*(?:\s[^<>]{0,2000})?/?>")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_MATH = re.compile(r"\$(?=[^\s$])((?:[^$\\]|\\.)+)(?<=\S)\$(?!\d)", re.DOTALL)
_URL = re.compile(r"[^\s<>\[\]{}|\"^`\\]*")
_NOTE = re.compile(r"\[\^([^\s\[\]]{1,100})\]")
_SUPERSCRIPT = re.compile(r"\^([^\s^\\\[\]]{1,40})\^")
_SUBSCRIPT = re.compile(r"~([^\s~\\\[\]]{1,40})~")
_ATTRIBUTES = re.compile(r"\{[^{}\n]{0,500}\}")
_COMPUTED_CODE = re.compile(r"(?:r|\{\w{1,10}\})\s")  # code whose value the rendered text shows
_TICKS = re.compile(r"`+")
_EMPHASIS_RUN = re.compile(r"\*+|_+")
_MAX_FORMULA = 2000  # characters of a formula in \(…\)
_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


class _MarkScanner:
    """One pass over a paragraph; failed searches are not repeated."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[MarkdownToken] = []
        self._ticks: dict[int, list[int]] | None = None
        self._missing: set[str] = set()
        self._depth = 0  # brackets that are open

    def scan(self) -> list[MarkdownToken]:
        pos = 0
        while mark := _SPECIAL.search(self.text, pos):
            pos = _HANDLERS[mark[0][0]](self, mark.start(), mark.end())
        return self.tokens

    def add(self, kind: TokenKind, start: int, end: int, text: str = "", keys: tuple[str, ...] = ()) -> int:
        self.tokens.append(MarkdownToken(kind, start, end, text, keys))
        return end

    def find(self, target: str, start: int) -> int:
        """Where the next `target` is, or -1; failed searches are remembered."""
        if target in self._missing:
            return -1
        position = self.text.find(target, start)
        if position < 0:
            self._missing.add(target)
        return position

    def code(self, start: int, end: int) -> int:
        ticks = _TICKS.match(self.text, start)
        size = len(ticks[0]) if ticks else 1
        close = self._closing_ticks(start + size, size)
        if close < 0:
            return start + size
        inner = self.text[start + size : close]
        raw = self.text.startswith("{=", close + size)
        if raw:
            tail = _ATTRIBUTES.match(self.text, close + size)
            return self.add("dropped", start, tail.end() if tail else close + size)
        if _COMPUTED_CODE.match(inner):
            return self.add("shown", start, close + size, EQUATION)
        self.add("dropped", start, start + size)
        return self._attributes(self.add("dropped", close, close + size))

    def _closing_ticks(self, start: int, size: int) -> int:
        if self._ticks is None:
            self._ticks = {}
            for run in _TICKS.finditer(self.text):
                self._ticks.setdefault(len(run[0]), []).append(run.start())
        runs = self._ticks.get(size, [])
        index = bisect_left(runs, start)
        return runs[index] if index < len(runs) else -1

    def _attributes(self, start: int) -> int:
        attributes = _ATTRIBUTES.match(self.text, start)
        return self.add("dropped", start, attributes.end()) if attributes else start

    def emphasis(self, start: int, end: int) -> int:
        run = _EMPHASIS_RUN.match(self.text, start)
        return self.add("emphasis", start, run.end() if run else end)

    def open(self, start: int, end: int, opening: str = "") -> int:
        if self.find("]", end) < 0:
            return end
        note = None if opening else _NOTE.match(self.text, start)
        if note:
            return self.add("note", start, note.end(), note[1])
        self._depth += 1
        self.add("open", start, end)
        self.tokens[-1].opening = opening
        return end

    def image(self, start: int, end: int) -> int:
        return self.open(start, end + 1, "!")

    def close(self, start: int, end: int) -> int:
        if not self._depth:
            return end
        self._depth -= 1
        return self.add("close", start, end)

    def angle(self, start: int, end: int) -> int:
        link = _AUTOLINK.match(self.text, start)
        if link and _DOI.match(link[1]):
            return self.add("doi", start, link.end(), link[1])
        if link:
            self.add("dropped", start, start + 1)
            return self.add("dropped", link.end() - 1, link.end())
        tag = _TAG.match(self.text, start)
        return self.add("dropped", start, tag.end()) if tag else end

    def key(self, start: int, end: int) -> int:
        previous_sign = self.text[start - 1] if start else " "
        key = None if previous_sign.isalnum() or previous_sign == "_" else _KEY.match(self.text, start)
        if key is None:
            return end
        last_end = self.tokens[-1].end if self.tokens else 0
        hides_author = previous_sign == "-" and last_end < start and (start < 2 or not self.text[start - 2].isalnum())
        return self.add("key", start - hides_author, key.end(), key[1] or key[2])

    def dollar(self, start: int, end: int) -> int:
        if self.text.startswith("$$", start):
            close = self.find("$$", start + 2)
            if close < 0:
                return start + 2
            return self._attributes(self.add("display", start, close + 2, display_text(self.text[start + 2 : close])))
        formula = _MATH.match(self.text, start)
        if formula is None:
            return end
        return self.add("shown", start, formula.end(), math_text(formula[1]))

    def caret(self, start: int, end: int) -> int:
        if self.text.startswith("[", end):
            return self.open(start, end + 1, "^")
        return self._script(_SUPERSCRIPT, start, end)

    def tilde(self, start: int, end: int) -> int:
        if self.text.startswith("~~", start):
            return self.add("dropped", start, start + 2)
        return self._script(_SUBSCRIPT, start, end)

    def _script(self, form: re.Pattern[str], start: int, end: int) -> int:
        script = form.match(self.text, start)
        if script is None:
            return end
        self.add("dropped", start, end)
        return self.add("dropped", script.end() - 1, script.end())

    def brace(self, start: int, end: int) -> int:
        if self.text.startswith("{{<", start):
            close = self.find(">}}", start)
            return self.add("dropped", start, close + 3) if close >= 0 else start + 3
        if self.text.startswith(("#", "."), end):
            return max(end, self._attributes(start))
        return self.role(start, end)

    def role(self, start: int, end: int) -> int:
        role = read_role(self.text, start)
        if role is None:
            return end
        return self.add("cited" if role.keys else "shown", start, role.end, role.text, role.keys)

    def entity(self, start: int, end: int) -> int:
        entity = _ENTITY.match(self.text, start)
        return self.add("shown", start, entity.end(), unescape(entity[0])) if entity else end

    def dashes(self, start: int, end: int) -> int:
        return self.add("shown", start, end, "—" if end - start == 3 else "–")

    def url(self, start: int, end: int) -> int:
        url = _URL.match(self.text, end)
        stop = url.end() if url else end
        while stop > end and self.text[stop - 1] in ".,;:!?*_'$&~@-)":
            stop -= 1
        return stop

    def backslash(self, start: int, end: int) -> int:
        next_sign = self.text[end : end + 1]
        if next_sign in ("(", "["):
            closing = "\\)" if next_sign == "(" else "\\]"
            close = self.find(closing, end + 1)
            if close >= 0 and _looks_like_math(self.text[end + 1 : close]):
                text = (math_text if next_sign == "(" else display_text)(self.text[end + 1 : close])
                return self.add("shown" if next_sign == "(" else "display", start, close + 2, text)
        if next_sign.isspace() or not next_sign:
            return self.add("shown", start, end + len(next_sign), " ")
        command = read_tex(self.text, start, self.find)
        if command is not None:
            kind: TokenKind = "cited" if command.keys else "display" if command.is_displayed else "shown"
            self.add(kind, command.start, command.end, command.text, command.keys)
            if command.inner:
                self.add("dropped", command.inner[1], command.inner[1] + 1)
            return command.end
        if next_sign in _PUNCTUATION:
            return self.add("shown", start, end + 1, next_sign)
        return end


def _looks_like_math(inner: str) -> bool:
    """Whether "\\(…\\)" is a formula, not an escaped bracket."""
    return len(inner) < _MAX_FORMULA and any(sign in inner for sign in "\\^_=<>+") and "@" not in inner


_HANDLERS: dict[str, Callable[[_MarkScanner, int, int], int]] = {
    "`": _MarkScanner.code,
    "*": _MarkScanner.emphasis,
    "_": _MarkScanner.emphasis,
    "[": _MarkScanner.open,
    "]": _MarkScanner.close,
    "!": _MarkScanner.image,
    "<": _MarkScanner.angle,
    "@": _MarkScanner.key,
    "$": _MarkScanner.dollar,
    "^": _MarkScanner.caret,
    "~": _MarkScanner.tilde,
    "{": _MarkScanner.brace,
    ":": _MarkScanner.role,
    "&": _MarkScanner.entity,
    "-": _MarkScanner.dashes,
    "h": _MarkScanner.url,
    "w": _MarkScanner.url,
    "\\": _MarkScanner.backslash,
}
