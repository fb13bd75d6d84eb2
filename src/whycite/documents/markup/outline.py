"""What a draft written by hand comes to: headings and blocks in reading order, formulas where they belong."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from whycite.documents.builder import Builder
from whycite.documents.model import Kind
from whycite.documents.prose import Prose

__all__ = ["Outline", "words_of"]

_REFERENCES = re.compile(
    r"(?:references?(?: cited| and notes)?|list of references|bibliography|literature(?: cited)?|works cited"
    r"|cited literature|literaturverzeichnis|referencias|références|bibliographie)[:.]?",
    re.IGNORECASE,
)
# What a section is called and never a paper.
_ORDINARY = re.compile(
    r"(?:\d{1,2}\.?\s+)?(?:abstract|summary|introduction|background|motivation|related works?|previous works?"
    r"|literature review|theory|methods?|methodology|materials? and methods?|methods? and materials?|experiments?"
    r"|evaluation|analysis|results?|results and discussions?|discussions?|discussion and conclusions?|conclusions?"
    r"|concluding remarks|limitations|future works?|acknowledge?ments?|appendix|appendices|references)[:.]?",
    re.IGNORECASE,
)
_STOPS = (".", "!", "?")


@dataclass(frozen=True)
class _Heading:
    text: str
    level: int  # 1 is the top; 0 stands beside the others (the abstract)


@dataclass(frozen=True)
class _Block:
    prose: Prose
    kind: Kind


class Outline:
    """Grows the headings and blocks of a draft; a reference list among them is told apart."""

    def __init__(self) -> None:
        self._events: list[_Heading | _Block] = []
        self._listing = 0  # level of the heading of the reference list we are under
        self._last: Prose | None = None  # the paragraph a formula may belong to
        self._unfinished = False  # it did not end with a full stop
        self._continued = False  # a formula was added to it

    @property
    def in_references(self) -> bool:
        """Whether we are under the heading of the reference list."""
        return self._listing > 0

    def heading(self, text: str, level: int, prose: Prose | None = None) -> None:
        """Begin a section; that of the reference list is none. A heading whose `prose` cites is kept as such too."""
        self._last = None
        if self._listing and level > self._listing:
            return
        self._listing = level if _REFERENCES.fullmatch(text) else 0
        if not self._listing and (text or not level):
            self._events.append(_Heading(text, level))
        if prose and prose.has_citations and not self._listing:
            self.block(prose, "heading")

    def block(self, prose: Prose, kind: Kind) -> None:
        """Add a caption, a footnote or a paragraph that no formula goes on with."""
        if prose:
            self._events.append(_Block(prose, kind))

    def begin(self, text: str) -> Prose:
        """The prose for a paragraph that begins with `text`: the last one, if a formula only interrupted it."""
        goes_on = self._last is not None and self._continued and text.lstrip()[:1].islower()
        return self._last if goes_on and self._last is not None else Prose()

    def end(self, prose: Prose, text: str) -> None:
        """Add a paragraph that ends with `text`."""
        if prose is not self._last:
            self.block(prose, "prose")
        self._last, self._continued = prose, False
        self._unfinished = not text.rstrip().endswith(_STOPS)

    def formula(self, shown: str, file: str, start: int, end: int) -> None:
        """A displayed formula by itself: it belongs to the sentence before, if that goes on."""
        if self._last is not None and self._unfinished:
            self._last.add(f" {shown} ", file, start, end)
            self._unfinished = self._continued = not shown.rstrip().endswith(_STOPS)

    def fill(self, builder: Builder, titled: bool) -> str:
        """Give all to a builder, levels counted from one; the title, where the only top heading is it."""
        headings = [event for event in self._events if isinstance(event, _Heading) and event.level]
        tops = [heading for heading in headings if heading.level == 1]
        alone = not titled and len(tops) == 1 < len(headings) and tops[0] is self._events[0]
        title = tops[0] if alone and not _ORDINARY.fullmatch(tops[0].text) else None
        highest = min((heading.level for heading in headings if heading is not title), default=1)
        for event, following in pairwise([*self._events, None]):
            if isinstance(event, _Block):
                builder.paragraph(event.prose, event.kind)
            elif event and event is not title and (event.text or isinstance(following, _Block)):
                builder.section(event.text, max(1, event.level - highest + 1))
        return title.text if title else ""


def words_of(prose: Prose) -> str:
    """The words of a heading or a title, without what it cites."""
    if not prose.has_citations:
        return prose.text
    return " ".join(sentence.without_citations() for sentence in prose.sentences(0, 0, "heading")).strip()
