"""A paper is read once for any number of claims."""

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from whycite.documents import Document, read
from whycite.errors import UserError
from whycite.web.api import library
from whycite.web.reading import read_draft
from whycite.web.warm import WarmPapers

CLAIMS = ("Killer whales strike herring with their tails.", "Whales drive fish to the surface.")


def test_a_second_claim_does_not_read_the_paper_again(
    client: TestClient, papers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    readings = []

    def count(uploads: Any) -> Document:
        readings.append(uploads)
        return read_draft(uploads)

    monkeypatch.setattr(library, "read_draft", count)
    content = (papers / "whales.md").read_bytes()
    for claim in CLAIMS:
        sent = [("files", ("whales.md", content))]
        answer = client.post("/api/verify", data={"claim": claim}, files=sent)
        assert answer.status_code == 200
        assert answer.json()["claim"] == claim
    assert len(readings) == 1
    changed = [("files", ("whales.md", content + b"\n\nHerring swim in schools.\n"))]
    assert client.post("/api/verify", data={"claim": CLAIMS[0]}, files=changed).status_code == 200
    assert len(readings) == 2


def test_the_same_question_is_answered_once(papers: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paper = WarmPapers().open("hash", lambda: read(papers / "whales.md"))
    verification = paper.verify(CLAIMS[0])
    assert paper.verify(CLAIMS[0]) is verification
    assert paper.verify(CLAIMS[1]) is not verification


def test_a_paper_that_could_not_be_read_is_read_again(papers: Path) -> None:
    warm = WarmPapers()

    def fail() -> Document:
        raise UserError("cannot be read")

    with pytest.raises(UserError, match="cannot be read"):
        warm.open("hash", fail)
    document = read(papers / "whales.md")
    assert warm.open("hash", lambda: document).document is document
    assert warm.open("hash", fail).document is document
