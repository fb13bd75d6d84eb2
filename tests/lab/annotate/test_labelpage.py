"""The labellers' page over HTTP."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from starlette.testclient import TestClient

from tests.lab.toys import make_tasks
from whycite.errors import UserError
from whycite.lab.annotate.labelpage import INSTRUCTIONS, Desk, application, listen
from whycite.lab.annotate.tasks import LABELS, Answers

if TYPE_CHECKING:
    pass

PORT = 8766
ORIGIN = f"http://127.0.0.1:{PORT}"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with Answers(tmp_path / "answers.jsonl", make_tasks(3)) as answers:
        yield Desk(answers, votes=2)


@pytest.fixture
def client(desk: Desk) -> Iterator[TestClient]:
    with TestClient(application(desk), base_url=ORIGIN) as opened:
        yield opened


def answer(**other: Any) -> dict[str, Any]:
    usual = {"task": "t0", "labeller": "Ann", "action": "answer", "label": "1", "submission": "12345678"}
    return usual | other


def test_a_labeller_goes_through(client: TestClient, desk: Desk) -> None:
    state = client.get("/api/next", params={"labeller": "  Ann  Lee "}).json()
    assert state["labeller"] == "Ann Lee"
    assert state["task"] == {
        "id": "t0",
        "kind": "BR",
        "claim": "Claim 0.",
        "options": ["Sentence 0 of 0.", "Sentence 1 of 0."],
    }
    for number in range(3):
        sent = answer(task=f"t{number}", labeller="Ann Lee", submission=f"number {number}")
        state = client.post("/api/answers", json=sent).json()
    assert state["task"] is None
    assert state["progress"] == {"answered": 3, "skipped": 0, "open": 0, "held": 0, "answers": 3, "wanted": 6}
    state = client.post("/api/undo", json={"labeller": "Ann Lee", "submission": "undo-number-1"}).json()
    assert state["task"]["id"] == "t2"
    assert desk.progress("Ann Lee").answered == 2


def test_what_is_with_others_is_told_apart_from_what_is_done(client: TestClient, desk: Desk) -> None:
    for labeller in ("Bob", "Cem"):  # they look at the first task and do not answer
        client.get("/api/next", params={"labeller": labeller})
    for number in (1, 2):
        client.post("/api/answers", json=answer(task=f"t{number}", submission=f"number {number}"))
    state = client.get("/api/next", params={"labeller": "Ann"}).json()
    assert (state["task"], state["progress"]["open"], state["progress"]["held"]) == (None, 0, 1)


def test_the_page_is_bound_to_its_own_files(client: TestClient) -> None:
    page = client.get("/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'; script-src 'self'; style-src 'self'" in policy
    assert "unsafe" not in policy
    assert page.headers["x-content-type-options"] == "nosniff"
    assert not re.search(r"<script(?! src=\"/page\.js\")|<style|\son\w+=|\sstyle=|https?://", page.text)
    for name, kind in (("/page.js", "text/javascript"), ("/page.css", "text/css")):
        found = client.get(name)
        assert found.status_code == 200
        assert found.headers["content-type"].startswith(kind)
        assert not re.search(r"innerHTML|https?://|eval\(", found.text)
    assert client.get("/docs").status_code == 404
    assert client.get("/../pyproject.toml").status_code == 404


def test_instructions_name_every_label(client: TestClient) -> None:
    told = client.get("/api/instructions").json()
    for kind, labels in LABELS.items():
        assert tuple(choice["label"] for choice in told[kind]["choices"]) == labels
        keys = [choice["key"] for choice in told[kind]["choices"]]
        assert not {"u", "s"} & set(keys)  # undo and skip
        assert len(set(keys)) == len(labels)
    assert len(INSTRUCTIONS["BR"].hints) == 4


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 421),
        ({"host": f"evil.example:{PORT}"}, 421),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://127.0.0.1:9999"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"content-length": "7000000"}, 413),
        ({"origin": f"http://localhost:{PORT}", "host": f"localhost:{PORT}"}, 200),
        ({"origin": ORIGIN, "sec-fetch-site": "same-origin"}, 200),
    ],
    ids=range(9),
)
def test_other_sites_are_refused(client: TestClient, desk: Desk, headers: dict[str, str], status: int) -> None:
    found = client.post("/api/answers", json=answer(), headers=headers)
    assert found.status_code == status
    assert "content-security-policy" in found.headers
    assert desk.answers.acts == (status == 200)


def test_forms_of_other_sites_are_no_answers(client: TestClient, desk: Desk) -> None:
    assert client.post("/api/answers", data=answer()).status_code == 422
    assert client.post("/api/answers", content=b"{").status_code == 422
    assert client.get("/api/answers").status_code == 405
    assert desk.answers.acts == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"labeller": ""},
        {"labeller": " "},
        {"labeller": "a\x1b[2J"},
        {"labeller": "x" * 65},
        {"action": "undo"},
        {"submission": "short"},
        {"task": 3},
        {"more": 1},
    ],
    ids=range(8),
)
def test_wrong_requests(client: TestClient, desk: Desk, wrong: dict[str, Any]) -> None:
    found = client.post("/api/answers", json=answer(**wrong))
    assert found.status_code == 422
    assert next(iter(wrong)) in found.json()["detail"]
    assert desk.answers.acts == 0


def test_mistakes_are_told_in_a_sentence(client: TestClient) -> None:
    found = client.post("/api/answers", json=answer(task="t9"))
    assert found.status_code == 400
    assert found.json()["detail"] == "unknown task 't9'; reload the page"
    assert client.get("/api/next").status_code == 422


def test_a_double_submit_is_one_answer(client: TestClient, desk: Desk) -> None:
    states = [client.post("/api/answers", json=answer()).json() for _ in range(3)]
    assert states[0] == states[1] == states[2]
    assert desk.answers.acts == 1


def test_a_port_in_use_is_a_users_mistake() -> None:
    with listen(0) as first:
        port = first.getsockname()[1]
        assert first.getsockname()[0] == "127.0.0.1"
        with pytest.raises(UserError, match=f"port {port}: .*; choose another with --port"):
            listen(port)
