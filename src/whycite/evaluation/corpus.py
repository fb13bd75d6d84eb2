"""The papers of topics, gathered in one pass over the data and parted by date (ILCiteR, sections 5.1 and 7.1)."""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile

from whycite.documents import Document, Reference, stream
from whycite.documents.identity import group, paper_key
from whycite.errors import UserError
from whycite.evaluation.records import Known, facts_of
from whycite.evaluation.topics import Topic

__all__ = ["Entry", "Shelf", "Watch", "gather", "part"]

Watch = Callable[[str, int, int | None], None]
"""Told what is being done, how much of it is done, and of how much, where that is known."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A document of a topic: what it is, when it came out, and where it stands on the shelf."""

    paper: Reference
    date: str
    path: str
    at: tuple[int, int]

    @property
    def key(self) -> str:
        """The key of the paper, or where the document stands if nothing says what it is."""
        return paper_key(self.paper) or self.path


class Shelf:
    """Documents kept on disk until it is known what they are for; they are read once, which takes the time."""

    def __init__(self, folder: Path) -> None:
        self._file = TemporaryFile(dir=folder)  # noqa: SIM115 (closed by close)

    def put(self, document: Document) -> tuple[int, int]:
        """Keep a document; where it stands."""
        data = zlib.compress(pickle.dumps(document, pickle.HIGHEST_PROTOCOL), 1)
        return self._file.seek(0, 2), self._file.write(data)

    def get(self, at: tuple[int, int]) -> Document:
        """The document that stands there."""
        start, length = at
        self._file.seek(start)
        document: Document = pickle.loads(zlib.decompress(self._file.read(length)))
        return document

    def close(self) -> None:
        """Give the documents up."""
        self._file.close()


def gather(
    paths: Iterable[Path], topics: Sequence[Topic], known: Known, shelf: Shelf, watch: Watch
) -> tuple[Mapping[str, list[Entry]], list[str]]:
    """The documents of each topic, by the topic's name, and a sentence for each file that could not be read."""
    found: dict[str, list[Entry]] = {topic.name: [] for topic in topics}
    unread: list[str] = []
    for read, document in enumerate((document for path in paths for document in stream(path)), start=1):
        watch("reading papers", read, None)
        if document.warnings and not document.sentences:
            unread.append(document.warnings[0])
        facts = facts_of(document.paper, known)
        fitting = [topic for topic in topics if topic.holds(facts.subjects, document.paper.abstract)]
        if fitting:
            entry = Entry(document.paper, facts.date, document.path, shelf.put(document))
            for topic in fitting:
                found[topic.name].append(entry)
    return found, unread


def part(entries: Iterable[Entry], held_out: int) -> tuple[list[Entry], list[Entry]]:
    """The papers for the library and the most recent ones, which are held out; of papers that are the same only one.

    Most recent first, of one day by key; a paper without date is older than all others.
    """
    if held_out < 1:
        raise UserError(f"at least one paper must be held out, not {held_out}")
    ordered = sorted(
        sorted(entries, key=lambda entry: (entry.key, entry.path)), key=lambda entry: entry.date, reverse=True
    )
    once: dict[int, Entry] = {}
    for number, entry in zip(group(entry.paper for entry in ordered), ordered, strict=True):
        once.setdefault(number, entry)
    papers = list(once.values())
    if len(papers) <= held_out:
        raise UserError(f"{len(papers)} papers are too few to hold out {held_out}; give more data or lower --held-out")
    return papers[held_out:], papers[:held_out]
