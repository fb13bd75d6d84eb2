"""Items of Zotero, from wherever they were read, and the references, keys and files they stand for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from whycite.documents.identity import normalise_arxiv, normalise_doi, normalise_isbn, normalise_pmcid, normalise_pmid
from whycite.documents.model import Notice, Publication, Reference
from whycite.documents.references.names import person
from whycite.documents.references.reader import (
    full_date,
    iso_date,
    join_title,
    normalise_pages,
    strip_markup,
    web_address,
    year_of,
)
from whycite.errors import UserError
from whycite.sources.items import SourceItem

__all__ = ["ADDRESSES", "Attachment", "Creator", "ZoteroItem", "ZoteroLibrary", "choose_collections", "source_items"]

ADDRESSES = "http://zotero.org"  # how the addresses of all items begin
# Zotero's types in CSL's words.
_TYPES = {
    "journalArticle": "article-journal", "magazineArticle": "article-magazine", "newspaperArticle": "article-newspaper",
    "conferencePaper": "paper-conference", "bookSection": "chapter", "book": "book", "thesis": "thesis",
    "report": "report", "preprint": "article", "manuscript": "manuscript", "webpage": "webpage", "dataset": "dataset",
    "computerProgram": "software", "patent": "patent", "encyclopediaArticle": "entry-encyclopedia",
}  # fmt: skip
_WHOLE_WORKS = {"book", "thesis", "report", "manuscript"}
_TITLES = ("title", "caseName", "nameOfAct", "subject")
_VENUES = (
    "publicationTitle", "proceedingsTitle", "bookTitle", "conferenceName", "encyclopediaTitle", "dictionaryTitle",
    "websiteTitle", "blogTitle", "forumTitle", "repository",
)  # fmt: skip
_PUBLISHERS = ("publisher", "university", "institution", "company", "studio", "label", "distributor")
_GENRES = ("thesisType", "reportType", "genre", "manuscriptType", "websiteType", "presentationType", "letterType")
_AUTHORS = {"author", "inventor", "programmer", "artist", "presenter", "director", "cartographer", "contributor"}
_READABLE = (".pdf", ".xml", ".nxml", ".tex", ".md", ".txt", ".epub")
_EXTRA = re.compile(r"^[ \t]{0,9}([A-Za-z][\w .-]{0,30}?)[ \t]{0,9}:[ \t]{0,9}(\S.{0,500}?)[ \t\r]{0,9}$", re.MULTILINE)
_KEY_NAMES = ("citation key", "citationkey", "bibtex")
_SAFE_KEY = re.compile(r"[^\s,{}()\"#%~\\=']+")


@dataclass(frozen=True, slots=True)
class Creator:
    """A person or body, and what it did."""

    role: str
    family: str
    given: str = ""

    @property
    def name(self) -> str:
        """The name as references have it."""
        return person(self.family, self.given)


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file of an item, and the text that Zotero found in it."""

    file: Path
    text: Path | None = None  # Zotero's own extract


@dataclass(frozen=True, slots=True)
class ZoteroItem:
    """An item as Zotero has it."""

    name: str  # unique among all libraries
    type: str
    fields: Mapping[str, str] = field(default_factory=dict)
    creators: tuple[Creator, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    collections: tuple[tuple[str, ...], ...] = ()  # each as the names from its library down
    key: str = ""  # of Better BibTeX
    retracted: bool = False  # Zotero knows so from Retraction Watch
    address: str = ""  # in the fields that Zotero writes into documents


@dataclass(frozen=True, slots=True)
class ZoteroLibrary:
    """All that a Zotero installation has, groups included."""

    origin: str  # how the names of its items begin
    items: tuple[ZoteroItem, ...]
    collections: frozenset[tuple[str, ...]]


def choose_collections(library: ZoteroLibrary, names: Sequence[str]) -> tuple[ZoteroItem, ...]:
    """The items of collections, by name or path, or of group libraries, with all that is below them."""
    for name in names:
        if not any(_matches(collection, name) for collection in library.collections):
            collections = ", ".join("/".join(path) for path in sorted(library.collections)) or "none"
            raise UserError(f"Zotero has no collection '{name}'; it has: {collections}")
    return tuple(
        item
        for item in library.items
        if any(_matches(collection, name) for collection in item.collections for name in names)
    )


def _matches(collection: tuple[str, ...], name: str) -> bool:
    """Whether a collection is the one of this name or path, or is below it."""
    ends = range(1, len(collection) + 1)
    paths = {_folded("/".join(collection[start:end])) for end in ends for start in range(end)}
    return _folded(name) in paths


def _folded(path: str) -> str:
    """A path to compare; names may have a slash themselves."""
    return "/".join(part.strip() for part in path.lower().split("/"))


def source_items(items: Sequence[ZoteroItem]) -> list[SourceItem]:
    """The papers that items stand for."""
    references = map(_reference, items)
    return [
        SourceItem(item.name, reference, reference.id, tuple(_files(item)), address=item.address)
        for item, reference in zip(items, references, strict=True)
    ]


def _files(item: ZoteroItem) -> Iterator[Path]:
    """The files that can be read, PDFs first, then what Zotero extracted from them."""
    readable = [attachment for attachment in item.attachments if attachment.file.suffix.lower() in _READABLE]
    readable.sort(key=lambda attachment: attachment.file.suffix.lower() != ".pdf")
    yield from (attachment.file for attachment in readable if attachment.file.is_file())
    yield from (attachment.text for attachment in readable if attachment.text and attachment.text.is_file())


def _reference(item: ZoteroItem) -> Reference:
    fields = item.fields
    extra = {name.lower(): value for name, value in _EXTRA.findall(fields.get("extra", ""))}

    def field_text(*names: str) -> str:
        return next((value for name in names if (value := strip_markup(fields.get(name, "")))), "")

    url = fields.get("url", "")
    doi = normalise_doi(fields.get("DOI", "")) or normalise_doi(extra.get("doi", "")) or normalise_doi(url)
    arxiv_sources = (fields.get("archiveID", ""), doi, url, f"arXiv:{extra['arxiv']}" if "arxiv" in extra else "")
    editors = tuple(creator.name for creator in item.creators if creator.role == "editor")
    authors = tuple(creator.name for creator in item.creators if creator.role in _AUTHORS)
    date = field_text("date", "issueDate", "dateDecided", "dateEnacted")
    is_whole = item.type in _WHOLE_WORKS
    isbn = normalise_isbn(fields.get("ISBN", ""))
    return Reference(
        id=_citation_key(item, extra),
        title=join_title(field_text(*_TITLES), ""),
        authors=authors or editors,
        year=year_of(date),
        venue=field_text(*_VENUES),
        doi=doi,
        arxiv=next((arxiv for text in arxiv_sources if (arxiv := normalise_arxiv(text))), ""),
        pmid=normalise_pmid(extra.get("pmid", "")),
        isbn=isbn if is_whole else "",
        abstract=field_text("abstractNote"),
        publication=Publication(
            type=_TYPES.get(item.type, ""),
            genre=field_text(*_GENRES),
            date=full_date(date, year_of(date)),
            editors=editors,
            volume=field_text("volume"),
            issue=field_text("issue", "number", "reportNumber", "patentNumber"),
            pages=normalise_pages(field_text("pages")),
            publisher=field_text(*_PUBLISHERS),
            place=field_text("place"),
            edition=field_text("edition", "versionNumber"),
            series=field_text("series", "seriesTitle"),
            isbn="" if is_whole else isbn,
            issn=field_text("ISSN"),
            pmcid=normalise_pmcid(extra.get("pmcid", "")),
            url=web_address(url),
            accessed=iso_date(field_text("accessDate")),
        ),
        notices=(Notice("retraction", source="Retraction Watch"),) if item.retracted else (),
    )


def _citation_key(item: ZoteroItem, extra: Mapping[str, str]) -> str:
    """The key of the user: Zotero's own field, one pinned in the field Extra, or that of Better BibTeX."""
    pinned = next((extra[name] for name in _KEY_NAMES if name in extra), "")
    keys = (item.fields.get("citationKey", ""), pinned, item.key)
    return next((key.strip() for key in keys if _SAFE_KEY.fullmatch(key.strip())), "")
