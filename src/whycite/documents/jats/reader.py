"""Reads a JATS file: one document an article, sub-articles (letters, responses) left out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from whycite.documents.builder import Builder
from whycite.documents.jats.body import Body
from whycite.documents.jats.citations import Order, join_citations
from whycite.documents.jats.references import own_reference, references
from whycite.documents.model import Document, Reference
from whycite.documents.sources import Source
from whycite.documents.xml.tree import Node, Tree, load, plain

__all__ = ["READER"]

_ROOT = re.compile(rb"<(?:[\w.-]{1,20}:)?(?:article|pmc-articleset)[\s>]")
_OTHER_ROOT = re.compile(rb"<(?:TEI|html)[\s>]|docbook", re.IGNORECASE)


class JatsReader:
    """Journal articles in JATS or NLM XML."""

    name = "jats"
    suffixes = (".xml", ".nxml", ".jats")

    def sniff(self, head: bytes) -> bool:
        return _ROOT.search(head) is not None and _OTHER_ROOT.search(head) is None

    def read(self, source: Source) -> Iterator[Document]:
        tree = load(source)
        articles = list(_articles(tree.root)) if tree.root else []
        for article in articles:
            path = source.path if len(articles) == 1 else f"{source.path}:{tree.line(article.start)}"
            yield _document(article, Builder(path, self.name), tree, source.path)
        if not articles:
            builder = Builder(source.path, self.name)
            builder.warnings += [*tree.warnings, f"{source.path}:1: no JATS article in this file"]
            yield builder.document(Reference(source.path))


READER = JatsReader()


def _articles(root: Node) -> Iterator[Node]:
    if root.tag == "article":
        yield root
    else:
        yield from root.descend("article", skip=("article",))


def _document(article: Node, builder: Builder, tree: Tree, file: str) -> Document:
    builder.warnings += tree.warnings
    entries = list(references(article))
    order = Order(tuple(dict.fromkeys(entry.id for entry in entries)))
    body = Body(builder, file, order)
    meta = article.first("front", "article-meta")
    abstracts = list(meta.all("abstract")) if meta else []
    running: set[int] = set()  # sentences of the abstract and the body
    for part in (*abstracts, *(n for tag in ("body", "back", "floats-group") for n in article.all(tag))):
        join_citations(part, order)
        before = builder.sentence_count
        body.read(part)
        if part.tag == "body" or (part.tag == "abstract" and not part.get("abstract-type")):
            running.update(range(before, builder.sentence_count))
    paper = own_reference(article)
    main = next((node for node in abstracts if not node.get("abstract-type")), None)
    if main:
        shown = (plain(node) for node in main.descend("p", skip=("p",)))
        paper = replace(paper, abstract=" ".join(text for text in shown if not text.startswith("DOI:")))
    return _set_apart(builder.document(paper, entries), running)


def _set_apart(document: Document, running: set[int]) -> Document:
    """Running text in `sentences`, all else in `asides`: other forms of an article hold the former only."""
    told = [(at in running and s.kind == "prose", s) for at, s in enumerate(document.sentences)]
    return replace(
        document,
        sentences=tuple(sentence for runs, sentence in told if runs),
        asides=tuple(sentence for runs, sentence in told if not runs),
    )
