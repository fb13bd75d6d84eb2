"""Turns a Markdown paragraph into prose: no marks, citations in place, notes and captions separate."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from whycite.documents.builder import Prose
from whycite.documents.identity import normalise_doi
from whycite.documents.markdown.marks import MarkdownToken, tokenise
from whycite.documents.markers import Marker
from whycite.documents.markup import POINTER, Stretch, looks_like_pointer

__all__ = ["InlineText", "MarkdownNames", "read_inline"]

# Targets contain no square brackets, so a link never ends inside another pair.
_LINK = re.compile(
    r"\(\s*(?:<[^<>\[\]\n]*>|[^\s()<>\[\]]*(?:\([^\s()\[\]]*\)[^\s()\[\]]*)*)"
    r"(?:\s+(?:\"[^\"\[\]]*\"|'[^'\[\]]*'|\([^()\[\]]*\)))?\s*\)"
)
_LABEL = re.compile(r"\[([^\[\]]{0,200})\]")
_ATTRIBUTES = re.compile(r"\{[^{}\[\]\n]{0,500}\}")
_MARKS = re.compile(r"[\\*]")
_DOI = re.compile(r"\(\s*<?((?:doi:|https?://(?:dx\.)?doi\.org/)[^\s<>{}]+)", re.IGNORECASE)
_MIN_CAPTION_WORDS = 4  # from which the text of an image within a paragraph is a caption, not a badge


@dataclass(frozen=True)
class MarkdownNames:
    """What names in brackets and after "@" can mean in this draft."""

    references: Collection[str] = frozenset()  # ids of the bibliography
    markers: Sequence[Marker] = ()  # citations in plain text, by position in the draft
    dois: Mapping[str, str] = field(default_factory=dict)  # ids of the bibliography by DOI
    links: set[str] = field(default_factory=set)  # labels of links, in lower case
    examples: set[str] = field(default_factory=set)  # labels of numbered examples
    targets: set[str] = field(default_factory=set)  # labels of figures, tables and sections, in lower case
    notes: dict[str, list[Prose]] = field(default_factory=dict)  # paragraphs of footnotes by their labels


@dataclass
class InlineText:
    """The content of a paragraph."""

    prose: Prose
    notes: list[Prose] = field(default_factory=list)
    captions: list[Prose] = field(default_factory=list)
    formula: str = ""  # its text, if the paragraph is only a displayed formula
    cites_by_key: bool = False


class _InlineWriter:
    def __init__(self, stretch: Stretch, tokens: Sequence[MarkdownToken], names: MarkdownNames, prose: Prose) -> None:
        self.stretch = stretch
        self.text = stretch.text
        self.tokens = tokens
        self.names = names
        self.inline = InlineText(prose)
        self.sinks = [self.inline.prose]
        self.tails: dict[int, int] = {}  # closing bracket -> end of what belongs to it
        self.open_links = 0  # nested links
        self.brackets_with_keys = _brackets_with_keys(tokens)

    def write(self) -> InlineText:
        only_images = self._only_images()
        position = index = 0
        while index < len(self.tokens):
            token = self.tokens[index]
            index += 1
            if token.start < position:
                continue
            self.stretch.add_to(self.sinks[-1], position, token.start)
            position = token.end
            if token.kind == "break":
                self.sinks[-1].break_sentence()
            elif token.kind == "cited":
                self._cite(token.text, token.keys, token.start, token.end)
            elif token.kind == "key":
                position = self._key(index - 1)
            elif token.kind == "note":
                self.sinks[-1].attach_notes(self.names.notes.setdefault(token.text, []))
            elif token.kind == "doi":
                self._doi(token)
            elif token.kind == "open":
                position = self._open(index - 1, only_images)
            elif token.kind == "close":
                position = self._close(index - 1)
            elif token.text:
                self._show(token.text, token.start, token.end)
        self.stretch.add_to(self.sinks[-1], position, len(self.text))
        visible_tokens = [token for token in self.tokens if token.kind not in ("dropped", "note")]
        if (
            visible_tokens
            and all(token.kind == "display" for token in visible_tokens)
            and self._is_wordless(visible_tokens)
        ):
            self.inline.formula = visible_tokens[-1].text
        return self.inline

    def _is_wordless(self, tokens: Sequence[MarkdownToken]) -> bool:
        """Whether there are no words between these tokens."""
        position = 0
        for token in tokens:
            if any(map(str.isalnum, self.text[position : token.start])):
                return False
            position = token.end
        return not any(map(str.isalnum, self.text[position:]))

    def _show(self, text: str, start: int, end: int) -> None:
        self.stretch.put(self.sinks[-1], text, start, end)

    def _cite(self, marker: str, keys: tuple[str, ...], start: int, end: int, *, textual: bool = False) -> None:
        self.inline.cites_by_key = True
        self.stretch.cite(self.sinks[-1], marker, keys, start, end, textual=textual)

    # -- citations ---------------------------------------------------------

    def _is_pointer(self, key: str) -> bool:
        """Whether a key is a cross-reference, not a citation."""
        if key in self.names.references:
            return False
        return key in self.names.examples or key.lower() in self.names.targets or looks_like_pointer(key)

    def _key(self, index: int) -> int:
        token = self.tokens[index]
        if self._is_pointer(token.text):
            self._show(POINTER, token.start, token.end)
            return token.end
        following = self.tokens[index + 1] if index + 1 < len(self.tokens) else None
        has_locator = (
            following is not None
            and following.kind == "open"
            and not following.opening
            and self.text[token.end : following.start] in ("", " ")
            and self._tail_end(self.tokens[following.mate], following) is None
        )
        if not (has_locator and following is not None):
            self._cite(f"[{token.text}]", (token.text,), token.start, token.end, textual=True)
            return token.end
        keys, note = self._bracket_content(index + 1, following.mate)
        end = self.tokens[following.mate].end
        self._cite(f"[{token.text}, {note}]", (token.text, *keys), token.start, end, textual=True)
        return end

    def _doi(self, token: MarkdownToken) -> None:
        key = self.names.dois.get(normalise_doi(token.text))
        if key is None:
            self._show(token.text, token.start, token.end)
        else:
            self._cite(f"[{key}]", (key,), token.start, token.end)

    def _bracket_content(self, opening: int, closing: int) -> tuple[tuple[str, ...], str]:
        """The keys between two brackets, and the text between them."""
        keys: dict[str, None] = {}
        parts: list[str] = []
        position = self.tokens[opening].end
        for token in self.tokens[opening + 1 : closing]:
            if token.start < position:
                continue
            parts.append(self.text[position : token.start])
            position = token.end
            if token.kind == "key":
                pointer = self._is_pointer(token.text)
                parts.append(POINTER if pointer else token.text)
                if not pointer:
                    keys[token.text] = None
            elif token.kind == "cited":
                keys.update(dict.fromkeys(token.keys))
                parts.append("; ".join(token.keys))
            elif token.kind != "note":
                parts.append(token.text)
        parts.append(self.text[position : self.tokens[closing].start])
        return tuple(keys), " ".join("".join(parts).split())

    # -- brackets ----------------------------------------------------------

    def _open(self, index: int, only_images: bool) -> int:
        token = self.tokens[index]
        closing = self.tokens[token.mate]
        tail = self._tail_end(closing, token)
        if token.opening == "^":
            self.sinks.append(Prose())
        elif token.opening == "!" and tail is not None:
            self.sinks.append(Prose())
            self.tails[token.mate] = tail
            is_short = len(self.text[token.end : closing.start].split()) < _MIN_CAPTION_WORDS
            if only_images or not (is_short or self.open_links):
                self.inline.captions.append(self.sinks[-1])
        elif index in self.brackets_with_keys and not self.text.startswith("(", closing.end):
            keys, content = self._bracket_content(index, token.mate)
            if keys:
                self._cite(f"[{content}]", keys, token.start, closing.end)
            else:
                self._show(content, token.start, closing.end)
            return closing.end
        elif tail is not None and token.end == closing.start and (key := self._linked_reference(closing.end, tail)):
            self._cite(f"[{key}]", (key,), token.start, tail)
            return tail
        elif tail is not None and token.end == closing.start and self.text.startswith("(#", closing.end):
            self._show(POINTER, token.start, tail)  # MyST writes the number of what the label names
            return tail
        elif tail is not None:
            self.tails[token.mate] = tail
            self.open_links += 1
        else:
            self._show(self.text[token.start : token.end], token.start, token.end)
        return token.end

    def _linked_reference(self, start: int, end: int) -> str | None:
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
            self.sinks[-1].attach_notes(self.inline.notes[-1:])
        elif index not in self.tails:
            self._show("]", token.start, token.end)
        elif opening == "!":
            self.sinks.pop()
        else:
            self.open_links -= 1
        return self.tails.get(index, token.end)

    def _tail_end(self, closing: MarkdownToken, opening: MarkdownToken) -> int | None:
        """Where the link, image or span of these brackets ends; None if they are only brackets."""
        end = closing.end
        if link := _LINK.match(self.text, end):
            attributes = _ATTRIBUTES.match(self.text, link.end())
            return attributes.end() if attributes else link.end()
        inner = self.text[opening.end : min(closing.start, opening.end + 200)].lower()
        if (label := _LABEL.match(self.text, end)) and (label[1].lower() or inner) in self.names.links:
            return label.end()
        if attributes := _ATTRIBUTES.match(self.text, end):
            return attributes.end()
        return end if inner in self.names.links else None

    def _only_images(self) -> bool:
        position = 0
        for token in self.tokens:
            if token.start < position:
                continue
            if token.opening != "!" or token.mate < 0 or self.text[position : token.start].strip():
                return False
            tail = self._tail_end(self.tokens[token.mate], token)
            if tail is None:
                return False
            position = tail
        return position > 0 and not self.text[position:].strip(" \t\r\n\\")


def _brackets_with_keys(tokens: Sequence[MarkdownToken]) -> frozenset[int]:
    """The opening brackets that directly contain a citation key."""
    open_indices: list[int] = []
    brackets = []
    for index, token in enumerate(tokens):
        if token.kind == "open":
            open_indices.append(index)
        elif token.kind == "close":
            open_indices.pop()
        elif token.kind == "key" and open_indices:
            brackets.append(open_indices[-1])
    return frozenset(brackets)


def read_inline(
    stretch: Stretch,
    names: MarkdownNames,
    breaks: Sequence[int] = (),
    markers: Sequence[Marker] = (),
    prose: Prose | None = None,
) -> InlineText:
    """The prose of a paragraph, appended to `prose`; sentences end at the `breaks`.

    The `markers` are citations in plain text, by position in the file.
    """
    marker_tokens = []
    for marker in markers:
        start, last_index = stretch.locate(marker.start), stretch.locate(marker.end - 1)
        if start is not None and last_index is not None:
            start -= stretch.text[start - 1 : start] == "\\"
            text = _MARKS.sub("", stretch.text[start : last_index + 1])
            marker_tokens.append(MarkdownToken("cited", start, last_index + 1, text, marker.keys))
    tokens = tokenise(
        stretch.text, [*marker_tokens, *(MarkdownToken("break", position, position) for position in breaks)]
    )
    prose = Prose() if prose is None else prose
    if not tokens:
        stretch.add_to(prose, 0, len(stretch.text))
        return InlineText(prose)
    return _InlineWriter(stretch, tokens, names, prose).write()
