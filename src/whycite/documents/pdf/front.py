"""The front of a paper: its title, its authors, where its text begins."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from whycite.documents.pdf.heading_words import squeezed
from whycite.documents.pdf.headings import Heading
from whycite.documents.pdf.lines import Line
from whycite.documents.pdf.measures import Measures

__all__ = ["LIKE", "abstract_mark", "mark_front", "mark_title", "unheaded_abstract"]

_ABSTRACT = re.compile(r"(?:abstract|summary|a b s t r a c t)\b\s?(?P<mark>[.:—–-]{0,2})\s?", re.IGNORECASE)
_INTRODUCTION = re.compile(r"(?:(?:1|I|0)\.?\s+)?(?:introduction|background|motivation)", re.IGNORECASE)
_KEYWORDS = re.compile(r"(?:key\s?-?words(?: and phrases)?|index terms|general terms)\s?[:.—–-]", re.IGNORECASE)
_FIRST_LINES = 200  # an abstract stands among them
_SHORTEST, _LONGEST = 30, 700  # words of an abstract
_UPPER_LINES = 25  # the title is among them
_TITLE_LINES = 6
LIKE = 0.6  # share of letters in common from which a scan's title is what the metadata says
_BANNERS = frozenset(
    "article researcharticle reviewarticle originalarticle originalresearch openaccess review letter shortreport "
    "toolsandresources researchcommunication".split()
)


def mark_title(lines: Sequence[Line], metadata: str, body: Measures) -> None:
    """Find the title on the first page and give its lines the role "title"."""
    upper = [line for line in lines if line.role == "body"]
    for line in _like(metadata, upper) or _largest(upper, body):
        line.role = "title"


def _like(metadata: str, lines: Sequence[Line]) -> Sequence[Line]:
    """The lines that say what the file's own metadata calls the title."""
    wanted = squeezed(metadata)
    found: Sequence[Line] = []
    if len(metadata.split()) < 3 or len(wanted) < 12:
        return found
    share = LIKE
    matcher = SequenceMatcher(None, "", wanted, autojunk=False)
    for i in range(min(len(lines), _UPPER_LINES)):
        for n in range(1, _TITLE_LINES + 1):
            matcher.set_seq1(squeezed(" ".join(line.text for line in lines[i : i + n]))[: 2 * len(wanted)])
            if matcher.real_quick_ratio() > share and matcher.quick_ratio() > share and matcher.ratio() > share:
                found, share = lines[i : i + n], matcher.ratio()
    return found


def _largest(lines: Sequence[Line], body: Measures) -> Sequence[Line]:
    """The largest print; where nothing is larger than the text, the first bold lines."""
    best: list[Line] = []
    for group in _by_size(lines):
        text = " ".join(line.text for line in group)
        if len(text) < 8 or len(text.split()) < 2 or squeezed(text) in _BANNERS or _ABSTRACT.match(text):
            continue
        if group[0].size > 1.02 * (best[0].size if best else body.size):
            best = group
    if not best:
        best = next((group for group in _by_size(lines[:8]) if group[0].bold and len(group[0].text) > 12), [])
    return best[:_TITLE_LINES]


def _by_size(lines: Sequence[Line]) -> list[list[Line]]:
    """Neighbouring lines of one size and column."""
    groups: list[list[Line]] = []
    for line in lines:
        last = groups[-1][-1] if groups else None
        if last and abs(last.size - line.size) <= 0.04 * last.size and 0 < last.y - line.y < 2 * last.size:
            groups[-1].append(line)
        else:
            groups.append([line])
    return groups


def abstract_mark(line: Line) -> int:
    """How many characters of a line only say that an abstract begins ("Abstract—We show"); 0: it does not."""
    match = _ABSTRACT.match(line.text)
    if not match:
        return 0
    alone = match.end() == len(line.text)
    set_off = len(line.runs) > 1 and line.runs[0].font is not line.runs[1].font and line.text[0].isupper()
    return match.end() if alone or match["mark"] or set_off else 0


def mark_front(lines: Sequence[Line], prose: set[int]) -> None:
    """Give what stands before the text on the first page (authors, affiliations) the role "front"."""
    start = next((i for i, line in enumerate(lines) if line.role == "body" and abstract_mark(line)), None)
    if start is None:
        start = _first_text(lines, prose)
    for line in lines[:start]:
        if line.role not in ("title", "caption", "figure"):
            line.role = "front"
    _mark_keywords(lines)
    for line in lines[start + 1 :]:  # authors in the right column are read after the left one
        if line.role == "body" and line.y > lines[start].y + line.size and id(line) not in prose:
            line.role = "front"


def _mark_keywords(lines: Sequence[Line]) -> None:
    """Lists of keywords are no sentences."""
    last: Line | None = None
    for line in lines:
        goes_on = last is not None and last.columns == line.columns and 0 < last.y - line.y < 1.3 * line.size
        if line.role == "body" and (_KEYWORDS.match(line.text) or goes_on):
            line.role = "front"
            last = line
        else:
            last = None


def unheaded_abstract(lines: Sequence[Line], headings: Sequence[Heading]) -> bool:
    """Whether an abstract stands before the first heading without one of its own."""
    if not headings or headings[0].lines[0].page > 1:
        return False
    body = [line for line in lines if line.role in ("body", "heading")]
    if not body or any(abstract_mark(line) for line in body[:_FIRST_LINES]):
        return False
    before = body.index(headings[0].lines[0])
    words = sum(len(line.text.split()) for line in body[:before])
    return _SHORTEST < words < _LONGEST


def _first_text(lines: Sequence[Line], prose: set[int]) -> int:
    """Where running text or the introduction begins after the title."""
    titled = max((i for i, line in enumerate(lines) if line.role == "title"), default=-1)
    for i in range(titled + 1, len(lines)):
        if _INTRODUCTION.fullmatch(lines[i].text):
            return i
        following = [line for line in lines[i : i + 3] if line.role == "body"]
        if len(following) >= 2 and all(id(line) in prose for line in following):
            return i
    return titled + 1
