"""What services know of references, each in its own format, and what becomes of it."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from tests.references.conftest import Failure, LocalServices
from whycite.documents.model import Document, Reference
from whycite.references.checking import PaperKnowledge, check_bibliography
from whycite.references.client import Clock, ServiceClient
from whycite.references.entries import Bibliography, Entry
from whycite.references.online import service_knowledge
from whycite.references.report import CheckedReference
from whycite.references.services import Services

BEES = Reference("bees", "Busy bees need rest, too", ("Kaiser, Walter",), 1988, doi="10.1007/BF00603841")
ATTENTION = Reference("attention", "Attention is all you need", ("Vaswani, A.", "Shazeer, N."), 2017)
LANCET = Reference(
    "lancet",
    "Ileal-lymphoid-nodular hyperplasia, non-specific colitis, and pervasive developmental disorder in children",
    ("Wakefield, A. J.", "Murch, S. H."),
    1998,
)


@pytest.fixture
def services(local_services: LocalServices, sleep: Callable[[float], None]) -> Iterator[Services]:
    local_services.answers["crossref/works"] = "crossref-nothing.json"
    with ServiceClient(contact="me@example.org", clock=Clock(lambda: 0.0, sleep)) as client:
        yield Services(client, openalex_key="key")


def _check(reference: Reference, services: Services) -> CheckedReference:
    knowledge = service_knowledge([reference], [PaperKnowledge()], services)
    bibliography = Bibliography(Document("refs.bib", "bibtex", Reference("")), (Entry(reference, "refs.bib"),))
    return check_bibliography(bibliography, knowledge).references[0]


def _summary(reference: Reference, services: Services) -> tuple[str, tuple[str, ...], list[str]]:
    checked = _check(reference, services)
    return checked.verdict, checked.sources, [problem.rule for problem in checked.problems]


def test_a_doi_at_crossref(local_services: LocalServices, services: Services) -> None:
    local_services.answers["crossref/works/10.1007/bf00603841"] = "crossref-work.json"
    assert _summary(BEES, services) == ("confirmed", ("Crossref",), [])
    assert _summary(replace(BEES, year=1990), services)[2] == ["year-differs"]
    assert _summary(replace(BEES, authors=("Doe, Ann",)), services)[2] == ["author-differs"]
    wrong = _check(replace(BEES, title="Wasps never sleep at all"), services)
    assert wrong.verdict == "differs"
    assert "the DOI belongs to “Busy bees need rest, too" in wrong.problems[0].message


def test_an_arxiv_id_at_datacite_or_at_arxiv(local_services: LocalServices, services: Services) -> None:
    preprint = replace(ATTENTION, arxiv="1706.03762")
    local_services.answers["datacite/dois/10.48550/arxiv.1706.03762"] = "datacite-arxiv.json"
    assert _summary(preprint, services) == ("confirmed", ("DataCite",), ["published-version"])
    assert _summary(replace(ATTENTION, doi="10.48550/arXiv.1706.03762", year=2023), services)[0] == "confirmed"
    del local_services.answers["datacite/dois/10.48550/arxiv.1706.03762"]
    local_services.answers["arxiv/api/query"] = "arxiv.xml"
    assert _summary(preprint, services) == ("confirmed", ("arXiv",), [])


def test_a_preprint_at_crossref_names_its_published_version(local_services: LocalServices, services: Services) -> None:
    local_services.answers["crossref/works/10.1101/2020.01.01.123456"] = (
        '{"message":{"DOI":"10.1101/2020.01.01.123456","type":"posted-content","title":["Wasps at night"],'
        '"author":[{"given":"Ann","family":"Doe"}],"issued":{"date-parts":[[2020,1,1]]},'
        '"relation":{"is-preprint-of":[{"id-type":"doi","id":"10.7554/eLife.12345","asserted-by":"subject"}]}}}'
    )
    preprint = Reference("x", "Wasps at night", ("Doe, A.",), 2020, doi="10.1101/2020.01.01.123456")
    [problem] = _check(preprint, services).problems
    assert (problem.rule, "10.7554/elife.12345" in problem.message) == ("published-version", True)


def test_a_pubmed_id_at_europe_pmc_with_its_retraction(local_services: LocalServices, services: Services) -> None:
    local_services.answers["europepmc"] = "europepmc.json"
    checked = _check(replace(LANCET, pmid="9500320"), services)
    assert (checked.verdict, checked.sources) == ("retracted", ("Europe PMC",))


def test_a_retraction_that_the_paper_names(local_services: LocalServices, services: Services) -> None:
    doi = "10.1016/s0140-6736(97)11096-0"
    local_services.answers[f"crossref/works/{doi}"] = "crossref-retracted.json"
    checked = _check(replace(LANCET, doi=doi), services)
    assert checked.verdict == "retracted"
    assert "2010-02-02" in checked.problems[0].message
    assert "Retraction Watch" in checked.problems[0].message


def test_a_retraction_that_only_the_notice_names(local_services: LocalServices, services: Services) -> None:
    local_services.answers["crossref/works/10.1007/bf00603841"] = "crossref-work.json"
    local_services.answers["crossref/works"] = "crossref-updates.json"
    checked = _check(BEES, services)
    assert checked.verdict == "retracted"
    assert "10.1007/s00359-000-0001-1" in checked.problems[0].message


@pytest.mark.parametrize(
    ("service", "answer", "name"),
    [
        ("crossref/works", "crossref-search.json", "Crossref"),
        ("openalex", "openalex.json", "OpenAlex"),
        ("semanticscholar", "semanticscholar.json", "Semantic Scholar"),
    ],
)
def test_a_title_is_searched(
    local_services: LocalServices, services: Services, service: str, answer: str, name: str
) -> None:
    local_services.answers[service] = answer
    checked = _check(replace(BEES, doi=""), services)
    assert (checked.verdict, checked.sources) == ("confirmed", (name,))
    assert checked.problems[0].correction == "10.1007/bf00603841"


def test_another_paper_with_similar_words_confirms_nothing(local_services: LocalServices, services: Services) -> None:
    local_services.answers["crossref/works"] = "crossref-search.json"
    assert _summary(Reference("x", "Sleep in wasps", ("Klein, B.",), 2008), services) == ("unknown", (), [])


def test_a_doi_that_no_agency_knows(local_services: LocalServices, services: Services) -> None:
    local_services.answers["doi"] = "doi-missing.json"
    invented = Reference("x", "A survey of surveys", ("Doe, Ann",), 2021, doi="10.99997/mufzf.390970")
    assert _summary(invented, services) == ("differs", (), ["unregistered-doi"])
    local_services.answers["doi"] = "doi-handle.json"  # another agency has it
    registered = replace(invented, doi="10.11588/heidok.00012345")
    assert _summary(registered, services) == ("unknown", (), [])


def test_what_is_unknown_everywhere_is_not_false(local_services: LocalServices, services: Services) -> None:
    thesis = Reference("x", "On the sleep of bumblebees in Lower Saxony", ("Doe, Ann",), 1975)
    assert _summary(thesis, services) == ("unknown", (), [])
    assert local_services.services() == ["crossref", "europepmc", "openalex", "semanticscholar", "arxiv"]


def test_without_answers_nothing_is_claimed(local_services: LocalServices, services: Services) -> None:
    page = Failure(200, b"<html>proxy</html>")
    local_services.failures = {name: [page] * 9 for name in ("crossref", "datacite", "doi", "europepmc", "openalex")}
    local_services.failures |= {name: [Failure(400)] * 9 for name in ("semanticscholar", "arxiv")}
    assert _summary(BEES, services) == ("unknown", (), [])


def test_only_identifiers_and_titles_are_sent(local_services: LocalServices, services: Services) -> None:
    reference = replace(BEES, venue="Secret Journal", abstract="secret", authors=("Secretauthor, Ann",))
    _check(reference, services)
    sent = repr(local_services.asked).lower()
    assert "busy bees" in sent
    assert "secret" not in sent
    assert "1988" not in sent


def test_answers_of_any_shape_are_survived(local_services: LocalServices, services: Services) -> None:
    for body in ('{"message": {"items": [{"title": "x", "author": 3, "issued": {"date-parts": [[null]]}}]}}', "{}"):
        for name in ("crossref/works", "europepmc", "openalex", "semanticscholar"):
            local_services.answers[name] = body
        local_services.answers["crossref/works/10.1007/bf00603841"] = '{"message": {"title": [], "updated-by": [{}]}}'
        local_services.answers["datacite"] = '{"data": {"attributes": {"titles": null, "creators": [1]}}}'
        assert _check(BEES, services).verdict == "unknown"
