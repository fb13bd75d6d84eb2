"""The client is polite, remembers answers, and survives whatever a service does."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.references.conftest import Failure, LocalServices
from whycite.references.client import Clock, ServiceAnswer, ServiceClient, ServiceFailure

Sleep = Callable[[float], None]


def _ask(state: LocalServices, sleep: Sleep, cache: Path | None = None, timeout: float = 20) -> ServiceAnswer:
    with ServiceClient(cache, "me@example.org", Clock(lambda: 0.0, sleep), timeout) as client:
        return client.get("Crossref", f"{state.base}/crossref/works/x", {"mailto": "me@example.org"}, 0.2)


def _fail(state: LocalServices, sleep: Sleep, *failures: Failure, timeout: float = 20) -> str:
    state.failures["crossref"] = list(failures)
    with pytest.raises(ServiceFailure) as failure:
        _ask(state, sleep, timeout=timeout)
    return str(failure.value)


def test_an_answer_is_asked_for_once(local_services: LocalServices, sleep: Sleep, tmp_path: Path) -> None:
    local_services.answers["crossref"] = "crossref-work.json"
    first = _ask(local_services, sleep, tmp_path)
    assert first.json()["message"]["volume"] == "163"
    assert _ask(local_services, sleep, tmp_path) == first
    [(_, _, question, agent)] = local_services.asked
    assert question == {"mailto": "me@example.org"}
    assert agent.startswith("whycite/")
    assert "mailto:me@example.org" in agent
    assert "me@example.org" not in "".join(file.read_text("utf-8") for file in tmp_path.iterdir())


def test_that_nothing_is_known_is_remembered_too(local_services: LocalServices, sleep: Sleep, tmp_path: Path) -> None:
    assert _ask(local_services, sleep, tmp_path).json() is None
    assert _ask(local_services, sleep, tmp_path).json() is None
    assert len(local_services.asked) == 1


def test_a_damaged_cache_is_asked_again(local_services: LocalServices, sleep: Sleep, tmp_path: Path) -> None:
    local_services.answers["crossref"] = "crossref-work.json"
    _ask(local_services, sleep, tmp_path)
    [file] = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:50])
    assert _ask(local_services, sleep, tmp_path).json()["status"] == "ok"


def test_old_answers_are_asked_again(local_services: LocalServices, sleep: Sleep, tmp_path: Path) -> None:
    local_services.answers["crossref"] = "crossref-work.json"
    for day in (0, 29, 31):
        with ServiceClient(tmp_path, clock=Clock(lambda day=day: day * 86_400.0, sleep)) as client:  # type: ignore[misc]
            client.get("Crossref", f"{local_services.base}/crossref/works/x", {}, 0.2)
    assert len(local_services.asked) == 2


@pytest.mark.parametrize(
    ("failure", "waited"),
    [
        (Failure(429, headers={"Retry-After": "7"}), 7.0),
        (Failure(429, headers={"Retry-After": "Thu, 01 Jan 1970 00:00:09 GMT"}), 9.0),
        (Failure(500), 1.0),
        (Failure(503, headers={"Retry-After": "soon"}), 1.0),
        (Failure(cut_off=True), 1.0),
    ],
)
def test_a_service_is_asked_again_after_a_pause(
    local_services: LocalServices, sleep: Sleep, waits: list[float], failure: Failure, waited: float
) -> None:
    local_services.answers["crossref"] = "crossref-work.json"
    local_services.failures["crossref"] = [failure]
    assert _ask(local_services, sleep).json()["status"] == "ok"
    assert waits == [waited]


def test_pauses_get_longer(local_services: LocalServices, sleep: Sleep, waits: list[float]) -> None:
    assert _fail(local_services, sleep, *[Failure(500)] * 3) == "answered with status 500"
    assert waits == [1.0, 2.0]


def test_who_asks_for_an_hour_is_left_alone(local_services: LocalServices, sleep: Sleep, waits: list[float]) -> None:
    reason = _fail(local_services, sleep, Failure(429, headers={"Retry-After": "3600"}))
    assert reason == "asks to wait 3,600 seconds; try again later"
    assert waits == []


def test_other_failures_say_what_happened(local_services: LocalServices, sleep: Sleep) -> None:
    page = Failure(200, b"<html><body>Log in to the network</body></html>")
    assert _fail(local_services, sleep, page) == "answered with something else than JSON"
    assert _fail(local_services, sleep, Failure(403)) == "refused to answer (status 403)"
    assert _fail(local_services, sleep, Failure(400)) == "answered with status 400"
    assert _fail(local_services, sleep, *[Failure(silent=True)] * 3, timeout=0.05) == "did not answer in time"
    assert "broke off" in _fail(local_services, sleep, *[Failure(cut_off=True)] * 3)


def test_without_a_network_nobody_waits(local_services: LocalServices, sleep: Sleep, waits: list[float]) -> None:
    local_services.base = "http://127.0.0.1:1"
    assert _fail(local_services, sleep) == "cannot be reached"
    assert waits == []


def test_a_service_that_keeps_failing_is_not_asked_any_more(local_services: LocalServices, sleep: Sleep) -> None:
    local_services.failures["crossref"] = [Failure(400)] * 9
    with ServiceClient(clock=Clock(lambda: 0.0, sleep)) as client:
        for number in range(6):
            with pytest.raises(ServiceFailure, match="status 400"):
                client.get("Crossref", f"{local_services.base}/crossref/works/{number}", {}, 0.2)
        assert client.failures == {"Crossref": "answered with status 400"}
    assert len(local_services.asked) == 3


def test_a_service_is_not_asked_faster_than_it_likes(
    local_services: LocalServices, sleep: Sleep, waits: list[float]
) -> None:
    with ServiceClient(clock=Clock(lambda: 0.0, sleep)) as client:
        for number in range(3):
            client.get("arXiv", f"{local_services.base}/arxiv/{number}", {}, 3.0)
    assert waits == [3.0, 3.0]


@pytest.mark.parametrize(
    ("limit", "interval", "waited"),
    [("1", "1s", 1.0), ("50", "1s", 0.2), ("2", "60s", 30.0), ("0", "1s", 0.2), ("many", "", 0.2)],
)
def test_a_rate_that_a_service_announces_is_kept(
    local_services: LocalServices, sleep: Sleep, waits: list[float], limit: str, interval: str, waited: float
) -> None:
    headers = {"X-Rate-Limit-Limit": limit, "X-Rate-Limit-Interval": interval}
    local_services.failures["crossref"] = [
        Failure(200, b"{}", headers),
        Failure(404, b"", headers),
        Failure(200, b"{}"),
    ]
    with ServiceClient(clock=Clock(lambda: 0.0, sleep)) as client:
        for number in range(3):
            client.get("Crossref", f"{local_services.base}/crossref/works/{number}", {}, 0.2)
    assert waits == [waited, waited]
