"""How a draft writes citations, where in a sentence a new one goes, and what may prevent it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from whycite.documents.latex.cursor import LatexText
from whycite.documents.model import Document
from whycite.evidence.groups import REPORTING_VERBS
from whycite.evidence.words import has_content_words
from whycite.library.records import Paper
from whycite.text.wordlists import load_words

__all__ = [
    "CitationPlace",
    "CitationStyle",
    "Surroundings",
    "citation_places",
    "citation_style",
    "clause_end",
    "name_ends",
]


# Commands that print a citation in brackets or as a mark; others make the name a word of the sentence.
_PARENTHETICAL = frozenset("cite citep parencite autocite smartcite supercite footcite onlinecite shortcite".split())
_COMMAND = re.compile(r"\\([A-Za-z]+)(?!\*?[A-Za-z])")
_ROLE = re.compile(r"\{(cite(?::(?:p|ps))?|citep)\}`|:(cite(?::p)?):`")
_PACKAGE = re.compile(r"^[^%\n]*\\usepackage\s*(?:\[[^\]]{0,2000}\])?\s*\{[^}]*\b(biblatex|natbib|apacite)\b", re.M)
_PANDOC_KEY = re.compile(r"\w+(?:[:.#$%&\-+?<>~/]\w+)*")
_TYPST_KEY = re.compile(r"[^\W\d][\w:.-]*(?<![:.])")
_TEX_KEY = re.compile(r"[^\s{}\\,%#~\"]+")
_ROLE_KEY = re.compile(r"[^\s`{},;]+")
_SPHINX = ("_toc.yml", "conf.py")  # files of a Sphinx book, whose Markdown cites with roles


@dataclass(frozen=True, slots=True)
class CitationStyle:
    """The text around a key, and the gap before the citation."""

    opening: str
    closing: str
    gap: str
    key: re.Pattern[str]  # keys must match it
    gap_after_stop: str | None = None  # if the draft cites after the stops of its sentences

    def write(self, key: str) -> str | None:
        """The citation of a key; None if the key cannot be written in this style."""
        if self.key.fullmatch(key):
            return f"{self.opening}{key}{self.closing}"
        if self.opening == "[@" and not re.search(r"[\s{}]", key):
            return f"[@{{{key}}}]"
        if self.key is _TYPST_KEY and not re.search(r'[\s"\\]', key):
            return f'#cite(label("{key}"))'
        return None


def citation_style(document: Document, texts: Mapping[str, str], file_names: Iterable[str] = ()) -> CitationStyle | str:
    """The style of a draft with these texts of files, or why no citation can be written."""
    style = _written_style(document, texts, file_names)
    return style if isinstance(style, str) else replace(style, gap_after_stop=_gap_after_stop(document, texts))


def _written_style(document: Document, texts: Mapping[str, str], file_names: Iterable[str]) -> CitationStyle | str:
    if document.format == "latex":
        return _latex_style(document, texts)
    if document.format == "markdown":
        return _markdown_style(document, texts, file_names)
    if document.format == "typst":
        calls = sum(written.startswith("#cite") for _, written in _written_citations(document, texts))
        marks = sum(written.startswith("@") for _, written in _written_citations(document, texts))
        opening, closing = ("#cite(<", ">)") if calls > marks else ("@", "")
        return CitationStyle(opening, closing, " ", _TYPST_KEY)
    if document.format == "odt":
        return "citations cannot be inserted into .odt files here; use whycite check --fix"
    return f"citations cannot be inserted into {document.format} drafts"


def _latex_style(document: Document, texts: Mapping[str, str]) -> CitationStyle:
    commands: Counter[str] = Counter()
    gaps: Counter[str] = Counter()
    for character, written in _written_citations(document, texts):
        command = _COMMAND.match(written)
        if command and command[1] in _PARENTHETICAL:
            commands[command[1]] += 1
            gaps[
                "~" if character == "~" else " " if character.isspace() else "" if character.isalnum() else "other"
            ] += 1
    del gaps["other"]  # an opening bracket, another citation
    usual_command = commands.most_common(1)[0][0] if commands else _package_command(texts.values())
    gap = gaps.most_common(1)[0][0] if gaps else "~"
    return CitationStyle(f"\\{usual_command}{{", "}", gap, _TEX_KEY)


def _package_command(texts: Iterable[str]) -> str:
    """The command of the package that the preamble loads."""
    package = next((match[1] for text in texts if (match := _PACKAGE.search(text))), "")
    return {"biblatex": "parencite", "natbib": "citep"}.get(package, "cite")


def _markdown_style(document: Document, texts: Mapping[str, str], file_names: Iterable[str]) -> CitationStyle | str:
    keys, roles, commands, printed = 0, Counter[str](), 0, 0
    for _, written in _written_citations(document, texts):
        role = _ROLE.match(written)
        if role:
            roles[role[0]] += 1
        elif "@" in written or written.startswith(("{", ":")):
            keys += 1
        elif written.startswith("\\"):
            commands += 1
        else:
            printed += 1
    if commands > keys + roles.total() + printed:
        return _latex_style(document, texts)
    if printed > keys + roles.total():
        return "the draft cites by numbers, names or links, not by keys; add the citation by hand"
    if roles.total() > keys:
        return CitationStyle(roles.most_common(1)[0][0], "`", " ", _ROLE_KEY)
    if not keys and not set(_SPHINX).isdisjoint(file_names):
        return CitationStyle("{cite:p}`", "`", " ", _ROLE_KEY)
    return CitationStyle("[@", "]", " ", _PANDOC_KEY)


def _written_citations(document: Document, texts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Each citation as written in its file, with the character before it."""
    for sentence in document.sentences:
        text = texts.get(sentence.file, "")
        for citation in sentence.citations:
            yield text[max(0, citation.start - 1) : citation.start], text[citation.start : citation.end]


_BEFORE_STOP = re.compile(r"[)\]}]*[.!?…]\S*")
_AFTER_STOP = re.compile(r"[.!?…][\"'”’»)\]}]*(?P<gap>[\s~]*)\Z")
_LONGEST_GAP = 20  # characters between a stop and a citation
_HABIT = 3  # citations after stops that show that the draft does so


def _gap_after_stop(document: Document, texts: Mapping[str, str]) -> str | None:
    """What is between stops and the citations after them; None if the draft cites before stops."""
    gaps: Counter[str] = Counter()
    cites_before_stops = 0
    for sentence in document.sentences:
        if sentence.kind != "prose" or not sentence.citations:
            continue
        text, citation = texts.get(sentence.file, ""), sentence.citations[-1]
        ending = text[citation.end : sentence.end].strip()
        stop = _AFTER_STOP.search(text[max(sentence.start, citation.start - _LONGEST_GAP) : citation.start])
        cites_before_stops += bool(_BEFORE_STOP.fullmatch(ending))
        if stop and not ending:
            gaps["~" if "~" in stop["gap"] else " " if stop["gap"] else ""] += 1
    return gaps.most_common(1)[0][0] if gaps.total() >= max(_HABIT, cites_before_stops + 1) else None


# The end of a sentence: stops, then closing quotes, brackets and emphasis.
_END = re.compile(r"(?P<stops>(?:[.!?…]|[:;,])*+)(?P<closers>(?:''|[\"”’»)\]}*_])*+)\Z")
_TAIL_LENGTH = 200  # characters searched for the end of a sentence
_QUOTES = frozenset("'\"”’»")
# Stops that belong to the word before them and end the sentence too: "U.S.", "et al.".
_ABBREVIATION = re.compile(r"(?:(?<![^\W\d_])[^\W\d_]\.)+[^\W\d_]\Z|\b(?:etc|al|Inc|Ltd|Co|Corp|Jr|Sr)\Z")
_DISPLAY_END = re.compile(r"\\end\s*\{(?P<name>[A-Za-z]+\*?)\}\Z|(?P<sign>\\\]|\$\$)\Z")
_OPENING = {"\\]": "\\[", "$$": "$$"}
_TYPST_DISPLAY = re.compile(r"\$\s(?:[^$\\]|\\.)*\s\$\Z", re.DOTALL)
_COMMENT_SIGN = re.compile(r"(?<!\\)(?:\\\\)*(%)")


@dataclass(frozen=True, slots=True)
class CitationPlace:
    """An offset for a citation; `lead` goes before its gap, which is the style's unless there is an own one."""

    offset: int
    lead: str = ""
    gap: str | None = None


def citation_places(
    text: str, start: int, end: int, format: str, gap_after_stop: str | None = None
) -> Iterator[CitationPlace]:
    """The places for a citation of the sentence text[start:end], best first; after its stop if a gap is given."""
    end = start + len(text[start:end].rstrip())
    if gap_after_stop is not None and text[start:end].endswith((".", "!", "?", "…")):
        yield CitationPlace(end, gap=gap_after_stop)
    if (display_start := _before_display(text, start, end, format)) is not None:
        end = display_start
    if end <= start:
        return
    low = max(start, end - _TAIL_LENGTH)
    tail = _END.search(text[low:end])
    assert tail is not None  # it also matches the empty end of any text
    stops, closers = low + tail.start("stops"), low + tail.start("closers")
    if _is_escaped(text, start, stops):  # "\," is a space, "\}" and "\)" are no brackets of the text
        yield CitationPlace(end if format == "latex" or stops == closers == end else stops - 1)
        return
    word = stops - 2 if format == "latex" and _is_spaced(text, start, stops) else stops
    if closers < end and stops < closers and _QUOTES.issuperset(text[closers:end]):
        yield CitationPlace(end)  # quotations stay as they are
    if stops == closers:
        yield CitationPlace(word if stops == end else end)
        return
    if word <= start:
        return
    ending = text[max(start, word - 30) : word]
    lead = "." if text[stops:closers] == "." and _ABBREVIATION.search(ending) else ""
    yield CitationPlace(word, lead)
    if lead:
        yield CitationPlace(closers)


def _before_display(text: str, start: int, end: int, format: str) -> int | None:
    """The end of the text before a displayed formula, for a sentence that ends in one."""
    segment = text[start:end]
    if format == "typst":
        formula = _TYPST_DISPLAY.search(segment)
        begin = formula.start() if formula else -1
    elif display := _DISPLAY_END.search(segment):
        sign = _OPENING[display["sign"]] if display["sign"] else f"\\begin{{{display['name']}}}"
        begin = segment.rfind(sign, 0, display.start())
    else:
        return None
    if begin < 0:
        return None
    prose = segment[:begin].rstrip()
    line = max(prose.rfind("\n"), prose.rfind("\r")) + 1
    if format == "latex" and (comment := _COMMENT_SIGN.search(prose, line)):
        prose = prose[: comment.start(1)].rstrip()
    return start + len(prose)


def _is_spaced(text: str, start: int, offset: int) -> bool:
    """Whether a "\\@" comes before an offset; it belongs to the following stop."""
    return text.endswith("\\@", start, offset) and not _is_escaped(text, start, offset - 2)


def _is_escaped(text: str, start: int, offset: int) -> bool:
    """Whether a backslash escapes the character."""
    slashes = len(text[start:offset]) - len(text[start:offset].rstrip("\\"))
    return slashes % 2 == 1


# -- within a sentence: after the authors it names, or where the clause that needs the citation ends ---

_SPACE = r"(?:\s|~)+"
_AND = rf",?{_SPACE}(?:and|&|\\&){_SPACE}"
_AND_OTHERS = (
    rf"(?:,?{_SPACE}(?:\\(?:emph|textit){{|[*_])?et{_SPACE}al\b\.?(?:[}}*_](?!\w))?"
    rf"|{_AND}(?:(?:his|her|their){_SPACE})?(?:colleagues|co-?workers))"
)
_POSSESSIVE = r"['’]s?(?=\s|~)"
_YEAR = r"(?:\s|~)*\(\s*(?P<year>(?:1[89]|20)\d\d)[a-z]?\s*\)"
_AGENT = re.compile(rf"\b(?:by|to){_SPACE}\Z")  # "as shown by Kaiser", "according to Kaiser"
_NEXT_WORD = re.compile(rf"{_SPACE}([^\W\d_]+)")
_MIN_NAME = 3  # letters; shorter names are too often something else

# Where the authors' own work begins after a clause about others: "Bees rest at night, so we …", "While bees rest, we".
# After "and we", "but we" or "To model this, we", the citation as often belongs to the second clause.
_OWN = rf"(?:we|our|this{_SPACE}(?:paper|work|study|article|thesis|section))\b"
_CONSEQUENCE = re.compile(rf"[,;](?={_SPACE}(?:and{_SPACE})?(?:so|thus|hence|therefore|consequently),?{_SPACE}{_OWN})")
_OWN_CLAUSE = re.compile(rf"[,;](?={_SPACE}{_OWN})")
_SUBORDINATE = re.compile(r"\s*(?:while|although|though|even though|whereas|since|because)\b", re.IGNORECASE)
_OWN_WORD = re.compile(r"\b(?:we|our|us)\b", re.IGNORECASE)
_MIN_CLAUSE_WORDS = 3  # content words that make a clause


def name_ends(text: str, start: int, end: int, paper: Paper) -> Iterator[int]:
    """The offsets in the sentence text[start:end] after each mention of a paper's authors.

    A name counts if something shows that it is one: "et al.", another author, a year, a reporting verb, "by" before it.
    A year that is not the paper's speaks of another paper; "Mercer's theorem" is cited after the theorem.
    """
    families = [family for author in paper.authors[:2] if (family := author.partition(",")[0].strip())]
    if not families or len(families[0]) < _MIN_NAME:
        return
    second = rf"|(?P<second>{_AND}{re.escape(families[1])}(?!\w))" if len(families) > 1 else ""
    mention = re.compile(
        rf"(?<![\w-]){re.escape(families[0])}(?![\w-])"
        rf"(?:(?P<others>{_AND_OTHERS}){second})?(?:{_POSSESSIVE})?(?:{_YEAR})?"
    )
    for match in mention.finditer(text, start, end):
        year = match["year"]
        if year and paper.year and int(year) != paper.year:
            continue
        if any(match.groupdict().values()) or _is_named(text, match.start(), match.end(), start, end):
            yield match.end()


def _is_named(text: str, begin: int, stop: int, start: int, end: int) -> bool:
    """Whether the words around a bare name show that it is one."""
    following = _NEXT_WORD.match(text, stop, end)
    return bool(_AGENT.search(text[start:begin])) or bool(following and following[1] in REPORTING_VERBS)


def clause_end(text: str, start: int, end: int) -> int | None:
    """The offset where the clause that needs the citation ends, if the sentence goes on with the authors' own work."""
    own_work = (_OWN_CLAUSE if _SUBORDINATE.match(text, start, end) else _CONSEQUENCE).search(text, start, end)
    if own_work is None:
        return None
    clause = text[start : own_work.start()]
    if _OWN_WORD.search(clause) or not has_content_words(clause, enough=_MIN_CLAUSE_WORDS):
        return None
    return start + len(clause.rstrip())


# -- what may prevent a citation -----------------------------------------------

_OWNER = re.compile(r"\\([A-Za-z@]+\*?)\s*(?:(?:\[[^\[\]]{0,300}\]|\{[^{}]{0,300}\}|<[^<>]{0,30}>)\s*)*\Z")
_BRACE = re.compile(r"\{")
_BRACKET = re.compile(r"\\[A-Za-z@]+\*?\s*(?:\{[^{}]{0,300}\}\s*)?(\[)")
_COMMENT = re.compile(r"(?<!\\)(?:\\\\)*%")
_PARAGRAPH = re.compile(r"\r?\n[ \t]*\r?\n")
_MARKDOWN_SIGN = re.compile(r"\\.|(`+)(?:(?!\1)[^`]|`(?!\1))*?\1(?!`)|\[|\]", re.DOTALL)


class Surroundings:
    """A file's text, and the commands around each place."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._source = LatexText(text, "")
        self._starts: list[int] = []
        self._above: list[int] = []  # for each brace, the index of the enclosing one, or -1
        self._paired = False

    def obstacle(self, offset: int, format: str, allowed: Collection[str] = ()) -> str:
        """Why a citation cannot go to an offset, or ""; `allowed` commands may contain citations."""
        if format == "latex":
            return self._latex_obstacle(offset, allowed)
        return _markdown_obstacle(self.text, offset) if format == "markdown" else ""

    def owners(self, offset: int) -> Iterator[str]:
        """The commands in whose arguments an offset is, innermost first; "" for a bare group."""
        self._pair()
        index = bisect_left(self._starts, offset) - 1
        while index >= 0:
            start = self._starts[index]
            if (self._source.closing_brace(start) or 0) >= offset:
                owner = _OWNER.search(self.text[max(0, start - 700) : start])
                yield owner[1] if owner else ""
            index = self._above[index]

    def _pair(self) -> None:
        """Find the enclosing brace of each brace, once."""
        if self._paired:
            return
        self._paired = True
        opened: list[tuple[int, int]] = []  # index and end of open braces
        for brace in _BRACE.finditer(self.text):
            close = self._source.closing_brace(brace.start())
            if close is None:
                continue
            while opened and opened[-1][1] < brace.start():
                opened.pop()
            self._above.append(opened[-1][0] if opened else -1)
            opened.append((len(self._starts), close))
            self._starts.append(brace.start())

    def _latex_obstacle(self, offset: int, allowed: Collection[str]) -> str:
        line = max(self.text.rfind("\n", 0, offset), self.text.rfind("\r", 0, offset)) + 1
        if _COMMENT.search(self.text, line, offset):
            return "the sentence ends on a line with a comment"
        for owner in self.owners(offset):
            if owner and owner not in load_words("whycite.check", "text-commands") and owner not in allowed:
                return f"the sentence ends in the argument of \\{owner}, where a citation may not be possible"
        for bracket in _BRACKET.finditer(self.text, max(0, offset - 3000), offset):
            close = self._source.closing_bracket(bracket.start(1))
            if close is not None and close >= offset:
                return "the sentence ends in an optional argument"
        return ""


def _markdown_obstacle(text: str, offset: int) -> str:
    start, end = 0, len(text)
    for blank in _PARAGRAPH.finditer(text):
        if blank.end() <= offset:
            start = blank.end()
        else:
            end = max(offset, blank.start())
            break
    opened: list[int] = []
    for mark in _MARKDOWN_SIGN.finditer(text, start, end):
        if mark.start() < offset < mark.end() and mark[0][0] == "`":
            return "the sentence ends in code"
        if mark[0] == "[":
            opened.append(mark.start())
        elif mark[0] == "]" and opened:
            opening = opened.pop()
            link = text.startswith(("(", "["), mark.end()) and text[opening - 1 : opening] not in ("!", "^")
            if opening < offset <= mark.start() and link:
                return "the sentence ends in the text of a link"
    return ""
