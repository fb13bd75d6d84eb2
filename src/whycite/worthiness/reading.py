"""The paragraphs of a document as a detector reads them."""

from __future__ import annotations

from itertools import groupby

from whycite.documents.model import Document
from whycite.worthiness.detector import Paragraph
from whycite.worthiness.examples import UNLABELLED, paths, unmarked

__all__ = ["paragraphs"]


def paragraphs(document: Document) -> list[tuple[Paragraph, tuple[int, ...]]]:
    """Every paragraph of prose without its citations, and which of the document's sentences are in it.

    Captions, notes, tables and headings are not asked about, nor sections where nobody cites.
    """
    above = paths(document.sections)
    found = []
    for (section, _), run in groupby(
        enumerate(document.sentences), key=lambda pair: (pair[1].section, pair[1].paragraph)
    ):
        known = section < len(document.sections)
        type = document.sections[section].type if known else None
        prose = [(index, sentence) for index, sentence in run if sentence.kind == "prose"]
        if prose and type not in UNLABELLED:
            texts = tuple(unmarked(sentence, document) for _, sentence in prose)
            found.append((Paragraph(texts, above[section] if known else (), type), tuple(index for index, _ in prose)))
    return found
