"""Documents packed for training elsewhere; needs no torch."""

import json
from pathlib import Path

import pytest

from whycite.training.worthiness.__main__ import main
from whycite.worthiness.pack import load


def test_prepared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = {
        "doi": "10.1/a",
        "year": 2020,
        "pub_date": "2020-02-03",
        "body_text": [{"section": "Introduction", "text": "Cells divide all day [1].", "cite_spans": []}],
    }
    older = record | {"doi": "10.1/b", "pub_date": "2019-02-03"}
    (tmp_path / "a.jsonl").write_text(f"{json.dumps(older)}\n{json.dumps(record)}\n")
    assert main(["prepare", str(tmp_path / "a.jsonl"), "--out", str(tmp_path / "p.xz")]) == 0
    assert "2 documents" in capsys.readouterr().out
    newest, oldest = load(tmp_path / "p.xz")
    assert (newest.date, oldest.date) == ("2020-02-03", "2019-02-03")
    assert newest.paragraphs[0].sentences[0].text.startswith("Cells divide")
