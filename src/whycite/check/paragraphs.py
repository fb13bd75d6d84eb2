"""The paragraphs of a document as a detector reads them, and labelled by CiteWorth's rules (SCOPE 4.1.2, 4.2.2)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from zlib import crc32

from whycite.check.calibration import bibliography_titles
from whycite.check.detector import ParagraphText
from whycite.documents.identity import paper_key
from whycite.documents.model import Document, Section, Sentence
from whycite.evidence.groups import CitationGroup, SplitSentence, join_texts, split_at_groups
from whycite.evidence.words import has_content_words, last_word, leads_on
from whycite.text.wordlists import DETERMINERS, load_tables

__all__ = [
    "UNLABELLED_TYPES",
    "LabelledDocument",
    "LabelledParagraph",
    "LabelledSentence",
    "bare_text",
    "complete_text",
    "heading_paths",
    "labelled_document",
    "leaves_hole",
    "named_texts",
    "prose_paragraphs",
    "repaired_texts",
]


@dataclass(frozen=True, slots=True)
class LabelledSentence:
    """A sentence without its citations, and whether it had any."""

    text: str  # with something in the place of citations that were part of the grammar
    worthy: bool
    conform: bool  # to CiteWorth's rules: citations only at its end, so that removing them leaves no trace
    text_with_names: str = ""  # the text with the names of the cited authors, if it names any
    group_offsets: tuple[int, ...] = ()  # characters of the text before each citation group
    had_hole: bool = False  # a citation was part of the grammar
    reader_label: int = -1  # of a reader: 2 plainly needs a citation, 1 arguable, 0 needs none; -1 if not asked


@dataclass(frozen=True, slots=True)
class LabelledParagraph:
    """A paragraph with the headings above it, outermost first."""

    headings: tuple[str, ...]
    section_type: str | None
    sentences: tuple[LabelledSentence, ...]

    @property
    def conform(self) -> bool:
        """Whether every sentence conforms; SCOPE trains on such paragraphs (4.2.2)."""
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

    def unlabelled(self) -> list[ParagraphText]:
        """Its paragraphs as input for a detector."""
        return [
            ParagraphText(
                tuple(sentence.text for sentence in paragraph.sentences), paragraph.headings, paragraph.section_type
            )
            for paragraph in self.paragraphs
        ]

    @property
    def texts(self) -> list[str]:
        """Its sentences in order."""
        return [sentence.text for paragraph in self.paragraphs for sentence in paragraph.sentences]

    @property
    def year(self) -> int | None:
        """The year of publication, if known."""
        return int(self.date[:4]) if self.date[:4].isdecimal() else None


UNLABELLED_TYPES = frozenset(["abstract", "acknowledgement", "declaration", "references"])
"""Types of sections in which convention, not the sentence, decides whether to cite."""

_MIN_LENGTH = 20  # characters of a conforming sentence
_END = re.compile(r"[.!?…][”’\"')\]]*$")
# A marker that the reader did not recognise, so that it is still in the text.
_UNREAD_MARKER = re.compile(
    r"\bet al\.?,?\s?[(\[]?(?:1[89]|20)\d\d|\([^\W\d_a-z][\w'’-]+(?: and [\w'’-]+)?,? (?:1[89]|20)\d\d\)"
)


def labelled_document(document: Document, date: str = "") -> LabelledDocument:
    """The labelled paragraphs of a document whose sections have types.

    A sentence is worthy if it cites. Captions, notes, tables, headings and sections without citations are left out,
    and so are sentences of citations only and those with a marker that was not recognised.
    """
    headings = heading_paths(document.sections)
    entry_titles = bibliography_titles(document.references)
    paragraphs = []
    for (section, _), sentences in groupby(
        document.sentences, key=lambda sentence: (sentence.section, sentence.paragraph)
    ):
        type = document.sections[section].type if section < len(document.sections) else None
        if type in UNLABELLED_TYPES:
            continue
        if labelled_sentences := tuple(_labelled_sentences(sentences, document)):
            paragraphs.append(
                LabelledParagraph(headings[section] if section < len(headings) else (), type, labelled_sentences)
            )
    year = f"{document.paper.year:04}" if document.paper.year else ""
    key = paper_key(document.paper) or document.path
    return LabelledDocument(key, document.paper.title, date or year, tuple(paragraphs), tuple(entry_titles))


def bare_text(sentence: Sentence, document: Document) -> str:
    """The text without citations, their brackets and the names in them."""
    return (
        join_texts(split_at_groups(sentence, document).texts) if sentence.citations else " ".join(sentence.text.split())
    )


def complete_text(sentence: Sentence, document: Document) -> str:
    """The text without citations, but with something in the place of those that were part of the grammar."""
    if not sentence.citations:
        return " ".join(sentence.text.split())
    return join_texts(repaired_texts(split_at_groups(sentence, document)))


def _labelled_sentences(sentences: Iterator[Sentence], document: Document) -> Iterator[LabelledSentence]:
    for sentence in sentences:
        if sentence.kind != "prose":
            continue
        parts = split_at_groups(sentence, document)
        bare = bare_text(sentence, document)
        if not has_content_words(bare) or _UNREAD_MARKER.search(bare):
            continue
        had_hole = leaves_hole(parts)
        texts = repaired_texts(parts)
        text = join_texts(texts) if had_hole else bare
        names = named_texts(parts) if had_hole else None
        yield LabelledSentence(
            text,
            sentence.cites,
            _conforms(bare, parts),
            join_texts(names) if names else "",
            tuple(min(len(join_texts(texts[: index + 1])), len(text)) for index in range(len(parts.groups))),
            had_hole,
        )


def _conforms(text: str, parts: SplitSentence) -> bool:
    """Whether the sentence is complete without its citations: at most one group, at its end."""
    whole = len(text) >= _MIN_LENGTH and not text[0].islower() and text[0].isalnum() and bool(_END.search(text))
    if not parts.groups:
        return whole
    opening, ending = parts.texts[0], parts.texts[-1]
    ends = len(parts.groups) == 1 and not has_content_words(ending) and not re.search(r"\w", ending)
    return whole and ends and not parts.groups[0].is_textual and not leads_on(opening)


def heading_paths(sections: Sequence[Section]) -> list[tuple[str, ...]]:
    """For each section, the headings from the outermost to its own."""
    above: list[Section] = []
    paths = []
    for section in sections:
        while above and above[-1].level >= section.level:
            above.pop()
        above.append(section)
        paths.append(tuple(ancestor.heading for ancestor in above if ancestor.heading))
    return paths


def prose_paragraphs(
    document: Document, extra_types: Collection[str] = ()
) -> list[tuple[ParagraphText, tuple[int, ...]]]:
    """Every paragraph of prose without its citations, and the indices of its sentences.

    Captions, notes, tables, headings and sections without citations are left out, except sections of `extra_types`.
    """
    headings = heading_paths(document.sections)
    paragraphs = []
    for (section, _), run in groupby(
        enumerate(document.sentences), key=lambda pair: (pair[1].section, pair[1].paragraph)
    ):
        has_section = section < len(document.sections)
        type = document.sections[section].type if has_section else None
        prose = [(index, sentence) for index, sentence in run if sentence.kind == "prose"]
        if prose and (type not in UNLABELLED_TYPES or type in extra_types):
            texts = tuple(complete_text(sentence, document) for _, sentence in prose)
            paragraphs.append(
                (
                    ParagraphText(texts, headings[section] if has_section else (), type),
                    tuple(index for index, _ in prose),
                )
            )
    return paragraphs


# -- holes ---------------------------------------------------------------------

# Citations that were part of the grammar leave holes ("as shown by."). A sentence whose author has not cited yet has
# none, so a model must neither learn from holes nor be measured on them.

_TABLES = load_tables(__name__)
_NAMES: Sequence[str] = _TABLES["names"].split()
_FIRST_YEAR, _YEARS = 1985, 40


def leaves_hole(parts: SplitSentence) -> bool:
    """Whether the sentence is incomplete without its citations."""
    return any(group.leaves_hole for group in parts.groups)


def named_texts(parts: SplitSentence) -> tuple[str, ...] | None:
    """The texts of a sentence with the names of cited authors in its holes; None if one of them is not known."""
    if any(group.leaves_hole and not group.name for group in parts.groups):
        return None
    return _filled(parts, [group.name if group.leaves_hole else "" for group in parts.groups])


def repaired_texts(parts: SplitSentence) -> tuple[str, ...]:
    """The texts of a sentence with something in each hole: names, names and a year, or "previous work".

    Which one depends on the sentence alone, so that it is always the same.
    """
    draw = crc32(" ".join(parts.texts).encode("utf-8", "replace"))
    return _filled(
        parts,
        [
            _stand_in(group, parts.texts[index], parts.texts[index + 1], draw + index) if group.leaves_hole else ""
            for index, group in enumerate(parts.groups)
        ],
    )


def _filled(parts: SplitSentence, stand_ins: Sequence[str]) -> tuple[str, ...]:
    """The texts, each with the stand-in for the group after it."""
    filled = [f"{text} {stand_in}".strip() for text, stand_in in zip(parts.texts, [*stand_ins, ""], strict=True)]
    if stand_ins and stand_ins[0] and not parts.texts[0]:
        filled[0] = filled[0][:1].upper() + filled[0][1:]
    return tuple(filled)


def _stand_in(group: CitationGroup, lead: str, following: str, draw: int) -> str:
    """A name, a name with a year, or words for earlier work, each in a third of the cases."""
    form, draw = draw % 3, draw // 3
    if group.name.endswith(("'s", "’s", "'", "’")):
        return group.name
    if form < 2:
        name = group.name or f"{_NAMES[draw % len(_NAMES)]} et al."
        return name if form == 0 else f"{name} ({_FIRST_YEAR + draw % _YEARS})"
    if last_word(lead) in DETERMINERS:
        choices = _TABLES["after_determiner"]
    else:
        choices = _TABLES["study" if following.partition(" ")[0].endswith("s") else "studies"]
    return str(choices[draw % len(choices)])
