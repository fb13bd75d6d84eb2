"""What the server knows: the open files and the places in them, their drafts, the last check of each, and verdicts."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from threading import Condition, Event

from lsprotocol.types import Position, PositionEncodingKind, Range

from whycite.check.findings import CheckedDraft, Finding, Proposal
from whycite.check.fix.edits import text_of
from whycite.documents.model import Citation, Document, Sentence
from whycite.errors import UserError
from whycite.service.drafts import Buffers, check_file, main_file, read_file
from whycite.service.engine import Engine, Progress
from whycite.service.remote import Engines
from whycite.verify.draftclaims import DraftCitation, citations
from whycite.verify.passages import with_asides
from whycite.verify.verification import Passage, Verification

__all__ = [
    "CheckStopped",
    "DraftCheck",
    "PaperVerdict",
    "PassagePlace",
    "TextMap",
    "Workbench",
    "text_map",
]

_MAX_PAUSE = 1.0  # seconds that a check waits for completions at a time
_PACKED = (".gz", ".zst", ".bz2", ".xz", ".zip", ".tgz")  # what is in them has no place in a file


class CheckStopped(Exception):
    """The draft changed, or the user stopped the check."""


@dataclass(frozen=True, slots=True)
class DraftCheck:
    """A checked draft, and the open files as they were then."""

    main: Path
    checked: CheckedDraft
    buffers: Buffers
    searched: bool = True  # whether papers were searched; before, nobody knows of any

    @property
    def document(self) -> Document:
        """The draft."""
        return self.checked.document

    def files(self) -> set[Path]:
        """The files that have text of the draft."""
        return {self.main, *(Path(sentence.file) for sentence in self.document.sentences)}

    def text(self, file: Path) -> str:
        """The text of a file as it was checked; a closed one is read from disk."""
        if file in self.buffers:
            return self.buffers[file]
        try:
            return text_of(file.read_bytes())
        except OSError:
            return ""

    def sentence_at(self, file: Path, offset: int) -> Sentence | None:
        """The sentence at an offset of a file."""
        return next(
            (
                sentence
                for sentence in self.document.sentences
                if sentence.file == str(file) and sentence.start <= offset <= sentence.end
            ),
            None,
        )

    def citation_at(self, file: Path, offset: int) -> tuple[Sentence, Citation] | None:
        """The citation at an offset of a file, and its sentence."""
        return next(
            (
                (sentence, citation)
                for sentence in self.document.sentences
                if sentence.file == str(file)
                for citation in (*sentence.citations, *sentence.note_citations)
                if citation.start <= offset <= citation.end
            ),
            None,
        )

    def key_at(self, file: Path, offset: int) -> str | None:
        """The key of the reference at an offset of a file."""
        if (place := self.citation_at(file, offset)) is None:
            return None
        citation, text = place[1], self.text(file)
        for key in citation.keys:
            start = text.find(key, citation.start, citation.end)
            if start <= offset <= start + len(key) and start >= 0:
                return key
        return citation.keys[0] if len(citation.keys) == 1 else None


@dataclass(frozen=True, slots=True)
class PassagePlace:
    """Where a passage is in the file of its paper; both offsets are 0 in a PDF, which has none."""

    file: Path
    start: int = 0
    end: int = 0

    @property
    def text(self) -> str:
        """The text of the file that the offsets count in."""
        return text_of(self.file.read_bytes()) if self.end else ""


@dataclass(frozen=True, slots=True)
class PaperVerdict:
    """What the full text of a cited paper says about a claim; without a document if it is not at hand."""

    verification: Verification
    document: Document | None

    def place(self, passage: Passage) -> PassagePlace | None:
        """Where a passage is; None if its file is gone, or inside an archive."""
        if self.document is None:
            return None
        sentence = with_asides(self.document).sentences[passage.index]
        file = Path(sentence.file)
        if not file.is_file():
            return None
        is_text = self.document.format != "pdf" and file.suffix.lower() not in _PACKED
        return PassagePlace(file, sentence.start, sentence.end) if is_text else PassagePlace(file)


@dataclass(slots=True)
class Workbench:
    """The state of a session; checks run on one thread, everything else on the event loop."""

    engines: Engines = field(default_factory=Engines)
    buffers: dict[Path, str] = field(default_factory=dict)
    checks: dict[Path, DraftCheck] = field(default_factory=dict)  # by main file
    verdicts: dict[tuple[str, str], PaperVerdict] = field(default_factory=dict)  # by claim and key
    _answering: int = 0  # completions that are being computed
    _answered: Condition = field(default_factory=Condition)
    _mains: dict[Path, Path] = field(default_factory=dict)
    _edits: dict[Path, int] = field(default_factory=dict)  # the offset of the last edit of a file

    def put(self, file: Path, text: str) -> Path:
        """Take the text of an open file of a draft; the main file of that."""
        previous = self.buffers.get(file)
        self.buffers[file] = text
        if previous is not None and previous != text:
            self._edits = {file: _edit_end(previous, text)}
        if file not in self._mains:
            self._mains[file] = main_file(file, text)
        return self._mains[file]

    def put_bibliography(self, file: Path, text: str) -> None:
        """Take the text of an open bibliography, which any draft may use."""
        self.buffers[file] = text

    def drafts(self) -> set[Path]:
        """The main files of all open drafts."""
        return set(self._mains.values())

    def close(self, file: Path) -> Path:
        """Forget the text of a file; the main file of its draft."""
        self.buffers.pop(file, None)
        self._edits.pop(file, None)
        return self._mains.pop(file, file)

    def forget_edits(self) -> None:
        """The user has stopped typing: no sentence is being written."""
        self._edits = {}

    def main_of(self, file: Path) -> Path:
        """The main file of the draft that a file belongs to."""
        return self._mains.get(file, file)

    def open_files(self, main: Path) -> list[Path]:
        """The open files of a draft."""
        return [file for file in self._mains if self.main_of(file) == main]

    def check_of(self, file: Path) -> DraftCheck | None:
        """The last check of the draft that a file belongs to."""
        return self.checks.get(self.main_of(file))

    def is_current(self, check: DraftCheck) -> bool:
        """Whether nothing in the draft changed since it was checked."""
        return all(self.buffers.get(file) == check.buffers.get(file) for file in {*check.buffers, *self.buffers})

    def is_being_typed(self, finding: Finding) -> bool:
        """Whether the last edit was in the sentence of a finding."""
        offset = self._edits.get(Path(finding.file))
        return offset is not None and finding.start <= offset <= finding.end

    def check(
        self,
        main: Path,
        buffers: Mapping[Path, str],
        stop: Event,
        report: Progress,
        on_judged: Callable[[DraftCheck], None],
    ) -> DraftCheck:
        """Check a draft; `on_judged` gets what is known before papers are searched."""

        def progress(stage: str, count: int, total: int | None) -> None:
            if stop.is_set():
                raise CheckStopped
            self._let_completions_pass()
            report(stage, count, total)

        def judged(checked: CheckedDraft) -> None:
            on_judged(DraftCheck(main, checked, buffers, searched=False))

        document = read_file(main, buffers)
        progress("reading", 1, None)
        checked = check_file(
            self.engine(main), main, buffers=buffers, document=document, progress=progress, on_judged=judged
        )
        return DraftCheck(main, checked, buffers)

    def propose(self, check: DraftCheck, claim: str, place: Sentence | None, n: int) -> list[Proposal]:
        """Papers for a sentence that is being written; `place` is one near it."""
        with self._answered:
            self._answering += 1
        try:
            return self.engine(check.main).propose(check.document, claim, place, n)
        finally:
            with self._answered:
                self._answering -= 1
                self._answered.notify_all()

    def _let_completions_pass(self) -> None:
        """A check leaves the models to completions, for which somebody waits; not for ever, since one may be stuck."""
        with self._answered:
            self._answered.wait_for(lambda: not self._answering, _MAX_PAUSE)

    def citations_at(self, check: DraftCheck, file: Path, start: int, end: int) -> list[DraftCitation]:
        """The citations of a draft between two offsets of a file, each with its claim."""
        return [
            citation
            for citation in citations(check.document)
            if citation.file == str(file) and citation.start <= end and citation.end >= start and citation.linked
        ]

    def verdict_on(self, citation: DraftCitation) -> PaperVerdict | None:
        """The verdict on a citation that was verified before."""
        return self.verdicts.get((citation.claim, citation.reference.id))

    def verify(self, draft: Path, citation: DraftCitation) -> PaperVerdict:
        """Ask the full text of the cited paper, if it is at hand, and remember the verdict."""
        verdict = PaperVerdict(*self.engine(draft).verify_reference(citation.reference, citation.claim))
        self.verdicts[citation.claim, citation.reference.id] = verdict
        return verdict

    def paper_path(self, draft: Path, citation: DraftCitation) -> str:
        """The file of the cited paper."""
        if path := self.engine(draft).path_of(citation.reference):
            return path
        raise UserError(f"{citation.reference.id}: the library has no full text of this paper")

    def engine(self, draft: Path) -> Engine:
        """What answers questions about a draft."""
        return self.engines.for_draft(draft)


def _edit_end(old: str, new: str) -> int:
    """Where the part that differs ends in the new text: where the user types."""
    same, different = 0, min(len(old), len(new)) + 1  # lengths of ends that are, and are not, the same
    while different - same > 1:
        length = (same + different) // 2
        if old[len(old) - length :] == new[len(new) - length :]:
            same = length
        else:
            different = length
    return len(new) - same


_LINE_END = re.compile(r"\r\n|\n|\r")  # no others: a form feed or a line separator does not end a line
_UNIT_SIZES = {PositionEncodingKind.Utf8: ("utf-8", 1), PositionEncodingKind.Utf16: ("utf-16-le", 2)}


class TextMap:
    """A text and where its lines start."""

    def __init__(self, text: str, encoding: str) -> None:
        self.text = text
        self._ends = [end.start() for end in _LINE_END.finditer(text)] + [len(text)]
        self._starts = [0, *(end.end() for end in _LINE_END.finditer(text))]
        self._codec, self._size = _UNIT_SIZES.get(PositionEncodingKind(encoding), ("utf-32-le", 4))

    def position(self, offset: int) -> Position:
        """The position of an offset; one beyond the text is its end."""
        offset = max(0, min(offset, len(self.text)))
        line = bisect_right(self._starts, offset) - 1
        line_text = self.text[self._starts[line] : offset]
        return Position(line, len(line_text) if line_text.isascii() else self._units(line_text))

    def range(self, start: int, end: int) -> Range:
        """The range between two offsets."""
        return Range(self.position(start), self.position(max(start, end)))

    def offset(self, position: Position) -> int:
        """The offset of a position; one beyond a line is the line's end."""
        if position.line >= len(self._starts):
            return len(self.text)
        start, end = self._starts[position.line], self._ends[position.line]
        line = self.text[start:end]
        if line.isascii():
            return start + min(position.character, len(line))
        units = 0
        for index, character in enumerate(line):
            if units >= position.character:
                return start + index
            units += self._units(character)
        return end

    def line_end(self, offset: int) -> int:
        """The offset of the end of a line, before its line break."""
        return self._ends[bisect_right(self._starts, max(0, min(offset, len(self.text)))) - 1]

    def _units(self, text: str) -> int:
        return len(text.encode(self._codec, "surrogatepass")) // self._size


@lru_cache(maxsize=32)
def text_map(text: str, encoding: str) -> TextMap:
    """The map of a text, which several answers share."""
    return TextMap(text, encoding)
