"""How does the server hold up? Run: python benchmarks/serve.py [--ray | --minutes N] [LIBRARY].

Without a library it makes one of 60 eLife articles. Clients are threads of this process, the server is another one;
each asks as soon as it has its answer, so the figures are those of a server that is never idle.

With --ray, replicas and shards on this machine are compared with one server: their answers to claims of other articles,
load, and what comes of it if one is killed.

With --minutes, people cite, check, verify and add papers for so long, and the memory of the server is watched.
"""

import argparse
import contextlib
import ctypes
import itertools
import os
import queue
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import zstandard

from whycite.documents.reading import read
from whycite.evidence import extract
from whycite.library import Library, add
from whycite.structure import label

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.cluster import BECOME_SUBREAPER, TICKS, ticks_below

DATA = Path(os.environ.get("WHYCITE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
STARTS = 7  # of which the median is told, and the slowest
CLIENTS = (1, 8, 20)
SECONDS = 20.0  # of asking, for each number of clients
MANY = 5_000  # requests over which memory is watched
RAY_CLIENTS = (1, 8, 32)
REPLICAS, SHARDS = 3, 2
KILL_CLIENTS = 20
OTHER_ARTICLES, OTHER_CLAIMS = 20, 300
SOAK_CLIENTS = 4
SOAK_LOOK = 2.0  # seconds between two looks at the memory
SOAK_KINDS = {"cite": 80, "check": 10, "verify": 7, "add": 3}  # and how often each of them
SOAK_PAPERS = 20
SOAK_END = """
As shown (Doe, 2001).

# References

Doe, J. (2001). Growth of cells in ponds. Journal of Ponds 1, 1-10.
"""


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("library", nargs="?", type=Path)
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--ray", action="store_true")
    way.add_argument("--minutes", type=float)
    chosen = parser.parse_args()
    ctypes.CDLL(None).prctl(BECOME_SUBREAPER, 1, 0, 0, 0)
    with tempfile.TemporaryDirectory() as folder:
        library = chosen.library or _made(Path(folder))
        if chosen.ray:
            _compare_replicas(library, Path(folder))
        elif chosen.minutes:
            _soak(shutil.copytree(library, Path(folder) / "soaked"), 60 * chosen.minutes)
        else:
            _measure_server(library)
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


def _measure_server(library: Path) -> None:
    claims = _claims(library)
    starts = np.array([_start(library, claims[0]) for _ in range(STARTS)])
    for what, seconds in zip(("page", "papers for a claim"), starts.T, strict=True):
        print(f"{f'start to first {what}, s':<36}{np.median(seconds):>10.2f}{seconds.max():>10.2f}")
    with running_server(library) as (process, address, _):
        _print_load(address, claims, CLIENTS)
        before = _memory(process.pid)
        times, _ = _asked(address, claims, 8, number=MANY)
        print(f"{f'resident before and after {len(times):,}, MiB':<36}{before:>10.0f}{_memory(process.pid):>10.0f}")


def _print_load(address: str, claims: list[str], numbers: Sequence[int]) -> None:
    """What many clients get, and what that costs: where others work on the machine, the clock says little."""
    for clients in numbers:
        before = ticks_below(os.getpid())
        times, refused = _asked(address, claims, clients, seconds=SECONDS)
        after = ticks_below(os.getpid())
        spent = sum(ticks - before.get(process, 0) for process, ticks in after.items())
        rate = len(times) / SECONDS
        print(f"{f'{clients} clients, answers a second':<36}{rate:>10.1f}")
        print(f"{f'{clients} clients, p50 and p95, ms':<36}{_at(times, 50):>10.0f}{_at(times, 95):>10.0f}")
        print(f"{f'{clients} clients, refused':<36}{refused:>10}")
        print(
            f"{f'{clients} clients, processor ms an answer':<36}{1000 * spent / TICKS / len(times):>10.0f}", flush=True
        )


def _compare_replicas(library: Path, folder: Path) -> None:
    claims = _claims_elsewhere(folder)
    with running_server(library) as (_, address, started):
        expected = {claim: _answer(address, claim) for claim in claims}
        print(f"one server, which starts in {started:.1f} s")
        _print_load(address, claims, RAY_CLIENTS)
    for replicas, shards in ((REPLICAS, 1), (REPLICAS, SHARDS)):
        options = ["--ray", "local", "--replicas", str(replicas), "--shards", str(shards)]
        with running_server(library, *options) as (_, address, started):
            print(f"{replicas} replicas, {shards} shards, which start in {started:.1f} s")
            differing = sum(_answer(address, claim) != expected[claim] for claim in claims)
            print(f"{f'other answers to {len(claims)} claims':<36}{differing:>10}", flush=True)
            _print_load(address, claims, RAY_CLIENTS)
            _print_loss(address, expected)


def _print_loss(address: str, expected: Mapping[str, Any]) -> None:
    """Kill a replica while many ask, each again when asked to come later."""
    results: Counter[str] = Counter()
    lock = threading.Lock()
    end = time.monotonic() + SECONDS

    def ask(seed: int) -> None:
        chance = random.Random(seed)
        while time.monotonic() < end:
            claim = chance.choice([*expected])
            try:
                result = "right" if _answer(address, claim) == expected[claim] else "wrong"
            except httpx.HTTPError:
                result = "failed"
            with lock:
                results[result] += 1

    threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(KILL_CLIENTS)]
    for thread in threads:
        thread.start()
    time.sleep(SECONDS / 4)
    os.kill(_replica(address), signal.SIGKILL)
    for thread in threads:
        thread.join()
    print(
        f"one replica killed under {KILL_CLIENTS} clients: "
        + ", ".join(f"{results[result]} {result}" for result in ("right", "wrong", "failed"))
    )
    health = httpx.get(f"{address}/api/health", timeout=60).json()
    repeated = re.search(r"^whycite_questions_repeated (\d+)", httpx.get(f"{address}/metrics").text, re.MULTILINE)
    print(f"asked again {repeated[1] if repeated else '?'}; then {health['status']}", flush=True)


def _soak(library: Path, seconds: float) -> None:
    """Ask everything again and again while papers come and go; the first and last tenth tell what memory does."""
    claims = _claims(library)
    results: Counter[str] = Counter()
    memory: list[float] = []
    with running_server(library) as (process, address, _):
        for kind in SOAK_KINDS:
            _do(kind, address, claims, random.Random(0))
        end = time.monotonic() + seconds

        def act(seed: int) -> None:
            chance = random.Random(seed)
            while time.monotonic() < end:
                kind = chance.choices([*SOAK_KINDS], [*SOAK_KINDS.values()])[0]
                try:
                    result = _do(kind, address, claims, chance)
                except httpx.HTTPError as error:
                    result = type(error).__name__
                results[f"{kind}: {result}"] += 1
                if result == "503":
                    time.sleep(1)

        threads = [threading.Thread(target=act, args=(seed,)) for seed in range(SOAK_CLIENTS)]
        for thread in threads:
            thread.start()
        while time.monotonic() < end:
            memory.append(_memory(process.pid))
            time.sleep(SOAK_LOOK)
        for thread in threads:
            thread.join()
    tenths = [float(np.median(part)) for part in np.array_split(memory, 10)]
    for result, count in sorted(results.items()):
        print(f"{result:<36}{count:>10,}")
    print("resident memory by tenths, MiB: " + ", ".join(f"{part:.0f}" for part in tenths))
    print(f"from the second tenth to the last: {tenths[-1] / tenths[1] - 1:+.1%}")


def _do(kind: str, address: str, claims: list[str], chance: random.Random) -> str:
    """Ask or add something; returns the status, or what became of the papers."""
    text = "# Introduction\n\n" + " ".join(f"{claim}." for claim in chance.sample(claims, 12)) + "\n"
    with httpx.Client(base_url=address, timeout=600) as client:
        if kind == "cite":
            answer = client.post("/api/cite", json={"text": chance.choice(claims)})
        elif kind == "check":
            answer = client.post("/api/check", files={"files": ("draft.md", text.encode())})
        elif kind == "verify":
            file = ("paper.md", text.encode())
            answer = client.post("/api/verify", data={"claim": chance.choice(claims)}, files={"files": file})
        else:  # one of a few papers, in a new version
            name = f"paper{chance.randrange(SOAK_PAPERS)}"
            paper = f"---\ntitle: {name} on cells\n---\n{text}{SOAK_END}"
            answer = client.post("/api/library/documents", files={"files": (f"{name}.md", paper.encode())})
            if answer.is_success:
                events = client.get(f"/api/library/uploads/{answer.json()['id']}").text
                return "added" if "event: done" in events else events[-200:]
    return str(answer.status_code)


def _answer(address: str, claim: str) -> Any:
    """The answer to a claim; whoever is asked to come again later does so."""
    while True:
        answer = httpx.post(f"{address}/api/cite", json={"text": claim, "explain": True}, timeout=120)
        if answer.status_code != 503:
            return answer.raise_for_status().json()
        time.sleep(float(answer.headers["retry-after"]))


def _replica(address: str) -> int:
    """A process of a replica; Ray names its application after the port."""
    name = f"-{address.rpartition(':')[2]}:replicas"
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it has ended
            title = place.read_bytes().decode("utf-8", "replace")
            if title.startswith("ray::ServeReplica:whycite-") and name in title:
                return int(place.parent.name)
    raise SystemExit("no process of a replica")


def _claims_elsewhere(folder: Path) -> list[str]:
    """What articles that are not in the library cite others for."""
    texts = set()
    with zstandard.open(sorted((DATA / "elife").glob("elife-[0-9]*.jsonl.zst"))[-1], "rt", encoding="utf-8") as lines:
        for line in itertools.islice(lines, OTHER_ARTICLES):
            (folder / "article.jsonl").write_text(line)
            spans = extract(label(read(folder / "article.jsonl")))
            texts |= {span.text for span in spans if len(span.text.split()) > 8}
    return random.Random(0).sample(sorted(texts), OTHER_CLAIMS)


def _made(folder: Path) -> Path:
    add(folder / "library", [DATA / "elife" / "elife-tiny.jsonl.zst"])
    return folder / "library"


def _claims(library: Path) -> list[str]:
    """Spans of the library with some words left out."""
    chance = random.Random(0)
    texts = sorted({text for text, _, _ in Library.open(library).occurrences() if len(text.split()) > 8})
    return [" ".join(word for word in text.split() if chance.random() < 0.8) for text in chance.sample(texts, 500)]


@contextlib.contextmanager
def running_server(library: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], str, float]]:
    """A server on a library, its address, and the seconds until it said so."""
    command = [
        str(Path(sys.executable).with_name("whycite")),
        "serve",
        "--no-browser",
        "--no-token",
        "--port",
        "0",
        "--library",
        str(library),
        *options,
    ]
    begun = time.perf_counter()
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr
        said, found = "", None
        while found is None:
            if not (line := process.stderr.readline()):
                raise SystemExit(f"the server did not start: {said}")
            said += line
            found = re.search(r"http://\S+?(?=/ )", line)
        yield process, found[0], time.perf_counter() - begun
    finally:
        process.terminate()
        process.wait()


def _start(library: Path, claim: str) -> tuple[float, float]:
    """Seconds from the command to the first page, and to the first papers for a claim."""
    with running_server(library) as (_, address, started):
        page = started + _first(lambda: httpx.get(f"{address}/cite", timeout=60))
        return page, page + _first(lambda: httpx.post(f"{address}/api/cite", json={"text": claim}, timeout=60))


def _first(ask: Callable[[], httpx.Response]) -> float:
    begun = time.perf_counter()
    ask().raise_for_status()
    return time.perf_counter() - begun


def _asked(
    address: str, claims: list[str], clients: int, seconds: float = float("inf"), number: int = 1 << 60
) -> tuple[list[float], int]:
    """How long answers took, and how many questions were refused."""
    times: queue.SimpleQueue[float] = queue.SimpleQueue()
    refused: queue.SimpleQueue[int] = queue.SimpleQueue()
    left = iter(range(number))
    lock = threading.Lock()
    end = time.monotonic() + seconds

    def ask(seed: int) -> None:
        chance = random.Random(seed)
        with httpx.Client(timeout=60) as client:
            while time.monotonic() < end:
                with lock:
                    if next(left, None) is None:
                        return
                begun = time.perf_counter()
                answer = client.post(f"{address}/api/cite", json={"text": chance.choice(claims)})
                if answer.status_code == 503:
                    refused.put(1)
                    time.sleep(float(answer.headers["retry-after"]))
                else:
                    answer.raise_for_status()
                    times.put(time.perf_counter() - begun)

    threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [times.get() for _ in range(times.qsize())], refused.qsize()


def _at(times: list[float], percent: int) -> float:
    return float(np.percentile(times, percent)) * 1000


def _memory(process: int) -> float:
    status = Path(f"/proc/{process}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024  # type: ignore[index]


if __name__ == "__main__":
    main()
