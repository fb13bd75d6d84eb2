"""One writer at a time, who is named to the others."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from whycite.documents.model import Document
from whycite.errors import UserError
from whycite.library import Library, add_documents, compact, remove
from whycite.library.store import writing

Make = Callable[..., Document]
WORKER = Path(__file__).with_name("worker.py")


@pytest.fixture
def holder(place: Path, encoder: Any, numbered: Make) -> Iterator[subprocess.Popen[str]]:
    """Another process that is adding to the library."""
    add_documents(place, [numbered(1)], jobs=1, encoder=encoder)
    command = [sys.executable, str(WORKER), "hold", str(place), "0"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        if process.poll() is None:
            process.kill()


def test_who_writes_is_told_at_once(holder: subprocess.Popen[str], place: Path, encoder: Any, numbered: Make) -> None:
    told = (
        rf"in use by `whycite add` \(process {holder.pid} on {re.escape(socket.gethostname())}, since "
        r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\); try again when it is done"
    )
    for write in (
        lambda: add_documents(place, [numbered(2)], jobs=1, encoder=encoder),
        lambda: remove(place, ["paper1.md"]),
        lambda: compact(place),
    ):
        with pytest.raises(UserError, match=told):
            write()
    assert Library.open(place).info().documents == 1  # reading goes on
    (place / "writer.json").write_text("{")
    with pytest.raises(UserError, match="in use by another process"):
        compact(place)

    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert add_documents(place, [numbered(2)], jobs=1, encoder=encoder).added == 1


def test_let_go_when_done_or_failed(place: Path) -> None:
    place.mkdir()

    def fail() -> None:
        with writing(place, "add"):
            held = json.loads((place / "writer.json").read_text())
            assert (held["process"], held["what"]) == (os.getpid(), "add")
            with pytest.raises(UserError, match="in use by"), writing(place, "add"):
                pass
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    with writing(place, "library compact"):
        pass
    assert not (place / "writer.json").exists()
