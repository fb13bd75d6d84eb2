"""From PDF bytes to pages of runs, through pdfium; only ever called in the limited process."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from whycite.documents.pdf.characters import Fonts, runs_of
from whycite.documents.pdf.pdfium import drawings
from whycite.documents.pdf.runs import Page, Run
from whycite.errors import UserError

__all__ = ["Extraction", "extract"]

MAX_PAGES = 1_000
MAX_CHARACTERS = 5_000_000
MAX_PAGE_CHARACTERS = 100_000
# A page takes some 20 ms. Long documents may take long; a few pages may not.
FREE_SECONDS = 2.5
PAGE_SECONDS = 0.06


@dataclass(slots=True)
class Extraction:
    """The pages that could be read, and what the file says of itself."""

    pages: list[Page] = field(default_factory=list)
    title: str = ""
    page_count: int = 0
    unread: list[int] = field(default_factory=list)  # numbers of pages that could not be read
    warnings: list[str] = field(default_factory=list)


def extract(data: bytes, alive: Callable[[], None]) -> Extraction:
    """The runs of every page; pages that cannot be read, or cost too much, become warnings."""
    document = _opened(data)
    alive()
    try:
        result = Extraction(page_count=len(document), title=_title(document))
        fonts = Fonts()
        result.pages = list(_pages(document, fonts, result, alive))
        runs = [run for page in result.pages for run in page.runs]
        fonts.resize(runs)
        fonts.name_texts(runs)
        return result
    finally:
        document.close()


def _opened(data: bytes) -> Any:
    """The document, or a sentence on why there is none."""
    import pypdfium2 as pdfium
    import pypdfium2.raw as c

    if b"%PDF-" not in data[:1024]:
        raise UserError("not a PDF; its first bytes are those of something else" if data else "an empty file, no PDF")
    try:
        return pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        if getattr(error, "err_code", None) == c.FPDF_ERR_PASSWORD:
            raise UserError("encrypted; remove the password first") from error
        raise UserError("a broken PDF that cannot be opened; is it complete?") from error


def _title(document: Any) -> str:
    """The title of the file's metadata; none where it is no text."""
    try:
        return str(document.get_metadata_value("Title"))
    except UnicodeDecodeError:
        return ""


def _pages(document: Any, fonts: Fonts, result: Extraction, alive: Callable[[], None]) -> Iterator[Page]:
    import pypdfium2 as pdfium

    offset = total = 0
    begun = time.process_time()
    for number in range(result.page_count):
        spent = time.process_time() - begun
        slow = spent > FREE_SECONDS and spent > PAGE_SECONDS * number
        if number >= MAX_PAGES or total > MAX_CHARACTERS or slow:
            why = "they take too long" if slow else "there are too many"
            result.warnings.append(f"only the first {number} of {result.page_count} pages were read: {why}")
            return
        alive()
        try:
            page = document[number]
            try:
                read, length = _page(page, number, offset, fonts)
            finally:
                page.close()
        except (pdfium.PdfiumError, RecursionError, ValueError):
            result.unread.append(number + 1)
            offset += 1
            continue
        offset += length + 1
        total += length
        yield read


def _page(page: Any, number: int, offset: int, fonts: Fonts) -> tuple[Page, int]:
    """A page and the length of its text; what is not written in its main direction stays apart."""
    width, height = page.get_size()
    textpage = page.get_textpage()
    fonts.turn_page()
    try:
        if textpage.count_chars() > MAX_PAGE_CHARACTERS:
            raise ValueError("more characters than any printed page has")
        text = textpage.get_text_range()
        turned: tuple[list[Run], ...] = ([], [], [], [])
        for turn, run in runs_of(textpage, text, offset, fonts):
            turned[turn].append(run)
    finally:
        textpage.close()
    main = max(range(4), key=lambda turn: sum(len(run.text) for run in turned[turn]))
    aside = " ".join(run.text for turn in range(4) if turn != main for run in turned[turn])
    pictures, rules, scanned = drawings(page, width * height)
    if main % 2:
        width, height = height, width
    if main:  # they stand where the page has them, not where its text is turned to
        pictures, rules = [], []
    return Page(number, width, height, turned[main], pictures, rules, scanned, aside), len(text)
