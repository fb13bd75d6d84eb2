"""Labelled documents in one packed file: lines of JSON, compressed by xz; needs nothing but Python to read."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from whycite.errors import UserError
from whycite.worthiness.model import LabelledDocument, LabelledParagraph, LabelledSentence

__all__ = ["ENDING", "FULL", "load", "save"]

_FORM = "whycite-worthiness-1"
_WORTHY, _CONFORM = 1, 2
_PRESET = 6  # higher ones are slower and save nothing
ENDING = ".jsonl.xz"
"""How the names of packed files end."""

FULL = 1 << 62
"""More bytes than any file has."""


def save(documents: Iterable[LabelledDocument], path: Path, most: int = FULL) -> int:
    """Write documents until the file has nearly `most` bytes; how many were written."""
    written = 0
    compressor = lzma.LZMACompressor(preset=_PRESET)
    with path.open("wb") as file:
        size = file.write(compressor.compress(_line(_FORM)))
        raw = 0  # what the compressor still holds back, at the most
        for document in documents:
            line = _line(_record(document))
            if size + raw // 3 + len(line) // 3 > most:
                break
            made = compressor.compress(line)
            size, raw = size + file.write(made), 0 if made else raw + len(line)
            written += 1
        file.write(compressor.flush())
    return written


def load(path: Path) -> Iterator[LabelledDocument]:
    """The documents of a packed file, one after the other."""
    try:
        with lzma.open(path, "rt", encoding="utf-8") as file:
            records = map(json.loads, file)
            if next(records, None) != _FORM:
                raise UserError(f"{path} holds no labelled paragraphs of this version: make it anew")
            for record in records:
                yield _document(*record)
    except (OSError, lzma.LZMAError, EOFError, ValueError, TypeError) as error:
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
        ]
        for paragraph in document.paragraphs
    ]
    return [document.key, document.title, document.date, paragraphs]


def _document(key: str, title: str, date: str, paragraphs: list[list[Any]]) -> LabelledDocument:
    return LabelledDocument(key, title, date, tuple(_paragraph(*paragraph) for paragraph in paragraphs))


def _paragraph(
    headings: list[str], type: str | None, signs: str, texts: list[str], named: dict[str, str]
) -> LabelledParagraph:
    sentences = tuple(
        LabelledSentence(text, bool(int(sign) & _WORTHY), bool(int(sign) & _CONFORM), named.get(str(at), ""))
        for at, (sign, text) in enumerate(zip(signs, texts, strict=True))
    )
    return LabelledParagraph(tuple(headings), type, sentences)
