"""Labelled documents in one packed file: lines of JSON, compressed by bzip2; needs nothing but Python to read."""

from __future__ import annotations

import bz2
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from whycite.errors import UserError
from whycite.worthiness.model import LabelledDocument, LabelledParagraph, LabelledSentence

__all__ = ["ENDING", "load", "save"]

_FORM = "whycite-worthiness-3"
_WORTHY, _CONFORM = 1, 2
ENDING = ".jsonl.bz2"
"""How the names of packed files end."""


def save(documents: Iterable[LabelledDocument], path: Path) -> int:
    """Write documents into one file; how many there were."""
    written = 0
    with bz2.open(path, "wb") as file:
        file.write(_line(_FORM))
        for document in documents:
            file.write(_line(_record(document)))
            written += 1
    return written


def load(path: Path) -> Iterator[LabelledDocument]:
    """The documents of a packed file, one after the other."""
    try:
        with bz2.open(path, "rt", encoding="utf-8") as file:
            records = map(json.loads, file)
            if next(records, None) != _FORM:
                raise UserError(f"{path} holds no labelled paragraphs of this version: make it anew")
            for record in records:
                yield _document(*record)
    except (OSError, EOFError, ValueError, TypeError) as error:
        raise UserError(f"{path} cannot be read as labelled paragraphs ({error}): make it anew") from error


def _line(record: Any) -> bytes:
    return (json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n").encode("utf-8", "replace")


def _record(document: LabelledDocument) -> list[Any]:
    """Texts together and signs together compress best."""
    paragraphs = [
        [
            paragraph.headings,
            paragraph.section_type,
            "".join(str(each.worthy * _WORTHY + each.conform * _CONFORM) for each in paragraph.sentences),
            [each.text for each in paragraph.sentences],
            {at: each.named for at, each in enumerate(paragraph.sentences) if each.named},
            {at: each.places for at, each in enumerate(paragraph.sentences) if each.places},
        ]
        for paragraph in document.paragraphs
    ]
    return [document.key, document.title, document.date, paragraphs, document.titles]


def _document(key: str, title: str, date: str, paragraphs: list[list[Any]], titles: list[str]) -> LabelledDocument:
    return LabelledDocument(key, title, date, tuple(_paragraph(*paragraph) for paragraph in paragraphs), tuple(titles))


def _paragraph(
    headings: list[str],
    type: str | None,
    signs: str,
    texts: list[str],
    named: dict[str, str],
    places: dict[str, list[int]],
) -> LabelledParagraph:
    sentences = tuple(
        LabelledSentence(
            text,
            bool(int(sign) & _WORTHY),
            bool(int(sign) & _CONFORM),
            named.get(str(at), ""),
            tuple(places.get(str(at), ())),
        )
        for at, (sign, text) in enumerate(zip(signs, texts, strict=True))
    )
    return LabelledParagraph(tuple(headings), type, sentences)
