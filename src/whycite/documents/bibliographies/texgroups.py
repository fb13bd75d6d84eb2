"""Groups in braces in a short TeX text."""

from __future__ import annotations

import re

__all__ = ["group_at", "matching_braces", "skip_space"]

_BRACE = re.compile(r"(?<!\\)[{}]")


def matching_braces(text: str) -> dict[int, int]:
    """For each opening brace the place of its closing one."""
    closing: dict[int, int] = {}
    opened: list[int] = []
    for brace in _BRACE.finditer(text):
        if brace[0] == "{":
            opened.append(brace.start())
        elif opened:
            closing[opened.pop()] = brace.start()
    return closing


def group_at(text: str, at: int, closing: dict[int, int]) -> tuple[str, int]:
    """The group in braces at `at`, or nothing where there is none, and where it ends."""
    start = skip_space(text, at)
    if start in closing:
        return text[start + 1 : closing[start]], closing[start] + 1
    return "", at


def skip_space(text: str, at: int) -> int:
    """The place of the next character that is not white space."""
    while at < len(text) and text[at].isspace():
        at += 1
    return at
