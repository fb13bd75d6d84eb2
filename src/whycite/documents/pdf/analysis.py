"""From PDF bytes to blocks of text in reading order, and how much of the text was read; runs in the limited process.

Pages that have no text, or none that means anything, are read with rapidocr (the extra `ocr`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from itertools import groupby
from typing import Any

from whycite.documents.pdf.extraction import Extraction, Recogniser, extract, font_of, needs_recognition
from whycite.documents.pdf.floats import dense_lines, mark_captions, mark_floats, mark_formulas, prose_lines
from whycite.documents.pdf.frontmatter import has_unheaded_abstract, mark_front, mark_title
from whycite.documents.pdf.headings import find_headings, is_reference_heading
from whycite.documents.pdf.layout import (
    BodyMeasures,
    common_size,
    find_gutters,
    in_reading_order,
    measure,
    set_edges,
    split_subcaptions,
)
from whycite.documents.pdf.margins import drop_line_numbers, mark_contents, mark_footnotes, mark_furniture
from whycite.documents.pdf.textblocks import BlockAssembler, split_entries, unheaded_list
from whycite.documents.pdf.textflow import PdfText, Vocabulary
from whycite.documents.pdf.textlines import Box, PdfLine, PdfPage, TextRun, lines_of
from whycite.text.language import reads_as_prose, reads_as_sentences

__all__ = [
    "PageCoverage",
    "analyse",
    "analyse_with_ocr",
    "cover_pages",
    "name_pages",
    "read_share",
    "warn_of_gaps",
]

MAX_LOST_SHARE = 0.05  # of the text of a page, beyond which a warning names the page
_MIN_LOST = 120  # characters, about a line and a half; less on a short page is not worth a warning
_USUAL_LENGTH = 2_500  # characters on a page, where no page shows how many there are
_MAX_RANGES = 5  # ranges of pages that are listed
_DIGITS = re.compile(r"\d+")
# Roles whose lines do not get into the document, and what they were taken for.
_DROPPED = {
    "code": "code",
    "figure": "a figure",
    "furniture": "the margin",
    "surplus": "a reference",
    "front": "the title page",
}


@dataclass(frozen=True, slots=True)
class PageCoverage:
    """What became of the characters of a page."""

    number: int  # from 1
    kept: int = 0
    illegible: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict)  # what read as prose, by what it was taken for
    scanned: bool = False

    @property
    def lost(self) -> int:
        """The number of characters of prose that were not read."""
        return self.illegible + sum(self.dropped.values())

    @property
    def lossy(self) -> bool:
        """Whether too much was lost to keep silent about it."""
        return self.lost >= _MIN_LOST and self.lost > MAX_LOST_SHARE * (self.kept + self.lost)

    @property
    def mostly_illegible(self) -> bool:
        """Whether most of what was lost is in fonts that do not say what they print."""
        return 2 * self.illegible > self.lost


def cover_pages(
    pages: Sequence[PdfPage], ordered: Iterable[PdfLine], page_lines: Sequence[Iterable[PdfLine]]
) -> list[PageCoverage]:
    """The coverage of every page, once the lines in reading order have their roles; `page_lines` have running heads."""
    margins = [[line for line in lines if line.role == "furniture"] for lines in page_lines]
    repeated = Counter(_pattern(line) for lines in margins for line in lines)
    by_page = {page.number: lines for page, lines in zip(pages, margins, strict=True)}
    for line in ordered:
        by_page[line.page].append(line)
    coverage = []
    for page in pages:
        lines = by_page[page.number]
        dropped: Counter[str] = Counter()
        length = 0
        for line in lines:
            if line.role not in _DROPPED:
                length += line.length
            elif _is_lost(line, repeated):
                dropped[_DROPPED[line.role]] += line.length
        coverage.append(PageCoverage(page.number + 1, length, page.illegible, dropped, _is_scan(page, lines)))
    return coverage


def _is_lost(line: PdfLine, repeated: Counter[str]) -> bool:
    """Whether a line that was dropped reads as prose; running heads do too, but are repeated."""
    if line.role in ("front", "surplus"):  # they are full of names
        return reads_as_sentences(line.text)
    return reads_as_prose(line.text) and not (line.role == "furniture" and repeated[_pattern(line)] > 1)


def read_share(pages: Sequence[PageCoverage], unread: int) -> float:
    """The share of the text that was read; a scanned or `unread` page counts as long as the others."""
    lengths = sorted(page.kept + page.lost for page in pages if not page.scanned)
    usual = lengths[len(lengths) // 2] if lengths else _USUAL_LENGTH
    read = sum(page.kept for page in pages if not page.scanned)
    lost = sum(page.lost for page in pages if not page.scanned and page.lossy)
    lost += usual * (sum(page.scanned for page in pages) + unread)
    return read / (read + lost) if read + lost else 0.0


def warn_of_gaps(pages: Sequence[PageCoverage], remedy: str) -> list[tuple[str, str]]:
    """What was not read, in words, each with the warning that says what to do; `remedy` is how to read an image."""
    gaps = []
    if scanned := [page.number for page in pages if page.scanned]:
        gap = f"{name_pages(scanned)} {_be(scanned)} scanned"
        gaps.append((gap, f"{gap} and {'has' if len(scanned) == 1 else 'have'} no text; {remedy}"))
    lossy = [page for page in pages if page.lossy and not page.scanned]
    if illegible := [page for page in lossy if page.mostly_illegible]:
        numbers = [page.number for page in illegible]
        gap = f"the fonts of {_share(illegible)} of {name_pages(numbers)} do not say which letters they print"
        gaps.append((gap, f"{gap}; get another copy of the paper, or {remedy}"))
    for reason in dict.fromkeys(_DROPPED.values()):
        left_out = [page for page in lossy if not page.mostly_illegible and _main_reason(page) == reason]
        if left_out:
            gap = f"{_share(left_out)} of {name_pages([page.number for page in left_out])} was taken for {reason}"
            gaps.append((gap, f"{gap} and left out; look there yourself"))
    return gaps


def name_pages(numbers: Sequence[int]) -> str:
    """Page numbers in words: "pages 1, 3-5 and 9"."""
    ranges: list[str] = []
    count = 0
    for _, group in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0]):
        run = [number for _, number in group]
        if len(ranges) >= _MAX_RANGES:
            break
        ranges += [f"{run[0]}-{run[-1]}"] if len(run) > 2 else map(str, run)
        count += len(run)
    if count < len(numbers):
        ranges.append(f"{len(numbers) - count} more")
    names = " and ".join([", ".join(ranges[:-1]), ranges[-1]] if len(ranges) > 1 else ranges)
    return f"page {names}" if len(numbers) == 1 else f"pages {names}"


def _is_scan(page: PdfPage, lines: Iterable[PdfLine]) -> bool:
    """Whether a page is an image with at most a stamp on it; a picture that fills a page has a caption."""
    return page.scanned and needs_recognition(page) and not any(line.role == "caption" for line in lines)


def _main_reason(page: PageCoverage) -> str:
    return max(page.dropped, key=lambda reason: page.dropped[reason])


def _share(pages: Sequence[PageCoverage]) -> str:
    return f"{sum(page.lost for page in pages) / sum(page.kept + page.lost for page in pages):.0%}".replace("%", " %")


def _be(numbers: Sequence[int]) -> str:
    return "is" if len(numbers) == 1 else "are"


def _pattern(line: PdfLine) -> str:
    return _DIGITS.sub("#", line.text).lower()


_MAX_ASIDE = 500  # characters written across the first page that are kept: the stamp of an archive
_INSTALL = "pip install 'whycite[ocr]' to read such pages"
_OCR = "run an OCR program on the file first"
_EARLIEST_LIST = 0.3  # share of the pages before which "References" is a line in the table of contents


def analyse(data: bytes, alive: Callable[[], None], recognise: Recogniser | None = None) -> dict[str, Any]:
    """Title, front matter, blocks and reference entries of a PDF, as plain data; `recognise` reads scanned pages."""
    extraction = extract(data, alive, recognise)
    pages = extraction.pages
    page_lines, body = _lay_out(pages, alive)
    ordered, running = _assign_roles(pages, page_lines, body, extraction.title, alive)
    headings = find_headings([line for line in ordered if line.role in ("body", "formula")], running, body, alive)
    assembler = BlockAssembler(Vocabulary(_texts(ordered, alive)), body, alive)
    if has_unheaded_abstract(ordered, headings):
        assembler.begin_section("Abstract")
    has_reference_heading = any(is_reference_heading(heading.text) for heading in headings)
    assembler.add_lines(ordered, headings, None if has_reference_heading else unheaded_list(ordered))
    alive()
    title = PdfText(assembler.vocabulary)
    for line in ordered:
        if line.role == "title":
            title.add(line)
    title_index = next((i for i, line in enumerate(ordered) if line.role == "title"), 0)
    front = [line for line in ordered[title_index:] if line.role == "front"]
    margins = [
        *ordered[:title_index],
        *(line for lines in page_lines[:1] for line in lines if line.role == "furniture"),
    ]
    references = split_entries(assembler.references, assembler.vocabulary)
    coverage = cover_pages(pages, ordered, page_lines)
    gaps = _gaps(extraction, coverage)
    return {
        "title": title.text,
        "metadata": extraction.title,
        "front": [(line.cells, line.size, line.bold, line.italic) for line in front],
        "margins": [line.text for line in margins],
        "aside": pages[0].aside[:_MAX_ASIDE] if pages else "",
        "blocks": assembler.blocks,
        "references": references,
        "page_starts": extraction.starts,
        "read_share": read_share(coverage, extraction.page_count - len(pages)),
        "unrecognised": any(map(needs_recognition, pages)),
        "gaps": [gap for gap, _ in gaps],
        "warnings": [*(warning for _, warning in gaps), *_recognised(pages)],
    }


def _lay_out(pages: Sequence[PdfPage], alive: Callable[[], None]) -> tuple[list[list[PdfLine]], BodyMeasures]:
    """The lines of every page, with running heads marked, and the measures of running text."""
    for page in pages:
        drop_line_numbers(page)
    gutters = find_gutters(pages, common_size(pages), alive)
    page_lines = []
    for page, strips in zip(pages, gutters, strict=True):
        alive()
        page_lines.append(lines_of(page.runs, page.number, strips))
    body = measure(page_lines, alive)
    mark_furniture(page_lines, [page.height for page in pages], body)
    return page_lines, body


def _assign_roles(
    pages: Sequence[PdfPage],
    page_lines: Sequence[Sequence[PdfLine]],
    body: BodyMeasures,
    metadata: str,
    alive: Callable[[], None],
) -> tuple[list[PdfLine], set[int]]:
    """All lines in reading order with their roles, and the ids of those that are certainly running text."""
    ordered: list[PdfLine] = []
    running: set[int] = set()
    in_references = False  # the reference list has begun
    for page, lines in zip(pages, page_lines, strict=True):
        alive()
        text_lines = in_reading_order([line for line in lines if line.role != "furniture"])
        set_edges(text_lines, body.size)
        if page is pages[0]:
            mark_title(text_lines, metadata, body)
        text_lines = split_subcaptions(text_lines)
        mark_contents(text_lines)
        captions = mark_captions(text_lines, page.rules, body)
        mark_floats(text_lines, captions, page.pictures, body)
        list_start = 0 if in_references else len(text_lines)
        if page.number >= _EARLIEST_LIST * len(pages) and not in_references:
            list_start = next((i for i, line in enumerate(text_lines) if is_reference_heading(line.text)), list_start)
            in_references = list_start < len(text_lines)
        mark_footnotes(text_lines, page.rules, body, list_start)
        prose = prose_lines(text_lines, body)
        mark_formulas(text_lines, prose, body)
        prose |= dense_lines(text_lines, body)
        if page is pages[0]:
            mark_front(text_lines, prose)
        running |= prose
        ordered += text_lines
    return ordered, running


def _texts(lines: Sequence[PdfLine], alive: Callable[[], None]) -> Iterator[str]:
    for line in lines:
        alive()
        yield line.text


def _gaps(extraction: Extraction, coverage: Sequence[PageCoverage]) -> list[tuple[str, str]]:
    """What was not read, in words, each with its warning."""
    remedy = _OCR if find_spec("rapidocr") else _INSTALL
    gaps = [(warning, warning) for warning in extraction.warnings]
    if extraction.unread:
        unread = f"{name_pages(extraction.unread)} could not be read"
        gaps.append((unread, f"{unread}; get another copy of the file"))
    if not any(page.kept or page.lost for page in coverage) and not extraction.unread:
        return [*gaps, ("it has no text", f"no text layer; {remedy}")]
    return [*gaps, *warn_of_gaps(coverage, remedy)]


def _recognised(pages: Sequence[PdfPage]) -> list[str]:
    """A warning about pages that were read by OCR."""
    numbers = [page.number + 1 for page in pages if page.recognised]
    verb = "was" if len(numbers) == 1 else "were"
    return [f"{name_pages(numbers)} {verb} read by OCR; expect mistakes"] if numbers else []


_SCALE = 200 / 72  # pixels a point: 200 dots an inch show print of 8 points well enough
_FONT = font_of("recognised", 0, 0)
_TYPE_SIZE = 0.72  # of the height of a line's box, which has room for ascenders and descenders
_SAME_HEIGHT = 0.25  # share by which the boxes of lines in one type differ: not all have descenders
_BASELINE = 0.22  # of the height of a line's box, from its lower edge up


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
