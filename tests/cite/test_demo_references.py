"""The articles of the demo in a library: what is recommended has whole references, and retracted articles stay out."""

from collections import defaultdict
from typing import Any

import pytest

from tests.fakes import word_encoder
from whycite.cite.evidence_sum import EvidenceSum
from whycite.cite.exports import as_bibtex
from whycite.cite.recommendations import Claim
from whycite.demo import articles
from whycite.documents import read
from whycite.documents.identity import paper_key
from whycite.documents.model import Document, Publication, Reference
from whycite.documents.references import bibtex
from whycite.library import Library, Paper, add_documents
from whycite.library.tables import identifier

pytestmark = pytest.mark.slow
RETRACTED, NOTICE = "doi:10.1371/journal.ppat.1003435", "doi:10.1371/journal.ppat.1005207"
FIELDS = ("title", "authors", "year", "venue", "doi", "arxiv", "pmid", "isbn")
DETAILS = tuple(name for name in Publication.__dataclass_fields__ if name not in ("type", "et_al"))
PEOPLE = {"authors", "editors"}


@pytest.fixture(scope="module")
def documents() -> list[Document]:
    return [read(path) for path in articles()]


@pytest.fixture(scope="module")
def library(documents: list[Document], tmp_path_factory: pytest.TempPathFactory) -> Library:
    place = tmp_path_factory.mktemp("demo") / "library"
    add_documents(place, documents, jobs=2, encoder=word_encoder())
    return Library.open(place)


def _recommended(library: Library, documents: list[Document], number: int) -> list[Paper]:
    """Different papers that are recommended for sentences that cite."""
    method = EvidenceSum(library, word_encoder())
    papers: dict[str, Paper] = {}
    for document in documents:
        for sentence in [sentence for sentence in document.sentences if sentence.cites][:3]:
            for recommendation in method.recommend(Claim(sentence.without_citations()), 5):
                papers.setdefault(recommendation.paper.key, recommendation.paper)
        if len(papers) >= number:
            break
    return [*papers.values()][:number]


def _known_fields(reference: Reference) -> dict[str, Any]:
    """The fields of a reference that are not empty."""
    parts = [(reference, FIELDS), (reference.publication, DETAILS)]
    fields = {name: value for part, names in parts for name in names if (value := getattr(part, name))}
    return fields | {name: tuple(map(_joined_initials, fields[name])) for name in PEOPLE & fields.keys()}


def _joined_initials(name: str) -> str:
    """A name whose initials stand together, which BibTeX has apart ("Seeley, T. D.")."""
    family, comma, given = name.partition(", ")
    return family + comma + given.replace(".", "").replace(" ", "")


def _joined_fields(sources: list[Reference]) -> dict[str, list[Any]]:
    """What sources say of each field that one of them has."""
    fields: defaultdict[str, list[Any]] = defaultdict(list)
    for source in sources:
        for name, value in _known_fields(source).items():
            fields[name].append(value)
    return fields


def test_recommended_papers_have_all_that_their_sources_have(library: Library, documents: list[Document]) -> None:
    sources: defaultdict[str, list[Reference]] = defaultdict(list)
    for document in documents:
        for reference in (document.paper, *document.references):
            sources[paper_key(reference)].append(reference)
    papers = _recommended(library, documents, 400)
    assert len(papers) == 400
    entries, warnings = bibtex.parse(as_bibtex(papers), "recommended.bib")
    assert not warnings
    lost = [
        (paper.key, name)
        for paper, entry in zip(papers, map(_known_fields, entries), strict=True)
        for name, values in _joined_fields(sources[paper.key]).items()
        # The publisher of a book counts as its venue, in whatever field.
        if not any(value in (entry.get(name), entry.get("publisher")) for value in values)
    ]
    assert lost == []


def test_the_retracted_article_and_its_notice(library: Library) -> None:
    paper, notice = (library.papers([identifier(key)])[identifier(key)] for key in (RETRACTED, NOTICE))
    assert (paper.status, notice.status) == ("retracted", "notice")
    assert [(one.kind, one.doi, one.date) for one in paper.notices] == [
        ("retraction", "10.1371/journal.ppat.1005207", "2015-09-22")
    ]
    method = EvidenceSum(library, word_encoder())
    keys = {one.paper.key for one in method.recommend(Claim(paper.title), 20)}
    assert not keys & {RETRACTED, NOTICE}
    assert RETRACTED in {one.paper.key for one in method.recommend(Claim(paper.title, include_retracted=True), 20)}
