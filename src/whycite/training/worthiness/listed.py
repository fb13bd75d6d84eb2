"""Papers that are given as lists of sentences with their citations in the text, as CL-SciSumm gives them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from whycite.documents.containers import unwrap
from whycite.documents.jsontext import as_list, as_text, records
from whycite.documents.markers import Marker, find_markers
from whycite.documents.model import Citation, Document, Reference, Section, Sentence
from whycite.documents.sources import DiskFolder, Source
from whycite.structure import label
from whycite.worthiness.examples import examples
from whycite.worthiness.model import LabelledDocument

__all__ = ["is_list", "listed"]

_TOGETHER = 6  # sentences of a section that are a paragraph: nothing says where paragraphs end
_LEAST = 4  # sentences that cite: in a paper with fewer the markers were not understood
_MOST = 100  # words of a sentence; longer ones are tables
_GAP = "\n\n"
# "Golding (1995)" is a citation where nothing but names tell so: these papers come without their references.
_DATES = "Spring Summer Autumn Fall Winter January February March April May June July August September October November"
_OTHERS = "|".join(["In", "The", "Table", "Figure", "Section", "December", *_DATES.split()])
_NAME = rf"(?!(?:{_OTHERS})\b)[^\W\d_a-z][^\W\d_]*[a-z][\w'’-]*"
_YEAR = r"\((?:1[89]|20)\d\d[a-z]?\)"
_SPOKEN = re.compile(rf"\b{_NAME}(?:(?:, | and | & |, and ){_NAME}){{0,3}},?(?: et al\.?,?)? {_YEAR}")
_RECORDS = re.compile(r"\.(?:jsonl|ndjson)(?:\.(?:gz|bz2|xz|zst))?$", re.IGNORECASE)


def is_list(path: Path) -> bool:
    """Whether a file gives papers as lists of sentences."""
    if not _RECORDS.search(path.name) or not path.is_file():
        return False
    first = next(records(_source(path)), None)
    sentences = as_list(first.data.get("sentences")) if first and first.data else []
    return bool(sentences) and isinstance(sentences[0], dict) and {"section", "text"} <= sentences[0].keys()


def listed(path: Path) -> Iterator[LabelledDocument]:
    """The papers of a file with one `{"paper_id": …, "title": …, "sentences": [{"section": …, "text": …}]}` a line."""
    for record in records(_source(path)):
        document = _document(record.data) if record.data else None
        if document and sum(bool(each.citations) for each in document.sentences) >= _LEAST:
            yield examples(label(document))


def _source(path: Path) -> Source:
    return unwrap(Source(DiskFolder(path.parent), path.name))


def _markers(text: str) -> Iterator[Marker]:
    at = 0
    spoken = (Marker((), found.start(), found.end()) for found in _SPOKEN.finditer(text))
    for marker in sorted([*find_markers(text, []), *spoken], key=lambda each: (each.start, -each.end)):
        if marker.start >= at:
            yield marker
            at = marker.end


def _document(data: Mapping[str, Any]) -> Document:
    given = [
        (as_text(each.get("section")), " ".join(as_text(each.get("text")).split()))
        for each in as_list(data.get("sentences"))
        if isinstance(each, dict) and each.get("section") != "Title"
    ]
    given = [(section, text) for section, text in given if text and text.count(" ") < _MOST]
    starts = np.cumsum([0, *(len(text) + len(_GAP) for _, text in given)])
    cited: dict[int, list[Citation]] = {}
    for marker in _markers(_GAP.join(text for _, text in given)):
        at = int(np.searchsorted(starts, marker.start, "right")) - 1
        own = (marker.start - int(starts[at]), min(marker.end - int(starts[at]), len(given[at][1])))
        cited.setdefault(at, []).append(Citation(marker.keys, *own, *own))
    sections = [name for name, _ in groupby(section for section, _ in given)]
    sentences, number = [], -1
    for at, (_, run) in enumerate(groupby(enumerate(given), key=lambda pair: pair[1][0])):
        for place, (index, (_, text)) in enumerate(run):
            number += place % _TOGETHER == 0
            sentences.append(Sentence(text, at, number, "", 0, len(text), tuple(cited.get(index, ()))))
    name = as_text(data.get("paper_id"))
    paper = Reference(name, title=as_text(data.get("title")))
    return Document(name, "sentences", paper, tuple(Section(name, 1) for name in sections), tuple(sentences))
