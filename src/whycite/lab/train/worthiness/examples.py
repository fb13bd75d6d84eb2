"""Labelled documents to train on, packed or read from papers, and noise that makes sentences look like drafts."""

from __future__ import annotations

import bz2
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from whycite.check.paragraphs import LabelledDocument, LabelledParagraph, LabelledSentence, labelled_document
from whycite.documents import stream
from whycite.documents.jsontext import as_list, as_text, read_records
from whycite.documents.markers import Marker, find_markers
from whycite.documents.model import Citation, Document, Reference, Section, Sentence
from whycite.documents.sources import DiskFolder, Source, unwrap
from whycite.errors import UserError
from whycite.lab.evaluate.topics import publication_record, read_publication_records
from whycite.structure import label

__all__ = [
    "NOISES",
    "SUFFIX",
    "add_noise",
    "is_sentence_list",
    "load_labelled",
    "pack_labelled",
    "read_labelled",
    "read_sentence_lists",
    "save_labelled",
    "stream_sentence_lists",
]


_FORM = "whycite-worthiness-4"
_WORTHY, _CONFORM, _HAD_HOLE = 1, 2, 4
SUFFIX = ".jsonl.bz2"
"""The suffix of packed files."""


def save_labelled(documents: Iterable[LabelledDocument], path: Path) -> int:
    """Write documents into one file; return how many there were."""
    written = 0
    with bz2.open(path, "wb") as file:
        file.write(_line(_FORM))
        for document in documents:
            file.write(_line(_record(document)))
            written += 1
    return written


def load_labelled(path: Path) -> Iterator[LabelledDocument]:
    """Yield the documents of a packed file."""
    try:
        with bz2.open(path, "rt", encoding="utf-8") as file:
            records = map(json.loads, file)
            if next(records, None) != _FORM:
                raise UserError(f"{path} was written by another version; create it again with --pack")
            for record in records:
                yield _unpacked(*record)
    except (OSError, EOFError, ValueError, TypeError) as error:
        raise UserError(
            f"{path} cannot be read as labelled paragraphs ({error}); create it again with --pack"
        ) from error


def _line(record: Any) -> bytes:
    return (json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n").encode("utf-8", "replace")


def _record(document: LabelledDocument) -> list[Any]:
    """Keep texts together and signs together, which compresses best."""
    paragraphs = [
        [
            paragraph.headings,
            paragraph.section_type,
            "".join(
                str(sentence.worthy * _WORTHY + sentence.conform * _CONFORM + sentence.had_hole * _HAD_HOLE)
                for sentence in paragraph.sentences
            ),
            [sentence.text for sentence in paragraph.sentences],
            {
                index: sentence.text_with_names
                for index, sentence in enumerate(paragraph.sentences)
                if sentence.text_with_names
            },
            {
                index: sentence.group_offsets
                for index, sentence in enumerate(paragraph.sentences)
                if sentence.group_offsets
            },
        ]
        for paragraph in document.paragraphs
    ]
    return [document.key, document.title, document.date, paragraphs, document.titles]


def _unpacked(key: str, title: str, date: str, paragraphs: list[list[Any]], titles: list[str]) -> LabelledDocument:
    return LabelledDocument(key, title, date, tuple(_paragraph(*paragraph) for paragraph in paragraphs), tuple(titles))


def _paragraph(
    headings: list[str],
    type: str | None,
    signs: str,
    texts: list[str],
    texts_with_names: dict[str, str],
    places: dict[str, list[int]],
) -> LabelledParagraph:
    sentences = tuple(
        LabelledSentence(
            text,
            bool(int(sign) & _WORTHY),
            bool(int(sign) & _CONFORM),
            texts_with_names.get(str(index), ""),
            tuple(places.get(str(index), ())),
            bool(int(sign) & _HAD_HOLE),
        )
        for index, (sign, text) in enumerate(zip(signs, texts, strict=True))
    )
    return LabelledParagraph(tuple(headings), type, sentences)


_COMMANDS = (r"\emph{", r"\textit{", r"\textbf{", r"\texttt{", r"{\em ", r"{\it ")
_MACROS = (r"\ours", r"\method", r"\eg", r"\ie", r"\xspace", r"\noindent", r"\vspace{1em}", r"\label{sec:main}")
_NOTES = ("TODO", "XXX", "???", "[TODO]", "(cite)", "TBD", "FIXME")
_HUSKS = ("()", "( )", "[]", "[ ]", "(; )", "(,)", "")
_FIGURE = re.compile(r"\b(Fig(?:ure|\.)|Table|Section|Equation|Eq\.) ?(?:S?\d+[A-Z]?)")
_STOP = re.compile(r"[.!?]$")


def add_noise(text: str, random: Random) -> str:
    """Apply one kind of noise found in drafts; the same draw gives the same text."""
    noisy_text = random.choice(NOISES)(text, random)
    return noisy_text if noisy_text.strip() else text


def _latex(text: str, random: Random) -> str:
    """Add commands, ties and symbols that a reader failed to strip."""
    text = _FIGURE.sub(lambda match: f"{match[1]}~\\ref{{{'fig' if match[1][0] == 'F' else 'tab'}:a}}", text)
    words = text.replace("%", r"\%").replace("–", "--").replace("‘", "`").replace("’", "'").split(" ")
    for _ in range(1 + len(words) // 12):
        position = random.randrange(len(words))
        draw = random.random()
        if draw < 0.4:
            words[position] = f"{random.choice(_COMMANDS)}{words[position]}}}"
        elif draw < 0.6:
            words[position] = f"${words[position]}$"
        elif draw < 0.8:
            words[position] = (
                f"{words[position]}~{words.pop(position + 1)}" if position + 1 < len(words) else words[position]
            )
        else:
            words[position] = f"{random.choice(_MACROS)} {words[position]}"
    return " ".join(words)


def _unfinished(text: str, random: Random) -> str:
    """Cut off the end, as if not yet written."""
    words = text.split(" ")
    if len(words) < 6:
        return _STOP.sub("", text)
    cut = " ".join(words[: random.randrange(max(5, len(words) // 2), len(words))])
    return cut + random.choice(("", "", " ...", "…", f" {random.choice(_NOTES)}"))


def _unpolished(text: str, random: Random) -> str:
    """Drop the capital or the full stop, or add a note to oneself."""
    draw = random.random()
    if draw < 0.35:
        return _STOP.sub("", text)
    if draw < 0.7:
        return text[:1].lower() + text[1:]
    return f"{random.choice(_NOTES)} {text}" if draw < 0.85 else f"{text} {random.choice(_NOTES)}"


def _husk(text: str, random: Random) -> str:
    """Add the remains of a carelessly removed marker, even to sentences that never had one."""
    husk = random.choice(_HUSKS)
    if random.random() < 0.6:
        stop = text[-1:] if _STOP.search(text) else ""
        return f"{text.removesuffix(stop)} {husk}{stop}"
    words = text.split(" ")
    words.insert(random.randrange(len(words) + 1), husk)
    return " ".join(words)


NOISES: tuple[Callable[[str, Random], str], ...] = (_latex, _unfinished, _unpolished, _husk)


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
    for document in stream_sentence_lists(path):
        if sum(bool(sentence.citations) for sentence in document.sentences) >= _MIN_CITING:
            yield labelled_document(label(document))


def stream_sentence_lists(path: Path) -> Iterator[Document]:
    """Yield such papers as documents, without types of sections."""
    for record in read_records(_source(path)):
        if record.data:
            yield _document(record.data)


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
