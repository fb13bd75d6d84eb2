"""The labelled documents to train on: packed ones, papers in any format, or papers as lists of sentences."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from pathlib import Path
from typing import Any

import numpy as np

from whycite.check.paragraphs import LabelledDocument, labelled_document
from whycite.documents import stream
from whycite.documents.jsontext import as_list, as_text, read_records
from whycite.documents.markers import Marker, find_markers
from whycite.documents.model import Citation, Document, Reference, Section, Sentence
from whycite.documents.sources import DiskFolder, Source, unwrap
from whycite.lab.evaluate.topics import publication_record, read_publication_records
from whycite.lab.train.worthiness.examples import SUFFIX, load_labelled, save_labelled
from whycite.structure import label

__all__ = ["is_sentence_list", "pack_labelled", "read_labelled", "read_sentence_lists"]


_PARAGRAPH_SENTENCES = 6  # sentences per paragraph, since nothing marks where paragraphs end
_MIN_CITING = 4  # citing sentences: with fewer, the paper's markers were not recognised
_MAX_WORDS = 100  # words per sentence; longer ones are tables
_GAP = "\n\n"
# "Golding (1995)" is recognised as a citation by names alone: these papers come without their references.
_DATES = "Spring Summer Autumn Fall Winter January February March April May June July August September October November"
_NOT_NAMES = "|".join(["In", "The", "Table", "Figure", "Section", "December", *_DATES.split()])
_NAME = rf"(?!(?:{_NOT_NAMES})\b)[^\W\d_a-z][^\W\d_]*[a-z][\w'’-]*"
_YEAR = r"\((?:1[89]|20)\d\d[a-z]?\)"
_NARRATIVE = re.compile(rf"\b{_NAME}(?:(?:, | and | & |, and ){_NAME}){{0,3}},?(?: et al\.?,?)? {_YEAR}")
_RECORDS = re.compile(r"\.(?:jsonl|ndjson)(?:\.(?:gz|bz2|xz|zst))?$", re.IGNORECASE)


def is_sentence_list(path: Path) -> bool:
    """Whether a file has papers as lists of sentences."""
    if not _RECORDS.search(path.name) or not path.is_file():
        return False
    record = next(read_records(_source(path)), None)
    sentences = as_list(record.data.get("sentences")) if record and record.data else []
    return bool(sentences) and isinstance(sentences[0], dict) and {"section", "text"} <= sentences[0].keys()


def read_sentence_lists(path: Path) -> Iterator[LabelledDocument]:
    """Read papers from lines like `{"paper_id": …, "title": …, "sentences": [{"section": …, "text": …}]}`."""
    for record in read_records(_source(path)):
        document = _document(record.data) if record.data else None
        if document and sum(bool(sentence.citations) for sentence in document.sentences) >= _MIN_CITING:
            yield labelled_document(label(document))


def _source(path: Path) -> Source:
    return unwrap(Source(DiskFolder(path.parent), path.name))


def _markers(text: str) -> Iterator[Marker]:
    end = 0
    narrative = (Marker((), match.start(), match.end()) for match in _NARRATIVE.finditer(text))
    for marker in sorted(
        [*find_markers(text, []), *narrative], key=lambda candidate: (candidate.start, -candidate.end)
    ):
        if marker.start >= end:
            yield marker
            end = marker.end


def _document(data: Mapping[str, Any]) -> Document:
    section_texts = [
        (as_text(entry.get("section")), " ".join(as_text(entry.get("text")).split()))
        for entry in as_list(data.get("sentences"))
        if isinstance(entry, dict) and entry.get("section") != "Title"
    ]
    section_texts = [(section, text) for section, text in section_texts if text and text.count(" ") < _MAX_WORDS]
    starts = np.cumsum([0, *(len(text) + len(_GAP) for _, text in section_texts)])
    cited: dict[int, list[Citation]] = {}
    for marker in _markers(_GAP.join(text for _, text in section_texts)):
        position = int(np.searchsorted(starts, marker.start, "right")) - 1
        offsets = (
            marker.start - int(starts[position]),
            min(marker.end - int(starts[position]), len(section_texts[position][1])),
        )
        cited.setdefault(position, []).append(Citation(marker.keys, *offsets, *offsets))
    sections = [name for name, _ in groupby(section for section, _ in section_texts)]
    sentences, number = [], -1
    for position, (_, run) in enumerate(groupby(enumerate(section_texts), key=lambda pair: pair[1][0])):
        for place, (index, (_, text)) in enumerate(run):
            number += place % _PARAGRAPH_SENTENCES == 0
            sentences.append(Sentence(text, position, number, "", 0, len(text), tuple(cited.get(index, ()))))
    name = as_text(data.get("paper_id"))
    paper = Reference(name, title=as_text(data.get("title")))
    return Document(name, "sentences", paper, tuple(Section(name, 1) for name in sections), tuple(sentences))


Watch = Callable[[int], None]


def read_labelled(paths: Sequence[Path], watch: Watch = lambda read: None) -> Iterator[LabelledDocument]:
    """Read the labelled documents at the paths: packed files as they are, papers by CiteWorth's rules."""
    packs = [path for path in paths if path.name.endswith(SUFFIX)]
    lists = [path for path in paths if path not in packs and is_sentence_list(path)]
    papers = [path for path in paths if path not in packs and path not in lists]
    documents = chain(
        chain.from_iterable(map(load_labelled, packs)),
        chain.from_iterable(map(read_sentence_lists, lists)),
        _papers(papers) if papers else (),
    )
    for read, document in enumerate(documents, start=1):
        yield document
        watch(read)


def pack_labelled(paths: Sequence[Path], out: Path, watch: Watch = lambda read: None) -> int:
    """Pack the labelled paragraphs of all documents at the paths, newest first; return the number of documents."""
    return save_labelled(
        sorted(read_labelled(paths, watch), key=lambda document: (document.date, document.key), reverse=True), out
    )


def _papers(paths: Sequence[Path]) -> Iterator[LabelledDocument]:
    metadata = read_publication_records(paths) if paths else {}
    for document in (document for path in paths for document in stream(path)):
        yield labelled_document(label(document), publication_record(document.paper, metadata).date)
