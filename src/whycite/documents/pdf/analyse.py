"""The whole way from PDF bytes to blocks of text in reading order; runs in the limited process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from whycite.documents.pdf.blocks import Blocks
from whycite.documents.pdf.captions import mark_captions
from whycite.documents.pdf.columns import find_gutters, in_reading_order
from whycite.documents.pdf.extract import Extraction, extract
from whycite.documents.pdf.floats import dense_lines, mark_floats, prose_lines
from whycite.documents.pdf.footnotes import mark_footnotes
from whycite.documents.pdf.formulas import mark_formulas
from whycite.documents.pdf.front import mark_front, mark_title, unheaded_abstract
from whycite.documents.pdf.furniture import drop_line_numbers, mark_contents, mark_furniture
from whycite.documents.pdf.headings import find_headings, is_reference_heading
from whycite.documents.pdf.hyphens import Vocabulary
from whycite.documents.pdf.lines import Line, lines_of
from whycite.documents.pdf.measures import Measures, common_size, measure, set_edges
from whycite.documents.pdf.paragraphs import Text
from whycite.documents.pdf.references import entries_of, unheaded_list
from whycite.documents.pdf.runs import Page

__all__ = ["analyse"]

_ASIDE = 500  # characters of what stands across the first page: the stamp of an archive
_STAMP = 150  # characters that may stand on a scan that has no text layer
_EARLIEST = 0.3  # of the pages: before, "References" is a line of the contents


def analyse(data: bytes, alive: Callable[[], None]) -> dict[str, Any]:
    """Title, front matter, blocks and reference entries of a PDF, as plain data."""
    extraction = extract(data, alive)
    pages = extraction.pages
    laid, body = _laid(pages, alive)
    ordered, running = _with_roles(pages, laid, body, extraction.title, alive)
    headings = find_headings([line for line in ordered if line.role in ("body", "formula")], running, body, alive)
    blocks = Blocks(Vocabulary(_texts(ordered, alive)), body, alive)
    if unheaded_abstract(ordered, headings):
        blocks.head("Abstract")
    listed = any(is_reference_heading(heading.text) for heading in headings)
    blocks.fill(ordered, headings, None if listed else unheaded_list(ordered))
    alive()
    title = Text(blocks.vocabulary)
    for line in ordered:
        if line.role == "title":
            title.add(line)
    titled = next((i for i, line in enumerate(ordered) if line.role == "title"), 0)
    front = [line for line in ordered[titled:] if line.role == "front"]
    margins = [*ordered[:titled], *(line for lines in laid[:1] for line in lines if line.role == "furniture")]
    return {
        "title": title.text,
        "metadata": extraction.title,
        "front": [(line.cells, line.size, line.bold, line.italic) for line in front],
        "margins": [line.text for line in margins],
        "aside": pages[0].aside[:_ASIDE] if pages else "",
        "blocks": blocks.done,
        "references": entries_of(blocks.references, blocks.vocabulary),
        "warnings": [*extraction.warnings, *_warnings(extraction)],
    }


def _laid(pages: Sequence[Page], alive: Callable[[], None]) -> tuple[list[list[Line]], Measures]:
    """The lines of every page, those that are not part of the text marked, and what running text looks like."""
    for page in pages:
        drop_line_numbers(page)
    gutters = find_gutters(pages, common_size(pages), alive)
    laid = []
    for page, strips in zip(pages, gutters, strict=True):
        alive()
        laid.append(lines_of(page.runs, page.number, strips))
    body = measure(laid, alive)
    mark_furniture(laid, [page.height for page in pages], body)
    return laid, body


def _with_roles(
    pages: Sequence[Page], laid: Sequence[Sequence[Line]], body: Measures, metadata: str, alive: Callable[[], None]
) -> tuple[list[Line], set[int]]:
    """All lines in reading order with their roles, and the ids of those that are running text."""
    ordered: list[Line] = []
    running: set[int] = set()
    listing = False  # a reference list has begun
    for page, lines in zip(pages, laid, strict=True):
        alive()
        kept = in_reading_order([line for line in lines if line.role != "furniture"])
        set_edges(kept, body.size)
        if page is pages[0]:
            mark_title(kept, metadata, body)
        mark_contents(kept)
        captions = mark_captions(kept, page.rules, body)
        mark_floats(kept, captions, page.pictures, body)
        listed = 0 if listing else len(kept)
        if page.number >= _EARLIEST * len(pages) and not listing:
            listed = next((i for i, line in enumerate(kept) if is_reference_heading(line.text)), listed)
            listing = listed < len(kept)
        mark_footnotes(kept, page.rules, body, listed)
        prose = prose_lines(kept, body)
        mark_formulas(kept, prose, body)
        prose |= dense_lines(kept, body)
        if page is pages[0]:
            mark_front(kept, prose)
        running |= prose
        ordered += kept
    return ordered, running


def _texts(lines: Sequence[Line], alive: Callable[[], None]) -> Iterator[str]:
    for line in lines:
        alive()
        yield line.text


def _warnings(extraction: Extraction) -> list[str]:
    """What is to be said of pages that gave no text."""
    warnings = []
    if extraction.unread:
        first, more = extraction.unread[0], len(extraction.unread) - 1
        warnings.append(f"page {first}" + (f" and {more} more" if more else "") + " could not be read")
    lengths = [(sum(len(run.text) for run in page.runs), page.scanned) for page in extraction.pages]
    mute = sum(length < (_STAMP if scanned else 1) for length, scanned in lengths)
    if mute == len(lengths) and not extraction.unread:
        warnings.append("no text layer; run OCR first")
    elif 2 * mute > len(lengths):
        warnings.append(f"{mute} of {len(lengths)} pages have no text layer; run OCR first")
    return warnings
