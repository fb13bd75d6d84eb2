"""CSL-JSON files."""

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.thoroughness import MAX_SECONDS, scaled
from whycite.documents.model import Document, Publication, Reference
from whycite.documents.references.csljson import READER, parse

ITEM = {
    "id": 17,
    "type": "article-journal",
    "title": "The <i>E. coli</i> story &amp; more.",
    "author": [
        {"family": "Berg", "non-dropping-particle": "van der", "given": "Jan"},
        {"family": "King", "given": "Martin", "suffix": "Jr."},
        {"literal": "World Health Organization"},
    ],
    "issued": {"date-parts": [["2010", 5, 3]]},
    "container-title": "Nature",
    "DOI": "https://doi.org/10.1038/NATURE1",
    "PMID": "12345",
    "volume": 466,
    "issue": "7",
    "page": "12–19",
    "ISSN": ["0028-0836"],
    "URL": "https://example.org/a",
    "publisher": "Springer",
    "publisher-place": "London",
    "editor": [{"family": "Roe", "given": "Rita"}],
    "abstract": "<p>An abstract.</p>",
}


def test_reads_an_item() -> None:
    references, warnings = parse(json.dumps([ITEM]), "refs.json")
    assert warnings == []
    assert references == [
        Reference(
            id="17",
            title="The E. coli story & more",
            authors=("van der Berg, Jan", "King, Martin Jr.", "World Health Organization"),
            year=2010,
            venue="Nature",
            doi="10.1038/nature1",
            pmid="12345",
            abstract="An abstract.",
            publication=Publication(
                type="article-journal",
                date="2010-05-03",
                editors=("Roe, Rita",),
                volume="466",
                issue="7",
                pages="12-19",
                publisher="Springer",
                place="London",
                issn="0028-0836",
                url="https://example.org/a",
            ),
        )
    ]


@pytest.mark.parametrize("wrapped", [[ITEM], {"items": [ITEM]}, {"references": [ITEM]}, ITEM])
def test_reads_lists_and_what_wraps_them(wrapped: object) -> None:
    assert [r.id for r in parse("\ufeff" + json.dumps(wrapped), "refs.json")[0]] == ["17"]


@pytest.mark.parametrize(
    ("fields", "name", "value"),
    [
        ({"issued": {"raw": "May 2011"}}, "year", 2011),
        ({"issued": {"date-parts": [[]]}, "published": {"date-parts": [[1999]]}}, "year", 1999),
        ({"issued": "2012-01-01"}, "year", 2012),
        ({"issued": None}, "year", None),
        ({"title": ["From Crossref"]}, "title", "From Crossref"),
        ({"editor": [{"family": "Doe", "given": "J"}]}, "authors", ("Doe, J",)),
        ({"author": ["Jane Doe", {"name": "The Group"}, 7]}, "authors", ("Doe, Jane", "The Group")),
        ({"URL": "https://arxiv.org/abs/1203.4567v1"}, "arxiv", "1203.4567"),
        ({"URL": "https://doi.org/10.1000/x.1"}, "doi", "10.1000/x.1"),
        ({"note": "PMID: 19872477"}, "pmid", "19872477"),
        ({"type": "book", "ISBN": "978-3-16-148410-0", "publisher": "Springer"}, "isbn", "9783161484100"),
        ({"type": "chapter", "ISBN": "978-3-16-148410-0"}, "isbn", ""),
        ({"citation-key": "doe2010"}, "id", "doe2010"),
    ],
)
def test_finds_fields_where_they_stand(fields: dict[str, object], name: str, value: object) -> None:
    (reference,) = parse(json.dumps([{"id": "k", "type": "article", **fields}]), "refs.json")[0]
    assert getattr(reference, name) == value


def test_says_what_is_left_out() -> None:
    references, warnings = parse('[{"id": "a"}, {"title": "no id"}, 7, {"id": "a"}]', "refs.json")
    assert [r.id for r in references] == ["a"]
    assert warnings == [
        "refs.json: item 2 has no id; skipped",
        "refs.json: item 3 has no id; skipped",
        "refs.json: duplicate id 'a'; using the first item",
    ]
    assert parse('[{"id": "a",\n}]', "refs.json")[1][0].startswith("refs.json:2: not valid JSON")
    assert parse("7", "refs.json")[1] == ["refs.json: not CSL-JSON, which is a list of references"]


def test_sniff_tells_it_from_json_of_papers(data: Path) -> None:
    assert READER.sniff(json.dumps([ITEM]).encode())
    assert READER.sniff(json.dumps({"items": [ITEM]}, indent=1).encode())
    assert not READER.sniff(b"@article{k,}")
    assert not READER.sniff(b'{"cells": [], "metadata": {}}')
    papers = [*(data / "formats").glob("s2orc*.json")]
    assert papers
    assert not any(READER.sniff(path.read_bytes()[:65536]) for path in papers)


def test_reader(read_bytes: Callable[..., list[Document]]) -> None:
    (document,) = read_bytes(READER, json.dumps([ITEM]).encode(), "refs.json")
    assert (document.format, len(document.references)) == ("csljson", 1)


@pytest.mark.parametrize(
    "text",
    [
        "[" * scaled(1_000_000),
        '"' * scaled(1_000_000),
        '"\\' * scaled(500_000),
        "[1" + "0" * scaled(1_000_000) + "]",
        "\0" * scaled(1_000_000),
        '[{"id":"a","title":"' + "<i" * scaled(500_000) + '"}]',
        '[{"id":"a","DOI":"10.1234/' + ")" * scaled(1_000_000) + '"}]',
        '{"a":' * scaled(200_000),
        "[" + '{"id":"a"},' * scaled(90_000) + "{}]",
    ],
)
def test_hostile_files_end_soon(text: str) -> None:
    start = time.process_time()
    references, warnings = parse(text, "refs.json")
    assert time.process_time() - start < MAX_SECONDS
    assert len(references) <= 1
    assert len(warnings) <= 100


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["id", "author", "issued", "date-parts", "title", "DOI", "family", "raw"]), inner
        )
    ),
    max_leaves=12,
)


@given(st.lists(_JSON, max_size=4))
def test_any_json_is_read_or_warned_of(items: list[object]) -> None:
    references, warnings = parse(json.dumps(items), "refs.json")
    assert len(references) + len(warnings) == len(items)
