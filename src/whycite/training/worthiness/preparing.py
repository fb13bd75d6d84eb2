"""Documents packed for training elsewhere: the one step that needs all of whycite."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from whycite.documents import stream
from whycite.evaluation.records import facts_of, known_facts
from whycite.structure import label
from whycite.worthiness.examples import examples
from whycite.worthiness.pack import FULL, save

__all__ = ["prepare"]


def prepare(
    paths: Sequence[Path], out: Path, most: int = FULL, watch: Callable[[int], None] = lambda read: None
) -> int:
    """Pack the labelled paragraphs of all documents at the paths, the newest first; how many fit in `most` bytes."""
    known = known_facts(paths)
    found = []
    for read, document in enumerate((each for path in paths for each in stream(path)), start=1):
        found.append(examples(label(document), facts_of(document.paper, known).date))
        watch(read)
    return save(sorted(found, key=lambda each: (each.date, each.key), reverse=True), out, most)
