"""Replicas and shards in real processes of Ray: what one library answers, whoever is killed, and whatever is added."""

import itertools
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from shutil import copytree
from typing import Any

import httpx
import pytest
import zstandard
from starlette.testclient import TestClient

from tests.web.conftest import PAPERS, REFERENCES
from tests.web.serving import serving_replicas
from whycite.cite.recommendations import Claim, load_method
from whycite.documents.reading import read
from whycite.evidence import extract
from whycite.library import Library, add
from whycite.library.store import Store, open_store
from whycite.structure import label

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
CLAIMS = [
    "Killer whales hit herring with their tails.",
    "Deformed wing virus spreads with mites.",
    "Queens mate with many drones.",
    "Schools of fish are driven to the surface.",
]
PEOPLE = 20
Clients = Callable[..., TestClient]
Answer = dict[str, Any]


def _need_ray_serve() -> None:
    pytest.importorskip("ray.serve", reason="needs Ray Serve: pip install 'whycite[scale]'", exc_type=ImportError)


@pytest.fixture(scope="module")
def served(kept_library: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A library that tests may change, and where three replicas with two shards answer from it."""
    _need_ray_serve()
    library = copytree(kept_library, tmp_path_factory.mktemp("replicas") / "library")
    with serving_replicas(library, 3, 2) as address:
        yield library, address


def _ask(address: str, claim: str, client: httpx.Client | None = None) -> Answer:
    """The answer to a claim; whoever is asked to come again later does so."""
    for _ in range(10):
        answer = (client or httpx).post(f"{address}/api/cite", json={"text": claim, "explain": True}, timeout=120)
        if answer.status_code != 503:
            break
        time.sleep(float(answer.headers["retry-after"]) / 5)
    assert answer.status_code == 200, answer.text
    content: Answer = answer.json()
    return content


def _expected(client: TestClient) -> dict[str, Answer]:
    return {claim: client.post("/api/cite", json={"text": claim, "explain": True}).json() for claim in CLAIMS}


def _processes(address: str, deployment: str) -> list[int]:
    """The processes of a deployment, by the port of their server."""
    port = address.rpartition(":")[2]
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            title = place.read_bytes().decode("utf-8", "replace")
        except OSError:  # it has ended
            continue
        if title.startswith("ray::ServeReplica:whycite-") and f"-{port}:{deployment}" in title:
            found.append(int(place.parent.name))
    return found


def _wait(holds: Callable[[], bool], seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.2)


def _is_well(address: str) -> bool:
    answer = httpx.get(f"{address}/api/health", timeout=60)
    return bool(answer.json()["status"] == "ok")


def test_300_claims_of_other_articles(data: Path, tmp_path: Path, client_of: Clients) -> None:
    _need_ray_serve()
    library = tmp_path / "library"
    add(library, [data / "elife" / "elife-tiny.jsonl.zst"], jobs=1)
    claims = _claims(data / "elife" / "elife-14.jsonl.zst", tmp_path, 300)
    one = client_of(library)
    with serving_replicas(library, 3, 2) as address:
        for claim in claims:
            assert _ask(address, claim) == one.post("/api/cite", json={"text": claim, "explain": True}).json()


def _claims(pack: Path, folder: Path, number: int) -> list[str]:
    """What articles cite others for."""
    texts = set()
    with zstandard.open(pack, "rt", encoding="utf-8") as lines:
        for line in itertools.islice(lines, 20):
            (folder / "article.jsonl").write_text(line)
            document = label(read(folder / "article.jsonl"))
            texts |= {span.text for span in extract(document) if len(span.text.split()) > 8}
    return Random(0).sample(sorted(texts), number)


def test_they_answer_as_one_server(served: tuple[Path, str], client: TestClient) -> None:
    _, address = served
    expected = _expected(client)
    assert {claim: _ask(address, claim) for claim in CLAIMS} == expected
    health = httpx.get(f"{address}/api/health", timeout=60).json()
    wanted = {"running": 3, "wanted": 3}
    assert (health["status"], health["documents"]) == ("ok", 2)
    assert health["processes"] == {"replicas": wanted, "shard-1": wanted, "shard-2": wanted}
    with httpx.stream(
        "POST", f"{address}/api/check/stream", files={"files": ("a.md", b"# A\n\nBees die of viruses.\n")}, timeout=120
    ) as events:
        assert "event: done" in events.read().decode()


@pytest.mark.parametrize("deployment", ["replicas", "shard-2"])
def test_a_process_that_is_killed_costs_time_only(
    served: tuple[Path, str], client: TestClient, deployment: str
) -> None:
    _, address = served
    expected = _expected(client)
    _wait(lambda: _is_well(address))
    wrong: list[Any] = []
    answered = itertools.count()
    end = time.monotonic() + 15

    def ask(seed: int) -> None:
        chance = Random(seed)
        try:
            with httpx.Client(timeout=120) as own:
                while time.monotonic() < end:
                    claim = chance.choice(CLAIMS)
                    if _ask(address, claim, own) != expected[claim]:
                        wrong.append(claim)
                    next(answered)
        except Exception as error:  # noqa: BLE001 - told below
            wrong.append(error)

    people = [threading.Thread(target=ask, args=(seed,)) for seed in range(PEOPLE)]
    for person in people:
        person.start()
    time.sleep(3)
    processes = _processes(address, deployment)
    assert len(processes) == 3
    os.kill(processes[0], signal.SIGKILL)
    for person in people:
        person.join()
    assert not wrong
    assert next(answered) >= PEOPLE
    _wait(lambda: _is_well(address) and len(_processes(address, deployment)) == 3)


def test_a_part_of_the_library_that_stays_lost_is_told(served: tuple[Path, str], client: TestClient) -> None:
    _, address = served
    expected = _expected(client)[CLAIMS[0]]
    _wait(lambda: _is_well(address))
    is_over = threading.Event()

    def keep_killing() -> None:
        while not is_over.wait(0.1):
            for process in _processes(address, "shard-1"):
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)

    killer = threading.Thread(target=keep_killing)
    killer.start()
    try:
        _wait(lambda: httpx.get(f"{address}/api/health", timeout=60).status_code == 503)
        assert httpx.get(f"{address}/api/health", timeout=60).json()["status"] == "down"
        answer = httpx.post(f"{address}/api/cite", json={"text": CLAIMS[0], "explain": True}, timeout=120)
    finally:
        is_over.set()
        killer.join()
    assert (answer.status_code, answer.headers["content-type"]) == (503, "application/problem+json")
    assert "part 1 of 2 of the library does not answer" in answer.json()["detail"]
    _wait(lambda: _is_well(address), 300)
    assert _ask(address, CLAIMS[0]) == expected


def test_they_move_to_a_new_version_without_a_stop(served: tuple[Path, str], tmp_path: Path) -> None:
    library, address = served
    _wait(lambda: _is_well(address))
    old = Library.open(library).version
    answers: list[tuple[str, Answer]] = []
    is_over = threading.Event()

    def ask(seed: int) -> None:
        chance = Random(seed)
        with httpx.Client(timeout=120) as own:
            while not is_over.is_set():
                claim = chance.choice(CLAIMS)
                answers.append((claim, _ask(address, claim, own)))

    people = [threading.Thread(target=ask, args=(seed,)) for seed in range(4)]
    for person in people:
        person.start()
    (tmp_path / "refs.bib").write_text(REFERENCES)
    (tmp_path / "more.md").write_text(PAPERS["whales"].replace("stun", "strike").replace("herring with", "cod with"))
    add(library, [tmp_path / "more.md"], jobs=1)
    begun = len(answers)
    _wait(lambda: len(answers) > begun + 40)
    is_over.set()
    for person in people:
        person.join()
    possible = _papers_at_each_version(library, old)
    assert len(possible) > 1
    assert possible[0][CLAIMS[0]] != possible[-1][CLAIMS[0]]
    for claim, answer in answers:
        assert _papers(answer) in [papers[claim] for papers in possible]
    assert {claim: _papers(_ask(address, claim)) for claim in CLAIMS} == possible[-1]


def _papers(answer: Answer) -> list[tuple[str, float]]:
    return [(entry["paper"]["key"], entry["score"]) for entry in answer["recommendations"]]


def _papers_at_each_version(library: Path, first: int) -> list[dict[str, list[tuple[str, float]]]]:
    """What one library answers at each of its versions, of which an `add` makes several."""
    found = []
    for commit in _store(library).commits():
        if commit.number >= first:
            store = _store(library)
            store.commit = commit
            method = load_method("whycite", Library(store))
            answers = {claim: method.recommend(Claim(claim)) for claim in CLAIMS}
            found.append({claim: [(entry.paper.key, entry.score) for entry in answers[claim]] for claim in CLAIMS})
    return found


def _store(library: Path) -> Store:
    store = open_store(library)
    assert store is not None
    return store
