"""The limited process: what comes back, and what becomes of it when it goes wrong."""

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from whycite.documents.sandbox import Worker
from whycite.errors import UserError

LONG = 60.0  # seconds: none of what is to answer takes as long, however busy the machine is
WORK = """
import os, sys, time
from pathlib import Path
from whycite.errors import UserError

def length(data, alive):
    print("a stray line")
    return {"length": len(data), "pid": os.getpid()}

def task(data, alive):
    command, _, argument = data.decode().partition(" ")
    if command == "crash":
        os.abort()
    if command == "leave":
        os._exit(3)
    if command == "sleep":
        time.sleep(float(argument))
    if command == "tick":
        for _ in range(int(argument)):
            time.sleep(0.2)
            alive()
    if command == "hog":
        return len(bytearray(int(argument)))
    if command == "refuse":
        raise UserError("no, thank you")
    if command == "fail":
        raise KeyError("what")
    if command == "write":
        Path(argument).write_text("written")
    if command == "deep":
        nested = []
        for _ in range(100_000):
            nested = [nested]
        return nested
    return os.getpid()
"""


@pytest.fixture
def worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Worker]:
    (tmp_path / "limited_work.py").write_text(WORK)
    monkeypatch.syspath_prepend(str(tmp_path))
    worker = Worker("limited_work:task", memory=256 << 20)
    yield worker
    worker.close()


def test_one_process_does_many_jobs(tmp_path: Path, worker: Worker) -> None:
    counting = Worker("limited_work:length")
    answers = [counting.run(b"x" * size, "a.pdf", LONG) for size in (0, 1, 3_000_000)]
    counting.close()
    assert [answer["length"] for answer in answers] == [0, 1, 3_000_000]
    assert len({answer["pid"] for answer in answers}) == 1
    assert answers[0]["pid"] != os.getpid()


@pytest.mark.parametrize(
    ("job", "seconds", "reason"),
    [
        ("crash", LONG, "crashed"),
        ("leave", LONG, "crashed"),
        ("sleep 600", 0.7, "gave up after 0.7 seconds"),
        ("hog 1000000000", LONG, "more than 256 MB"),
        ("refuse", LONG, "no, thank you"),
        ("fail", LONG, "KeyError"),
        ("deep", LONG, "RecursionError"),
    ],
)
def test_every_failure_is_one_sentence_and_the_next_job_works(
    worker: Worker, job: str, seconds: float, reason: str
) -> None:
    with pytest.raises(UserError, match=r"^a\.pdf: [^\n]*" + reason) as caught:
        worker.run(job.encode(), "a.pdf", seconds)
    assert "Traceback" not in str(caught.value)
    assert worker.run(b"well", "b.pdf", LONG) > 0


def test_signs_of_life_give_more_time(worker: Worker) -> None:
    assert worker.run(b"tick 20", "a.pdf", 3) > 0


def test_it_cannot_write_files(worker: Worker, tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    with pytest.raises(UserError, match="OSError"):
        worker.run(f"write {target}".encode(), "a.pdf", LONG)
    assert not target.exists() or not target.read_text()


def test_ctrl_c_ends_the_process(worker: Worker) -> None:
    pid = worker.run(b"well", "a.pdf", LONG)
    threading.Timer(1, os.kill, [os.getpid(), signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt):
        worker.run(b"sleep 600", "a.pdf", LONG)
    assert not _is_alive(pid)


def test_closing_ends_the_process(worker: Worker) -> None:
    pid = worker.run(b"well", "a.pdf", LONG)
    worker.close()
    assert not _is_alive(pid)
    assert worker.run(b"well", "a.pdf", LONG) != pid


def test_threads_take_turns(worker: Worker) -> None:
    pids: list[int] = []
    threads = [threading.Thread(target=lambda: pids.append(worker.run(b"tick 1", "a.pdf", LONG))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(pids) == 4
    assert len(set(pids)) == 1


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
