"""A plain text whole: its title, its blocks, its reference list and the markers that point at it."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Sequence

from whycite.documents.bibliographies.printed import parse_printed
from whycite.documents.builder import Builder
from whycite.documents.markers import Marker, find_markers, find_reference_list, split_references
from whycite.documents.markup.stretch import Stretch
from whycite.documents.model import Document, Reference
from whycite.documents.plain.blocks import NUMBER, Block, read_blocks
from whycite.documents.prose import Prose

__all__ = ["read_text"]

_BROKEN = re.compile(r"[-‐][ \t\r]*\n")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_STOPS = (".", "!", "?", '."', ".”", ".)")
_LONGEST_TITLE = 250
_FRONT = 8  # blocks between title and first heading that may be authors and addresses


def read_text(path: str, text: str, warning: str | None) -> Document:
    """The document that a plain text is."""
    builder = Builder(path, "plain")
    if warning:
        builder.warn(f"{path}: {warning}")
    found = find_reference_list(text)
    heading, start, end = found or (len(text), len(text), len(text))
    references = [parse_printed(id, entry) for id, entry, _, _ in split_references(text[start:end])]
    if not references:  # a heading with nothing under it
        heading = end = len(text)
    words = {word.lower() for word in _WORD.findall(text)} if _BROKEN.search(text) else set()
    blocks = [*read_blocks(text, 0, heading, words), *read_blocks(text, end, len(text), words)]
    title, body = _front(text, blocks)
    _fill(builder, path, text, body, references)
    return builder.document(Reference(id="", title=title), references)


def _front(text: str, blocks: Sequence[Block]) -> tuple[str, Sequence[Block]]:
    """The title, and the blocks without it and without the authors and addresses that stand under it."""
    if len(blocks) < 2 or blocks[0].named or blocks[0].sort == "caption" or blocks[0].breaks:
        return "", blocks
    title = " ".join(" ".join(text[start:end] for start, end in blocks[0].spans).split())
    if title.endswith(_STOPS) or len(title) > _LONGEST_TITLE or len(title.split()) < 2:
        return "", blocks
    rest = list(blocks[1:])
    first = next((n for n, block in enumerate(rest) if block.sort == "heading"), len(rest))
    if first < min(len(rest), _FRONT):
        rest[:first] = [block for block in rest[:first] if text[: block.spans[-1][1]].rstrip().endswith(_STOPS)]
    return title, rest


def _fill(builder: Builder, path: str, text: str, blocks: Sequence[Block], references: Sequence[Reference]) -> None:
    """Give the blocks to the builder, with the markers found in all of them together."""
    stretches = [Stretch(path, text, block.spans) for block in blocks]
    said = [stretch.text if block.sort != "heading" else "" for block, stretch in zip(blocks, stretches, strict=True)]
    markers = deque(find_markers("\n\n".join(said), references) if references else ())
    highest = min((block.level for block in blocks if block.sort == "heading"), default=1)
    at = 0
    for block, stretch, words in zip(blocks, stretches, said, strict=True):
        if block.sort == "heading":
            builder.section(NUMBER.sub("", stretch.text, count=1).rstrip(" :."), block.level - highest + 1)
        else:
            inside = []
            while markers and markers[0].start < at + len(words):
                inside.append(markers.popleft())
            prose = _prose(stretch, [Marker(m.keys, m.start - at, m.end - at) for m in inside], block.breaks)
            builder.paragraph(prose, "caption" if block.sort == "caption" else "prose")
        at += len(words) + 2


def _prose(stretch: Stretch, markers: Iterable[Marker], breaks: Iterable[int]) -> Prose:
    prose = Prose()
    cuts = sorted([*((marker.start, marker) for marker in markers), *((at, None) for at in breaks)], key=_place)
    at = 0
    for start, marker in cuts:
        stretch.add_to(prose, at, start)
        at = max(at, start)
        if marker is None:
            prose.break_sentence()
        else:
            at = min(marker.end, len(stretch.text))
            stretch.cite(prose, stretch.text[start:at], marker.keys, start, at)
    stretch.add_to(prose, at, len(stretch.text))
    return prose


def _place(cut: tuple[int, Marker | None]) -> int:
    return cut[0]
