"""From PDF bytes to blocks of text in reading order; runs in the limited process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from typing import Any

from whycite.documents.pdf.coverage import PageCoverage, cover_pages, name_pages, read_share, warn_of_gaps
from whycite.documents.pdf.extraction import Extraction, Recogniser, extract, needs_recognition
from whycite.documents.pdf.floats import dense_lines, mark_captions, mark_floats, mark_formulas, prose_lines
from whycite.documents.pdf.frontmatter import has_unheaded_abstract, mark_front, mark_title
from whycite.documents.pdf.headings import find_headings, is_reference_heading
from whycite.documents.pdf.layout import BodyMeasures, common_size, find_gutters, in_reading_order, measure, set_edges
from whycite.documents.pdf.margins import drop_line_numbers, mark_contents, mark_footnotes, mark_furniture
from whycite.documents.pdf.subcaptions import split_subcaptions
from whycite.documents.pdf.textblocks import BlockAssembler, split_entries, unheaded_list
from whycite.documents.pdf.textflow import PdfText, Vocabulary
from whycite.documents.pdf.textlines import PdfLine, PdfPage, lines_of

__all__ = ["analyse"]

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
