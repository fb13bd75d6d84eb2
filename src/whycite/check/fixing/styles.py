"""How a draft writes its citations: the command it uses most, and what stands before it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from whycite.documents.model import Document

__all__ = ["Style", "style_of"]

# Commands whose citation stands in brackets or as a mark: the others print the name as a word of the sentence.
_PARENTHETICAL = frozenset("cite citep parencite autocite smartcite supercite footcite onlinecite shortcite".split())
_COMMAND = re.compile(r"\\([A-Za-z]+)(?!\*?[A-Za-z])")
_ROLE = re.compile(r"\{(cite(?::(?:p|ps))?|citep)\}`|:(cite(?::p)?):`")
_PACKAGE = re.compile(r"^[^%\n]*\\usepackage\s*(?:\[[^\]]{0,2000}\])?\s*\{[^}]*\b(biblatex|natbib|apacite)\b", re.M)
_PANDOC_KEY = re.compile(r"\w+(?:[:.#$%&\-+?<>~/]\w+)*")
_TYPST_KEY = re.compile(r"[^\W\d][\w:.-]*(?<![:.])")
_TEX_KEY = re.compile(r"[^\s{}\\,%#~\"]+")
_ROLE_KEY = re.compile(r"[^\s`{},;]+")
_SPHINX = ("_toc.yml", "conf.py")  # files of a book whose Markdown has roles but no keys in brackets


@dataclass(frozen=True, slots=True)
class Style:
    """What stands around a key, and before the whole."""

    opening: str
    closing: str
    gap: str
    key: re.Pattern[str]  # what a key must look like

    def write(self, key: str) -> str | None:
        """The citation of a key; none where the key cannot be written in this way."""
        if self.key.fullmatch(key):
            return f"{self.opening}{key}{self.closing}"
        if self.opening == "[@" and not re.search(r"[\s{}]", key):
            return f"[@{{{key}}}]"
        if self.key is _TYPST_KEY and not re.search(r'[\s"\\]', key):
            return f'#cite(label("{key}"))'
        return None


def style_of(document: Document, texts: Mapping[str, str], beside: Iterable[str] = ()) -> Style | str:
    """The style of a draft whose files' texts are given by their names, or why it has none that can be written."""
    if document.format == "latex":
        return _latex(document, texts)
    if document.format == "markdown":
        return _markdown(document, texts, beside)
    if document.format == "typst":
        calls = sum(written.startswith("#cite") for _, written in _written(document, texts))
        marks = sum(written.startswith("@") for _, written in _written(document, texts))
        opening, closing = ("#cite(<", ">)") if calls > marks else ("@", "")
        return Style(opening, closing, " ", _TYPST_KEY)
    return f"citations cannot be written into a draft of format {document.format}"


def _latex(document: Document, texts: Mapping[str, str]) -> Style:
    commands: Counter[str] = Counter()
    gaps: Counter[str] = Counter()
    for before, written in _written(document, texts):
        command = _COMMAND.match(written)
        if command and command[1] in _PARENTHETICAL:
            commands[command[1]] += 1
            gaps["~" if before == "~" else " " if before.isspace() else "" if before.isalnum() else "other"] += 1
    del gaps["other"]  # an opening bracket, another citation
    most = commands.most_common(1)[0][0] if commands else _packaged(texts.values())
    gap = gaps.most_common(1)[0][0] if gaps else "~"
    return Style(f"\\{most}{{", "}", gap, _TEX_KEY)


def _packaged(texts: Iterable[str]) -> str:
    """The command of the package that the preamble loads."""
    found = next((match[1] for text in texts if (match := _PACKAGE.search(text))), "")
    return {"biblatex": "parencite", "natbib": "citep"}.get(found, "cite")


def _markdown(document: Document, texts: Mapping[str, str], beside: Iterable[str]) -> Style | str:
    keys, roles, commands, printed = 0, Counter[str](), 0, 0
    for _, written in _written(document, texts):
        role = _ROLE.match(written)
        if role:
            roles[role[0]] += 1
        elif "@" in written or written.startswith(("{", ":")):
            keys += 1
        elif written.startswith("\\"):
            commands += 1
        else:
            printed += 1
    if commands > keys + roles.total() + printed:
        return _latex(document, texts)
    if printed > keys + roles.total():
        return "the draft cites by numbers, names or links, not by keys: the citation has to be put in by hand"
    if roles.total() > keys:
        return Style(roles.most_common(1)[0][0], "`", " ", _ROLE_KEY)
    if not keys and not set(_SPHINX).isdisjoint(beside):
        return Style("{cite:p}`", "`", " ", _ROLE_KEY)
    return Style("[@", "]", " ", _PANDOC_KEY)


def _written(document: Document, texts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Each citation as it stands in its file, with the character before it."""
    for sentence in document.sentences:
        text = texts.get(sentence.file, "")
        for citation in sentence.citations:
            yield text[max(0, citation.start - 1) : citation.start], text[citation.start : citation.end]
