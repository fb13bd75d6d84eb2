"""A reader's labels of sentences: which plainly need a citation, which arguably, which not."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal
from zlib import crc32

from whycite.check.paragraphs import (
    LabelledDocument,
    LabelledParagraph,
    LabelledSentence,
    complete_text,
    prose_paragraphs,
)
from whycite.documents import read, stream
from whycite.documents.identity import paper_key
from whycite.documents.model import Document
from whycite.errors import UserError
from whycite.lab.train.worthiness.examples import is_sentence_list, stream_sentence_lists
from whycite.structure import label

__all__ = ["ReaderLabel", "ReaderLabels", "read_judged", "read_labels", "reader_documents", "set_aside_keys"]

_SET_ASIDE = "test"  # the part that is only measured on


@dataclass(frozen=True, slots=True)
class ReaderLabel:
    """What a reader says of one sentence: 2 if it plainly needs a citation, 1 if one may argue, 0 if not.

    The file with the labels has no text: a sentence is known by its index and the checksum of its text.
    """

    index: int
    checksum: int
    draft: Literal["A", "B"]  # A: the reader saw which neighbours cite; B: nothing around it did, as in a new draft
    label: int
    count: float  # sentences it stands for, as those that are less clear were drawn more often


@dataclass(frozen=True, slots=True)
class ReaderLabels:
    """A reader's labels of sentences of one document; `part` is the one to learn from or the one to measure on."""

    document: str  # a folder or file of the data; of a file with many, "#" and the number or the name of the document
    part: str
    sentences: tuple[ReaderLabel, ...]


def read_labels(path: Path) -> list[ReaderLabels]:
    """Read a file with labels."""
    try:
        records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        return [
            ReaderLabels(
                record["document"], record["part"], tuple(ReaderLabel(*fields) for fields in record["sentences"])
            )
            for record in records
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path} cannot be read as labels ({error!r})") from error


def read_judged(labels: Iterable[ReaderLabels], data: Path) -> Iterator[tuple[Document, ReaderLabels]]:
    """The documents with their types of sections, and the labels of those sentences that are read as they were."""
    by_file: dict[str, dict[str, ReaderLabels]] = defaultdict(dict)
    for own in labels:
        file, _, place = own.document.partition("#")
        by_file[file][place] = own
    for file, wanted in by_file.items():
        if "" in wanted:
            yield _judged(read(data / file), wanted[""])
            continue
        path, left = data / file, len(wanted)
        documents = stream_sentence_lists(path) if is_sentence_list(path) else stream(path)
        for number, document in enumerate(documents):
            found = wanted.get(str(number)) or wanted.get(Path(document.path).name)
            if found:
                yield _judged(document, found)
                left -= 1
            if not left:
                break


def _judged(document: Document, own: ReaderLabels) -> tuple[Document, ReaderLabels]:
    sentences = document.sentences
    same = tuple(
        label
        for label in own.sentences
        if label.index < len(sentences)
        and crc32(complete_text(sentences[label.index], document).encode("utf-8", "replace")) == label.checksum
    )
    return label(document), replace(own, sentences=same)


def reader_documents(labels: Iterable[ReaderLabels], data: Path) -> list[LabelledDocument]:
    """The paragraphs with labels to learn from; whether their sentences cite is not told."""
    documents = []
    for document, own in read_judged((own for own in labels if own.part != _SET_ASIDE), data):
        wanted = {label.index: label.label for label in own.sentences}
        paragraphs = tuple(
            LabelledParagraph(
                paragraph.headings,
                paragraph.section_type,
                tuple(
                    LabelledSentence(text, False, False, reader_label=wanted.get(index, -1))
                    for text, index in zip(paragraph.sentences, indices, strict=True)
                ),
            )
            for paragraph, indices in prose_paragraphs(document)
            if wanted.keys() & set(indices)
        )
        documents.append(LabelledDocument(_key(document), document.paper.title, "", paragraphs))
    return documents


def set_aside_keys(labels: Iterable[ReaderLabels], data: Path) -> set[str]:
    """The keys of the documents that nothing may be learned from, as `LabelledDocument` has them."""
    return {_key(document) for document, _ in read_judged((own for own in labels if own.part == _SET_ASIDE), data)}


def _key(document: Document) -> str:
    return paper_key(document.paper) or document.path
