"""Dates and subjects, which only the records have."""

import json
from pathlib import Path

import zstandard

from whycite.documents import Reference
from whycite.lab.evaluate.topics import PublicationRecord, publication_record, read_publication_records


def test_facts_of_records(tmp_path: Path) -> None:
    records = [
        {"paper_id": "1", "doi": "https://doi.org/10.1/A", "pub_date": "2025-10-20", "subjects": ["Ecology", 7]},
        {"paper_id": "2", "publish_time": "2020", "subjects": "Ecology"},
        {"paper_id": "3", "pub_date": "soon"},
        {"pub_date": "2024-01-01"},
    ]
    lines = "".join(json.dumps(record) + "\n" for record in records) + "no record\n[]\n"
    (tmp_path / "one.jsonl.zst").write_bytes(zstandard.compress(lines.encode()))
    (tmp_path / "notes.txt").write_text('{"paper_id": "9"}')
    expected = {
        "10.1/a": PublicationRecord("2025-10-20", ("Ecology",)),
        "2": PublicationRecord("2020"),
        "3": PublicationRecord(),
    }
    assert read_publication_records([tmp_path]) == expected
    assert read_publication_records([tmp_path / "one.jsonl.zst", tmp_path / "notes.txt"]) == expected


def test_a_paper_without_record_has_its_year() -> None:
    known = {"10.1/a": PublicationRecord("2025-10-20", ("Ecology",)), "2": PublicationRecord("", ("Medicine",))}
    assert publication_record(Reference("x", doi="10.1/a", year=2024), known) == PublicationRecord(
        "2025-10-20", ("Ecology",)
    )
    assert publication_record(Reference("2", doi="10.1/b", year=2024), known) == PublicationRecord(
        "2024", ("Medicine",)
    )
    assert publication_record(Reference("y"), known) == PublicationRecord()
