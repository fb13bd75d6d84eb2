"""What readers fill on their way to a document: sections and paragraphs in reading order, warnings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from whycite.documents.model import Document, Kind, Reference, Section, Sentence
from whycite.documents.prose import Prose

__all__ = ["Builder"]

_SHOWN = 10  # how many names a warning lists


class Builder:
    """Collects one document; text before the first heading stands in a section without one."""

    def __init__(self, path: str, format: str) -> None:
        self.path = path
        self.format = format
        self.warnings: list[str] = []
        self._said: set[str] = set()
        self._sections: list[Section] = []
        self._sentences: list[Sentence] = []
        self._paragraphs = 0

    @property
    def sentence_count(self) -> int:
        """How many sentences there are so far."""
        return len(self._sentences)

    def section(self, heading: str, level: int = 1) -> None:
        """Begin a section; what comes next stands in it."""
        self._sections.append(Section(" ".join(heading.split()), level))

    def paragraph(self, prose: Prose, kind: Kind = "prose") -> None:
        """Add a paragraph to the section begun last; one without words is left out."""
        if not self._sections:
            self._sections.append(Section("", 1))
        before = len(self._sentences)
        self._sentences += prose.sentences(len(self._sections) - 1, self._paragraphs, kind)
        self._paragraphs += len(self._sentences) > before

    def warn(self, message: str) -> None:
        """Say what could not be read; the same sentence is said once."""
        if message not in self._said:
            self._said.add(message)
            self.warnings.append(message)

    def document(self, paper: Reference, references: Iterable[Reference] = ()) -> Document:
        """The finished document; citations that point at no reference become a warning."""
        references = tuple({reference.id: reference for reference in references}.values())
        known = {reference.id for reference in references}
        missing = dict.fromkeys(
            key for sentence in self._sentences for c in sentence.citations for key in c.keys if key not in known
        )
        if missing:
            keys = "1 cited key has" if len(missing) == 1 else f"{len(missing)} cited keys have"
            self.warn(f"{keys} no entry in the bibliography: {_some(list(missing))}")
        unlinked = sum(not c.keys for sentence in self._sentences for c in sentence.citations)
        if unlinked:
            markers = "1 citation marker" if unlinked == 1 else f"{unlinked} citation markers"
            self.warn(f"{markers} could not be linked to a reference")
        return Document(
            path=self.path,
            format=self.format,
            paper=paper,
            sections=tuple(self._sections),
            sentences=tuple(self._sentences),
            references=references,
            warnings=tuple(self.warnings),
        )


def _some(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
