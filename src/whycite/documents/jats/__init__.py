"""Reads JATS XML, as eLife, PLOS, PMC and most publishers of biology and medicine write it; and their metadata."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import takewhile

from whycite.documents.builder import Builder, read_part
from whycite.documents.identity import normalise_arxiv, normalise_doi, normalise_isbn, normalise_pmcid, normalise_pmid
from whycite.documents.jats.body import JatsBody, ReferenceOrder, join_citations
from whycite.documents.model import Document, Notice, NoticeKind, Publication, Reference
from whycite.documents.references.names import person
from whycite.documents.references.printed import parse_printed
from whycite.documents.references.reader import full_date, iso_date, normalise_pages, page_range, web_address
from whycite.documents.sources import Source
from whycite.documents.xmltree import Node, Tree, load_tree, plain_text

__all__ = ["READER", "amended_references", "own_reference", "read_references"]

_CITATIONS = ("element-citation", "nlm-citation", "mixed-citation", "citation")
_TITLES = ("article-title", "chapter-title", "part-title", "data-title", "trans-title")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_DATES = ("pub", "epub", "publication", "ppub", "collection")  # kinds of dates, the one a paper is cited by first
# Kinds of publications in CSL's words.
_TYPES = {
    "journal": "article-journal", "book": "book", "confproc": "paper-conference", "conference": "paper-conference",
    "preprint": "article", "thesis": "thesis", "report": "report", "web": "webpage", "webpage": "webpage",
    "website": "webpage", "software": "software", "data": "dataset", "database": "dataset", "patent": "patent",
    "newspaper": "article-newspaper", "magazine": "article-magazine",
}  # fmt: skip
_NOTICES: dict[str, NoticeKind] = {
    "retraction": "retraction", "correction": "correction", "partial-retraction": "correction",
    "expression-of-concern": "concern",
}  # fmt: skip
# Kinds of links from a notice to the papers it is about, and from a paper to its notices.
_AMENDED: dict[str, NoticeKind] = {
    "retracted-article": "retraction", "corrected-article": "correction", "partial-retraction": "correction",
    "object-of-concern": "concern",
}  # fmt: skip
_FORWARD: dict[str, NoticeKind] = {
    "retraction-forward": "retraction", "retraction": "retraction", "correction-forward": "correction",
    "correction": "correction", "expression-of-concern-forward": "concern", "expression-of-concern": "concern",
}  # fmt: skip


def read_references(article: Node) -> Iterator[Reference]:
    """The entries of every reference list, in print order."""
    for number, entry in enumerate(article.descend("ref", skip=("sub-article", "response", "ref")), 1):
        yield _reference(entry.get("id") or f"ref{number}", entry)


def _reference(id: str, entry: Node) -> Reference:
    citations = list(entry.descend(*_CITATIONS, skip=_CITATIONS))
    structured = [node for node in citations if node.find("article-title") or node.find("source")]
    node = (structured or citations or [entry])[0]
    people = [group for group in node.find_all("person-group") if group.get("person-group-type") in ("author", "")]
    groups = people or [*node.find_all("person-group")] or [node]
    text = plain_text(node, skip=("label",))
    source = plain_text(node.find("source"))
    title = next((shown for tag in _TITLES if (shown := plain_text(node.find(tag)))), "")
    if not title and not source:
        return parse_printed(id, text)
    conference = plain_text(node.find("conf-name"))
    return Reference(
        id=id,
        title=(title or source).rstrip("."),
        authors=tuple(name for group in groups for name in _people(group)),
        year=_cited_year(node),
        venue=(source or conference) if title else plain_text(node.find("publisher-name")),
        doi=_doi(node),
        arxiv=normalise_arxiv(_pub_id(node, "arxiv")) or (normalise_arxiv(text) if "arxiv" in text.lower() else ""),
        pmid=normalise_pmid(_pub_id(node, "pmid")) or _linked_pmid(node),
        isbn=normalise_isbn(plain_text(node.find("isbn")) or _pub_id(node, "isbn")),
        text="" if title else text,
        publication=replace(
            _numbers(node),
            type=_type(node),
            et_al=any(group.find("etal") is not None for group in (node, *groups)),
            editors=tuple(
                name
                for group in node.find_all("person-group")
                if group.get("person-group-type") in ("editor", "editors")
                for name in _people(group)
            ),
            publisher=plain_text(node.find("publisher-name")),
            place=plain_text(node.find("publisher-loc")) or plain_text(node.find("conf-loc")),
            edition=plain_text(node.find("edition")) or plain_text(node.find("version")),
            series=plain_text(node.find("series")),
            pmcid=normalise_pmcid(_pub_id(node, "pmcid") or _pub_id(node, "pmc")),
            url=_url(node),
            date=full_date(_iso_date(node), _cited_year(node)),
            accessed=_access_date(node),
        ),
    )


def _cited_year(node: Node) -> int | None:
    return _year(
        plain_text(node.find("year")) or plain_text(node.find("date", "year")) or plain_text(node.find("date"))
    )


def _iso_date(date: Node) -> str:
    """The date that elements in another one name, in ISO form."""
    year, month, day = (plain_text(date.find(tag)) for tag in ("year", "month", "day"))
    return iso_date(f"{year[:4]}-{month}-{day}" if day else f"{year[:4]}-{month}") or iso_date(f"{day} {month} {year}")


def _access_date(node: Node) -> str:
    """When the address of a citation was visited."""
    date = node.find("date-in-citation") or node.find("access-date")
    return (iso_date(date.get("iso-8601-date")) or _iso_date(date) or iso_date(plain_text(date))) if date else ""


def _type(node: Node) -> str:
    type = _TYPES.get(node.get("publication-type") or node.get("citation-type"), "")
    return "chapter" if type == "book" and (node.find("chapter-title") or node.find("article-title")) else type


def _numbers(node: Node) -> Publication:
    """Volume, issue and pages, of a citation or of the article itself."""
    first_page, last_page, article_number, pages = (
        plain_text(node.find(tag)) for tag in ("fpage", "lpage", "elocation-id", "page-range")
    )
    if normalise_doi(article_number):  # some put the DOI there
        article_number = ""
    return Publication(
        volume=plain_text(node.find("volume")),
        issue=plain_text(node.find("issue")) or plain_text(node.find("supplement")),
        pages=page_range(first_page, last_page) or normalise_pages(pages) or article_number,
        issn=plain_text(node.find("issn")),
    )


def _url(node: Node) -> str:
    links = [link.get("href") or plain_text(link) for link in node.descend("ext-link", "uri")]
    return web_address(*links, *(plain_text(comment) for comment in node.descend("comment")))


def own_reference(article: Node) -> Reference:
    """The article itself: title, authors, year, journal, identifiers."""
    front = article.find("front") or article
    meta = front.find("article-meta") or front
    ids = {node.get("pub-id-type"): plain_text(node) for node in meta.find_all("article-id")}
    journal = front.find("journal-meta")
    venue = next((plain_text(node) for node in journal.descend("journal-title")), "") if journal else ""
    authors = [
        c
        for group in meta.find_all("contrib-group")
        for c in group.find_all("contrib")
        if c.get("contrib-type") in ("author", "")
    ]
    title = meta.find("title-group", "article-title") or meta.find("article-title")
    doi = normalise_doi(ids.get("doi", ""))
    publisher = journal.find("publisher") if journal else None
    return Reference(
        id=doi or ids.get("publisher-id", "") or ids.get("pmc", ""),
        title=plain_text(title, skip=("xref", "fn", "tex-math")),
        authors=tuple(name for author in authors for name in _people(author)),
        year=_publication_year(meta),
        venue=venue,
        doi=doi,
        arxiv=normalise_arxiv(ids.get("arxiv", "")),
        pmid=normalise_pmid(ids.get("pmid", "")),
        publication=replace(
            _numbers(meta),
            date=full_date(_publication_date(meta), _publication_year(meta)),
            type=_NOTICES.get(article.get("article-type"), "article-journal" if venue else ""),
            publisher=plain_text(publisher.find("publisher-name")) if publisher else "",
            place=plain_text(publisher.find("publisher-loc")) if publisher else "",
            issn=plain_text(journal.find("issn")) if journal else "",
            pmcid=normalise_pmcid(ids.get("pmcid", "") or ids.get("pmc", "")),
        ),
        notices=tuple(
            Notice(_FORWARD[type], doi=doi, source="the article itself")
            for type, doi in _related_articles(meta)
            if type in _FORWARD
        ),
    )


def amended_references(article: Node, paper: Reference) -> Iterator[Reference]:
    """The papers that an article retracts or corrects, each with the article as the notice."""
    front = article.find("front") or article
    meta = front.find("article-meta") or front
    for type, doi in _related_articles(meta):
        if type in _AMENDED:
            notice = Notice(_AMENDED[type], paper.doi, _publication_date(meta), source=paper.venue)
            yield Reference(id=doi, doi=doi, notices=(notice,))


def _related_articles(meta: Node) -> Iterator[tuple[str, str]]:
    """The kind and the DOI of each article that this one is linked with."""
    for node in meta.find_all("related-article"):
        if doi := normalise_doi(node.get("href")):
            yield node.get("related-article-type"), doi


def _publication_date(meta: Node) -> str:
    """The day of publication in ISO form, as far as known."""
    dates = {date.get("date-type") or date.get("pub-type"): date for date in meta.find_all("pub-date")}
    date = next((dates[kind] for kind in (*_DATES, *dates) if kind in dates), None)
    if date is None:
        return ""
    parts = [plain_text(date.find(tag)) for tag in ("year", "month", "day")]
    numbers = takewhile(str.isdigit, parts)
    return "-".join(part.zfill(2) for part in numbers)


def _publication_year(meta: Node) -> int | None:
    years: dict[str, int] = {}
    for date in meta.find_all("pub-date"):
        year = _year(plain_text(date.find("year")))
        if year is not None:
            years.setdefault(date.get("date-type") or date.get("pub-type"), year)
    return next((years[kind] for kind in (*_DATES, *years) if kind in years), None)


def _people(group: Node) -> Iterator[str]:
    """The names in a person group, a contributor or a citation: people and institutions."""
    name_tags = ("name", "string-name", "collab", "name-alternatives")
    for node in group.children:
        if not isinstance(node, Node) or node.tag not in name_tags:
            continue
        if node.tag == "name-alternatives":
            node = node.find("name") or node.find("string-name") or node
        given_names = " ".join(plain_text(part) for part in node.find_all("given-names"))
        family = " ".join(plain_text(part) for part in node.find_all("surname"))
        suffix = plain_text(node.find("suffix"))
        name = person(family, f"{given_names} {suffix}") if family else plain_text(node, skip=("contrib-group", "xref"))
        if name:
            yield name


def _pub_id(node: Node, kind: str) -> str:
    return next((plain_text(pub_id) for pub_id in node.descend("pub-id") if pub_id.get("pub-id-type") == kind), "")


def _doi(node: Node) -> str:
    """A DOI as a pub-id, else as a link, else as a comment."""
    links = [link.get("href") or plain_text(link) for link in node.descend("ext-link", "uri")]
    comments = [plain_text(comment) for comment in node.descend("comment", "elocation-id")]
    return next((doi for text in (_pub_id(node, "doi"), *links, *comments) if (doi := normalise_doi(text))), "")


def _linked_pmid(node: Node) -> str:
    links = (link for link in node.descend("ext-link") if link.get("ext-link-type") == "pmid")
    return next((normalise_pmid(link.get("href") or plain_text(link)) for link in links), "")


def _year(text: str) -> int | None:
    match = _YEAR.search(text)
    return int(match[0]) if match else None


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
