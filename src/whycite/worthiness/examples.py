"""Labelled paragraphs of a document, by CiteWorth's rules as SCOPE applies them (4.1.2, 4.2.2)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from whycite.documents.identity import paper_key
from whycite.documents.model import Document, Section, Sentence
from whycite.evidence.groups import Cut, cut, joined
from whycite.evidence.marks import MARK, NAMED, marked
from whycite.evidence.words import content_words, leads_on
from whycite.worthiness.bibliography import titles
from whycite.worthiness.model import LabelledDocument, LabelledParagraph, LabelledSentence

__all__ = ["UNLABELLED", "examples", "paths", "unmarked"]

UNLABELLED = frozenset(["abstract", "acknowledgement", "declaration", "references"])
"""Types of sections where custom, not the sentence, decides whether there is a citation."""

_SHORTEST = 20  # characters of a conform sentence
_END = re.compile(r"[.!?…][”’\"')\]]*$")
_YEAR = re.compile(r"[\s,]*[(\[]?\s*(?:1[89]|20)\d\d[a-z]?\b[)\]]?")
_TWO_STOPS = re.compile(r"\bal\.\.(?!\.)")
# A marker that the reader did not recognise, so that it is still in the text.
_LEFT_OVER = re.compile(
    r"\bet al\.?,?\s?[(\[]?(?:1[89]|20)\d\d|\([^\W\d_a-z][\w'’-]+(?: and [\w'’-]+)?,? (?:1[89]|20)\d\d\)"
)


def examples(document: Document, date: str = "") -> LabelledDocument:
    """The paragraphs of a document whose sections have their types.

    A sentence is worthy when it cites. Captions, notes, tables and headings are not asked about, nor sections where
    nobody cites; a sentence of nothing but citations, and one that holds a marker nobody recognised, teach nothing.
    """
    above = paths(document.sections)
    listed = titles(document.references)
    paragraphs = []
    for (section, _), sentences in groupby(document.sentences, key=lambda each: (each.section, each.paragraph)):
        type = document.sections[section].type if section < len(document.sections) else None
        if type in UNLABELLED:
            continue
        if found := tuple(_labelled(sentences, document)):
            paragraphs.append(LabelledParagraph(above[section] if section < len(above) else (), type, found))
    year = f"{document.paper.year:04}" if document.paper.year else ""
    key = paper_key(document.paper) or document.path
    return LabelledDocument(key, document.paper.title, date or year, tuple(paragraphs), tuple(listed))


def unmarked(sentence: Sentence, document: Document) -> str:
    """The text as worthiness sees it: citations gone, with their brackets and the names that belong to them."""
    return joined(cut(sentence, document).texts) if sentence.citations else " ".join(sentence.text.split())


def _labelled(sentences: Iterator[Sentence], document: Document) -> Iterator[LabelledSentence]:
    for sentence in sentences:
        if sentence.kind != "prose":
            continue
        parts = cut(sentence, document)
        text = unmarked(sentence, document)
        if not content_words(text) or _LEFT_OVER.search(text):
            continue
        named = _with_names(sentence) if sentence.citations else ""
        worthy = bool(sentence.citations)
        places = tuple(_before(parts, at, text) for at in range(len(parts.groups)))
        yield LabelledSentence(text, worthy, _conforms(text, parts), named if named != text else "", places)


def _before(parts: Cut, group: int, text: str) -> int:
    """How many characters of the text without citations stand before a group."""
    return min(len(joined(parts.texts[: group + 1])), len(text))


def _conforms(text: str, parts: Cut) -> bool:
    """Whether the sentence is whole without its citations: at most one group, and that at its end."""
    whole = len(text) >= _SHORTEST and not text[0].islower() and text[0].isalnum() and bool(_END.search(text))
    if not parts.groups:
        return whole
    before, after = parts.texts[0], parts.texts[-1]
    ends = len(parts.groups) == 1 and not content_words(after) and not re.search(r"\w", after)
    return whole and ends and not parts.groups[0].named and not leads_on(before)


def _with_names(sentence: Sentence) -> str:
    """The text as one writes it who knows whom to cite but has no citation yet: "Doe et al. showed"."""
    citations = iter(sorted(sentence.citations, key=lambda citation: citation.text_start))

    def name(sign: re.Match[str]) -> str:
        citation = next(citations)
        return _YEAR.sub("", sentence.text[citation.text_start : citation.text_end]) if sign[0] == NAMED else sign[0]

    text = joined(" ".join(part.split()) for part in MARK.split(MARK.sub(name, marked(sentence))))
    return _TWO_STOPS.sub("al.", text)


def paths(sections: Sequence[Section]) -> list[tuple[str, ...]]:
    """For each section the headings from the outermost to its own."""
    above: list[Section] = []
    found = []
    for section in sections:
        while above and above[-1].level >= section.level:
            above.pop()
        above.append(section)
        found.append(tuple(each.heading for each in above if each.heading))
    return found
