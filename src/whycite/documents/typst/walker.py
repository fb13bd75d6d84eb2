"""Walks over a Typst file: text and citations go to the writer."""

from __future__ import annotations

import re
from collections.abc import Callable

from whycite.documents.typst.code import Code
from whycite.documents.typst.mathtext import typst_math

__all__ = ["Walker"]

_MARKUP = re.compile(r"[\\`$*_~\[\]\n]|@(?=\w)|#(?=[\w\"(\[{])|<(?=[^\W\d])|//|/\*|-{2,3}|-\?|https?://")
_BLANK = re.compile(r"\n(?:[ \t\r]*\n)+")
_REFERENCE = re.compile(r"@([^\W](?:[\w:.-]*\w)?)(?:\[([^\[\]]{0,300})\])?")
_URL = re.compile(r"https?://[^\s<>\[\]\"`\\]*")
_ESCAPED = re.compile(r"\\(?:u\{([0-9a-fA-F]{1,6})\}|([^\s\w]))")
_NOTE_MARKS = re.compile(r"[*_\\]")
_DASHES = {"--": "–", "---": "—", "-?": ""}


class Walker(Code):
    """One walk over a file."""

    def walk(self) -> bool:
        """Read the file to its end; False: something in it is not closed."""
        at = self._line_start(int(self.text.startswith("\ufeff")))
        while at < len(self.text):
            at = self._markup(at) if self.frames[-1].is_markup else self._code(at)
        closed = all(frame.shape in ("line", "statement", "control") for frame in self.frames[1:])
        while len(self.frames) > 1:
            self._pop()
        self.out.flush()
        return closed

    def _markup(self, at: int) -> int:
        pos = at
        while (found := _MARKUP.search(self.text, pos)) and self._is_text(found[0]):
            pos = found.end()
        stop = found.start() if found else len(self.text)
        self.out.add(self.text[at:stop], self.page.file, at)
        if found is None:
            return stop
        return _HANDLERS[found[0][0]](self, found.start(), found.end())

    def _is_text(self, sign: str) -> bool:
        """Whether a sign is a bracket of the text itself."""
        if sign == "[":
            self.frames[-1].brackets += 1
            return True
        if sign == "]" and (len(self.frames) == 1 or self.frames[-1].brackets):
            self.frames[-1].brackets = max(0, self.frames[-1].brackets - 1)
            return True
        return False

    def _newline(self, start: int, end: int) -> int:
        if self.frames[-1].shape == "line":
            self._pop()
        blank = _BLANK.match(self.text, start)
        if blank:
            self.out.flush()
            return self._line_start(blank.end())
        self.out.add("\n", self.page.file, start)
        return self._line_start(end)

    def _comment(self, start: int, end: int) -> int:
        return self.page.comment_end(start)

    def _escape(self, start: int, end: int) -> int:
        escaped = _ESCAPED.match(self.text, start)
        if escaped is None:
            return self._show(" ", start, end)
        code = int(escaped[1], 16) if escaped[1] else 0
        return self._show(escaped[2] or (chr(code) if code < 0xD800 else ""), start, escaped.end())

    def _raw(self, start: int, end: int) -> int:
        first, last, stop = self.page.raw(start)
        if first - start < 3:
            self._keep(first, last)
        return stop

    def _math(self, start: int, end: int) -> int:
        formula = self.page.math(start)
        if formula is None:
            return self._keep(start, end)
        if not self.out.silent:
            self.out.formula(typst_math(formula[1]), self.page.file, start, formula.end())
        return formula.end()

    def _emphasis(self, start: int, end: int) -> int:
        inside = self.text[start - 1 : start].isalnum() and self.text[end : end + 1].isalnum()
        return self._keep(start, end) if inside else end

    def _space(self, start: int, end: int) -> int:
        return self._show(" ", start, end)

    def _dashes(self, start: int, end: int) -> int:
        return self._show(_DASHES[self.text[start:end]], start, end)

    def _url(self, start: int, end: int) -> int:
        url = _URL.match(self.text, start)
        return self._keep(start, url.end() if url else end)

    def _label(self, start: int, end: int) -> int:
        label = self.page.label(start)
        if label is None:
            return self._keep(start, end)
        self.found.labels.add(label[1])
        return label.end()

    def _reference(self, start: int, end: int) -> int:
        reference = None if self.text[start - 1 : start].isalnum() else _REFERENCE.match(self.text, start)
        if reference is None:
            return self._keep(start, end)
        note = _NOTE_MARKS.sub("", (reference[2] or "").replace("~", " ")).strip()
        self.found.refers = True
        self.refer(self.page, (reference[1],), note, start, reference.end())
        return reference.end()

    def _close(self, start: int, end: int) -> int:
        if self.frames[-1].shape == "line":
            self._pop()
        return self._after_content(self._pop(), end) if len(self.frames) > 1 else self._keep(start, end)


_HANDLERS: dict[str, Callable[[Walker, int, int], int]] = {
    "\\": Walker._escape,
    "`": Walker._raw,
    "$": Walker._math,
    "*": Walker._emphasis,
    "_": Walker._emphasis,
    "~": Walker._space,
    "@": Walker._reference,
    "#": Walker._hash,
    "<": Walker._label,
    "]": Walker._close,
    "\n": Walker._newline,
    "/": Walker._comment,
    "-": Walker._dashes,
    "h": Walker._url,
}
