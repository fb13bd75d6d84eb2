"""Documents, or a library, as a corpus."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from whycite.documents import Document, stream
from whycite.documents.identity import Papers, paper_key
from whycite.errors import UserError
from whycite.evaluation.records import Known, facts_of, known_facts
from whycite.evidence import Span, extract_many
from whycite.evidence.trimming import sentence
from whycite.library import Library
from whycite.library.exporting import said
from whycite.library.rows import searched, storable
from whycite.rerank.inputs import paper_text
from whycite.training.corpus import Article, Corpus, Sentence, View, is_packed, load

__all__ = ["corpus_of", "from_documents", "from_files", "from_library", "from_spans"]

_COMMITS = "commits.lance"  # every library has it

Watch = Callable[[int], None]
"""Told how many documents are read."""

Warn = Callable[[str], None]
"""Told a sentence for each document that could not be read."""


def corpus_of(paths: Sequence[Path], jobs: int = 1, watch: Watch | None = None, warn: Warn | None = None) -> Corpus:
    """The corpus in a packed file, that of a library, or that of all documents at the paths."""
    ready = [path for path in paths if is_packed(path) or (path / _COMMITS).is_dir()]
    if not ready:
        return from_files(paths, jobs, watch, warn)
    if len(paths) > 1:
        raise UserError(f"{ready[0]} is a corpus or a library, which is taken alone, not with other data")
    return load(ready[0]) if ready[0].is_file() else from_library(Library.open(ready[0]))


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
    return _corpus(articles, {id: text for id, text in papers.items() if text})


def from_files(paths: Sequence[Path], jobs: int = 1, watch: Watch | None = None, warn: Warn | None = None) -> Corpus:
    """The corpus of all documents at the paths: files, folders, archives."""
    documents = (document for path in paths for document in stream(path))
    return from_documents(_watched(documents, watch, warn), known_facts(paths), jobs)


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
    joined = [replace(article, sentences=tuple(_joined(article.sentences, groups))) for article in articles]
    return _corpus(joined, told)


def _corpus(articles: Iterable[Article], papers: Mapping[int, str]) -> Corpus:
    """Articles that cite, oldest first, without citations of papers of which nothing is told."""
    kept = []
    for article in articles:
        sentences = []
        for each in article.sentences:
            told = (replace(view, papers=tuple(id for id in view.papers if id in papers)) for view in each.views)
            views = tuple(view for view in told if view.papers)
            if views:
                sentences.append(replace(each, views=views))
        if sentences:
            kept.append(replace(article, sentences=tuple(sentences)))
    kept.sort(key=lambda article: (article.date, article.key))
    return Corpus((), papers).only(kept)


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


def _watched(documents: Iterable[Document], watch: Watch | None, warn: Warn | None) -> Iterator[Document]:
    for number, document in enumerate(documents, start=1):
        if warn and document.warnings and not document.sentences:
            warn(document.warnings[0])
        yield document
        if watch:
            watch(number)
