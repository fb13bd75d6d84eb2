"""MyST roles and raw LaTeX inside Markdown: "{cite:p}`a,b`", ":cite:`a`", "\\citep[p. 3]{a,b}", "\\@ref(fig:x)"."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from whycite.documents.latex.commands import (
    ARGUMENTS,
    CROSS_REFERENCES,
    MATH_ENVIRONMENTS,
    is_citation,
    looks_like_citation,
)
from whycite.documents.latex.formulas import EQUATION, display_text, math_text
from whycite.documents.markup import POINTER
from whycite.text.accents import SYMBOLS, untex

__all__ = ["CommandReading", "read_role", "read_tex"]


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
