"""unarXive records: tokens for citations, formulas and floats."""

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.thoroughness import MAX_SECONDS, scaled
from whycite.documents import s2orc
from whycite.documents.latex.formulas import math_text
from whycite.documents.model import Document
from whycite.documents.sources import DiskFolder, Source, unwrap
from whycite.documents.unarxive import READER

ReadBytes = Callable[..., list[Document]]

_TOKEN = re.compile(r"\{\{(\w+):([^{}]*)\}\}")
_MATH = re.compile(r"\$\$?([^$]*)\$\$?")
_WORD = re.compile(r"[A-Za-z]{4,}")


@pytest.fixture
def record(read_bytes: ReadBytes) -> Callable[..., Document]:
    def read(text: str, content_type: str = "paragraph", **fields: Any) -> Document:
        body = [{"text": text, "section": "S", "sec_number": "1", "sec_type": "section", "content_type": content_type}]
        data = {"paper_id": "2212.11867", "body_text": body, **fields}
        (document,) = read_bytes(READER, json.dumps(data).encode(), "u.json")
        return document

    return read


Read = Callable[..., Document]


def _spell(cut: str, entries: dict[str, Any]) -> str:
    """The source of a sentence with its formulas written out, as shown and as they were."""
    latex = {id: entry.get("latex", "") for id, entry in entries.items()}
    text = _MATH.sub(lambda math: math_text(math[1]), json.loads(f'"{cut}"'))
    return _TOKEN.sub(lambda token: f"{math_text(latex.get(token[2], ''))}{latex.get(token[2], '')}", text)


def test_the_sample_loads(data: Path) -> None:
    source = unwrap(Source(DiskFolder(data / "formats"), "unarxive-sample.jsonl.gz"))
    assert READER.sniff(source.head())
    assert not s2orc.READER.sniff(source.head())
    with source.open() as stream:
        text = stream.read().decode()
    records = [json.loads(line) for line in text.splitlines() if line]
    documents = list(READER.read(source))
    assert len(documents) == len(records) == 40
    for number, (document, record) in enumerate(zip(documents, records, strict=True), 1):
        assert document.path == f"{source.path}:{number}"
        assert document.warnings == ()
        assert document.paper.title
        assert document.paper.authors
        assert document.paper.arxiv == record["paper_id"]
        assert document.sections[0].heading == "Abstract"
        assert len(document.references) == len(record["bib_entries"])
        assert all(reference.text for reference in document.references)
        keys = [key for s in document.sentences for c in s.citations for key in c.keys]
        spans = [span["ref_id"] for p in record["body_text"] for span in p["cite_spans"]]
        assert set(keys) >= set(spans)
        assert len([c for s in document.sentences for c in s.citations]) <= len(spans) + len(set(keys))
        for sentence in document.sentences:
            assert not _TOKEN.search(sentence.text)
            cut = _spell(text[sentence.start : sentence.end], record["ref_entries"])
            at = 0
            for word in _WORD.findall(sentence.with_citations(" ").replace("EQUATION", " ")):
                at = cut.find(word, at)
                assert at >= 0, (word, sentence)
    assert sum(len(d.references) for d in documents) == 1505


def test_runs_of_citations_are_one_marker(record: Read) -> None:
    document = record(
        "Shown {{cite:a}}, {{cite:b}}{{cite:c}} and by {{cite:z}}. It holds. {{cite:b}} \n",
        bib_entries={"a": {"bib_entry_raw": "A"}, "b": {"bib_entry_raw": "B"}, "c": {"bib_entry_raw": "C"}},
    )
    assert [s.text for s in document.sentences] == ["Shown [1, 2, 3] and by [?].", "It holds.[2]"]
    assert [c.keys for s in document.sentences for c in s.citations] == [("a", "b", "c"), ("z",), ("b",)]
    assert document.warnings == ("1 cited key has no entry in the bibliography: z",)


def test_formulas_read_as_words(record: Read) -> None:
    document = record(
        r"Let {{formula:1}} be {{formula:2}} and {{formula:3}} here {{formula:4}}.",
        ref_entries={
            "1": {"type": "formula", "latex": r"\mu "},
            "2": {"type": "formula", "latex": r"\begin{aligned}x&=1\end{aligned}"},
            "3": {"type": "formula", "latex": " chosen from a probability measure that was taken for a formula "},
        },
    )
    assert document.sentences[0].text == (
        "Let μ be EQUATION and chosen from a probability measure that was taken for a formula here EQUATION."
    )


def test_formulas_do_not_run_into_words(record: Read) -> None:
    entries = {"k": {"type": "formula", "latex": "k"}, "e": {"type": "formula", "latex": "a=b"}}
    document = record("the {{formula:k}}th of{{formula:e}}with {{formula:k}}{{formula:k}}", ref_entries=entries)
    assert document.sentences[0].text == "the kth of a=b with k k"


def test_floats_leave_their_paragraph_and_captions_follow_it(record: Read) -> None:
    document = record(
        "Before {{figure:f}}{{table:t}}after.",
        ref_entries={
            "g": {"type": "figure", "caption": "Not anchored."},
            "f": {"type": "figure", "caption": "A figure of {{cite:a}}."},
            "t": {"type": "table", "caption": "NO_CAPTION"},
        },
        bib_entries={"a": {"bib_entry_raw": "A"}},
    )
    assert [(s.kind, s.text) for s in document.sentences] == [
        ("prose", "Before after."),
        ("caption", "A figure of [1]."),
        ("caption", "Not anchored."),
    ]


def test_items_of_a_list_are_sentences(record: Read) -> None:
    assert [s.text for s in record("\none thing\n\nanother\nthing\n\n", "list").sentences] == [
        "one thing",
        "another thing",
    ]
    assert [s.text for s in record("one thing,\n\nanother thing").sentences] == ["one thing, another thing"]


def test_metadata_and_abstract(record: Read) -> None:
    document = record(
        "Body.",
        abstract={"section": "Abstract", "text": "  Let $\\mu$ be\n$$ x = \\frac{a}{b} $$ given."},
        metadata={
            "title": "On\n  $\\alpha$-things by Erd\\H{o}s",
            "authors_parsed": [["Erd\\H{o}s", "P.", ""], ["Doe", "Jane", "Jr"]],
            "versions": [{"version": "v1", "created": "Thu, 22 Dec 2019 17:01:56 GMT"}],
            "update_date": "2022-12-23",
            "journal-ref": "Ann. Math. 1",
            "doi": "10.1000/X",
        },
    )
    paper = document.paper
    assert paper.title == "On α-things by Erdős"
    assert paper.authors == ("Erdős, P.", "Doe, Jane Jr")
    assert (paper.year, paper.venue, paper.doi, paper.arxiv) == (2019, "Ann. Math. 1", "10.1000/x", "2212.11867")
    assert document.sentences[0].text == "Let μ be EQUATION given."


def test_references_take_the_ids_the_record_knows(record: Read) -> None:
    document = record(
        "Body.",
        bib_entries={
            "a": {
                "bib_entry_raw": "Doe. T. 2001.",
                "ids": {"doi": "10.1000/A", "arxiv_id": "2104.06921", "pubmed_id": "12"},
            },
            "b": {
                "bib_entry_raw": "Poe. U. 2002.",
                "contained_arXiv_ids": [{"id": "2002.11768"}],
                "contained_links": [{"url": "https://example.org"}, {"url": "https://doi.org/10.1000/B"}],
            },
        },
    )
    a, b = document.references
    assert (a.text, a.year, a.doi, a.arxiv, a.pmid) == ("Doe. T. 2001.", 2001, "10.1000/a", "2104.06921", "12")
    assert (b.doi, b.arxiv) == ("10.1000/b", "2002.11768")


def test_a_broken_line_gives_an_empty_document_that_says_so(read_bytes: ReadBytes) -> None:
    documents = read_bytes(READER, b'{"body_text": []}\n{"body\n{}\n', "u.jsonl")
    assert [d.path for d in documents] == ["u.jsonl:1", "u.jsonl:2", "u.jsonl:3"]
    assert documents[1].warnings[0].startswith("u.jsonl:2: not JSON")
    assert documents[2].warnings == ("u.jsonl:3: no body text; not an unarXive record",)


@pytest.mark.parametrize(
    "fields",
    [
        {"abstract": "x", "metadata": [1], "bib_entries": [], "ref_entries": 3},
        {"bib_entries": {"a": None, "b": {"ids": 3, "contained_links": "x", "contained_arXiv_ids": [None]}}},
        {"metadata": {"authors_parsed": [None, [], [1, None]], "versions": [None], "title": 3}},
        {"ref_entries": {"a": None, "b": {"type": "figure", "caption": 7}}},
    ],
    ids=str,
)
def test_values_of_the_wrong_kind_do_no_harm(record: Read, fields: dict[str, Any]) -> None:
    assert record("Body.", **fields).sentences[0].text == "Body."


@pytest.mark.parametrize(
    "text",
    [
        "{{cite:a}}" * scaled(90_000),
        "{{cite:" * scaled(100_000),
        "{{cite:a}}, " * scaled(80_000),
        "$" * 999_999,
        "$a" * scaled(300_000),
        "{{" * scaled(500_000),
        "\n\n" * scaled(300_000) + "x",
        "{{formula:a}} " * scaled(60_000),
        "{{figure:a}}" * scaled(80_000) + "x",
    ],
    ids=lambda text: text[:14],
)
def test_nothing_takes_long(record: Read, text: str) -> None:
    began = time.process_time()
    record(text, "list")
    assert time.process_time() - began < MAX_SECONDS
