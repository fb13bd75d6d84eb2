"""What kind of line a line of Markdown is."""

from __future__ import annotations

import re

__all__ = [
    "ATX",
    "CAPTION",
    "DASHES",
    "DEFINITION",
    "DIRECTIVE",
    "DIV",
    "EXAMPLE",
    "FENCE",
    "FOOTNOTE",
    "GRID",
    "HTML_BLOCK",
    "INCLUDE",
    "LABEL",
    "LINE",
    "LINK",
    "LIST",
    "LONG_RULE",
    "MYST_BREAK",
    "MYST_COMMENT",
    "OPTION",
    "PIPES",
    "QUOTE",
    "ROW",
    "RULE",
    "SETEXT",
    "TABLE_CAPTION",
    "TARGET",
    "TEXT_REFERENCE",
    "TEX_BEGIN",
    "columns_of",
]

LINE = re.compile(r"[^\n]*(?:\n|$)")
QUOTE = re.compile(r"(?: {0,3}>[ \t]?)+")
ATX = re.compile(r"(#{1,6})(?=[ \t\r\n]|$)[ \t]*")
SETEXT = re.compile(r"(=+|-+)[ \t]*\r?\n?$")
RULE = re.compile(r"(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})\r?\n?$")
FENCE = re.compile(r"(`{3,}(?![^\n]*`)|~{3,})([^\n]*)")
DIV = re.compile(r"(:{3,})([^\n]*)")
DIRECTIVE = re.compile(r"\{([\w:.+-]{1,40})\}[ \t]*(.*)")
OPTION = re.compile(r":[\w-]{1,40}:(?:[ \t]|\r?\n|$)")
LIST = re.compile(
    r"(?:(?P<bullet>[-*+])|\(?(?P<number>\d{1,9})[.)]|\(?(?:[a-z]|[ivx]{1,6}|#|@[\w-]{0,60})[.)]"
    r"|[A-Z]\)|[A-Z]\.(?=[ \t]{2}))"
    r"(?:[ \t]+(?:\[[ xX]\][ \t]+)?|(?=\r?\n|$))"
)
EXAMPLE = re.compile(r"^[ \t]*\(@([\w-]{1,60})\)[ \t]", re.MULTILINE)
LABEL = re.compile(r"^ {0,3}\[(?![\^@])([^\[\]\n]{1,200})\]:", re.MULTILINE)
FOOTNOTE = re.compile(r"\[\^[^\s\[\]]{1,100}\]:[ \t]*")
LINK = re.compile(
    r"\[(?![\^@])([^\[\]]{1,200})\]:[ \t]*(?:<[^<>\n]*>|[^\s<]\S*)"
    r"(?:[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'|\([^()\n]*\)))?[ \t]*\r?\n?$"
)
INCLUDE = re.compile(r"\{\{<[ \t]*include[ \t]+[\"']?([^\"'\n]{1,300}?)[\"']?[ \t]*>\}\}")
PIPES = re.compile(
    r"\|?[ \t]*:?-+:?[ \t]*(?:[|+][ \t]*:?-+:?[ \t]*)+\|?[ \t]*\r?\n?$|\|[ \t]*:?-+:?[ \t]*\|[ \t]*\r?\n?$"
)
ROW = re.compile(r"\|[^\n]*\|[ \t]*\r?\n?$")
GRID = re.compile(r"\+(?:[-=:]+\+)+[ \t]*\r?\n?$")
DASHES = re.compile(r"[ \t]*-{2,}(?:[ \t]+-{2,})+[ \t]*\r?\n?$")
TABLE_CAPTION = re.compile(r"Table:(?=[ \t])[ \t]*")
LONG_RULE = re.compile(r"[ \t]*-{10,}[ \t]*\r?\n?$")
CAPTION = re.compile(r"(?:Table:|:)(?=[ \t])[ \t]*")
DEFINITION = re.compile(r"[:~][ \t]+")
TARGET = re.compile(r"\([\w:./-]{1,100}\)=[ \t]*\r?\n?$")  # of a cross reference in MyST
MYST_BREAK = re.compile(r"\+\+\+(?:[ \t][^\n]*)?\r?\n?$")
MYST_COMMENT = re.compile(r"%[ \t]")
TEXT_REFERENCE = re.compile(r"\(ref:[\w-]{1,100}\)[ \t]*")
TEX_BEGIN = re.compile(r"\\begin\s*\{([A-Za-z]{1,40}\*?)\}")
HTML_BLOCK = re.compile(r"<(script|style|table|pre|svg|iframe|template|textarea|video)\b", re.IGNORECASE)


def columns_of(line: str) -> int:
    """How far a line is indented, a tab up to the next fourth column."""
    columns = 0
    for character in line:
        if character == " ":
            columns += 1
        elif character == "\t":
            columns += 4 - columns % 4
        else:
            break
    return columns
