"""Crossref, DataCite, doi.org, arXiv, Europe PMC, OpenAlex, Semantic Scholar: questions, and records in each format.

A question holds an identifier or a title, nothing else of the user's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from whycite.documents.identity import normalise_arxiv, normalise_doi, normalise_pmcid, normalise_pmid
from whycite.documents.model import Notice, NoticeKind, Publication, Reference
from whycite.documents.references.names import parse_people, person
from whycite.documents.references.reader import strip_markup
from whycite.documents.xmltree import parse_tree, plain_text
from whycite.references.client import ServiceAnswer, ServiceClient, ServiceFailure

__all__ = [
    "FILES",
    "SERVICES",
    "Service",
    "ServiceRecord",
    "Services",
    "europe_pmc_record",
    "items_at",
    "quote_doi",
    "title_words",
]

FILES = "OpenAlex files"  # full texts, which references are not checked with
_ROWS = 5  # records that a search by title returns


@dataclass(frozen=True, slots=True)
class Service:
    """A service and how often it may be asked."""

    name: str
    base: str
    pause: float  # seconds between two requests


SERVICES: Mapping[str, Service] = {
    service.name: service
    for service in (
        Service("Crossref", "https://api.crossref.org", 0.2),
        Service("DataCite", "https://api.datacite.org", 0.6),
        Service("doi.org", "https://doi.org", 0.2),
        Service("arXiv", "https://export.arxiv.org", 3.0),
        Service("Europe PMC", "https://www.ebi.ac.uk/europepmc/webservices/rest", 0.2),
        Service("OpenAlex", "https://api.openalex.org", 0.2),
        Service("Semantic Scholar", "https://api.semanticscholar.org", 1.0),
        Service(FILES, "https://content.openalex.org", 0.2),
    )
}


@dataclass(frozen=True, slots=True)
class ServiceRecord:
    """What a service knows of a paper."""

    reference: Reference
    years: frozenset[int] = frozenset()  # of all dates: online, in print, of the issue

    def beside(self, reference: Reference) -> Reference:
        """The record to compare a reference with: of several years, the one that it has."""
        return replace(self.reference, year=reference.year) if reference.year in self.years else self.reference


class Services:
    """Asks the services for records; without a key, OpenAlex is not asked."""

    def __init__(self, client: ServiceClient, openalex_key: str = "", semanticscholar_key: str = "") -> None:
        self.client = client
        self.openalex_key = openalex_key
        self._semanticscholar_key = semanticscholar_key

    @property
    def names(self) -> tuple[str, ...]:
        """The services that are asked."""
        return tuple(name for name in SERVICES if name != FILES and (name != "OpenAlex" or self.openalex_key))

    def by_doi(self, doi: str) -> tuple[str, list[ServiceRecord]]:
        """The agency that registered a DOI and its record; none if neither Crossref nor DataCite has it."""
        if records := self._crossref_work(doi):
            return "Crossref", records
        return "DataCite", self._datacite(doi)

    def by_arxiv(self, arxiv: str) -> tuple[str, list[ServiceRecord]]:
        """The record of an arXiv id, at DataCite, where arXiv registers its DOIs, or else at arXiv."""
        if records := self._datacite(f"10.48550/arxiv.{arxiv}"):
            return "DataCite", records
        return "arXiv", self._arxiv({"id_list": arxiv, "max_results": "1"})

    def by_pmid(self, pmid: str) -> tuple[str, list[ServiceRecord]]:
        """The record of a PubMed id."""
        return "Europe PMC", self._europe_pmc(f"EXT_ID:{pmid} AND SRC:MED")

    def is_registered(self, doi: str) -> bool:
        """Whether any agency registered a DOI; ServiceFailure unless doi.org itself says so or denies it."""
        answer = self.ask("doi.org", f"/api/handles/{quote_doi(doi)}", {"type": "URL"})
        code = _HANDLE_CODE.search(answer.body or answer.denial)
        if code is None:
            raise ServiceFailure("answered with something else than JSON")
        return code[1] != _NO_SUCH_HANDLE

    def searches(self) -> list[tuple[str, Callable[[str], list[ServiceRecord]]]]:
        """The searches by title, in the order in which they are tried."""
        searches: list[tuple[str, Callable[[str], list[ServiceRecord]]]] = [
            ("Crossref", self._search_crossref),
            ("Europe PMC", lambda title: self._europe_pmc(f'TITLE:"{title_words(title)}"')),
            ("OpenAlex", self._search_openalex),
            ("Semantic Scholar", self._search_semanticscholar),
            (
                "arXiv",
                lambda title: self._arxiv({"search_query": f'ti:"{title_words(title)}"', "max_results": str(_ROWS)}),
            ),
        ]
        return [(name, search) for name, search in searches if name in self.names]

    def retractions(self, dois: Sequence[str]) -> dict[str, list[Notice]]:
        """Notices at Crossref that say which DOIs they update: publishers do not always mark the paper itself."""
        notices: dict[str, list[Notice]] = {}
        for start in range(0, len(dois), _BATCH):
            chosen = ",".join(f"updates:{doi}" for doi in dois[start : start + _BATCH])
            answer = self.ask("Crossref", "/works", {"filter": chosen, "rows": "100", **self._mailto()}).json()
            for item in items_at(answer, "message", "items"):
                for update in _dicts(item.get("update-to")):
                    if kind := _UPDATES.get(str(update.get("type", "")).lower()):
                        notice = Notice(kind, normalise_doi(_text(item, "DOI")), _date(update), source="Crossref")
                        notices.setdefault(normalise_doi(_text(update, "DOI")), []).append(notice)
        return notices

    def ask(self, service: str, path: str, parameters: Mapping[str, str], *, is_json: bool = True) -> ServiceAnswer:
        """The answer of a service to a question."""
        headers = {"x-api-key": self._semanticscholar_key} if service == "Semantic Scholar" else {}
        headers = {name: value for name, value in headers.items() if value}
        place = SERVICES[service]
        return self.client.get(service, place.base + path, parameters, place.pause, headers, is_json=is_json)

    def download(
        self, service: str, path: str, parameters: Mapping[str, str], target: Path, accepts: Callable[[bytes], bool]
    ) -> bool:
        """Save a file that a service has; False if it has none."""
        place = SERVICES[service]
        return self.client.download(service, place.base + path, parameters, place.pause, target, accepts)

    def _mailto(self) -> dict[str, str]:
        return {"mailto": self.client.contact} if self.client.contact else {}

    def _crossref_work(self, doi: str) -> list[ServiceRecord]:
        answer = self.ask("Crossref", f"/works/{quote_doi(doi)}", self._mailto()).json()
        message = answer.get("message") if isinstance(answer, dict) else None
        if not isinstance(message, dict):
            return []
        published = [_text(link, "id") for link in items_at(message, "relation", "is-preprint-of")]
        return _with_published(_crossref_record(message), published)

    def _search_crossref(self, title: str) -> list[ServiceRecord]:
        question = {"query.bibliographic": title, "rows": str(_ROWS), **self._mailto()}
        return [
            _crossref_record(item)
            for item in items_at(self.ask("Crossref", "/works", question).json(), "message", "items")
        ]

    def _datacite(self, doi: str) -> list[ServiceRecord]:
        answer = self.ask("DataCite", f"/dois/{quote_doi(doi)}", {}).json()
        attributes = answer["data"].get("attributes") if isinstance(answer, dict) and answer.get("data") else None
        if not isinstance(attributes, dict):
            return []
        links = _dicts(attributes.get("relatedIdentifiers"))
        published = [_text(link, "relatedIdentifier") for link in links if link.get("relationType") in _PUBLISHED]
        return _with_published(_datacite_record(attributes), published)

    def _arxiv(self, question: Mapping[str, str]) -> list[ServiceRecord]:
        body = self.ask("arXiv", "/api/query", question, is_json=False).body
        return _arxiv_records(body) if body else []

    def _europe_pmc(self, query: str) -> list[ServiceRecord]:
        question = {"query": query, "format": "json", "resultType": "core", "pageSize": str(_ROWS)}
        answer = self.ask("Europe PMC", "/search", question).json()
        return [europe_pmc_record(item) for item in items_at(answer, "resultList", "result")]

    def _search_openalex(self, title: str) -> list[ServiceRecord]:
        question = {
            "filter": f"title.search:{title_words(title)}",
            "per_page": str(_ROWS),
            "api_key": self.openalex_key,
        }
        answer = self.ask("OpenAlex", "/works", question).json()
        return [_openalex_record(item) for item in items_at(answer, "results")]

    def _search_semanticscholar(self, title: str) -> list[ServiceRecord]:
        question = {"query": title, "fields": "title,authors,year,venue,externalIds,publicationDate"}
        answer = self.ask("Semantic Scholar", "/graph/v1/paper/search/match", question).json()
        return [_semanticscholar_record(item) for item in items_at(answer, "data")]


_PUBLISHED = ("IsVersionOf", "IsPreprintOf")  # how arXiv and others point to what a preprint became
_HANDLE_CODE = re.compile(r'"responseCode"\s*:\s*(\d+)')
_NO_SUCH_HANDLE = "100"
_BATCH = 20  # DOIs in one question about notices
_UPDATES: Mapping[str, NoticeKind] = {
    "retraction": "retraction", "withdrawal": "retraction", "removal": "retraction",
    "expression_of_concern": "concern", "expression-of-concern": "concern", "correction": "correction",
    "corrigendum": "correction", "erratum": "correction", "partial_retraction": "correction",
    "reinstatement": "reinstatement",
}  # fmt: skip
_DATES = ("issued", "published", "published-print", "published-online", "published-other")
_TYPES = {
    "journal-article": "article-journal", "proceedings-article": "paper-conference", "book": "book",
    "monograph": "book", "edited-book": "book", "book-chapter": "chapter", "posted-content": "article",
    "dissertation": "thesis", "report": "report", "dataset": "dataset",
}  # fmt: skip


def _with_published(record: ServiceRecord, dois: Iterable[str]) -> list[ServiceRecord]:
    """The record of a preprint, and one for each published version that it names."""
    published = [doi for text in dois if (doi := normalise_doi(text)) and doi != record.reference.doi]
    versions = [replace(record.reference, doi=doi, arxiv="", year=None, notices=()) for doi in published]
    return [record, *(ServiceRecord(version) for version in versions)]


def _crossref_record(work: Mapping[str, Any]) -> ServiceRecord:
    years = [year for name in _DATES if (year := _year_of_parts(work.get(name)))]
    title, subtitle = (next(iter(_texts(work.get(name))), "") for name in ("title", "subtitle"))
    notices = [
        Notice(kind, normalise_doi(_text(update, "DOI")), _date(update), source=_update_source(update))
        for update in _dicts(work.get("updated-by"))
        if (kind := _UPDATES.get(_text(update, "type").lower()))
    ]
    amends = [_UPDATES.get(_text(update, "type").lower(), "") for update in _dicts(work.get("update-to"))]
    reference = Reference(
        normalise_doi(_text(work, "DOI")),
        strip_markup(f"{title}: {subtitle}" if subtitle and subtitle.lower() not in title.lower() else title),
        tuple(_crossref_author(author) for author in _dicts(work.get("author"))),
        years[0] if years else None,
        next(iter(_texts(work.get("container-title"))), ""),
        doi=normalise_doi(_text(work, "DOI")),
        publication=Publication(
            type=next(filter(None, amends), "") or _TYPES.get(_text(work, "type"), ""),
            volume=_text(work, "volume"),
            issue=_text(work, "issue"),
            pages=_text(work, "page") or _text(work, "article-number"),
            publisher=_text(work, "publisher"),
        ),
        notices=tuple(notices),
    )
    return ServiceRecord(reference, frozenset(years))


def _crossref_author(author: Mapping[str, Any]) -> str:
    return person(_text(author, "family"), _text(author, "given")) or _text(author, "name")


def _update_source(update: Mapping[str, Any]) -> str:
    return "Retraction Watch" if _text(update, "source") == "retraction-watch" else "Crossref"


def _datacite_record(attributes: Mapping[str, Any]) -> ServiceRecord:
    doi = normalise_doi(_text(attributes, "doi"))
    years = {_leading_year(_text(date, "date")) for date in _dicts(attributes.get("dates"))}
    year = _leading_year(str(attributes.get("publicationYear")))
    years.add(year)
    authors = [
        person(_text(creator, "familyName"), _text(creator, "givenName")) or _text(creator, "name")
        for creator in _dicts(attributes.get("creators"))
    ]
    reference = Reference(
        doi,
        strip_markup(next((_text(title, "title") for title in _dicts(attributes.get("titles"))), "")),
        tuple(filter(None, authors)),
        year,
        _publisher(attributes.get("publisher")),
        doi=doi,
        arxiv=normalise_arxiv(doi),
    )
    return ServiceRecord(reference, frozenset(filter(None, years)))


def _publisher(value: object) -> str:
    return _text(value, "name") if isinstance(value, dict) else value if isinstance(value, str) else ""


def _arxiv_records(feed: str) -> list[ServiceRecord]:
    root = parse_tree(feed, "arXiv").root
    records = []
    for entry in root.find_all("entry") if root else ():
        arxiv = normalise_arxiv(plain_text(entry.find("id")))
        if not arxiv:  # an error comes as an entry, too
            continue
        names = [plain_text(author.find("name")) for author in entry.find_all("author")]
        dates = [plain_text(entry.find(name)) for name in ("published", "updated")]
        reference = Reference(
            arxiv,
            plain_text(entry.find("title")),
            tuple(author for name in names for author in parse_people(name)),
            _leading_year(dates[0]),
            plain_text(entry.find("journal_ref")),
            doi=normalise_doi(plain_text(entry.find("doi"))),
            arxiv=arxiv,
        )
        records.append(ServiceRecord(reference, frozenset(year for date in dates if (year := _leading_year(date)))))
    return records


_EUROPE_PMC_NOTICES: Mapping[str, NoticeKind] = {
    "retraction in": "retraction", "expression of concern in": "concern", "erratum in": "correction",
}  # fmt: skip


def europe_pmc_record(result: Mapping[str, Any]) -> ServiceRecord:
    """A result of Europe PMC as a record."""
    comments = (result.get("commentCorrectionList") or {}).get("commentCorrection")
    notices = [
        Notice(kind, source="Europe PMC")
        for comment in _dicts(comments)
        if (kind := _EUROPE_PMC_NOTICES.get(_text(comment, "type").lower()))
    ]
    types = [kind.lower() for kind in _texts((result.get("pubTypeList") or {}).get("pubType"))]
    if "retracted publication" in types and not any(notice.kind == "retraction" for notice in notices):
        notices.append(Notice("retraction", source="Europe PMC"))
    authors = [
        person(_text(author, "lastName"), _text(author, "firstName") or _text(author, "initials"))
        or _text(author, "collectiveName")
        for author in _dicts((result.get("authorList") or {}).get("author"))
    ]
    journal = result.get("journalInfo") or {}
    dates = (
        _text(result, "pubYear"),
        _text(result, "firstPublicationDate"),
        _text(result, "electronicPublicationDate"),
    )
    years = [year for date in dates if (year := _leading_year(date))]
    reference = Reference(
        _text(result, "id"),
        strip_markup(_text(result, "title")).rstrip("."),
        tuple(filter(None, authors)),
        years[0] if years else None,
        _text(journal.get("journal") or {}, "title"),
        doi=normalise_doi(_text(result, "doi")),
        pmid=normalise_pmid(_text(result, "pmid")),
        publication=Publication(
            volume=_text(journal, "volume"),
            issue=_text(journal, "issue"),
            pmcid=normalise_pmcid(_text(result, "pmcid")),
        ),
        notices=tuple(notices),
    )
    return ServiceRecord(reference, frozenset(years))


def _openalex_record(work: Mapping[str, Any]) -> ServiceRecord:
    year = work.get("publication_year")
    source = (work.get("primary_location") or {}).get("source") or {}
    names = [_text(row.get("author") or {}, "display_name") for row in _dicts(work.get("authorships"))]
    ids = work.get("ids") or {}
    reference = Reference(
        _text(work, "id"),
        strip_markup(_text(work, "title") or _text(work, "display_name")),
        tuple(author for name in names for author in parse_people(name)),
        year if isinstance(year, int) else None,
        _text(source, "display_name"),
        doi=normalise_doi(_text(work, "doi")),
        pmid=normalise_pmid(_text(ids, "pmid")),
        notices=(Notice("retraction", source="OpenAlex"),) if work.get("is_retracted") is True else (),
    )
    dated = _leading_year(_text(work, "publication_date"))
    return ServiceRecord(reference, frozenset(filter(None, (reference.year, dated))))


def _semanticscholar_record(paper: Mapping[str, Any]) -> ServiceRecord:
    year, ids = paper.get("year"), paper.get("externalIds") or {}
    names = [_text(author, "name") for author in _dicts(paper.get("authors"))]
    reference = Reference(
        _text(paper, "paperId"),
        _text(paper, "title"),
        tuple(author for name in names for author in parse_people(name)),
        year if isinstance(year, int) else None,
        _text(paper, "venue"),
        doi=normalise_doi(_text(ids, "DOI")),
        arxiv=normalise_arxiv(_text(ids, "ArXiv")),
        pmid=normalise_pmid(_text(ids, "PubMed")),
    )
    dated = _leading_year(_text(paper, "publicationDate"))
    return ServiceRecord(reference, frozenset(filter(None, (reference.year, dated))))


def quote_doi(doi: str) -> str:
    """A DOI in an address; its slash stays, which all services accept."""
    return re.sub(r"[^\w./()-]", lambda sign: "".join(f"%{byte:02X}" for byte in sign[0].encode()), doi, flags=re.ASCII)


def title_words(title: str) -> str:
    """The words of a title, without signs that mean something in a query."""
    return " ".join(re.findall(r"[\w'-]+", title))


def items_at(answer: object, *path: str) -> list[dict[str, Any]]:
    """The objects in a list that an answer has at a path."""
    for name in path:
        answer = answer.get(name) if isinstance(answer, dict) else None
    return _dicts(answer)


def _dicts(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _texts(value: object) -> Iterable[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _text(item: object, name: str) -> str:
    value = item.get(name) if isinstance(item, dict) else None
    return " ".join(value.split()) if isinstance(value, str) else str(value) if isinstance(value, int) else ""


def _date_parts(value: object) -> list[int]:
    parts = value.get("date-parts") if isinstance(value, dict) else None
    date = parts[0] if isinstance(parts, list) and parts and isinstance(parts[0], list) else []
    return [part for part in date if isinstance(part, int)]


def _year_of_parts(value: object) -> int | None:
    return next(iter(_date_parts(value)), None)


def _date(update: Mapping[str, Any]) -> str:
    """When an update was published, in ISO form."""
    parts = _date_parts(update.get("updated"))
    if parts:
        return "-".join(f"{part:02d}" for part in parts)
    return _text(update.get("updated"), "date-time")[:10]


def _leading_year(date: str) -> int | None:
    return int(date[:4]) if re.match(r"(?:1[5-9]|20)\d\d", date) else None
