"""Reads pages that have no text, or none that means anything, with rapidocr (the extra `ocr`), in a limited process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec
from typing import Any

from whycite.documents.pdf.analysis import analyse
from whycite.documents.pdf.extraction import font_of
from whycite.documents.pdf.textlines import Box, TextRun

__all__ = ["MAX_RECOGNITION_SECONDS", "RECOGNITION_MEMORY", "analyse_with_ocr", "is_installed"]

MAX_RECOGNITION_SECONDS = 180.0  # for one page; it takes 5 seconds, on a busy machine ten times as long
RECOGNITION_MEMORY = 4 << 30  # bytes of address space; it takes a bit more than one GiB
_SCALE = 200 / 72  # pixels a point: 200 dots an inch show print of 8 points well enough
_FONT = font_of("recognised", 0, 0)
_TYPE_SIZE = 0.72  # of the height of a line's box, which has room for ascenders and descenders
_SAME_HEIGHT = 0.25  # share by which the boxes of lines in one type differ: not all have descenders
_BASELINE = 0.22  # of the height of a line's box, from its lower edge up


def is_installed() -> bool:
    """Whether the extra is installed."""
    return find_spec("rapidocr") is not None


def analyse_with_ocr(data: bytes, alive: Callable[[], None]) -> dict[str, Any]:
    """What `analyse` says of a PDF, once the pages without text have been recognised."""
    return analyse(data, alive, _recognise)


def _recognise(page: Any, start: int) -> list[TextRun]:
    """The words on the image of a page of pdfium; `start` is where it begins in the document's text."""
    result = _engine()(page.render(scale=_SCALE).to_numpy()[:, :, :3])
    if not result.txts:
        return []
    boxes = [_box(corners.tolist()) for corners in result.boxes]
    usual = sorted(y1 - y0 for _, y0, _, y1 in boxes)[len(boxes) // 2]
    lines = zip(boxes, result.txts, strict=True)
    return [run for box, text in lines for run in _words(box, text, usual, page.get_height(), start)]


def _box(corners: list[list[float]]) -> Box:
    """The box around the corners of a line, from pixels to points; y grows downwards."""
    xs, ys = [x / _SCALE for x, _ in corners], [y / _SCALE for _, y in corners]
    return min(xs), min(ys), max(xs), max(ys)


def _words(box: Box, text: str, usual: float, page_height: float, start: int) -> Iterator[TextRun]:
    """The words of a line, each as wide as its share of the letters; `usual` is the height of most lines."""
    left, top, right, bottom = box
    height, width = bottom - top, (right - left) / max(len(text), 1)
    baseline = page_height - bottom + _BASELINE * height
    size = round(_TYPE_SIZE * (usual if abs(height - usual) < _SAME_HEIGHT * usual else height), 1)
    position = 0
    for word in text.split(" "):
        if word:
            x0, x1 = left + position * width, left + (position + len(word)) * width
            yield TextRun(word, x0, x1, baseline, size, _FONT, start, start, spaced=True)
        position += len(word) + 1


@cache
def _engine() -> Any:
    """The recogniser, loaded once per process."""
    from rapidocr import RapidOCR

    return RapidOCR(params={"Global.log_level": "error"})
