"""The blocks of a Markdown draft, line by line; what is no prose is left out."""

from __future__ import annotations

from collections.abc import Callable

from whycite.documents.latex.mathtext import displayed
from whycite.documents.markdown import lines
from whycite.documents.markdown.directives import CAPTIONED, TRANSPARENT, cell_captions, children, div_kind
from whycite.documents.markdown.gathering import Gathering
from whycite.documents.markdown.pages import Page
from whycite.documents.markdown.skipping import skipped_end, table_end, tex_captions
from whycite.documents.markdown.tables import Table, columns_under, ruled_cells
from whycite.documents.model import Kind

__all__ = ["read_blocks"]

Include = Callable[[str, Page, int], Page | None]

_TABLE_ENDS = (lines.FENCE, lines.DIV, lines.CAPTION)  # even without a blank line


def read_blocks(page: Page, out: Gathering, include: Include) -> None:
    """Read a page, and where it asks for other files those `include` gives."""
    _Blocks(out, include).read(page)


class _Blocks:
    def __init__(self, out: Gathering, include: Include) -> None:
        self.out = out
        self.include = include
        self._pages: list[Page] = []
        self._indent = 0  # where the text of the list item we are in begins
        self._note = False  # in the definition of a footnote
        self._quoted = False
        self._blank = True  # the line before was blank
        self._table: Table | None = None  # the one we are in
        self._after_table = False  # the last block was a table
        self._options = False  # at the head of a directive

    def read(self, page: Page) -> None:
        self._pages.append(page)
        while self._pages:
            page = self._pages[-1]
            if page.at >= len(page.spans):
                self._blank_line()
                self._pages.pop()
                continue
            start, end = page.spans[page.at]
            page.at += 1
            if start < page.skip:
                continue
            if page.fence:
                self._code(page, start, end)
            else:
                self._line(page, start, end)

    def _line(self, page: Page, start: int, end: int) -> None:
        quote = lines.QUOTE.match(page.text, start, end)
        if bool(quote) != self._quoted and (quote or not self.out.paragraph):
            self.out.flush()
            self._quoted = bool(quote)
        at = quote.end() if quote else start
        body = page.text[at:end]
        bare = body.lstrip(" \t\ufeff")
        if not bare.strip():
            self._blank_line()
            return
        indent = lines.columns_of(body)
        at += len(body) - len(bare)
        if page.divs and page.divs[-1] in ("refs", "code"):
            self._div(page, at, end)
            return
        if self._blank and not self._in_text(indent):
            return
        blank, self._blank = self._blank, False
        if self._options and self._option(page, at, end):
            self._blank = blank
            return
        if self._table and not any(form.match(page.text, at, end) for form in _TABLE_ENDS):
            self._row(page, start, at, end)
            return
        self._end_table()
        if not any(take(self, page, at, end) for take in _TAKERS.get(page.text[at], ())):
            self._text(page, at, end, indent)

    def _blank_line(self) -> None:
        self.out.flush()
        self._end_table()
        self._blank = True

    def _in_text(self, indent: int) -> bool:
        """Whether a line after a blank one is text and not code; it may leave a list or a note."""
        if indent < self._indent:
            self._indent = 0
        if self._note and indent < 2:
            self._note = False
        return indent - self._indent < 4 or self._note

    # -- text --------------------------------------------------------------

    def _kind(self, page: Page) -> Kind:
        if self._note:
            return "footnote"
        around = [*page.divs[-1:], *(kind for _, kind in page.fences[-1:])]
        return "caption" if "caption" in around else "prose"

    def _text(self, page: Page, at: int, end: int, indent: int) -> None:
        if self._item(page, at, end, indent):
            return
        paragraph = self.out.paragraph
        if paragraph is None:
            caption = (lines.CAPTION if self._after_table else lines.TABLE_CAPTION).match(page.text, at, end)
            caption = caption or lines.TEXT_REFERENCE.match(page.text, at, end)
            self.out.begin(page, "caption" if caption else self._kind(page))
            mark = caption or lines.DEFINITION.match(page.text, at, end)
            at = mark.end() if mark else at
        elif definition := lines.DEFINITION.match(page.text, at, end):
            self.out.item(page, paragraph.kind)
            at = definition.end()
        self._after_table = False
        self.out.add(at, end)

    def _item(self, page: Page, at: int, end: int, indent: int) -> bool:
        marker = lines.LIST.match(page.text, at, end)
        if marker is None:
            return False
        paragraph = self.out.paragraph
        begins = marker["bullet"] or marker["number"] == "1"
        if paragraph and not paragraph.listed and not begins:
            return False
        self.out.item(page, self._kind(page))
        self.out.add(marker.end(), end)
        self._indent = indent + min(len(marker[0].expandtabs()), 4)
        return True

    def _heading(self, page: Page, at: int, end: int) -> bool:
        atx = lines.ATX.match(page.text, at, end)
        if atx:
            self.out.heading(page, atx.end(), end, len(atx[1]))
            self._blank = True
            return True
        paragraph = self.out.paragraph
        if paragraph is None or len(paragraph.spans) != 1 or paragraph.listed or self._quoted:
            return False
        underline = lines.SETEXT.match(page.text, at, end)
        if underline is None:
            return False
        self.out.paragraph = None
        self.out.heading(page, *paragraph.spans[0], 1 if underline[1][0] == "=" else 2)
        self._blank = True
        return True

    def _rule(self, page: Page, at: int, end: int) -> bool:
        if not lines.RULE.match(page.text, at, end):
            return False
        self._blank_line()
        return True

    def _footnote(self, page: Page, at: int, end: int) -> bool:
        note = lines.FOOTNOTE.match(page.text, at, end)
        if note is None:
            return False
        self._note = True
        self.out.begin(page, "footnote")
        self.out.add(note.end(), end)
        return True

    def _link(self, page: Page, at: int, end: int) -> bool:
        return self.out.paragraph is None and lines.LINK.match(page.text, at, end) is not None

    def _myst_mark(self, page: Page, at: int, end: int) -> bool:
        """A target, a comment or a break between cells, as MyST writes them."""
        if self.out.paragraph is not None:
            return False
        marks = (lines.TARGET, lines.MYST_COMMENT, lines.MYST_BREAK)
        return any(mark.match(page.text, at, end) for mark in marks)

    # -- tables ------------------------------------------------------------

    def _begins_table(self, page: Page, at: int, end: int) -> bool:
        """A table, told by the line under its head, its frame, or bars at both ends."""
        text = page.text
        line = page.spans[page.at - 1][0]
        piped, dashed = lines.PIPES.match(text, at, end), lines.DASHES.match(text, at, end)
        table = Table()
        head = None
        if piped or dashed:
            table = Table(columns_under(text, line, end)) if dashed else table
            head = self.out.drop_line()
        elif lines.LONG_RULE.match(text, at, end) and self.out.paragraph is None:
            close = table_end(page)
            if close is None:
                return False
            page.skip = close
            self.out.cells(page, ruled_cells(page, close))
        elif lines.GRID.match(text, at, end):
            table = Table(framed=True)
        elif lines.ROW.match(text, at, end):
            head = at, end
        else:
            return False
        self.out.flush()
        self._end_table()
        self._table, self._after_table = table, True
        if head:
            self._row(page, text.rfind("\n", 0, head[0]) + 1, *head)
        return True

    def _row(self, page: Page, line: int, at: int, end: int) -> None:
        if self._table:
            self.out.cells(page, self._table.line(page.text, line, at, end))

    def _end_table(self) -> None:
        table, self._table = self._table, None
        if table and self._pages:
            self.out.cells(self._pages[-1], table.finish())

    # -- what is not prose -------------------------------------------------

    def _skipped(self, page: Page, at: int, end: int) -> bool:
        """LaTeX floats and HTML blocks without prose; a float's caption is kept."""
        close = skipped_end(page, at, end)
        if close is None:
            return False
        self.out.flush()
        for caption in tex_captions(page.text, at, close):
            self.out.emit(page, [caption], "caption")
        page.skip = close
        return True

    def _code(self, page: Page, start: int, end: int) -> None:
        quote = lines.QUOTE.match(page.text, start, end)
        line = page.text[quote.end() if quote else start : end].strip()
        if line and not line.strip(page.fence[0]) and len(line) >= len(page.fence):
            page.fence = ""
            self._blank = True
            return
        for span in cell_captions(page.text, start, end):
            self.out.emit(page, [span], "caption")

    def _fence(self, page: Page, at: int, end: int) -> bool:
        fence = lines.FENCE.match(page.text, at, end)
        if fence is None:
            return False
        self.out.flush()
        self._blank = True
        signs, info = fence[1], fence[2].strip()
        if not info and page.fences and signs.startswith(page.fences[-1][0]):
            page.fences.pop()
            return True
        directive = lines.DIRECTIVE.match(page.text, fence.start(2), end)
        name = directive[1].lower().partition(":")[0] if directive else ""
        if directive and name == "include":
            self._open(directive[2].strip(), page, at)
        if directive and name in CAPTIONED:
            self.out.emit(page, [directive.span(2)], "caption")
        if name in TRANSPARENT:
            page.fences.append((signs, "caption" if name == "figure" else ""))
            self._options = True
            return True
        if name == "math":
            close = page.find("\n" + signs, end - 1)
            stop = close + 1 + len(signs) if close >= 0 else end
            self.out.outline.formula(displayed(page.text[end:close]), page.file, at, stop)
        for child in children(info):
            self._open(child, page, at)
        for span in cell_captions(page.text, fence.start(2), end):
            self.out.emit(page, [span], "caption")
        page.fence = signs
        return True

    def _option(self, page: Page, at: int, end: int) -> bool:
        """An option at the head of a directive."""
        self._options = lines.OPTION.match(page.text, at, end) is not None
        return self._options

    def _div(self, page: Page, at: int, end: int) -> bool:
        div = lines.DIV.match(page.text, at, end)
        if div is None:
            return False
        self.out.flush()
        self._blank = True
        info = div[2].strip(" \t\r\n:")
        if info:
            page.divs.append(div_kind(info))
            self._options = info.startswith("{")
        elif page.divs:
            page.divs.pop()
        return True

    # -- other files -------------------------------------------------------

    def _included(self, page: Page, at: int, end: int) -> bool:
        include = lines.INCLUDE.match(page.text, at, end)
        if include is None:
            return False
        self._blank_line()
        self._open(include[1].strip(), page, at)
        return True

    def _open(self, name: str, page: Page, at: int) -> None:
        inner = self.include(name, page, at)
        if inner is not None:
            self._pages.append(inner)


# What a line can be by its first sign, in the order it is tried; else it is text.
_TAKERS: dict[str, tuple[Callable[[_Blocks, Page, int, int], bool], ...]] = {
    "`": (_Blocks._fence,),
    "~": (_Blocks._fence,),
    ":": (_Blocks._div, _Blocks._begins_table),
    "\\": (_Blocks._skipped,),
    "<": (_Blocks._skipped,),
    "#": (_Blocks._heading,),
    "=": (_Blocks._heading,),
    "-": (_Blocks._heading, _Blocks._begins_table, _Blocks._rule),
    "|": (_Blocks._begins_table,),
    "+": (_Blocks._begins_table, _Blocks._myst_mark),
    "(": (_Blocks._myst_mark,),
    "%": (_Blocks._myst_mark,),
    "*": (_Blocks._rule,),
    "_": (_Blocks._rule,),
    "[": (_Blocks._footnote, _Blocks._link),
    "{": (_Blocks._included,),
}
