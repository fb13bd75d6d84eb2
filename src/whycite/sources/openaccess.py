"""Where the full text of a paper is freely available, best first: JATS, LaTeX, TEI, and PDF if nothing else is there.

Each place is asked only if those before it had nothing. Identifiers are sent, or the title if there are none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from whycite.documents.identity import fill_gaps, normalise_arxiv, normalise_doi, normalise_pmcid, normalise_pmid
from whycite.documents.model import Reference
from whycite.references.client import ServiceFailure
from whycite.references.comparison import same_identifier, same_work
from whycite.references.services import (
    FILES,
    Services,
    europe_pmc_record,
    items_at,
    quote_doi,
    title_words,
)

__all__ = ["FullTextSearch", "Offer", "OpenAccess", "has_identifier", "search_topic"]

_HOST_PAUSE = 1.0  # seconds between two files of one publisher
_PAGE = 100  # papers of a topic in one answer
_FREE = ("OA", "F")  # Europe PMC's codes of what is open access or free
_FIELDS = "id,doi,title,has_content,best_oa_location"


@dataclass(frozen=True, slots=True)
class Offer:
    """A file that can be downloaded."""

    source: str  # who has it
    format: str
    suffix: str
    download: Callable[[Path], bool]  # saves it; False if it is not there after all


class OpenAccess:
    """Asks services for the full text of papers."""

    def __init__(self, services: Services) -> None:
        self._services = services

    @property
    def names(self) -> tuple[str, ...]:
        """The services that are asked; files may come from publishers and repositories that they name."""
        return ("Europe PMC", "arXiv", *(["OpenAlex"] if self._services.openalex_key else []))

    def offers(self, paper: FullTextSearch) -> Iterator[Offer]:
        """The files of a paper, best first; what services know of the paper is added to the search as they answer."""
        pdfs: list[Offer] = []
        for look_up in (self._europe_pmc, self._arxiv, self._openalex):
            try:
                offers = look_up(paper)
            except ServiceFailure as failure:
                paper.failures.append(f"{_name(look_up)} {failure}")
                continue
            pdfs += (offer for offer in offers if offer.format == "PDF")
            yield from (offer for offer in offers if offer.format != "PDF")
        yield from pdfs

    def _europe_pmc(self, paper: FullTextSearch) -> list[Offer]:
        if not (query := _europe_pmc_query(paper.reference)):
            return []
        question = {"query": query, "format": "json", "resultType": "core", "pageSize": "5"}
        answer = self._services.ask("Europe PMC", "/search", question).json()
        for result in items_at(answer, "resultList", "result"):
            record = europe_pmc_record(result).beside(paper.reference)
            if not paper.is_same(record):
                continue
            paper.learn(record)
            offers = []
            pmcid = record.publication.pmcid
            if pmcid and result.get("isOpenAccess") == "Y":
                path = f"/{pmcid}/fullTextXML"
                offers.append(self._offer("Europe PMC", path, "JATS", ".xml", _is_jats))
            for link in items_at(result, "fullTextUrlList", "fullTextUrl"):
                if link.get("documentStyle") == "pdf" and link.get("availabilityCode") in _FREE:
                    offers += self._pdf_at(str(link.get("url", "")))
            return offers
        return []

    def _arxiv(self, paper: FullTextSearch) -> list[Offer]:
        reference = paper.reference
        arxiv = normalise_arxiv(reference.arxiv) or normalise_arxiv(reference.doi)
        if not arxiv and not has_identifier(reference) and reference.title:
            search = dict(self._services.searches())["arXiv"]
            records = [record.beside(reference) for record in search(reference.title)]
            same = next((record for record in records if same_work(reference, record)), None)
            if same is not None:
                paper.learn(same)
                arxiv = same.arxiv
        if not arxiv:
            return []
        return [
            self._offer("arXiv", f"/e-print/{arxiv}", "LaTeX", ".tar.gz", lambda head: head.startswith(b"\x1f\x8b")),
            self._offer("arXiv", f"/pdf/{arxiv}", "PDF", ".pdf", _is_pdf),
        ]

    def _openalex(self, paper: FullTextSearch) -> list[Offer]:
        key, reference = self._services.openalex_key, paper.reference
        if not key:
            return []
        doi, pmid = normalise_doi(reference.doi), normalise_pmid(reference.pmid)
        question = {"api_key": key, "select": _FIELDS}
        if doi or pmid:
            path = f"/works/doi:{quote_doi(doi)}" if doi else f"/works/pmid:{pmid}"
            work = self._services.ask("OpenAlex", path, question).json()
        elif reference.title:
            question["filter"] = f"title.search:{title_words(reference.title)}"
            works = items_at(self._services.ask("OpenAlex", "/works", question).json(), "results")
            record = (Reference("", str(work.get("title") or ""), reference.authors, reference.year) for work in works)
            work = next((work for work, same in zip(works, record, strict=True) if same_work(reference, same)), None)
        else:
            return []
        if not isinstance(work, dict):
            return []
        content = work.get("has_content")
        has_content = content if isinstance(content, dict) else {}
        path = f"/works/{str(work.get('id', '')).rpartition('/')[2]}"
        offers = []
        if has_content.get("grobid_xml"):
            offers.append(self._offer(FILES, f"{path}.grobid-xml", "TEI", ".tei.xml", _is_tei, {"api_key": key}))
        location = work.get("best_oa_location")
        if isinstance(location, dict):
            offers += self._pdf_at(str(location.get("pdf_url") or ""))
        if has_content.get("pdf"):
            offers.append(self._offer(FILES, f"{path}.pdf", "PDF", ".pdf", _is_pdf, {"api_key": key}))
        return offers

    def _offer(
        self,
        service: str,
        path: str,
        format: str,
        suffix: str,
        accepts: Callable[[bytes], bool],
        parameters: dict[str, str] | None = None,
    ) -> Offer:
        def download(target: Path) -> bool:
            return self._services.download(service, path, parameters or {}, target, accepts)

        return Offer("OpenAlex" if service == FILES else service, format, suffix, download)

    def _pdf_at(self, address: str) -> list[Offer]:
        """A PDF of a publisher or a repository."""
        host = urlsplit(address).hostname or ""
        if not address.startswith(("http://", "https://")) or not host:
            return []

        def download(target: Path) -> bool:
            return self._services.client.download(host, address, {}, _HOST_PAUSE, target, _is_pdf)

        return [Offer(host, "PDF", ".pdf", download)]


@dataclass(slots=True)
class FullTextSearch:
    """A paper that is searched for: what is known of it, and which services failed."""

    reference: Reference
    failures: list[str]

    def is_same(self, record: Reference) -> bool:
        """Whether a record is of this paper."""
        pmcids = {normalise_pmcid(paper.publication.pmcid) for paper in (self.reference, record)}
        same_pmcid = len(pmcids) == 1 and "" not in pmcids
        return same_pmcid or bool(same_identifier(self.reference, record)) or same_work(self.reference, record)

    def learn(self, record: Reference) -> None:
        """Fill in what a record knows."""
        self.reference = fill_gaps(self.reference, replace(record, id=self.reference.id))


def search_topic(services: Services, topic: str, n: int) -> list[Reference]:
    """The n papers on a topic whose full text Europe PMC has, most relevant first; without retracted ones."""
    query = f'({title_words(topic)}) AND OPEN_ACCESS:Y AND IN_EPMC:Y NOT PUB_TYPE:"Retracted Publication"'
    references: list[Reference] = []
    cursor = "*"
    while len(references) < n:
        question = {"query": query, "format": "json", "resultType": "core", "cursorMark": cursor}
        question["pageSize"] = str(min(_PAGE, n))
        answer = services.ask("Europe PMC", "/search", question).json()
        results = items_at(answer, "resultList", "result")
        references += (europe_pmc_record(result).reference for result in results)
        following = str(answer.get("nextCursorMark", "")) if isinstance(answer, dict) else ""
        if not results or following in ("", cursor):
            break
        cursor = following
    return references[:n]


def _europe_pmc_query(reference: Reference) -> str:
    doi, pmid = normalise_doi(reference.doi), normalise_pmid(reference.pmid)
    if pmcid := normalise_pmcid(reference.publication.pmcid):
        return f"PMCID:{pmcid}"
    if doi and not normalise_arxiv(doi):
        return f'DOI:"{doi}"'
    if pmid:
        return f"EXT_ID:{pmid} AND SRC:MED"
    words = "" if has_identifier(reference) else title_words(reference.title)
    return f'TITLE:"{words}"' if words else ""


def has_identifier(reference: Reference) -> bool:
    """Whether a paper can be asked for by an identifier."""
    return bool(reference.doi or reference.arxiv or reference.pmid or reference.publication.pmcid)


def _name(look_up: Callable[[FullTextSearch], list[Offer]]) -> str:
    return {"_europe_pmc": "Europe PMC", "_arxiv": "arXiv", "_openalex": "OpenAlex"}[look_up.__name__]


def _is_pdf(head: bytes) -> bool:
    return b"%PDF-" in head[:1024]


def _is_jats(head: bytes) -> bool:
    return b"<article" in head


def _is_tei(head: bytes) -> bool:
    return b"<TEI" in head
