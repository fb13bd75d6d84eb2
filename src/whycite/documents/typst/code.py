"""Follows the code of a Typst file as far as content, citations and names of files stand in it."""

from __future__ import annotations

import re
from collections.abc import Callable

from whycite.documents.typst.frames import Frame, purpose_of
from whycite.documents.typst.names import Names
from whycite.documents.typst.pages import Page
from whycite.documents.typst.writer import Writer

__all__ = ["Code", "Found"]

_CODE = re.compile(r"[\"\[\](){}$`<,;\n]|//|/\*|[^\W\d][\w-]*(?:\.[^\W\d][\w-]*)*(?=\s?:(?!:)|[(\[])")
_KEYWORD = re.compile(r"(let|set|show|import|if|for|while|context|return|else)\b")
_INCLUDE = re.compile(r"include[ \t]*\"([^\"\n]{1,300})\"")
_NAME = re.compile(r"[^\W\d][\w-]*(?:\.[^\W\d][\w-]*)*")
_METHOD = re.compile(r"\.[^\W\d][\w-]*")
_ELSE = re.compile(r"\s*else\b")
_LEVEL = re.compile(r"level:\s*(\d)")
_LINE = re.compile(r"[ \t]*(?:(=+)[ \t]+|[-+][ \t]+|\d{1,4}\.[ \t]+|/[ \t]+(?=[^\n:]{1,200}:))")
_VALUE = re.compile(r"[ \t]+(title|abstract)[ \t]*=")
_BIBLIOGRAPHIES = (".bib", ".yml", ".yaml")
_AUTHORS = ("author", "authors")
_STATEMENTS = ("let", "set", "show", "import")


class Found:
    """What a walk finds out besides the text."""

    def __init__(self) -> None:
        self.bibliographies: list[str] = []
        self.authors: list[str] = []
        self.labels: set[str] = set()
        self.refers = False  # to a label or an entry
        self.title = ""
        self.names = Names()


class Code:
    """What is open at a place in a file, and the code there.

    `refer` writes a reference by its key, `include` reads another file in place.
    """

    def __init__(
        self,
        page: Page,
        out: Writer,
        found: Found,
        refer: Callable[[Page, tuple[str, ...], str, int, int], None],
        include: Callable[[Page, str, int], None],
    ) -> None:
        self.page = page
        self.text = page.text
        self.out = out
        self.found = found
        self.refer = refer
        self.include = include
        self.frames = [Frame("content", 0)]  # the file itself, and what is open in it

    # -- frames ------------------------------------------------------------

    def _push(self, frame: Frame) -> None:
        above = self.frames[-1]
        frame.statement = frame.statement or above.statement
        frame.authors = above.authors or above.argument in _AUTHORS
        frame.scrap = above.holds_scraps
        self.frames.append(frame)
        if frame.is_markup:
            self.out.enter(frame)

    def _pop(self) -> Frame:
        frame = self.frames.pop()
        if frame.is_markup:
            self.out.leave(frame)
        return frame

    def _content(self, at: int, name: str, argument: str = "", start: int | None = None) -> int:
        """Begin a content block whose bracket is here."""
        above = self.frames[-1]
        authors = above.authors or above.argument in _AUTHORS
        frame = Frame("content", at, name, purpose=purpose_of(name, argument, above.statement, authors))
        if frame.purpose == "text" and above.holds_scraps:
            frame.purpose = "cell"
        if frame.purpose == "heading" and (level := _LEVEL.search(self.text, at if start is None else start, at)):
            frame.level = int(level[1]) or 1
        self._push(frame)
        return self._line_start(at + 1)

    def _line_start(self, at: int) -> int:
        """Read the mark a line begins with: a heading's, a list item's."""
        mark = _LINE.match(self.text, at)
        if mark is None:
            return at
        if mark[1]:
            self._push(Frame("line", at, purpose="heading", level=len(mark[1])))
        else:
            self.out.break_sentence()
        return mark.end()

    def _show(self, text: str, start: int, end: int) -> int:
        self.out.add(text, self.page.file, start, end)
        return end

    def _keep(self, start: int, end: int) -> int:
        self.out.add(self.text[start:end], self.page.file, start)
        return end

    # -- code --------------------------------------------------------------

    def _hash(self, start: int, end: int) -> int:
        """What "#" begins: a statement, a call, a variable."""
        if include := _INCLUDE.match(self.text, end):
            if self.frames[-1].purpose != "dropped":
                self.out.flush()
                self.include(self.page, include[1], start)
            return include.end()
        if keyword := _KEYWORD.match(self.text, end):
            word = keyword[1]
            statement = word if word in _STATEMENTS else ""
            variable = _VALUE.match(self.text, keyword.end()) if word == "let" else None
            name = variable[1] if variable else word
            if word == "let" and not variable:
                self.found.names.define(self.text, keyword.end())
            self._push(Frame("statement" if statement else "control", start, name, statement=statement))
            return keyword.end()
        if string := self.page.string(end) if self.text.startswith('"', end) else None:
            return self._show(string[1], start, string.end())
        sign = self.text[end : end + 1]
        if sign in ("(", "{"):
            self._push(Frame("call" if sign == "(" else "block", start))
            return end + 1
        if sign == "[":
            return self._content(end, "")
        if name := _NAME.match(self.text, end):
            at = self._called(name[0], start, name.end())
            return self._printed(name[0], start, at) if at == name.end() else at
        return self._keep(start, end)

    def _printed(self, name: str, start: int, end: int) -> int:
        """Print what a name stands for, at the place where it is called."""
        value = None if self.out.silent else self.found.names.expand(name)
        for piece, is_key in value.pieces if value else ():
            if is_key:
                self.refer(self.page, (piece,), "", start, end)
            else:
                self._show(piece, start, end)
        return end + (value is not None and self.text.startswith(";", end))

    def _called(self, name: str, start: int, at: int) -> int:
        """Go on after a name or a call: with arguments, with content, or with the text."""
        method = _METHOD.match(self.text, at)
        if method and self.text.startswith("(", method.end()):
            at = method.end()
        if self.text.startswith("(", at):
            self._push(Frame("call", start, name))
            return at + 1
        if self.text.startswith("[", at):
            return self._content(at, name, self._argument(), start)
        return at

    def _argument(self) -> str:
        return self.frames[-1].argument if self.frames[-1].shape == "call" else ""

    def _after_content(self, frame: Frame, at: int) -> int:
        if self.text.startswith("[", at):
            self.out.break_sentence()
            return self._content(at, frame.name, self._argument(), frame.start)
        if self.frames[-1].shape == "control":
            otherwise = _ELSE.match(self.text, at)
            if otherwise is None:
                self._pop()
            else:
                self.frames[-1].name = "else"
                return otherwise.end()
        return at

    def _code(self, at: int) -> int:
        found = _CODE.search(self.text, at)
        if found is None:
            return len(self.text)
        sign, start, end = found[0], found.start(), found.end()
        top = self.frames[-1]
        if sign in ("//", "/*"):
            return self.page.comment_end(start)
        if sign in _SKIPS:
            return _SKIPS[sign](self, start, end)
        if sign == "[":
            name = top.name if top.shape in ("call", "statement") or top.name == "else" else ""
            return self._content(start, name, self._argument(), top.start)
        if sign in ("(", "{"):
            self._push(Frame("call" if sign == "(" else "block", start))
        elif sign == ")" and top.shape == "call":
            return self._end_call(end)
        elif sign == "}" and top.shape == "block":
            self._pop()
        elif sign == "]":
            return self._break_off(start)
        elif sign == ",":
            top.argument = ""
        elif sign in ("\n", ";") and top.shape in ("statement", "control"):
            self._pop()
            return start if sign == "\n" else end
        elif len(sign) > 1 or sign.isalpha() or sign == "_":
            return self._word(sign, start, end)
        return end

    def _word(self, name: str, start: int, end: int) -> int:
        """A name in code: of an argument, or of a function."""
        if self.text.startswith(("(", "["), end):
            return self._called(name, start, end)
        if self.frames[-1].shape == "call":
            self.frames[-1].argument = name.lower()
        return end

    def _break_off(self, at: int) -> int:
        """A closing bracket in code: it ends the content around, and all that is open in it."""
        while not self.frames[-1].is_markup:
            self._pop()
        return at

    def _string(self, start: int, end: int) -> int:
        string = self.page.string(start)
        if string is None:
            return end
        top = self.frames[-1]
        if top.argument in _AUTHORS or (top.authors and top.argument in ("", "name")):
            self.found.authors.append(string[1])
        elif purpose_of(top.name, top.argument, top.statement) == "title" and top.shape != "block":
            self.found.title = self.found.title or string[1]
        elif top.argument.startswith("bib") and string[1].lower().endswith(_BIBLIOGRAPHIES):
            self.found.bibliographies.append(string[1])
        elif top.argument == "caption" and purpose_of(top.name, "caption", top.statement) == "caption":
            self._whole(Frame("content", start, purpose="caption"), string[1], string.end())
        elif not top.argument:
            top.strings.append(string[1])
        return string.end()

    def _labelled(self, start: int, end: int) -> int:
        label = self.page.label(start)
        if label is None:
            return end
        self.frames[-1].labels.append(label[1])
        return label.end()

    def _formula(self, start: int, end: int) -> int:
        formula = self.page.math(start)
        return formula.end() if formula else end

    def _end_call(self, end: int) -> int:
        frame = self._pop()
        above = self.frames[-1]
        dropped = above.purpose == "dropped" or above.statement in ("let", "set", "import")
        if frame.name == "bibliography":
            self.found.bibliographies += frame.strings
        elif (frame.name in ("cite", "ref") or frame.name in self.found.names.citing) and not dropped:
            self.found.refers = True
            given = frame.labels + frame.strings if frame.name in ("cite", "ref") else frame.labels or frame.strings[:1]
            self.refer(self.page, tuple(given), "", frame.start, end)
        elif frame.name == "link" and not dropped and frame.strings and not self.text.startswith("[", end):
            self._show(frame.strings[0], frame.start, end)
        elif frame.name in ("title", "heading", "footnote") and frame.strings and not above.statement:
            level = _LEVEL.search(self.text, frame.start, end)
            content = Frame("content", frame.start, purpose=purpose_of(frame.name, "", ""))
            content.level = int(level[1]) if level else 1
            self._whole(content, frame.strings[0], end)
        elif frame.name == "label":
            above.labels += frame.strings
        elif not frame.name:
            above.strings += frame.strings
        return self._called(frame.name, frame.start, end)

    def _whole(self, frame: Frame, text: str, end: int) -> None:
        """Content given as a string."""
        self.out.enter(frame)
        self._show(text, frame.start, end)
        self.out.leave(frame)


_SKIPS: dict[str, Callable[[Code, int, int], int]] = {
    '"': Code._string,
    "<": Code._labelled,
    "$": Code._formula,
    "`": lambda code, start, end: code.page.raw(start)[2],
}
