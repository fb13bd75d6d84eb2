"""The draft's own macros: what `\\newcommand` and its relatives define, and what a call of one becomes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from whycite.documents.latex.cursor import Cursor, Range
from whycite.documents.latex.text import LatexText

__all__ = ["DEFINERS", "Argument", "Macro", "expand", "read_definition"]

# How each definer writes its definition down: name, parameters, body.
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
class Argument:
    """One parameter of a macro: mandatory, optional with a default, or a star."""

    kind: str  # m, o or s
    default: str = ""


@dataclass(frozen=True, slots=True)
class Macro:
    """A macro as defined: its parameters and the text it stands for."""

    name: str
    arguments: tuple[Argument, ...]
    body: str


def read_definition(cursor: Cursor, definer: str) -> Macro | None:
    """The macro defined behind a definer; None where it cannot be expanded (its text is passed over)."""
    if definer == "let":
        return _read_let(cursor)
    if definer in {"def", "gdef", "edef", "xdef"}:
        return _read_def(cursor)
    name = cursor.control_word()
    if "Document" in definer:
        signature, body = cursor.group(), cursor.group()
        arguments = _parse_signature(signature.text) if signature else None
    else:
        count, default = cursor.optional(), cursor.optional()
        body = cursor.group()
        number = int(count.text) if count and count.text.strip().isdecimal() else 0
        defaults = {0: default.text} if default else {}
        if definer.endswith("x"):  # xargs: [3][1=a, 3=b]
            pairs = (part.split("=", 1) for part in defaults.pop(0, "").split(",") if "=" in part)
            defaults = {int(place) - 1: text for place, text in pairs if place.strip().isdecimal()}
        arguments = tuple(
            Argument("o", defaults[place]) if place in defaults else Argument("m") for place in range(min(number, 9))
        )
    if not name or body is None or arguments is None:
        return None
    return Macro(name, arguments, body.text)


def _read_let(cursor: Cursor) -> Macro | None:
    name = cursor.control_word()
    frame = cursor.frame
    match = _EQUALS.match(frame.source.text, frame.pos, frame.end)
    frame.pos = match.end() if match else frame.pos
    target = cursor.mandatory()
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
    return Macro(name, tuple([Argument("m")] * (len(plain[1]) // 2)), body.text)


def _parse_signature(signature: str) -> tuple[Argument, ...] | None:
    """The parameters of an xparse signature such as "s o m"; None where it holds what we do not expand."""
    arguments = []
    rest = signature.replace("+", "").strip()
    while rest:
        if rest[0] in "ms":
            arguments.append(Argument(rest[0]))
            rest = rest[1:].lstrip()
        elif rest[0] == "o":
            arguments.append(Argument("o"))
            rest = rest[1:].lstrip()
        elif match := re.match(r"O\s*\{([^{}]*)\}\s*", rest):
            arguments.append(Argument("o", match[1]))
            rest = rest[match.end() :]
        else:
            return None
    return tuple(arguments)


def expand(macro: Macro, call: Range, arguments: Sequence[Range | str]) -> LatexText:
    """What a call becomes: arguments keep their own origin, the rest stands for the call as a whole."""
    call_start, call_end = call.source.origin(call.start, call.end)
    texts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []

    def put(text: str) -> None:
        texts.append(text)
        starts.extend([call_start] * len(text))
        ends.extend([call_end] * len(text))

    at = 0
    for match in _PARAMETER.finditer(macro.body):
        put(macro.body[at : match.start()])
        at = match.end()
        index = int(match[1]) - 1 if match[1] else -1
        argument = arguments[index] if 0 <= index < len(arguments) else "" if match[1] else "#"
        if isinstance(argument, str):
            put(argument)
        elif argument.source.file != call.source.file:  # it has no place in this file but the call's
            put(argument.text)
        else:
            texts.append(argument.text)
            origins = argument.source.origins(argument.start, argument.end)
            starts.extend(origins[0])
            ends.extend(origins[1])
    put(macro.body[at:])
    return LatexText("".join(texts), call.source.file, starts, ends)
