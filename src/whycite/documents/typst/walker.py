"""Walks through the code and markup of a Typst file, and passes text and citations to the writer."""

from __future__ import annotations

import re
from collections.abc import Callable

from whycite.documents.typst.syntax import TypstNames, TypstPage, typst_math
from whycite.documents.typst.writer import TypstFrame, TypstWriter, content_purpose

__all__ = ["CodeWalker", "TypstSurvey", "TypstWalker"]


_CODE = re.compile(r"[\"\[\](){}$`<,;\n]|//|/\*|[^\W\d][\w-]*(?:\.[^\W\d][\w-]*)*(?=\s?:(?!:)|[(\[])")
_KEYWORD = re.compile(r"(let|set|show|import|if|for|while|context|return|else)\b")
_INCLUDE = re.compile(r"include[ \t]*\"([^\"\n]{1,300})\"")
_NAME = re.compile(r"[^\W\d][\w-]*(?:\.[^\W\d][\w-]*)*")
_METHOD = re.compile(r"\.[^\W\d][\w-]*")
_ELSE = re.compile(r"\s*else\b")
_LEVEL = re.compile(r"level:\s*(\d)")
_LINE_MARK = re.compile(r"[ \t]*(?:(=+)[ \t]+|[-+][ \t]+|\d{1,4}\.[ \t]+|/[ \t]+(?=[^\n:]{1,200}:))")
_FRONT_VARIABLE = re.compile(r"[ \t]+(title|abstract)[ \t]*=")
_BIBLIOGRAPHIES = (".bib", ".yml", ".yaml")
_AUTHORS = ("author", "authors")
_STATEMENTS = ("let", "set", "show", "import")


class TypstSurvey:
    """What a walk learns besides the text."""

    def __init__(self) -> None:
        self.bibliographies: list[str] = []
        self.authors: list[str] = []
        self.labels: set[str] = set()
        self.has_references = False  # to a label or an entry
        self.title = ""
        self.names = TypstNames()


class CodeWalker:
    """Reads Typst code, and keeps track of what is open.

    `refer` writes a reference by its key, `include` reads another file in place.
    """

    def __init__(
        self,
        page: TypstPage,
        out: TypstWriter,
        survey: TypstSurvey,
        refer: Callable[[TypstPage, tuple[str, ...], str, int, int], None],
        include: Callable[[TypstPage, str, int], None],
    ) -> None:
        self.page = page
        self.text = page.text
        self.out = out
        self.survey = survey
        self.refer = refer
        self.include = include
        self.frames = [TypstFrame("content", 0)]  # the file itself, then everything open in it

    # -- frames ------------------------------------------------------------

    def _push(self, frame: TypstFrame) -> None:
        parent = self.frames[-1]
        frame.statement = frame.statement or parent.statement
        frame.in_authors = parent.in_authors or parent.argument in _AUTHORS
        frame.in_float = parent.holds_cells
        self.frames.append(frame)
        if frame.is_markup:
            self.out.enter(frame)

    def _pop(self) -> TypstFrame:
        frame = self.frames.pop()
        if frame.is_markup:
            self.out.leave(frame)
        return frame

    def _content(self, bracket: int, name: str, argument: str = "", start: int | None = None) -> int:
        """Begin a content block at its bracket."""
        parent = self.frames[-1]
        in_authors = parent.in_authors or parent.argument in _AUTHORS
        frame = TypstFrame(
            "content", bracket, name, purpose=content_purpose(name, argument, parent.statement, in_authors)
        )
        if frame.purpose == "text" and parent.holds_cells:
            frame.purpose = "cell"
        if frame.purpose == "heading" and (
            level := _LEVEL.search(self.text, bracket if start is None else start, bracket)
        ):
            frame.level = int(level[1]) or 1
        self._push(frame)
        return self._line_start(bracket + 1)

    def _line_start(self, start: int) -> int:
        """Read the mark at the start of a line: of a heading or a list item."""
        mark = _LINE_MARK.match(self.text, start)
        if mark is None:
            return start
        if mark[1]:
            self._push(TypstFrame("line", start, purpose="heading", level=len(mark[1])))
        else:
            self.out.break_sentence()
        return mark.end()

    def _show(self, text: str, start: int, end: int) -> int:
        self.out.add(text, self.page.file, start, end)
        return end

    def _copy(self, start: int, end: int) -> int:
        self.out.add(self.text[start:end], self.page.file, start)
        return end

    # -- code --------------------------------------------------------------

    def _hash(self, start: int, end: int) -> int:
        """Read what "#" begins: a statement, a call or a variable."""
        if include := _INCLUDE.match(self.text, end):
            if self.frames[-1].purpose != "dropped":
                self.out.flush()
                self.include(self.page, include[1], start)
            return include.end()
        if keyword := _KEYWORD.match(self.text, end):
            word = keyword[1]
            statement = word if word in _STATEMENTS else ""
            variable = _FRONT_VARIABLE.match(self.text, keyword.end()) if word == "let" else None
            name = variable[1] if variable else word
            if word == "let" and not variable:
                self.survey.names.define(self.text, keyword.end())
            self._push(TypstFrame("statement" if statement else "control", start, name, statement=statement))
            return keyword.end()
        if string := self.page.string(end) if self.text.startswith('"', end) else None:
            return self._show(string[1], start, string.end())
        sign = self.text[end : end + 1]
        if sign in ("(", "{"):
            self._push(TypstFrame("call" if sign == "(" else "block", start))
            return end + 1
        if sign == "[":
            return self._content(end, "")
        if name := _NAME.match(self.text, end):
            position = self._continue_call(name[0], start, name.end())
            return self._print_name(name[0], start, position) if position == name.end() else position
        return self._copy(start, end)

    def _print_name(self, name: str, start: int, end: int) -> int:
        """Print the value of a name where it is used."""
        value = None if self.out.silent else self.survey.names.expand(name)
        for piece, is_key in value.pieces if value else ():
            if is_key:
                self.refer(self.page, (piece,), "", start, end)
            else:
                self._show(piece, start, end)
        return end + (value is not None and self.text.startswith(";", end))

    def _continue_call(self, name: str, start: int, position: int) -> int:
        """Continue after a name or a call, with arguments, content or text."""
        method = _METHOD.match(self.text, position)
        if method and self.text.startswith("(", method.end()):
            position = method.end()
        if self.text.startswith("(", position):
            self._push(TypstFrame("call", start, name))
            return position + 1
        if self.text.startswith("[", position):
            return self._content(position, name, self._argument(), start)
        return position

    def _argument(self) -> str:
        return self.frames[-1].argument if self.frames[-1].shape == "call" else ""

    def _after_content(self, frame: TypstFrame, position: int) -> int:
        if self.text.startswith("[", position):
            self.out.break_sentence()
            return self._content(position, frame.name, self._argument(), frame.start)
        if self.frames[-1].shape == "control":
            else_branch = _ELSE.match(self.text, position)
            if else_branch is None:
                self._pop()
            else:
                self.frames[-1].name = "else"
                return else_branch.end()
        return position

    def _code(self, position: int) -> int:
        token = _CODE.search(self.text, position)
        if token is None:
            return len(self.text)
        sign, start, end = token[0], token.start(), token.end()
        top = self.frames[-1]
        if sign in ("//", "/*"):
            return self.page.comment_end(start)
        if sign in _CODE_HANDLERS:
            return _CODE_HANDLERS[sign](self, start, end)
        if sign == "[":
            name = top.name if top.shape in ("call", "statement") or top.name == "else" else ""
            return self._content(start, name, self._argument(), top.start)
        if sign in ("(", "{"):
            self._push(TypstFrame("call" if sign == "(" else "block", start))
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
        """A name in code: an argument or a function."""
        if self.text.startswith(("(", "["), end):
            return self._continue_call(name, start, end)
        if self.frames[-1].shape == "call":
            self.frames[-1].argument = name.lower()
        return end

    def _break_off(self, position: int) -> int:
        """A closing bracket in code ends the enclosing content and everything open in it."""
        while not self.frames[-1].is_markup:
            self._pop()
        return position

    def _string(self, start: int, end: int) -> int:
        string = self.page.string(start)
        if string is None:
            return end
        top = self.frames[-1]
        if top.argument in _AUTHORS or (top.in_authors and top.argument in ("", "name")):
            self.survey.authors.append(string[1])
        elif content_purpose(top.name, top.argument, top.statement) == "title" and top.shape != "block":
            self.survey.title = self.survey.title or string[1]
        elif top.argument.startswith("bib") and string[1].lower().endswith(_BIBLIOGRAPHIES):
            self.survey.bibliographies.append(string[1])
        elif top.argument == "caption" and content_purpose(top.name, "caption", top.statement) == "caption":
            self._write_content(TypstFrame("content", start, purpose="caption"), string[1], string.end())
        elif not top.argument:
            top.strings.append(string[1])
        return string.end()

    def _label_argument(self, start: int, end: int) -> int:
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
        parent = self.frames[-1]
        is_dropped = parent.purpose == "dropped" or parent.statement in ("let", "set", "import")
        if frame.name == "bibliography":
            self.survey.bibliographies += frame.strings
        elif (frame.name in ("cite", "ref") or frame.name in self.survey.names.citing_functions) and not is_dropped:
            self.survey.has_references = True
            keys = frame.labels + frame.strings if frame.name in ("cite", "ref") else frame.labels or frame.strings[:1]
            self.refer(self.page, tuple(keys), "", frame.start, end)
        elif frame.name == "link" and not is_dropped and frame.strings and not self.text.startswith("[", end):
            self._show(frame.strings[0], frame.start, end)
        elif frame.name in ("title", "heading", "footnote") and frame.strings and not parent.statement:
            level = _LEVEL.search(self.text, frame.start, end)
            content = TypstFrame("content", frame.start, purpose=content_purpose(frame.name, "", ""))
            content.level = int(level[1]) if level else 1
            self._write_content(content, frame.strings[0], end)
        elif frame.name == "label":
            parent.labels += frame.strings
        elif not frame.name:
            parent.strings += frame.strings
        return self._continue_call(frame.name, frame.start, end)

    def _write_content(self, frame: TypstFrame, text: str, end: int) -> None:
        """Write content given as a string."""
        self.out.enter(frame)
        self._show(text, frame.start, end)
        self.out.leave(frame)


_CODE_HANDLERS: dict[str, Callable[[CodeWalker, int, int], int]] = {
    '"': CodeWalker._string,
    "<": CodeWalker._label_argument,
    "$": CodeWalker._formula,
    "`": lambda code, start, end: code.page.raw(start)[2],
}


_MARKUP = re.compile(r"[\\`$*_~\[\]\n]|@(?=\w)|#(?=[\w\"(\[{])|<(?=[^\W\d])|//|/\*|-{2,3}|-\?|https?://")
_BLANK = re.compile(r"\n(?:[ \t\r]*\n)+")
_REFERENCE = re.compile(r"@([^\W](?:[\w:.-]*\w)?)(?:\[([^\[\]]{0,300})\])?")
_URL = re.compile(r"https?://[^\s<>\[\]\"`\\]*")
_ESCAPED = re.compile(r"\\(?:u\{([0-9a-fA-F]{1,6})\}|([^\s\w]))")
_NOTE_MARKS = re.compile(r"[*_\\]")
_DASHES = {"--": "–", "---": "—", "-?": ""}


class TypstWalker(CodeWalker):
    """Reads Typst markup: one walk through a file."""

    def walk(self) -> bool:
        """Read the file to its end; False if something in it is not closed."""
        position = self._line_start(int(self.text.startswith("\ufeff")))
        while position < len(self.text):
            position = self._markup(position) if self.frames[-1].is_markup else self._code(position)
        closed = all(frame.shape in ("line", "statement", "control") for frame in self.frames[1:])
        while len(self.frames) > 1:
            self._pop()
        self.out.flush()
        return closed

    def _markup(self, start: int) -> int:
        pos = start
        while (mark := _MARKUP.search(self.text, pos)) and self._is_text(mark[0]):
            pos = mark.end()
        stop = mark.start() if mark else len(self.text)
        self.out.add(self.text[start:stop], self.page.file, start)
        if mark is None:
            return stop
        return _MARKUP_HANDLERS[mark[0][0]](self, mark.start(), mark.end())

    def _is_text(self, sign: str) -> bool:
        """Whether a sign is a bracket in the text itself."""
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
        content_start, content_end, stop = self.page.raw(start)
        if content_start - start < 3:
            self._copy(content_start, content_end)
        return stop

    def _math(self, start: int, end: int) -> int:
        formula = self.page.math(start)
        if formula is None:
            return self._copy(start, end)
        if not self.out.silent:
            self.out.formula(typst_math(formula[1]), self.page.file, start, formula.end())
        return formula.end()

    def _emphasis(self, start: int, end: int) -> int:
        in_word = self.text[start - 1 : start].isalnum() and self.text[end : end + 1].isalnum()
        return self._copy(start, end) if in_word else end

    def _space(self, start: int, end: int) -> int:
        return self._show(" ", start, end)

    def _dashes(self, start: int, end: int) -> int:
        return self._show(_DASHES[self.text[start:end]], start, end)

    def _url(self, start: int, end: int) -> int:
        url = _URL.match(self.text, start)
        return self._copy(start, url.end() if url else end)

    def _label(self, start: int, end: int) -> int:
        label = self.page.label(start)
        if label is None:
            return self._copy(start, end)
        self.survey.labels.add(label[1])
        return label.end()

    def _reference(self, start: int, end: int) -> int:
        reference = _REFERENCE.match(self.text, start)
        # Typst takes "1998@key" for a reference, too; only an address such as "doe@example.org" is more likely text.
        is_glued = self.text[start - 1 : start].isalnum()
        if reference is None or (is_glued and "." in reference[1]):
            return self._copy(start, end)
        note = _NOTE_MARKS.sub("", (reference[2] or "").replace("~", " ")).strip()
        self.survey.has_references = True
        self.refer(self.page, (reference[1],), note, start, reference.end())
        return reference.end()

    def _close(self, start: int, end: int) -> int:
        if self.frames[-1].shape == "line":
            self._pop()
        return self._after_content(self._pop(), end) if len(self.frames) > 1 else self._copy(start, end)


_MARKUP_HANDLERS: dict[str, Callable[[TypstWalker, int, int], int]] = {
    "\\": TypstWalker._escape,
    "`": TypstWalker._raw,
    "$": TypstWalker._math,
    "*": TypstWalker._emphasis,
    "_": TypstWalker._emphasis,
    "~": TypstWalker._space,
    "@": TypstWalker._reference,
    "#": TypstWalker._hash,
    "<": TypstWalker._label,
    "]": TypstWalker._close,
    "\n": TypstWalker._newline,
    "/": TypstWalker._comment,
    "-": TypstWalker._dashes,
    "h": TypstWalker._url,
}
