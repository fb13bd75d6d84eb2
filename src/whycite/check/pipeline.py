"""The pipeline over a draft: structure, worthiness, papers for what needs some (SCOPE, figure 1)."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from whycite import documents, structure
from whycite.check.judging import judge
from whycite.check.memory import Memory
from whycite.check.model import Checked, Finding, Kind, Proposal
from whycite.check.proposing import propose
from whycite.check.shelf import Shelf
from whycite.check.texts import Texts
from whycite.documents.model import Document
from whycite.encoders import Encoder
from whycite.encoders.registry import load as load_encoder
from whycite.errors import UserError
from whycite.recommend.model import check_number
from whycite.worthiness.detector import Detector
from whycite.worthiness.rules import english

if TYPE_CHECKING:
    from whycite.library import Library

__all__ = ["check"]

NO_LIBRARY = "no library is at hand, so papers come from the draft's own bibliography alone"

FOREIGN = "the draft does not seem to be in English, so which sentences need a citation is hardly more than a guess"


def check(
    draft: str | Path | Document,
    library: Library | str | Path | None = None,
    *,
    threshold: float | None = None,
    sections: Collection[str] | None = None,
    all: bool = False,
    n: int = 3,
    detector: Detector | None = None,
    encoder: Encoder | None = None,
    use_library: bool = True,
    remember: bool = True,
    texts: Mapping[str, str] | None = None,
    told: Callable[[str, int, int | None], None] = lambda what, done, total: None,
) -> Checked:
    """Where a draft lacks a citation, and which papers it could cite there.

    `library`: one opened before, one at a path, or the user's own where there is one; without `use_library` none.
    `threshold` is for all sections, `sections` are types to look at alone; with `all`, sentences that cite already get
    papers too. `texts` are files of the draft that are not on disk; `told` hears how far it has come.
    """
    check_number(n)
    if threshold is not None and not 0 <= threshold <= 1:
        raise UserError(f"the threshold must be between 0 and 1, not {threshold:g}")
    if unknown := sorted(set(sections or ()) - set(structure.TYPES)):
        raise UserError(f"'{unknown[0]}' is no section type; there are: {', '.join(structure.TYPES)}")
    clock = _Clock()
    document = structure.label(draft if isinstance(draft, Document) else documents.read(draft))
    clock.end("reading")
    memory = Memory() if remember else None
    detector, encoder = detector or _detector(), encoder or _encoder(remember)
    told("judging sentences", 0, None)
    judged = judge(document, detector, encoder, memory)
    worthiness = judged.worthiness
    clock.end("worthiness")
    files = Texts(document.format, texts)
    kept = [
        at
        for at, sentence in enumerate(document.sentences)
        if (not sections or document.sections[sentence.section].type in sections)
        and not files.of(sentence).ignores(sentence.start, sentence.end)
    ]
    thresholds = {at: judged.threshold(_type(document, at)) if threshold is None else threshold for at in kept}
    kinds = {at: _kind(document, at, worthiness, thresholds[at]) for at in kept}
    asked = [at for at, kind in kinds.items() if kind == "needs-citation" or (all and kind == "cited")]
    shelf, warnings = _shelf(library, memory) if use_library else (None, ())
    done = 0

    def answered() -> None:
        nonlocal done
        done += 1
        told("asking the library", done, len(asked))

    told("looking through the bibliography", 0, None)
    try:
        proposed = propose(document, asked, encoder, shelf, n, answered)
    except UserError as error:
        if shelf is None or library is not None:
            raise
        warnings = (f"{NO_LIBRARY} ({error})",)  # nobody asked for the one in the usual place
        proposed = propose(document, asked, encoder, None, n)
    findings = tuple(
        _finding(document, at, files, worthiness, kinds[at], thresholds[at], proposed.by_sentence.get(at, ()))
        for at in kept
    )
    if not english([sentence.text for sentence in document.sentences]):
        warnings = (FOREIGN, *warnings)
    return Checked(document, findings, (*document.warnings, *warnings), clock.seconds | proposed.seconds)


class _Clock:
    """The seconds of each stage."""

    def __init__(self) -> None:
        self._started = time.perf_counter()
        self.seconds: dict[str, float] = {}

    def end(self, stage: str) -> None:
        now = time.perf_counter()
        self.seconds[stage] = now - self._started
        self._started = now


def _kind(document: Document, at: int, worthiness: NDArray[np.float64], threshold: float) -> Kind:
    sentence = document.sentences[at]
    if sentence.citations:
        return "cited"
    # What was not asked about has worthiness 0, and needs nothing even where the threshold is 0.
    return "needs-citation" if worthiness[at] >= threshold and worthiness[at] > 0 else "ok"


def _finding(
    document: Document,
    at: int,
    files: Texts,
    worthiness: NDArray[np.float64],
    kind: Kind,
    threshold: float,
    proposals: tuple[Proposal, ...],
) -> Finding:
    sentence = document.sentences[at]
    text = files.of(sentence)
    line, column = text.place(sentence.start)
    end_line, end_column = text.place(sentence.end)
    return Finding(
        file=sentence.file,
        line=line,
        column=column,
        end_line=end_line,
        end_column=end_column,
        start=sentence.start,
        end=sentence.end,
        section=document.sections[sentence.section].heading,
        section_type=_type(document, at),
        text=sentence.text,
        worthiness=float(worthiness[at]),
        cites=tuple(dict.fromkeys(key for citation in sentence.citations for key in citation.keys)),
        kind=kind,
        threshold=threshold,
        recommendations=proposals,
    )


def _type(document: Document, at: int) -> str | None:
    return document.sections[document.sentences[at].section].type


def _shelf(library: Library | str | Path | None, memory: Memory | None) -> tuple[Shelf | None, tuple[str, ...]]:
    """The library to ask, and what to say where there is none; one that is asked for must be there."""
    if library is None:
        from whycite.library.place import default_path

        place = default_path()
        if not (place / "commits.lance").is_dir():
            return None, (f"{NO_LIBRARY}; make one with: whycite add FOLDER",)
        return Shelf(place, memory), ()
    if isinstance(library, str | Path):
        place = Path(library).expanduser()
        if not (place / "commits.lance").is_dir():
            raise UserError(f"{place}: no library here yet; make one with: whycite add FOLDER --library {place}")
        return Shelf(place, memory), ()
    return Shelf(library, memory), ()


def _detector() -> Detector:
    from whycite import worthiness

    return worthiness.load()


def _encoder(remember: bool) -> Encoder:
    from whycite.encoders.cache import CachedEncoder

    return CachedEncoder(load_encoder()) if remember else load_encoder()
