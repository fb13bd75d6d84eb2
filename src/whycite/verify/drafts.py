"""Verify every citation of a draft against the full text of the paper it cites."""

from __future__ import annotations

import logging
import re
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from typing_extensions import TypedDict

from whycite import documents
from whycite.documents.model import Document, Reference
from whycite.documents.reading import source_text
from whycite.errors import UserError
from whycite.evidence.citationfunctions import NO_CLAIM, CitationFunction, citation_functions
from whycite.library.notices import PaperNotices, look_up
from whycite.library.paths import default_path
from whycite.models import Encoder, load_encoder
from whycite.models.pairs import EntailmentModel
from whycite.verify.claims import OpenDocument, open_document
from whycite.verify.draftclaims import DraftCitation, citations
from whycite.verify.fulltexts import FullText, match_references, open_full_text, texts_in_folder, texts_in_library
from whycite.verify.metadata import name_note, title_similarities, topic_note
from whycite.verify.verification import Verification, VerificationJson, unchecked, verification_json

if TYPE_CHECKING:
    from whycite.library import Library

__all__ = [
    "CitationVerdict",
    "CitationVerdictJson",
    "ClaimVerifier",
    "DraftCitation",
    "LineIndex",
    "citation_verdict_json",
    "citations",
    "verify_citations",
    "verify_draft",
]

_LOG = logging.getLogger("whycite")
_NOT_FOUND = "the full text of the paper was not found"
_NO_FULL_TEXTS = "there are no full texts; give their folder with --papers"
_MISSING_REASONS = (_NOT_FOUND, _NO_FULL_TEXTS)
_MAX_OPEN_PAPERS = 24  # the next citation is often to one of them; a few megabytes each


@dataclass(frozen=True, slots=True)
class CitationVerdict:
    """A citation of a draft, the path of the cited paper ("" if it was not found), and the verification."""

    claim: str
    sentence: int
    section: str
    file: str
    start: int
    end: int
    reference: Reference
    paper: str
    verification: Verification
    line: int | None = None  # of the marker, from 1; None if the file is not on disk
    notes: tuple[str, ...] = ()  # what title, authors and year of the reference tell; no verdict
    missing: bool = False  # whether only the full text is missing
    function: CitationFunction = "background"  # what the paper is cited for
    warning: str = ""  # that the paper was retracted or corrected


class ClaimVerifier(Protocol):
    """A paper that is ready for claims."""

    def verify(self, claim: str) -> Verification: ...


def verify_draft(
    draft: Document | str | Path,
    papers: Path | str | None = None,
    library: Library | None = None,
    *,
    entailment: EntailmentModel | None = None,
    encoder: Encoder | None = None,
    progress: Callable[[str, int, int | None], None] | None = None,
) -> Iterator[CitationVerdict]:
    """Each citation of a draft with its verdict, in the order of the text; the folder comes before the library."""
    document = draft if isinstance(draft, Document) else documents.read(draft)
    report = progress or (lambda stage, count, total: None)
    full_texts = (
        texts_in_folder(papers, lambda count: report("reading papers", count, None)) if papers is not None else []
    )
    for full_text in full_texts:
        if full_text.problem:  # a scan often has no title, so it matches no reference and nobody would know of it
            _LOG.warning("%s", full_text.problem)
    full_texts = [*full_texts, *(texts_in_library(library) if library is not None else [])]
    open_paper = _OpenPapers(entailment, encoder).open_paper
    yield from verify_citations(document, full_texts, open_paper, library, encoder=encoder, progress=report)


def verify_citations(
    document: Document,
    full_texts: Sequence[FullText],
    open_paper: Callable[[FullText], ClaimVerifier],
    library: Library | None = None,
    *,
    encoder: Encoder | None = None,
    progress: Callable[[str, int, int | None], None] = lambda stage, count, total: None,
) -> Iterator[CitationVerdict]:
    """Each citation of a draft with its verdict against full texts, which `open_paper` makes ready for claims."""
    draft_citations = citations(document)
    references = list({citation.reference.id: citation.reference for citation in draft_citations}.values())
    text_by_reference = dict(
        zip((reference.id for reference in references), match_references(references, full_texts), strict=True)
    )
    warnings = {
        reference.id: notices.description
        for reference, notices in zip(references, _known_notices(references, library), strict=True)
    }
    functions = _functions(draft_citations)
    missing = [_lacks_full_text(citation, text_by_reference, document) for citation in draft_citations]
    notes = _notes(draft_citations, missing, document, encoder)
    lines = LineIndex()
    for count, (citation, function) in enumerate(zip(draft_citations, functions, strict=True), 1):
        verification, paper = _verify_citation(
            citation, function, text_by_reference[citation.reference.id], open_paper, bool(full_texts), document
        )
        place = (citation.claim, citation.sentence, citation.section, citation.file, citation.start, citation.end)
        line = lines.line_at(citation.file, citation.start)
        is_missing = verification.reason in _MISSING_REASONS
        yield CitationVerdict(
            *place, citation.reference, paper, verification, line, notes[count - 1], is_missing, function,
            warnings[citation.reference.id],
        )  # fmt: skip
        progress("checking citations", count, len(draft_citations))


def _known_notices(references: Sequence[Reference], library: Library | None) -> list[PaperNotices]:
    """What was published about references; without a library, by the register of the user's own."""
    if library is not None:
        return library.notices(references, library.find(references))
    return look_up(default_path(), references)


def _functions(draft_citations: Sequence[DraftCitation]) -> list[CitationFunction]:
    """What each citation is for; that the cited authors used a method is a claim about them."""
    functions = citation_functions([citation.claim for citation in draft_citations])
    return [
        "background" if function == "method" and citation.authors_act else function
        for citation, function in zip(draft_citations, functions, strict=True)
    ]


def _lacks_full_text(
    citation: DraftCitation, text_by_reference: Mapping[str, FullText | None], document: Document
) -> bool:
    is_entry = citation.linked and citation.reference.id in document.by_id
    return is_entry and text_by_reference[citation.reference.id] is None


def _notes(
    draft_citations: Sequence[DraftCitation], missing: Sequence[bool], document: Document, encoder: Encoder | None
) -> list[tuple[str, ...]]:
    """What the references themselves tell about each citation; topics only where there is no full text to ask."""
    names = [
        name_note(document.sentences[citation.sentence], citation.start, citation.end, document.by_id)
        if citation.linked
        else ""
        for citation in draft_citations
    ]
    topics = [""] * len(draft_citations)
    rows = [row for row, is_missing in enumerate(missing) if is_missing and draft_citations[row].reference.title]
    if rows:
        asking = [draft_citations[row] for row in rows]
        cited = [(citation.claim, citation.sentence, citation.reference.title) for citation in asking]
        similarities = title_similarities(document, cited, encoder or load_encoder())
        for row, citation, similarity in zip(rows, asking, similarities, strict=True):
            topics[row] = topic_note(citation.reference.title, similarity, bool(document.paper.title))
    return [tuple(note for note in pair if note) for pair in zip(names, topics, strict=True)]


def _verify_citation(
    citation: DraftCitation,
    function: CitationFunction,
    full_text: FullText | None,
    open_paper: Callable[[FullText], ClaimVerifier],
    has_full_texts: bool,
    document: Document,
) -> tuple[Verification, str]:
    """The verification of a citation, and the path of the cited paper."""
    if not citation.linked:
        return unchecked(citation.claim, f"the marker '{citation.reference.id}' matches no reference"), ""
    if citation.reference.id not in document.by_id:
        return unchecked(citation.claim, f"the bibliography has no entry '{citation.reference.id}'"), ""
    if function in NO_CLAIM:
        return unchecked(citation.claim, NO_CLAIM[function]), full_text.path if full_text is not None else ""
    if full_text is None:
        return unchecked(citation.claim, _NOT_FOUND if has_full_texts else _NO_FULL_TEXTS), ""
    try:
        return open_paper(full_text).verify(citation.claim), full_text.path
    except UserError as error:
        return unchecked(citation.claim, str(error)), full_text.path


class _OpenPapers:
    """The last few papers, ready for claims."""

    def __init__(self, entailment: EntailmentModel | None, encoder: Encoder | None) -> None:
        self._entailment, self._encoder = entailment, encoder
        self._papers: OrderedDict[str, OpenDocument] = OrderedDict()

    def open_paper(self, full_text: FullText) -> OpenDocument:
        """The paper, ready for claims."""
        if full_text.path in self._papers:
            self._papers.move_to_end(full_text.path)
        else:
            document = open_full_text(full_text)
            self._papers[full_text.path] = open_document(document, entailment=self._entailment, encoder=self._encoder)
            if len(self._papers) > _MAX_OPEN_PAPERS:
                self._papers.popitem(last=False)
        return self._papers[full_text.path]


_LINE = re.compile(r"\r\n|\n|\r")


class LineIndex:
    """The lines of files, each of which is read once."""

    def __init__(self) -> None:
        self._starts: dict[str, list[int] | None] = {}

    def line_at(self, file: str, offset: int) -> int | None:
        """The line of an offset, from 1; None if the file is not on disk (in an archive, standard input)."""
        if file not in self._starts:
            self._starts[file] = _line_starts(file)
        starts = self._starts[file]
        return None if starts is None else bisect_right(starts, offset)


def _line_starts(file: str) -> list[int] | None:
    text = source_text(file)
    return None if text is None else [0, *(end.end() for end in _LINE.finditer(text))]


class CitedReferenceJson(TypedDict):
    """The reference that a citation points to."""

    id: str
    title: str
    authors: list[str]
    year: int | None
    doi: str


class CitationNotesJson(TypedDict, total=False):
    """What is only there if there is something to say."""

    missing: bool  # the full text is
    warning: str  # that the paper was retracted or corrected
    notes: list[str]


class CitationVerdictJson(VerificationJson, CitationNotesJson):
    """A citation of a draft with its verification."""

    file: str
    line: int | None
    start: int
    end: int
    section: str
    reference: CitedReferenceJson
    function: CitationFunction
    paper: str


def citation_verdict_json(citation: CitationVerdict, n: int | None = None) -> CitationVerdictJson:
    """A citation of a draft and its verification as JSON."""
    reference = citation.reference
    return {
        "file": citation.file,
        "line": citation.line,
        "start": citation.start,
        "end": citation.end,
        "section": citation.section,
        "reference": {
            "id": reference.id,
            "title": reference.title,
            "authors": list(reference.authors),
            "year": reference.year,
            "doi": reference.doi,
        },
        "function": citation.function,
        "paper": citation.paper,
        **verification_json(citation.verification, n),
        **_citation_notes_json(citation),
    }


def _citation_notes_json(citation: CitationVerdict) -> CitationNotesJson:
    result: CitationNotesJson = {}
    if citation.missing:
        result["missing"] = True
    if citation.warning:
        result["warning"] = citation.warning
    if citation.notes:
        result["notes"] = list(citation.notes)
    return result
