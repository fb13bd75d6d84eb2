"""A claim is verified over the API: the same answer as on the command line, also for papers of the library."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from whycite.cli import app
from whycite.library import add

CLAIM = "Herring are stunned by tail blows of killer whales."
Clients = Callable[..., TestClient]


def _verified(client: TestClient, **asked: Any) -> dict[str, Any]:
    answer = client.post("/api/verify", data={"claim": CLAIM} | asked.pop("data", {}), **asked)
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


def test_the_answer_is_that_of_the_command_line(client: TestClient, papers: Path) -> None:
    path = papers / "whales.md"
    command = ["verify", str(path), "--claim", CLAIM, "-n", "2", "--json"]
    printed = json.loads(CliRunner().invoke(app, command).stdout)
    told = _verified(client, data={"n": "2"}, files=[("files", ("whales.md", path.read_bytes()))])
    assert printed.pop("path") == str(path)
    assert told["path"] == "whales.md"
    # Without its bibliography, an uploaded paper does not tell whom it cites.
    assert printed.pop("reason") == "a sentence says so, citing Domenici 2000: cite that"
    assert told["reason"] == "a sentence says so, citing another paper: cite that"
    assert {name: told[name] for name in printed} == printed
    assert len(told["passages"]) == 2
    assert told["steps"]["compared"] == sum(each["score"] is not None for each in told["sentences"]) == 3
    assert told["steps"]["normalised"][-1] == "whal"


def _documents(client: TestClient) -> dict[str, str]:
    return {each["title"]: each["id"] for each in client.get("/api/library/documents").json()["documents"]}


def test_papers_of_the_library_are_read_where_they_lie(tmp_path: Path, papers: Path, client_of: Clients) -> None:
    with zipfile.ZipFile(tmp_path / "papers.zip", "w") as archive:
        archive.write(papers / "whales.md", "deep/whales.md")
    add(tmp_path / "library", [tmp_path / "papers.zip", papers / "bees.md"], jobs=1)
    client = client_of(tmp_path / "library")
    held = _documents(client)
    assert len(held) == 2
    for title, id in held.items():
        assert _verified(client, data={"document": id})["title"] == title
        read = client.post("/api/read", data={"document": id}).json()
        assert read["title"] == title
        assert read["sentences"]


@pytest.mark.slow
def test_a_record_of_a_file_is_found_in_it(tmp_path: Path, data: Path, client_of: Clients) -> None:
    from itertools import islice

    from whycite.documents import stream
    from whycite.library import add_documents

    source = data / "elife" / "elife-tiny.jsonl.zst"
    add_documents(tmp_path / "library", islice(stream(source), 2), jobs=1)
    client = client_of(tmp_path / "library")
    held = client.get("/api/library/documents").json()["documents"]
    assert all(":" in each["path"] for each in held)
    for each in held:
        told = _verified(client, data={"document": each["id"]})
        assert (told["path"], told["title"]) == (each["path"], each["title"])
        assert len(told["sentences"]) > 20


def test_a_file_that_is_gone_is_told(tmp_path: Path, papers: Path, client_of: Clients) -> None:
    (tmp_path / "whales.md").write_bytes((papers / "whales.md").read_bytes())
    add(tmp_path / "library", [tmp_path / "whales.md"], jobs=1)
    client = client_of(tmp_path / "library")
    id = next(iter(_documents(client).values()))
    (tmp_path / "whales.md").unlink()
    answer = client.post("/api/verify", data={"claim": CLAIM, "document": id})
    assert answer.status_code == 422
    assert "open the file" in answer.json()["detail"]


def test_neither_or_both_papers(client: TestClient) -> None:
    assert client.post("/api/verify", data={"claim": CLAIM}).status_code == 422
    both = client.post("/api/verify", data={"claim": CLAIM, "document": "1"}, files=[("files", ("a.md", b"# A"))])
    assert both.status_code == 422
    assert client.post("/api/verify", data={"claim": CLAIM, "document": "1"}).status_code == 404


def test_of_two_papers_the_one_that_is_read_is_named(client: TestClient) -> None:
    two = [("files", ("a.md", f"# A\n{CLAIM}".encode())), ("files", ("b.md", b"# B\nBees fly to flowers."))]
    told = _verified(client, files=two)
    assert (told["path"], told["warnings"]) == ("a.md", ["b.md: not read; only a.md was read"])
    assert client.post("/api/read", files=two).json()["warnings"] == told["warnings"]
    main = rb"\documentclass{article}\begin{document}\input{part}\end{document}"
    project = [("files", ("main.tex", main)), ("files", ("part.tex", CLAIM.encode()))]
    told = _verified(client, files=project)
    assert (told["path"], told["warnings"]) == ("main.tex", [])
    assert told["sentences"][0]["text"] == CLAIM
