"""Evidence spans: what a document says when it cites (ILCiteR, section 5.2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from whycite.documents.model import Document
from whycite.evidence.groups import Cut, cut, joined
from whycite.evidence.parser import entities
from whycite.evidence.trimming import entity, piece, sentence
from whycite.evidence.words import CONJUNCTIONS, content_words, last_word, leads_on

__all__ = ["Kind", "Span", "extract"]

Kind = Literal["entity", "piece", "sentence"]
_CLAIM = 3  # so many words must stand in front of "by Doe et al." to be a claim


@dataclass(frozen=True, slots=True)
class Span:
    """Text that cites: an entity, a piece of a sentence or a whole one, and the references it cites."""

    text: str
    keys: tuple[str, ...]  # the document's own ids of the references of the group
    kind: Kind
    sentence: int  # index into the document's sentences
    section_type: str | None
    context: str  # the sentence without its citations
    start: int  # source range of the group, in the sentence's file
    end: int


def extract(document: Document) -> list[Span]:
    """The evidence spans of a document, sentence by sentence.

    For every citation group with linked references: the entity in front of it, else the piece of the sentence that is
    its own; and the whole sentence where the group is the only one or ends it.
    """
    citing = [
        (at, cut(sentence, document))
        for at, sentence in enumerate(document.sentences)
        if any(citation.keys for citation in sentence.citations)
    ]
    found = entities([parts for _, parts in citing])
    return [
        span for (at, parts), names in zip(citing, found, strict=True) for span in _spans(document, at, parts, names)
    ]


def _spans(document: Document, at: int, parts: Cut, names: list[str]) -> Iterator[Span]:
    context = joined(parts.texts)
    section = document.sentences[at].section
    section_type = document.sections[section].type if 0 <= section < len(document.sections) else None
    last = max((index for index, text in enumerate(parts.texts) if content_words(text)), default=-1)
    if last < 0:
        return
    full = sentence(context)
    for index, (group, name) in enumerate(zip(parts.groups, names, strict=True)):
        if group.keys:
            for kind, text in _texts(parts, index, name, full, ends=last <= index).items():
                yield Span(text, group.keys, kind, at, section_type, context, group.start, group.end)


def _texts(parts: Cut, index: int, name: str, full: str, ends: bool) -> dict[Kind, str]:
    """What a group is evidence for, by kind; at least the sentence."""
    found: dict[Kind, str] = {}
    named, own = entity(name), piece(_own(parts, index))
    if content_words(named):
        found["entity"] = named
    elif content_words(own):
        found["piece"] = own
    if ends or len(parts.groups) == 1 or not found:
        if index == 0 and _introduces(parts.texts[0]) and parts.texts[1].startswith(","):
            rest = sentence(joined(parts.texts[1:]))  # "As suggested by Doe et al., …"
            full = rest if content_words(rest) else full
        if found.get("piece") == full:
            del found["piece"]
        if found.get("entity") != full:
            found["sentence"] = full
    return found


def _own(parts: Cut, index: int) -> str:
    """The piece of a sentence that belongs to a group: the one before it (5.2), unless the group begins its clause.

    "Doe (2010) showed that it holds, but [3] that it does not" has nothing, or the claim of another, in front of it.
    """
    before, after = parts.texts[index], parts.texts[index + 1]
    begins = _begins_clause(parts, index) or _introduces(before) or not content_words(piece(before))
    return after if begins and content_words(piece(after)) else before


def _begins_clause(parts: Cut, index: int) -> bool:
    before, after, group = parts.texts[index], parts.texts[index + 1], parts.groups[index]
    if group.held:
        return False
    opened = not before or last_word(before) in CONJUNCTIONS
    paused = before[-1:] in (",", ";", ":")
    if after[:1].isalpha():  # "…, [3] showed", "in mice Doe et al. (2010) showed"
        return opened or paused or (group.named and not leads_on(before))
    return group.named and (opened or (paused and not content_words(before, enough=_CLAIM)))


def _introduces(before: str) -> bool:
    """Whether so little leads to a group that it is no claim: "As suggested by"."""
    return leads_on(before) and not content_words(before, enough=_CLAIM)
