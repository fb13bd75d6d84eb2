"""From PDF bytes to pages of text runs, with pdfium; only called in the limited process."""

from __future__ import annotations

import ctypes
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from whycite.documents.pdf.textlines import Box, Font, PdfPage, Span, TextRun, attach_accents, compose_accent, is_accent
from whycite.errors import UserError
from whycite.text.language import is_language
from whycite.text.wordlists import load_tables

__all__ = [
    "Extraction",
    "Fonts",
    "PdfiumApi",
    "Recogniser",
    "api",
    "drawings",
    "extract",
    "font_of",
    "needs_recognition",
    "runs_of",
]


# Limits far above real papers.
MAX_PAGES = 1_000
MAX_CHARACTERS = 5_000_000
MAX_PAGE_CHARACTERS = 100_000
# A page takes about 20 ms: beyond the free seconds, reading stops if pages take three times as long.
FREE_SECONDS = 2.5
PAGE_SECONDS = 0.06


MAX_RECOGNISED_PAGES = 60  # by OCR, at several seconds each
_MAX_STAMP = 150  # characters on a scanned page that may be a stamp, not a text layer
Recogniser = Callable[[Any, int], list[TextRun]]  # from a page of pdfium and its start in the document's text


@dataclass(slots=True)
class Extraction:
    """The pages that could be read, and the title in the file's metadata."""

    pages: list[PdfPage] = field(default_factory=list)
    title: str = ""
    page_count: int = 0
    starts: list[int] = field(default_factory=list)  # of every page in the document's text
    unread: list[int] = field(default_factory=list)  # numbers of pages that could not be read, from 1
    warnings: list[str] = field(default_factory=list)


def extract(data: bytes, alive: Callable[[], None], recognise: Recogniser | None = None) -> Extraction:
    """The runs of every page; pages that cannot be read or take too long become warnings.

    `recognise` reads the image of a page that has no text.
    """
    document = _open_document(data)
    alive()
    try:
        extraction = Extraction(page_count=len(document), title=_title(document))
        fonts = Fonts()
        extraction.pages = list(_read_pages(document, fonts, extraction, alive))
        fonts.drop_illegible(extraction.pages)
        if recognise is not None:
            _recognise_pages(document, extraction, recognise, alive)
        runs = [run for page in extraction.pages for run in page.runs]
        fonts.resize(runs)
        fonts.name_text_fonts(runs)
        return extraction
    finally:
        document.close()


def needs_recognition(page: PdfPage) -> bool:
    """Whether a page is an image with at most a stamp on it, or most of it is in fonts that nobody can read."""
    length = sum(len(run.text) for run in page.runs)
    return (page.scanned and length + page.illegible < _MAX_STAMP) or page.illegible > max(length, _MAX_STAMP)


def _recognise_pages(document: Any, extraction: Extraction, recognise: Recogniser, alive: Callable[[], None]) -> None:
    """Put what OCR reads in the place of pages without text."""
    for pdf_page in [page for page in extraction.pages if needs_recognition(page)][:MAX_RECOGNISED_PAGES]:
        alive()
        page = document[pdf_page.number]
        try:
            runs = recognise(page, extraction.starts[pdf_page.number])
        finally:
            page.close()
        if runs:
            pdf_page.runs, pdf_page.pictures, pdf_page.rules = runs, [], []
            pdf_page.scanned, pdf_page.illegible, pdf_page.recognised = False, 0, True


def _open_document(data: bytes) -> Any:
    """The open document; a UserError says why it cannot be opened."""
    import pypdfium2 as pdfium
    import pypdfium2.raw as c

    if b"%PDF-" not in data[:1024]:
        raise UserError("not a PDF file" if data else "the file is empty")
    try:
        return pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        if getattr(error, "err_code", None) == c.FPDF_ERR_PASSWORD:
            raise UserError("the PDF is encrypted; remove its password first") from error
        raise UserError("the PDF is damaged or incomplete; get a new copy") from error


def _title(document: Any) -> str:
    """The title in the file's metadata; "" if it is not text."""
    try:
        return str(document.get_metadata_value("Title"))
    except UnicodeDecodeError:
        return ""


def _read_pages(document: Any, fonts: Fonts, extraction: Extraction, alive: Callable[[], None]) -> Iterator[PdfPage]:
    import pypdfium2 as pdfium

    offset = total = 0
    start_time = time.process_time()
    for number in range(extraction.page_count):
        spent = time.process_time() - start_time
        slow = spent > FREE_SECONDS and spent > PAGE_SECONDS * number
        if number >= MAX_PAGES or total > MAX_CHARACTERS or slow:
            why = "reading took too long" if slow else "the document is too long"
            extraction.warnings.append(f"only the first {number} of {extraction.page_count} pages were read ({why})")
            return
        alive()
        extraction.starts.append(offset)
        try:
            page = document[number]
            try:
                pdf_page, length = _read_page(page, number, offset, fonts)
            finally:
                page.close()
        except (pdfium.PdfiumError, RecursionError, ValueError):
            extraction.unread.append(number + 1)
            offset += 1
            continue
        offset += length + 1
        total += length
        yield pdf_page


def _read_page(page: Any, number: int, offset: int, fonts: Fonts) -> tuple[PdfPage, int]:
    """A page and the length of its text; text not in the main direction is kept separately."""
    width, height = page.get_size()
    textpage = page.get_textpage()
    fonts.turn_page()
    try:
        if textpage.count_chars() > MAX_PAGE_CHARACTERS:
            raise ValueError("more characters than a printed page has")
        text = textpage.get_text_range()
        turned: tuple[list[TextRun], ...] = ([], [], [], [])
        for turn, run in runs_of(textpage, text, offset, fonts):
            turned[turn].append(run)
        if any(is_accent(run.text) for run in turned[0]):
            turned[0][:] = attach_accents(turned[0], _spans(textpage, text, offset))
    finally:
        textpage.close()
    main = max(range(4), key=lambda turn: sum(len(run.text) for run in turned[turn]))
    aside = " ".join(run.text for turn in range(4) if turn != main for run in turned[turn])
    pictures, rules, scanned = drawings(page, width * height)
    if main % 2:
        width, height = height, width
    if main:  # their coordinates are those of the unrotated page
        pictures, rules = [], []
    controls = len(_CONTROLS.findall(text))
    return PdfPage(number, width, height, turned[main], pictures, rules, scanned, controls, aside), len(text)


_MAX_OBJECTS = 4_000  # on a page that are checked for pictures and rules
_MAX_RULE_HEIGHT, _MIN_RULE_WIDTH = 3.0, 20.0  # points of a horizontal rule
# Shares of the page: smaller images are symbols, larger ones are scans of the whole page.
_MIN_PICTURE, _MIN_SCAN = 0.005, 0.6


class PdfiumApi:
    """The functions of pdfium on plain addresses: typed pointers would take twice as long."""

    def __init__(self) -> None:
        import pypdfium2.raw as c

        self.matrix, self.rectangle = c.FS_MATRIX, c.FS_RECTF
        address, integer = ctypes.c_void_p, ctypes.c_int

        def plain(function: Any, result: Any, *arguments: Any) -> Any:
            return ctypes.CFUNCTYPE(result, *arguments)(ctypes.cast(function, address).value or 0)

        self.text_index = plain(c.FPDFText_GetTextIndexFromCharIndex, integer, address, integer)
        self.text_object = plain(c.FPDFText_GetTextObject, address, address, integer)
        self.origin = plain(c.FPDFText_GetCharOrigin, integer, address, integer, address, address)
        self.loose_box = plain(c.FPDFText_GetLooseCharBox, integer, address, integer, address)
        self.tight_box = plain(c.FPDFText_GetCharBox, integer, address, integer, *[address] * 4)
        self.char_matrix = plain(c.FPDFText_GetMatrix, integer, address, integer, address)
        self.font_size = plain(c.FPDFTextObj_GetFontSize, integer, address, address)
        self.font = plain(c.FPDFTextObj_GetFont, address, address)
        self.lacks_unicode = plain(c.FPDFText_HasUnicodeMapError, integer, address, integer)
        self.font_name = plain(c.FPDFFont_GetBaseFontName, ctypes.c_size_t, address, address, ctypes.c_size_t)
        self.weight = plain(c.FPDFFont_GetWeight, integer, address)
        self.italic_angle = plain(c.FPDFFont_GetItalicAngle, integer, address, address)


@cache
def api() -> PdfiumApi:
    """The functions, bound once per process."""
    return PdfiumApi()


def drawings(page: Any, area: float) -> tuple[list[Box], list[Box], bool]:
    """The boxes of a page's images and embedded graphics, its horizontal rules, and whether an image fills it."""
    import pypdfium2.raw as c

    pictures: list[Box] = []
    rules: list[Box] = []
    is_scanned = False
    x_min, y_min, x_max, y_max = (ctypes.c_float() for _ in range(4))
    for i in range(min(c.FPDFPage_CountObjects(page.raw), _MAX_OBJECTS)):
        page_object = c.FPDFPage_GetObject(page.raw, i)
        kind = c.FPDFPageObj_GetType(page_object)
        if kind == c.FPDF_PAGEOBJ_TEXT or not c.FPDFPageObj_GetBounds(page_object, x_min, y_min, x_max, y_max):
            continue
        box = (x_min.value, y_min.value, x_max.value, y_max.value)
        width, height = box[2] - box[0], box[3] - box[1]
        if height < _MAX_RULE_HEIGHT and width > _MIN_RULE_WIDTH:
            rules.append(box)
        elif kind != c.FPDF_PAGEOBJ_PATH and _MIN_PICTURE * area < width * height < _MIN_SCAN * area:
            pictures.append(box)
        is_scanned = is_scanned or (kind == c.FPDF_PAGEOBJ_IMAGE and width * height >= _MIN_SCAN * area)
    return pictures, rules, is_scanned


_FONT_NAMES = load_tables(__name__)
_MATH, _BOLD, _ITALIC, _CAPITALS, _MONO = (
    re.compile("|".join(_FONT_NAMES[style]), re.IGNORECASE)
    for style in ("math", "bold", "italic", "small_capitals", "mono")
)
_BOLD_WEIGHT = 600  # of a font, from which it is bold (400 is regular, 700 bold)
_MAX_FONT_NAME = 80  # characters


def font_of(name: str, weight: int, slant: int) -> Font:
    """The font with a base name as in the file ("ABCDEF+Times-Bold")."""
    name = name.partition("+")[2] or name
    name = name[:_MAX_FONT_NAME]
    math = bool(_MATH.search(name))
    return Font(
        name=name,
        bold=bool(_BOLD.search(name)) or weight >= _BOLD_WEIGHT,
        italic=bool(_ITALIC.search(name)) or (slant != 0 and not math),
        math=math,
        mono=bool(_MONO.search(name)),
        capitals=bool(_CAPITALS.search(name)),
    )


_CONTROLS = re.compile(r"[\x7f-\x9f]")  # from a broken font; no text has them
_MEANINGLESS = re.compile("[\ufffd\ue000-\uf8ff\U000f0000-\U0010ffff]")  # no character, or one of private meaning
_HYPHEN = "\ufffe"  # pdfium's character for a hyphen at the end of a line
# What TeX's two text encodings have in place of control characters: bitmap fonts do not say what they print.
_TEX = dict(zip("\x1b\x1c\x1d\x1e\x1f\x0b\x0c\r\x0e\x0f\x10\x11\x15\x16", "ﬀﬁﬂﬃﬄﬀﬁﬂﬃﬄ“”–—", strict=True))
_CONTROL = re.compile(r"[\x0b\x0c\x0e-\x11\x15\x16\x1b-\x1f]|\r(?!\n)")
_WORD = re.compile(r"[a-z]{3,}")
_BITMAP = "bitmap"  # our name for nameless fonts that set text
_MIN_FONT_TEXT = 200  # characters from which a font can be judged by the text it sets
_WORD_LENGTH = 4  # characters; symbols of formulas stand alone or in twos and threes
_MIN_FONT_WORDS = 3  # words on a page from which a font is one for text
_NO_FONT = font_of("", 0, 0)
_MIN_SIZE, _MAX_SIZE = 2.0, 60.0  # points; fonts drawn by procedures (Type 3) often claim a smaller size
_USUAL_SIZE = 10.0  # points, until a font states its size
_MAX_COORDINATE = 1e5  # points; anything farther out, or not a number, is not on the page
_MAX_RUN_LENGTH = 1_000  # characters; a longer run is not a word, and must not take long
_MAX_BASE_SHIFT = 0.05  # of the type size, within a run; indices and exponents are shifted by more
_MAX_STEP_BACK = 0.3  # of the type size, from the left edge of a letter to that of the next in its run
_MAX_HEIGHTS = 400  # letters of a font that are measured
_TALL = 0.85  # quantile of the heights of letters that counts as the height of the tallest
_ASCENT = 0.7  # height of the tallest letters and digits of a font, in units of its size


class Fonts:
    """The fonts of a document; those without a size get it from the height of their letters."""

    def __init__(self) -> None:
        self._by_handle: dict[int, Font] = {}
        self._by_name: dict[tuple[str, int, int], Font] = {}
        self._heights: dict[int, list[float]] = {}
        self._nameless: list[Font] = []  # kept alive, because `_heights` refers to them by id
        self._unmapped: Counter[int] = Counter()  # text objects of each font that lack Unicode, less those that have it

    def turn_page(self) -> None:
        """Forget the handles: pdfium may reuse those of a closed page for other fonts."""
        self._by_handle.clear()

    def style(self, text: Any, index: int, key: int) -> tuple[int, float, Font]:
        """Quarter turns to the left, printed size (0 if unknown) and font of a text object."""
        matrix, size = api().matrix(), ctypes.c_float(0)
        if not key or not api().char_matrix(text, index, ctypes.byref(matrix)):
            return 0, 0.0, _NO_FONT
        api().font_size(key, ctypes.byref(size))
        handle = api().font(key) or 0
        if handle not in self._by_handle:
            self._by_handle[handle] = self._font(*_describe_font(handle))
        if abs(matrix.a) >= abs(matrix.b):
            turn = 0 if matrix.a >= 0 else 2
        else:
            turn = 1 if matrix.b > 0 else 3
        font = self._by_handle[handle]
        self._unmapped[id(font)] += 1 if api().lacks_unicode(text, index) else -1
        printed = abs(size.value) * max(abs(matrix.c), abs(matrix.d))
        return turn, round(printed, 1) if _MIN_SIZE <= printed <= _MAX_COORDINATE else 0.0, font

    def _font(self, name: str, weight: int, slant: int) -> Font:
        """One font per name; nameless ones are kept separate."""
        if not name:
            self._nameless.append(font_of(name, weight, slant))
            return self._nameless[-1]
        key = (name, weight, slant)
        if key not in self._by_name:
            self._by_name[key] = font_of(*key)
        return self._by_name[key]

    def note_height(self, font: Font, height: float) -> None:
        """Record the height of a letter of a font without a size."""
        heights = self._heights.setdefault(id(font), [])
        if len(heights) < _MAX_HEIGHTS:
            heights.append(height)

    def resize(self, runs: Sequence[TextRun]) -> None:
        """If most text is in fonts without a size, give them the size of their letters."""
        unsized = [run for run in runs if id(run.font) in self._heights]
        if 2 * sum(len(run.text) for run in unsized) < sum(len(run.text) for run in runs):
            return  # only symbols: they keep the size of the surrounding text
        sizes = {key: sorted(heights)[int(_TALL * len(heights))] / _ASCENT for key, heights in self._heights.items()}
        for run in unsized:
            run.size = min(max(round(sizes[id(run.font)], 1), _MIN_SIZE), _MAX_SIZE)

    def name_text_fonts(self, runs: Sequence[TextRun]) -> None:
        """If most text is in nameless fonts, name those that set words: the others set formulas."""
        nameless = [run for run in runs if not run.font.name]
        if 2 * sum(len(run.text) for run in nameless) < sum(len(run.text) for run in runs):
            return
        total: Counter[int] = Counter()
        words: Counter[int] = Counter()
        for run in nameless:
            total[id(run.font)] += len(run.text)
            words[id(run.font)] += len(run.text) if run.text[:3].isalpha() and len(run.text) > 2 else 0
        texts = {key: replace(_NO_FONT, name=_BITMAP) for key, count in total.items() if 3 * words[key] > count}
        for run in nameless:
            run.font = texts.get(id(run.font), run.font)

    def drop_illegible(self, pages: Sequence[PdfPage]) -> None:
        """Take out, and count, words in fonts that do not say which letters they print and read as no language."""
        texts: dict[int, list[str]] = {}
        for page in pages:
            for run in page.runs:
                if self._unmapped[id(run.font)] > 0 and not run.font.math:
                    texts.setdefault(id(run.font), []).append(run.text)
        fonts = {font for font, words in texts.items() if _sets_words(words) and not is_language(" ".join(words))}
        for page in pages:
            text = "".join(run.text for run in page.runs if not run.font.math and id(run.font) not in fonts)
            legible = [run for run in page.runs if id(run.font) not in fonts]
            page.illegible += len(_MEANINGLESS.findall(text))
            page.illegible += sum(len(run.text) for run in page.runs) - sum(len(run.text) for run in legible)
            page.runs = legible


def _sets_words(words: Sequence[str]) -> bool:
    """Whether a font sets running text, not single symbols."""
    length = sum(map(len, words))
    return length >= _MIN_FONT_TEXT and 2 * sum(len(word) for word in words if len(word) >= _WORD_LENGTH) > length


def _describe_font(handle: int) -> tuple[str, int, int]:
    """Name, weight and slant of a font."""
    buffer = ctypes.create_string_buffer(256)
    if not handle or not 0 < api().font_name(handle, buffer, len(buffer)) <= len(buffer):
        return "", 0, 0
    slant = ctypes.c_int(0)
    api().italic_angle(handle, ctypes.byref(slant))
    return buffer.value.decode("utf-8", "replace"), api().weight(handle), slant.value


def runs_of(textpage: Any, text: str, offset: int, fonts: Fonts) -> Iterator[tuple[int, TextRun]]:
    """The runs of a page in stream order, each with its direction; offsets count from `offset`."""
    call = api()
    raw = ctypes.cast(textpage.raw, ctypes.c_void_p)
    places = _places(raw, textpage.count_chars(), text)
    ligatures = _ligatures(raw, text, places)
    styles: dict[int, tuple[int, float, Font]] = {}
    x, y, box = ctypes.c_double(), ctypes.c_double(), call.rectangle()
    sides = [ctypes.c_double() for _ in range(4)]
    at_x, at_y, at_box, at_sides = ctypes.byref(x), ctypes.byref(y), ctypes.byref(box), [*map(ctypes.byref, sides)]
    run: TextRun | None = None
    direction, spaced, last_x0, usual_size = 0, True, 0.0, _USUAL_SIZE
    for i, place in enumerate(places):
        if place < 0:
            continue
        character = text[place]
        if place in ligatures:
            character = ligatures[place]
        if _CONTROLS.match(character):
            continue
        if character <= " " or character == _HYPHEN or character.isspace():
            if run is not None and is_accent(run.text):  # a raised accent looks like a line of its own
                continue
            if run is not None:
                run.hyphen = character == _HYPHEN
                yield direction, run
                run = None
            spaced = character != _HYPHEN
            continue
        key = call.text_object(raw, i) or 0
        style = styles.get(key)
        if style is None:
            style = styles[key] = fonts.style(raw, i, key)
        turn, size, font = style
        call.origin(raw, i, at_x, at_y)
        call.loose_box(raw, i, at_box)
        if turn == 0:
            x0, x1, base = box.left, box.right, y.value
        elif turn == 1:
            x0, x1, base = box.bottom, box.top, -x.value
        elif turn == 2:
            x0, x1, base = -box.right, -box.left, -y.value
        else:
            x0, x1, base = -box.top, -box.bottom, x.value
        if not (abs(x0) < _MAX_COORDINATE and abs(x1) < _MAX_COORDINATE and abs(base) < _MAX_COORDINATE):
            continue
        if size:
            usual_size = size
        else:
            size = usual_size
            call.tight_box(raw, i, *at_sides)
            if character.isalnum():
                fonts.note_height(
                    font, sides[3].value - sides[2].value if turn % 2 == 0 else sides[1].value - sides[0].value
                )
        start = offset + place
        if (
            run is not None
            and run.end == start
            and run.font is font
            and run.size == size
            and abs(run.y - base) < _MAX_BASE_SHIFT * size
            and last_x0 - _MAX_STEP_BACK * size < x0 < run.x1 + 0.5 * size  # the letters of a ligature share one box
            and not is_accent(character)
            and not is_accent(run.text)
            and len(run.text) == run.end - run.start < _MAX_RUN_LENGTH
        ):
            run.text += character
            run.x1, run.end, last_x0 = x1, start + 1, x0
            continue
        new_run = TextRun(character, x0, x1, base, size, font, start, start + 1, spaced)
        if run is not None:
            if composed := compose_accent(run, new_run):
                run.text, run.x0, run.x1, run.y, run.end = composed, x0, x1, base, start + 1
                last_x0 = x0
                continue
            yield direction, run
        run, direction, spaced, last_x0 = new_run, turn, False, x0
    if run is not None:
        yield direction, run


def _ligatures(raw: Any, text: str, places: Sequence[int]) -> dict[int, str]:
    """What control characters stand for, by position, if next to a letter and in a nameless font that sets words."""
    positions = [match.start() for match in _CONTROL.finditer(text)]
    if not positions:
        return {}
    call = api()
    index = {place: i for i, place in enumerate(places)}

    def font_at(place: int) -> int:
        handle = call.font(call.text_object(raw, index[place]) or 0) if place in index else 0
        return handle or 0

    words = Counter(font_at(match.start()) for match in _WORD.finditer(text))
    texts = {font for font, count in words.items() if font and count >= _MIN_FONT_WORDS and not _describe_font(font)[0]}
    return {
        position: _TEX[text[position]]
        for position in positions
        for font in (font_at(position),)
        if font in texts
        and any(text[i : i + 1].isalnum() and font_at(i) == font for i in (max(position - 1, 0), position + 1))
    }


def _spans(textpage: Any, text: str, offset: int) -> Callable[[int], Span]:
    """A function that tells where a character of the document's text is printed on this page, from x to x."""
    raw = ctypes.cast(textpage.raw, ctypes.c_void_p)
    index = {place: i for i, place in enumerate(_places(raw, textpage.count_chars(), text))}
    sides = [ctypes.c_double() for _ in range(4)]

    def span(position: int) -> Span:
        api().tight_box(raw, index[position - offset], *map(ctypes.byref, sides))
        return sides[0].value, sides[1].value

    return span


def _places(raw: Any, count: int, text: str) -> Sequence[int]:
    """Where each character of a page is in its text; -1 if it is not.

    pdfium counts in UTF-16, and control characters are on the page but not in its text.
    """
    if len(text) == count and text.isascii():
        return range(count)
    units: list[int] = []
    for position, character in enumerate(text):
        units.append(position)
        if character > "\uffff":
            units.append(-1)
    if len(units) == count:
        return units
    indices = (api().text_index(raw, i) for i in range(count))
    return [units[index] if 0 <= index < len(units) else -1 for index in indices]
