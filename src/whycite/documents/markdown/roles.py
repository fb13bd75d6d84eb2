"""MyST roles and raw LaTeX inside Markdown: "{cite:p}`a,b`", ":cite:`a`", "\\citep[p. 3]{a,b}", "\\@ref(fig:x)"."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from whycite.documents.latex.citations import is_citation, looks_like_citation
from whycite.documents.latex.commands import ARGUMENTS, MATH_ENVIRONMENTS, REFERENCES
from whycite.documents.latex.mathtext import EQUATION, displayed, math_text
from whycite.documents.markup.pointers import POINTER
from whycite.text.accents import SYMBOLS, untex

__all__ = ["Reading", "read_role", "read_tex"]


_ROLE = re.compile(
    r"(?:\{(?P<braced>[\w:.+-]{1,40})\}|:(?P<plain>[a-z][\w:.+-]{0,40}):)(?P<ticks>`+)(?P<text>[^`]+)(?P=ticks)(?!`)"
)
# A key of a role with the notes around it: "{see}smith20{p. 3}".
_CITE = re.compile(r"(?:\{(?P<before>[^{}]{0,300})\})?(?P<key>[^{},;]+)(?:\{(?P<after>[^{}]{0,300})\})?")
_BOOKDOWN = re.compile(r"\\@ref\([^()\s]{1,200}\)")
_ANCHOR = re.compile(r"\\#[\w:.-]{1,200}\)")
_COMMAND = re.compile(r"\\([A-Za-z]+)\*?")
_BEGIN = re.compile(r"\\(begin|end)\s*\{([A-Za-z]{1,40}\*?)\}(?:\[[^\[\]]{0,300}\])?")
_CITED = re.compile(r"((?:\s?\[[^\[\]]{0,500}\]){0,2})\s?\{([^{}]{0,5000})\}")
_OPTIONAL = re.compile(r"\s?\[[^\[\]]{0,500}\]")
_GROUP = re.compile(r"\s?\{(?:[^{}]|\{[^{}]*\})*\}")
_POINTERS = frozenset("ref numref eq doc keyref cref any download".split())
_HIDDEN = frozenset("index label".split())
_VALUES = frozenset("eval glue".split())


class Reading(NamedTuple):
    """What a command reads as: text, or a citation of `keys` shown as the text; `inner` is left to be read."""

    start: int
    end: int
    text: str = ""
    keys: tuple[str, ...] = ()
    inner: tuple[int, int] | None = None  # from the end of the command to the brace that closes it
    displayed: bool = False


def read_role(text: str, at: int) -> Reading | None:
    """The role that begins here, if there is one."""
    role = _ROLE.match(text, at)
    if role is None:
        return None
    name = (role["braced"] or role["plain"]).lower()
    inner = role["text"]
    if "cite" in name:
        cites = [cite for cite in _CITE.finditer(inner) if cite["key"].strip()]
        shown = "; ".join(map(_with_notes, cites))
        return Reading(at, role.end(), f"[{shown}]", tuple(cite["key"].strip() for cite in cites))
    base = name.partition(":")[0]
    if base == "math":
        return Reading(at, role.end(), math_text(inner))
    if base in _VALUES:
        return Reading(at, role.end(), EQUATION)
    if base in _HIDDEN:
        return Reading(at, role.end())
    named = inner.rstrip().endswith(">") and "<" in inner
    if base in _POINTERS and not named:
        return Reading(at, role.end(), POINTER)
    shown = inner[: inner.rindex("<")] if named else inner
    return Reading(at, role.end(), shown.replace("%s", POINTER).replace("{number}", POINTER).strip())


def _with_notes(cite: re.Match[str]) -> str:
    before, key, after = ((cite[part] or "").strip() for part in ("before", "key", "after"))
    return f"{before} " * bool(before) + key + f", {after}" * bool(after)


def read_tex(text: str, at: int, find: Callable[[str, int], int]) -> Reading | None:
    """The LaTeX command that begins here, if there is one; `find` looks for a string from a place on."""
    if pointer := _BOOKDOWN.match(text, at):
        return Reading(at, pointer.end(), POINTER)
    if (anchor := _ANCHOR.match(text, at)) and text[at - 1 : at] == "(":
        return Reading(at - 1, anchor.end())
    if environment := _BEGIN.match(text, at):
        return _environment(text, environment, find)
    command = _COMMAND.match(text, at)
    if command is None:
        return None
    name, end = command[1], command.end()
    if name == "nocite" or name in REFERENCES:
        group = _GROUP.match(text, end)
        return Reading(at, group.end() if group else end, POINTER if group and name != "nocite" else "")
    if is_citation(name) or looks_like_citation(name):
        return _citation(text, at, end)
    if name in SYMBOLS and name not in ARGUMENTS:
        return Reading(at, end + 2 * text.startswith("{}", end), SYMBOLS[name])
    for argument in ARGUMENTS.get(name, ""):
        if argument == "t":
            break
        group = (_OPTIONAL if argument == "o" else _GROUP).match(text, end)
        end = group.end() if group else end
    if (group := _GROUP.match(text, end)) and text[end] == "{":
        return Reading(at, end + 1, inner=(end + 1, group.end() - 1))
    return Reading(at, end)


def _environment(text: str, found: re.Match[str], find: Callable[[str, int], int]) -> Reading:
    name = found[2]
    if found[1] == "begin" and name in MATH_ENVIRONMENTS:
        closing = f"\\end{{{name}}}"
        close = find(closing, found.end())
        if close >= 0:
            shown = displayed(text[found.end() : close])
            return Reading(found.start(), close + len(closing), shown, displayed=True)
    return Reading(found.start(), found.end())


def _citation(text: str, at: int, end: int) -> Reading:
    cited = _CITED.match(text, end)
    keys = tuple(key for part in cited[2].split(",") if (key := part.strip())) if cited else ()
    if cited is None or not keys:
        return Reading(at, cited.end() if cited else end)
    notes = [untex(note[0].strip()[1:-1]) for note in _OPTIONAL.finditer(cited[1])]
    before = f"{notes[0]} " if len(notes) == 2 and notes[0] else ""
    after = f", {notes[-1]}" if notes and notes[-1] else ""
    return Reading(at, cited.end(), f"[{before}{'; '.join(keys)}{after}]", keys)
