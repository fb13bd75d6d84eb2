"""The front matter of a paper: title, authors, year, identifiers, abstract, and where the text begins."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import Any

from whycite.documents.identity.identifiers import normalise_arxiv, normalise_doi
from whycite.documents.model import Reference
from whycite.documents.pdf.headings import PdfHeading, squeeze
from whycite.documents.pdf.layout import BodyMeasures
from whycite.documents.pdf.textlines import PdfLine
from whycite.documents.references.names import parse_people
from whycite.text.wordlists import load_tables

__all__ = [
    "MIN_TITLE_LIKENESS",
    "abstract_mark",
    "author_names",
    "has_unheaded_abstract",
    "mark_front",
    "mark_title",
    "paper_of",
]


_ABSTRACT = re.compile(r"(?:abstract|summary|a b s t r a c t)\b\s?(?P<mark>[.:—–-]{0,2})\s?", re.IGNORECASE)
_INTRODUCTION = re.compile(r"(?:(?:1|I|0)\.?\s+)?(?:introduction|background|motivation)", re.IGNORECASE)
_KEYWORDS = re.compile(r"(?:key\s?-?words(?: and phrases)?|index terms|general terms)\s?[:.—–-]", re.IGNORECASE)
_FIRST_LINES = 200  # of the document, in which an abstract must begin
_MIN_ABSTRACT_WORDS, _MAX_ABSTRACT_WORDS = 30, 700
_UPPER_LINES = 25  # of the first page, in which the title must begin
_TITLE_LINES = 6  # at most
_MIN_TITLE_WORDS, _MIN_TITLE_LETTERS = 3, 12  # in metadata; shorter titles are file names and the like
MIN_TITLE_LIKENESS = 0.6  # share of common letters from which a scanned line is the title in the metadata
_MIN_SIZE_RATIO = 1.02  # to the largest print so far, or the running text, from which lines are larger
_GROUP_SIZE_TOLERANCE = 0.04  # by which the size varies between neighbouring lines that belong together
_MAX_KEYWORD_STEP = 1.3  # of the type size, between two lines of one list of keywords
_TABLES = load_tables(__name__)
_BANNERS = frozenset(_TABLES["banners"])


def mark_title(lines: Sequence[PdfLine], metadata: str, body: BodyMeasures) -> None:
    """Find the title on the first page and give its lines the role "title"."""
    upper = [line for line in lines if line.role == "body"]
    for line in _metadata_title_lines(metadata, upper) or _largest_lines(upper, body):
        line.role = "title"


def _metadata_title_lines(metadata: str, lines: Sequence[PdfLine]) -> Sequence[PdfLine]:
    """The lines that match the title in the file's metadata."""
    title_letters = squeeze(metadata)
    title_lines: Sequence[PdfLine] = []
    if len(metadata.split()) < _MIN_TITLE_WORDS or len(title_letters) < _MIN_TITLE_LETTERS:
        return title_lines
    share = MIN_TITLE_LIKENESS
    matcher = SequenceMatcher(None, "", title_letters, autojunk=False)
    for i in range(min(len(lines), _UPPER_LINES)):
        for n in range(1, _TITLE_LINES + 1):
            matcher.set_seq1(squeeze(" ".join(line.text for line in lines[i : i + n]))[: 2 * len(title_letters)])
            if matcher.real_quick_ratio() > share and matcher.quick_ratio() > share and matcher.ratio() > share:
                title_lines, share = lines[i : i + n], matcher.ratio()
    return title_lines


def _largest_lines(lines: Sequence[PdfLine], body: BodyMeasures) -> Sequence[PdfLine]:
    """The lines in the largest print; if nothing is larger than the text, the first bold lines."""
    best: list[PdfLine] = []
    for group in _by_size(lines):
        text = " ".join(line.text for line in group)
        if len(text) < 8 or len(text.split()) < 2 or squeeze(text) in _BANNERS or _ABSTRACT.match(text):
            continue
        if group[0].size > _MIN_SIZE_RATIO * (best[0].size if best else body.size):
            best = group
    if not best:
        best = next((group for group in _by_size(lines[:8]) if group[0].bold and len(group[0].text) > 12), [])
    return best[:_TITLE_LINES]


def _by_size(lines: Sequence[PdfLine]) -> list[list[PdfLine]]:
    """Neighbouring lines of one size and column."""
    groups: list[list[PdfLine]] = []
    for line in lines:
        previous = groups[-1][-1] if groups else None
        if (
            previous
            and abs(previous.size - line.size) <= _GROUP_SIZE_TOLERANCE * previous.size
            and 0 < previous.y - line.y < 2 * previous.size
        ):
            groups[-1].append(line)
        else:
            groups.append([line])
    return groups


def abstract_mark(line: PdfLine) -> int:
    """The length of the mark that begins an abstract ("Abstract—We show"); 0 if there is none."""
    match = _ABSTRACT.match(line.text)
    if not match:
        return 0
    alone = match.end() == len(line.text)
    set_off = len(line.runs) > 1 and line.runs[0].font is not line.runs[1].font and line.text[0].isupper()
    return match.end() if alone or match["mark"] or set_off else 0


def mark_front(lines: Sequence[PdfLine], prose: set[int]) -> None:
    """Give everything before the text on the first page (authors, affiliations) the role "front"."""
    start = next((i for i, line in enumerate(lines) if line.role == "body" and abstract_mark(line)), None)
    if start is None:
        start = _text_start(lines, prose)
    for line in lines[:start]:
        if line.role not in ("title", "caption", "figure"):
            line.role = "front"
    _mark_keywords(lines)
    for line in lines[start + 1 :]:  # authors in the right column come after the left one
        if line.role == "body" and line.y > lines[start].y + line.size and id(line) not in prose:
            line.role = "front"


def _mark_keywords(lines: Sequence[PdfLine]) -> None:
    """Give lists of keywords, which are not sentences, the role "front"."""
    previous: PdfLine | None = None
    for line in lines:
        goes_on = (
            previous is not None
            and previous.columns == line.columns
            and 0 < previous.y - line.y < _MAX_KEYWORD_STEP * line.size
        )
        if line.role == "body" and (_KEYWORDS.match(line.text) or goes_on):
            line.role = "front"
            previous = line
        else:
            previous = None


def has_unheaded_abstract(lines: Sequence[PdfLine], headings: Sequence[PdfHeading]) -> bool:
    """Whether there is an abstract without a heading before the first heading."""
    if not headings or headings[0].lines[0].page > 1:
        return False
    body = [line for line in lines if line.role in ("body", "heading")]
    if not body or any(abstract_mark(line) for line in body[:_FIRST_LINES]):
        return False
    heading_index = body.index(headings[0].lines[0])
    words = sum(len(line.text.split()) for line in body[:heading_index])
    return _MIN_ABSTRACT_WORDS < words < _MAX_ABSTRACT_WORDS


def _text_start(lines: Sequence[PdfLine], prose: set[int]) -> int:
    """Where running text or the introduction begins after the title."""
    title_index = max((i for i, line in enumerate(lines) if line.role == "title"), default=-1)
    for i in range(title_index + 1, len(lines)):
        if _INTRODUCTION.fullmatch(lines[i].text):
            return i
        following = [line for line in lines[i : i + 3] if line.role == "body"]
        if len(following) >= 2 and all(id(line) in prose for line in following):
            return i
    return title_index + 1


_MARKS = re.compile(r"[*∗†‡§¶⋆♯#]|(?<=[^\W\d_.])\d[\d,]*(?!\w)|^\d+|[⁰¹²³⁴⁵⁶⁷⁸⁹]")
_SEPARATOR = re.compile(r"[,;&·•]|\band\b", re.IGNORECASE)
_NAME = re.compile(r"[^\W\d_](?:[\w'’.-]{0,30})(?:\s+[^\W\d_](?:[\w'’.-]{0,30})){1,4}")
_RANKS = re.compile(
    r",?\s?\b(?:(?:student |senior |life |graduate )?(?:member|fellow),? (?:IEEE|ACM)"
    r"|Ph\.? ?D\.?|M\.?D\.?|M\.?Sc\.?)(?!\w)",
    re.IGNORECASE,
)
_PARTICLES = frozenset(_TABLES["particles"])
_NOT_NAMES = re.compile(
    rf"{'|'.join(_TABLES['not_name_parts'])}|\b(?:{'|'.join(_TABLES['not_name_words'])})\b", re.IGNORECASE
)
_YEAR = re.compile(r"(?<![\d.])(19[5-9]\d|20[0-4]\d)(?!\d)")
_MAX_AUTHORS = 200  # that are parsed
_MAX_TITLE_LENGTH = 500  # characters; longer ones are not compared, which takes quadratic time
_SAME_TITLE_LIKENESS = 0.9  # share of common letters from which two titles differ only in spelling
_STYLE_SIZE_TOLERANCE = 0.05  # by which the size varies between lines of authors set alike
_DIVIDED_NAME = re.compile(r"[^\W\d_][^\W\d_.]{1,30}")  # a given name alone at the end of a line


def paper_of(analysis: dict[str, Any]) -> Reference:
    """The paper itself, from the first page as the limited process analysed it."""
    margins = " \n ".join(
        [analysis["aside"], *analysis["margins"], *(" ".join(cells) for cells, *_ in analysis["front"])]
    )
    year = _YEAR.search(margins)
    return Reference(
        id="",
        title=_title(analysis["title"], analysis["metadata"]),
        authors=_authors(analysis["front"]),
        year=int(year[0]) if year else None,
        doi=normalise_doi(margins),
        arxiv=normalise_arxiv(analysis["aside"]),
    )


def _title(printed: str, metadata: str) -> str:
    """The title as printed, or from the file's metadata if the print is a bad scan of it."""
    printed, metadata = " ".join(printed.rstrip("*∗†‡§ ").split()), " ".join(metadata.split())
    printed_letters, metadata_letters = squeeze(printed), squeeze(metadata)
    if len(metadata.split()) < _MIN_TITLE_WORDS or max(len(printed_letters), len(metadata_letters)) > _MAX_TITLE_LENGTH:
        return printed
    likeness = SequenceMatcher(None, printed_letters, metadata_letters, autojunk=False).ratio()
    return metadata if MIN_TITLE_LIKENESS < likeness < _SAME_TITLE_LIKENESS else printed


def _authors(front: Sequence[tuple[list[str], float, bool, bool]]) -> tuple[str, ...]:
    """The people named between title and text: lines with nothing but names, all set like the first."""
    lines = [(names, style) for cells, style in _join_divided_names(front) if (names := author_names(cells))]
    styled_names = [name for names, style in lines if _is_same_style(style, lines[0][1]) for name in names]
    people = [person for name in styled_names[:_MAX_AUTHORS] for person in parse_people(name)]
    return tuple(dict.fromkeys(people))


def _join_divided_names(front: Sequence[tuple[list[str], float, bool, bool]]) -> list[tuple[list[str], list[float]]]:
    """The lines, with names split between two lines joined."""
    lines: list[tuple[list[str], list[float]]] = []
    for cells, *style in front:
        if lines and _is_same_style(style, lines[-1][1]) and _DIVIDED_NAME.fullmatch(lines[-1][0][-1]):
            lines[-1][0][-1] += " " + cells[0]
            lines[-1][0].extend(cells[1:])
        else:
            lines.append((list(cells), style))
    return lines


def _is_same_style(style: Sequence[float], base_style: Sequence[float]) -> bool:
    """Whether two lines have the same size, weight and slant."""
    return abs(style[0] - base_style[0]) <= _STYLE_SIZE_TOLERANCE * base_style[0] and style[1:] == base_style[1:]


def author_names(cells: Iterable[str]) -> list[str]:
    """The names in a line; none if it contains anything else."""
    names = []
    for cell in cells:
        for part in _SEPARATOR.split(_MARKS.sub(" ", _RANKS.sub("", cell))):
            name = " ".join(part.split())
            if not name or len(name) == 1:
                continue
            if not _NAME.fullmatch(name) or _NOT_NAMES.search(name) or not _is_capitalised(name):
                return []
            names.append(name)
    return names


def _is_capitalised(name: str) -> bool:
    words = [word for word in name.split() if word.lower() not in _PARTICLES]
    return len(words) >= 2 and all(word[0].isupper() for word in words)
