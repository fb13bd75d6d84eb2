"""Findings of a draft come over the API while it is checked, and a check that nobody waits for stops."""

import asyncio
import json
import time
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient

from tests.fakes import word_detector
from tests.web.serving import serving
from tests.web.test_check import FILES
from whycite.check import pipeline, proposals
from whycite.errors import UserError
from whycite.web import queues
from whycite.web.queues import EventStream, StreamClosed
from whycite.web.serverstate import ServerSettings

CLAIMS = 60
BOOK = "# Introduction\n\n" + "\n\n".join(f"It is known that whale {number} sings." for number in range(CLAIMS))


def _events(text: str) -> list[tuple[str, dict[str, Any]]]:
    blocks = [block.split("\n") for block in text.split("\n\n") if block and not block.startswith(":")]
    return [(kind.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for kind, data in blocks]


def test_the_events_add_up_to_the_whole_answer(client: TestClient) -> None:
    form = {"threshold": "0.05"}
    whole = client.post("/api/check", files=FILES, data=form).json()
    reply = client.post("/api/check/stream", files=FILES, data=form)
    assert reply.headers["content-type"].startswith("text/event-stream")
    events = _events(reply.text)
    assert events[0] == ("progress", {"stage": "reading", "completed": 0, "total": None})
    [draft] = [facts for kind, facts in events if kind == "draft"]
    assert [finding["recommendations"] for finding in draft["findings"]] == [[]] * 3
    for kind, facts in events:
        if kind == "findings":
            draft["findings"][facts["start"] : facts["start"] + len(facts["findings"])] = facts["findings"]
    assert draft == whole
    assert events[-1] == ("done", {"warnings": whole["warnings"]})
    assert "/" + "tmp" not in reply.text


def test_what_cannot_be_read_is_said_in_the_stream(client: TestClient) -> None:
    reply = client.post("/api/check/stream", files=[("files", ("bild.png", b"\x89PNG\r\n\x1a\n"))])
    kind, facts = _events(reply.text)[-1]
    assert kind == "failed"
    assert "bild.png" in facts["detail"]
    assert client.post("/api/check/stream", data={"n": "3"}).status_code == 422


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[int]:
    """The sentences for which papers were searched so far, a few at a time and slowly."""
    monkeypatch.setenv("WHYCITE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(pipeline, "load_detector", word_detector)
    monkeypatch.setattr(pipeline, "thread_count", lambda threads: 1)
    searched: list[int] = []

    def search(self: object, sentences: list[int], on_answer: object = None) -> dict[int, tuple[()]]:
        time.sleep(0.1)
        searched.extend(sentences)
        return {}

    monkeypatch.setattr(proposals.Proposer, "propose", search)
    return searched


def test_closing_the_connection_stops_the_check(tmp_path: Path, searches: list[int]) -> None:
    with serving(ServerSettings(tmp_path / "none")) as address:
        form = {"files": ("book.md", BOOK.encode())}
        with httpx.stream("POST", f"{address}/api/check/stream", files=form, timeout=60) as reply:
            content = ""
            for text in reply.iter_text():
                content += text
                if "event: findings" in content:
                    break
        assert 0 < len(searches) < CLAIMS  # they came before all was searched
        time.sleep(0.5)
        stopped_at = len(searches)
        time.sleep(0.5)
        assert len(searches) == stopped_at < CLAIMS
        with httpx.stream("POST", f"{address}/api/check/stream", files=form, timeout=60) as reply:
            assert _events(reply.read().decode())[-1][0] == "done"


@pytest.mark.parametrize(
    ("error", "detail"),
    [(UserError("no such file"), "no such file"), (ZeroDivisionError("x"), "An internal error occurred (ZeroDiv")],
)
def test_work_that_fails_ends_the_stream(error: Exception, detail: str) -> None:
    async def listen() -> list[str]:
        events, work = EventStream(asyncio.get_running_loop()), Future[None]()
        events.follow(work)
        events.send("progress", "{}")
        work.set_exception(error)
        return [line async for line in events.lines()]

    first, last = asyncio.run(listen())
    assert first == "event: progress\ndata: {}\n\n"
    assert last.startswith(f'event: failed\ndata: {{"detail": "{detail}')


def test_a_slow_stream_is_kept_alive_and_a_closed_one_refuses_events(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queues, "KEEPALIVE_SECONDS", 0.01)

    async def listen() -> None:
        events = EventStream(asyncio.get_running_loop())
        lines = events.lines()
        assert await anext(lines) == ": still here\n\n"
        events.send("progress", "{}")
        await lines.aclose()
        with pytest.raises(StreamClosed):
            events.send("progress", "{}")

    asyncio.run(listen())
