"""Which sentences of a document can back a claim: its own text, not quotations of the claim."""

from __future__ import annotations

import re
from dataclasses import replace
from difflib import SequenceMatcher

from whycite import structure
from whycite.documents.model import Document
from whycite.text.tokens import clean, terms

__all__ = ["own_sentences", "quotes", "with_asides"]


_KINDS = frozenset({"prose", "caption", "footnote"})  # of sentences that can back a claim
_TITLE_RUN = 6  # words in a row that only an entry of a reference list shares with a title
_WORD = re.compile(r"[^\W\d_]+")


def with_asides(document: Document) -> Document:
    """The document with its captions, notes, boxes and digest after its sentences: they report findings, too."""
    if not document.asides:
        return document
    return replace(document, sentences=(*document.sentences, *document.asides), asides=())


def own_sentences(document: Document) -> tuple[list[int], list[str], list[str | None]]:
    """The sentences that can back a claim, by index, and the heading and type of each one's section."""
    labelled = document if any(section.type for section in document.sections) else structure.label(document)
    titles = {run for reference in document.references for run in _runs(reference.title)[:1]}
    indices, headings, types = [], [], []
    for index, sentence in enumerate(document.sentences):
        section = labelled.sections[sentence.section] if 0 <= sentence.section < len(labelled.sections) else None
        type = section.type if section else None
        if sentence.kind not in _KINDS or type == "references" or not _WORD.search(sentence.text):
            continue
        if titles and not sentence.citations and not titles.isdisjoint(_runs(sentence.text)):
            continue  # an entry of a reference list that was read as text
        heading = section.heading if section else ""
        indices.append(index)
        headings.append(f"{heading} (caption)".strip() if sentence.kind == "caption" else heading)
        types.append(type)
    return indices, headings, types


def _runs(text: str) -> list[tuple[str, ...]]:
    """All runs of `_TITLE_RUN` words."""
    words = [word.lower() for word in _WORD.findall(text)]
    return [tuple(words[start : start + _TITLE_RUN]) for start in range(len(words) - _TITLE_RUN + 1)]


_QUOTED = re.compile(r'"([^"]{20,1000})"')
_MIN_WORDS = 6  # shorter claims are said twice by chance
_SAME_SHARE = 0.9  # of the claim's words that must occur, in order: all but a word or two
_MAX_QUOTED_LENGTH = 3  # times the claim; a longer text says more than the claim


def quotes(claim: str, sentence: str) -> bool:
    """Whether a sentence has the claim in quotation marks.

    What a sentence reports of others in its own words is said, if not found, by the document: see `roles`.
    """
    claim_terms = terms(claim)
    return len(claim_terms) >= _MIN_WORDS and any(
        _is_same_text(claim_terms, terms(quoted)) for quoted in _QUOTED.findall(clean(sentence))
    )


def _is_same_text(claim_terms: list[str], quoted_terms: list[str]) -> bool:
    if not quoted_terms or len(quoted_terms) > _MAX_QUOTED_LENGTH * len(claim_terms):
        return False
    common = sum(
        block.size for block in SequenceMatcher(None, claim_terms, quoted_terms, autojunk=False).get_matching_blocks()
    )
    return common >= _SAME_SHARE * len(claim_terms)
