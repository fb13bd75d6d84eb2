"""Reads PDF papers: text in reading order, sections, captions, footnotes, references, citations.

A PDF has no text file behind it: the offsets of its sentences and citations count code points in the text that
pypdfium2 extracts (`PdfTextPage.get_text_range()`), all pages in order, joined by form feeds.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

from whycite.documents.bibliographies.printed import parse_printed
from whycite.documents.builder import Builder
from whycite.documents.limited import Worker
from whycite.documents.markers import Marker, find_markers
from whycite.documents.model import Document, Kind, Reference
from whycite.documents.pdf.imprint import paper_of
from whycite.documents.prose import Prose
from whycite.documents.sources import Source

__all__ = ["READER", "PdfReader"]

_LARGEST = 256 << 20  # bytes; figures count
_SECONDS = 3.5  # of silence; a page takes a fiftieth of one
_BETWEEN = "\n\n"
_KINDS: dict[str, Kind] = {"prose": "prose", "caption": "caption", "footnote": "footnote", "table": "table"}


class PdfReader:
    """Papers as PDF, taken apart in a process limited in memory and time."""

    name = "pdf"
    suffixes = (".pdf",)

    def __init__(self) -> None:
        self._worker = Worker("whycite.documents.pdf.analyse:analyse")

    def sniff(self, head: bytes) -> bool:
        """A PDF begins with its name, or nearly so."""
        return b"%PDF-" in head[:1024]

    def read(self, source: Source) -> Iterator[Document]:
        """The one document of a PDF."""
        yield _document(source.path, self._worker.run(source.data(_LARGEST), source.path, _SECONDS))


def _document(path: str, found: dict[str, Any]) -> Document:
    """The document out of the plain data that the limited process found."""
    builder = Builder(path, "pdf")
    for warning in found["warnings"]:
        builder.warn(f"{path}: {warning}")
    references = [parse_printed(id, text) for id, text in found["references"]]
    blocks = found["blocks"]
    for block, markers in zip(blocks, _markers(blocks, references), strict=True):
        if block["kind"] == "heading":
            builder.section(block["text"], block["level"])
        else:
            builder.paragraph(_prose(block, markers, path), _KINDS[block["kind"]])
    return builder.document(paper_of(found), references)


def _markers(blocks: Sequence[dict[str, Any]], references: Sequence[Reference]) -> Iterator[list[Marker]]:
    """The citation markers of every block; they are looked for in all text at once, to tell its style."""
    texts = ["".join(piece[0] for piece in block.get("pieces", ())) for block in blocks]
    markers = find_markers(_BETWEEN.join(texts), references)
    start = at = 0
    for text in texts:
        end = start + len(text)
        inside = []
        while at < len(markers) and markers[at].start < end:
            keys, first, last = markers[at]
            if last <= end:
                inside.append(Marker(keys, first - start, last - start))
            at += 1
        yield inside
        start = end + len(_BETWEEN)


def _prose(block: dict[str, Any], markers: Sequence[Marker], path: str) -> Prose:
    """The text of a block with its markers as citations."""
    prose = Prose()
    pieces = block["pieces"]
    starts = [0, *accumulate(len(piece[0]) for piece in pieces)]
    marks = {marker.start: marker for marker in markers}
    cuts = sorted({0, *block["breaks"], *marks, *(marker.end for marker in markers), starts[-1]})
    inside = 0
    for first, last in zip(cuts, [*cuts[1:], starts[-1]], strict=True):
        if first in block["breaks"]:
            prose.break_sentence()
        if marker := marks.get(first):
            inside = marker.end
            taken = list(_taken(pieces, starts, first, marker.end))
            text = "".join(piece[0] for piece in taken)
            prose.cite(text, marker.keys, path, min(p[1] for p in taken), max(p[2] for p in taken))
        elif first >= inside:
            for text, start, end in _taken(pieces, starts, first, last):
                prose.add(text, path, start, None if end - start == len(text) else end)
    return prose


def _taken(
    pieces: Sequence[tuple[str, int, int]], starts: Sequence[int], first: int, last: int
) -> Iterator[tuple[str, int, int]]:
    """The pieces of a stretch of text; one that stands for a range as a whole keeps all of it."""
    at = bisect_right(starts, first) - 1
    while at < len(pieces) and starts[at] < last:
        text, start, end = pieces[at]
        left, right = max(first - starts[at], 0), min(last - starts[at], len(text))
        if end - start == len(text):
            start, end = start + left, start + right
        if left < right:
            yield text[left:right], start, end
        at += 1


READER = PdfReader()
