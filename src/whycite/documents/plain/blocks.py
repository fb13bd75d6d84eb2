"""The blocks of a plain text: headings, captions and paragraphs, hard-wrapped lines together."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from whycite.documents.markup.stretch import Span

__all__ = ["NUMBER", "Block", "read_blocks"]

_LINE = re.compile(r"[^\n\f]*(?:[\n\f]|$)")
_UNDERLINE = re.compile(r"([=~*^-])\1{2,}")
NUMBER = re.compile(r"(?:(?P<number>\d{1,2}(?:\.\d{1,2}){0,4})\.?|[IVX]{1,5}\.|(?P<letter>[A-Z])\.)\s+(?=[^\W\d_a-z])")
_KNOWN = re.compile(
    r"(?:abstract|summary|introduction|background|related works?|previous works?|literature review|theory|methods?"
    r"|methodology|materials? and methods?|experimental(?: setup| section)?|experiments?|data|results?"
    r"|results and discussions?|evaluation|analysis|findings|discussions?|discussion and conclusions?|conclusions?"
    r"|concluding remarks|limitations|future works?|acknowledge?ments?|funding|appendix(?: [a-z0-9])?|keywords?)[:.]?",
    re.IGNORECASE,
)
_RUN_IN = re.compile(r"(abstract|summary)\s*(?:[.:—–]|-{1,2}(?=\s))\s*(?=\S)", re.IGNORECASE)
_CAPTION = re.compile(r"(?:fig(?:ure|\.)|tab(?:le|\.)|scheme|box)\s+\d+[A-Za-z]?\s*[.:|]", re.IGNORECASE)
_ITEM = re.compile(r"(?:[-*•·–]|\(?\d{1,2}\)|\(?[a-z]\)|\d{1,2}\.)\s+(?=\S)")
_ENDS = (".", "!", "?", ":", ";", ",")
_BROKEN = re.compile(r"([^\W\d_]+)[-‐]$")
_WORD = re.compile(r"[a-zß-öø-ÿ][^\W\d_]*")
_GOES_ON = re.compile(r"[a-zß-öø-ÿ]|\((?:1[5-9]|20)\d\d")
_WHITE = " \t\r\n\f\v\ufeff\u00a0"
_LONGEST = 100  # characters of a heading
_SHORT = 60  # of one that text follows on the next line
_WORDS = 14
_WIDE = 150  # lines longer than this on average are paragraphs by themselves

Sort = Literal["heading", "paragraph", "caption"]


@dataclass
class Block:
    """A block of a text; `spans` are its lines without the white space around them."""

    sort: Sort
    spans: list[Span] = field(default_factory=list)
    breaks: list[int] = field(default_factory=list)  # where list items begin, in the text of the spans
    level: int = 1
    named: bool = False  # a heading by its number or by a usual name


def read_blocks(text: str, start: int, end: int, words: Collection[str]) -> Iterator[Block]:
    """The blocks of a range of a text; the `words` that occur in it tell how hyphens at line ends are meant."""
    group: list[Span] = []
    for line in _LINE.finditer(text, start, end):
        bare = line[0].strip(_WHITE)
        if bare:
            lead = len(line[0]) - len(line[0].lstrip(_WHITE))
            group.append((line.start() + lead, line.start() + lead + len(bare)))
        elif group:
            yield from _blocks(text, group, words)
            group = []
    if group:
        yield from _blocks(text, group, words)


def _blocks(text: str, lines: Sequence[Span], words: Collection[str]) -> Iterator[Block]:
    """The blocks of lines that stand together: headings, and the paragraphs between them."""
    group: list[Span] = []
    at = 0
    while at < len(lines):
        heading = _heading(text, lines, at)
        # Inside a paragraph only a number or a usual name makes a heading, and only after a full stop.
        if heading and (not group or (heading.named and text[group[-1][1] - 1] in ".!?")):
            yield from _paragraphs(text, group, words)
            group = []
            yield heading
            at += 1 + (at + 1 < len(lines) and _UNDERLINE.fullmatch(text, *lines[at + 1]) is not None)
            continue
        group.append(lines[at])
        at += 1
    yield from _paragraphs(text, group, words)


def _heading(text: str, lines: Sequence[Span], at: int) -> Block | None:
    """The heading a line is, if it is one."""
    line = text[slice(*lines[at])]
    following = text[slice(*lines[at + 1])] if at + 1 < len(lines) else ""
    number = NUMBER.match(line) if len(line) <= _LONGEST else None
    level = _heading_level(line, number, following)
    if not level:
        return None
    return Block("heading", [lines[at]], level=level, named=bool(number) or _KNOWN.fullmatch(line) is not None)


def _paragraphs(text: str, lines: list[Span], words: Collection[str]) -> Iterator[Block]:
    if not lines:
        return
    if run_in := _RUN_IN.match(text, *lines[0]):
        yield Block("heading", [run_in.span(1)], named=True)
        lines = [(run_in.end(), lines[0][1]), *lines[1:]]
    wide = len(lines) > 1 and sum(end - start for start, end in lines) > _WIDE * len(lines)
    for group in _wide(text, lines) if wide else [lines]:
        yield _paragraph(text, group, words)


def _wide(text: str, lines: Sequence[Span]) -> Iterator[list[Span]]:
    """Long lines, each by itself but where a sentence clearly goes on."""
    group: list[Span] = []
    for start, end in lines:
        if group and not (_GOES_ON.match(text, start, end) or text.endswith("et al.", *group[-1])):
            yield group
            group = []
        group.append((start, end))
    yield group


def _heading_level(line: str, number: re.Match[str] | None, following: str) -> int:
    """The level of the heading a line is; 0: it is none."""
    if len(line) > _LONGEST or not any(map(str.isalpha, line)):
        return 0
    if _UNDERLINE.fullmatch(following):
        return 1 if following[0] in "=*" else 2
    level = 1 + number["number"].count(".") if number and number["number"] else 2 if number and number["letter"] else 1
    if _KNOWN.fullmatch(line, number.end() if number else 0):
        return level
    # Text under it without a blank line begins a sentence; another item of a list, or a line broken here, does not.
    free = not following or (following[0].isupper() and len(line) < _SHORT)
    if line.endswith(_ENDS) or not free or len(line.split()) > _WORDS:
        return 0
    if number and (number["number"] or not following):
        return level
    return int(line.isupper() and not following.isupper() and sum(map(str.isalpha, line)) > 3)


def _paragraph(text: str, lines: Sequence[Span], words: Collection[str]) -> Block:
    block = Block("caption" if _CAPTION.match(text, *lines[0]) else "paragraph")
    length = 0
    for index, (start, end) in enumerate(lines):
        if item := _ITEM.match(text, start, end):
            start = item.end()
            block.breaks.append(length)
        if index + 1 < len(lines):
            end = _joined(text, start, end, lines[index + 1], words)
        block.spans.append((start, end))
        length += end - start
    return block


def _joined(text: str, start: int, end: int, following: Span, words: Collection[str]) -> int:
    """Where a line ends that the next one goes on: with a space, or without the hyphen that broke a word."""
    tail = _BROKEN.search(text, max(start, end - _LONGEST), end)
    head = _WORD.match(text, *following) if tail else None
    if tail is None or head is None:
        return end + 1
    whole, compound = tail[1] + head[0], f"{tail[1]}-{head[0]}"
    return end if compound.lower() in words and whole.lower() not in words else end - 1
