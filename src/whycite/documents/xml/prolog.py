"""What stands before the root of an XML file, made harmless: without declarations nothing can be expanded."""

from __future__ import annotations

import re

__all__ = ["without_declarations"]

# Characters XML does not allow; converters of PDF leave them in all the same.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_NOT_LINE_END = re.compile(r"[^\r\n]")
_DOCTYPE_TOKEN = re.compile(r"""["'\[\]>]|<!--|<\?""")
_ENDS = {'"': '"', "'": "'", "<!--": "-->", "<?": "?>"}


def without_declarations(text: str) -> str:
    """The text, as long as it was, with its declarations and the characters XML forbids turned into spaces."""
    return _FORBIDDEN.sub(" ", _blank_prolog(text))


def _blank_prolog(text: str) -> str:
    at = _skip_white(text, 0)
    if text.startswith("<?xml", at):
        text, at = _blank(text, 0, text.find("?>", at) + 2)
    elif at:
        text, at = _blank(text, 0, at)
    while True:
        if text.startswith("<!DOCTYPE", at):
            return _blank(text, at, _doctype_end(text, at))[0]
        opener = "<?" if text.startswith("<?", at) else "<!--" if text.startswith("<!--", at) else ""
        end = text.find(_ENDS[opener], at) if opener else -1
        if end < 0:
            return text
        at = _skip_white(text, end + len(_ENDS[opener]))


def _blank(text: str, start: int, end: int) -> tuple[str, int]:
    return text[:start] + _NOT_LINE_END.sub(" ", text[start:end]) + text[end:], _skip_white(text, end)


def _doctype_end(text: str, start: int) -> int:
    at, depth = start, 0
    while found := _DOCTYPE_TOKEN.search(text, at):
        token, at = found[0], found.end()
        if token == ">" and depth <= 0:
            return at
        depth += {"[": 1, "]": -1}.get(token, 0)
        if token in _ENDS:
            end = text.find(_ENDS[token], at)
            if end < 0:
                break
            at = end + len(_ENDS[token])
    return len(text)


def _skip_white(text: str, at: int) -> int:
    while at < len(text) and (text[at].isspace() or text[at] == "\ufeff"):
        at += 1
    return at
