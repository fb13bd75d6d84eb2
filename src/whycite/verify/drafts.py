"""Every citation of a draft against the full text of what it cites."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from whycite import documents
from whycite.documents.model import Document, Reference, Sentence
from whycite.documents.sources import decode
from whycite.errors import UserError
from whycite.evidence.groups import SplitSentence, join_texts, split_at_groups
from whycite.evidence.words import has_content_words, trim_piece
from whycite.models import Encoder
from whycite.models.rankers import Ranker
from whycite.verify.fulltexts import FullText, match_references, open_full_text, texts_in_folder, texts_in_library
from whycite.verify.verification import Verification
from whycite.verify.verifying import OpenDocument, open_document

if TYPE_CHECKING:
    from whycite.library import Library

__all__ = ["CitationVerdict", "DraftCitation", "LineIndex", "citations", "verify_draft"]


_LINE = re.compile(r"\r\n|\n|\r")


class LineIndex:
    """Each file is read once."""

    def __init__(self) -> None:
        self._starts: dict[str, list[int] | None] = {}

    def line_at(self, file: str, offset: int) -> int | None:
        """The line of an offset, counted from 1; None where the file is not on disk: in an archive, standard input."""
        if file not in self._starts:
            self._starts[file] = _starts(file)
        starts = self._starts[file]
        return None if starts is None else bisect_right(starts, offset)


def _starts(file: str) -> list[int] | None:
    try:
        text = decode(Path(file).read_bytes())[0]
    except OSError:
        return None
    return [0, *(end.end() for end in _LINE.finditer(text))]


_MAX_OPEN = 4  # papers kept ready: the next citation is often to one of the last
_CLAIM_WORDS = 3  # words that a piece of a sentence needs to be a claim of its own


@dataclass(frozen=True, slots=True)
class DraftCitation:
    """A claim of a draft and a reference it cites; `start` and `end` are the marker's, in its file."""

    claim: str
    sentence: int
    section: str
    file: str
    start: int
    end: int
    reference: Reference  # of a marker that was not linked, one that has the marker for a name
    linked: bool = True


@dataclass(frozen=True, slots=True)
class CitationVerdict:
    """A citation of a draft, the paper it was held against ("" where none is at hand), and the verification."""

    claim: str
    sentence: int
    section: str
    file: str
    start: int
    end: int
    reference: Reference
    paper: str
    verification: Verification
    line: int | None = None  # of the marker, counted from 1; None where the file is not on disk


def verify_draft(
    draft: Document | str | Path,
    papers: Path | str | None = None,
    library: Library | None = None,
    *,
    ranker: Ranker | None = None,
    encoder: Encoder | None = None,
    progress: Callable[[str, int, int | None], None] | None = None,
) -> Iterator[CitationVerdict]:
    """Each citation of a draft with its verdict, in the order of the text; papers of the folder come first."""
    document = draft if isinstance(draft, Document) else documents.read(draft)
    tell = progress or (lambda stage, count, total: None)
    full_texts = (
        texts_in_folder(papers, lambda count: tell("reading papers", count, None)) if papers is not None else []
    )
    full_texts = [*full_texts, *(texts_in_library(library) if library is not None else [])]
    draft_citations = citations(document)
    references = list({citation.reference.id: citation.reference for citation in draft_citations}.values())
    text_by_reference = dict(
        zip((reference.id for reference in references), match_references(references, full_texts), strict=True)
    )
    open_papers, lines = _OpenPapers(ranker, encoder), LineIndex()
    for count, citation in enumerate(draft_citations, 1):
        verification, paper = _verify_citation(
            citation, text_by_reference[citation.reference.id], open_papers, bool(full_texts), document
        )
        place = (citation.claim, citation.sentence, citation.section, citation.file, citation.start, citation.end)
        yield CitationVerdict(
            *place, citation.reference, paper, verification, lines.line_at(citation.file, citation.start)
        )
        tell("checking citations", count, len(draft_citations))


def citations(document: Document) -> list[DraftCitation]:
    """The claims of a draft with what each cites: the sentence, or of one with several groups the piece of each."""
    draft_citations = []
    for sentence_index, sentence in enumerate(document.sentences):
        if not sentence.citations:
            continue
        parts = split_at_groups(sentence, document)
        section = document.sections[sentence.section].heading if sentence.section < len(document.sections) else ""
        for index, group in enumerate(parts.groups):
            claim = _claim(parts, index)
            place = (claim, sentence_index, section, sentence.file, group.start, group.end)
            draft_citations += [DraftCitation(*place, document.by_id.get(key, Reference(key))) for key in group.keys]
        draft_citations += _unlinked(sentence, sentence_index, section, parts)
    return draft_citations


def _unlinked(sentence: Sentence, sentence_index: int, section: str, parts: SplitSentence) -> Iterator[DraftCitation]:
    """The markers that point at no reference: nobody can check them, and nobody should think they were."""
    alone = {group.start: index for index, group in enumerate(parts.groups) if not group.keys}
    for citation in sentence.citations:
        if not citation.keys:
            index = alone.get(citation.start)
            claim = join_texts(parts.texts) if index is None else _claim(parts, index)
            marker = Reference(sentence.text[citation.text_start : citation.text_end].strip() or "?")
            yield DraftCitation(
                claim, sentence_index, section, sentence.file, citation.start, citation.end, marker, linked=False
            )


def _claim(parts: SplitSentence, index: int) -> str:
    """What a group is cited for: what stands before it, or behind the names of a group that begins its clause."""
    if len(parts.groups) > 1:
        left_text, right_text = _texts_beside(parts.texts, index)
        starts_clause = parts.groups[index].is_textual and parts.texts[index + 1][:1].isalpha()
        for text in (right_text, left_text) if starts_clause else (left_text, right_text):
            if has_content_words(text, enough=_CLAIM_WORDS):
                return text
    return join_texts(parts.texts)


def _texts_beside(texts: Sequence[str], index: int) -> tuple[str, str]:
    """What stands before a group and behind it; of a text between two groups that a semicolon parts, the own part."""
    left_text, right_text = texts[index], texts[index + 1]
    if index and has_content_words(own_part := left_text.rpartition(";")[2], enough=_CLAIM_WORDS):
        left_text = own_part
    if index + 2 < len(texts) and has_content_words(own_part := right_text.partition(";")[0], enough=_CLAIM_WORDS):
        right_text = own_part
    return trim_piece(left_text), trim_piece(right_text)


def _verify_citation(
    citation: DraftCitation,
    full_text: FullText | None,
    open_papers: _OpenPapers,
    has_full_texts: bool,
    document: Document,
) -> tuple[Verification, str]:
    """The verification of a citation, and the paper it was held against."""
    if not citation.linked:
        return _unchecked(citation, f"the marker '{citation.reference.id}' could not be linked to a reference"), ""
    if citation.reference.id not in document.by_id:
        return _unchecked(citation, f"the draft has no reference called '{citation.reference.id}'"), ""
    if full_text is None:
        reason = (
            "no full text of it is at hand"
            if has_full_texts
            else "no papers are at hand: name their folder with --papers"
        )
        return _unchecked(citation, reason), ""
    try:
        return open_papers.open_paper(full_text).verify(citation.claim), full_text.path
    except UserError as error:
        return _unchecked(citation, str(error)), full_text.path


def _unchecked(citation: DraftCitation, reason: str) -> Verification:
    return Verification(citation.claim, "could not check", 0.0, (), reason)


class _OpenPapers:
    """Papers made ready, the last few of them."""

    def __init__(self, ranker: Ranker | None, encoder: Encoder | None) -> None:
        self._ranker, self._encoder = ranker, encoder
        self._papers: OrderedDict[str, OpenDocument] = OrderedDict()

    def open_paper(self, full_text: FullText) -> OpenDocument:
        """The paper, ready for claims."""
        if full_text.path in self._papers:
            self._papers.move_to_end(full_text.path)
        else:
            document = open_full_text(full_text)
            self._papers[full_text.path] = open_document(document, ranker=self._ranker, encoder=self._encoder)
            if len(self._papers) > _MAX_OPEN:
                self._papers.popitem(last=False)
        return self._papers[full_text.path]
