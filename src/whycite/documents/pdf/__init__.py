"""Reads PDF papers: text in reading order, sections, captions, footnotes, references, citations.

A PDF has no text file behind it: offsets of sentences and citations count code points in the text that pypdfium2
extracts (`PdfTextPage.get_text_range()`), with all pages in order, joined by form feeds.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.util import find_spec
from itertools import accumulate
from typing import Any

from whycite.documents.builder import Builder, Prose
from whycite.documents.markers import Marker, find_markers
from whycite.documents.model import Coverage, Document, Reference, SentenceKind
from whycite.documents.references.printed import parse_list
from whycite.documents.sandbox import Worker
from whycite.documents.sources import Source
from whycite.errors import UserError

__all__ = ["MAX_SILENT_SECONDS", "READER", "PdfReader"]

_MAX_BYTES = 256 << 20  # including figures
MAX_SILENT_SECONDS = 3.5  # without a sign of life before the process is ended; a page takes about 0.02 s
_RECOGNITION_SECONDS = 180.0  # for one page; it takes 5 seconds, on a busy machine ten times as long
_RECOGNITION_MEMORY = 4 << 30  # bytes of address space; it takes a bit more than one GiB
_BLOCK_SEPARATOR = "\n\n"
# What LaTeX prints for a key that it does not find: "[?]", "(Smith, 2010; ?)".
_LOST_CITATION = re.compile(r"(?:[(\[]|(?<=\d[a-z][,;] )|(?<=[\d?][,;] ))\?(?=[)\],;])")
_KINDS: dict[str, SentenceKind] = {"prose": "prose", "caption": "caption", "footnote": "footnote", "table": "table"}


class PdfReader:
    """Papers in PDF, analysed in a process with limited memory and time."""

    name = "pdf"
    suffixes = (".pdf",)

    def __init__(self) -> None:
        self._worker = Worker("whycite.documents.pdf.analysis:analyse")
        self._ocr_worker = Worker("whycite.documents.pdf.analysis:analyse_with_ocr", _RECOGNITION_MEMORY)

    def sniff(self, head: bytes) -> bool:
        """Whether the file begins like a PDF, or nearly so."""
        return b"%PDF-" in head[:1024]

    def read(self, source: Source) -> Iterator[Document]:
        """The one document in a PDF."""
        data = source.data(_MAX_BYTES)
        analysis = self._worker.run(data, source.path, MAX_SILENT_SECONDS)
        if analysis["unrecognised"] and _can_recognise():
            try:
                analysis = self._ocr_worker.run(data, source.path, _RECOGNITION_SECONDS)
            except UserError as error:  # what could be read without it stays
                analysis["warnings"].append(f"OCR failed: {error}")
        yield _document(source.path, analysis)


def _can_recognise() -> bool:
    """Whether the extra is installed."""
    return find_spec("rapidocr") is not None


def _document(path: str, analysis: dict[str, Any]) -> Document:
    """The document from the plain data of the limited process."""
    from whycite.documents.pdf.frontmatter import paper_of  # with most of the analysis, which other formats do not need

    builder = Builder(path, "pdf")
    for warning in analysis["warnings"]:
        builder.warn(f"{path}: {warning}")
    references = parse_list(analysis["references"])
    blocks = analysis["blocks"]
    for block, markers in zip(blocks, _markers(blocks, references), strict=True):
        if block["kind"] == "heading":
            builder.section(block["text"], block["level"])
        else:
            builder.paragraph(_prose(block, markers, path), _KINDS[block["kind"]])
    document = builder.document(paper_of(analysis), references)
    lost_citations = [match for sentence in document.sentences for match in _LOST_CITATION.findall(sentence.text)]
    lost = len(lost_citations)
    if lost_citations and lost_citations != ["(?"]:  # alone, that is a doubt of the author: "born in Ulm (?)"
        printed = "1 citation is" if lost == 1 else f"{lost:,} citations are"
        warning = f"{path}: {printed} printed as “?”, since the bibliography had no entry when the PDF was made"
        document = replace(document, warnings=(*document.warnings, warning))
    starts = analysis["page_starts"]
    return replace(
        document,
        sentences=tuple(replace(s, page=bisect_right(starts, s.start)) for s in document.sentences),
        coverage=Coverage(analysis["read_share"], "; ".join(analysis["gaps"])),
    )


def _markers(blocks: Sequence[dict[str, Any]], references: Sequence[Reference]) -> Iterator[list[Marker]]:
    """The citation markers of every block, found in all text at once to recognise the style."""
    texts = ["".join(piece[0] for piece in block.get("pieces", ())) for block in blocks]
    markers = find_markers(_BLOCK_SEPARATOR.join(texts), references)
    start = index = 0
    for text in texts:
        end = start + len(text)
        block_markers = []
        while index < len(markers) and markers[index].start < end:
            keys, marker_start, marker_end = markers[index]
            if marker_end <= end:
                block_markers.append(Marker(keys, marker_start - start, marker_end - start))
            index += 1
        yield block_markers
        start = end + len(_BLOCK_SEPARATOR)


def _prose(block: dict[str, Any], markers: Sequence[Marker], path: str) -> Prose:
    """The text of a block with its markers as citations."""
    prose = Prose()
    pieces = block["pieces"]
    starts = [0, *accumulate(len(piece[0]) for piece in pieces)]
    marks = {marker.start: marker for marker in markers}
    cuts = sorted({0, *block["breaks"], *marks, *(marker.end for marker in markers), starts[-1]})
    citation_end = 0
    for cut, next_cut in zip(cuts, [*cuts[1:], starts[-1]], strict=True):
        if cut in block["breaks"]:
            prose.break_sentence()
        if marker := marks.get(cut):
            citation_end = marker.end
            marker_pieces = list(_slice_pieces(pieces, starts, cut, marker.end))
            text = "".join(piece[0] for piece in marker_pieces)
            prose.cite(text, marker.keys, path, min(p[1] for p in marker_pieces), max(p[2] for p in marker_pieces))
        elif cut >= citation_end:
            for text, start, end in _slice_pieces(pieces, starts, cut, next_cut):
                prose.add(text, path, start, None if end - start == len(text) else end)
    return prose


def _slice_pieces(
    pieces: Sequence[tuple[str, int, int]], starts: Sequence[int], low: int, high: int
) -> Iterator[tuple[str, int, int]]:
    """The pieces of a range of the text; a piece that stands for a source range as a whole keeps all of it."""
    index = bisect_right(starts, low) - 1
    while index < len(pieces) and starts[index] < high:
        text, start, end = pieces[index]
        begin, stop = max(low - starts[index], 0), min(high - starts[index], len(text))
        if end - start == len(text):
            start, end = start + begin, start + stop
        if begin < stop:
            yield text[begin:stop], start, end
        index += 1


READER = PdfReader()
