"""Papers that are sent find their way into the library, or it is said why not."""

import asyncio
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.web.manuscripts import MANUSCRIPT, WHALES
from whycite.documents.model import Document
from whycite.library import Library, add
from whycite.library.paths import UPLOADED
from whycite.library.store import writing
from whycite.service.loading import CurrentLibrary
from whycite.service.papers import PaperLookup
from whycite.verify.drafts import verify_draft
from whycite.web import queues, reading
from whycite.web.guard import Problem
from whycite.web.queues import UploadJob, UploadQueue

Clients = Callable[..., TestClient]
MAIN = rb"""\documentclass{article}\title{Whales at sea}\begin{document}\section{Introduction}
Whales sing for hours \cite{payne}. They dive deep \cite{payne}.\bibliography{refs}\end{document}"""
REFS = b"@article{payne, title={Songs of humpback whales}, author={Payne, R.}, year={1971}}"


def _events(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for block in text.split("\n\n"):
        if not block or block.startswith(":"):  # a sign of life
            continue
        kind, data = block.split("\n")
        yield kind.removeprefix("event: "), json.loads(data.removeprefix("data: "))


def _sent(client: TestClient, files: list[tuple[str, bytes]]) -> tuple[str, dict[str, Any]]:
    begun = client.post("/api/library/documents", files=[("files", file) for file in files])
    assert begun.status_code == 202, begun.text
    return list(_events(client.get(f"/api/library/uploads/{begun.json()['id']}").text))[-1]


def test_files_that_belong_together_are_read_together(tmp_path: Path, client_of: Clients) -> None:
    client = client_of(tmp_path / "library")
    kind, facts = _sent(client, [("w/main.tex", MAIN), ("w/refs.bib", REFS)])
    assert (kind, facts["added"], facts["skipped"]) == ("done", 1, [])
    found = client.post("/api/cite", json={"text": "Whales sing for hours"}).json()["recommendations"]
    assert found[0]["paper"]["title"] == "Songs of humpback whales"


def test_what_is_no_paper_is_named_once(tmp_path: Path, client_of: Clients) -> None:
    kind, facts = _sent(client_of(tmp_path / "library"), [("bild.png", b"\x89PNG\r\n\x1a\n"), ("empty.md", b"")])
    assert (kind, facts["added"], facts["warnings"]) == ("done", 0, [])
    reasons = {"empty.md": "the file is empty", "bild.png": "not a format that whycite can read"}
    assert {each["path"]: each["reason"] for each in facts["skipped"]} == reasons


def test_a_bibliography_alone_is_not_ignored_silently(tmp_path: Path, client_of: Clients) -> None:
    kind, facts = _sent(client_of(tmp_path / "library"), [("refs.bib", REFS)])
    assert (kind, facts["added"]) == ("done", 0)
    [skipped] = facts["skipped"]
    assert skipped["path"] == "refs.bib"
    assert skipped["reason"].startswith("a bibliography, which has no texts; send the papers")


def test_a_name_is_never_that_of_a_file_of_this_machine(
    tmp_path: Path, client_of: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "notes.md").write_text("# Secret\nNobody may read this over the network, nobody at all.\n")
    monkeypatch.chdir(tmp_path)
    client = client_of(tmp_path / "library")
    assert _sent(client, [("notes.md", b"# Notes\nWhales sing for hours [@payne].")])[1]["added"] == 1
    entry = client.get("/api/library/documents").json()["documents"][0]
    assert entry["path"] == "<upload>/notes.md"
    answer = client.post("/api/verify", data={"claim": "Nobody may read this.", "document": entry["id"]})
    assert answer.status_code == 200  # what was sent is kept, and read again
    assert "Whales sing for hours" in answer.text
    assert "network" not in answer.text
    original = client.get(f"/api/library/documents/{entry['id']}/file")
    assert original.content == b"# Notes\nWhales sing for hours [@payne]."
    assert client.post("/api/library/documents/remove", json={"ids": [entry["id"]]}).status_code == 200
    assert not list((tmp_path / "library").rglob("notes.md"))


def test_a_paper_that_was_sent_is_verified_in_a_project(tmp_path: Path, client_of: Clients) -> None:
    client = client_of(tmp_path / "library", projects=tmp_path / "projects")
    assert _sent(client, [("whales.md", WHALES.encode()), ("picture.png", b"\x89PNG")])[1]["added"] == 1
    assert [path.name for path in (tmp_path / "library" / "originals").iterdir()] == ["whales.md"]
    id = client.post("/api/projects", files=[("draft", ("draft.md", MANUSCRIPT.encode()))]).json()["id"]
    end = time.monotonic() + 120
    while (progress := client.get(f"/api/projects/{id}/progress").json())["state"] == "running":
        assert time.monotonic() < end
        time.sleep(0.1)
    whales = progress["verdicts"][0]
    assert (whales["verdict"], whales["paper_file"]) == ("backed", "")
    paper = client.get(f"/api/projects/{id}/citations/{whales['id']}/paper").json()
    assert paper["original"] == f"/api/library/documents/{whales['paper_document']}/file"
    assert client.get(paper["original"]).content == WHALES.encode()


def test_a_paper_that_was_sent_is_read_by_editors_and_assistants(tmp_path: Path, client_of: Clients) -> None:
    client = client_of(tmp_path / "library", projects=tmp_path / "projects")
    _sent(client, [("whales.md", WHALES.encode())])
    papers = PaperLookup(CurrentLibrary(tmp_path / "library"))
    paper = papers.paper("Killer whales feeding on schooling herring using tail-slaps")
    assert "Killer whales stunned herring with blows of their tails." in [one.text for one in paper.sentences]
    (tmp_path / "draft.md").write_text(MANUSCRIPT)
    first = next(iter(verify_draft(tmp_path / "draft.md", library=Library.open(tmp_path / "library"))))
    assert first.verification.verdict == "backed"


def test_many_documents_come_in_pieces(tmp_path: Path, client_of: Clients, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [(f"{at:03}.md", f"# Paper {at}\nWhales of kind {at} sing [@payne{at}].".encode()) for at in range(40)]
    found = []
    for at, (name, text) in enumerate(files):
        (tmp_path / name).write_bytes(text)
        found.append(f"{UPLOADED}{files[at][0]}")
    try:
        assert [document.path for document in reading.read_all(tmp_path)] == found
        begun = reading.read_all(tmp_path)
        some = [next(begun).path for _ in range(5)]
        reading.PAPERS_WORKER.close()  # another process takes up where the one before left off
        assert some + [document.path for document in begun] == found
    finally:
        reading.PAPERS_WORKER.close()


def test_adding_is_stopped_and_what_was_read_is_added(
    tmp_path: Path, client_of: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = client_of(tmp_path / "library")
    begun, go = threading.Event(), threading.Event()
    read_all = reading.read_all

    def wait_after_first(folder: Path) -> Iterator[Document]:
        documents = read_all(folder)
        yield next(documents)
        begun.set()
        assert go.wait(60)
        yield from documents

    monkeypatch.setattr(queues, "read_all", wait_after_first)
    files = [("files", (f"{name}.md", f"# {name}\nWhales of {name} sing [@payne].".encode())) for name in ("a", "b")]
    id = client.post("/api/library/documents", files=files).json()["id"]
    assert begun.wait(60)
    assert client.delete(f"/api/library/uploads/{id}").status_code == 202
    go.set()
    kind, facts = list(_events(client.get(f"/api/library/uploads/{id}").text))[-1]
    assert (kind, facts["added"]) == ("stopped", 1)
    [entry] = client.get("/api/library/documents").json()["documents"]
    assert entry["path"] == "<upload>/a.md"
    assert [path.name for path in (tmp_path / "library" / "originals").iterdir()] == ["a.md"]
    assert client.delete("/api/library/uploads/none").status_code == 404


def test_another_writer_is_named(tmp_path: Path, papers: Path, client_of: Clients) -> None:
    library = tmp_path / "library"
    add(library, [papers / "bees.md"], jobs=1)
    client = client_of(library)
    entry = client.get("/api/library/documents").json()["documents"][0]
    with writing(library, "add"):
        refused = client.delete(f"/api/library/documents/{entry['id']}")
        answer = client.post("/api/cite", json={"text": "mites spread viruses"})
    assert refused.status_code == 503
    assert int(refused.headers["retry-after"]) > 0
    assert f"process {os.getpid()}" in refused.json()["detail"]
    assert "try again when it is done" in refused.json()["detail"]
    assert answer.json()["recommendations"]
    assert client.delete(f"/api/library/documents/{entry['id']}").status_code == 200


def test_two_files_of_one_name_are_no_draft(client: TestClient) -> None:
    answer = client.post("/api/read", files=[("files", ("a.md", b"# A")), ("files", ("a.md", b"# B"))])
    assert answer.status_code == 422
    assert "two files" in answer.json()["detail"]


def test_nothing_that_was_sent_is_left_behind(tmp_path: Path, client_of: Clients) -> None:
    from whycite.web import uploads

    client = client_of(tmp_path / "library")
    _sent(client, [("a.md", b"# A\nWhales sing [@payne].")])
    client.post("/api/read", files=[("files", ("a.md", b"# A\nText."))])
    client.post("/api/check", files=[("files", ("a.zip", b"PK\x03\x04 no archive"))])
    assert list(Path(uploads.root_directory().name).iterdir()) == []


class _Slow:
    """Stands for a library that takes its time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from whycite.library import AddProgress, AddReport

        self.go, self.begun = threading.Event(), threading.Event()

        def slowly(path: Path, documents: object, jobs: int, progress: Callable[[AddProgress], None]) -> AddReport:
            progress(AddProgress(1, 0, 0, 0, "a.md"))
            self.begun.set()
            assert self.go.wait(60)
            return AddReport()

        monkeypatch.setattr("whycite.library.add_documents", slowly)


def _adding(tmp_path: Path) -> UploadQueue:
    return UploadQueue(lambda: tmp_path / "library", lambda: None)


def test_everybody_who_follows_hears_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = _Slow(monkeypatch)
    monkeypatch.setattr(queues, "KEEPALIVE_SECONDS", 0.01)

    async def follow() -> None:
        queue = _adding(tmp_path)
        job = queue.enqueue(TemporaryDirectory(), 1, asyncio.get_running_loop())
        away = queue.events(job.id)
        assert (await anext(away) or ("",))[0] == "progress"
        await away.aclose()  # one goes away: the others hear on

        async def hear(kinds: list[str]) -> None:
            async for event in queue.events(job.id):
                kinds.append(event[0] if event else "still here")

        heard: list[list[str]] = [[], [], []]
        following = asyncio.gather(*map(hear, heard))
        while not all("still here" in kinds for kinds in heard):
            await asyncio.sleep(0.01)
        slow.go.set()
        await asyncio.wait_for(following, 60)
        assert [kinds[-1] for kinds in heard] == ["done"] * 3
        assert [event async for event in queue.events(job.id)][-1] == job.event  # also who comes late
        assert queue.close(30)

    asyncio.run(follow())


def test_so_many_uploads_wait_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = _Slow(monkeypatch)

    async def send() -> None:
        queue = _adding(tmp_path)
        for _ in range(8):
            queue.enqueue(TemporaryDirectory(), 1, asyncio.get_running_loop())
        last = TemporaryDirectory()
        with pytest.raises(Problem) as refused:
            queue.enqueue(last, 1, asyncio.get_running_loop())
        assert (refused.value.status, refused.value.headers["retry-after"]) == (503, "30")
        assert not Path(last.name).exists()
        slow.go.set()
        assert queue.close(30)

    asyncio.run(send())


def test_who_follows_is_let_go_when_the_server_stops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = _Slow(monkeypatch)

    async def follow() -> None:
        queue = _adding(tmp_path)
        job = queue.enqueue(TemporaryDirectory(), 1, asyncio.get_running_loop())
        assert await asyncio.to_thread(slow.begun.wait, 30)

        async def hear() -> None:
            async for _ in queue.events(job.id):
                pass

        heard = asyncio.ensure_future(hear())
        await asyncio.sleep(0.05)
        queue.stop()
        await asyncio.wait_for(heard, 60)
        assert not queue.close(0.01)  # it is still at it
        slow.go.set()
        assert queue.close(30)

    asyncio.run(follow())


async def _waiting(queue: UploadQueue) -> UploadJob:
    """An upload that waits until somebody else has written."""
    folder = TemporaryDirectory()
    (Path(folder.name) / "a.md").write_bytes(b"# A\nWhales sing [@payne].")
    job = queue.enqueue(folder, 1, asyncio.get_running_loop())
    while "waiting" not in job.event[1]:
        await asyncio.sleep(0.01)
    assert f"process {os.getpid()}" in job.event[1]["waiting"]
    return job


def test_an_upload_waits_for_another_writer(tmp_path: Path, papers: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queues, "RETRY_SECONDS", 0.05)
    add(tmp_path / "library", [papers / "bees.md"], jobs=1)

    async def send() -> None:
        queue = _adding(tmp_path)
        with writing(tmp_path / "library", "add"):
            job = await _waiting(queue)
        assert [event async for event in queue.events(job.id) if event][-1][0] == "done"
        assert job.event[1]["added"] == 1
        assert queue.close(30)

    asyncio.run(send())


def test_who_waits_for_another_writer_stops_with_the_server(tmp_path: Path, papers: Path) -> None:
    add(tmp_path / "library", [papers / "bees.md"], jobs=1)

    async def send() -> None:
        queue = _adding(tmp_path)
        with writing(tmp_path / "library", "add"):
            job = await _waiting(queue)
            queue.stop()
            assert queue.close(30)
        await asyncio.sleep(0)
        assert job.event[0] == "failed"
        assert "stopped" in job.event[1]["detail"]

    asyncio.run(send())
