"""Training corpora: articles, their citing sentences and the papers they cite, from documents or a library."""

from __future__ import annotations

import hashlib
import json
import lzma
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from whycite.documents import Document, stream
from whycite.documents.identity import Papers, paper_key
from whycite.errors import UserError
from whycite.evidence import EvidenceSpan, extract_many
from whycite.evidence.words import trim_sentence
from whycite.files import atomic_write
from whycite.lab.evaluate.topics import PublicationRecords, publication_record, read_publication_records
from whycite.library import Library
from whycite.library.paths import library_exists
from whycite.library.writer import search_text, storable_text
from whycite.models.pairs import paper_text

__all__ = [
    "Article",
    "CitingSentence",
    "Corpus",
    "View",
    "corpus_of",
    "digest",
    "from_documents",
    "from_files",
    "from_library",
    "from_spans",
    "is_packed",
    "load",
    "save",
]


_FORMAT = "whycite-corpus-1"
_DATE = re.compile(r"\d{4}(?:-\d\d){0,2}")


@dataclass(frozen=True, slots=True)
class View:
    """A way to say what a citation is for (an entity, a span or the whole sentence), and what it cites."""

    text: str
    papers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CitingSentence:
    """A citing sentence with its citations removed; `views` are its evidence spans (ILCiteR, section 5.2)."""

    text: str
    section_type: str | None
    views: tuple[View, ...]

    @property
    def papers(self) -> frozenset[int]:
        """All papers the sentence cites."""
        return frozenset(paper for view in self.views for paper in view.papers)


@dataclass(frozen=True, slots=True)
class Article:
    """A document with its citing sentences; `date` is "2025-10-20", "2025" or ""."""

    key: str
    date: str
    subjects: tuple[str, ...]
    sentences: tuple[CitingSentence, ...]


@dataclass(frozen=True, slots=True)
class Corpus:
    """Articles, oldest first, and the title (and abstract, on a second line) of each paper they cite."""

    articles: tuple[Article, ...]
    papers: Mapping[int, str]

    def until(self, date: str) -> Corpus:
        """Drop articles that came out on that day or later, or may have: for some only the year is known."""
        if not _DATE.fullmatch(date):
            raise UserError(f"'{date}' is not a date; write it as 2025-09-30, 2025-09 or 2025")
        return self.only(
            article for article in self.articles if article.date and article.date < date[: len(article.date)]
        )

    def without(self, keys: Iterable[str]) -> Corpus:
        """Drop the articles with those keys."""
        gone = frozenset(keys)
        return self.only(article for article in self.articles if article.key not in gone)

    def only(self, articles: Iterable[Article]) -> Corpus:
        """Keep only these articles and the papers they cite."""
        selected = tuple(articles)
        cited = {paper for article in selected for sentence in article.sentences for paper in sentence.papers}
        return Corpus(selected, {paper: text for paper, text in self.papers.items() if paper in cited})


def save(corpus: Corpus, path: Path) -> None:
    """Write a corpus as JSON lines, compressed by xz."""
    with atomic_write(path) as new, lzma.open(new, "wb", preset=6) as file:
        file.writelines(_lines(corpus))


def digest(corpus: Corpus) -> str:
    """A short hash that identifies the corpus."""
    state = hashlib.blake2b(digest_size=8)
    for line in _lines(corpus):
        state.update(line)
    return state.hexdigest()


def is_packed(path: Path) -> bool:
    """Whether a file holds a corpus."""
    try:
        with lzma.open(path, "rt", encoding="utf-8") as file:
            return file.readline(len(_FORMAT) + 3).strip() == json.dumps(_FORMAT)
    except (OSError, lzma.LZMAError, EOFError, ValueError):
        return False


def load(path: Path) -> Corpus:
    """Load the corpus in a packed file."""
    try:
        with lzma.open(path, "rt", encoding="utf-8") as file:
            records = map(json.loads, file)
            if next(records, None) != _FORMAT:
                raise ValueError("it was written by another version")
            papers: dict[int, str] = {}
            articles: list[Article] = []
            for record in records:
                if isinstance(record[0], int):
                    papers[record[0]] = record[1]
                else:
                    articles.append(_article(*record))
    except (OSError, lzma.LZMAError, EOFError, ValueError, TypeError, LookupError) as error:
        raise UserError(
            f"{path} cannot be read as a corpus ({error}); create one with `whycite train corpus`"
        ) from error
    return Corpus(tuple(articles), papers)


def _lines(corpus: Corpus) -> Iterator[bytes]:
    for record in _records(corpus):
        yield (json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n").encode()


def _records(corpus: Corpus) -> Iterator[Any]:
    yield _FORMAT
    yield from corpus.papers.items()
    for article in corpus.articles:
        sentences = [
            # Most views are the whole sentence.
            [
                sentence.text,
                sentence.section_type,
                [["" if view.text == sentence.text else view.text, view.papers] for view in sentence.views],
            ]
            for sentence in article.sentences
        ]
        yield [article.key, article.date, article.subjects, sentences]


def _article(key: str, date: str, subjects: list[str], sentences: list[Any]) -> Article:
    return Article(
        key,
        date,
        tuple(subjects),
        tuple(
            CitingSentence(text, section, tuple(View(view or text, tuple(papers)) for view, papers in views))
            for text, section, views in sentences
        ),
    )


Watch = Callable[[int], None]
"""Called with the number of documents read."""

Warn = Callable[[str], None]
"""Called with a message for each document that could not be read."""


def corpus_of(paths: Sequence[Path], jobs: int = 1, watch: Watch | None = None, warn: Warn | None = None) -> Corpus:
    """The corpus in a packed file, of a library, or of all documents at the paths."""
    ready = [path for path in paths if is_packed(path) or library_exists(path)]
    if not ready:
        return from_files(paths, jobs, watch, warn)
    if len(paths) > 1:
        raise UserError(f"{ready[0]} is a corpus or a library, and cannot be combined with other data")
    return load(ready[0]) if ready[0].is_file() else from_library(Library.open(ready[0]))


def from_library(library: Library) -> Corpus:
    """The corpus of the documents in a library, which knows only the years of their dates."""
    sentences_by_document: dict[int, dict[str, CitingSentence]] = {}
    for mention in library.cited_spans():
        sentences = sentences_by_document.setdefault(mention.document, {})
        citing_sentence = sentences.get(mention.sentence, CitingSentence(mention.sentence, mention.section_type, ()))
        views = {view.text: view.papers for view in citing_sentence.views}
        views[mention.text] = tuple(sorted({*views.get(mention.text, ()), mention.paper}))
        sentences[mention.sentence] = replace(
            citing_sentence, views=tuple(View(text, cited) for text, cited in views.items())
        )
    articles = [
        Article(
            entry.key or entry.path,
            f"{entry.year:04}" if entry.year else "",
            (),
            tuple(sentences_by_document.get(entry.id, {}).values()),
        )
        for entry in library.documents()
    ]
    cited = sorted(
        {paper for article in articles for citing_sentence in article.sentences for paper in citing_sentence.papers}
    )
    papers = {id: paper_text(paper.title, paper.abstract) for id, paper in library.papers(cited).items()}
    return _corpus(articles, {id: text for id, text in papers.items() if text})


def from_files(paths: Sequence[Path], jobs: int = 1, watch: Watch | None = None, warn: Warn | None = None) -> Corpus:
    """The corpus of all documents at the paths: files, folders, archives."""
    documents = (document for path in paths for document in stream(path))
    return from_documents(_report_progress(documents, watch, warn), read_publication_records(paths), jobs)


def from_documents(documents: Iterable[Document], metadata: PublicationRecords | None = None, jobs: int = 1) -> Corpus:
    """The corpus of documents; `known` has dates and subjects missing from the documents themselves."""
    return from_spans(extract_many(documents, jobs), metadata or {})


def from_spans(documents: Iterable[tuple[Document, Sequence[EvidenceSpan]]], metadata: PublicationRecords) -> Corpus:
    """The corpus of documents whose evidence spans have been found."""
    papers = Papers()
    texts: list[str] = []  # in order of first appearance, as are all numbers until they are merged
    articles: list[Article] = []
    for document, spans in documents:
        numbers: dict[str, int] = {}  # number of each cited paper, by the document's own ids
        for reference in (document.paper, *document.references):
            if reference.title:
                numbers[reference.id] = len(papers)
                papers.add(reference)
                texts.append(search_text(reference))
        facts = publication_record(document.paper, metadata)
        key = paper_key(document.paper) or document.path
        articles.append(Article(key, facts.date, facts.subjects, tuple(_sentences(spans, numbers))))
    groups = papers.groups()
    paper_texts: dict[int, str] = {}
    for group, text in zip(groups, texts, strict=True):
        if len(text) > len(paper_texts.get(group, "")):
            paper_texts[group] = text
    joined = [replace(article, sentences=tuple(_merge_papers(article.sentences, groups))) for article in articles]
    return _corpus(joined, paper_texts)


def _corpus(articles: Iterable[Article], papers: Mapping[int, str]) -> Corpus:
    """Keep articles that cite, oldest first, and drop citations of papers without any text."""
    citing_articles = []
    for article in articles:
        sentences = []
        for citing_sentence in article.sentences:
            narrowed_views = (
                replace(view, papers=tuple(id for id in view.papers if id in papers)) for view in citing_sentence.views
            )
            views = tuple(view for view in narrowed_views if view.papers)
            if views:
                sentences.append(replace(citing_sentence, views=views))
        if sentences:
            citing_articles.append(replace(article, sentences=tuple(sentences)))
    citing_articles.sort(key=lambda article: (article.date, article.key))
    return Corpus((), papers).only(citing_articles)


def _sentences(spans: Iterable[EvidenceSpan], numbers: dict[str, int]) -> Iterator[CitingSentence]:
    """Sentences with their views; citations whose reference has no title are dropped."""
    sentences: dict[int, CitingSentence] = {}
    for span in spans:
        cited = tuple(dict.fromkeys(numbers[key] for key in span.keys if key in numbers))
        if cited:
            text = storable_text(trim_sentence(span.context) or span.text)
            citing_sentence = sentences.get(span.sentence, CitingSentence(text, span.section_type, ()))
            sentences[span.sentence] = replace(
                citing_sentence, views=(*citing_sentence.views, View(storable_text(span.text), cited))
            )
    return iter(sentences.values())


def _merge_papers(sentences: Iterable[CitingSentence], groups: Sequence[int]) -> Iterator[CitingSentence]:
    for citing_sentence in sentences:
        views = (
            replace(view, papers=tuple(sorted({groups[paper] for paper in view.papers})))
            for view in citing_sentence.views
        )
        yield replace(citing_sentence, views=tuple(views))


def _report_progress(documents: Iterable[Document], watch: Watch | None, warn: Warn | None) -> Iterator[Document]:
    for number, document in enumerate(documents, start=1):
        if warn and document.warnings and not document.sentences:
            warn(document.warnings[0])
        yield document
        if watch:
            watch(number)
