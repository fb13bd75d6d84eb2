"""How much of a PDF's text was read, page by page, and what to tell the user about the rest."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from whycite.documents.pdf.extraction import needs_recognition
from whycite.documents.pdf.textlines import PdfLine, PdfPage
from whycite.documents.pdf.wording import reads_as_prose, reads_as_sentences

__all__ = ["PageCoverage", "cover_pages", "name_pages", "read_share", "warn_of_gaps"]


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
