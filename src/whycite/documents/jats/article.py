"""Reads a JATS file: one document per article, without sub-articles."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from whycite.documents.builder import Builder, read_part
from whycite.documents.jats.body import JatsBody, ReferenceOrder, join_citations
from whycite.documents.jats.metadata import amended_references, own_reference, read_references
from whycite.documents.model import Document, Reference
from whycite.documents.sources import Source
from whycite.documents.xmltree import Node, Tree, load_tree, plain_text

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
        tree = load_tree(source)
        articles = list(_articles(tree.root)) if tree.root else []
        for article in articles:
            path = source.path if len(articles) == 1 else f"{source.path}:{tree.line(article.start)}"
            yield read_part(path, partial(_document, article, Builder(path, self.name), tree, source.path))
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
    entries = list(read_references(article))
    order = ReferenceOrder(tuple(dict.fromkeys(entry.id for entry in entries)))
    body = JatsBody(builder, file, order)
    meta = article.find("front", "article-meta")
    abstracts = list(meta.find_all("abstract")) if meta else []
    running: set[int] = set()  # sentences of the abstract and the body
    for part in (*abstracts, *(n for tag in ("body", "back", "floats-group") for n in article.find_all(tag))):
        join_citations(part, order)
        start = builder.sentence_count
        body.read(part)
        if part.tag == "body" or (part.tag == "abstract" and not part.get("abstract-type")):
            running.update(range(start, builder.sentence_count))
    paper = own_reference(article)
    main = next((node for node in abstracts if not node.get("abstract-type")), None)
    if main:
        paragraphs = (plain_text(node) for node in main.descend("p", skip=("p",)))
        paper = replace(paper, abstract=" ".join(text for text in paragraphs if not text.startswith("DOI:")))
    document = replace(builder.document(paper, entries), amended=tuple(amended_references(article, paper)))
    return _split_asides(document, running)


def _split_asides(document: Document, running: set[int]) -> Document:
    """Running text in `sentences`, everything else in `asides`: other formats of an article have only the former."""
    sentences = [(index in running and s.kind == "prose", s) for index, s in enumerate(document.sentences)]
    return replace(
        document,
        sentences=tuple(sentence for is_running, sentence in sentences if is_running),
        asides=tuple(sentence for is_running, sentence in sentences if not is_running),
    )
