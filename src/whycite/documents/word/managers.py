"""Works that reference managers store in a document: Zotero, Mendeley, EndNote, Citavi, and Word's own sources.

Each manager writes a citation as a field or a content control with the work's data in it; this module tells what a
field is and reads the data.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal

from whycite.documents.identity import normalise_doi, normalise_isbn, normalise_pmid, normalise_title
from whycite.documents.model import Publication, Reference
from whycite.documents.references.csljson import item_reference
from whycite.documents.references.names import names_others, parse_people, person
from whycite.documents.references.reader import normalise_pages, year_of
from whycite.documents.xmltree import Node, parse_tree, plain_text

__all__ = [
    "PLAIN_FIELD",
    "CitedItem",
    "CitedWorks",
    "FieldKind",
    "WordField",
    "bookmarked_codes",
    "citavi_items",
    "csl_items",
    "decode_base64",
    "endnote_items",
    "mendeley_citations",
    "read_control",
    "read_field",
    "word_sources",
]


_ZOTERO = re.compile(r"https?://(?:www\.)?zotero\.org/")
_DECODER = json.JSONDecoder()
_MAX_DEPTH = 60  # levels of brackets in a citation; the decoder is recursive
_MAX_ITEMS = 10_000  # works of one citation, or authors of one work
_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[\]{}]', re.DOTALL)
_BARE_AMPERSAND = re.compile(r"&(?!#?\w{1,10};)")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")
_LETTERS = re.compile(r"[\W\d_]+")
_PAGES = re.compile(r"<os>([^<]{0,40})</os>")  # of Citavi: those of the first page, the last page, and the whole range
_ENDNOTE_TYPES = {
    "journal article": "article-journal", "book": "book", "edited book": "book", "book section": "chapter",
    "conference paper": "paper-conference", "conference proceedings": "paper-conference", "thesis": "thesis",
    "report": "report", "web page": "webpage", "preprint": "article", "electronic article": "article-journal",
}  # fmt: skip
_WORD_TYPES = {
    "journalarticle": "article-journal", "articleinaperiodical": "article-magazine", "book": "book",
    "booksection": "chapter", "conferenceproceedings": "paper-conference", "report": "report",
    "internetsite": "webpage", "documentfrominternetsite": "webpage",
}  # fmt: skip
_CITAVI_TYPES = {
    "journalarticle": "article-journal", "book": "book", "bookedited": "book", "contribution": "chapter",
    "thesis": "thesis", "conferenceproceedings": "book", "internetdocument": "webpage", "unpublishedwork": "report",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class CitedItem:
    """A work that a citation names: what the manager calls it, and its data; without title and authors if unknown."""

    identity: str
    reference: Reference  # its id is the citation key that the manager stores, or ""
    stored: Mapping[str, Any] = field(default_factory=dict)  # the item as Zotero writes it

    @property
    def is_known(self) -> bool:
        """Whether the document has the data of the work."""
        return bool(self.reference.title or self.reference.authors)


class CitedWorks:
    """The works that a document cites, each under one readable key: "Kaiser1995", or the manager's citation key."""

    def __init__(self) -> None:
        self.references: dict[str, Reference] = {}
        self.zotero_items: dict[str, Mapping[str, Any]] = {}  # by key
        self._keys: dict[str, str] = {}  # by what managers call a work, and by what it says of itself

    def add(self, item: CitedItem) -> str:
        """The key of a work; new if it was not cited before."""
        names = [name for name in (item.identity, *_own_names(item.reference)) if name]
        key = next((self._keys[name] for name in names if name in self._keys), "")
        if not key:
            key = self._free_key(item.reference.id or _readable_key(item.reference))
            self.references[key] = replace(item.reference, id=key)
        for name in names:
            self._keys.setdefault(name, key)
        if _ZOTERO.match(item.identity):
            self.zotero_items.setdefault(key, item.stored)
        return key

    def key_of(self, identity: str) -> str:
        """The key of a work by what the manager calls it; "" if it is not there."""
        return self._keys.get(identity, "")

    def _free_key(self, key: str) -> str:
        if key not in self.references:
            return key
        letters = (chr(code) for code in range(ord("b"), ord("z") + 1))
        candidates = (*(f"{key}{letter}" for letter in letters), f"{key}-{len(self.references)}")
        return next(candidate for candidate in candidates if candidate not in self.references)


def _own_names(reference: Reference) -> Iterator[str]:
    """What a work says of itself that no other does."""
    if reference.doi:
        yield f"doi {reference.doi}"
    if title := normalise_title(reference.title):
        yield f"title {title} {reference.year}"


def _readable_key(reference: Reference) -> str:
    name = reference.authors[0].partition(",")[0] if reference.authors else reference.title.partition(" ")[0]
    return f"{_LETTERS.sub('', name) or 'work'}{reference.year or ''}"


def csl_items(code: str) -> list[CitedItem]:
    """The works of a citation in CSL-JSON, as Zotero and Mendeley write it; empty if it cannot be read."""
    return _items(_object(code))


def _items(citation: Mapping[str, Any]) -> list[CitedItem]:
    items: list[CitedItem] = []
    for item in _objects(citation, "citationItems"):
        stored = item.get("itemData")
        data: Mapping[str, Any] = stored if isinstance(stored, dict) else {}
        uris = item.get("uris") or item.get("uri")
        uri = next((uri for uri in uris if isinstance(uri, str)), "") if isinstance(uris, list) else str(uris or "")
        # Mendeley Desktop counts "ITEM-1" anew in every citation.
        number = str(item.get("id", ""))
        identity = uri or (number if not number.startswith("ITEM-") else "")
        key = str(data.get("citation-key") or "")
        items.append(CitedItem(identity, item_reference(key, data), item))
    return items


def _object(code: str) -> Mapping[str, Any]:
    """The JSON object that a text begins with, whatever follows it; empty if it is broken."""
    value = _json(code)
    return value if isinstance(value, dict) else {}


def _json(code: str) -> Any:
    """The JSON value that a text begins with, whatever follows it; None if it is broken."""
    depth = 0
    for bracket in _BRACKET.finditer(code):
        depth += (bracket[0] in "[{") - (bracket[0] in "]}")
        if depth > _MAX_DEPTH:
            return None
        if depth == 0:
            break
    try:
        value, _ = _DECODER.raw_decode(code.lstrip())
    except ValueError:
        return None
    return value


def _objects(record: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """The objects in a list of a record; none if it is no list, or longer than those of any citation."""
    value = record.get(name)
    if not isinstance(value, list) or len(value) > _MAX_ITEMS:
        return []
    return [item for item in value if isinstance(item, dict)]


def mendeley_citations(root: Node) -> dict[str, list[CitedItem]]:
    """The works of the citations that Mendeley Cite keeps in a part of its own, by the tags of their controls."""
    works: dict[str, list[CitedItem]] = {}
    for property in root.descend("property"):
        if property.get("name") == "MENDELEY_CITATIONS":
            for citation in _objects({"citations": _json(property.get("value"))}, "citations"):
                items = _items(citation)
                works |= {str(citation[name]): items for name in ("citationID", "citationTag") if name in citation}
    return works


def decode_base64(*chunks: str) -> str:
    """The text in base64 strings, each a piece of it with an end of its own, as far as they can be decoded."""
    data = b"".join(map(_base64_bytes, chunks))
    encoding = "utf-16-le" if data[1:2] == b"\0" else "utf-8"
    return data.decode(encoding, "replace").removeprefix("\ufeff")


def _base64_bytes(text: str) -> bytes:
    packed = "".join(text.split()).replace("-", "+").replace("_", "/").rstrip("=")
    packed = packed[: len(packed) - (len(packed) % 4 == 1)]
    try:
        return base64.b64decode(packed + "=" * (-len(packed) % 4))
    except (binascii.Error, ValueError):
        return b""


def endnote_items(code: str, data: Sequence[str]) -> list[CitedItem]:
    """The works of an EndNote citation, from its instruction or from the pieces of data beside it."""
    start = code.find("<EndNote")
    xml = code[start:] if start >= 0 else decode_base64(*data)
    root = parse_tree(_BARE_AMPERSAND.sub("&amp;", _CONTROL.sub("", xml)), "").root if xml else None
    return [_endnote_item(cite) for cite in (root.descend("Cite") if root else ())]


def _endnote_item(cite: Node) -> CitedItem:
    record = cite.find("record")
    number = plain_text(cite.find("RecNum"))
    if record is None:
        author, year = plain_text(cite.find("Author")), year_of(plain_text(cite.find("Year")))
        return CitedItem(f"endnote {number}", Reference("", authors=parse_people(author), year=year))
    key = record.find("foreign-keys", "key")
    database = key.attributes.get("db-id", "") if key else ""

    def text(*path: str, record: Node = record) -> str:
        return plain_text(record.find(*path))

    authors = record.find("contributors", "authors")
    names = [plain_text(author).rstrip(",") for author in (authors.find_all("author") if authors else ())]
    kind = record.find("ref-type")
    type = _ENDNOTE_TYPES.get((kind.attributes.get("name", "") if kind else "").lower(), "")
    code = text("isbn")
    doi = normalise_doi(text("electronic-resource-num")) or normalise_doi(plain_text(record.find("urls")))
    accession = text("accession-num")
    reference = Reference(
        "",
        title=text("titles", "title"),
        authors=tuple(name for name in names if name and not names_others(name)),
        year=year_of(text("dates", "year")) or year_of(plain_text(cite.find("Year"))),
        venue=text("periodical", "full-title") or text("titles", "secondary-title"),
        doi=doi,
        pmid=normalise_pmid(accession) if accession.isdigit() else "",
        isbn=normalise_isbn(code) if type == "book" else "",
        abstract=text("abstract"),
        publication=Publication(
            type=type,
            volume=text("volume"),
            issue=text("number"),
            pages=normalise_pages(text("pages")),
            publisher=text("publisher"),
            place=text("pub-location"),
            edition=text("edition"),
        ),
    )
    return CitedItem(f"endnote {database} {number}", reference)


def citavi_items(code: str) -> list[CitedItem]:
    """The works of a Citavi citation, from its base64 data; those that are only named have no data."""
    placeholder = _object(decode_base64(code.strip().strip("{}")))
    by_id: dict[str, Mapping[str, Any]] = {}
    waiting: list[Any] = [placeholder]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if "$id" in value:
                by_id[str(value["$id"])] = value
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value

    def resolve(value: Any) -> Mapping[str, Any]:
        value = value if isinstance(value, dict) else {}
        return by_id.get(str(value["$ref"]), {}) if "$ref" in value else value

    items: list[CitedItem] = []
    for entry in map(resolve, _objects(placeholder, "Entries")):
        work = resolve(entry.get("Reference"))
        identity = str(entry.get("ReferenceId") or work.get("Id") or "")
        if not identity and not work:
            continue
        book = resolve(work.get("ParentReference"))  # of a chapter
        people = [resolve(name) for name in _objects(work, "Authors") or _objects(work, "Editors")]
        journal = resolve(work.get("Periodical"))
        dates = (_value(record, name) for record in (work, book) for name in ("Year", "YearResolved", "Date"))
        pages = work.get("PageRange")  # as a record, or as XML in a text
        printed = _value(pages, "OriginalString") if isinstance(pages, dict) else _PAGES.findall(str(pages or ""))[-1:]
        type = _CITAVI_TYPES.get(str(work.get("ReferenceType", "")).lower(), "")
        title, subtitle = _value(work, "Title"), _value(work, "Subtitle")
        reference = Reference(
            "",
            title=f"{title}: {subtitle}" if title and subtitle else title,
            authors=tuple(filter(None, map(_citavi_name, people))),
            year=next(filter(None, map(year_of, dates)), None),
            venue=_value(journal, "Name") or _value(journal, "StandardAbbreviation") or _value(book, "Title"),
            doi=normalise_doi(_value(work, "Doi")),
            pmid=normalise_pmid(_value(work, "PubMedId")),
            isbn=normalise_isbn(_value(work, "Isbn")) if type == "book" else "",
            publication=Publication(
                type=type,
                volume=_value(work, "Volume"),
                issue=_value(work, "Number"),
                pages=normalise_pages("".join(printed)),
            ),
        )
        items.append(CitedItem(f"citavi {identity}", reference))
    return items


def _citavi_name(names: Mapping[str, Any]) -> str:
    family = f"{_value(names, 'Particle')} {_value(names, 'LastName')}"
    return person(family.strip(), f"{_value(names, 'FirstName')} {_value(names, 'MiddleName')}")


def _value(record: Mapping[str, Any], name: str) -> str:
    value = record.get(name)
    return " ".join(str(value).split()) if isinstance(value, str | int) else ""


def word_sources(root: Node) -> list[CitedItem]:
    """The works of a part with Word's own sources; each is named by its tag."""
    items: list[CitedItem] = []
    for source in root.find_all("Source"):

        def text(*names: str, source: Node = source) -> str:
            return next((value for name in names if (value := plain_text(source.find(name)))), "")

        tag = text("Tag")
        roles = source.find("Author")
        authors = (roles.find("Author") or roles.find("Editor")) if roles else None
        people = [
            person(plain_text(name.find("Last")), f"{plain_text(name.find('First'))} {plain_text(name.find('Middle'))}")
            for name in (authors.descend("Person") if authors else ())
        ]
        corporate = plain_text(authors.find("Corporate")) if authors else ""
        type = _WORD_TYPES.get(text("SourceType").lower(), "")
        reference = Reference(
            tag,
            title=text("Title"),
            authors=tuple(name for name in people if name) or ((corporate,) if corporate else ()),
            year=year_of(text("Year")),
            venue=text("JournalName", "BookTitle", "ConferenceName", "PeriodicalTitle", "InternetSiteTitle"),
            doi=normalise_doi(text("DOI")) or normalise_doi(text("URL")),
            isbn=normalise_isbn(text("StandardNumber")) if type == "book" else "",
            publication=Publication(
                type=type,
                volume=text("Volume"),
                issue=text("Issue"),
                pages=normalise_pages(text("Pages")),
                publisher=text("Publisher", "Institution"),
                place=text("City"),
                edition=text("Edition"),
            ),
        )
        if tag:
            items.append(CitedItem(f"word {tag}", reference))
    return items


def bookmarked_codes(properties: Mapping[str, str]) -> dict[str, str]:
    """The citations that managers keep in the properties of a document, by the bookmark that marks them."""
    pieces: dict[str, dict[int, str]] = {}
    for name, value in properties.items():
        if match := _BOOKMARK_PROPERTY.fullmatch(name):
            pieces.setdefault(match[1], {})[int(match[2])] = value
    return {name: "".join(parts[number] for number in sorted(parts)) for name, parts in pieces.items()}


_BOOKMARK_PROPERTY = re.compile(r"((?:ZOTERO|Mendeley)_?(?:BREF|Bookmark)\w*?)_(\d{1,3})")
FieldKind = Literal["citation", "bibliography", "contents", "formula", "text"]

_CSL_CITATION = re.compile(r"(?:ADDIN\s+)?(?:ZOTERO_ITEM|Mendeley Citation\{[^{}]{0,80}\}|CSL_CITATION)[^{]{0,40}")
_BIBLIOGRAPHY = re.compile(
    r"(?:ADDIN\s+)?(?:ZOTERO_BIBL\b|Mendeley Bibliography\b|CSL_BIBLIOGRAPHY\b|EN\.REFLIST\b|CITAVI[. ]?BIBLIOGRAPHY"
    r"|BIBLIOGRAPHY\b)",
    re.IGNORECASE,
)
_ENDNOTE = re.compile(r"ADDIN\s+EN\.CITE(?!\.DATA)\b")
_CITAVI = re.compile(r"ADDIN\s+(?:CitaviPlaceholder|CITAVI\.PLACEHOLDER\s+\S+)", re.IGNORECASE)
_CITATION = re.compile(r"CITATION\s+(.*)", re.DOTALL | re.IGNORECASE)
_SWITCH = re.compile(r'\\(\w)\s*("[^"]*"|[^\s\\]*)')
_CONTENTS = re.compile(r"(?:TOC|INDEX|TOA)\b")
_FORMULA = re.compile(r"(?:EQ|EMBED\s+Equation)\b")
_MENDELEY_CONTROL = "MENDELEY_CITATION_"
_MENDELEY_DATA = f"{_MENDELEY_CONTROL}v3_"


@dataclass(frozen=True, slots=True)
class WordField:
    """What a field is; a citation has the works it names, if the document has their data."""

    kind: FieldKind
    items: tuple[CitedItem, ...] = ()
    identities: tuple[str, ...] = ()  # works that are described elsewhere in the document


PLAIN_FIELD = WordField("text")


def read_field(instruction: str, data: Sequence[str] = ()) -> WordField:
    """What a field is by its instruction and the pieces of data beside it."""
    code = instruction.strip()
    if citation := _CSL_CITATION.match(code):
        return WordField("citation", tuple(csl_items(code[citation.end() :])))
    if _BIBLIOGRAPHY.match(code):
        return WordField("bibliography")
    if _ENDNOTE.match(code):
        return WordField("citation", tuple(endnote_items(code, data)))
    if citavi := _CITAVI.match(code):
        return WordField("citation", tuple(citavi_items(code[citavi.end() :])))
    if citation := _CITATION.match(code):
        return WordField("citation", identities=tuple(f"word {tag}" for tag in _tags(citation[1])))
    if _CONTENTS.match(code):
        return WordField("contents")
    return WordField("formula") if _FORMULA.match(code) else PLAIN_FIELD


def _tags(arguments: str) -> list[str]:
    """The tags of Word's sources that a CITATION field names: the first word, and those after \\m."""
    first_tag = arguments.split("\\", 1)[0].strip().strip('"')
    further_tags = [switch[2].strip('"') for switch in _SWITCH.finditer(arguments) if switch[1] == "m"]
    return [tag for tag in (first_tag, *further_tags) if tag]


def read_control(tag: str, stored: Mapping[str, Sequence[CitedItem]] = MappingProxyType({})) -> WordField:
    """What a content control is by its tag; `stored` has the works of Mendeley's citations by their tags."""
    if tag.startswith(_MENDELEY_CONTROL):
        data = decode_base64(tag.removeprefix(_MENDELEY_DATA)) if tag.startswith(_MENDELEY_DATA) else ""
        return WordField("citation", tuple(csl_items(data) or stored.get(tag, ())))
    if tag.startswith(("MENDELEY_BIBLIOGRAPHY", "CitaviBibliography")):
        return WordField("bibliography")
    return PLAIN_FIELD
