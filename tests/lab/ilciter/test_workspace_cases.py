"""Claims with known answers (ILCiteR, section 7.1)."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whycite.documents import Citation, Document, Reference, Sentence
from whycite.errors import UserError
from whycite.evidence import EvidenceSpan, SpanKind
from whycite.lab.ilciter.workspace import ClaimCase, ClaimCases, answerable, choose, claim_cases

KEYS = {"a": "doi:10.1/a", "b": "doi:10.1/b", "c": "doi:10.1/c"}  # what the library has


def find(references: Sequence[Reference]) -> list[str | None]:
    return [KEYS.get(reference.title) for reference in references]


def span(text: str, *ids: str, sentence: int = 0, kind: SpanKind = "sentence") -> EvidenceSpan:
    return EvidenceSpan(text, ids, kind, sentence, "introduction", text, 0, 1)


def document(title: str, *texts: str, cites: str = "abx") -> Document:
    """Each text is a paragraph of one sentence that ends in a citation, "[1]"."""
    citation = Citation(("1",), 0, 3, 0, 3)
    sentences = tuple(Sentence(f"[1] {text}", 0, number, "f", 0, 9, (citation,)) for number, text in enumerate(texts))
    references = tuple(Reference(str(number), title=name) for number, name in enumerate(cites, start=1))
    return Document(f"{title}.xml", "jats", Reference(title, title=title, year=2025), (), sentences, references)


def made(*documents: tuple[Document, list[EvidenceSpan]]) -> ClaimCases:
    return claim_cases(((document.path, document, spans) for document, spans in documents), find)


def test_claims_know_their_true_papers() -> None:
    found = made(
        (document("One", "Sleep helps.", "Rest too."), [span("Sleep helps", "1", "3"), span("Rest", "2", sentence=1)]),
        (document("Two", "Naps.", cites="cc"), [span("Naps", "1", "2"), span("Unknown", "9")]),
    )
    assert found.cases == (
        ClaimCase("One.xml#0", "Sleep helps", 0, "introduction", "0", 0, ("doi:10.1/a",)),
        ClaimCase("One.xml#1", "Rest", 0, "introduction", "1", 1, ("doi:10.1/b",)),
        ClaimCase("Two.xml#0", "Naps", 1, "introduction", "0", 0, ("doi:10.1/c",)),
        ClaimCase("Two.xml#1", "Unknown", 1, "introduction", "0", 0, ()),
    )
    one, two = found.sources
    assert (one.key, one.title, one.year, one.cited) == ("One.xml", "One", 2025, ("doi:10.1/a",))
    assert one.paragraphs == {"0": "Sleep helps.", "1": "Rest too."}  # without the citation
    assert two.cited == ("doi:10.1/c",)


def test_what_is_cited_before_a_claim() -> None:
    texts = ["Sleep.", "Rest.", "Naps.", "Dreams."]
    cites = [("2", "9"), ("3", "1"), ("2",), ()]  # b; the unknown x and a; b again
    written = document("Paper", *texts)
    sentences = tuple(
        replace(sentence, citations=(replace(sentence.citations[0], keys=keys),))
        for sentence, keys in zip(written.sentences, cites, strict=True)
    )
    spans = [span(text, "1", sentence=at) for at, text in enumerate(texts)]
    found = made((replace(written, sentences=sentences), spans))
    assert found.sources[0].cited == ("doi:10.1/b", "doi:10.1/a")
    assert [case.earlier for case in found.cases] == [0, 1, 2, 2]


def test_the_same_text_is_one_claim_with_all_papers() -> None:
    found = made(
        (document("One", "Sleep."), [span("Sleep", "1"), span("Sleep", "2")]),
        (document("Two", "Sleep.", cites="c"), [span("Sleep", "1")]),
    )
    (case,) = found.cases
    assert case.id == "One.xml#0"
    assert case.truth == ("doi:10.1/a", "doi:10.1/b", "doi:10.1/c")


def test_what_says_nothing_is_no_claim() -> None:
    spans = [span("as in the", "1"), span("( , )", "1"), span("12", "1"), span("the brain", "1")]
    assert [case.text for case in made((document("One", "Sleep."), spans)).cases] == ["the brain"]


def test_paragraphs_without_claims_are_not_kept() -> None:
    (source,) = made((document("One", "Sleep.", "Rest."), [span("Rest", "1", sentence=1)])).sources
    assert source.paragraphs == {"1": "Rest."}


def case(id: str, *truth: str) -> ClaimCase:
    return ClaimCase(id, f"text of {id}", 0, None, "0", 0, truth)


CASES = [case("q1", "a"), case("q2", "gone"), case("q3", "b", "gone"), case("q4"), case("q5", "c", "a")]
SUPPORT = {"a": 2, "b": 9, "c": 5}


def test_answerable_has_a_true_paper_in_the_database() -> None:
    assert [case.id for case in answerable(CASES, SUPPORT)] == ["q1", "q3", "q5"]
    assert answerable(CASES, SUPPORT)[1].truth == ("b", "gone")  # the others stay true


def test_the_best_supported() -> None:
    assert [case.id for case in choose(CASES, SUPPORT, "supported", 2)] == ["q3", "q5"]
    assert [case.id for case in choose(CASES, SUPPORT, "supported", 9)] == ["q3", "q5", "q1"]
    tied = [case(f"q{n}", "a") for n in (3, 1, 2)]
    assert choose(tied, SUPPORT, "supported", 2) == tied[:2]  # in the order of the papers


@given(st.integers(0, 5), st.integers(2, 30))
def test_the_seed_decides_the_draw(seed: int, number: int) -> None:
    many = [case(f"q{n}", "a") for n in range(40)]
    drawn = choose(many, SUPPORT, "random", number, seed)
    assert len({case.id for case in drawn}) == number
    assert choose(many[::-1], SUPPORT, "random", number, seed) == drawn
    assert choose(many, SUPPORT, "random", number + 5, seed)[:number] == drawn
    assert choose(many, SUPPORT, "random", 40, seed + 1) != choose(many, SUPPORT, "random", 40, seed)


@pytest.mark.parametrize(
    ("choice", "number", "message"),
    [
        ("best", 5, "unknown choice 'best'; choose one of: random, supported"),
        ("random", 1, "at least two claims are needed"),
    ],
    ids=["choice", "number"],
)
def test_mistakes(choice: str, number: int, message: str) -> None:
    with pytest.raises(UserError, match=message):
        choose(CASES, SUPPORT, choice, number)
