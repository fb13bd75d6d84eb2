"""Documents, or a library, as a corpus."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from whycite.documents import Document, stream
from whycite.documents.identity import Papers, paper_key
from whycite.evaluation.records import Known, facts_of, known_facts
from whycite.evidence import Span, extract_many
from whycite.evidence.trimming import sentence
from whycite.library import Library
from whycite.library.exporting import said
from whycite.library.rows import searched, storable
from whycite.rerank.inputs import paper_text
from whycite.training.corpus import PACKED, Article, Corpus, Sentence, View, load

__all__ = ["corpus_of", "from_documents", "from_files", "from_library", "from_spans"]

_COMMITS = "commits.lance"  # every library has it

Watch = Callable[[int], None]
"""Told how many documents are read."""


def corpus_of(paths: Sequence[Path], jobs: int = 1, watch: Watch | None = None) -> Corpus:
    """The corpus in a packed file, that of a library, or that of all documents at the paths."""
    if len(paths) == 1 and paths[0].suffix == PACKED:
        return load(paths[0])
    if len(paths) == 1 and (paths[0] / _COMMITS).is_dir():
        return from_library(Library.open(paths[0]))
    return from_files(paths, jobs, watch)


def from_library(library: Library) -> Corpus:
    """The corpus of the documents in a library; of dates it knows the year."""
    found: dict[int, dict[str, Sentence]] = {}
    for each in said(library):
        sentences = found.setdefault(each.document, {})
        held = sentences.get(each.sentence, Sentence(each.sentence, each.section_type, ()))
        views = {view.text: view.papers for view in held.views}
        views[each.text] = tuple(sorted({*views.get(each.text, ()), each.paper}))
        sentences[each.sentence] = replace(held, views=tuple(View(text, cited) for text, cited in views.items()))
    articles = [
        Article(
            entry.key or entry.path,
            f"{entry.year:04}" if entry.year else "",
            (),
            tuple(found.get(entry.id, {}).values()),
        )
        for entry in library.documents()
    ]
    cited = sorted({paper for article in articles for each in article.sentences for paper in each.papers})
    papers = {id: paper_text(paper.title, paper.abstract) for id, paper in library.papers(cited).items()}
    articles.sort(key=lambda article: (article.date, article.key))
    return Corpus((), papers).only(articles)


def from_files(paths: Sequence[Path], jobs: int = 1, watch: Watch | None = None) -> Corpus:
    """The corpus of all documents at the paths: files, folders, archives."""
    documents = (document for path in paths for document in stream(path))
    return from_documents(_watched(documents, watch), known_facts(paths), jobs)


def from_documents(documents: Iterable[Document], known: Known | None = None, jobs: int = 1) -> Corpus:
    """The corpus of documents; `known` has the dates and subjects that they do not tell themselves."""
    return from_spans(extract_many(documents, jobs), known or {})


def from_spans(documents: Iterable[tuple[Document, Sequence[Span]]], known: Known) -> Corpus:
    """The corpus of documents whose evidence spans are found."""
    papers = Papers()
    texts: list[str] = []  # by the order in which papers are met, as all numbers until they are joined
    articles: list[Article] = []
    for document, spans in documents:
        numbers: dict[str, int] = {}  # of what it cites, by its own ids
        for reference in (document.paper, *document.references):
            if reference.title:
                numbers[reference.id] = len(papers)
                papers.add(reference)
                texts.append(searched(reference))
        facts = facts_of(document.paper, known)
        key = paper_key(document.paper) or document.path
        articles.append(Article(key, facts.date, facts.subjects, tuple(_sentences(spans, numbers))))
    groups = papers.groups()
    told: dict[int, str] = {}
    for group, text in zip(groups, texts, strict=True):
        if len(text) > len(told.get(group, "")):
            told[group] = text
    articles.sort(key=lambda article: (article.date, article.key))
    joined = [replace(article, sentences=tuple(_joined(article.sentences, groups))) for article in articles]
    return Corpus((), told).only(joined)


def _sentences(spans: Iterable[Span], numbers: dict[str, int]) -> Iterator[Sentence]:
    """Sentences with their views; a citation whose reference has no title is none."""
    found: dict[int, Sentence] = {}
    for span in spans:
        cited = tuple(dict.fromkeys(numbers[key] for key in span.keys if key in numbers))
        if cited:
            text = storable(sentence(span.context) or span.text)
            held = found.get(span.sentence, Sentence(text, span.section_type, ()))
            found[span.sentence] = replace(held, views=(*held.views, View(storable(span.text), cited)))
    return iter(found.values())


def _joined(sentences: Iterable[Sentence], groups: Sequence[int]) -> Iterator[Sentence]:
    for each in sentences:
        views = (replace(view, papers=tuple(sorted({groups[paper] for paper in view.papers}))) for view in each.views)
        yield replace(each, views=tuple(views))


def _watched(documents: Iterable[Document], watch: Watch | None) -> Iterator[Document]:
    for number, document in enumerate(documents, start=1):
        yield document
        if watch:
            watch(number)
