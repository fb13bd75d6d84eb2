"""Documents packed for training elsewhere: the one step that needs all of whycite."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from whycite.documents import stream
from whycite.evaluation.records import facts_of, known_facts
from whycite.structure import label
from whycite.worthiness.examples import examples
from whycite.worthiness.model import LabelledDocument
from whycite.worthiness.pack import FULL, save

__all__ = ["prepare", "prepared"]

Watch = Callable[[int], None]


def prepare(paths: Sequence[Path], out: Path, most: int = FULL, watch: Watch = lambda read: None) -> int:
    """Pack the labelled paragraphs of all documents at the paths, the newest first; how many fit in `most` bytes."""
    found = prepared(paths, watch)
    return save(sorted(found, key=lambda each: (each.date, each.key), reverse=True), out, most)


def prepared(paths: Sequence[Path], watch: Watch = lambda read: None) -> Iterator[LabelledDocument]:
    """The labelled paragraphs of each document at the paths."""
    known = known_facts(paths)
    for read, document in enumerate((each for path in paths for each in stream(path)), start=1):
        yield examples(label(document), facts_of(document.paper, known).date)
        watch(read)
