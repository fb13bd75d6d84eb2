"""Writes a Markdown paragraph as prose: marks gone, citations at their place, notes and captions apart."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from whycite.documents.identity import normalise_doi
from whycite.documents.markdown.pairing import Token
from whycite.documents.markdown.tokens import tokenise
from whycite.documents.markers import Marker
from whycite.documents.markup.pointers import POINTER, looks_like_pointer
from whycite.documents.markup.stretch import Stretch
from whycite.documents.prose import Prose

__all__ = ["Inline", "Names", "read_inline"]

# No target holds a square bracket: so what follows a bracket never ends inside another pair.
_LINK = re.compile(
    r"\(\s*(?:<[^<>\[\]\n]*>|[^\s()<>\[\]]*(?:\([^\s()\[\]]*\)[^\s()\[\]]*)*)"
    r"(?:\s+(?:\"[^\"\[\]]*\"|'[^'\[\]]*'|\([^()\[\]]*\)))?\s*\)"
)
_LABEL = re.compile(r"\[([^\[\]]{0,200})\]")
_ATTRIBUTES = re.compile(r"\{[^{}\[\]\n]{0,500}\}")
_MARKS = re.compile(r"[\\*]")
_DOI = re.compile(r"\(\s*<?((?:doi:|https?://(?:dx\.)?doi\.org/)[^\s<>{}]+)", re.IGNORECASE)
_WORDY = 4  # words that make the text of an image between other words a caption and not a badge


@dataclass(frozen=True)
class Names:
    """What names in brackets and after "@" can mean in this draft."""

    references: Collection[str] = frozenset()  # ids of the bibliography
    markers: Sequence[Marker] = ()  # citations in plain words, by their place in the draft
    dois: Mapping[str, str] = field(default_factory=dict)  # ids of the bibliography by their DOI
    links: set[str] = field(default_factory=set)  # labels of links, in lower case
    examples: set[str] = field(default_factory=set)  # labels of numbered examples


@dataclass
class Inline:
    """What a paragraph holds."""

    prose: Prose
    notes: list[Prose] = field(default_factory=list)
    captions: list[Prose] = field(default_factory=list)
    formula: str = ""  # how it reads, if it is nothing but a displayed formula
    cited: bool = False  # cites by key


class _Writer:
    def __init__(self, stretch: Stretch, tokens: Sequence[Token], names: Names, prose: Prose) -> None:
        self.stretch = stretch
        self.text = stretch.text
        self.tokens = tokens
        self.names = names
        self.inline = Inline(prose)
        self.sinks = [self.inline.prose]
        self.tails: dict[int, int] = {}  # closing bracket -> where what belongs to it ends
        self.links = 0  # links that are open
        self.cited = _brackets_with_keys(tokens)

    def write(self) -> Inline:
        only_images = self._only_images()
        at = index = 0
        while index < len(self.tokens):
            token = self.tokens[index]
            index += 1
            if token.start < at:
                continue
            self.stretch.add_to(self.sinks[-1], at, token.start)
            at = token.end
            if token.kind == "break":
                self.sinks[-1].break_sentence()
            elif token.kind == "cited":
                self._cite(token.text, token.keys, token.start, token.end)
            elif token.kind == "key":
                at = self._key(index - 1)
            elif token.kind == "doi":
                self._doi(token)
            elif token.kind == "open":
                at = self._open(index - 1, only_images)
            elif token.kind == "close":
                at = self._close(index - 1)
            elif token.text:
                self._show(token.text, token.start, token.end)
        self.stretch.add_to(self.sinks[-1], at, len(self.text))
        shown = [token for token in self.tokens if token.kind != "dropped"]
        if shown and all(token.kind == "display" for token in shown) and self._bare(shown):
            self.inline.formula = shown[-1].text
        return self.inline

    def _bare(self, shown: Sequence[Token]) -> bool:
        """Whether there is no word between these marks."""
        at = 0
        for token in shown:
            if any(map(str.isalnum, self.text[at : token.start])):
                return False
            at = token.end
        return not any(map(str.isalnum, self.text[at:]))

    def _show(self, text: str, start: int, end: int) -> None:
        self.stretch.put(self.sinks[-1], text, start, end)

    def _cite(self, marker: str, keys: tuple[str, ...], start: int, end: int) -> None:
        self.inline.cited = True
        self.stretch.cite(self.sinks[-1], marker, keys, start, end)

    # -- citations ---------------------------------------------------------

    def _is_pointer(self, key: str) -> bool:
        """Whether a key is a cross reference's and not a citation's."""
        if key in self.names.references:
            return False
        return key in self.names.examples or looks_like_pointer(key)

    def _key(self, index: int) -> int:
        token = self.tokens[index]
        if self._is_pointer(token.text):
            self._show(POINTER, token.start, token.end)
            return token.end
        following = self.tokens[index + 1] if index + 1 < len(self.tokens) else None
        located = (
            following is not None
            and following.kind == "open"
            and not following.opening
            and self.text[token.end : following.start] in ("", " ")
            and self._tail(self.tokens[following.mate], following) is None
        )
        if not (located and following is not None):
            self._cite(f"[{token.text}]", (token.text,), token.start, token.end)
            return token.end
        keys, shown = self._inside(index + 1, following.mate)
        end = self.tokens[following.mate].end
        self._cite(f"[{token.text}, {shown}]", (token.text, *keys), token.start, end)
        return end

    def _doi(self, token: Token) -> None:
        key = self.names.dois.get(normalise_doi(token.text))
        if key is None:
            self._show(token.text, token.start, token.end)
        else:
            self._cite(f"[{key}]", (key,), token.start, token.end)

    def _inside(self, opening: int, closing: int) -> tuple[tuple[str, ...], str]:
        """The keys between two brackets, and how what is between them reads."""
        keys: dict[str, None] = {}
        parts: list[str] = []
        at = self.tokens[opening].end
        for token in self.tokens[opening + 1 : closing]:
            if token.start < at:
                continue
            parts.append(self.text[at : token.start])
            at = token.end
            if token.kind == "key":
                pointer = self._is_pointer(token.text)
                parts.append(POINTER if pointer else token.text)
                if not pointer:
                    keys[token.text] = None
            elif token.kind == "cited":
                keys.update(dict.fromkeys(token.keys))
                parts.append("; ".join(token.keys))
            else:
                parts.append(token.text)
        parts.append(self.text[at : self.tokens[closing].start])
        return tuple(keys), " ".join("".join(parts).split())

    # -- brackets ----------------------------------------------------------

    def _open(self, index: int, only_images: bool) -> int:
        token = self.tokens[index]
        closing = self.tokens[token.mate]
        tail = self._tail(closing, token)
        if token.opening == "^":
            self.sinks.append(Prose())
        elif token.opening == "!" and tail is not None:
            self.sinks.append(Prose())
            self.tails[token.mate] = tail
            alone = len(self.text[token.end : closing.start].split()) < _WORDY
            if only_images or not (alone or self.links):
                self.inline.captions.append(self.sinks[-1])
        elif index in self.cited and not self.text.startswith("(", closing.end):
            keys, shown = self._inside(index, token.mate)
            if keys:
                self._cite(f"[{shown}]", keys, token.start, closing.end)
            else:
                self._show(shown, token.start, closing.end)
            return closing.end
        elif tail is not None and token.end == closing.start and (key := self._linked(closing.end, tail)):
            self._cite(f"[{key}]", (key,), token.start, tail)
            return tail
        elif tail is not None:
            self.tails[token.mate] = tail
            self.links += 1
        else:
            self._show(self.text[token.start : token.end], token.start, token.end)
        return token.end

    def _linked(self, start: int, end: int) -> str | None:
        """The reference whose DOI is the target of a link without words: "[](doi:10.1000/abc)"."""
        target = _DOI.match(self.text, start, end)
        if target is None:
            return None
        doi = target[1].removesuffix(")") if target[1].count(")") > target[1].count("(") else target[1]
        return self.names.dois.get(normalise_doi(doi))

    def _close(self, index: int) -> int:
        token = self.tokens[index]
        opening = self.tokens[token.mate].opening
        if opening == "^":
            self.inline.notes.append(self.sinks.pop())
        elif index not in self.tails:
            self._show("]", token.start, token.end)
        elif opening == "!":
            self.sinks.pop()
        else:
            self.links -= 1
        return self.tails.get(index, token.end)

    def _tail(self, closing: Token, opening: Token) -> int | None:
        """Where a link, an image or a span that these brackets belong to ends; None: they are only brackets."""
        at = closing.end
        if link := _LINK.match(self.text, at):
            attributes = _ATTRIBUTES.match(self.text, link.end())
            return attributes.end() if attributes else link.end()
        inner = self.text[opening.end : min(closing.start, opening.end + 200)].lower()
        if (label := _LABEL.match(self.text, at)) and (label[1].lower() or inner) in self.names.links:
            return label.end()
        if attributes := _ATTRIBUTES.match(self.text, at):
            return attributes.end()
        return at if inner in self.names.links else None

    def _only_images(self) -> bool:
        at = 0
        for token in self.tokens:
            if token.start < at:
                continue
            if token.opening != "!" or token.mate < 0 or self.text[at : token.start].strip():
                return False
            tail = self._tail(self.tokens[token.mate], token)
            if tail is None:
                return False
            at = tail
        return at > 0 and not self.text[at:].strip(" \t\r\n\\")


def _brackets_with_keys(tokens: Sequence[Token]) -> frozenset[int]:
    """The opening brackets that hold a citation key themselves, not in brackets within them."""
    opened: list[int] = []
    found = []
    for index, token in enumerate(tokens):
        if token.kind == "open":
            opened.append(index)
        elif token.kind == "close":
            opened.pop()
        elif token.kind == "key" and opened:
            found.append(opened[-1])
    return frozenset(found)


def read_inline(
    stretch: Stretch,
    names: Names,
    breaks: Sequence[int] = (),
    markers: Sequence[Marker] = (),
    prose: Prose | None = None,
) -> Inline:
    """The prose of a paragraph, after what `prose` has already; sentences end at the `breaks`.

    The `markers` are citations in plain words, by their place in the file.
    """
    cited = []
    for marker in markers:
        start, last = stretch.locate(marker.start), stretch.locate(marker.end - 1)
        if start is not None and last is not None:
            start -= stretch.text[start - 1 : start] == "\\"
            shown = _MARKS.sub("", stretch.text[start : last + 1])
            cited.append(Token("cited", start, last + 1, shown, marker.keys))
    tokens = tokenise(stretch.text, [*cited, *(Token("break", at, at) for at in breaks)])
    prose = Prose() if prose is None else prose
    if not tokens:
        stretch.add_to(prose, 0, len(stretch.text))
        return Inline(prose)
    return _Writer(stretch, tokens, names, prose).write()
