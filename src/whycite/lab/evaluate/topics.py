"""Papers of topics, gathered in one pass and held out by date (ILCiteR, sections 5.1 and 7.1)."""

from __future__ import annotations

import pickle
import re
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from whycite.documents import Document, Reference, stream
from whycite.documents.identity import group_references, normalise_doi, paper_key
from whycite.documents.jsontext import as_list, as_text, read_records
from whycite.documents.sources import DiskFolder, Source, unwrap
from whycite.errors import UserError

__all__ = [
    "CorpusEntry",
    "DocumentSpool",
    "PublicationRecord",
    "PublicationRecords",
    "Topic",
    "Watch",
    "gather_papers",
    "hold_out_newest",
    "parse_topics",
    "publication_record",
    "read_publication_records",
    "resolve",
]


_RECORDS = re.compile(r"\.(?:jsonl|ndjson|json)(?:\.(?:gz|bz2|xz|zst))?$", re.IGNORECASE)
_DATE = re.compile(r"\d{4}(?:-\d\d){0,2}")


@dataclass(frozen=True, slots=True)
class PublicationRecord:
    """A paper's publication date ("2025-10-20", "2025" or "") and subjects."""

    date: str = ""
    subjects: tuple[str, ...] = ()


PublicationRecords = dict[str, PublicationRecord]
"""Records by DOI, or by their own id if they have none."""


def publication_record(paper: Reference, publications: PublicationRecords) -> PublicationRecord:
    """The record of a document's own paper, with the year if it has no date."""
    publication = publications.get(paper.doi) or publications.get(paper.id) or PublicationRecord()
    return PublicationRecord(publication.date or (f"{paper.year:04}" if paper.year else ""), publication.subjects)


def read_publication_records(paths: Iterable[Path]) -> PublicationRecords:
    """Read all publication records under the paths; files in other formats have none."""
    publications = (
        _publication_entry(record.data)
        for path in paths
        for file in _files(path)
        for record in read_records(file)
        if record.data
    )
    return {name: publication for name, publication in publications if name}


def _files(path: Path) -> Iterator[Source]:
    folder = DiskFolder(path if path.is_dir() else path.parent)
    names = folder.names() if path.is_dir() else [path.name]
    return (unwrap(Source(folder, name)) for name in names if _RECORDS.search(name))


def _publication_entry(data: dict[str, Any]) -> tuple[str, PublicationRecord]:
    date = _DATE.match(as_text(data.get("pub_date") or data.get("publish_time")))
    subjects = tuple(subject for subject in as_list(data.get("subjects")) if isinstance(subject, str))
    name = normalise_doi(as_text(data.get("doi"))) or as_text(data.get("paper_id"))
    return name, PublicationRecord(date[0] if date else "", subjects)


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic, defined by its papers' subject or by terms of which abstracts contain at least one."""

    name: str
    subject: str = ""
    terms: tuple[str, ...] = ()

    @property
    def rule(self) -> str:
        """Which papers belong to the topic, in words."""
        return f"subject {self.subject}" if self.subject else f"abstract holds {' or '.join(self.terms)}"

    def holds(self, subjects: Collection[str], abstract: str) -> bool:
        """Whether a paper with these subjects and this abstract belongs to the topic."""
        return self.subject in subjects if self.subject else any(_stands_in(term, abstract) for term in self.terms)


def parse_topics(text: str) -> tuple[Topic, ...]:
    """Parse topics like "Ecology,NER=named entity recognition|NER", without checking that the subjects exist.

    A name alone is a subject or the start of one; terms to find in abstracts follow "=".
    """
    topics = []
    for part in text.split(","):
        name, sign, words = (piece.strip() for piece in part.partition("="))
        terms = tuple(term.strip() for term in words.split("|") if term.strip())
        if not name or (sign and not terms):
            raise UserError(f"'{part.strip()}' is not a topic; give a subject, or NAME=words|ABBREVIATION")
        topics.append(Topic(name, "" if sign else name, terms))
    return tuple(topics)


def resolve(topics: Sequence[Topic], subjects: Iterable[str]) -> list[Topic]:
    """Replace the topics' subjects by their full names in the papers."""
    all_subjects = sorted(set(subjects))
    return [
        Topic(topic.name, _resolve_subject(topic.subject, all_subjects)) if topic.subject else topic for topic in topics
    ]


def _resolve_subject(name: str, subjects: Sequence[str]) -> str:
    if not subjects:
        raise UserError(
            f"the papers have no subjects; describe '{name}' by words in abstracts: --topics '{name}=words|ABBR'"
        )
    low = name.lower()
    exact = [subject for subject in subjects if subject.lower() == low]
    fitting = exact or [subject for subject in subjects if subject.lower().startswith(low)]
    if len(fitting) != 1:
        fault = "is ambiguous" if fitting else "is not a subject of these papers"
        raise UserError(f"topic '{name}' {fault}; choose one of: {', '.join(fitting or subjects)}")
    return fitting[0]


def _stands_in(term: str, text: str) -> bool:
    """Whether a text contains a term as whole words; terms in capitals are case-sensitive."""
    flags = 0 if term.isupper() else re.IGNORECASE
    pattern = r"\s+".join(map(re.escape, term.split()))
    return re.search(rf"(?<!\w){pattern}(?!\w)", text, flags) is not None


Watch = Callable[[str, int, int | None], None]
"""Called with the current stage, the amount done and the total, if known."""


@dataclass(frozen=True, slots=True)
class CorpusEntry:
    """A document of a topic: its paper, its date and its location in the spool."""

    paper: Reference
    date: str
    path: str
    location: tuple[int, int]

    @property
    def key(self) -> str:
        """The paper's key, or the document's path if it cannot be identified."""
        return paper_key(self.paper) or self.path


class DocumentSpool:
    """Documents kept on disk until their use is known, because parsing them twice would be slow."""

    def __init__(self, folder: Path) -> None:
        self._file = TemporaryFile(dir=folder)  # noqa: SIM115 (closed by close)

    def put(self, document: Document) -> tuple[int, int]:
        """Store a document and return its location."""
        data = zlib.compress(pickle.dumps(document, pickle.HIGHEST_PROTOCOL), 1)
        return self._file.seek(0, 2), self._file.write(data)

    def get(self, location: tuple[int, int]) -> Document:
        """Load the document at a location."""
        start, length = location
        self._file.seek(start)
        document: Document = pickle.loads(zlib.decompress(self._file.read(length)))
        return document

    def close(self) -> None:
        """Discard all documents."""
        self._file.close()


def gather_papers(
    paths: Iterable[Path], topics: Sequence[Topic], publications: PublicationRecords, spool: DocumentSpool, watch: Watch
) -> tuple[Mapping[str, list[CorpusEntry]], list[str]]:
    """Gather documents by topic name; also return a message for each unreadable file."""
    entries: dict[str, list[CorpusEntry]] = {topic.name: [] for topic in topics}
    unread: list[str] = []
    for number, document in enumerate((document for path in paths for document in stream(path)), start=1):
        watch("reading papers", number, None)
        if document.warnings and not document.sentences:
            unread.append(document.warnings[0])
        publication = publication_record(document.paper, publications)
        fitting = [topic for topic in topics if topic.holds(publication.subjects, document.paper.abstract)]
        if fitting:
            entry = CorpusEntry(document.paper, publication.date, document.path, spool.put(document))
            for topic in fitting:
                entries[topic.name].append(entry)
    return entries, unread


def hold_out_newest(entries: Iterable[CorpusEntry], held_out: int) -> tuple[list[CorpusEntry], list[CorpusEntry]]:
    """Split unique papers into those for the library and the most recent ones, which are held out.

    Most recent first, ties broken by key; papers without a date count as oldest.
    """
    if held_out < 1:
        raise UserError(f"at least one paper must be held out, not {held_out}")
    ordered = sorted(
        sorted(entries, key=lambda entry: (entry.key, entry.path)), key=lambda entry: entry.date, reverse=True
    )
    unique_entries: dict[int, CorpusEntry] = {}
    for number, entry in zip(group_references(entry.paper for entry in ordered), ordered, strict=True):
        unique_entries.setdefault(number, entry)
    papers = list(unique_entries.values())
    if len(papers) <= held_out:
        raise UserError(f"cannot hold out {held_out} of {len(papers)} papers; add data or lower --held-out")
    return papers[held_out:], papers[:held_out]
