"""Accents that a font prints as characters of their own, joined with the letters below or above them."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence

from whycite.documents.pdf.textlines import TextRun

__all__ = ["attach_accents", "compose_accent", "is_accent"]


_MARKS = "\u0301\u0300\u0308\u0302\u0303\u030c\u030a\u0327\u0304\u0307\u030b\u0306"
_COMBINING = dict(zip("´`¨ˆ˜ˇ˚¸¯˙˝˘", _MARKS, strict=True))
_DOTLESS = {"ı": "i", "ȷ": "j"}
_REACH = 60  # runs before and after an accent in which its letter is looked for: a line of text has fewer
_MAX_RISE = 0.6  # of the type size, between the baselines of an accent and its letter
_MAX_OFFSET = 0.25  # of the type size, between the middles of an accent and its letter
_MIN_SPACE = 0.15  # of the type size; gaps between letters of a word are narrower
Span = tuple[float, float]  # from x to x


def is_accent(text: str) -> bool:
    """Whether a text is an accent without a letter."""
    return text in _COMBINING


def compose_accent(accent: TextRun, letter: TextRun) -> str:
    """The accented letter if a letter is printed under a separate accent, else ""."""
    middle = (accent.x0 + accent.x1) / 2
    if not is_accent(accent.text) or not letter.x0 - 1 <= middle <= letter.x1 + 1:
        return ""
    return _compose(accent.text, letter.text)


def attach_accents(runs: Sequence[TextRun], span_at: Callable[[int], Span]) -> list[TextRun]:
    """The runs without the accents that stand apart from their letters, which get them.

    pdfium sorts the letters of a word by their place, and so may put an accent after the word, or on a line of its own.
    `span_at` tells where a character of the text is printed.
    """
    attached: list[TextRun] = []
    gone = False  # an accent was just taken out
    for i, run in enumerate(runs):
        if is_accent(run.text) and _attach(run, runs[max(0, i - _REACH) : i + _REACH], span_at):
            gone = True
            continue
        if gone and attached and abs(run.y - attached[-1].y) < _MAX_RISE * run.size:
            run.spaced = run.x0 - attached[-1].x1 > _MIN_SPACE * run.size
        gone = False
        attached.append(run)
    return attached


def _attach(accent: TextRun, neighbours: Sequence[TextRun], span_at: Callable[[int], Span]) -> bool:
    """Put an accent on the letter whose middle is nearest to its own; False if it stands above nothing.

    The accents of formulas, on letters that have none in Unicode, are left out.
    """
    middle = (accent.x0 + accent.x1) / 2
    best: tuple[float, TextRun, int, str] | None = None
    covers = False  # it stands above something
    for run in neighbours:
        on_line = abs(run.y - accent.y) < _MAX_RISE * max(run.size, accent.size)
        if not on_line or not run.x0 - 1 <= middle <= run.x1 + 1 or len(run.text) != run.end - run.start:
            continue
        covers = covers or (run is not accent and run.x0 < middle < run.x1)
        for position, letter in enumerate(run.text):
            composed = _compose(accent.text, letter)
            if composed:
                x0, x1 = span_at(run.start + position)
                offset = abs((x0 + x1) / 2 - middle)
                if offset < _MAX_OFFSET * run.size and (best is None or offset < best[0]):
                    best = offset, run, position, composed
    if best is None:
        return covers
    _, run, position, composed = best
    run.text = run.text[:position] + composed + run.text[position + 1 :]
    return True


def _compose(accent: str, letter: str) -> str:
    composed = unicodedata.normalize("NFC", _DOTLESS.get(letter, letter) + _COMBINING[accent])
    return composed if len(composed) == 1 and letter.isalpha() else ""
