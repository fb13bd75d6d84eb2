"""The marks inside a Markdown paragraph: code, formulas, brackets, emphasis, citation keys."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from html import unescape

from whycite.documents.latex.mathtext import EQUATION, displayed, math_text
from whycite.documents.markdown.pairing import Kind, Token, pair
from whycite.documents.markdown.roles import read_role, read_tex

__all__ = ["tokenise"]

_SPECIAL = re.compile(r"[\\`*_\[\]<@$^~{&]|!(?=\[)|:(?=[a-z]+[:`])|-{2,3}|https?://|www\.")
_KEY = re.compile(r"@(?:\{([^{}\s]{1,200})\}|([^\W]\w*(?:[:.#$%&\-+?<>~/]\w+)*))")
_AUTOLINK = re.compile(r"<([A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*|[\w.+-]{1,64}@[\w.-]{1,255})>")
_DOI = re.compile(r"doi:|https?://(?:dx\.)?doi\.org/", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][\w:-]*(?:\s[^<>]{0,2000})?/?>")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_MATH = re.compile(r"\$(?=[^\s$])((?:[^$\\]|\\.)+)(?<=\S)\$(?!\d)", re.DOTALL)
_URL = re.compile(r"[^\s<>\[\]{}|\"^`\\]*")
_NOTE = re.compile(r"\[\^[^\s\[\]]{1,100}\]")
_RAISED = re.compile(r"\^([^\s^\\\[\]]{1,40})\^")
_LOWERED = re.compile(r"~([^\s~\\\[\]]{1,40})~")
_ATTRIBUTES = re.compile(r"\{[^{}\n]{0,500}\}")
_COMPUTED = re.compile(r"(?:r|\{\w{1,10}\})\s")  # code whose value the rendered text shows
_TICKS = re.compile(r"`+")
_RUN = re.compile(r"\*+|_+")
_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


class _Scanner:
    """One pass over a paragraph; every search that fails is not made again."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[Token] = []
        self._ticks: dict[int, list[int]] | None = None
        self._missing: set[str] = set()
        self._depth = 0  # brackets that are open

    def scan(self) -> list[Token]:
        pos = 0
        while found := _SPECIAL.search(self.text, pos):
            pos = _HANDLERS[found[0][0]](self, found.start(), found.end())
        return self.tokens

    def add(self, kind: Kind, start: int, end: int, text: str = "", keys: tuple[str, ...] = ()) -> int:
        self.tokens.append(Token(kind, start, end, text, keys))
        return end

    def find(self, what: str, start: int) -> int:
        """Where the next `what` is, or -1; a search in vain is remembered."""
        if what in self._missing:
            return -1
        at = self.text.find(what, start)
        if at < 0:
            self._missing.add(what)
        return at

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
        if _COMPUTED.match(inner):
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

    def _attributes(self, at: int) -> int:
        attributes = _ATTRIBUTES.match(self.text, at)
        return self.add("dropped", at, attributes.end()) if attributes else at

    def emphasis(self, start: int, end: int) -> int:
        run = _RUN.match(self.text, start)
        return self.add("emphasis", start, run.end() if run else end)

    def open(self, start: int, end: int, opening: str = "") -> int:
        if self.find("]", end) < 0:
            return end
        note = None if opening else _NOTE.match(self.text, start)
        if note:
            return self.add("dropped", start, note.end())
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
        before = self.text[start - 1] if start else " "
        found = None if before.isalnum() or before == "_" else _KEY.match(self.text, start)
        if found is None:
            return end
        last = self.tokens[-1].end if self.tokens else 0
        hidden = before == "-" and last < start and (start < 2 or not self.text[start - 2].isalnum())
        return self.add("key", start - hidden, found.end(), found[1] or found[2])

    def dollar(self, start: int, end: int) -> int:
        if self.text.startswith("$$", start):
            close = self.find("$$", start + 2)
            if close < 0:
                return start + 2
            return self._attributes(self.add("display", start, close + 2, displayed(self.text[start + 2 : close])))
        formula = _MATH.match(self.text, start)
        if formula is None:
            return end
        return self.add("shown", start, formula.end(), math_text(formula[1]))

    def caret(self, start: int, end: int) -> int:
        if self.text.startswith("[", end):
            return self.open(start, end + 1, "^")
        return self._script(_RAISED, start, end)

    def tilde(self, start: int, end: int) -> int:
        if self.text.startswith("~~", start):
            return self.add("dropped", start, start + 2)
        return self._script(_LOWERED, start, end)

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
        found = _URL.match(self.text, end)
        stop = found.end() if found else end
        while stop > end and self.text[stop - 1] in ".,;:!?*_'$&~@-)":
            stop -= 1
        return stop

    def backslash(self, start: int, end: int) -> int:
        after = self.text[end : end + 1]
        if after in ("(", "["):
            closing = "\\)" if after == "(" else "\\]"
            close = self.find(closing, end + 1)
            if close >= 0 and _looks_like_math(self.text[end + 1 : close]):
                shown = (math_text if after == "(" else displayed)(self.text[end + 1 : close])
                return self.add("shown" if after == "(" else "display", start, close + 2, shown)
        if after.isspace() or not after:
            return self.add("shown", start, end + len(after), " ")
        command = read_tex(self.text, start, self.find)
        if command is not None:
            kind: Kind = "cited" if command.keys else "display" if command.displayed else "shown"
            self.add(kind, command.start, command.end, command.text, command.keys)
            if command.inner:
                self.add("dropped", command.inner[1], command.inner[1] + 1)
            return command.end
        if after in _PUNCTUATION:
            return self.add("shown", start, end + 1, after)
        return end


def _looks_like_math(inner: str) -> bool:
    """Whether "\\(…\\)" is a formula and not a bracket somebody escaped."""
    return len(inner) < 2000 and any(sign in inner for sign in "\\^_=<>+") and "@" not in inner


_HANDLERS: dict[str, Callable[[_Scanner, int, int], int]] = {
    "`": _Scanner.code,
    "*": _Scanner.emphasis,
    "_": _Scanner.emphasis,
    "[": _Scanner.open,
    "]": _Scanner.close,
    "!": _Scanner.image,
    "<": _Scanner.angle,
    "@": _Scanner.key,
    "$": _Scanner.dollar,
    "^": _Scanner.caret,
    "~": _Scanner.tilde,
    "{": _Scanner.brace,
    ":": _Scanner.role,
    "&": _Scanner.entity,
    "-": _Scanner.dashes,
    "h": _Scanner.url,
    "w": _Scanner.url,
    "\\": _Scanner.backslash,
}


def tokenise(text: str, more: Sequence[Token] = ()) -> list[Token]:
    """The marks of a paragraph and `more` in order; brackets and emphasis without a partner are text again."""
    return pair(text, sorted([*more, *_Scanner(text).scan()], key=lambda token: token.start))
