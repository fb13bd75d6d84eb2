"""What interrupts running text: figures, tables, captions, displayed formulas, code."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import pairwise

from whycite.documents.pdf.layout import BodyMeasures
from whycite.documents.pdf.textlines import Box, PdfLine
from whycite.text.language import reads_as_prose
from whycite.text.wordlists import load_word_lists

__all__ = ["dense_lines", "is_caption_label", "is_row", "mark_captions", "mark_floats", "mark_formulas", "prose_lines"]


_ADDRESS = re.compile(r"(?:https?:|ftp:|www\.|doi:|10\.\d{4,9}/)", re.IGNORECASE)
_YEAR = re.compile(r"(?<!\d)(?:1[89]|20)\d\d(?!\d)")
# Distances are in pitches of the running text, gaps in units of the type size, sizes as shares.
_MAX_DISTANCE = 5.0  # between two parts of one table or picture
_MAX_STEP = 1.3  # between two lines of one paragraph
_SIZE_TOLERANCE = 0.09  # by which the size of running text varies
_MIN_CELL_GAP, _SURE_CELL_GAP = 1.5, 3.0  # between cells, if wider than most gaps of the line; in any case
_MIN_DENSE_SIZE = 0.7  # of the running text's size, for a line of words; smaller print may be part of a float
_MIN_DENSE_WIDTH = 0.8  # of the column, filled by a line of words of any size
_MIN_DENSE_LETTERS = 0.6  # of the characters of a line of words of any size
_MIN_PROSE_WIDTH = 0.7  # of the column, filled by a line that is clearly running text
_MAX_PROSE_INDENT = 0.25  # of the column, by which a line of running text is indented
_MIN_PROSE_LETTERS = 0.72  # of the characters of a line of running text, years included
_MIN_USUAL_GAP = 0.2  # of the type size; the usual gap of a line counts as no narrower than this
_MAX_TIGHT_STEP = 1.3  # of the type size, between two lines without white space between
_SAME_SIZE_TOLERANCE = 0.03  # by which the size varies in text that runs on above a caption
_MIN_READABLE_LETTERS = 0.7  # of the characters of a line in a figure that has whole words
_MIN_NAMED_ROWS = 3  # rows with a name and numbers; a figure with so many is a table
_MIN_FLOAT_SPACE = 1.6  # pitches, from a float to a full line of words, if that is text and not part of it
_MIN_FULL_WIDTH = 0.9  # of the column, filled by a line of text after a float
_MIN_HEADING_SIZE = 0.95  # of the running text's size; smaller bold print is part of a float
_MAX_HEAD_STEP = 1.8  # pitches, from the head of a table to its first row
_MAX_LISTING_STEP = 1.6  # pitches, between two lines of a listing; beyond a blank line prose may follow code
_MAX_ADDRESS_STEP = 1.5  # of the type size, between two lines of one address


def prose_lines(lines: Sequence[PdfLine], body: BodyMeasures) -> set[int]:
    """The ids of the lines of a page (in reading order) that are clearly running text."""
    sure = {id(line) for line in lines if _fills_column(line, body)}
    prose = set(sure)
    for i, line in enumerate(lines):
        if id(line) in prose or line.role != "body" or not _has_body_size(line, body) or _has_cells(line):
            continue
        above, below = (lines[i - 1] if i else None), (lines[i + 1] if i + 1 < len(lines) else None)
        if above is not None and id(above) in prose and _adjoin(above, line, body) and line.x0 < above.x0 + body.size:
            prose.add(id(line))  # the last line of a paragraph
        elif (
            below is not None
            and id(below) in sure
            and _adjoin(line, below, body)
            and line.x1 > line.column_right - 4 * body.size
        ):
            prose.add(id(line))  # the first line
    return prose


def dense_lines(lines: Sequence[PdfLine], body: BodyMeasures) -> set[int]:
    """The ids of lines of any size that fill their column with words, next to others that do."""
    dense = [
        line.role == "body"
        and line.size > _MIN_DENSE_SIZE * body.size
        and line.x1 - line.x0 > _MIN_DENSE_WIDTH * (line.column_right - line.column_left)
        and len(line.text.split()) >= 5
        and sum(map(str.isalpha, line.text)) > _MIN_DENSE_LETTERS * line.length
        and not _has_cells(line)
        for line in lines
    ]
    return {
        id(line) for i, line in enumerate(lines) if dense[i] and any(dense[max(i - 1, 0) : i] + dense[i + 1 : i + 2])
    }


def _fills_column(line: PdfLine, body: BodyMeasures) -> bool:
    """Whether this is a full line of words in the body's size that begins at the left edge."""
    if line.role != "body" or not _has_body_size(line, body):
        return False
    width = line.column_right - line.column_left
    words = line.text.split()
    numbers = sum(any(map(str.isdigit, word)) and not _YEAR.search(word) for word in words)
    letters = sum(map(str.isalpha, line.text)) + 4 * len(_YEAR.findall(line.text))
    return (
        line.x1 - line.x0 > _MIN_PROSE_WIDTH * width
        and line.x0 - line.column_left < _MAX_PROSE_INDENT * width
        and len(words) >= 4
        and 2 * numbers < len(words)
        and letters > _MIN_PROSE_LETTERS * line.length
        and not _has_cells(line)
    )


def _has_body_size(line: PdfLine, body: BodyMeasures) -> bool:
    return abs(line.size - body.size) <= _SIZE_TOLERANCE * body.size


def _has_cells(line: PdfLine) -> bool:
    """Whether wide gaps split the line into cells; in a stretched line all gaps are alike."""
    gaps = sorted(line.gaps)
    if not gaps or gaps[-1] < _MIN_CELL_GAP:
        return False
    return gaps[-1] > _SURE_CELL_GAP or gaps[-1] > 2 * max(gaps[len(gaps) // 2], _MIN_USUAL_GAP)


def _adjoin(above: PdfLine, below: PdfLine, body: BodyMeasures) -> bool:
    return above.columns == below.columns and 0 < above.y - below.y < _MAX_STEP * body.pitch


def mark_floats(
    lines: Sequence[PdfLine], captions: Sequence[Sequence[PdfLine]], pictures: Sequence[Box], body: BodyMeasures
) -> None:
    """Give lines in pictures and tables of a page the role "figure" or "table", and those of listings "code"."""
    prose = prose_lines(lines, body) | dense_lines(lines, body)
    for box in pictures:
        picture_lines = [line for line in lines if line.role == "body" and _lies_within(line, box)]
        if 2 * sum(id(line) in prose for line in picture_lines) <= len(picture_lines):
            _mark_figure(picture_lines, body)
    for caption in captions:
        table = caption[0].text[:1].lower() == "t"
        above = _adjacent_lines(caption, lines, prose, body, downwards=False)
        if not table:
            if not _runs_on(above, lines, prose):
                _mark_figure(above, body)
            continue
        below = _adjacent_lines(caption, lines, prose, body, downwards=True)
        for line in below if below and not _is_nearer(above, below, caption) else above:
            line.role = "table"
    _mark_rows(lines, prose, body)
    if body.steady and not body.mono:
        _mark_code(lines, body)


def _runs_on(above: Sequence[PdfLine], lines: Sequence[PdfLine], prose: set[int]) -> bool:
    """Whether the lines above a caption continue running text of their size, without white space between."""
    if not above:
        return False
    top = above[-1]
    tight = (
        line
        for line in lines
        if id(line) in prose and line.columns == top.columns and 0 < line.y - top.y < _MAX_TIGHT_STEP * top.size
    )
    return any(
        all(abs(line.size - float_line.size) <= _SAME_SIZE_TOLERANCE * line.size for float_line in above)
        for line in tight
    )


def _is_nearer(above: Sequence[PdfLine], below: Sequence[PdfLine], caption: Sequence[PdfLine]) -> bool:
    """Whether the table is above its caption: there are cells above, and below none or farther away."""
    if not any(_has_cells(line) or is_row(line) for line in above):
        return False
    return above[0].y - caption[0].y < caption[-1].y - below[0].y or not any(map(_has_cells, below))


def _mark_figure(lines: Sequence[PdfLine], body: BodyMeasures) -> None:
    """Drop the labels of a figure; what reads as prose is kept, all of it if most does: steps, rows of a table."""
    readable = [line for line in lines if _is_readable(line) or reads_as_prose(line.text)]
    tabular = sum(is_row(line) and _has_name(line) for line in lines) >= _MIN_NAMED_ROWS
    for line in lines:
        if tabular or 2 * sum(line.length for line in readable) > sum(line.length for line in lines):
            line.role = "table"
        elif reads_as_prose(line.text):
            line.role = "body" if _has_body_size(line, body) else "table"
        else:
            line.role = "figure"


def _has_name(line: PdfLine) -> bool:
    """Whether a line has a word of more than one letter."""
    return any(sum(map(str.isalpha, word)) > 1 for word in line.text.split())


def _is_readable(line: PdfLine) -> bool:
    """Whether a line has several whole words, or is a table row with a name before its numbers."""
    words = [word for word in line.text.split() if sum(map(str.isalpha, word)) > 1]
    letters = sum(map(str.isalpha, line.text))
    if len(words) >= 4 and letters > _MIN_READABLE_LETTERS * line.length and letters > 3 * len(line.text.split()):
        return not _has_cells(line)
    return bool(words) and is_row(line)


def _lies_within(line: PdfLine, box: Box) -> bool:
    middle = (line.x0 + line.x1) / 2
    return box[0] <= middle <= box[2] and box[1] - 2 <= line.y <= box[3]


def _adjacent_lines(
    caption: Sequence[PdfLine], lines: Sequence[PdfLine], prose: set[int], body: BodyMeasures, downwards: bool
) -> list[PdfLine]:
    """The lines below or above a caption, up to running text or a heading."""
    first_column, last_column = caption[0].columns[0], max(line.columns[1] for line in caption)
    edge = caption[-1].y if downwards else caption[0].y
    near = [
        line
        for line in lines
        if line.columns[1] >= first_column
        and line.columns[0] <= last_column
        and (line.y < edge if downwards else line.y > edge)
    ]
    near.sort(key=lambda line: -line.y if downwards else line.y)
    adjacent: list[PdfLine] = []
    for line in near:
        if abs(line.y - edge) > _MAX_DISTANCE * body.pitch or id(line) in prose or line.role not in ("body", "figure"):
            break
        if _is_heading_like(line, body) or (
            abs(line.y - edge) > _MIN_FLOAT_SPACE * body.pitch and _is_full(line, body)
        ):
            break
        adjacent.append(line)
        edge = line.y
    return [line for line in adjacent if line.role == "body"]


def _is_full(line: PdfLine, body: BodyMeasures) -> bool:
    """Whether this is a full line of words in the body's size: text after a float, not part of it."""
    full = line.x1 - line.x0 > _MIN_FULL_WIDTH * (line.column_right - line.column_left) and len(line.text.split()) >= 5
    return full and _has_body_size(line, body) and not _has_cells(line)


def _is_heading_like(line: PdfLine, body: BodyMeasures) -> bool:
    bold = line.bold and not body.bold
    return (
        line.size > _MIN_HEADING_SIZE * body.size
        and bold
        and line.x0 - line.column_left < body.size
        and not _has_cells(line)
    )


def is_row(line: PdfLine) -> bool:
    """Whether a line is a table row: cells, most of them numbers, or only numbers."""
    words = line.text.split()
    numbers = [word for word in words if any(map(str.isdigit, word))]
    if len(words) > 1 and not any(map(str.isalpha, line.text)):
        return len(numbers) == len(words) and any(sum(map(str.isdigit, word)) > 1 for word in words)
    strange = [run for run in line.runs if run.font.math or not run.font.name]
    if not strange and len(line.cells) > 2:
        counts = sum(sum(map(str.isdigit, cell)) > sum(map(str.isalpha, cell)) for cell in line.cells[1:])
        if 2 * counts >= len(line.cells) - 1:
            return True
    printed = 2 * sum(len(run.text) for run in strange) < line.length
    return printed and _has_cells(line) and 2 * len(numbers) >= len(words)


def _mark_rows(lines: Sequence[PdfLine], prose: set[int], body: BodyMeasures) -> None:
    """Mark consecutive rows of cells, and the head above them, as a table even without a caption."""
    rows = [line.role == "body" and id(line) not in prose and is_row(line) for line in lines]
    for i, is_table_row in enumerate(rows):
        if is_table_row and (rows[i - 1 : i] == [True] or rows[i + 1 : i + 2] == [True]):
            lines[i].role = "table"
    for head, row in pairwise(lines):
        near = head.columns == row.columns and 0 < head.y - row.y < _MAX_HEAD_STEP * body.pitch
        free = head.role == "body" and id(head) not in prose
        if row.role == "table" and near and free and max(head.gaps, default=0) > _MIN_CELL_GAP:
            head.role = "table"


def _mark_code(lines: Sequence[PdfLine], body: BodyMeasures) -> None:
    """Mark consecutive lines in a monospaced font as code, except addresses and what reads as prose."""
    listing: list[PdfLine] = []
    for line in [*lines, None]:
        typed = line is not None and line.role == "body" and all(run.font.mono for run in line.runs)
        if listing and not (typed and line is not None and _adjoin_in_listing(listing[-1], line, body)):
            if len(listing) > 1 and not reads_as_prose(" ".join(typed_line.text for typed_line in listing)):
                for code_line in _without_addresses(listing):
                    code_line.role = "code"
            listing = []
        if typed and line is not None:
            listing.append(line)


def _adjoin_in_listing(above: PdfLine, below: PdfLine, body: BodyMeasures) -> bool:
    """Whether two lines belong to one listing: no white space between them, or a new column or page."""
    return above.columns != below.columns or above.y - below.y < _MAX_LISTING_STEP * max(body.pitch, above.size)


def _without_addresses(lines: Sequence[PdfLine]) -> list[PdfLine]:
    """The lines except those of web addresses, which may go on for several."""
    code = []
    address = False
    for i, line in enumerate(lines):
        goes_on = address and 0 < lines[i - 1].y - line.y < _MAX_ADDRESS_STEP * line.size
        address = goes_on or bool(_ADDRESS.match(line.text))
        if not address:
            code.append(line)
    return code


_LABEL = re.compile(
    r"(?:extended data |supplementary |supporting |supplemental )?"
    r"(?P<kind>figure|fig\.?|table|tab\.|scheme|algorithm|listing|box|plate|chart|video|movie|exhibit)\s?"
    r"(?P<number>[A-Z]{0,2}\d{1,3}(?:[.-]\d{1,3})?[a-z]?|[IVX]{1,5}|[A-Z]\.\d{1,2})"
    r"(?P<after>\s?[:.|—–]|\s?-\s|\s?\(|\s|$)",
    re.IGNORECASE,
)
_SHORTENED = re.compile(r"(?:\b(?:cf|see|e\.g|i\.e|vs|also)\.|[,;:])$", re.IGNORECASE)
_FINISHED = re.compile(r"[.!?:;]['\")\]”’]*\d{0,2}$")
_MIN_SIZE_CHANGE = 0.05  # share by which the size of a caption differs from that of other text
_MIN_CAPTION_SPACE = 1.25  # pitches above a caption; lines of one paragraph are closer
_SURE_CAPTION_SPACE = 1.6  # pitches above a caption with nothing else to set it off, neither type nor punctuation
_MAX_CAPTION_STEP = 1.45  # of the type size, between two lines of one caption
_MAX_STEP_GROWTH = 1.12  # times the step before it in a caption; what follows a wider one is other text
_CAPTION_SIZE_TOLERANCE = 0.06  # by which the size varies from line to line of a caption
_MIN_CAPTION_STEP = 0.3  # of the type size; anything closer is on the same line
_MAX_CAPTION_GAP = 2.2  # of the type size, in a line of a caption; wider ones are between cells


def is_caption_label(text: str) -> bool:
    """Whether a line is only the label of a caption ("Table 1")."""
    match = _LABEL.match(text)
    return bool(match and match.end() >= len(text.rstrip()))


def mark_captions(lines: Sequence[PdfLine], rules: Sequence[Box], body: BodyMeasures) -> list[list[PdfLine]]:
    """Give the captions of a page (lines in reading order) the role "caption"; returns the lines of each."""
    captions: list[list[PdfLine]] = []
    for i, line in enumerate(lines):
        if line.role != "body" or not _begins_caption(line, lines[i - 1] if i else None, body):
            continue
        caption = [line]
        line.role = "caption"
        for below in lines[i + 1 :]:
            if not _continues_caption(caption, below, rules):
                break
            below.role = "caption"
            caption.append(below)
        captions.append(caption)
    return captions


def _begins_caption(line: PdfLine, above: PdfLine | None, body: BodyMeasures) -> bool:
    match = _LABEL.match(line.text)
    if not match or line.text[0].islower():
        return False
    rest = line.text[match.end() :].lstrip()
    usual = (above or line).main.font
    set_off = abs(line.size - body.size) > _MIN_SIZE_CHANGE * body.size or line.runs[0].font is not usual
    separated = not match["after"].isspace()
    opens = not rest[:1].islower() or _is_distinct(line, match.end())
    if above is None or above.columns != line.columns or above.y <= line.y:
        if above is not None and not _FINISHED.search(above.text) and above.role == "body" and not set_off:
            return match["after"].strip() == ":"
        return separated or (opens and (set_off or rest[:1].isupper()))
    gap = (above.y - line.y) / max(body.pitch, 1.0)
    if gap > _MIN_CAPTION_SPACE or above.role != "body" or is_row(above):
        return separated or (opens and (set_off or gap > _SURE_CAPTION_SPACE) and bool(set_off or rest[:1].isupper()))
    if separated and rest[:1].isupper() and _ends_text(above, body):
        return True
    return (
        separated
        and set_off
        and (line.runs[0].font.bold or abs(line.size - above.size) > _MIN_SIZE_CHANGE * above.size)
    )


def _ends_text(line: PdfLine, body: BodyMeasures) -> bool:
    """Whether no sentence continues after a line: it ends one, or is not a full line."""
    if line.x1 < line.column_right - 4 * body.size:
        return True
    return bool(_FINISHED.search(line.text)) and not _SHORTENED.search(line.text)


def _is_distinct(line: PdfLine, length: int) -> bool:
    """Whether the first `length` characters of a line, its label, are set in another font than the rest."""
    for run in line.runs:
        if length <= 0:
            return run.font is not line.runs[0].font
        length -= len(run.text) + run.spaced
    return False


def _tallest(line: PdfLine) -> float:
    """The size of the capitals in a line set in small capitals."""
    return max(run.size for run in line.runs)


def _continues_caption(caption: Sequence[PdfLine], below: PdfLine, rules: Sequence[Box]) -> bool:
    """Whether a line continues the caption above it."""
    above = caption[-1]
    if below.role != "body" or below.page != above.page or (_LABEL.match(below.text) and below.runs[0].font.bold):
        return False
    if not (
        caption[0].columns[0] <= below.columns[0] and below.columns[1] <= max(caption[0].columns[1], above.columns[1])
    ):
        return False
    pitch = _MAX_CAPTION_STEP * max(above.size, below.size)
    if len(caption) > 2:
        pitch = min(pitch, _MAX_STEP_GROWTH * (caption[-2].y - above.y))
    alike = any(
        abs(size - above.size) <= _CAPTION_SIZE_TOLERANCE * above.size for size in (below.size, _tallest(below))
    )
    if not _MIN_CAPTION_STEP * above.size < above.y - below.y <= pitch or not alike:
        return False
    if max(below.gaps, default=0) > _MAX_CAPTION_GAP or below.x0 > above.x1:
        return False
    middle = (below.x0 + below.x1) / 2
    return not any(below.y + 0.5 * below.size < rule[1] < above.y and rule[0] < middle < rule[2] for rule in rules)


_NUMBER = re.compile(r"\(\s?[A-Z]?\.?\d{1,3}(?:\.\d{1,3})?[a-z]?\s?\)$")
_WORD = re.compile(r"[A-Za-z]{3,}")
_FORMULA_WORDS = load_word_lists(__name__)["formula_words"]
_MIN_FORMULA_INDENT = 0.8  # of the running text's size, from the left edge of the column
_MAX_CRUMB_SIZE = 0.9  # of the running text's size; indices and limits of sums are smaller
_MIN_SYMBOLS = 0.3  # of the characters of an indented formula


def mark_formulas(lines: Sequence[PdfLine], prose: set[int], body: BodyMeasures) -> None:
    """Give displayed formulas of a page the role "formula", and single symbols on a line the role "crumb"."""
    for line in lines:
        if line.role != "body" or id(line) in prose:
            continue
        words = [word for word in _WORD.findall(line.text) if word not in _FORMULA_WORDS]
        symbols = _symbols(line)
        inset = line.x0 - line.column_left > _MIN_FORMULA_INDENT * body.size
        small = line.size < _MAX_CRUMB_SIZE * body.size
        if not words and (
            (line.length <= 2 and (symbols or small))
            or (line.length == 3 and (symbols or small or inset) and not line.text.replace(" ", "").isalnum())
        ):
            line.role = "crumb"
        elif (
            (symbols > _MIN_SYMBOLS * line.length and len(words) <= 2 and inset)
            or (symbols > 0.5 * line.length and len(words) <= 1)
            or (
                inset
                and _NUMBER.search(line.text)
                and len(words) <= 4
                and max(line.gaps, default=0) > _MIN_CELL_GAP
                and symbols
            )
        ):
            line.role = "formula"
    _spread_formulas(lines, prose)


def _symbols(line: PdfLine) -> int:
    """How many characters are set in a formula font or are mathematical signs."""
    count = 0
    for run in line.runs:
        if run.font.math or not run.font.name:
            count += len(run.text)
        else:
            count += sum(unicodedata.category(c) == "Sm" or "\u0370" <= c <= "\u03ff" for c in run.text)
    return count


def _spread_formulas(lines: Sequence[PdfLine], prose: set[int]) -> None:
    """Extend formulas to adjacent crumbs and lines without words."""
    for order in (range(1, len(lines)), range(len(lines) - 2, -1, -1)):
        step = order.step
        for i in order:
            line, neighbour = lines[i], lines[i - step]
            if (
                neighbour.role == "formula"
                and line.role in ("crumb", "body")
                and id(line) not in prose
                and line.page == neighbour.page
                and line.columns == neighbour.columns
                and abs(line.y - neighbour.y) < 2 * neighbour.size
                and (line.role == "crumb" or not any(w not in _FORMULA_WORDS for w in _WORD.findall(line.text)))
            ):
                line.role = "formula"
