"""The reference list of a JATS article, and what the article says of itself."""

from __future__ import annotations

import re
from collections.abc import Iterator

from whycite.documents.bibliographies.names import person
from whycite.documents.bibliographies.printed import parse_printed
from whycite.documents.identity import normalise_arxiv, normalise_doi, normalise_isbn, normalise_pmid
from whycite.documents.model import Reference
from whycite.documents.xml.tree import Node, plain

__all__ = ["own_reference", "references"]

_CITATIONS = ("element-citation", "nlm-citation", "mixed-citation", "citation")
_TITLES = ("article-title", "chapter-title", "part-title", "data-title", "trans-title")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_DATES = ("pub", "epub", "publication", "ppub", "collection")  # the date a paper is cited by, most telling first


def references(article: Node) -> Iterator[Reference]:
    """The entries of every reference list, in print order."""
    for number, entry in enumerate(article.descend("ref", skip=("sub-article", "response", "ref")), 1):
        yield _reference(entry.get("id") or f"ref{number}", entry)


def _reference(id: str, entry: Node) -> Reference:
    found = list(entry.descend(*_CITATIONS, skip=_CITATIONS))
    structured = [node for node in found if node.first("article-title") or node.first("source")]
    node = (structured or found or [entry])[0]
    people = [group for group in node.all("person-group") if group.get("person-group-type") in ("author", "")]
    groups = people or [*node.all("person-group")] or [node]
    text = plain(node, skip=("label",))
    source = plain(node.first("source"))
    title = next((shown for tag in _TITLES if (shown := plain(node.first(tag)))), "")
    if not title and not source:
        return parse_printed(id, text)
    return Reference(
        id=id,
        title=(title or source).rstrip("."),
        authors=tuple(name for group in groups for name in _people(group)),
        year=_year(plain(node.first("year")) or plain(node.first("date", "year")) or plain(node.first("date"))),
        venue=source if title else plain(node.first("publisher-name")),
        doi=_doi(node),
        arxiv=normalise_arxiv(_pub_id(node, "arxiv")) or (normalise_arxiv(text) if "arxiv" in text.lower() else ""),
        pmid=normalise_pmid(_pub_id(node, "pmid")) or _linked_pmid(node),
        isbn=normalise_isbn(plain(node.first("isbn")) or _pub_id(node, "isbn")),
        text="" if title else text,
    )


def own_reference(article: Node) -> Reference:
    """The article itself: title, authors, year, journal, identifiers."""
    front = article.first("front") or article
    meta = front.first("article-meta") or front
    ids = {node.get("pub-id-type"): plain(node) for node in meta.all("article-id")}
    journal = front.first("journal-meta")
    venue = next((plain(node) for node in journal.descend("journal-title")), "") if journal else ""
    authors = [
        c
        for group in meta.all("contrib-group")
        for c in group.all("contrib")
        if c.get("contrib-type") in ("author", "")
    ]
    title = meta.first("title-group", "article-title") or meta.first("article-title")
    doi = normalise_doi(ids.get("doi", ""))
    return Reference(
        id=doi or ids.get("publisher-id", "") or ids.get("pmc", ""),
        title=plain(title, skip=("xref", "fn", "tex-math")),
        authors=tuple(name for author in authors for name in _people(author)),
        year=_published(meta),
        venue=venue,
        doi=doi,
        arxiv=normalise_arxiv(ids.get("arxiv", "")),
        pmid=normalise_pmid(ids.get("pmid", "")),
    )


def _published(meta: Node) -> int | None:
    years: dict[str, int] = {}
    for date in meta.all("pub-date"):
        year = _year(plain(date.first("year")))
        if year is not None:
            years.setdefault(date.get("date-type") or date.get("pub-type"), year)
    return next((years[kind] for kind in (*_DATES, *years) if kind in years), None)


def _people(group: Node) -> Iterator[str]:
    """The names in a person group, a contributor or a citation, people and bodies alike."""
    within = ("name", "string-name", "collab", "name-alternatives")
    for node in group.children:
        if not isinstance(node, Node) or node.tag not in within:
            continue
        if node.tag == "name-alternatives":
            node = node.first("name") or node.first("string-name") or node
        given = " ".join(plain(part) for part in node.all("given-names"))
        family = " ".join(plain(part) for part in node.all("surname"))
        suffix = plain(node.first("suffix"))
        name = person(family, f"{given} {suffix}") if family else plain(node, skip=("contrib-group", "xref"))
        if name:
            yield name


def _pub_id(node: Node, kind: str) -> str:
    return next((plain(found) for found in node.descend("pub-id") if found.get("pub-id-type") == kind), "")


def _doi(node: Node) -> str:
    """A DOI as a pub-id, else as a link, else as a comment."""
    links = [link.get("href") or plain(link) for link in node.descend("ext-link", "uri")]
    comments = [plain(comment) for comment in node.descend("comment", "elocation-id")]
    return next((doi for text in (_pub_id(node, "doi"), *links, *comments) if (doi := normalise_doi(text))), "")


def _linked_pmid(node: Node) -> str:
    links = (link for link in node.descend("ext-link") if link.get("ext-link-type") == "pmid")
    return next((normalise_pmid(link.get("href") or plain(link)) for link in links), "")


def _year(text: str) -> int | None:
    found = _YEAR.search(text)
    return int(found[0]) if found else None
