"""What the readers for Markdown, Typst and plain text share: joined text, cross-references, the outline of a draft."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from whycite.documents.builder import Builder, Prose
from whycite.documents.model import SentenceKind
from whycite.text.wordlists import load_tables

__all__ = [
    "EQUATION",
    "POINTER",
    "DraftOutline",
    "InclusionLimit",
    "SourceSpan",
    "Stretch",
    "heading_words",
    "is_references_heading",
    "looks_like_pointer",
    "unlinked_list",
]


SourceSpan = tuple[int, int]

# Limits for one draft, far above real ones.
_MAX_INCLUSIONS = 200
_MAX_INCLUDED = 16_000_000  # characters of files, each counted as often as it is read; a long thesis has 3 million
_MAX_REPEATED = 2_000_000  # characters of files that were read before


class InclusionLimit:
    """Counts what a draft includes: a small file can be included thousands of times."""

    is_reached = False

    def __init__(self) -> None:
        self._files: set[str] = set()
        self._inclusions = self._characters = self._repeated_characters = 0

    def allows(self, file: str, length: int) -> bool:
        """Whether to read a file of this length; once one is too much, no other is read."""
        self._inclusions += 1
        self._characters += length
        self._repeated_characters += length * (file in self._files)
        self._files.add(file)
        self.is_reached = (
            self._inclusions > _MAX_INCLUSIONS
            or self._characters > _MAX_INCLUDED
            or self._repeated_characters > _MAX_REPEATED
        )
        return not self.is_reached


class Stretch:
    """Parts of one file joined: a paragraph without the quote and list marks on its lines."""

    def __init__(self, file: str, text: str, spans: Iterable[SourceSpan]) -> None:
        self.file = file
        self._starts: list[int] = []  # where each part begins in the joined text
        self._source_starts: list[int] = []  # and in the file
        parts: list[str] = []
        length = 0
        for start, end in spans:
            if start < end:
                self._starts.append(length)
                self._source_starts.append(start)
                parts.append(text[start:end])
                length += end - start
        self.text = "".join(parts)

    def source_range(self, start: int, end: int) -> SourceSpan:
        """The range of the file that a range of the joined text came from."""
        if end <= start:
            offset = self._source_offset(start)
            return offset, offset
        return self._source_offset(start), self._source_offset(end - 1) + 1

    def locate(self, offset: int) -> int | None:
        """Where a character of the file is in the joined text, or None."""
        part = bisect_right(self._source_starts, offset) - 1
        if part < 0:
            return None
        position = self._starts[part] + offset - self._source_starts[part]
        return (
            position
            if position < (self._starts[part + 1] if part + 1 < len(self._starts) else len(self.text))
            else None
        )

    def add_to(self, prose: Prose, start: int, end: int) -> None:
        """Append a range of the text as it is."""
        part = bisect_right(self._starts, start) - 1
        while start < end:
            stop = min(end, self._starts[part + 1] if part + 1 < len(self._starts) else end)
            prose.add(self.text[start:stop], self.file, self._source_starts[part] + start - self._starts[part])
            start, part = stop, part + 1

    def put(self, prose: Prose, text: str, start: int, end: int) -> None:
        """Append text that stands for a range."""
        prose.add(text, self.file, *self.source_range(start, end))

    def cite(
        self, prose: Prose, marker: str, keys: tuple[str, ...], start: int, end: int, *, textual: bool = False
    ) -> None:
        """Append a citation from a range."""
        prose.cite(marker, keys, self.file, *self.source_range(start, end), textual=textual)

    def _source_offset(self, position: int) -> int:
        part = bisect_right(self._starts, position) - 1 if len(self._starts) > 1 else 0
        return self._source_starts[part] + position - self._starts[part] if self._source_starts else 0


EQUATION = "EQUATION"  # placeholder for a formula that does not read as words
POINTER = "REF"  # placeholder for what a cross-reference prints
_PATTERNS = load_tables(__name__)
_POINTER_PREFIX = re.compile(rf"(?:{'|'.join(_PATTERNS['pointer_prefixes'])})[-:]", re.IGNORECASE)


def looks_like_pointer(key: str) -> bool:
    """Whether a key looks like a cross-reference: "fig-one", "sec:two"."""
    return _POINTER_PREFIX.match(key) is not None


_REFERENCES_HEADING = re.compile(rf"(?:{'|'.join(_PATTERNS['reference_headings'])})[:.]?", re.IGNORECASE)
_SECTION_NAME = re.compile(
    rf"(?:\d{{1,2}}\.?\s+)?(?:{'|'.join(_PATTERNS['section_names'])})[:.]?", re.IGNORECASE
)  # never the title of a paper
_NUMBERED = re.compile(r"\d{1,2}[.)]")
_STOPS = (".", "!", "?")
_MAX_NAMES = 6  # paragraphs of names and addresses under a title


def is_references_heading(text: str) -> bool:
    """Whether a heading is that of a reference list."""
    return _REFERENCES_HEADING.fullmatch(text) is not None


def unlinked_list(path: str) -> str:
    """The warning about a typed reference list in a format in which bibliographies are files."""
    return f"{path}: the reference list is typed; its entries and the citations of them are not read as such"


@dataclass(frozen=True)
class _OutlineHeading:
    text: str
    level: int  # 1 is the top; 0 is outside the others (the abstract)


@dataclass(frozen=True)
class _OutlineBlock:
    prose: Prose
    kind: SentenceKind


class DraftOutline:
    """Collects the headings and blocks of a draft, and recognises a reference list among them."""

    def __init__(self) -> None:
        self._events: list[_OutlineHeading | _OutlineBlock] = []
        self.lists_references = False  # under a heading of its own
        self._references_level = 0  # level of the heading of the reference list we are under
        self._last_paragraph: Prose | None = None  # the paragraph a formula may belong to
        self._unfinished = False  # it did not end with a full stop
        self._continued = False  # a formula was added to it

    @property
    def in_references(self) -> bool:
        """Whether we are under the heading of the reference list."""
        return self._references_level > 0

    def heading(self, text: str, level: int, prose: Prose | None = None) -> None:
        """Begin a section, unless it is the reference list. A heading whose `prose` cites becomes a sentence too."""
        self._last_paragraph = None
        if self._references_level and level > self._references_level:
            return
        self._references_level = level if is_references_heading(text) else 0
        self.lists_references = self.lists_references or self._references_level > 0
        if not self._references_level and (text or not level):
            self._events.append(_OutlineHeading(text, level))
        if prose and prose.has_citations and not self._references_level:
            self.block(prose, "heading")

    def block(self, prose: Prose, kind: SentenceKind) -> None:
        """Add a caption, a footnote, or a paragraph that no formula continues."""
        if prose:
            self._events.append(_OutlineBlock(prose, kind))

    def begin_paragraph(self, text: str) -> Prose:
        """The prose for a paragraph that begins with `text`: the last one, if a formula only interrupted it."""
        goes_on = self._last_paragraph is not None and self._continued and text.lstrip()[:1].islower()
        return self._last_paragraph if goes_on and self._last_paragraph is not None else Prose()

    def end_paragraph(self, prose: Prose, text: str) -> None:
        """Add a paragraph that ends with `text`."""
        if prose is not self._last_paragraph:
            self.block(prose, "prose")
        self._last_paragraph, self._continued = prose, False
        self._unfinished = not text.rstrip().endswith(_STOPS)

    def formula(self, text: str, file: str, start: int, end: int) -> None:
        """A displayed formula on its own: it belongs to the sentence before it, if that is unfinished."""
        if self._last_paragraph is not None and self._unfinished:
            self._last_paragraph.add(f" {text} ", file, start, end)
            self._unfinished = self._continued = not text.rstrip().endswith(_STOPS)

    def fill(self, builder: Builder, titled: bool) -> str:
        """Pass everything to a builder, with levels from one; returns the title if the only top heading is one."""
        headings = [event for event in self._events if isinstance(event, _OutlineHeading) and event.level]
        title = None if titled else self._title(headings)
        highest = min((heading.level for heading in headings if heading is not title), default=1)
        for event, following in pairwise([*self._events, None]):
            if isinstance(event, _OutlineBlock):
                builder.paragraph(event.prose, event.kind)
            elif event and event is not title and (event.text or isinstance(following, _OutlineBlock)):
                builder.section(event.text, max(1, event.level - highest + 1))
        return title.text if title else ""

    def _title(self, headings: Sequence[_OutlineHeading]) -> _OutlineHeading | None:
        """The first heading, if it stands above all others, or alone above names and then another of its level."""
        if len(headings) < 2 or headings[0] is not self._events[0]:
            return None
        top_heading, next_heading = headings[:2]
        if top_heading.level != 1 or _SECTION_NAME.fullmatch(top_heading.text):
            return None
        if not any(heading.level == 1 for heading in headings[1:]):
            return top_heading
        if _NUMBERED.match(top_heading.text):
            return None
        events_between = self._events[1 : self._events.index(next_heading)]
        names = [event.prose.text for event in events_between if isinstance(event, _OutlineBlock)]
        alone = len(names) <= _MAX_NAMES and not any(text.endswith(_STOPS) for text in names)
        return (
            top_heading if alone and (next_heading.level == 1 or _SECTION_NAME.fullmatch(next_heading.text)) else None
        )


def heading_words(prose: Prose) -> str:
    """The words of a heading or a title, without citations."""
    if not prose.has_citations:
        return prose.text
    return " ".join(sentence.without_citations() for sentence in prose.sentences(0, 0, "heading")).strip()
