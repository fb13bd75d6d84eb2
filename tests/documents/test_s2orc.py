"""S2ORC records: three releases, the eLife pack, metadata beside the texts, broken streams."""

import gzip
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.thoroughness import MAX_SECONDS, scaled
from whycite.documents import s2orc, unarxive
from whycite.documents.model import Document
from whycite.documents.s2orc import READER
from whycite.documents.sources import DiskFolder, MemoryFolder, Source, unwrap

ReadBytes = Callable[..., list[Document]]
Misplaced = Callable[[Document, str, Callable[[str], str]], list[str]]


def _undo(cut: str) -> str:
    text = json.loads(f'"{cut}"')
    assert isinstance(text, str)
    return text


def _record(**fields: Any) -> bytes:
    return json.dumps({"paper_id": "1", "body_text": [], **fields}).encode()


@pytest.fixture
def record(read_bytes: ReadBytes) -> Callable[..., Document]:
    def read(**fields: Any) -> Document:
        (document,) = read_bytes(READER, _record(**fields), "a.json")
        return document

    return read


Read = Callable[..., Document]


@pytest.mark.parametrize(
    ("name", "title", "year", "sentences", "citations", "references"),
    [
        ("s2orc-20190928-10002293.json", "Antimicrobial Photodynamic Therapy", 2017, 160, 70, 61),
        ("s2orc-20190928-10042064.json", "Unionisation and Foreign Direct", 2000, 200, 26, 25),
        ("s2orc-20200705-18980463.json", "", None, 300, 95, 60),
        ("s2orc-20210101-24e6b80e338a4e543de6b49cada07156c9149d22.json", "Niche Partitioning", 2011, 190, 101, 67),
    ],
)
def test_every_release_loads(
    data: Path,
    misplaced: Misplaced,
    name: str,
    title: str,
    year: int | None,
    sentences: int,
    citations: int,
    references: int,
) -> None:
    source = Source(DiskFolder(data / "formats"), name)
    assert READER.sniff(source.head())
    assert not unarxive.READER.sniff(source.head())
    (document,) = READER.read(source)
    assert document.path == source.path
    assert document.paper.title.startswith(title)
    assert document.paper.year == year
    assert bool(document.paper.authors) is bool(title)
    assert document.sections[0].heading == "Abstract"
    assert len(document.sections) > 1
    assert len(document.sentences) > sentences
    assert sum(len(s.citations) for s in document.sentences) == citations
    assert len(document.references) == references
    assert all(reference.title for reference in document.references)
    assert any(s.kind == "caption" for s in document.sentences)
    assert misplaced(document, source.data().decode(), _undo) == []


def test_the_elife_sample_loads(data: Path, misplaced: Misplaced) -> None:
    source = unwrap(Source(DiskFolder(data / "elife"), "elife-tiny.jsonl.zst"))
    assert READER.sniff(source.head())
    _check_pack(list(READER.read(source)), source, misplaced, 60, 9319, 5393)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("shard", range(15))
def test_the_whole_elife_pack_loads(data: Path, misplaced: Misplaced, shard: int) -> None:
    source = unwrap(Source(DiskFolder(data / "elife"), f"elife-{shard:02}.jsonl.zst"))
    _check_pack(READER.read(source), source, misplaced, 400, None, None)


def _check_pack(
    documents: Iterator[Document] | list[Document],
    source: Source,
    misplaced: Misplaced,
    papers: int,
    citations: int | None,
    references: int | None,
) -> None:
    with source.open() as stream:
        text = stream.read().decode()
    records = [json.loads(line) for line in text.splitlines(keepends=False) if line]
    cited = listed = found = 0
    for number, (document, record) in enumerate(zip(documents, records, strict=True), 1):
        found += 1
        assert document.path == f"{source.path}:{number}"
        assert document.warnings == ()
        assert document.paper.title
        assert document.paper.year == record["year"]
        assert document.paper.doi == record["doi"]
        assert len(document.references) == len(record["bib_entries"])
        spans = [span for paragraph in record["body_text"] for span in paragraph["cite_spans"]]
        keys = [key for s in document.sentences for c in s.citations for key in c.keys]
        # One place that names the same reference twice is one citation.
        distinct = {(n, *s.values()): s["ref_id"] for n, p in enumerate(record["body_text"]) for s in p["cite_spans"]}
        assert keys == list(distinct.values())
        headings = [section.heading for section in document.sections]
        assert set(headings) - {"Abstract"} == {
            heading for paragraph in record["body_text"] for heading in paragraph["sec_path"] or [paragraph["section"]]
        } - {"Abstract"}
        assert misplaced(document, text, _undo) == []
        cited += len(spans)
        listed += len(document.references)
    assert found == papers
    assert citations in (None, cited)
    assert references in (None, listed)


def test_sections_by_path_and_by_number(record: Read) -> None:
    paths = [["A"], ["A", "B"], ["A", "B", "C"], ["A", "D"], ["A"], ["E", "F"]]
    document = record(body_text=[{"text": f"Text {n}.", "sec_path": path} for n, path in enumerate(paths)])
    assert [(s.heading, s.level) for s in document.sections] == [
        ("A", 1),
        ("B", 2),
        ("C", 3),
        ("D", 2),
        ("A", 1),
        ("E", 1),
        ("F", 2),
    ]
    assert [document.sections[s.section].heading for s in document.sentences] == ["A", "B", "C", "D", "A", "F"]
    numbered = record(
        body_text=[
            {"text": "One.", "section": "Methods", "sec_num": "2"},
            {"text": "Two.", "section": "Methods", "sec_num": "2"},
            {"text": "Three.", "section": "Cells", "sec_num": "2.1."},
            {"text": "Four.", "section": None},
        ]
    )
    assert [(s.heading, s.level) for s in numbered.sections] == [("Methods", 1), ("Cells", 2), ("", 1)]


def test_spans_are_ordered_joined_and_checked(record: Read) -> None:
    text = "As Doe said, so Poe (x = 1) wrote."
    document = record(
        body_text=[
            {
                "text": text,
                "cite_spans": [
                    {"start": 16, "end": 19, "ref_id": None},
                    {"start": 3, "end": 6, "ref_id": "b1"},
                    {"start": 3, "end": 6, "ref_id": "b2"},
                    {"start": 4, "end": 9, "ref_id": "b3"},
                    {"start": 30, "end": 99, "ref_id": "b3"},
                    {"start": -3, "end": 2, "ref_id": "b3"},
                    {"start": None, "end": "x"},
                    "nonsense",
                ],
                "eq_spans": [{"start": 21, "end": 26, "latex": r"\mu"}],
            }
        ],
        bib_entries={"b1": {"title": "One"}, "b2": {"title": "Two"}},
    )
    (sentence,) = document.sentences
    assert sentence.text == "As Doe said, so Poe (μ) wrote."
    assert [(c.keys, sentence.text[c.text_start : c.text_end]) for c in sentence.citations] == [
        (("b1", "b2"), "Doe"),
        ((), "Poe"),
    ]
    assert "a.json:1: 4 citation spans do not match the text; skipped" in document.warnings


def test_parts_of_a_record(record: Read) -> None:
    document = record(
        title="Top",
        identifiers={"doi": "10.1/X", "arxiv_id": "1706.03762v2"},
        pdf_parse={
            "abstract": [{"text": "We show."}],
            "body_text": [{"text": "Body."}],
            "back_matter": [{"text": "Thanks.", "section": "Acknowledgements"}],
            "ref_entries": {"F": {"text": "A figure.", "type": "figure"}},
            "bib_entries": {
                "b0": {
                    "title": "One",
                    "authors": [
                        {"first": "Jane", "middle": ["Q"], "last": "Doe", "suffix": "Jr"},
                        "Poe EA",
                        "WHO team",
                    ],
                    "year": "2011-11",
                    "other_ids": {"DOI": ["10.1000/ABC"], "PMID": ["12"], "arXiv": ["arXiv:1706.03762"]},
                },
                "b1": {"raw_text": "Roe B. Printed. 2005.", "title": ""},
            },
        },
    )
    assert document.paper.title == "Top"
    assert (document.paper.doi, document.paper.arxiv) == ("10.1/x", "1706.03762")
    assert [(document.sections[s.section].heading, s.kind, s.text) for s in document.sentences] == [
        ("Abstract", "prose", "We show."),
        ("", "prose", "Body."),
        ("Acknowledgements", "prose", "Thanks."),
        ("Acknowledgements", "caption", "A figure."),
    ]
    one, printed = document.references
    assert one.authors == ("Doe, Jane Q Jr", "Poe, EA", "WHO team")
    assert (one.year, one.doi, one.pmid, one.arxiv) == (2011, "10.1000/abc", "12", "1706.03762")
    assert printed.text == "Roe B. Printed. 2005."
    assert printed.year == 2005


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize(
    "layout", ["pdf_parses/pdf_parses_3.jsonl metadata/metadata_3.jsonl", "pdf_parses_3.jsonl metadata_3.jsonl"]
)
def test_metadata_beside_the_texts_is_joined(tmp_path: Path, layout: str, packed: bool) -> None:
    texts, metadata = (tmp_path / name for name in layout.split())
    for path in (texts, metadata):
        path.parent.mkdir(exist_ok=True)
    rows = [{"paper_id": str(n), "title": f"Title {n}", "year": 2000 + n, "doi": f"10.1000/{n}"} for n in range(6)]
    rows[2]["has_pdf_parse"] = False
    lines = b"".join(json.dumps(row).encode() + b"\n" for row in rows) + b"broken\n"
    if packed:
        metadata.with_name(metadata.name + ".gz").write_bytes(gzip.compress(lines))
    else:
        metadata.write_bytes(lines)
    texts.write_bytes(
        b"".join(_record(paper_id=str(n), body_text=[{"text": "Body."}]) + b"\n" for n in (1, 4, 3, 9, 5, 2))
    )
    documents = list(READER.read(Source(DiskFolder(tmp_path), texts.relative_to(tmp_path).as_posix())))
    assert [d.paper.title for d in documents] == ["Title 1", "Title 4", "Title 3", "", "Title 5", ""]
    assert [d.paper.year for d in documents] == [2001, 2004, 2003, None, 2005, None]
    assert documents[0].paper.doi == "10.1000/1"


def test_metadata_is_read_no_further_than_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(s2orc, "MAX_AHEAD", 1000)
    rows = b"".join(json.dumps({"paper_id": str(n), "title": "x" * 100}).encode() + b"\n" for n in range(1000))
    files = {"metadata_0.jsonl": rows, "pdf_parses_0.jsonl": b""}
    with s2orc.S2orcMetadata.for_source(Source(MemoryFolder(files, ""), "pdf_parses_0.jsonl")) as metadata:
        assert metadata.row("5")["paper_id"] == "5"
        assert metadata.row("4")["paper_id"] == "4"
        assert metadata.row("900")["paper_id"] == "900"
        assert metadata.row("10") == {}
    with s2orc.S2orcMetadata.for_source(Source(MemoryFolder(files, ""), "metadata_0.jsonl")) as none:
        assert none.row("5") == {}


def test_a_broken_line_gives_an_empty_document_that_says_so(read_bytes: ReadBytes) -> None:
    good = _record(body_text=[{"text": "Body."}])
    documents = read_bytes(READER, good + b'\n{"paper_id": "2", "body\n\n' + good + b"\n", "s.jsonl")
    assert [(d.path, len(d.sentences)) for d in documents] == [("s.jsonl:1", 1), ("s.jsonl:2", 0), ("s.jsonl:4", 1)]
    assert documents[1].warnings[0].startswith("s.jsonl:2: not JSON")


@pytest.mark.parametrize(
    "fields",
    [
        {"body_text": "x"},
        {"body_text": [None, 1, "x", {"text": None}, {"text": "ok", "cite_spans": {"a": 1}}]},
        {"body_text": [{"text": "x", "sec_path": [None, 2, {}], "section": ["y"]}]},
        {"bib_entries": {"a": None, "b": {"authors": [None, 3, {"last": None}], "year": {}, "other_ids": []}}},
        {"bib_entries": [], "ref_entries": 3, "abstract": 7, "metadata": "x", "title": None, "year": True},
        {"pdf_parse": {"x": 1}},
        {"body_text": [{"text": "\ud800 lone"}]},
    ],
    ids=str,
)
def test_values_of_the_wrong_kind_do_no_harm(record: Read, fields: dict[str, Any]) -> None:
    assert record(**fields).format == "s2orc"


def test_what_is_no_record_is_said(record: Read) -> None:
    assert record(pdf_parse={"x": 1}).warnings == ("a.json:1: no body text; not an S2ORC record",)


@pytest.mark.parametrize(
    "fields",
    [
        {"body_text": [{"text": "word " * scaled(200_000)}]},
        {"body_text": [{"text": "x"}] * scaled(50_000)},
        {"body_text": [{"text": f"Text {n}.", "section": str(n)} for n in range(scaled(20_000))]},
        {
            "body_text": [
                {
                    "text": "a " * scaled(50_000),
                    "cite_spans": [{"start": n, "end": n + 1} for n in range(0, scaled(99_000), 2)],
                }
            ]
        },
        {"body_text": [{"text": "Say.", "sec_path": ["x"] * scaled(50_000)}] * 3},
        {"bib_entries": {str(n): {"title": "", "raw_text": "x " * 50} for n in range(3_000)}},
    ],
    ids=lambda fields: str(fields)[:40],
)
def test_nothing_takes_long(record: Read, fields: dict[str, Any]) -> None:
    began = time.process_time()
    record(**fields)
    assert time.process_time() - began < MAX_SECONDS


def test_a_stream_is_read_a_line_at_a_time() -> None:
    class Endless:
        """A stream of records without end."""

        def __init__(self) -> None:
            self.read_lines = 0

        def readline(self, limit: int = -1) -> bytes:
            self.read_lines += 1
            return _record(body_text=[{"text": "Body."}]) + b"\n"

        def __enter__(self) -> "Endless":
            return self

        def __exit__(self, *_: object) -> None:
            pass

    stream = Endless()

    class Folder(MemoryFolder):
        def open(self, name: str) -> Any:
            return stream

    documents = READER.read(Source(Folder({}, ""), "s.jsonl"))
    assert [next(documents).path for _ in range(3)] == ["s.jsonl:1", "s.jsonl:2", "s.jsonl:3"]
    assert stream.read_lines <= 4
