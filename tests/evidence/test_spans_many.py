"""Many documents, one after the other and on several processes."""

import itertools
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from whycite.documents.model import Document
from whycite.errors import UserError
from whycite.evidence import extract, extract_many
from whycite.evidence import spans as module


def _die(document: Document) -> None:
    os.kill(os.getpid(), signal.SIGKILL)  # as a system short of memory does


Make = Callable[..., Document]


@pytest.fixture
def papers(document: Make) -> list[Document]:
    return [document(f"We train a neural parser <a|[{at}]> and use GPT-{at} <b|[3]>.") for at in range(12)]


@pytest.fixture
def plain_papers(document: Make) -> list[Document]:
    """Papers that no process needs the parser for, which takes seconds to load."""
    return [document(f"Nothing is cited in sentence {at}.") for at in range(12)]


@pytest.mark.parametrize("jobs", [1, 2])
def test_same_spans_in_order_whatever_the_jobs(papers: list[Document], jobs: int) -> None:
    expected = [(paper, extract(paper)) for paper in papers]
    assert all(spans for _, spans in expected)
    assert list(extract_many(papers, jobs=jobs)) == expected


@pytest.mark.parametrize("jobs", [1, 2])
def test_documents_are_taken_as_they_are_needed(plain_papers: list[Document], jobs: int) -> None:
    taken = 0

    def endless() -> Iterator[Document]:
        nonlocal taken
        for paper in itertools.cycle(plain_papers):
            taken += 1
            yield paper

    found = extract_many(endless(), jobs=jobs)
    next(found)
    assert taken <= 8
    found.close()


def test_a_process_that_dies_is_told_in_a_sentence(papers: list[Document], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "extract", _die)
    with pytest.raises(UserError, match=r"paper\.txt: .*try fewer jobs"):
        list(extract_many(papers, jobs=2))


def test_jobs_are_counted_from_one(papers: list[Document]) -> None:
    with pytest.raises(UserError, match="1 or more"):
        extract_many(papers, jobs=0)


def test_no_process_is_started_for_a_few_documents(papers: list[Document], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ProcessPoolExecutor", None)
    assert list(extract_many(papers[:3], jobs=2)) == [(paper, extract(paper)) for paper in papers[:3]]


ENDLESS = """
import itertools, multiprocessing, os, time
from whycite.documents.model import Document, Reference
from whycite.evidence import extract_many
def say(*words):
    os.write(1, (" ".join(map(str, words)) + "\\n").encode())  # whole lines, whoever writes at the same time
if __name__ == "__main__":
    documents = itertools.repeat(Document("x", "plain", Reference("x")))
    try:
        for _ in extract_many(documents, jobs=2):
            say(*(child.pid for child in multiprocessing.active_children()))
    except KeyboardInterrupt:
        say("stopped")
elif __name__ == "__mp_main__":
    say("starting")
    time.sleep(0.5)
"""


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks at processes in /proc")
def test_processes_end_when_the_one_they_serve_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "extracting.py"
    script.write_text(ENDLESS, "utf-8")
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = (line for line in process.stdout if line != "starting\n")
        children = [int(child) for child in next(lines).split()]
        process.kill()
    assert len(children) >= 2
    deadline = time.monotonic() + 100
    while any(Path(f"/proc/{child}/cmdline").exists() and _spawned(child) for child in children):
        assert time.monotonic() < deadline, children
        time.sleep(0.1)


def test_processes_that_are_being_started_say_nothing_when_it_is_stopped(tmp_path: Path) -> None:
    script = tmp_path / "extracting.py"
    script.write_text(ENDLESS, "utf-8")
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, script], stdout=pipe, stderr=pipe, text=True, process_group=0) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "starting\n"
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        said, complaints = process.communicate(timeout=100)
    assert said.splitlines()[-1] == "stopped"
    assert complaints == ""


def _spawned(process: int) -> bool:
    try:
        return b"spawn_main" in Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return False


def test_a_second_ctrl_c_waits_until_the_processes_have_ended(
    plain_papers: list[Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = extract_many(plain_papers, jobs=2)
    next(found)
    shutdown, ended = ProcessPoolExecutor.shutdown, []

    def stopped_again(pool: ProcessPoolExecutor, **options: bool) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        shutdown(pool, **options)
        ended.append(multiprocessing.active_children() == [])

    monkeypatch.setattr(ProcessPoolExecutor, "shutdown", stopped_again)
    with pytest.raises(KeyboardInterrupt):
        found.close()
    assert ended == [True]
