"""The macros a draft defines and TeX's conditionals: what calls expand to, and which branches are read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from whycite.documents.latex.cursor import Cursor, LatexRange, LatexText

if TYPE_CHECKING:
    from whycite.documents.latex.walker import LatexWalker

__all__ = ["DEFINERS", "Conditionals", "Macro", "MacroParameter", "expand", "read_definition"]


# Commands that define a macro.
DEFINERS = frozenset(
    "newcommand renewcommand providecommand DeclareRobustCommand newrobustcmd renewrobustcmd providerobustcmd "
    "newcommandx NewDocumentCommand RenewDocumentCommand ProvideDocumentCommand DeclareDocumentCommand "
    "def gdef edef xdef let".split()
)
_PARAMETER = re.compile(r"#(\d)|##")
_PLAIN_PARAMETERS = re.compile(r"((?:#\d)*)\s*(?=\{)")
_BODY_START = re.compile(r"[^{}]{0,200}(?=\{)")
_EQUALS = re.compile(r"\s*=?\s*")


@dataclass(frozen=True, slots=True)
class MacroParameter:
    """One parameter of a macro: mandatory, optional with a default, or a star."""

    kind: str  # m, o or s
    default: str = ""


@dataclass(frozen=True, slots=True)
class Macro:
    """A macro as defined: its parameters and the text it stands for."""

    name: str
    parameters: tuple[MacroParameter, ...]
    body: str


def read_definition(cursor: Cursor, definer: str) -> Macro | None:
    """The macro defined after a definer; None if it cannot be expanded (the definition is skipped)."""
    if definer == "let":
        return _read_let(cursor)
    if definer in {"def", "gdef", "edef", "xdef"}:
        return _read_def(cursor)
    name = cursor.control_word()
    if "Document" in definer:
        signature, body = cursor.group(), cursor.group()
        parameters = _parse_signature(signature.text) if signature else None
    else:
        count, default = cursor.optional_argument(), cursor.optional_argument()
        body = cursor.group()
        number = int(count.text) if count and count.text.strip().isdecimal() else 0
        defaults = {0: default.text} if default else {}
        if definer.endswith("x"):  # xargs: [3][1=a, 3=b]
            pairs = (part.split("=", 1) for part in defaults.pop(0, "").split(",") if "=" in part)
            defaults = {int(place) - 1: text for place, text in pairs if place.strip().isdecimal()}
        parameters = tuple(
            MacroParameter("o", defaults[place]) if place in defaults else MacroParameter("m")
            for place in range(min(number, 9))
        )
    if not name or body is None or parameters is None:
        return None
    return Macro(name, parameters, body.text)


def _read_let(cursor: Cursor) -> Macro | None:
    name = cursor.control_word()
    frame = cursor.frame
    match = _EQUALS.match(frame.source.text, frame.pos, frame.end)
    frame.pos = match.end() if match else frame.pos
    target = cursor.mandatory_argument()
    if not name or target is None or not target.text.startswith("\\") or target.text == "\\" + name:
        return None
    return Macro(name, (), target.text)


def _read_def(cursor: Cursor) -> Macro | None:
    name = cursor.control_word()
    frame = cursor.frame
    plain = _PLAIN_PARAMETERS.match(frame.source.text, frame.pos, frame.end)
    start = plain or _BODY_START.match(frame.source.text, frame.pos, frame.end)
    if start is None:
        return None
    frame.pos = start.end()
    body = cursor.group()
    if not name or body is None or plain is None:
        return None
    return Macro(name, tuple([MacroParameter("m")] * (len(plain[1]) // 2)), body.text)


def _parse_signature(signature: str) -> tuple[MacroParameter, ...] | None:
    """The parameters of an xparse signature such as "s o m"; None if it has parameters that are not supported."""
    parameters = []
    rest = signature.replace("+", "").strip()
    while rest:
        if rest[0] in "ms":
            parameters.append(MacroParameter(rest[0]))
            rest = rest[1:].lstrip()
        elif rest[0] == "o":
            parameters.append(MacroParameter("o"))
            rest = rest[1:].lstrip()
        elif match := re.match(r"O\s*\{([^{}]*)\}\s*", rest):
            parameters.append(MacroParameter("o", match[1]))
            rest = rest[match.end() :]
        else:
            return None
    return tuple(parameters)


def expand(macro: Macro, call: LatexRange, arguments: Sequence[LatexRange | str]) -> LatexText:
    """The expansion of a call: arguments keep their own origin, the rest comes from the call as a whole."""
    call_start, call_end = call.source.origin(call.start, call.end)
    texts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []

    def put(text: str) -> None:
        texts.append(text)
        starts.extend([call_start] * len(text))
        ends.extend([call_end] * len(text))

    position = 0
    for match in _PARAMETER.finditer(macro.body):
        put(macro.body[position : match.start()])
        position = match.end()
        index = int(match[1]) - 1 if match[1] else -1
        argument = arguments[index] if 0 <= index < len(arguments) else "" if match[1] else "#"
        if isinstance(argument, str):
            put(argument)
        elif argument.source.file != call.source.file:  # its own position is in another file
            put(argument.text)
        else:
            texts.append(argument.text)
            origins = argument.source.origins(argument.start, argument.end)
            starts.extend(origins[0])
            ends.extend(origins[1])
    put(macro.body[position:])
    return LatexText("".join(texts), call.source.file, starts, ends)


_BRANCH = re.compile(r"\\(if(?!f\b|thenelse\b)[A-Za-z@]*|else|fi)(?![A-Za-z@])|%[^\n\r]*|\\.", re.DOTALL)
_NUMBER = r"(-?\d[\d.]{0,9}(?:pt|mm|cm|em|ex|in)?|\\[A-Za-z@]{1,40})"
_COMPARISON = re.compile(rf"\s*{_NUMBER}(?:\s*([<>=])\s*{_NUMBER})? ?")
_MAX_UNENDED = 20  # conditionals without \fi that are searched for; each search reads the rest of the text


class Conditionals:
    """Follows `\\iffalse`, `\\newif`, `\\ifx`; if it cannot decide a condition, it takes the first branch."""

    def __init__(self, walker: LatexWalker) -> None:
        self.walker = walker
        self._switches: dict[str, bool] = {}
        self._unended_count = 0

    def handle(self, name: str) -> bool:
        """Follow the control word if it belongs to a conditional; returns whether it does."""
        if name == "newif":
            switch = self.walker.control_word() or ""
            if switch.startswith("if"):
                self._switches[switch[2:]] = False
        elif name in {"if", "ifx", "ifdefined", "ifnum", "ifdim", "ifodd"}:
            if not self._decide(name):
                self._skip_branch(stop_at_else=True)
        elif name == "iffalse" or (name.startswith("if") and self._switches.get(name[2:]) is False):
            self._skip_branch(stop_at_else=True)
        elif name == "else":
            self._skip_branch(stop_at_else=False)
        elif name.endswith("true") and name[:-4] in self._switches:
            self._switches[name[:-4]] = True
        elif name.endswith("false") and name[:-5] in self._switches:
            self._switches[name[:-5]] = False
        else:
            return name == "fi" or (name.startswith("if") and name not in {"iff", "ifthenelse"})
        return True

    def _decide(self, name: str) -> bool:
        """Whether a macro is defined, two are the same, or a comparison holds, as far as can be known."""
        macros = self.walker.macros
        if name in {"ifnum", "ifdim", "ifodd"}:
            return self._compare()
        if name == "if":
            pair = [
                argument.text if argument else ""
                for argument in (self.walker.mandatory_argument(), self.walker.mandatory_argument())
            ]
            return len({macros[text[1:]].body if text[1:] in macros else text for text in pair}) == 1
        first_name = self.walker.control_word()
        if name == "ifdefined":
            return first_name in macros
        second_name = self.walker.control_word()
        if second_name in {"undefined", "@undefined", "relax"}:
            return first_name not in macros
        bodies = [macros[word].body if word in macros else word for word in (first_name, second_name)]
        return bodies[0] == bodies[1]

    def _compare(self) -> bool:
        """Read a comparison; one that cannot be decided counts as true."""
        frame = self.walker.frame
        match = _COMPARISON.match(frame.source.text, frame.pos, frame.end)
        if match is None:
            return True
        frame.pos = match.end()
        left_number, sign, right_number = match.groups()
        if sign is None or not (left_number.lstrip("-").isdecimal() and right_number.lstrip("-").isdecimal()):
            return True
        return {
            "<": int(left_number) < int(right_number),
            "=": int(left_number) == int(right_number),
            ">": int(left_number) > int(right_number),
        }[sign]

    def _skip_branch(self, *, stop_at_else: bool) -> None:
        """Go to the `\\else` or `\\fi` of this level; if there is none, nothing is skipped."""
        frame = self.walker.frame
        if self._unended_count >= _MAX_UNENDED:
            return
        depth = 0
        for match in _BRANCH.finditer(frame.source.text, frame.pos, frame.end):
            word = match[1]
            if word is None:
                continue
            if word == "fi":
                depth -= 1
            elif word != "else":
                depth += 1
            if depth < 0 or (word == "else" and depth == 0 and stop_at_else):
                frame.pos = match.end()
                return
        self._unended_count += 1
        self.walker.warn(frame.source, max(frame.pos - 1, 0), "conditional has no matching \\fi")
