"""Reads plain text: paragraphs between blank lines, headings as people type them, a reference list at the end."""

from __future__ import annotations

import codecs
import re
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from whycite.documents.builder import Builder, Prose
from whycite.documents.markers import Marker, find_markers, find_reference_list, split_references
from whycite.documents.markup import SourceSpan, Stretch
from whycite.documents.model import Document, Reference
from whycite.documents.references.printed import parse_list
from whycite.documents.sources import Source, decode
from whycite.errors import UserError
from whycite.text.wordlists import load_tables

__all__ = ["NUMBER", "READER", "PlainBlock", "PlainReader", "read_blocks", "read_text"]


_BYTE_ORDER_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
_CONTROL = re.compile(rb"[\x01-\x08\x0e-\x1a\x1c-\x1f\x7f]")
# Text that is no prose, and what to do.
_MARKED_UP = (
    (rb"\s{0,99}(?:<!doctype html|<html)\b", "web pages cannot be read; save the paper as PDF or plain text"),
    (rb"\{\\rtf", "RTF cannot be read; save it as .docx or .odt"),
    (rb"(?:\s{0,99}<\?xml[^>]{0,200}\?>)?\s{0,99}<office:document\b", "flat XML cannot be read; save it as .odt"),
)
_HEAD_SIZE = 1 << 16  # bytes that decide whether a file is text
_BYTES_PER_CONTROL = 50  # text may have one control character in this many bytes, from broken conversions


class PlainReader:
    """The reader for plain text, and for any text that no other reader recognises."""

    name = "plain"
    suffixes = (".txt", ".text")

    def sniff(self, head: bytes) -> bool:
        return not _is_binary(head)

    def read(self, source: Source) -> Iterator[Document]:
        data = source.data()
        if _is_binary(data[:_HEAD_SIZE]):
            raise UserError(f"{source.path}: not a text file; if it is a paper, name its format with --format")
        for beginning, remedy in _MARKED_UP:
            if re.match(beginning, data, re.IGNORECASE):
                raise UserError(f"{source.path}: {remedy}")
        text, warning = decode(data)
        yield read_text(source.path, text, warning)


def _is_binary(head: bytes) -> bool:
    """Whether these bytes are not text: they contain zeros, or more than a few control characters."""
    if head.startswith(_BYTE_ORDER_MARKS):
        return False
    return b"\0" in head or len(_CONTROL.findall(head)) > len(head) // _BYTES_PER_CONTROL


READER = PlainReader()


_LINE_HYPHEN = re.compile(r"[-‐][ \t\r]*\n")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_STOPS = (".", "!", "?", '."', ".”", ".)")
_MAX_TITLE_LENGTH = 250  # characters; a longer first block is a paragraph
_MAX_FRONT_BLOCKS = 8  # blocks between title and first heading that may be authors and addresses


def read_text(path: str, text: str, warning: str | None) -> Document:
    """A plain text as a document."""
    builder = Builder(path, "plain")
    if warning:
        builder.warn(f"{path}: {warning}")
    reference_list = find_reference_list(text)
    heading, start, end = reference_list or (len(text), len(text), len(text))
    references = parse_list((id, entry) for id, entry, _, _ in split_references(text[start:end]))
    if not references:  # only a heading with nothing under it
        heading = end = len(text)
    words = {word.lower() for word in _WORD.findall(text)} if _LINE_HYPHEN.search(text) else set()
    blocks = [*read_blocks(text, 0, heading, words), *read_blocks(text, end, len(text), words)]
    title, body = _split_front(text, blocks)
    _fill_builder(builder, path, text, body, references)
    return builder.document(Reference(id="", title=title), references)


def _split_front(text: str, blocks: Sequence[PlainBlock]) -> tuple[str, Sequence[PlainBlock]]:
    """The title, and the blocks after it without authors and addresses."""
    if len(blocks) < 2 or blocks[0].is_certain or blocks[0].sort == "caption" or blocks[0].breaks:
        return "", blocks
    title = " ".join(" ".join(text[start:end] for start, end in blocks[0].spans).split())
    if title.endswith(_STOPS) or len(title) > _MAX_TITLE_LENGTH or len(title.split()) < 2:
        return "", blocks
    rest = list(blocks[1:])
    first_heading = next((n for n, block in enumerate(rest) if block.sort == "heading"), len(rest))
    if first_heading < min(len(rest), _MAX_FRONT_BLOCKS):
        rest[:first_heading] = [
            block for block in rest[:first_heading] if text[: block.spans[-1][1]].rstrip().endswith(_STOPS)
        ]
    return title, rest


def _fill_builder(
    builder: Builder, path: str, text: str, blocks: Sequence[PlainBlock], references: Sequence[Reference]
) -> None:
    """Pass the blocks to the builder; citation markers are searched in all of them together, to recognise the style."""
    stretches = [Stretch(path, text, block.spans) for block in blocks]
    texts = [stretch.text if block.sort != "heading" else "" for block, stretch in zip(blocks, stretches, strict=True)]
    markers = deque(find_markers("\n\n".join(texts), references) if references else ())
    highest = min((block.level for block in blocks if block.sort == "heading"), default=1)
    offset = 0
    for block, stretch, block_text in zip(blocks, stretches, texts, strict=True):
        if block.sort == "heading":
            builder.section(NUMBER.sub("", stretch.text, count=1).rstrip(" :."), block.level - highest + 1)
        else:
            block_markers = []
            while markers and markers[0].start < offset + len(block_text):
                block_markers.append(markers.popleft())
            prose = _build_prose(
                stretch, [Marker(m.keys, m.start - offset, m.end - offset) for m in block_markers], block.breaks
            )
            builder.paragraph(prose, "caption" if block.sort == "caption" else "prose")
        offset += len(block_text) + 2


def _build_prose(stretch: Stretch, markers: Iterable[Marker], breaks: Iterable[int]) -> Prose:
    prose = Prose()
    cuts = sorted(
        [*((marker.start, marker) for marker in markers), *((position, None) for position in breaks)], key=_cut_position
    )
    position = 0
    for start, marker in cuts:
        stretch.add_to(prose, position, start)
        position = max(position, start)
        if marker is None:
            prose.break_sentence()
        else:
            position = min(marker.end, len(stretch.text))
            stretch.cite(prose, stretch.text[start:position], marker.keys, start, position)
    stretch.add_to(prose, position, len(stretch.text))
    return prose


def _cut_position(cut: tuple[int, Marker | None]) -> int:
    return cut[0]


_LINE = re.compile(r"[^\n\f]*(?:[\n\f]|$)")
_UNDERLINE = re.compile(r"([=~*^-])\1{2,}")
NUMBER = re.compile(r"(?:(?P<number>\d{1,2}(?:\.\d{1,2}){0,4})\.?|[IVX]{1,5}\.|(?P<letter>[A-Z])\.)\s+(?=[^\W\d_a-z])")
_SECTION_NAME = re.compile(rf"(?:{'|'.join(load_tables(__name__)['section_names'])})[:.]?", re.IGNORECASE)
_RUN_IN = re.compile(r"(abstract|summary)\s*(?:[.:—–]|-{1,2}(?=\s))\s*(?=\S)", re.IGNORECASE)
_CAPTION = re.compile(r"(?:fig(?:ure|\.)|tab(?:le|\.)|scheme|box)\s+\d+[A-Za-z]?\s*[.:|]", re.IGNORECASE)
_ITEM = re.compile(r"(?:[-*•·–]|\(?\d{1,2}\)|\(?[a-z]\)|\d{1,2}\.)\s+(?=\S)")
_SENTENCE_SIGNS = (".", "!", "?", ":", ";", ",")
_BROKEN_WORD = re.compile(r"([^\W\d_]+)[-‐]$")
_LOWER_CASE_WORD = re.compile(r"[a-zß-öø-ÿ][^\W\d_]*")
_CONTINUATION = re.compile(r"[a-zß-öø-ÿ]|\((?:1[5-9]|20)\d\d")
_WHITE = " \t\r\n\f\v\ufeff\u00a0"
# Limits that tell headings from lines of prose.
_MAX_HEADING_LENGTH = 100  # characters
_MAX_TIGHT_HEADING = 60  # characters, if text follows on the next line
_MAX_HEADING_WORDS = 14
_MIN_WIDE_LINE = 150  # characters on average from which every line is a paragraph

BlockSort = Literal["heading", "paragraph", "caption"]


@dataclass
class PlainBlock:
    """A block of text; `spans` are its lines without surrounding white space."""

    sort: BlockSort
    spans: list[SourceSpan] = field(default_factory=list)
    breaks: list[int] = field(default_factory=list)  # where list items begin, in the text of the spans
    level: int = 1
    is_certain: bool = False  # a heading by its number or by a common name


def read_blocks(text: str, start: int, end: int, words: Collection[str]) -> Iterator[PlainBlock]:
    """The blocks of a range of a text; the `words` that occur in it decide what hyphens at line ends mean."""
    group: list[SourceSpan] = []
    for line in _LINE.finditer(text, start, end):
        bare = line[0].strip(_WHITE)
        if bare:
            lead = len(line[0]) - len(line[0].lstrip(_WHITE))
            group.append((line.start() + lead, line.start() + lead + len(bare)))
        elif group:
            yield from _split_group(text, group, words)
            group = []
    if group:
        yield from _split_group(text, group, words)


def _split_group(text: str, lines: Sequence[SourceSpan], words: Collection[str]) -> Iterator[PlainBlock]:
    """The blocks of adjacent lines: headings, and the paragraphs between them."""
    group: list[SourceSpan] = []
    index = 0
    while index < len(lines):
        heading = _heading(text, lines, index)
        # Inside a paragraph, only a number or a common name makes a heading, and only after a full stop.
        if heading and (not group or (heading.is_certain and text[group[-1][1] - 1] in ".!?")):
            yield from _paragraphs(text, group, words)
            group = []
            yield heading
            index += 1 + (index + 1 < len(lines) and _UNDERLINE.fullmatch(text, *lines[index + 1]) is not None)
            continue
        group.append(lines[index])
        index += 1
    yield from _paragraphs(text, group, words)


def _heading(text: str, lines: Sequence[SourceSpan], index: int) -> PlainBlock | None:
    """The line as a heading, or None if it is not one."""
    line = text[slice(*lines[index])]
    following = text[slice(*lines[index + 1])] if index + 1 < len(lines) else ""
    number = NUMBER.match(line) if len(line) <= _MAX_HEADING_LENGTH else None
    level = _heading_level(line, number, following)
    if not level:
        return None
    return PlainBlock(
        "heading", [lines[index]], level=level, is_certain=bool(number) or _SECTION_NAME.fullmatch(line) is not None
    )


def _paragraphs(text: str, lines: list[SourceSpan], words: Collection[str]) -> Iterator[PlainBlock]:
    if not lines:
        return
    if run_in := _RUN_IN.match(text, *lines[0]):
        yield PlainBlock("heading", [run_in.span(1)], is_certain=True)
        lines = [(run_in.end(), lines[0][1]), *lines[1:]]
    is_wide = len(lines) > 1 and sum(end - start for start, end in lines) > _MIN_WIDE_LINE * len(lines)
    for group in _split_wide_lines(text, lines) if is_wide else [lines]:
        yield _paragraph(text, group, words)


def _split_wide_lines(text: str, lines: Sequence[SourceSpan]) -> Iterator[list[SourceSpan]]:
    """Long lines, each on its own unless a sentence clearly continues."""
    group: list[SourceSpan] = []
    for start, end in lines:
        if group and not (_CONTINUATION.match(text, start, end) or text.endswith("et al.", *group[-1])):
            yield group
            group = []
        group.append((start, end))
    yield group


def _heading_level(line: str, number: re.Match[str] | None, following: str) -> int:
    """The level of a heading; 0 if the line is not one."""
    if len(line) > _MAX_HEADING_LENGTH or not any(map(str.isalpha, line)):
        return 0
    if _UNDERLINE.fullmatch(following):
        return 1 if following[0] in "=*" else 2
    level = 1 + number["number"].count(".") if number and number["number"] else 2 if number and number["letter"] else 1
    if _SECTION_NAME.fullmatch(line, number.end() if number else 0):
        return level
    # Text right under a heading begins a sentence; the next item of a list, or the rest of a broken line, does not.
    stands_alone = not following or (following[0].isupper() and len(line) < _MAX_TIGHT_HEADING)
    if line.endswith(_SENTENCE_SIGNS) or not stands_alone or len(line.split()) > _MAX_HEADING_WORDS:
        return 0
    if number and (number["number"] or not following):
        return level
    return int(line.isupper() and not following.isupper() and sum(map(str.isalpha, line)) > 3)


def _paragraph(text: str, lines: Sequence[SourceSpan], words: Collection[str]) -> PlainBlock:
    block = PlainBlock("caption" if _CAPTION.match(text, *lines[0]) else "paragraph")
    length = 0
    for index, (start, end) in enumerate(lines):
        if item := _ITEM.match(text, start, end):
            start = item.end()
            block.breaks.append(length)
        if index + 1 < len(lines):
            end = _line_end(text, start, end, lines[index + 1], words)
        block.spans.append((start, end))
        length += end - start
    return block


def _line_end(text: str, start: int, end: int, following: SourceSpan, words: Collection[str]) -> int:
    """Where a line ends if the next continues it: after a space, or before the hyphen that broke a word."""
    tail = _BROKEN_WORD.search(text, max(start, end - _MAX_HEADING_LENGTH), end)
    head = _LOWER_CASE_WORD.match(text, *following) if tail else None
    if tail is None or head is None:
        return end + 1
    whole, compound = tail[1] + head[0], f"{tail[1]}-{head[0]}"
    return end if compound.lower() in words and whole.lower() not in words else end - 1
