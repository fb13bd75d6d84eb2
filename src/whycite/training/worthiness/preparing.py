"""The labelled documents to train from: packed ones, papers of any format, papers given as lists of sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from whycite.documents import stream
from whycite.evaluation.records import facts_of, known_facts
from whycite.structure import label
from whycite.training.worthiness.listed import is_list, listed
from whycite.worthiness.examples import examples
from whycite.worthiness.model import LabelledDocument
from whycite.worthiness.pack import ENDING, load, save

__all__ = ["gathered", "prepare"]

Watch = Callable[[int], None]


def gathered(paths: Sequence[Path], watch: Watch = lambda read: None) -> Iterator[LabelledDocument]:
    """The labelled documents at the paths: of packed files as they are, of papers by CiteWorth's rules."""
    packs = [path for path in paths if path.name.endswith(ENDING)]
    lists = [path for path in paths if path not in packs and is_list(path)]
    papers = [path for path in paths if path not in packs and path not in lists]
    found = chain(
        chain.from_iterable(map(load, packs)),
        chain.from_iterable(map(listed, lists)),
        _papers(papers) if papers else (),
    )
    for read, document in enumerate(found, start=1):
        yield document
        watch(read)


def prepare(paths: Sequence[Path], out: Path, watch: Watch = lambda read: None) -> int:
    """Pack the labelled paragraphs of all documents at the paths, the newest first; how many there are."""
    return save(sorted(gathered(paths, watch), key=lambda each: (each.date, each.key), reverse=True), out)


def _papers(paths: Sequence[Path]) -> Iterator[LabelledDocument]:
    known = known_facts(paths) if paths else {}
    for document in (each for path in paths for each in stream(path)):
        yield examples(label(document), facts_of(document.paper, known).date)
