"""How does the server hold up when several ask at once? Run: python benchmarks/serve.py [LIBRARY].

Without a library it makes one of 60 eLife articles. Clients are threads of this process, the server is another one;
each asks as soon as it has its answer, so the figures are those of a server that is never idle.
"""

import contextlib
import os
import queue
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import numpy as np

from whycite.library import Library, add

DATA = Path(os.environ.get("WHYCITE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
STARTS = 7  # of which the median is told, and the slowest
CLIENTS = (1, 8, 20)
SECONDS = 20.0  # of asking, for each number of clients
MANY = 5_000  # requests over which memory is watched


def main() -> None:
    """Print one table."""
    with tempfile.TemporaryDirectory() as folder:
        library = Path(sys.argv[1]) if len(sys.argv) > 1 else _made(Path(folder))
        claims = _claims(library)
        starts = np.array([_start(library, claims[0]) for _ in range(STARTS)])
        for what, seconds in zip(("page", "papers for a claim"), starts.T, strict=True):
            print(f"{f'start to first {what}, s':<36}{np.median(seconds):>10.2f}{seconds.max():>10.2f}")
        with running_server(library) as (process, address, _):
            for clients in CLIENTS:
                times, refused = _asked(address, claims, clients, seconds=SECONDS)
                rate = len(times) / SECONDS
                print(f"{f'{clients} clients, answers a second':<36}{rate:>10.1f}")
                print(f"{f'{clients} clients, p50 and p95, ms':<36}{_at(times, 50):>10.0f}{_at(times, 95):>10.0f}")
                print(f"{f'{clients} clients, refused':<36}{refused:>10}")
            before = _memory(process.pid)
            times, _ = _asked(address, claims, 8, number=MANY)
            print(f"{f'resident before and after {len(times):,}, MiB':<36}{before:>10.0f}{_memory(process.pid):>10.0f}")
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


def _made(folder: Path) -> Path:
    add(folder / "library", [DATA / "elife" / "elife-tiny.jsonl.zst"])
    return folder / "library"


def _claims(library: Path) -> list[str]:
    """Spans of the library with some words left out."""
    chance = random.Random(0)
    texts = sorted({text for text, _, _ in Library.open(library).occurrences() if len(text.split()) > 8})
    return [" ".join(word for word in text.split() if chance.random() < 0.8) for text in chance.sample(texts, 500)]


@contextlib.contextmanager
def running_server(library: Path) -> Iterator[tuple[subprocess.Popen[str], str, float]]:
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
    ]
    begun = time.perf_counter()
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr
        said = process.stderr.readline()
        found = re.search(r"http://\S+?(?=/ )", said)
        if found is None:
            raise SystemExit(f"the server did not start: {said}{process.stderr.read()}")
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
