"""From lines with roles to blocks: headings, paragraphs, captions, footnotes, reference entries."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any

from whycite.documents.markers import split_references
from whycite.documents.pdf.frontmatter import abstract_mark
from whycite.documents.pdf.headings import PdfHeading, begins_appendix, is_reference_heading
from whycite.documents.pdf.layout import BodyMeasures
from whycite.documents.pdf.margins import begins_footnote, footnote_mark
from whycite.documents.pdf.textflow import PdfText, Vocabulary, same_paragraph
from whycite.documents.pdf.textlines import PdfLine
from whycite.text.language import reads_as_prose

__all__ = ["BlockAssembler", "split_entries", "unheaded_list"]


@dataclass
class BlockAssembler:
    """Turns lines with roles into blocks; whatever interrupts a paragraph comes after it."""

    vocabulary: Vocabulary
    body: BodyMeasures
    alive: Callable[[], None]
    blocks: list[dict[str, Any]] = field(default_factory=list)
    references: list[PdfLine] = field(default_factory=list)
    _paragraph: PdfText | None = None
    _last_line: PdfLine | None = None
    _small: bool = False  # the current paragraph is smaller than the body text
    _paused_paragraph: tuple[PdfText, PdfLine] | None = None
    _interrupted: bool = False  # a caption, table or footnote follows the last line of the paragraph
    _note: tuple[PdfText, int] | None = None  # the last footnote and its page; it may continue in the next column
    _asides: list[dict[str, Any]] = field(default_factory=list)

    def add_lines(self, lines: Sequence[PdfLine], headings: Sequence[PdfHeading], list_start: PdfLine | None) -> None:
        """Add all lines of the document in reading order; `list_start` begins a reference list without a heading."""
        by_line = {id(heading.lines[0]): heading for heading in headings}
        listing: PdfHeading | None = None  # the heading of the current reference list
        aside: list[PdfLine] = []
        formula: list[PdfLine] = []
        page = -1
        for line in lines:
            if line.page != page:
                page = line.page
                self.alive()
            if aside and not _continues_aside(aside, line):
                self._add_aside(aside)
                aside = []
            if formula and line.role not in ("formula", "crumb"):
                self._add_formula(formula)
                formula = []
            heading = by_line.get(id(line))
            if line is list_start:
                self._end_paragraph()
                listing = PdfHeading([line], "References")
            if heading is not None:
                if listing is None or _ends_list(listing, heading):
                    self._end_paragraph()
                    listing = heading if is_reference_heading(heading.text) else None
                    self._add_heading(heading)
                    continue
                for heading_line in heading.lines:
                    heading_line.role = "body"
            if line.role in ("caption", "table", "footnote"):
                aside.append(line)
            elif listing is not None and line.role in ("body", "formula", "heading"):
                self.references.append(line)
            elif line.role == "formula":
                formula.append(line)
            elif line.role == "body":
                self._add_body_line(line)
        self._add_formula(formula)
        self._end_paragraph()
        self._add_aside(aside)
        self.blocks += self._asides

    def begin_section(self, text: str, level: int = 1) -> None:
        """Begin a section."""
        self.blocks.append({"kind": "heading", "level": level, "text": text})

    def _add_heading(self, heading: PdfHeading) -> None:
        text = PdfText(self.vocabulary)
        for line in heading.lines:
            text.add(line)
        self.begin_section(text.text, heading.level)

    def _add_body_line(self, line: PdfLine) -> None:
        if line.page <= 1 and (mark := abstract_mark(line)):
            self._end_paragraph()
            self.begin_section("Abstract")
            line = _without_start(line, mark)
            if not line.runs:
                return
        small = self.body.steady and line.size < _SMALL_PRINT * self.body.size
        if self._paragraph is not None and small != self._small:
            self._change_size(small, self._paragraph)
        self._small = small
        if self._paragraph is not None and self._last_line is not None:
            if same_paragraph(self._last_line, line, self._paragraph, self.body, self._interrupted):
                self._paragraph.add(line)
                self._last_line, self._interrupted = line, False
                return
            self._end_paragraph()
        self._paragraph = PdfText(self.vocabulary)
        self._paragraph.add(line)
        self._last_line, self._interrupted = line, False

    def _change_size(self, small: bool, text: PdfText) -> None:
        """Pause or resume a paragraph: small print that interrupts it neither ends nor continues it."""
        if small and self._last_line is not None and not text.finished:
            self._paused_paragraph = text, self._last_line
            self._paragraph = self._last_line = None
        elif not small and self._paused_paragraph is not None:
            self._asides.append(_block("prose", text))
            (self._paragraph, self._last_line), self._paused_paragraph = self._paused_paragraph, None
        else:
            self._end_paragraph()

    def _add_formula(self, lines: list[PdfLine]) -> None:
        if lines and self._paragraph is not None:
            end = lines[-1].text[-1:]
            self._paragraph.add_placeholder("EQUATION" + (end if end in ".,;" else ""), lines)
            self._last_line = lines[-1]

    def _add_aside(self, lines: list[PdfLine]) -> None:
        """Keep a caption, table or footnote until the paragraph it interrupts is complete."""
        if not lines:
            return
        role = lines[0].role
        self._interrupted = True
        if role == "footnote" and self._note is not None and _continues_note(*self._note, lines[0]):
            for line in lines:
                self._note[0].add(line)
            return
        if role == "footnote" and (mark := footnote_mark(lines[0])):
            lines = [_without_start(lines[0], len(mark)), *lines[1:]]  # a claim does not begin with it
        text = PdfText(self.vocabulary)
        for line in lines:
            if role == "table":
                text.end_sentence()
            text.add(line)
        if role == "footnote":
            self._note = text, lines[-1].page
        self._asides.append(_block(role, text))
        if self._paragraph is None:
            self.blocks += self._asides
            self._asides = []

    def _end_paragraph(self) -> None:
        if self._paused_paragraph is not None:
            self.blocks.append(_block("prose", self._paused_paragraph[0]))
            self._paused_paragraph = None
        if self._paragraph is not None:
            self.blocks.append(_block("prose", self._paragraph))
        self.blocks += self._asides
        self._asides, self._paragraph, self._last_line = [], None, None


def _block(kind: str, text: PdfText) -> dict[str, Any]:
    return {"kind": kind, "pieces": text.pieces, "breaks": text.breaks}


def _continues_aside(aside: Sequence[PdfLine], line: PdfLine) -> bool:
    """Whether a line continues the caption, table or footnote before it."""
    previous = aside[-1]
    if line.role != previous.role or line.page != previous.page or (line.role == "footnote" and begins_footnote(line)):
        return False
    return line.role == "table" or 0 < previous.y - line.y < _MAX_ASIDE_STEP * previous.size


def _continues_note(note: PdfText, page: int, line: PdfLine) -> bool:
    """Whether a line without a mark continues a footnote that broke off at the end of a column."""
    begins_new = not line.text[:1].islower() or line.text.startswith(("http", "www."))
    return line.page <= page + 1 and not note.finished and not begins_new


def _ends_list(listing: PdfHeading, heading: PdfHeading) -> bool:
    """Whether a heading ends the reference list before it."""
    return heading.level <= listing.level and (
        heading.style >= listing.style or bool(heading.number) or begins_appendix(heading.text)
    )


def _without_start(line: PdfLine, length: int) -> PdfLine:
    """A line without its first characters."""
    runs = []
    gone = 0
    for run in line.runs:
        gone += run.spaced and bool(gone)
        cut = max(0, min(length - gone, len(run.text)))
        gone += len(run.text)
        if cut < len(run.text):
            run.text, run.start = run.text[cut:], run.start + cut
            runs.append(run)
    return PdfLine(runs, line.page, line.columns, line.column_left, line.column_right)


_LABEL = re.compile(
    r"(?:\[(?P<bracket>[^\[\]]{1,40})\]|\(?(?P<number>\d{1,4})[.)]|(?P<bare>\d{1,4})(?=\s+[^\W\d_a-z]))\s*"
)
_FIRST_LABEL = re.compile(r"(\[|\(?)1([\].)])\s")
_MIN_ENTRIES = 5  # of a list without a heading; fewer may be any list
_EARLIEST_ENTRY = 0.4  # share of the lines before which no reference list begins
_SMALL_PRINT = 0.91  # times the size of the body text, below which a paragraph is small print
_MAX_ASIDE_STEP = 2.2  # type sizes, between the baselines of lines of one caption or footnote
_MAX_FLUSH_INSET = 0.4  # of the type size; lines that begin at one edge differ by less
_MIN_FLUSH = 0.15  # share of the lines of a list with hanging indents: fewer do not begin its entries
_MAX_FLUSH = 0.85  # share of the lines of a list with hanging indents: with more, hardly any is indented
_MIN_HUNG = 0.6  # share of the lines that are not flush; a hanging indent is the same for most
_MIN_ENTRY_PITCH = 0.8  # of the type size; baselines that are closer belong to one line
_MAX_ENTRY_LINES = 12  # of an entry; what reads as prose after them is text that was taken for part of it
_MIN_ADDRESS_STEP = 1.3  # times the widest step between the lines of a list, from its end to what follows it
_MIN_ENTRY_STEP = 1.2  # pitches, between the last line of an entry and the next entry
_MIN_DATED_SHARE = 0.75  # of the entries; nearly every reference has a year
_YEAR = re.compile(r"(?<!\d)(?:1[89]|20)\d\d(?!\d)")


def unheaded_list(lines: Sequence[PdfLine]) -> PdfLine | None:
    """The first line of a numbered reference list without a heading at the end of a document, or None."""
    body = [line for line in lines if line.role == "body"]
    for i in range(len(body) - 1, int(_EARLIEST_ENTRY * len(body)), -1):
        first_label = _FIRST_LABEL.match(body[i].text)
        if first_label:
            labels = [f"{first_label[1]}{n}{first_label[2]}" for n in range(2, _MIN_ENTRIES + 1)]
            rest = iter(body[i + 1 :])
            counted = all(any(line.text.startswith(label) for line in rest) for label in labels)
            entries = sum(line.text.startswith(first_label[1] or tuple("123456789")) for line in body[i:])
            dated = sum(bool(_YEAR.search(line.text)) for line in body[i:])
            if counted and 2 * dated > entries:
                return body[i]
    return None


def split_entries(lines: Sequence[PdfLine], vocabulary: Vocabulary) -> list[tuple[str, str]]:
    """Id and text of every entry; entries without a printed label are called "ref1", "ref2", …"""
    if not lines:
        return []
    printed = "\n".join(line.text for line in lines)
    labelled = [entry for entry in split_references(printed) if not entry[0].startswith("ref")]
    if 2 * sum(bool(_YEAR.search(entry[1])) for entry in labelled) > len(labelled) > 2:
        starts = {printed.count("\n", 0, entry[2]) for entry in labelled}
        groups = _group_lines(lines, starts)
    else:
        groups = _group_by_layout(lines) or _group_lines(
            lines, {printed.count("\n", 0, e[2]) for e in split_references(printed)}
        )
    groups[-1] = _without_address(groups[-1], lines)
    entries = []
    for group in groups:
        for line in group[_MAX_ENTRY_LINES:]:
            line.role = "surplus"
        text = PdfText(vocabulary)
        for line in _without_float(group):
            text.add(line)
        entries.append(text.text)
    return _with_ids(entries)


def _without_address(group: list[PdfLine], lines: Sequence[PdfLine]) -> list[PdfLine]:
    """The last entry of a list without what follows after the widest space of all: the addresses of the authors."""
    steps = [_step(above, below) for above, below in pairwise(lines)]
    widest = list(accumulate(steps, max, initial=lines[0].size))
    start = len(lines) - len(group)
    for i in range(start, len(steps)):
        if steps[i] > _MIN_ADDRESS_STEP * widest[i]:
            for line in lines[i + 1 :]:
                line.role = "surplus"
            return group[: i + 1 - start]
    return group


def _step(above: PdfLine, below: PdfLine) -> float:
    """The distance of two lines of one column; 0 for lines that are not below each other."""
    return max(above.y - below.y, 0.0) if (above.page, above.columns) == (below.page, below.columns) else 0.0


def _without_float(group: Sequence[PdfLine]) -> Sequence[PdfLine]:
    """The lines of an entry without the prose of a float that follows it at the top of a page or column."""
    if len(group) > _MAX_ENTRY_LINES:
        turns = (i for i, (a, b) in enumerate(pairwise(group), 1) if a.page != b.page or a.columns[0] < b.columns[0])
        turn = next(turns, len(group))
        rest = group[turn:]
        dated = any(_YEAR.search(line.text) for line in group[:turn])
        if dated and 2 * sum(reads_as_prose(line.text) for line in rest) > len(rest):
            return group[:turn]
    return group


def _group_lines(lines: Sequence[PdfLine], starts: set[int]) -> list[list[PdfLine]]:
    groups: list[list[PdfLine]] = []
    for i, line in enumerate(lines):
        if i in starts or not groups:
            groups.append([])
        groups[-1].append(line)
    return groups


def _group_by_layout(lines: Sequence[PdfLine]) -> list[list[PdfLine]]:
    """Entries by hanging indent or by the white space between them; empty if neither works."""
    size = Counter(line.size for line in lines).most_common(1)[0][0]
    insets = _insets(lines, size)
    flush = [inset < _MAX_FLUSH_INSET * size for inset in insets]
    hung = sum(0.5 * size < inset < 5 * size for inset in insets)
    if _MIN_FLUSH * len(lines) < sum(flush) < _MAX_FLUSH * len(lines) and hung > _MIN_HUNG * (len(lines) - sum(flush)):
        starts = {i for i, is_flush in enumerate(flush) if is_flush}
        if _are_plausible(lines, starts):
            return _group_lines(lines, starts)
    steps = [_step(above, below) for above, below in pairwise(lines)]
    pitch = min((step for step in steps if step > _MIN_ENTRY_PITCH * size), default=0.0)
    wide = {i + 1 for i, step in enumerate(steps) if pitch and step > _MIN_ENTRY_STEP * pitch}
    if wide:
        wide |= {0} | {i + 1 for i, step in enumerate(steps) if step <= 0 and _ends_entry(lines[i].text)}
        if _are_plausible(lines, wide):
            return _group_lines(lines, wide)
    return []


def _insets(lines: Sequence[PdfLine], size: float) -> list[float]:
    """The indent of each line in its column; a column that only continues an entry is indented throughout."""
    columns: dict[tuple[int, tuple[int, int]], list[float]] = {}
    for line in lines:
        columns.setdefault((line.page, line.columns), []).append(line.x0)
    edges = {key: min(starts) for key, starts in columns.items()}
    for (page, column), starts in columns.items():
        even = max(starts) - min(starts) < _MAX_FLUSH_INSET * size
        column_edges = [edge for (p, c), edge in edges.items() if c == column and p != page]
        if even and column_edges and 0.5 * size < min(starts) - min(column_edges) < 4 * size:
            edges[page, column] = min(column_edges)
    return [line.x0 - edges[line.page, line.columns] for line in lines]


def _are_plausible(lines: Sequence[PdfLine], starts: set[int]) -> bool:
    """Whether most groups contain a year and few are long."""
    groups = _group_lines(lines, starts)
    dated = sum(any(_YEAR.search(line.text) for line in group) for group in groups)
    return len(groups) >= 3 and dated > _MIN_DATED_SHARE * len(groups) and len(lines) / len(groups) < 8


def _ends_entry(text: str) -> bool:
    return text.rstrip().endswith((".", ")", "]")) or bool(re.search(r"\d$", text))


def _with_ids(entries: Sequence[str]) -> list[tuple[str, str]]:
    """Entries with their printed labels as ids, if most have one; duplicate ids get a number."""
    labels = [_LABEL.match(entry) for entry in entries]
    has_labels = 2 * sum(label is not None for label in labels) > len(entries)
    seen: Counter[str] = Counter()
    pairs = []
    for count, (entry, label) in enumerate(zip(entries, labels, strict=True), 1):
        id = f"ref{count}"
        if has_labels and label:
            id = label["bracket"] or label["number"] or label["bare"]
            entry = entry[label.end() :]
        seen[id] += 1
        if entry.strip():
            pairs.append((id if seen[id] == 1 else f"{id}-{seen[id]}", entry.strip()))
    return pairs
