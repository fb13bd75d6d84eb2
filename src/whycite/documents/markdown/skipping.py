"""Where blocks end that are left out whole: LaTeX floats, HTML without prose, tables that hold blank lines."""

from __future__ import annotations

import re
from collections.abc import Iterator

from whycite.documents.latex.commands import FLOATS, PICTURES, TABULARS
from whycite.documents.markdown import lines
from whycite.documents.markdown.pages import Page
from whycite.documents.markup.stretch import Span

__all__ = ["skipped_end", "table_end", "tex_captions"]

_SKIPPED_TEX = FLOATS | TABULARS | PICTURES | {"verbatim", "Verbatim", "lstlisting", "minted", "thebibliography"}
_CAPTION = re.compile(r"\\caption\*?\s*(?:\[[^\[\]]{0,1000}\]\s*)?\{")
_BRACE = re.compile(r"[{}]")
_LOOKAHEAD = 6  # lines in which a table that begins with a rule shows its columns
_TABLE = 500  # lines of such a table


def skipped_end(page: Page, at: int, end: int) -> int | None:
    """Where the block that begins on this line ends; None: it is not left out, or does not end."""
    if tex := lines.TEX_BEGIN.match(page.text, at, end):
        closing = f"\\end{{{tex[1]}}}" if tex[1] in _SKIPPED_TEX else ""
    else:
        html = lines.HTML_BLOCK.match(page.text, at, end)
        closing = f"</{html[1]}" if html else ""
    close = page.find(closing, at) if closing else -1
    return close + len(closing) if close >= 0 else None


def tex_captions(text: str, start: int, end: int) -> Iterator[Span]:
    """What stands in the braces of every caption command of a range."""
    at = start
    while caption := _CAPTION.search(text, at, end):
        depth, at = 1, end
        for brace in _BRACE.finditer(text, caption.end(), end):
            depth += 1 if brace[0] == "{" else -1
            if not depth:
                at = brace.start()
                break
        yield caption.end(), at


def table_end(page: Page) -> int | None:
    """Where a table whose first line was a rule ends; None: it was only a rule."""
    ahead = page.spans[page.at : page.at + _TABLE]
    columns = next((n for n, span in enumerate(ahead[:_LOOKAHEAD]) if lines.DASHES.match(page.text, *span)), None)
    for start, end in ahead[columns + 1 :] if columns is not None else ():
        if lines.LONG_RULE.match(page.text, start, end):
            return end
    return None
