"""Runs out of the characters of a page: one font, one baseline, no white space."""

from __future__ import annotations

import ctypes
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from whycite.documents.pdf.fonts import font_of
from whycite.documents.pdf.pdfium import api
from whycite.documents.pdf.runs import Font, Run

__all__ = ["Fonts", "runs_of"]

_HYPHEN = "\ufffe"  # what pdfium writes for a hyphen at the end of a line
_MARKS = "\u0301\u0300\u0308\u0302\u0303\u030c\u030a\u0327\u0304\u0307\u030b\u0306"
_COMBINING = dict(zip("´`¨ˆ˜ˇ˚¸¯˙˝˘", _MARKS, strict=True))
_DOTLESS = {"ı": "i", "ȷ": "j"}
# What TeX's two text encodings have where others have control characters: bitmap fonts do not tell what they print.
_TEX = dict(zip("\x1b\x1c\x1d\x1e\x1f\x0b\x0c\r\x0e\x0f\x10\x11\x15\x16", "ﬀﬁﬂﬃﬄﬀﬁﬂﬃﬄ“”–—", strict=True))
_CONTROL = re.compile(r"[\x0b\x0c\x0e-\x11\x15\x16\x1b-\x1f]|\r(?!\n)")
_WORD = re.compile(r"[a-z]{3,}")
_BITMAP = "bitmap"  # the name we give
_FEW_WORDS = 3  # a font that sets so many on a page sets text
_NO_FONT = font_of("", 0, 0)
_SMALLEST = 2.0  # fonts drawn by procedures (Type 3) often claim a size below
_FAR = 1e5  # points; what stands farther out, or nowhere, is not on the page
_LONGEST = 1_000  # characters of a run; a longer word is none, and shall not cost more
_ENOUGH_LETTERS = 400
_ASCENT = 0.7  # height of the tallest letters and digits of a font, in units of its size


class Fonts:
    """The fonts of a document; those without a size get one from the height of their letters."""

    def __init__(self) -> None:
        self._by_handle: dict[int, Font] = {}
        self._by_name: dict[tuple[str, int, int], Font] = {}
        self._heights: dict[int, list[float]] = {}
        self._nameless: list[Font] = []  # kept, since `_heights` knows them by id

    def turn_page(self) -> None:
        """Forget the handles: pdfium may give those of a closed page to other fonts."""
        self._by_handle.clear()

    def style(self, text: Any, index: int, key: int) -> tuple[int, float, Font]:
        """Quarter turns to the left, size as printed (0: not told) and font of a text object."""
        matrix, size = api().matrix(), ctypes.c_float(0)
        if not key or not api().char_matrix(text, index, ctypes.byref(matrix)):
            return 0, 0.0, _NO_FONT
        api().font_size(key, ctypes.byref(size))
        handle = api().font(key) or 0
        if handle not in self._by_handle:
            self._by_handle[handle] = self._font(*_described(handle))
        if abs(matrix.a) >= abs(matrix.b):
            turn = 0 if matrix.a >= 0 else 2
        else:
            turn = 1 if matrix.b > 0 else 3
        printed = abs(size.value) * max(abs(matrix.c), abs(matrix.d))
        return turn, round(printed, 1) if _SMALLEST <= printed <= _FAR else 0.0, self._by_handle[handle]

    def _font(self, name: str, weight: int, slant: int) -> Font:
        """One font for each name; those without a name are kept apart."""
        if not name:
            self._nameless.append(font_of(name, weight, slant))
            return self._nameless[-1]
        key = (name, weight, slant)
        if key not in self._by_name:
            self._by_name[key] = font_of(*key)
        return self._by_name[key]

    def saw(self, font: Font, height: float) -> None:
        """Note the height of a letter of a font that tells no size."""
        heights = self._heights.setdefault(id(font), [])
        if len(heights) < _ENOUGH_LETTERS:
            heights.append(height)

    def resize(self, runs: Sequence[Run]) -> None:
        """Where most text is in fonts that tell no size, give them the one their letters show."""
        unsized = [run for run in runs if id(run.font) in self._heights]
        if 2 * sum(len(run.text) for run in unsized) < sum(len(run.text) for run in runs):
            return  # only symbols are: they keep the size of the text around them
        sizes = {key: sorted(heights)[int(0.85 * len(heights))] / _ASCENT for key, heights in self._heights.items()}
        for run in unsized:
            run.size = min(max(round(sizes[id(run.font)], 1), _SMALLEST), 60.0)

    def name_texts(self, runs: Sequence[Run]) -> None:
        """Where most text is in fonts without a name, name those that set words: the others set formulas."""
        nameless = [run for run in runs if not run.font.name]
        if 2 * sum(len(run.text) for run in nameless) < sum(len(run.text) for run in runs):
            return
        total: Counter[int] = Counter()
        words: Counter[int] = Counter()
        for run in nameless:
            total[id(run.font)] += len(run.text)
            words[id(run.font)] += len(run.text) if run.text[:3].isalpha() and len(run.text) > 2 else 0
        texts = {key: replace(_NO_FONT, name=_BITMAP) for key, count in total.items() if 3 * words[key] > count}
        for run in nameless:
            run.font = texts.get(id(run.font), run.font)


def _described(handle: int) -> tuple[str, int, int]:
    """Name, weight and slant of a font."""
    buffer = ctypes.create_string_buffer(256)
    if not handle or not 0 < api().font_name(handle, buffer, len(buffer)) <= len(buffer):
        return "", 0, 0
    slant = ctypes.c_int(0)
    api().italic_angle(handle, ctypes.byref(slant))
    return buffer.value.decode("utf-8", "replace"), api().weight(handle), slant.value


def runs_of(textpage: Any, text: str, offset: int, fonts: Fonts) -> Iterator[tuple[int, Run]]:
    """The runs of a page in stream order, each with its direction; offsets count from `offset`."""
    call = api()
    raw = ctypes.cast(textpage.raw, ctypes.c_void_p)
    places = _places(raw, textpage.count_chars(), text)
    ligatures = _ligatures(raw, text, places)
    styles: dict[int, tuple[int, float, Font]] = {}
    x, y, box = ctypes.c_double(), ctypes.c_double(), call.rectangle()
    sides = [ctypes.c_double() for _ in range(4)]
    at_x, at_y, at_box, at_sides = ctypes.byref(x), ctypes.byref(y), ctypes.byref(box), [*map(ctypes.byref, sides)]
    run: Run | None = None
    direction, spaced, last_x0, usual = 0, True, 0.0, 10.0
    for i, place in enumerate(places):
        if place < 0:
            continue
        character = text[place]
        if place in ligatures:
            character = ligatures[place]
        if "\x7f" <= character <= "\x9f":  # control characters that a broken font made of symbols
            continue
        if character <= " " or character == _HYPHEN or character.isspace():
            if run is not None and run.text in _COMBINING:  # raised accents look like a line of their own
                continue
            if run is not None:
                run.hyphen = character == _HYPHEN
                yield direction, run
                run = None
            spaced = character != _HYPHEN
            continue
        key = call.text_object(raw, i) or 0
        style = styles.get(key)
        if style is None:
            style = styles[key] = fonts.style(raw, i, key)
        turn, size, font = style
        call.origin(raw, i, at_x, at_y)
        call.loose_box(raw, i, at_box)
        if turn == 0:
            x0, x1, base = box.left, box.right, y.value
        elif turn == 1:
            x0, x1, base = box.bottom, box.top, -x.value
        elif turn == 2:
            x0, x1, base = -box.right, -box.left, -y.value
        else:
            x0, x1, base = -box.top, -box.bottom, x.value
        if not (abs(x0) < _FAR and abs(x1) < _FAR and abs(base) < _FAR):
            continue
        if size:
            usual = size
        else:
            size = usual
            call.tight_box(raw, i, *at_sides)
            if character.isalnum():
                fonts.saw(font, sides[3].value - sides[2].value if turn % 2 == 0 else sides[1].value - sides[0].value)
        start = offset + place
        if (
            run is not None
            and run.end == start
            and run.font is font
            and run.size == size
            and abs(run.y - base) < 0.05 * size
            and last_x0 - 0.3 * size < x0 < run.x1 + 0.5 * size  # the letters of a ligature share one box
            and character not in _COMBINING
            and run.text not in _COMBINING
            and len(run.text) == run.end - run.start < _LONGEST
        ):
            run.text += character
            run.x1, run.end, last_x0 = x1, start + 1, x0
            continue
        fresh = Run(character, x0, x1, base, size, font, start, start + 1, spaced)
        if run is not None:
            if composed := _composed(run, fresh):
                run.text, run.x0, run.x1, run.y, run.end = composed, x0, x1, base, start + 1
                last_x0 = x0
                continue
            yield direction, run
        run, direction, spaced, last_x0 = fresh, turn, False, x0
    if run is not None:
        yield direction, run


def _ligatures(raw: Any, text: str, places: Sequence[int]) -> dict[int, str]:
    """What control characters stand for, by place: next to a letter, in a font without a name that sets words."""
    marks = [match.start() for match in _CONTROL.finditer(text)]
    if not marks:
        return {}
    call = api()
    index = {place: i for i, place in enumerate(places)}

    def font_at(place: int) -> int:
        handle = call.font(call.text_object(raw, index[place]) or 0) if place in index else 0
        return handle or 0

    words = Counter(font_at(match.start()) for match in _WORD.finditer(text))
    texts = {font for font, count in words.items() if font and count >= _FEW_WORDS and not _described(font)[0]}
    return {
        at: _TEX[text[at]]
        for at in marks
        for font in (font_at(at),)
        if font in texts and any(text[i : i + 1].isalnum() and font_at(i) == font for i in (max(at - 1, 0), at + 1))
    }


def _places(raw: Any, count: int, text: str) -> Sequence[int]:
    """Where each character of a page stands in its text; -1 for those that do not.

    pdfium counts in UTF-16, and control characters have a place on the page but none in its text.
    """
    if len(text) == count and text.isascii():
        return range(count)
    units: list[int] = []
    for at, character in enumerate(text):
        units.append(at)
        if character > "\uffff":
            units.append(-1)
    if len(units) == count:
        return units
    indices = (api().text_index(raw, i) for i in range(count))
    return [units[index] if 0 <= index < len(units) else -1 for index in indices]


def _composed(accent: Run, letter: Run) -> str:
    """The accented letter where a letter is printed under a separate accent, else nothing."""
    middle = (accent.x0 + accent.x1) / 2
    if accent.text not in _COMBINING or not letter.x0 - 1 <= middle <= letter.x1 + 1:
        return ""
    plain = _DOTLESS.get(letter.text, letter.text)
    composed = unicodedata.normalize("NFC", plain + _COMBINING[accent.text])
    return composed if len(composed) == 1 else ""
