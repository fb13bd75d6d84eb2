"""Searching with whatever people write, in libraries that hold whatever papers say."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.drafts import numbered_document
from tests.fakes import hashing_encoder
from whycite.documents.model import Document, Reference
from whycite.library import Library, add_documents, compact, remove

Make = Callable[..., Document]
WORK = Reference("w", title="Works")
QUERIES = {
    "empty": "",
    "stop words": "the of and",
    "quotes": '"cells grow',
    "operators": "cells AND NOT (grow* OR +water~2) -ponds",
    "fields": "text:cells^3 id:1",
    "backslash": "\\",
    "signs": "%_';--{}[]<>|&!?",
    "nul": "cells\0grow",
    "beyond the basic plane": "𝒳 😀 cells",
    "one long word": "x" * 100_000,
    "many words": " ".join(f"word{at}" for at in range(5_000)),
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("searching") / "library"
    papers = [numbered_document(at) for at in range(20)]
    add_documents(place, papers, jobs=1, encoder=hashing_encoder())
    return place


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_anything_may_be_asked(built: Path, encoder: Any, query: str) -> None:
    library = Library.open(built)
    [vector] = encoder.encode([query])
    assert len(library.search_spans(query, vector)) == 21  # all, by their vectors
    assert len(library.search_papers(query, vector)) == 41


def test_best_by_words_and_best_by_meaning(built: Path, encoder: Any) -> None:
    library = Library.open(built)
    [vector] = encoder.encode(["Cells of kind 7 grow in the “ponds”"])
    hits = library.search_spans("Cells grow in water", vector, k=1)
    assert {hit.text: bool(hit.lexical) for hit in hits} == {
        "Cells grow in “water”": True,
        "Cells of kind 7 grow in the “ponds”": False,
    }
    assert max(hits, key=lambda hit: hit.cosine).cosine == pytest.approx(1, abs=1e-3)
    assert [hit.id for hit in hits] == sorted(hit.id for hit in hits)


@pytest.mark.parametrize("k", [1, 3, 19])
def test_of_equally_good_spans_those_with_the_lowest_ids(built: Path, encoder: Any, k: int) -> None:
    library = Library.open(built)
    [vector] = encoder.encode(["ponds"])
    everything = library.search_spans("ponds", vector)
    assert len({hit.lexical for hit in everything if hit.lexical}) == 1
    hits = library.search_spans("ponds", vector, k)
    assert [hit.id for hit in hits if hit.lexical] == [hit.id for hit in everything if hit.lexical][:k]
    nearest = sorted(everything, key=lambda hit: -hit.cosine)[:k]
    assert {hit.id for hit in hits if not hit.lexical} <= {hit.id for hit in nearest} <= {hit.id for hit in hits}


def test_same_question_same_answer(built: Path, encoder: Any) -> None:
    [vector] = encoder.encode(["growth"])
    answers = [Library.open(built).search_spans("growth of cells", vector, k=5) for _ in range(3)]
    assert answers[0] == answers[1] == answers[2]


def test_asking_for_nothing_gives_nothing(built: Path, encoder: Any) -> None:
    library = Library.open(built)
    assert library.citations([]) == []
    assert library.papers([]) == {}
    assert library.texts([]) == {}
    assert library.sources([]) == {}
    assert library.support([]) == {}
    assert library.outlines([], encoder.encode(["x"])[0]) == {}
    assert library.papers([12345]) == {}


def test_more_ids_than_one_question_holds(built: Path, encoder: Any) -> None:
    library = Library.open(built)
    wanted = [hit.id for hit in library.search_spans("", encoder.encode(["x"])[0])]
    assert sorted(library.texts([*wanted, *range(9_000)])) == sorted(wanted)


def test_sources_are_read_once(built: Path) -> None:
    library = Library.open(built)
    first, second, *_ = (entry.id for entry in library.documents())
    sources = library.sources([first, first, 12345])
    assert list(sources) == [first]
    assert library.sources([second, first]) == {**sources, **Library.open(built).sources([second])}
    assert library.sources([first])[first] is sources[first]


@pytest.mark.parametrize("after", ["add", "compact", "remove"])
def test_libraries_without_evidence_answer(place: Path, encoder: Any, make: Make, after: str) -> None:
    add_documents(place, [make("a.md", "Nothing is cited.", title="On cells")], jobs=1, encoder=encoder)
    if after == "compact":
        compact(place)
    if after == "remove":
        remove(place, ["a.md"])
    library = Library.open(place)
    [vector] = encoder.encode(["cells"])
    assert library.search_spans("cells", vector) == []
    assert len(library.search_papers("cells", vector)) == (0 if after == "remove" else 1)
    assert list(library.occurrences()) == []


@pytest.mark.parametrize(
    "text",
    [
        "Cells 😀 𝒳 grow",
        "Cells\0grow",
        "Cells" + " grow slowly" * 90_000,
        "Cells " + "x" * 1_000_000,
        "Cells ''\"\\ grow",
    ],
    ids=["beyond the basic plane", "nul", "a megabyte of words", "a word of a megabyte", "quotes"],
)
def test_anything_may_be_said(place: Path, encoder: Any, make: Make, text: str) -> None:
    paper = make("a.md", f"{text} in “ponds” [@w].", references=[WORK])
    add_documents(place, [paper], jobs=1, encoder=encoder)
    [hit] = Library.open(place).search_spans("cells", encoder.encode(["cells"])[0])
    assert hit.text == f"{text} in “ponds”"
    assert hit.lexical > 0


def test_half_characters_and_impossible_years(place: Path, encoder: Any, make: Make) -> None:
    work = Reference("w", title="Wor\ud800ks", authors=("D\udfffe",), year=10**12, abstract="\ud800", venue="\ud800")
    paper = make("caf\udce9.md", "Cells\udc80 grow in “ponds” [@w].", references=[work], title="\ud800", year=-5)
    add_documents(place, [paper], jobs=1, encoder=encoder)
    library = Library.open(place)
    [hit] = library.search_spans("grow", encoder.encode(["cells"])[0])
    [citation] = library.citations([hit.id])
    found = library.papers([citation.paper])[citation.paper]
    assert (hit.text, found.title, found.year) == ("Cells? grow in “ponds”", "Wor?ks", None)
    assert [entry.path for entry in remove(place, ["caf\udce9.md"])] == ["caf?.md"]


def test_missing_titles_and_years(place: Path, encoder: Any, make: Make) -> None:
    printed = Reference("w", text="J. Doe, Cold stones and their makers, 1999.")
    add_documents(place, [make("a.md", "Cells grow in “ponds” [@w].", references=[printed])], jobs=1, encoder=encoder)
    library = Library.open(place)
    [hit] = library.search_spans("grow", encoder.encode(["cells"])[0])
    [citation] = library.citations([hit.id])
    assert library.papers([citation.paper])[citation.paper].title == printed.text
    source = library.sources([citation.document])[citation.document]
    assert (source.key, source.title, source.year) == ("", "a.md", None)
    assert [(key, year) for _, key, year in library.occurrences()] == [
        ("title:j doe cold stones and their makers 1999", None)
    ]
