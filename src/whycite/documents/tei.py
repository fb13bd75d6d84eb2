"""TEI XML, as GROBID produces it from PDFs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

from whycite.documents.builder import Builder, Prose, read_part
from whycite.documents.identity import normalise_arxiv, normalise_doi, normalise_isbn, normalise_pmcid, normalise_pmid
from whycite.documents.model import Document, Publication, Reference, SentenceKind
from whycite.documents.references.names import person
from whycite.documents.references.printed import parse_printed
from whycite.documents.references.reader import normalise_pages, page_range, web_address
from whycite.documents.sources import Source
from whycite.documents.xmltree import Node, Tree, Walk, XmlText, load_tree, plain_text

__all__ = ["READER"]

_ROOT = re.compile(rb"<(?:[\w.-]{1,20}:)?(?:TEI|teiCorpus)(?:\.2)?[\s>]")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_BLOCKS: dict[str, SentenceKind] = {
    "p": "prose",
    "ab": "prose",
    "item": "prose",
    "figDesc": "caption",
    "note": "footnote",
}
_FLOATS = frozenset({"figure", "note", "table"})
_NOT_PROSE = frozenset({"figDesc", "graphic", "head", "label", "listBibl", "table"})
_BREAKS = frozenset({"p", "item", "l", "ab"})


class TeiReader:
    """Papers in TEI XML."""

    name = "tei"
    suffixes = (".tei.xml", ".tei", ".xml")

    def sniff(self, head: bytes) -> bool:
        return _ROOT.search(head) is not None

    def read(self, source: Source) -> Iterator[Document]:
        tree = load_tree(source)
        papers = list(_papers(tree.root)) if tree.root else []
        for paper in papers:
            path = source.path if len(papers) == 1 else f"{source.path}:{tree.line(paper.start)}"
            yield read_part(path, partial(_document, paper, Builder(path, self.name), tree, source.path))
        if not papers:
            builder = Builder(source.path, self.name)
            builder.warnings += [*tree.warnings, f"{source.path}:1: no TEI text in this file"]
            yield builder.document(Reference(source.path))


READER = TeiReader()


def _papers(root: Node) -> Iterator[Node]:
    if root.tag.startswith("TEI"):
        yield root
    else:
        yield from root.descend("TEI", "TEI.2", skip=("TEI", "TEI.2"))


def _document(paper: Node, builder: Builder, tree: Tree, file: str) -> Document:
    builder.warnings += tree.warnings
    header = paper.find("teiHeader") or paper
    abstract = header.find("profileDesc", "abstract")
    body = _TeiBody(builder, file)
    if abstract:
        builder.section("Abstract")
        body.read(abstract)
    text = paper.find("text") or paper
    for part in (*text.find_all("body"), *text.find_all("back")):
        body.read(part)
    entries = (entry for bibliography in text.descend("listBibl") for entry in bibliography.find_all("biblStruct"))
    references = [_reference(entry.get("id") or f"b{index}", entry) for index, entry in enumerate(entries)]
    return builder.document(_own_reference(header, plain_text(abstract)), references)


class _TeiBody:
    """Fills a builder from the divisions of a text."""

    def __init__(self, builder: Builder, file: str) -> None:
        self._builder, self._file = builder, file
        self._prose: Prose | None = None
        self._kind: SentenceKind = "prose"
        self._opened_by: Node | None = None
        self._after_formula = False  # GROBID splits a paragraph at a displayed formula
        self._after_citation = False
        self._divisions = 0
        self._pending_floats: list[Node] = []

    def read(self, root: Node) -> None:
        """Add every section and paragraph below `root`; notes and figures inside a paragraph come after it."""
        walks = [Walk(root)]
        while walks:
            for item, opening in walks[-1]:
                if isinstance(item, XmlText):
                    if self._opened_by is not None:
                        self._text(item)
                elif opening:
                    self._enter(item, walks[-1])
                else:
                    self._leave(item)
                    if self._pending_floats and self._opened_by is None:
                        walks += map(Walk, reversed(self._pending_floats))
                        self._pending_floats = []
                        break
            else:
                walks.pop()
        self._finish()

    def _enter(self, node: Node, walk: Walk) -> None:
        in_block = self._opened_by is not None
        if in_block and node.tag in _FLOATS:
            self._pending_floats.append(node)
            walk.skip()
        elif node.tag == "ref" and node.get("type") == "bibr" and in_block:
            self._cite(node)
            walk.skip()
        elif node.tag == "formula":
            self._formula(node)
            walk.skip()
        elif node.tag == "head" and not in_block:
            self._section(node)
            walk.skip()
        elif node.tag in _BLOCKS and not in_block:
            self._open(node)
        elif node.tag in _NOT_PROSE:
            walk.skip()
        elif in_block and node.tag in _BREAKS:
            self._break(node)
        elif in_block and node.tag == "lb" and self._prose is not None:
            self._prose.add(" ", self._file, node.start, node.end)
        self._divisions += node.tag == "div"

    def _leave(self, node: Node) -> None:
        self._divisions -= node.tag == "div"
        if node is self._opened_by:
            self._opened_by = None
        elif self._opened_by is not None and node.tag in _BREAKS:
            self._break(node)

    def _section(self, node: Node) -> None:
        self._finish()
        numbers = [part for part in node.get("n").split(".") if part.strip()]
        if self._divisions:
            self._builder.section(plain_text(node), max(self._divisions, len(numbers)))

    def _open(self, node: Node) -> None:
        if not (self._after_formula and plain_text(node)[:1].islower()):
            self._finish()
            self._prose, self._kind = Prose(), _BLOCKS[node.tag]
        elif self._prose is not None:
            self._prose.add(" ", self._file, node.start, node.start)
        self._opened_by, self._after_formula = node, False

    def _finish(self) -> None:
        if self._prose:
            self._builder.paragraph(self._prose, self._kind)
        self._prose, self._after_formula = None, False

    def _break(self, node: Node) -> None:
        if self._prose is not None:
            self._prose.break_sentence()
            self._prose.add(" ", self._file, node.start, node.start)

    def _formula(self, node: Node) -> None:
        if self._prose is not None and self._kind == "prose":
            self._prose.add(" EQUATION ", self._file, node.start, node.end)
            self._after_formula = True

    def _cite(self, node: Node) -> None:
        if self._prose is None:
            return
        if self._after_citation:
            self._prose.add(" ", self._file, node.start, node.start)
        keys = tuple(dict.fromkeys(target.lstrip("#") for target in node.get("target").split()))
        self._prose.cite(plain_text(node), keys, self._file, node.start, node.end)
        self._after_citation = True

    def _text(self, text: XmlText) -> None:
        if self._prose is not None:
            self._prose.add(text.text, self._file, text.start, None if text.exact else text.end)
            self._after_citation = False


def _own_reference(header: Node, abstract: str) -> Reference:
    source_entry = header.find("fileDesc", "sourceDesc", "biblStruct") or header
    paper = _reference("", source_entry)
    title = plain_text(header.find("fileDesc", "titleStmt", "title"))
    publication_date = header.find("fileDesc", "publicationStmt", "date")
    return replace(
        paper,
        id=paper.doi or paper.arxiv,
        title=title or paper.title,
        venue=_title(source_entry.find("monogr")) if title else paper.venue,
        year=paper.year or _year(publication_date),
        abstract=abstract,
        text="",
    )


def _reference(id: str, entry: Node) -> Reference:
    analytic, monograph = entry.find("analytic"), entry.find("monogr")
    raw = next((plain_text(note) for note in entry.find_all("note") if note.get("type") == "raw_reference"), "")
    title, source = _title(analytic), _title(monograph)
    if not title and not source:
        return parse_printed(id, raw or plain_text(entry))
    ids = {node.get("type").lower(): plain_text(node) for node in entry.descend("idno")}
    links = " ".join(node.get("target") for node in entry.descend("ptr"))
    people = _people(analytic) or _people(monograph)
    dates = list(monograph.descend("date")) if monograph else []
    return Reference(
        id=id,
        title=title or source,
        authors=people,
        year=next((year for date in dates if (year := _year(date))), None),
        venue=source if title else "",
        doi=normalise_doi(ids.get("doi", "")) or normalise_doi(links),
        arxiv=normalise_arxiv(ids.get("arxiv", "")),
        pmid=normalise_pmid(ids.get("pmid", "")),
        isbn=normalise_isbn(ids.get("isbn", "")),
        publication=_publication(entry, ids, links),
        text="" if people and dates and title else raw,
    )


def _publication(entry: Node, ids: Mapping[str, str], links: str) -> Publication:
    scopes = {node.get("unit"): node for node in entry.descend("biblScope")}

    def scope(unit: str) -> str:
        node = scopes.get(unit)
        return page_range(node.get("from"), node.get("to")) or plain_text(node) if node else ""

    return Publication(
        type="article-journal" if any(node.get("level") == "j" for node in entry.descend("title")) else "",
        editors=tuple(filter(None, (plain_text(node) for node in entry.descend("editor")))),
        volume=scope("volume"),
        issue=scope("issue"),
        pages=normalise_pages(scope("page")),
        publisher=next((plain_text(node) for node in entry.descend("publisher")), ""),
        place=next((plain_text(node) for node in entry.descend("pubPlace")), ""),
        issn=ids.get("issn", "") or ids.get("eissn", ""),
        pmcid=normalise_pmcid(ids.get("pmcid", "")),
        url=web_address(links),
    )


def _title(part: Node | None) -> str:
    titles = list(part.find_all("title")) if part else []
    main = [title for title in titles if title.get("type") == "main"]
    return next((shown for title in (*main, *titles) if (shown := plain_text(title))), "")


def _people(part: Node | None) -> tuple[str, ...]:
    names = []
    for author in part.find_all("author") if part else ():
        name = author.find("persName") or author
        family = " ".join(plain_text(surname) for surname in name.find_all("surname"))
        forenames = " ".join(plain_text(forename) for forename in name.find_all("forename"))
        body = author.find("orgName")
        names.append(person(family, forenames) if family else plain_text(body) if body else "")
    return tuple(filter(None, names))


def _year(date: Node | None) -> int | None:
    match = _YEAR.search(date.get("when") or plain_text(date)) if date else None
    return int(match[0]) if match else None
