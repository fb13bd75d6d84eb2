"""Projects over the API: files are kept, every citation is verified, and what people decide stays."""

import io
import json
import threading
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.web.manuscripts import BEES, DRONES, MANUSCRIPT, WHALES
from whycite.errors import UserError
from whycite.library import add_documents
from whycite.service.loading import CurrentLibrary
from whycite.verify.claims import OpenDocument
from whycite.verify.verification import Verification
from whycite.web.guard import Problem
from whycite.web.projects import desk, store
from whycite.web.uploads import Upload
from whycite.web.warm import WarmPapers

Clients = Callable[..., TestClient]
PATIENCE = 120  # seconds: a busy machine is slow
SENT = [
    ("draft", ("draft.md", MANUSCRIPT.encode())),
    ("papers", ("whales.md", WHALES.encode())),
    ("papers", ("bees.md", BEES.encode())),
]


@pytest.fixture
def client(tmp_path: Path, client_of: Clients) -> TestClient:
    """A server without a library, whose projects are in a folder of their own."""
    return client_of(tmp_path / "library", projects=tmp_path / "projects")


def _created(client: TestClient, sent: Any = SENT, **data: str) -> str:
    answer = client.post("/api/projects", files=sent, data=data)
    assert answer.status_code == 201, answer.text
    id: str = answer.json()["id"]
    return id


def _finished(client: TestClient, id: str) -> dict[str, Any]:
    """The progress of a project once its run has ended."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        told: dict[str, Any] = client.get(f"/api/projects/{id}/progress").json()
        if told["state"] != "running":
            return told
        time.sleep(0.1)
    raise AssertionError(f"still running: {told}")


def _verdicts(told: dict[str, Any]) -> dict[str, str]:
    return {record["reference"]["id"]: record["verdict"] for record in told["verdicts"]}


def test_every_citation_gets_a_verdict(client: TestClient) -> None:
    id = _created(client)
    told = _finished(client, id)
    assert (told["state"], told["draft"]) == ("done", "judged")
    assert _verdicts(told) == {"domenici": "backed", "martin": "contradicted", "tarpy": "could not check"}
    _, bees, missing = told["verdicts"]
    [decisive] = [passage for passage in bees["passages"] if passage.get("decides")]
    assert "increased the prevalence" in decisive["text"]
    assert (bees["file"], bees["paper"], bees["sentence"]) == ("draft.md", "bees.md", 1)
    assert missing["missing"] is True
    assert missing["link"] == "https://doi.org/10.1098/rspb.2002.2199"
    draft = client.get(f"/api/projects/{id}/draft").json()
    assert [sentence["cites"] for sentence in draft["sentences"]] == [True, True, True, False]
    assert [sentence["needs"] for sentence in draft["sentences"]] == [False, False, False, True]
    assert client.get(f"/api/projects/{id}").json()["name"] == "A note on whales and bees"


def test_no_path_of_this_machine_is_told(client: TestClient, tmp_path: Path) -> None:
    broken = ("papers", ("tarpy.pdf", b"%PDF-1.4 nothing follows"))
    id = _created(client, [*SENT, broken])
    _finished(client, id)
    for address in ("", "/progress", "/draft", "/report", "/report?format=markdown"):
        answer = client.get(f"/api/projects/{id}{address}")
        assert answer.status_code == 200
        assert str(tmp_path) not in answer.text


def test_the_state_survives_a_restart(tmp_path: Path, client_of: Clients) -> None:
    first = client_of(tmp_path / "library", projects=tmp_path / "projects")
    id = _created(first)
    told = _finished(first, id)
    chosen = told["verdicts"][1]["id"]
    kept = first.put(f"/api/projects/{id}/dismissals/{chosen}", json={"reason": " the authors\nmean Hawaii "})
    assert kept.json() == {"reason": "the authors mean Hawaii"}
    second = client_of(tmp_path / "library", projects=tmp_path / "projects")
    again = second.get(f"/api/projects/{id}/progress").json()
    assert again["dismissals"] == {chosen: {"reason": "the authors mean Hawaii"}}
    assert (again["state"], again["verdicts"]) == ("done", told["verdicts"])
    assert second.delete(f"/api/projects/{id}/dismissals/{chosen}").status_code == 200
    assert second.get(f"/api/projects/{id}/progress").json()["dismissals"] == {}


def test_only_what_is_new_is_verified(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    id = _created(client)
    before = _finished(client, id)
    claims: list[str] = []
    verify = OpenDocument.verify

    def count(paper: OpenDocument, claim: str) -> Verification:
        claims.append(claim)
        return verify(paper, claim)

    monkeypatch.setattr(OpenDocument, "verify", count)
    added = client.post(f"/api/projects/{id}/files", files=[("files", ("drones.md", DRONES.encode()))])
    assert [file["name"] for file in added.json()["files"]] == ["draft.md", "bees.md", "drones.md", "whales.md"]
    assert client.post(f"/api/projects/{id}/run").status_code == 202
    told = _finished(client, id)
    assert _verdicts(told) == {"domenici": "backed", "martin": "contradicted", "tarpy": "backed"}
    assert claims == ["Queens that mate with many drones have healthier colonies."]
    assert told["verdicts"][:2] == before["verdicts"][:2]


def test_a_file_is_what_somebody_says_it_is(client: TestClient) -> None:
    id = _created(client)
    _finished(client, id)
    nameless = "\n".join(DRONES.splitlines()[4:])
    sent = [("files", ("scan.md", nameless.encode()))]
    client.post(f"/api/projects/{id}/files", files=sent, data={"reference": "tarpy"})
    client.post(f"/api/projects/{id}/run")
    assert _verdicts(_finished(client, id))["tarpy"] == "backed"


def test_a_stopped_run_keeps_what_it_has(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    verify = OpenDocument.verify
    stopped: list[str] = []

    def stop_first(paper: OpenDocument, claim: str) -> Verification:
        if not stopped:
            stopped.append(claim)
            [project] = client.get("/api/projects").json()["projects"]
            assert client.delete(f"/api/projects/{project['id']}/run").status_code == 202
        return verify(paper, claim)

    monkeypatch.setattr(OpenDocument, "verify", stop_first)
    id = _created(client)
    told = _finished(client, id)
    assert (told["state"], len(told["verdicts"])) == ("stopped", 1)
    assert "Stopped" in told["detail"]
    client.post(f"/api/projects/{id}/run")
    assert len(_finished(client, id)["verdicts"]) == 3


def test_a_short_project_does_not_wait_for_a_long_one(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    verify = OpenDocument.verify
    go_on = threading.Event()

    def read_long(paper: OpenDocument, claim: str) -> Verification:
        if "Orcas" in claim:
            assert go_on.wait(PATIENCE)
        return verify(paper, claim)

    monkeypatch.setattr(OpenDocument, "verify", read_long)
    slow = [("draft", ("long.md", MANUSCRIPT.replace("Killer whales stun", "Orcas stun").encode())), *SENT[1:]]
    long = _created(client, slow)
    assert len(_finished(client, _created(client))["verdicts"]) == 3
    assert client.get(f"/api/projects/{long}/progress").json()["state"] == "running"
    go_on.set()
    assert len(_finished(client, long)["verdicts"]) == 3


def test_a_run_that_a_server_left_can_go_on(tmp_path: Path, client_of: Clients) -> None:
    client = client_of(tmp_path / "library", projects=tmp_path / "projects")
    id = _created(client)
    _finished(client, id)
    folder = tmp_path / "projects" / id
    lines = (folder / "verdicts.jsonl").read_text().splitlines()
    (folder / "verdicts.jsonl").write_text(f"{lines[0]}\n{lines[1][:40]}")  # killed while it wrote
    (folder / "run.json").write_text('{"state": "running"}')
    again = client_of(tmp_path / "library", projects=tmp_path / "projects")
    told = again.get(f"/api/projects/{id}/progress").json()
    assert (told["state"], len(told["verdicts"])) == ("stopped", 1)
    assert "server was stopped" in told["detail"]
    again.post(f"/api/projects/{id}/run")
    assert len(_finished(again, id)["verdicts"]) == 3


def test_verdicts_are_sent_once(client: TestClient) -> None:
    id = _created(client)
    told = _finished(client, id)
    address = f"/api/projects/{id}/progress"
    assert client.get(address, params={"token": told["token"], "seen": 2}).json()["verdicts"] == told["verdicts"][2:]
    assert client.get(address, params={"token": "older", "seen": 2}).json()["verdicts"] == told["verdicts"]


def test_the_report_leaves_out_what_was_dismissed(client: TestClient) -> None:
    id = _created(client)
    told = _finished(client, id)
    page = client.get(f"/api/projects/{id}/report")
    assert page.headers["content-type"].startswith("text/html")
    assert "attachment" in page.headers["content-disposition"]
    assert "increased the prevalence" in page.text
    client.put(f"/api/projects/{id}/dismissals/{told['verdicts'][1]['id']}", json={"reason": "fine"})
    text = client.get(f"/api/projects/{id}/report", params={"format": "markdown"}).text
    assert "stunned herring" in text
    assert "increased the prevalence" not in text
    assert client.get(f"/api/projects/{id}/report", params={"format": "pdf"}).status_code == 422


def test_what_was_accepted_stays_in_the_report(client: TestClient) -> None:
    id = _created(client)
    bees = _finished(client, id)["verdicts"][1]["id"]
    assert client.put(f"/api/projects/{id}/dismissals/{bees}", json={"reason": "fine"}).status_code == 200
    assert client.put(f"/api/projects/{id}/acceptances/{bees}").json() == {"accepted": bees}
    progress = client.get(f"/api/projects/{id}/progress").json()
    assert (progress["acceptances"], progress["dismissals"]) == ([bees], {})  # one decision replaces the other
    assert "increased the prevalence" in client.get(f"/api/projects/{id}/report").text
    client.put(f"/api/projects/{id}/dismissals/{bees}", json={"reason": "fine after all"})
    assert client.get(f"/api/projects/{id}/progress").json()["acceptances"] == []
    client.put(f"/api/projects/{id}/acceptances/{bees}")
    assert client.delete(f"/api/projects/{id}/acceptances/{bees}").status_code == 200
    assert client.get(f"/api/projects/{id}/progress").json()["acceptances"] == []


def test_a_comment_stays_with_its_sentence(client: TestClient) -> None:
    id = _created(client)
    _finished(client, id)
    sentence = client.get(f"/api/projects/{id}/draft").json()["sentences"][3]["id"]
    address = f"/api/projects/{id}/comments/{sentence}"
    for text in ("", "   ", "x" * 5_001):
        assert client.put(address, json={"text": text}).status_code == 422
    assert client.put(f"/api/projects/{id}/comments/{'0' * 16}", json={"text": "?"}).status_code == 404
    comment = {"text": "Which studies?\nName *two*."}
    assert client.put(address, json={"text": f" {comment['text']} "}).json() == comment
    longer = MANUSCRIPT.replace("Killer whales stun", "Orcas are whales. Killer whales stun")
    client.post(f"/api/projects/{id}/files", files=[("files", ("draft.md", longer.encode()))], data={"kind": "draft"})
    client.post(f"/api/projects/{id}/run")
    _finished(client, id)
    sentences = client.get(f"/api/projects/{id}/draft").json()["sentences"]
    assert (sentences[4]["id"], sentences[4]["text"][:16]) == (sentence, "Previous studies")
    assert client.get(f"/api/projects/{id}/progress").json()["comments"] == {sentence: comment}
    markdown = client.get(f"/api/projects/{id}/report?format=markdown").text
    assert "## Comments (1)" in markdown
    assert "Which studies? Name \\*two\\*." in markdown
    assert "Which studies?" in client.get(f"/api/projects/{id}/report").text
    assert client.delete(address).status_code == 200
    assert "Comments" not in client.get(f"/api/projects/{id}/report?format=markdown").text


@pytest.mark.parametrize("key", ["name", "self"])
def test_a_reference_may_have_any_key(client: TestClient, key: str) -> None:
    id = _created(client)
    added = client.post(
        f"/api/projects/{id}/files", files=[("files", ("other.md", BEES.encode()))], data={"reference": key}
    )
    assert added.status_code == 201, added.text


def test_nothing_brings_a_deleted_project_back(tmp_path: Path) -> None:
    projects = store.ProjectStore(tmp_path)
    folder = projects.create("Review")
    projects.delete(folder.id)
    attempts: list[Callable[[], None]] = [
        lambda: folder.update("project.json", title="A note"),
        lambda: folder.save("comments.json", {}),
        lambda: folder.add([Upload("draft.md", io.BytesIO(b"text"))], "draft"),
        lambda: projects.delete(folder.id),
    ]
    for attempt in attempts:
        with pytest.raises(Problem, match="no such project"):
            attempt()
    assert [*tmp_path.iterdir()] == []


def test_other_folders_among_the_projects_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "copy of a project").mkdir()
    (tmp_path / "copy of a project" / "project.json").write_text("{}")
    assert store.ProjectStore(tmp_path).projects() == []


def test_a_run_ends_on_a_full_disk(tmp_path: Path, client_of: Clients, monkeypatch: pytest.MonkeyPatch) -> None:
    client = client_of(tmp_path / "library", projects=tmp_path / "projects")
    save = store.ProjectFolder.save

    def save_but_results(self: store.ProjectFolder, name: str, record: Any) -> None:
        if name == "run.json" and record["state"] != "running":
            raise UserError("No space left on device")
        save(self, name, record)

    monkeypatch.setattr(store.ProjectFolder, "save", save_but_results)
    progress = _finished(client, _created(client))
    assert (progress["state"], len(progress["verdicts"])) == ("stopped", 3)


def test_a_sentence_without_a_citation_gets_papers(client: TestClient) -> None:
    id = _created(client)
    _finished(client, id)
    told = client.get(f"/api/projects/{id}/sentences/0/papers").json()
    assert told["papers"][0]["cite_key"] == "domenici"
    assert client.get(f"/api/projects/{id}/sentences/99/papers").status_code == 404


def test_a_library_to_which_nothing_was_added_is_no_library(client: TestClient, tmp_path: Path) -> None:
    """Somebody who dropped a wrong file on the first page goes on with a project."""
    assert add_documents(tmp_path / "library", []).added == 0
    id = _created(client)
    assert _finished(client, id)["state"] == "done"
    assert client.get(f"/api/projects/{id}/sentences/3/papers").json()["papers"]
    question = {"text": "Killer whales hunt herring."}
    for answer in (client.post("/api/cite", json=question), client.get("/api/library")):
        assert answer.status_code == 422
        assert answer.json()["detail"].startswith("Your library is empty.")


def test_originals_are_kept_and_deleted(client: TestClient, tmp_path: Path) -> None:
    id = _created(client)
    _finished(client, id)
    files = {file["name"]: file["id"] for file in client.get(f"/api/projects/{id}").json()["files"]}
    original = client.get(f"/api/projects/{id}/files/{files['bees.md']}")
    assert original.content == BEES.encode()
    assert "attachment" in original.headers["content-disposition"]
    left = client.delete(f"/api/projects/{id}/files/{files['bees.md']}").json()["files"]
    assert [file["name"] for file in left] == ["draft.md", "whales.md"]
    assert client.get(f"/api/projects/{id}/files/{files['bees.md']}").status_code == 404
    read = (tmp_path / "projects" / id / "texts").iterdir()
    assert len({path.name[:32] for path in read}) == 1  # what was read from the other paper is gone
    assert client.delete(f"/api/projects/{id}").json() == {"deleted": id}
    assert client.get(f"/api/projects/{id}").status_code == 404
    assert list((tmp_path / "projects").iterdir()) == []


def test_an_archive_is_one_draft_with_the_bibliography_beside_it(client: TestClient) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(
            "main.tex", r"\documentclass{article}\begin{document}\input{part}\bibliography{refs}\end{document}"
        )
        archive.writestr("part.tex", r"Killer whales stun herring with blows of their tails \cite{domenici}.")
    title = "Killer whales feeding on schooling herring using tail-slaps"
    entry = f"@article{{domenici, title={{{title}}}, author={{Domenici, P.}}, year={{2000}}}}"
    sent = [
        ("draft", ("thesis.zip", packed.getvalue())),
        ("papers", ("refs.bib", entry.encode())),
        ("papers", ("whales.md", WHALES.encode())),
    ]
    id = _created(client, sent)
    told = _finished(client, id)
    assert _verdicts(told) == {"domenici": "backed"}
    assert told["verdicts"][0]["file"] == "part.tex"
    kinds = {file["name"]: file["kind"] for file in client.get(f"/api/projects/{id}").json()["files"]}
    assert kinds == {"thesis.zip": "draft", "refs.bib": "draft", "whales.md": "paper"}


def test_a_paper_that_cannot_be_read_says_why(client: TestClient) -> None:
    photo = ("papers", ("photos/photo.jpg", bytes(range(256)) * 9))
    id = _created(client, [*SENT, photo, ("papers", ("empty.pdf", b""))])
    _finished(client, id)
    problems = {file["name"]: file["problem"] for file in client.get(f"/api/projects/{id}").json()["files"]}
    assert problems.pop("photos/photo.jpg") == "unknown file format"
    assert problems.pop("empty.pdf") == "the file is empty"
    assert set(problems.values()) == {""}


def test_hostile_names_stay_in_the_project(client: TestClient, tmp_path: Path) -> None:
    sent = [
        ("draft", ("../../../draft.md", MANUSCRIPT.encode())),
        ("papers", ("/etc/../..\\whales.md", WHALES.encode())),
        ("papers", ('the "bees".md', BEES.encode())),
    ]
    id = _created(client, sent, name=" a \n name ")
    _finished(client, id)
    told = client.get(f"/api/projects/{id}").json()
    assert told["name"] == "a name"
    assert [file["name"] for file in told["files"]] == ["draft.md", "etc/whales.md", "the _bees_.md"]
    for wrong in ("..", "0" * 15, "%2e%2e%2f", "g" * 16, "0" * 16):
        assert client.get(f"/api/projects/{wrong}").status_code in (404, 422)
    assert {path.name for path in (tmp_path / "projects").iterdir()} == {id}


def test_mistakes_are_told(client: TestClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert client.post("/api/projects").status_code == 422
    id = _created(client, [("draft", ("draft.bin", b"\0\1\2"))])
    told = _finished(client, id)
    assert told["state"] == "failed"
    assert told["detail"].startswith("draft.bin: ")
    broken = client.post("/api/projects", files=[("draft", ("draft.zip", b"PK\x03\x04 broken"))])
    assert broken.status_code == 422
    assert str(tmp_path) not in broken.text
    assert len(client.get("/api/projects").json()["projects"]) == 1
    monkeypatch.setattr(store, "_MAX_FILES", 1)
    full = client.post(f"/api/projects/{id}/files", files=[("files", ("whales.md", WHALES.encode()))])
    assert (full.status_code, full.headers["content-type"]) == (422, "application/problem+json")
    monkeypatch.setattr(store, "_MAX_FILES", 9)
    monkeypatch.setattr(store, "_MAX_BYTES", 9)
    assert client.post(f"/api/projects/{id}/files", files=[("files", ("a.md", WHALES.encode()))]).status_code == 413
    assert len(client.get(f"/api/projects/{id}").json()["files"]) == 1


def test_a_run_that_ends_with_the_process_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    working = desk.ProjectDesk(tmp_path, CurrentLibrary(tmp_path / "none"), WarmPapers(), lambda: None)
    project = working.store.create("Review")
    has_begun = Event()

    def judge(self: desk.ProjectDesk, project: store.ProjectFolder, run: desk.ProjectRun) -> None:
        has_begun.set()
        assert run.stop.wait(PATIENCE)
        raise RuntimeError("cannot schedule new futures after interpreter shutdown")

    monkeypatch.setattr(desk.ProjectDesk, "_verify", judge)
    working.start(project)
    assert has_begun.wait(PATIENCE)
    assert working.close(PATIENCE)
    state, detail, _ = working.state(project)
    assert (state, detail) == ("stopped", "The server was stopped in the middle. What was checked by then is kept.")
    assert caplog.text == ""


def test_a_failure_is_told_without_details(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(desk, "to_plain", fail)
    told = _finished(client, _created(client))
    assert told["state"] == "failed"
    assert told["detail"] == "An internal error occurred (ZeroDivisionError); see the server's log for details."


def test_progress_comes_as_events(client: TestClient) -> None:
    id = _created(client)
    blocks = client.get(f"/api/projects/{id}/events").text.strip().split("\n\n")
    events = [block.split("\n") for block in blocks if not block.startswith(":")]
    assert [kind for kind, _ in events[:-1]] == ["event: progress"] * (len(events) - 1)
    assert events[-1][0] == "event: done"
    records = [record for _, data in events for record in json.loads(data.removeprefix("data: "))["verdicts"]]
    assert {record["reference"]["id"] for record in records} == {"domenici", "martin", "tarpy"}
    assert client.get("/api/projects/0000000000000000/events").status_code == 404
