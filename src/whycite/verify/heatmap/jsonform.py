"""A verification with its document as JSON: what the page is made of, and what programs read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from whycite.documents.model import Document, Sentence
from whycite.verify.heatmap.heat import by_index
from whycite.verify.jsonform import as_dict
from whycite.verify.model import Passage, Verification
from whycite.verify.prose import with_asides

__all__ = ["as_json"]

_DIGITS = 4  # of a score


def as_json(document: Document, verification: Verification) -> dict[str, Any]:
    """The verdict, the passages best first, and every sentence in reading order with its score and rank."""
    document, known = with_asides(document), by_index(verification)
    return as_dict(verification) | {
        "document": {"path": document.path, "title": document.paper.title, "year": document.paper.year},
        "sections": [{"heading": each.heading, "level": each.level, "type": each.type} for each in document.sections],
        "sentences": [_sentence(sentence, index, known) for index, sentence in enumerate(document.sentences)],
    }


def _sentence(sentence: Sentence, index: int, known: Mapping[int, Passage]) -> dict[str, Any]:
    passage = known.get(index)
    return {
        "index": index,
        "text": sentence.text,
        "section": sentence.section,
        "paragraph": sentence.paragraph,
        "kind": sentence.kind,
        "score": round(passage.score, _DIGITS) if passage else None,  # None: it was not scored
        "rank": passage.rank if passage else None,
    }
