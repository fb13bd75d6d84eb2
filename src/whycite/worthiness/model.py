"""What worthiness is learned from: sentences that say whether they cite, in their paragraphs."""

from __future__ import annotations

from dataclasses import dataclass

from whycite.worthiness.detector import Paragraph

__all__ = ["LabelledDocument", "LabelledParagraph", "LabelledSentence"]


@dataclass(frozen=True, slots=True)
class LabelledSentence:
    """A sentence without its citations, and whether it had any."""

    text: str
    worthy: bool
    conform: bool  # as CiteWorth's rules ask: nothing but its end tells that a marker is gone
    named: str = ""  # the text with the cited authors' names left in, where it had some
    places: tuple[int, ...] = ()  # how many characters of the text stand before each group of citations


@dataclass(frozen=True, slots=True)
class LabelledParagraph:
    """A paragraph with the headings above it, the outermost first."""

    headings: tuple[str, ...]
    section_type: str | None
    sentences: tuple[LabelledSentence, ...]

    @property
    def conform(self) -> bool:
        """Whether every sentence conforms; on such paragraphs SCOPE trains (4.2.2)."""
        return all(sentence.conform for sentence in self.sentences)

    @property
    def nonconform(self) -> bool:
        """Whether no sentence conforms: SCOPE's third test split (4.2.2)."""
        return not any(sentence.conform for sentence in self.sentences)


@dataclass(frozen=True, slots=True)
class LabelledDocument:
    """A document's paragraphs; `date` as "2025-10-20", "2025" or ""."""

    key: str
    title: str
    date: str
    paragraphs: tuple[LabelledParagraph, ...]
    titles: tuple[str, ...] = ()  # of its bibliography

    def unlabelled(self) -> list[Paragraph]:
        """Its paragraphs as a detector is given them."""
        return [
            Paragraph(tuple(each.text for each in own.sentences), own.headings, own.section_type)
            for own in self.paragraphs
        ]

    @property
    def texts(self) -> list[str]:
        """Its sentences in order."""
        return [each.text for paragraph in self.paragraphs for each in paragraph.sentences]

    @property
    def year(self) -> int | None:
        """The year it came out, where that is known."""
        return int(self.date[:4]) if self.date[:4].isdecimal() else None
