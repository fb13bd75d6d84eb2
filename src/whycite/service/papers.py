"""Full texts at hand: a file, or a paper of the library by key, DOI or title; and who said a sentence."""

from __future__ import annotations

import re
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from whycite import structure
from whycite.documents.identity import normalise_arxiv, normalise_doi, normalise_title
from whycite.documents.model import Document, Reference, Sentence
from whycite.errors import UserError
from whycite.library.paths import library_exists
from whycite.service.loading import CurrentLibrary
from whycite.text.tokens import fold
from whycite.verify.claims import OpenDocument, open_document
from whycite.verify.fulltexts import FullText, match_references, open_full_text, texts_in_library
from whycite.verify.verification import Verification, unchecked

if TYPE_CHECKING:
    from whycite.library import Library, LibraryDocument, SourceDocument

__all__ = ["LibraryCitations", "PaperLookup", "SourceMatch", "SourceSearch", "StoredPaper", "find_in_document"]

_MAX_OPEN = 4  # papers ready for claims
_MAX_SUGGESTIONS = 3
_WORD = re.compile(r"\w+")
_RAW_SUFFIXES = (".xml", ".nxml", ".tex", ".md", ".qmd", ".rmd", ".typ", ".txt", ".json", ".jsonl")
_MAX_RAW_SIZE = 20_000_000  # bytes of a file that is searched for words before it is read
_SIGNAL_WORDS = 3  # the longest words of a quotation, which a text that contains it must have
_MIN_SIGNAL_LENGTH = 4
_MAX_READ = 60  # papers that one search reads; the likeliest come first
_SEARCH_SECONDS = 20.0
_SPANS_SEARCHED = 50
_MIN_SIMILARITY = 0.6  # share of the words of a quotation from which a sentence is worth showing
_MIN_WORDS = 3


@dataclass(frozen=True, slots=True)
class StoredPaper:
    """A document of the library and the file to read it from."""

    entry: LibraryDocument
    full_text: FullText


@dataclass(frozen=True, slots=True)
class LibraryCitations:
    """How documents of the library cite a paper."""

    places: int
    documents: int
    sentences: tuple[tuple[str, SourceDocument], ...]  # one per document, as written


@dataclass(frozen=True, slots=True)
class SourceMatch:
    """Sentences of a paper that contain a quotation, or most of its words."""

    document: Document
    key: str
    sentences: tuple[Sentence, ...]
    similarity: float  # 1 if the quotation is there word for word


@dataclass(frozen=True, slots=True)
class SourceSearch:
    """The best matches for a quotation, and how many papers of the library were searched."""

    matches: tuple[SourceMatch, ...]
    searched: int
    total: int
    unreadable: int


class PaperLookup:
    """The papers of a library with their full texts; the last few stay ready for claims."""

    def __init__(self, current: CurrentLibrary) -> None:
        self._current = current
        self._lock = Lock()
        self._open_papers: OrderedDict[str, tuple[Document, OpenDocument]] = OrderedDict()

    def paper(self, name: str) -> Document:
        """The paper of the library that a key, DOI or title means."""
        return structure.label(open_full_text(self._find(name).full_text))

    def ready(self, document: Document) -> OpenDocument:
        """A paper, ready for any number of claims."""
        with self._lock:
            opened_document, opened = self._open_papers.get(document.path, (None, None))
            # Files change, and those of two people who ask a server may have the same path.
            if opened is None or opened_document != document:
                opened = open_document(document)
                self._open_papers[document.path] = document, opened
                if len(self._open_papers) > _MAX_OPEN:
                    self._open_papers.popitem(last=False)
            self._open_papers.move_to_end(document.path)
            return opened

    def file_of(self, key: str) -> str:
        """The file of the paper with a key; empty if the library has no full text of it."""
        return next((paper.full_text.file for paper in self.papers() if paper.entry.key == key), "")

    def path_of(self, reference: Reference) -> str:
        """The file of the paper that a reference means; empty if the library has no full text of it."""
        full_text = self._match(reference)
        return full_text.file if full_text is not None else ""

    def verify_reference(self, reference: Reference, claim: str) -> tuple[Verification, Document | None]:
        """Whether the paper that a reference means backs a claim, and that paper; it may not be at hand."""
        try:
            full_text = self._match(reference)
            if full_text is None:
                return unchecked(claim, "the library has no full text of this paper"), None
            document = structure.label(open_full_text(full_text))
        except UserError as error:
            return unchecked(claim, str(error)), None
        return self.ready(document).verify(claim), document

    def library_citations(self, reference: Reference, n: int) -> LibraryCitations | None:
        """How the library cites the paper that a reference means, with at most `n` sentences; None if it does not."""
        if not library_exists(self._current.path):
            return None
        from whycite.library.records import identifier

        library = self._current.library()
        [key] = library.find([reference])
        places = library.citing_places(identifier(key)) if key else []
        if not places:
            return None
        first_places = {document: (document, place) for document, place in reversed(places)}
        shown = [first_places[document] for document in sorted(first_places)[:n]]
        sources = library.sources([document for document, _ in shown])
        written = library.sentences_at(shown)
        sentences = tuple((written[place], sources[place[0]]) for place in shown if written.get(place))
        return LibraryCitations(len(places), len(first_places), sentences)

    def find_source(self, quotation: str, n: int) -> SourceSearch:
        """The papers of the library that say a sentence, best first."""
        if len(_words(quotation)) < _MIN_WORDS:
            raise UserError(f"the quotation is too short to be found; give at least {_MIN_WORDS} words")
        papers = self._likeliest_first(quotation)
        matches: list[SourceMatch] = []
        searched = unreadable = read_count = 0
        deadline = time.monotonic() + _SEARCH_SECONDS
        for paper in papers:
            if read_count >= _MAX_READ or time.monotonic() > deadline:
                break
            searched += 1
            if paper.full_text.problem:
                unreadable += 1
                continue
            if not _may_contain(paper.full_text.file, quotation):
                continue
            read_count += 1
            try:
                document = structure.label(open_full_text(paper.full_text))
            except UserError:
                unreadable += 1
                continue
            if match := find_in_document(document, quotation, paper.entry.key):
                matches.append(match)
                if match.similarity == 1 and len(matches) >= n:
                    break
        best = sorted(matches, key=lambda match: -match.similarity)[:n]
        return SourceSearch(tuple(best), searched, len(papers), unreadable)

    def _match(self, reference: Reference) -> FullText | None:
        return match_references([reference], [paper.full_text for paper in self.papers()])[0]

    def papers(self) -> list[StoredPaper]:
        """The documents of the library."""
        return self._current.answer_once(_stored_papers)

    def _find(self, name: str) -> StoredPaper:
        papers = self.papers()
        doi, arxiv = normalise_doi(name), normalise_arxiv(name)
        keys = {name, name.lower(), f"doi:{doi}", f"arxiv:{arxiv}"}
        by_key = next((paper for paper in papers if paper.entry.key in keys), None)
        if by_key is not None:
            return by_key
        full_texts = [paper.full_text for paper in papers]
        [match] = match_references([Reference("", title=name, doi=doi, arxiv=arxiv)], full_texts)
        if match is not None:
            return papers[full_texts.index(match)]
        titles = {normalise_title(paper.entry.title): paper.entry.title for paper in papers}
        close = get_close_matches(normalise_title(name), titles, _MAX_SUGGESTIONS)
        hint = f"; did you mean: {'; '.join(titles[title] for title in close)}" if close else ""
        raise UserError(f"{name}: neither a file nor a paper with a full text in the library{hint}")

    def _likeliest_first(self, quotation: str) -> list[StoredPaper]:
        """The papers of the library; first those that say something similar when they cite."""
        from whycite.models import load_encoder

        library = self._current.library()
        [vector] = load_encoder().encode([quotation])
        hits = library.search_spans(quotation, vector, _SPANS_SEARCHED)
        order: dict[int, float] = {}
        scores = {hit.id: hit.cosine for hit in hits}
        for citation in library.citations([*scores]):
            order[citation.document] = max(order.get(citation.document, 0.0), scores[citation.span])
        return sorted(self.papers(), key=lambda paper: -order.get(paper.entry.id, 0.0))


def _stored_papers(library: Library) -> list[StoredPaper]:
    return [
        StoredPaper(entry, text) for entry, text in zip(library.documents(), texts_in_library(library), strict=True)
    ]


def _may_contain(file: str, quotation: str) -> bool:
    """Whether a text file has the longest words of a quotation; files of other formats have to be read to know."""
    path = Path(file)
    if not file.lower().endswith(_RAW_SUFFIXES) or path.stat().st_size > _MAX_RAW_SIZE:
        return True
    words = sorted((word for word in _WORD.findall(quotation.lower()) if word.isascii()), key=len, reverse=True)
    signals = [word for word in dict.fromkeys(words) if len(word) >= _MIN_SIGNAL_LENGTH][:_SIGNAL_WORDS]
    content = path.read_bytes().lower()
    return sum(word.encode() in content for word in signals) >= len(signals) - 1


def find_in_document(document: Document, quotation: str, key: str = "") -> SourceMatch | None:
    """The sentences of a document that contain a quotation, or the one most like it; None if none is."""
    quoted_words = _words(quotation)
    sentences = (*document.sentences, *document.asides)
    words = [_words(sentence.text) for sentence in sentences]
    for texts in (words, [_words(sentence.without_citations()) for sentence in sentences]):
        if exact := _sentences_with(quoted_words, texts):
            return SourceMatch(document, key, sentences[exact.start : exact.stop], 1.0)
    shares = [_shared(quoted_words, sentence_words) for sentence_words in words]
    best = max(range(len(shares)), key=shares.__getitem__, default=None)
    if best is None or shares[best] < _MIN_SIMILARITY:
        return None
    return SourceMatch(document, key, (sentences[best],), min(shares[best], 0.99))


def _words(text: str) -> list[str]:
    """Words in a form in which quotations are compared: without case, accents, punctuation and line breaks."""
    return _WORD.findall(fold(text.replace("\u00ad", "")))


def _sentences_with(quoted_words: Sequence[str], sentences: Sequence[Sequence[str]]) -> range | None:
    """The sentences over which a sequence of words runs; None if it is not there."""
    owners = [index for index, words in enumerate(sentences) for _ in words]
    joined = f" {' '.join(word for words in sentences for word in words)} "
    place = joined.find(f" {' '.join(quoted_words)} ")
    if place < 0:
        return None
    first_word = joined.count(" ", 0, place)
    return range(owners[first_word], owners[first_word + len(quoted_words) - 1] + 1)


def _shared(quoted_words: Sequence[str], words: Sequence[str]) -> float:
    """The share of the quoted words that a sentence has."""
    return len({*quoted_words} & {*words}) / len({*quoted_words})
