"""The blocks of a Markdown draft, line by line, without what is not prose."""

from __future__ import annotations

from collections.abc import Callable

from whycite.documents.draftfolder import child_files
from whycite.documents.latex.formulas import display_text
from whycite.documents.markdown import lines
from whycite.documents.markdown.floats import (
    CAPTIONED_DIRECTIVES,
    PROSE_DIRECTIVES,
    MarkdownTable,
    cell_captions,
    column_starts,
    div_kind,
    ruled_cells,
    skipped_end,
    table_end,
    tex_captions,
)
from whycite.documents.markdown.lines import MarkdownPage, ParagraphGatherer
from whycite.documents.model import SentenceKind

__all__ = ["read_blocks"]

Include = Callable[[str, MarkdownPage, int], MarkdownPage | None]

_TABLE_ENDS = (lines.FENCE, lines.DIV, lines.CAPTION)  # even without a blank line


def read_blocks(page: MarkdownPage, out: ParagraphGatherer, include: Include) -> None:
    """Read a page, and the pages that `include` returns for the files it includes."""
    _MarkdownBlockReader(out, include).read(page)


class _MarkdownBlockReader:
    def __init__(self, out: ParagraphGatherer, include: Include) -> None:
        self.out = out
        self.include = include
        self._pages: list[MarkdownPage] = []
        self._indent = 0  # column where the text of the current list item begins
        self._in_note = False  # in the definition of a footnote
        self._in_quote = False
        self._after_blank = True  # the line before was blank
        self._table: MarkdownTable | None = None  # the current one
        self._after_table = False  # the last block was a table
        self._in_options = False  # at the start of a directive

    def read(self, page: MarkdownPage) -> None:
        self._pages.append(page)
        while self._pages:
            page = self._pages[-1]
            if page.next_line >= len(page.line_spans):
                self._blank_line()
                self._pages.pop()
                continue
            start, end = page.line_spans[page.next_line]
            page.next_line += 1
            if start < page.skip_until:
                continue
            if page.code_fence:
                self._code(page, start, end)
            else:
                self._line(page, start, end)

    def _line(self, page: MarkdownPage, start: int, end: int) -> None:
        quote = lines.QUOTE.match(page.text, start, end)
        if bool(quote) != self._in_quote and (quote or not self.out.paragraph):
            self.out.flush()
            self._in_quote = bool(quote)
        text_start = quote.end() if quote else start
        body = page.text[text_start:end]
        bare = body.lstrip(" \t\ufeff")
        if not bare.strip():
            self._blank_line()
            return
        indent = lines.indent_width(body)
        text_start += len(body) - len(bare)
        if page.open_divs and page.open_divs[-1] in ("refs", "code"):
            self._div(page, text_start, end)
            return
        if self._after_blank and not self._is_text(indent):
            return
        after_blank, self._after_blank = self._after_blank, False
        if self._in_options and self._option(page, text_start, end):
            self._after_blank = after_blank
            return
        if self._table and not any(form.match(page.text, text_start, end) for form in _TABLE_ENDS):
            self._row(page, start, text_start, end)
            return
        self._end_table()
        if not any(
            read_line(self, page, text_start, end) for read_line in _LINE_READERS.get(page.text[text_start], ())
        ):
            self._text(page, text_start, end, indent)

    def _blank_line(self) -> None:
        self.out.flush()
        self._end_table()
        self._after_blank = True

    def _is_text(self, indent: int) -> bool:
        """Whether a line after a blank one is text, not code; it may end a list or a note."""
        if indent < self._indent:
            self._indent = 0
        if self._in_note and indent < 2:
            self._in_note = False
        return indent - self._indent < 4 or self._in_note

    # -- text --------------------------------------------------------------

    def _paragraph_kind(self, page: MarkdownPage) -> SentenceKind:
        if self._in_note:
            return "footnote"
        kinds = [*page.open_divs[-1:], *(kind for _, kind in page.open_directives[-1:])]
        return "caption" if "caption" in kinds else "prose"

    def _text(self, page: MarkdownPage, start: int, end: int, indent: int) -> None:
        if self._item(page, start, end, indent):
            return
        paragraph = self.out.paragraph
        if paragraph is None:
            caption = (lines.CAPTION if self._after_table else lines.TABLE_CAPTION).match(page.text, start, end)
            caption = caption or lines.TEXT_REFERENCE.match(page.text, start, end)
            caption = caption or lines.BOLD_CAPTION.match(page.text, start, end)
            self.out.begin(page, "caption" if caption else self._paragraph_kind(page))
            mark = caption or lines.DEFINITION.match(page.text, start, end)
            start = mark.end() if mark else start
        elif definition := lines.DEFINITION.match(page.text, start, end):
            self.out.begin_item(page, paragraph.kind)
            start = definition.end()
        self._after_table = False
        self.out.add(start, end)

    def _item(self, page: MarkdownPage, start: int, end: int, indent: int) -> bool:
        marker = lines.LIST.match(page.text, start, end)
        if marker is None:
            return False
        paragraph = self.out.paragraph
        begins_list = marker["bullet"] or marker["number"] == "1"
        if paragraph and not paragraph.begins_with_item and not begins_list:
            return False
        self.out.begin_item(page, self._paragraph_kind(page))
        self.out.add(marker.end(), end)
        self._indent = indent + min(len(marker[0].expandtabs()), 4)
        return True

    def _heading(self, page: MarkdownPage, start: int, end: int) -> bool:
        atx = lines.ATX.match(page.text, start, end)
        if atx:
            self.out.heading(page, atx.end(), end, len(atx[1]))
            self._after_blank = True
            return True
        paragraph = self.out.paragraph
        if paragraph is None or len(paragraph.spans) != 1 or paragraph.begins_with_item or self._in_quote:
            return False
        underline = lines.SETEXT.match(page.text, start, end)
        if underline is None:
            return False
        self.out.paragraph = None
        self.out.heading(page, *paragraph.spans[0], 1 if underline[1][0] == "=" else 2)
        self._after_blank = True
        return True

    def _rule(self, page: MarkdownPage, start: int, end: int) -> bool:
        if not lines.RULE.match(page.text, start, end):
            return False
        self._blank_line()
        return True

    def _footnote(self, page: MarkdownPage, start: int, end: int) -> bool:
        note = lines.FOOTNOTE.match(page.text, start, end)
        if note is None:
            return False
        self._in_note = True
        self.out.begin(page, "footnote")
        self.out.note_label = note[1]
        self.out.add(note.end(), end)
        return True

    def _link(self, page: MarkdownPage, start: int, end: int) -> bool:
        return self.out.paragraph is None and lines.LINK.match(page.text, start, end) is not None

    def _myst_mark(self, page: MarkdownPage, start: int, end: int) -> bool:
        """A target, a comment or a cell break in MyST."""
        if self.out.paragraph is not None:
            return False
        marks = (lines.TARGET, lines.MYST_COMMENT, lines.MYST_BREAK)
        return any(mark.match(page.text, start, end) for mark in marks)

    # -- tables ------------------------------------------------------------

    def _begins_table(self, page: MarkdownPage, start: int, end: int) -> bool:
        """A table, recognised by the line under its head, its frame, or bars at both ends."""
        text = page.text
        line_start = page.line_spans[page.next_line - 1][0]
        pipes, dashes = lines.PIPES.match(text, start, end), lines.DASHES.match(text, start, end)
        table = MarkdownTable()
        head = None
        if pipes or dashes:
            table = MarkdownTable(column_starts(text, line_start, end)) if dashes else table
            head = self.out.drop_line()
        elif lines.LONG_RULE.match(text, start, end) and self.out.paragraph is None:
            close = table_end(page)
            if close is None:
                return False
            page.skip_until = close
            self.out.cells(page, ruled_cells(page, close))
        elif lines.GRID.match(text, start, end):
            table = MarkdownTable(framed=True)
        elif lines.ROW.match(text, start, end):
            head = start, end
        else:
            return False
        self.out.flush()
        self._end_table()
        self._table, self._after_table = table, True
        if head:
            self._row(page, text.rfind("\n", 0, head[0]) + 1, *head)
        return True

    def _row(self, page: MarkdownPage, line_start: int, start: int, end: int) -> None:
        if self._table:
            self.out.cells(page, self._table.line(page.text, line_start, start, end))

    def _end_table(self) -> None:
        table, self._table = self._table, None
        if table and self._pages:
            self.out.cells(self._pages[-1], table.finish())

    # -- what is not prose -------------------------------------------------

    def _skipped_block(self, page: MarkdownPage, start: int, end: int) -> bool:
        """Skip LaTeX floats and HTML blocks without prose, but keep the captions of floats."""
        close = skipped_end(page, start, end)
        if close is None:
            return False
        self.out.flush()
        for caption in tex_captions(page.text, start, close):
            self.out.emit(page, [caption], "caption")
        page.skip_until = close
        return True

    def _code(self, page: MarkdownPage, start: int, end: int) -> None:
        quote = lines.QUOTE.match(page.text, start, end)
        line = page.text[quote.end() if quote else start : end].strip()
        if line and not line.strip(page.code_fence[0]) and len(line) >= len(page.code_fence):
            page.code_fence = ""
            self._after_blank = True
            return
        for span in cell_captions(page.text, start, end):
            self.out.emit(page, [span], "caption")

    def _fence(self, page: MarkdownPage, start: int, end: int) -> bool:
        fence = lines.FENCE.match(page.text, start, end)
        if fence is None:
            return False
        self.out.flush()
        self._after_blank = True
        signs, info = fence[1], fence[2].strip()
        if not info and page.open_directives and signs.startswith(page.open_directives[-1][0]):
            page.open_directives.pop()
            return True
        directive = lines.DIRECTIVE.match(page.text, fence.start(2), end)
        name = directive[1].lower().partition(":")[0] if directive else ""
        if directive and name == "include":
            self._open(directive[2].strip(), page, start)
        if directive and name in CAPTIONED_DIRECTIVES:
            self.out.emit(page, [directive.span(2)], "caption")
        if name in PROSE_DIRECTIVES:
            page.open_directives.append((signs, "caption" if name == "figure" else ""))
            self._in_options = True
            return True
        if name == "math":
            close = page.find("\n" + signs, end - 1)
            stop = close + 1 + len(signs) if close >= 0 else end
            self.out.outline.formula(display_text(page.text[end:close]), page.file, start, stop)
        for child in child_files(info):
            self._open(child, page, start)
        for span in cell_captions(page.text, fence.start(2), end):
            self.out.emit(page, [span], "caption")
        page.code_fence = signs
        return True

    def _option(self, page: MarkdownPage, start: int, end: int) -> bool:
        """An option at the start of a directive."""
        self._in_options = lines.OPTION.match(page.text, start, end) is not None
        return self._in_options

    def _div(self, page: MarkdownPage, start: int, end: int) -> bool:
        div = lines.DIV.match(page.text, start, end)
        if div is None:
            return False
        self.out.flush()
        self._after_blank = True
        info = div[2].strip(" \t\r\n:")
        if info:
            page.open_divs.append(div_kind(info))
            self._in_options = info.startswith("{")
        elif page.open_divs:
            page.open_divs.pop()
        return True

    # -- other files -------------------------------------------------------

    def _inclusion(self, page: MarkdownPage, start: int, end: int) -> bool:
        include = lines.INCLUDE.match(page.text, start, end)
        if include is None:
            return False
        self._blank_line()
        self._open(include[1].strip(), page, start)
        return True

    def _open(self, name: str, page: MarkdownPage, start: int) -> None:
        included_page = self.include(name, page, start)
        if included_page is not None:
            self._pages.append(included_page)


# What a line can be by its first character, in the order tried; otherwise it is text.
_LINE_READERS: dict[str, tuple[Callable[[_MarkdownBlockReader, MarkdownPage, int, int], bool], ...]] = {
    "`": (_MarkdownBlockReader._fence,),
    "~": (_MarkdownBlockReader._fence,),
    ":": (_MarkdownBlockReader._div, _MarkdownBlockReader._begins_table),
    "\\": (_MarkdownBlockReader._skipped_block,),
    "<": (_MarkdownBlockReader._skipped_block,),
    "#": (_MarkdownBlockReader._heading,),
    "=": (_MarkdownBlockReader._heading,),
    "-": (_MarkdownBlockReader._heading, _MarkdownBlockReader._begins_table, _MarkdownBlockReader._rule),
    "|": (_MarkdownBlockReader._begins_table,),
    "+": (_MarkdownBlockReader._begins_table, _MarkdownBlockReader._myst_mark),
    "(": (_MarkdownBlockReader._myst_mark,),
    "%": (_MarkdownBlockReader._myst_mark,),
    "*": (_MarkdownBlockReader._rule,),
    "_": (_MarkdownBlockReader._rule,),
    "[": (_MarkdownBlockReader._footnote, _MarkdownBlockReader._link),
    "{": (_MarkdownBlockReader._inclusion,),
}
