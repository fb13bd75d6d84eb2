"""Many ask at once: everybody gets an answer or an honest no, and memory stays as it is."""

import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from whycite.service.loading import CurrentLibrary
from whycite.web.app import assemble
from whycite.web.serverstate import ServerSettings

Clients = Callable[..., TestClient]
CLAIM = "Killer whales hit herring with their tails."
PEOPLE = 20


def _everybody(ask: Callable[[], int]) -> Counter[int]:
    """The statuses that so many people get who ask at the same moment."""
    got: list[int] = []
    begin = threading.Barrier(PEOPLE)

    def one() -> None:
        begin.wait()
        got.extend(ask() for _ in range(3))

    threads = [threading.Thread(target=one) for _ in range(PEOPLE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 3 * PEOPLE
    return Counter(got)


def test_twenty_people_get_answers(kept_library: Path, client_of: Clients) -> None:
    client = client_of(kept_library)
    client.post("/api/cite", json={"text": CLAIM})

    def ask() -> int:
        answer = client.post("/api/cite", json={"text": CLAIM, "n": 2})
        assert answer.json()["recommendations"][0]["paper"]["title"].startswith("Killer whales")
        return int(answer.status_code)

    assert _everybody(ask) == {200: 3 * PEOPLE}


def test_beyond_the_queue_they_are_told_when_to_come_again(kept_library: Path, client_of: Clients) -> None:
    client = client_of(kept_library, threads=1, waiting=2)
    client.post("/api/cite", json={"text": CLAIM})

    def ask() -> int:
        answer = client.post("/api/cite", json={"text": CLAIM})
        if answer.status_code == 503:
            assert int(answer.headers["retry-after"]) > 0
            assert "try again" in answer.json()["detail"]
        return int(answer.status_code)

    got = _everybody(ask)
    assert set(got) == {200, 503}
    assert got[200] >= 3
    assert client.post("/api/cite", json={"text": CLAIM}).status_code == 200


def test_long_work_holds_up_no_question(
    kept_library: Path, client_of: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = threading.Event()

    def slowly(*_: object) -> None:
        assert go.wait(60)

    monkeypatch.setattr("whycite.web.api.library.read_draft", slowly)
    client = client_of(kept_library)
    file = [("files", ("a.md", b"# A\nText."))]
    readers = [threading.Thread(target=client.post, args=("/api/read",), kwargs={"files": file}) for _ in range(4)]
    for reader in readers:
        reader.start()
    try:
        assert client.post("/api/cite", json={"text": CLAIM}).status_code == 200
    finally:
        go.set()
        for reader in readers:
            reader.join()


def test_what_takes_too_long_is_given_up(
    kept_library: Path, client_of: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = threading.Event()
    monkeypatch.setattr("whycite.web.api.library.read_draft", lambda _: go.wait(60))
    client = client_of(kept_library, patience=0.05)
    answer = client.post("/api/read", files=[("files", ("a.md", b"# A\nText."))])
    go.set()
    assert (answer.status_code, answer.headers["content-type"]) == (504, "application/problem+json")


def test_what_is_known_of_an_older_library_is_forgotten(tmp_path: Path, papers: Path) -> None:
    import gc
    import weakref

    from whycite.library import Library, add

    asked = 0

    def count(library: Library) -> int:
        nonlocal asked
        asked += 1
        return len(list(library.documents()))

    add(tmp_path / "library", [papers / "bees.md"], jobs=1)
    current = CurrentLibrary(tmp_path / "library")
    old = weakref.ref(current.library())
    assert [current.answer_once(count), current.answer_once(count), asked] == [1, 1, 1]
    add(tmp_path / "library", [papers / "whales.md"], jobs=1)
    assert [current.answer_once(count), asked] == [2, 2]
    gc.collect()
    assert old() is None


def test_getting_ready_gives_way_to_who_asks(kept_library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, server = assemble(ServerSettings(library=kept_library))
    asked, warmed = threading.Event(), threading.Event()
    monkeypatch.setattr("whycite.web.serverstate.warm", lambda _: warmed.set())
    server.quick.submit(asked.wait)
    server.warm()
    assert not warmed.wait(0.2)
    asked.set()
    assert warmed.wait(60)
    assert server.close(60)
