"""Text on a terminal."""

from __future__ import annotations

__all__ = ["count", "plain", "printable"]


def printable(text: str) -> str:
    """Text without control codes: a document must not move the cursor or change the colours."""
    return text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)


def plain(text: str) -> str:
    """The same for rich, which reads markup in brackets."""
    from rich.markup import escape

    return escape(printable(text))


def count(number: int, noun: str) -> str:
    """ "1 section", "2 sections"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
