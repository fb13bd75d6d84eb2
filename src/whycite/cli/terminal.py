"""Text of documents on a terminal."""

from __future__ import annotations

__all__ = ["plain", "printable"]


def printable(text: str) -> str:
    """Text without control codes: a document must not move the cursor or change the colours."""
    return text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)


def plain(text: str) -> str:
    """The same for rich, which reads markup in brackets."""
    from rich.markup import escape

    return escape(printable(text))
