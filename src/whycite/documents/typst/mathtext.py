"""Typst formulas in running text: simple ones as plain characters, the rest as the word EQUATION."""

from __future__ import annotations

import re

from whycite.documents.latex.mathtext import EQUATION, displayed, math_text

__all__ = ["typst_math"]

_LONGEST = 60
_QUOTED = re.compile(r'"([^"\\]*)"')
_WORD = re.compile(r"(?<![A-Za-z\\])([A-Za-z]{2,})(?:\.[a-z]+)*")
_CALL = re.compile(r"[A-Za-z]{2,}\(|[#&/]")
_SIGNS = {"<=": "≤", ">=": "≥", "!=": "≠", "->": "→", "=>": "⇒", "~=": "≅", "...": "…"}
_NAMES = {"dot": "cdot", "plus": "pm", "minus": "mp", "eq": "neq", "approx": "approx", "tilde": "sim", "prop": "propto"}


def typst_math(source: str) -> str:
    """The formula as it reads in a sentence, or EQUATION where it is displayed or not simple."""
    if source[:1].isspace() and source[-1:].isspace():
        return displayed(source)
    if not source or len(source) > _LONGEST or _CALL.search(source):
        return EQUATION
    for sign, character in _SIGNS.items():
        source = source.replace(sign, character)
    texts = _QUOTED.findall(source)
    if any("\\" in text for text in texts):
        return EQUATION
    source = _QUOTED.sub(lambda quoted: f" {quoted[1]} " if len(quoted[1]) < 2 else f" \x00{quoted[1]}\x00 ", source)
    parts = source.split("\x00")
    parts[::2] = [_WORD.sub(lambda word: f"\\{_NAMES.get(word[1], word[1])}{{}}", part) for part in parts[::2]]
    return math_text("".join(parts))
