"""From the text of a word-processor document to the model: sections, paragraphs, citations, references."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from statistics import mode

from whycite.documents.builder import Builder, Prose
from whycite.documents.identity import normalise_title
from whycite.documents.markers import find_markers, split_references
from whycite.documents.markup import DraftOutline, heading_words, is_references_heading
from whycite.documents.model import Document, Marker, Reference, SentenceKind
from whycite.documents.plain import NUMBER, read_blocks
from whycite.documents.references.printed import parse_list
from whycite.documents.word.flow import MAX_CITATIONS, MAX_PARAGRAPHS, MAX_TEXT, Flow, FlowCitation, FlowParagraph
from whycite.documents.word.managers import CitedWorks

__all__ = ["LABEL", "NUMBERED", "build_document", "printed_numbers", "recognise_paragraphs"]

_STOPS = (".", "!", "?", ":", ";", ",")
_NEXT_SENTENCE = re.compile(r"[a-z\d)\]][.!?]\s+[A-Z]")
_MAX_TITLE = 250  # characters
_MAX_HEADING = 100  # characters of a bold line that is a heading
_MAX_FRONT = 12  # paragraphs between title and text that may be authors and addresses
_MAX_ITEMS = 100  # items of a list in one paragraph, so that none grows without limit
# What EndNote leaves in the text until it formats a citation: {Kaiser, 1995 #17;Smith, 2010 #18}.
_UNFORMATTED = re.compile(r"\{[^{}\n]{0,300}?(?:\d{4}[a-z]?|,) #\d{1,6}[^{}\n]{0,2000}\}")
_RAISED = str.maketrans("0123456789-–", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁻")
_READ_ROLES = frozenset({"body", "abstract", "item", "caption", "table", "note"})
_KINDS: dict[str, SentenceKind] = {"caption": "caption", "note": "footnote", "table": "table"}
# What a citation shows; a year is no number of a list.
NUMBERED = re.compile(r"(?P<opening>[\[(]?)\d{1,3}(?:[,;\s–-]+\d{1,3})*[\])]?")
LABEL = re.compile(r"\s*(\[?)(\d{1,3})(?!\w)(\]?[.)]?)(\s*)")  # of an entry; "3D" is none either
_MAX_COMPARISONS = 4_000_000  # of entries with titles; 2,000 works, which takes a second


def build_document(
    path: str, format: str, flow: Flow, works: CitedWorks, title: str, warnings: Sequence[str] = ()
) -> Document:
    """The document of a text; `title` is what the file's properties say it is called."""
    builder = Builder(path, format)
    for warning in warnings:
        builder.warn(warning)
    if flow.is_full:
        limits = f"{MAX_TEXT:,} characters, {MAX_PARAGRAPHS:,} paragraphs or {MAX_CITATIONS:,} citations"
        builder.warn(f"{path}: more than {limits}; the rest is not read")
    text = flow.text
    own_title = recognise_paragraphs(flow, text)
    references = list(works.references.values())
    if not references or not all(citation.keys for citation in flow.citations):
        references += _typed_references(flow, text)
    citations = _all_citations(flow, text, references)
    outline = DraftOutline()
    _Filler(path, text, citations, outline).fill(flow.paragraphs)
    titled = own_title or (title if _occurs(title, text) else "")
    inner = outline.fill(builder, bool(titled))
    return builder.document(Reference(id="", title=titled or inner or title), references)


def _occurs(title: str, text: str) -> bool:
    """Whether the title in a file's properties is that of the text; often it is that of a template."""
    return bool(title) and title in text[: 20 * _MAX_TITLE]


# -- what paragraphs are -----------------------------------------------------


def recognise_paragraphs(flow: Flow, text: str) -> str:
    """Tell headings, captions, front matter and the reference list by what they say; returns the title."""
    lines = flow.paragraphs
    styled = any(line.role == "heading" for line in lines)
    title = " ".join(_words(line, text) for line in lines if line.role == "title")
    if not title:
        title = _first_line(lines, text)
    shown = [line for line in lines if line.end > line.start]
    for line, following in pairwise([*shown, None]):
        if line is not None and line.role == "body":
            _recognise_line(line, following, text, styled)
    _drop_front(lines, text)
    _recognise_list(lines, text)
    return " ".join(title.split())


def _words(line: FlowParagraph, text: str) -> str:
    return text[line.start : line.end].strip()


def _first_line(lines: Sequence[FlowParagraph], text: str) -> str:
    """The first line if it reads like a title; it then is no longer part of the text."""
    shown = [line for line in lines if line.end > line.start and line.role not in ("contents", "note")]
    if len(shown) < 2 or shown[0].role != "body":
        return ""
    line = shown[0]
    words = _words(line, text)
    blocks = list(read_blocks(text, line.start, line.end, ()))
    is_heading = bool(blocks) and blocks[0].is_certain
    is_prose = words.endswith(_STOPS) or _NEXT_SENTENCE.search(words) is not None
    if is_heading or is_prose or len(words) > _MAX_TITLE or len(words.split()) < 2:
        return ""
    line.role = "title"
    return words


def _recognise_line(line: FlowParagraph, following: FlowParagraph | None, text: str, styled: bool) -> None:
    """Tell a caption, or in a document without heading styles a heading, from a paragraph."""
    blocks = list(read_blocks(text, line.start, line.end, ()))
    if blocks and blocks[0].sort == "caption":
        line.role = "caption"
    elif styled and not is_references_heading(_words(line, text)):
        return
    elif len(blocks) == 1 and blocks[0].sort == "heading" and (blocks[0].is_certain or line.bold):
        line.role, line.level = "heading", blocks[0].level
    elif line.bold and following and not following.bold:
        words = _words(line, text)
        if len(words) <= _MAX_HEADING and not words.endswith(_STOPS):
            line.role, line.level = "heading", 1


def _drop_front(lines: Sequence[FlowParagraph], text: str) -> None:
    """Mark authors and addresses between the title and the first heading."""
    start = next((index for index, line in enumerate(lines) if line.role == "title"), None)
    if start is None:
        return
    end = next((index for index, line in enumerate(lines) if line.role in ("heading", "abstract")), None)
    if end is None or end - start > _MAX_FRONT:
        return
    for line in lines[start:end]:
        if line.role == "body" and not _words(line, text).endswith((".", "!", "?")):
            line.role = "front"


def _recognise_list(lines: Sequence[FlowParagraph], text: str) -> None:
    """Mark the paragraphs under the heading of a reference list."""
    level = 0
    for line in lines:
        if line.role == "heading":
            words = NUMBER.sub("", _words(line, text), count=1)
            if is_references_heading(words):
                level = line.level
            elif line.level <= level:
                level = 0
        elif level and line.role in ("body", "item"):
            line.role = "reference"


# -- references and citations ------------------------------------------------


def _typed_references(flow: Flow, text: str) -> list[Reference]:
    """The references of a list that was typed, or whose data are not in the file."""
    lines = [line for line in flow.paragraphs if line.role == "reference" and line.end > line.start]
    lines = [line for line in lines if not is_references_heading(_words(line, text))]
    if lines and sum(line.numbered for line in lines) * 2 > len(lines):  # the numbers are not in the text
        entries = [(str(number), _words(line, text)) for number, line in enumerate(lines, 1)]
        return parse_list(entries)
    words = [row for line in lines for row in _words(line, text).splitlines()]
    labelled = [(id, entry) for id, entry, _, _ in split_references("\n".join(words))]
    if labelled and not labelled[0][0].startswith("ref"):
        return parse_list(labelled)
    return parse_list((f"ref{number}", entry) for number, entry in enumerate(words, 1))


def _all_citations(flow: Flow, text: str, references: Sequence[Reference]) -> list[FlowCitation]:
    """The citations that managers mark, and those that the text itself shows."""
    marked = [*flow.citations, *_unformatted_citations(flow, text)]
    marked.sort(key=lambda citation: (citation.start, citation.end))
    searched = _searched_text(flow, text, [citation for citation in marked if citation.keys])
    typed = list(_linked(find_markers(searched, references), flow)) if references else []
    typed += list(_apart(_numbered_citations(flow, text, references), typed))
    typed.sort(key=lambda citation: (citation.start, citation.end))
    for citation in marked:
        if citation.keys:
            continue
        enclosed = [inner for inner in typed if citation.start <= inner.start and inner.end <= citation.end]
        citation.keys = tuple(dict.fromkeys(key for inner in enclosed for key in inner.keys))
    return sorted([*marked, *_apart(typed, marked)], key=lambda citation: (citation.start, citation.end))


def _linked(markers: Iterable[Marker], flow: Flow) -> Iterator[FlowCitation]:
    """The markers of a text that `_searched_text` made, as citations in the text of the document."""
    positions = [line.start + index for index, line in enumerate(flow.paragraphs)]
    for marker in markers:
        index = bisect_left(positions, marker.start + 1) - 1
        start = marker.start - index
        yield FlowCitation(start, min(marker.end - index, flow.paragraphs[index].end), marker.keys)


def _numbered_citations(flow: Flow, text: str, references: Sequence[Reference]) -> Iterator[FlowCitation]:
    """The citations that look like those of a reference manager that prints numbers, which its works do not have."""
    shown = [(text[citation.start : citation.end], citation.keys) for citation in flow.citations]
    openings = [match["opening"] for words, _ in shown if (match := NUMBERED.fullmatch(words.strip()))]
    if 2 * len(openings) <= len(shown) or any(reference.id.isdecimal() for reference in references):
        return
    opening = mode(openings)
    numbers, highest = printed_numbers(flow, text, references, shown)
    keys = {str(number): key for key, number in numbers.items()}
    numbered = [Reference(str(number)) for number in range(1, highest + 1)]
    for citation in _linked(find_markers(_searched_text(flow, text, ()), numbered), flow):
        match = NUMBERED.fullmatch(text[citation.start : citation.end].strip())
        if match and match["opening"] == opening:
            citation.keys = tuple(dict.fromkeys(keys[number] for number in citation.keys if number in keys))
            yield citation


def _unformatted_citations(flow: Flow, text: str) -> Iterator[FlowCitation]:
    """The citations that EndNote has not formatted yet; they name their works only by what they show."""
    for line in flow.paragraphs:
        if line.role in _READ_ROLES:
            citations = [FlowCitation(*match.span(), ()) for match in _UNFORMATTED.finditer(text, line.start, line.end)]
            yield from _apart(citations, flow.citations)


def _apart(typed: Iterable[FlowCitation], marked: Sequence[FlowCitation]) -> Iterator[FlowCitation]:
    """The citations that do not overlap marked ones."""
    starts = [citation.start for citation in marked]
    for citation in typed:
        index = bisect_left(starts, citation.end)
        if index == 0 or marked[index - 1].end <= citation.start:
            yield citation


def _searched_text(flow: Flow, text: str, linked: Sequence[FlowCitation]) -> str:
    """The lines that are read, with a blank line between them; the rest and linked citations are blank.

    Raised digits are written as such, so that they are told from others.
    """
    signs = list(text)
    for start, end in flow.raised:
        signs[start:end] = text[start:end].translate(_RAISED)
    for citation in linked:
        signs[citation.start : citation.end] = " " * (citation.end - citation.start)
    return "\n\n".join(
        "".join(signs[line.start : line.end]) if line.role in _READ_ROLES else " " * (line.end - line.start)
        for line in flow.paragraphs
    )


# -- printed numbers ---------------------------------------------------------


def printed_numbers(
    flow: Flow, text: str, references: Sequence[Reference], citations: Iterable[tuple[str, Sequence[str]]]
) -> tuple[dict[str, int], int]:
    """The numbers of the references by their ids, and the highest number, which may be of none of them.

    A typed list names its references by number. What a manager stores has no numbers: the list that it printed has, and
    so have citations of one work, which are given by what they show and the ids of what they cite.
    """
    numbers = {reference.id: int(reference.id) for reference in references if reference.id.isdecimal()}
    shown = []
    for words, keys in citations:
        if NUMBERED.fullmatch(words.strip()):
            shown += (printed := [int(number) for number in re.findall(r"\d+", words)])
            if len(printed) == len(keys) == 1:
                numbers.setdefault(keys[0], printed[0])
    titles = [normalise_title(reference.title) for reference in references]
    ids = {title: reference.id for title, reference in zip(titles, references, strict=True) if title}
    placed: defaultdict[str, set[int]] = defaultdict(set)
    entries = flow.listed
    if len(entries) * len(ids) > _MAX_COMPARISONS:
        entries = []
    for position, line in enumerate(entries, 1):
        words = text[line.start : line.end]
        label = LABEL.match(words)
        number = position if line.numbered else int(label[2]) if label else 0
        entry = f" {normalise_title(words)} "
        # "Sleep" is a part of "Sleep of bees".
        title = max((title for title in ids if f" {title} " in entry), key=len, default="")
        if number and titles.count(title) == 1:
            placed[ids[title]].add(number)
        shown.append(number)
    for id, (first, *others) in placed.items():
        if not others:  # else nobody knows which of them it is
            numbers.setdefault(id, first)
    return numbers, max((*numbers.values(), *shown), default=0)


# -- the outline -------------------------------------------------------------


class _Filler:
    """Passes the lines of a text to an outline."""

    def __init__(self, path: str, text: str, citations: Sequence[FlowCitation], outline: DraftOutline) -> None:
        self._path, self._text, self._outline = path, text, outline
        self._citations = citations
        self._starts = [citation.start for citation in citations]
        self._notes: dict[int, list[Prose]] = {}  # where the paragraphs of a note belong, by its first line's start
        self._list: Prose | None = None  # the list whose items are read
        self._items = 0
        self._in_abstract = False

    def fill(self, lines: Sequence[FlowParagraph]) -> None:
        for line in lines:
            words = self._text[line.start : line.end]
            if line.role not in ("item", "note"):
                self._end_list()
            if line.role == "heading":
                prose = self._prose(line, Prose())
                heading = NUMBER.sub("", heading_words(prose), count=1)
                self._outline.heading(heading, line.level, prose)
                self._in_abstract = heading.lower() == "abstract"
            elif line.role in ("body", "abstract") and words.strip():
                if line.role == "abstract" and not self._in_abstract:
                    self._outline.heading("Abstract", 0)
                    self._in_abstract = True
                prose = self._prose(line, self._outline.begin_paragraph(words))
                self._outline.end_paragraph(prose, words)
            elif line.role == "item":
                self._add_item(line)
            elif line.role == "formula":
                self._outline.formula(" ".join(words.split()), self._path, line.start, line.end)
            elif line.role in _KINDS:
                self._add_aside(line, _KINDS[line.role])
        self._end_list()

    def _add_item(self, line: FlowParagraph) -> None:
        if self._list is None or self._items >= _MAX_ITEMS:
            self._end_list()
            self._list, self._items = Prose(), 0
        self._list.break_sentence()
        self._prose(line, self._list)
        self._items += 1

    def _end_list(self) -> None:
        if self._list is not None:
            self._outline.block(self._list, "prose")
            self._list = None

    def _add_aside(self, line: FlowParagraph, kind: SentenceKind) -> None:
        prose = self._prose(line, Prose())
        if (notes := self._notes.get(line.start)) is not None:
            notes.append(prose)
        if kind != "table" or prose.has_citations:
            self._outline.block(prose, kind)

    def _prose(self, line: FlowParagraph, prose: Prose) -> Prose:
        """Append the text of a line with its citations and the marks of its notes."""
        offset = line.start
        notes = list(line.notes)
        for index in range(bisect_left(self._starts, line.start), bisect_right(self._starts, line.end)):
            citation = self._citations[index]
            offset = self._add_text(prose, offset, citation.start, notes)
            end = min(citation.end, line.end)
            prose.cite(self._text[offset:end], citation.keys, self._path, offset, end)
            offset = max(offset, end)
        self._add_text(prose, offset, line.end, notes)
        for _, paragraphs in notes:
            self._attach(prose, paragraphs)
        return prose

    def _add_text(self, prose: Prose, start: int, end: int, notes: list[tuple[int, list[FlowParagraph]]]) -> int:
        while notes and notes[0][0] <= end:
            mark, paragraphs = notes.pop(0)
            prose.add(self._text[start:mark], self._path, start)
            self._attach(prose, paragraphs)
            start = max(start, mark)
        prose.add(self._text[start:end], self._path, start)
        return max(start, end)

    def _attach(self, prose: Prose, paragraphs: Sequence[FlowParagraph]) -> None:
        proses: list[Prose] = []
        for paragraph in paragraphs:
            self._notes[paragraph.start] = proses
        prose.attach_notes(proses)
