"""How a LaTeX project includes its parts beyond a plain \\input: commands that wrap one, and macros in paths."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from whycite.documents.latex.commands import INPUTS, looks_like_citation
from whycite.documents.latex.cursor import Cursor, LatexFrame, LatexText
from whycite.documents.latex.macros import DEFINERS, Macro, read_definition

__all__ = [
    "COMMENTS",
    "INCLUSION",
    "expand_path",
    "find_including_macros",
    "has_citations",
    "may_include",
    "path_macros",
]

COMMENTS = re.compile(r"(?<!\\)%[^\n\r]*")
# A command by whose name it includes a file, as classes define them: \includepaper{chapters/06}.
_INCLUDING_NAME = (
    r"(?:input|include|import|subfile)(?!graphics|pdf|svg|only|standalone|minted|encoding|comment)[A-Za-z]*"
)
INCLUSION = re.compile(rf"\\{_INCLUDING_NAME}\s*\{{\s*([^{{}}\\\n]{{1,200}}?)\s*\}}")
_MAY_INCLUDE = re.compile(_INCLUDING_NAME)
_INPUT_NAMES = "|".join(sorted(INPUTS, key=len, reverse=True))
_INPUT_OF_ARGUMENT = re.compile(rf"\\(?:{_INPUT_NAMES})\s*\{{[^{{}}\n]{{0,200}}#\d")
_DEFINITION = re.compile(rf"\\({'|'.join(sorted(DEFINERS - {'let'}, key=len, reverse=True))})(?![A-Za-z@])\*?")
_MAX_NESTING = 5  # macros that include by way of other macros
_CITATION = re.compile(
    r"\\([A-Za-z]{0,30}[cC]ite[A-Za-z]{0,30})\*?\s{0,9}(?:\[[^\[\]]{0,200}\]\s{0,9}){0,2}\{\s{0,9}[^#{}\\\s]"
)


def may_include(name: str) -> bool:
    """Whether an unknown command includes a file, judging by its name."""
    return _MAY_INCLUDE.fullmatch(name) is not None


def has_citations(text: str) -> bool:
    """Whether a file cites anything outside of comments."""
    return any(looks_like_citation(command[1]) for command in _CITATION.finditer(COMMENTS.sub("", text)))


def find_including_macros(texts: Iterable[str]) -> dict[str, Macro]:
    """The macros in these classes and packages that include the file they are given, without what else they do."""
    macros = [macro for text in texts if _INPUT_OF_ARGUMENT.search(text) for macro in _definitions(text)]
    including: dict[str, Macro] = {}
    for _ in range(_MAX_NESTING):
        names = "|".join([_INPUT_NAMES, *map(re.escape, including)])
        call = re.compile(rf"\\(?:{names})(?![A-Za-z@])\s*(?:\{{[^{{}}\n]{{0,200}}\}}){{1,3}}")
        count = len(including)
        for macro in macros:
            calls = [inclusion for inclusion in call.findall(macro.body) if "#" in inclusion]
            if calls and macro.name not in including:
                including[macro.name] = Macro(macro.name, macro.parameters, "\n\n".join(calls))
        if len(including) == count:
            break
    return including


def _definitions(text: str) -> Iterable[Macro]:
    source = LatexText(COMMENTS.sub("", text), "")
    for definition in _DEFINITION.finditer(source.text):
        cursor = Cursor()
        cursor.push(LatexFrame(source, definition.end(), len(source.text)))
        if macro := read_definition(cursor, definition[1]):
            yield macro


_PATH_MACRO = re.compile(
    r"\\(?:(?:new|renew|provide)command\*?\s{0,9}\{?\s{0,9}\\([A-Za-z@]{1,60})\s{0,9}\}?|[gex]?def\s{0,9}\\([A-Za-z@]{1,60}))\s{0,9}\{([^{}\n]{1,200})\}"
)
_COMMAND = re.compile(r"\\([A-Za-z@]+)[ \t]*(?:\{\})?")
_TRANSPARENT = frozenset("subfix detokenize unexpanded string expandafter noexpand relax currfiledir".split())
_MAX_PATH = 1000  # characters; macros can double each other
_BRACES = str.maketrans("", "", "{}")


def path_macros(texts: Iterable[str]) -> dict[str, str]:
    """The macros without parameters in these files that may stand for a folder; the first definition counts."""
    macros: dict[str, str] = {}
    for text in texts:
        for definition in _PATH_MACRO.finditer(COMMENTS.sub("", text)):
            macros.setdefault(definition[1] or definition[2], definition[3].strip())
    return macros


def expand_path(path: str, macros: Mapping[str, Macro], fallback: Callable[[], Mapping[str, str]], job: str) -> str:
    """A path with the values of the macros in it; `fallback` has those of files that were not read, `job` is \\jobname.

    A command that nothing defines stays: it may be a folder after a backslash, as on Windows.
    """

    def value(command: re.Match[str]) -> str:
        name = command[1]
        if name in macros:
            return command[0] if macros[name].parameters else macros[name].body
        if name in _TRANSPARENT:
            return ""
        return job if name == "jobname" else fallback().get(name, command[0])

    for _ in range(_MAX_NESTING):
        expanded = _COMMAND.sub(value, path) if "\\" in path else path
        if expanded == path or len(expanded) > _MAX_PATH:
            break
        path = expanded
    return path.translate(_BRACES).strip()
