"""What services know of references: by identifier, and by title where there is none or it belongs to another paper."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from whycite.documents.identity import normalise_arxiv, normalise_doi, normalise_pmid, normalise_title
from whycite.documents.model import Notice, Reference
from whycite.documents.references.notices import is_notice
from whycite.library.notices import PaperNotices
from whycite.references.checking import PaperKnowledge
from whycite.references.client import ServiceFailure
from whycite.references.comparison import same_identifier, same_work, titles_agree
from whycite.references.services import ServiceRecord, Services

__all__ = ["service_knowledge"]

_Lookup = Callable[[], tuple[str, list[ServiceRecord]]]


def service_knowledge(
    references: Sequence[Reference],
    offline: Sequence[PaperKnowledge],
    services: Services,
    progress: Callable[[int], None] = lambda done: None,
) -> list[PaperKnowledge]:
    """What services know of papers, or what was known before where they know nothing or do not answer."""
    knowledge = []
    for number, (reference, paper) in enumerate(zip(references, offline, strict=True), 1):
        knowledge.append(_ask(reference, paper, services))
        progress(number)
    return _with_notices(references, knowledge, services)


def _ask(reference: Reference, paper: PaperKnowledge, services: Services) -> PaperKnowledge:
    doi = normalise_doi(reference.doi)
    source, records = _first_answer(_lookups(reference, services))
    matching = [record for record in records if same_identifier(reference, record.reference)]
    unregistered = False
    if not matching and doi and not normalise_arxiv(doi):
        unregistered = _is_unregistered(doi, services)
    # A title that its identifier does not have may be that of another paper, which tells which of the two is wrong.
    if not any(titles_agree(reference.title, record.reference.title) for record in matching):
        title_source, titled = _search(reference, services)
        records = [*matching, *titled]
        source = source if matching else title_source
    if not records:
        return replace(paper, unregistered=unregistered)
    notices = [notice for record in records for notice in _own_notices(reference, record.reference)]
    itself = any(is_notice(record.reference) for record in matching)
    return PaperKnowledge(
        source,
        tuple(record.beside(reference) for record in records),
        paper.notices.merge(PaperNotices(tuple(notices), itself)),
        unregistered,
    )


def _lookups(reference: Reference, services: Services) -> list[_Lookup]:
    doi, pmid = normalise_doi(reference.doi), normalise_pmid(reference.pmid)
    arxiv = normalise_arxiv(reference.arxiv) or normalise_arxiv(reference.doi)
    lookups: list[_Lookup] = []
    if doi and not normalise_arxiv(doi):
        lookups.append(lambda: services.by_doi(doi))
    if arxiv:
        lookups.append(lambda: services.by_arxiv(arxiv))
    if pmid:
        lookups.append(lambda: services.by_pmid(pmid))
    return lookups


def _first_answer(lookups: Sequence[_Lookup]) -> tuple[str, list[ServiceRecord]]:
    for look_up in lookups:
        try:
            source, records = look_up()
        except ServiceFailure:
            continue  # the client remembers it, and the command says so at the end
        if records:
            return source, records
    return "", []


def _search(reference: Reference, services: Services) -> tuple[str, list[ServiceRecord]]:
    if not normalise_title(reference.title):
        return "", []
    for name, search in services.searches():
        try:
            records = [record for record in search(reference.title) if same_work(reference, record.beside(reference))]
        except ServiceFailure:
            continue
        if records:
            return name, records
    return "", []


def _is_unregistered(doi: str, services: Services) -> bool:
    """Whether doi.org says that a DOI does not exist; without its answer nothing is said."""
    try:
        return not services.is_registered(doi)
    except ServiceFailure:
        return False


def _own_notices(reference: Reference, record: Reference) -> tuple[Notice, ...]:
    is_own = same_identifier(reference, record) or same_work(reference, record)
    return record.notices if is_own and titles_agree(reference.title, record.title) else ()


def _with_notices(
    references: Sequence[Reference], knowledge: Sequence[PaperKnowledge], services: Services
) -> list[PaperKnowledge]:
    """Knowledge with the notices at Crossref that name a paper."""
    dois = [
        normalise_doi(reference.doi)
        for reference, paper in zip(references, knowledge, strict=True)
        if paper.source == "Crossref" and normalise_doi(reference.doi)
    ]
    try:
        notices = services.retractions(list(dict.fromkeys(dois)))
    except ServiceFailure:
        return list(knowledge)
    return [
        replace(paper, notices=paper.notices.merge(PaperNotices(tuple(notices.get(normalise_doi(reference.doi), ())))))
        if normalise_doi(reference.doi) in notices
        else paper
        for reference, paper in zip(references, knowledge, strict=True)
    ]
