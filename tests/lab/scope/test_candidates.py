"""What documents cite, where, and which references are one paper."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from whycite.documents import Citation, Document, Reference, Section, Sentence, stream
from whycite.errors import UserError
from whycite.lab.scope.candidates import cited_sets, gather_citations

BEES = Reference("r1", "How honeybees that forage sleep at night", ("Kaiser, W",), 1988, doi="10.1/bees")
AGAIN = Reference("x", "How honeybees that forage sleep at night", ("Kaiser, W",), 1988)
NETS = Reference("r2", "Networks of attention layers alone translate text", ("Doe, J",), 2017, doi="10.1/nets")


def _document(name: str, cites: Sequence[tuple[int, str]], references: tuple[Reference, ...], year: int) -> Document:
    sentences = []
    for at, (section, keys) in enumerate(cites):
        text = f"Sentence {at} says so (Doe, 2001)."
        citation = (Citation(tuple(keys.split()), 0, 1, text.index("("), text.index(")") + 1),) if keys else ()
        sentences.append(Sentence(text, section, 0, name, 0, 1, citation))
    sections = (Section("Introduction", 1), Section("Methods", 1))
    paper = Reference(name, f"The study that is called {name} by all of us", ("Roe, R",), year, doi=f"10.9/{name}")
    return Document(name, "made", paper, sections, tuple(sentences), references)


@pytest.fixture
def documents() -> list[Document]:
    own = Reference("self", "The study that is called one by all of us", ("Roe, R",), 2020, doi="10.9/one")
    return [
        _document("two", [(0, "x"), (1, "")], (AGAIN,), 2021),
        _document("one", [(0, "r1"), (0, ""), (0, "r2 r1"), (1, "r2 self"), (1, "self lost")], (BEES, NETS, own), 2020),
    ]


def test_contexts_papers_and_sets(documents: list[Document]) -> None:
    found = gather_citations(documents)
    assert [each.key for each in found.documents] == ["doi:10.9/one", "doi:10.9/two"]
    assert set(found.papers) == {"doi:10.1/bees", "doi:10.1/nets"}
    one, two = found.documents
    assert [(c.position, c.section_type, sorted(c.papers)) for c in one.contexts] == [
        (0, "introduction", ["doi:10.1/bees"]),
        (2, "introduction", ["doi:10.1/bees", "doi:10.1/nets"]),
        (0, "method", ["doi:10.1/nets"]),
    ]
    assert one.contexts[1].sentence == "Sentence 2 says so."
    assert one.contexts[1].paragraph == (
        "Sentence 0 says so.",
        "Sentence 1 says so (Doe, 2001).",
        "Sentence 2 says so.",
    )
    assert two.contexts[0].papers == {"doi:10.1/bees"}
    assert (two.year, two.date) == (2021, "2021")
    by_section = [(each.document, each.section_types, each.papers) for each in cited_sets(found.documents, "section")]
    assert by_section == [
        ("doi:10.9/one", ("introduction",), ("doi:10.1/bees", "doi:10.1/nets")),
        ("doi:10.9/one", ("method",), ("doi:10.1/nets",)),
        ("doi:10.9/two", ("introduction",), ("doi:10.1/bees",)),
    ]
    whole = cited_sets(found.documents, "paper")
    assert [(each.section_types, len(each.papers)) for each in whole] == [
        (("introduction", "method"), 2),
        (("introduction",), 1),
    ]


def test_a_document_given_twice_counts_once(documents: list[Document]) -> None:
    assert gather_citations([*documents, documents[0]]) == gather_citations(documents)
    assert gather_citations(documents[::-1]) == gather_citations(documents)


def test_dates(documents: list[Document]) -> None:
    found = gather_citations(documents, lambda paper: "2019-05-01" if paper.id == "two" else "")
    assert [each.date for each in found.documents] == ["2019-05-01", "2020"]


def test_other_sets(documents: list[Document]) -> None:
    with pytest.raises(UserError, match="by paper or by section"):
        cited_sets((), "chapter")  # type: ignore[arg-type]


def test_real_articles(data: Path) -> None:
    articles = [article for article, _ in zip(stream(data / "elife" / "elife-tiny.jsonl.zst"), range(4), strict=False)]
    found = gather_citations(articles)
    assert len(found.documents) == 4
    types = {context.section_type for each in found.documents for context in each.contexts}
    assert {"introduction", "discussion"} <= types
    assert all(key in found.papers for each in found.documents for context in each.contexts for key in context.papers)
    assert all(each.key not in context.papers for each in found.documents for context in each.contexts)
