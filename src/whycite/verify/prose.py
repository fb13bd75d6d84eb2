"""Which sentences of a document can back a claim: its own text, never its reference list or a heading."""

from __future__ import annotations

import re
from dataclasses import replace

from whycite import structure
from whycite.documents.model import Document

__all__ = ["own_sentences", "with_asides"]

_KINDS = frozenset({"prose", "caption", "footnote"})
_RUN = 6  # words of a title that tell a reference
_WORD = re.compile(r"[^\W\d_]+")


def with_asides(document: Document) -> Document:
    """The document with its captions, notes, boxes and digest behind its sentences: they say what it found, too."""
    if not document.asides:
        return document
    return replace(document, sentences=(*document.sentences, *document.asides), asides=())


def own_sentences(document: Document) -> tuple[list[int], list[str], list[str | None]]:
    """The sentences that may back a claim by index, with the heading and the type of the section of each."""
    labelled = document if any(section.type for section in document.sections) else structure.label(document)
    titles = {run for reference in document.references for run in _runs(reference.title)[:1]}
    indices, headings, types = [], [], []
    for at, sentence in enumerate(document.sentences):
        section = labelled.sections[sentence.section] if 0 <= sentence.section < len(labelled.sections) else None
        type = section.type if section else None
        if sentence.kind not in _KINDS or type == "references" or not _WORD.search(sentence.text):
            continue
        if titles and not sentence.citations and not titles.isdisjoint(_runs(sentence.text)):
            continue  # an entry of a reference list that was not told apart
        heading = section.heading if section else ""
        indices.append(at)
        headings.append(f"{heading} (caption)".strip() if sentence.kind == "caption" else heading)
        types.append(type)
    return indices, headings, types


def _runs(text: str) -> list[tuple[str, ...]]:
    """The runs of so many words of a text."""
    words = [word.lower() for word in _WORD.findall(text)]
    return [tuple(words[at : at + _RUN]) for at in range(len(words) - _RUN + 1)]
