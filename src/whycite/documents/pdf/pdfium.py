"""The pdfium calls that pypdfium2 wraps too slowly, or not at all, for use on every character."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

from whycite.documents.pdf.runs import Box

__all__ = ["Api", "api", "drawings"]

_MAX_OBJECTS = 4_000  # of a page, looked at for pictures and rules
_RULE = 3.0  # a drawing no higher than that is a rule


class Api:
    """Functions on plain addresses: typed pointers would cost half of the time."""

    def __init__(self) -> None:
        import pypdfium2.raw as c

        self.matrix, self.rectangle = c.FS_MATRIX, c.FS_RECTF
        address, integer = ctypes.c_void_p, ctypes.c_int

        def plain(function: Any, result: Any, *arguments: Any) -> Any:
            return ctypes.CFUNCTYPE(result, *arguments)(ctypes.cast(function, address).value or 0)

        self.text_index = plain(c.FPDFText_GetTextIndexFromCharIndex, integer, address, integer)
        self.text_object = plain(c.FPDFText_GetTextObject, address, address, integer)
        self.origin = plain(c.FPDFText_GetCharOrigin, integer, address, integer, address, address)
        self.loose_box = plain(c.FPDFText_GetLooseCharBox, integer, address, integer, address)
        self.tight_box = plain(c.FPDFText_GetCharBox, integer, address, integer, *[address] * 4)
        self.char_matrix = plain(c.FPDFText_GetMatrix, integer, address, integer, address)
        self.font_size = plain(c.FPDFTextObj_GetFontSize, integer, address, address)
        self.font = plain(c.FPDFTextObj_GetFont, address, address)
        self.font_name = plain(c.FPDFFont_GetBaseFontName, ctypes.c_size_t, address, address, ctypes.c_size_t)
        self.weight = plain(c.FPDFFont_GetWeight, integer, address)
        self.italic_angle = plain(c.FPDFFont_GetItalicAngle, integer, address, address)


@cache
def api() -> Api:
    """The functions, bound once a process."""
    return Api()


def drawings(page: Any, area: float) -> tuple[list[Box], list[Box], bool]:
    """The boxes of the images and embedded graphics of a page, its horizontal rules, whether an image fills it."""
    import pypdfium2.raw as c

    pictures: list[Box] = []
    rules: list[Box] = []
    filled = False
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    for i in range(min(c.FPDFPage_CountObjects(page.raw), _MAX_OBJECTS)):
        item = c.FPDFPage_GetObject(page.raw, i)
        kind = c.FPDFPageObj_GetType(item)
        if kind == c.FPDF_PAGEOBJ_TEXT or not c.FPDFPageObj_GetBounds(item, left, bottom, right, top):
            continue
        box = (left.value, bottom.value, right.value, top.value)
        wide, high = box[2] - box[0], box[3] - box[1]
        if high < _RULE and wide > 20:
            rules.append(box)
        elif kind != c.FPDF_PAGEOBJ_PATH and 0.005 * area < wide * high < 0.6 * area:
            pictures.append(box)
        filled = filled or (kind == c.FPDF_PAGEOBJ_IMAGE and wide * high >= 0.6 * area)
    return pictures, rules, filled
