"""Reads documents in a process with limited memory and time, so that no document can stop the reading of the others.

A path leads to many documents: those of a folder, of an archive, the records of a file. The process names each file
before it reads it. If it ends over a file, another process reads on after that file.
"""

from __future__ import annotations

import base64
import json
import os
import signal
import sys
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from whycite.documents.builder import unreadable
from whycite.documents.jsondocument import from_plain, to_plain
from whycite.documents.model import Document
from whycite.documents.reading import FolderMember, check_format, stream
from whycite.documents.sandbox import ProcessEnded, Pulse, Worker
from whycite.errors import UserError

__all__ = ["MAX_MEMORY", "MAX_SECONDS", "ConfinedReader", "read_units", "stream_confined"]

MAX_MEMORY = 3 << 30  # bytes of address space; enough to recognise the text of scanned pages
MAX_SECONDS = 120.0  # of processor time for one document; the largest LaTeX projects take half of it
_PATIENCE = 4  # times as long on the clock, since the machine may be busy


def stream_confined(
    paths: Iterable[str | Path], format: str | None = None, seconds: float = MAX_SECONDS, memory: int = MAX_MEMORY
) -> Generator[Document, None, None]:
    """Every document at the paths, in order; one that cannot be read has no text, and its warnings say why."""
    check_format(format)
    with closing(ConfinedReader(memory)) as reader:
        for path in paths:
            yield from reader.read(path, format, seconds)


class ConfinedReader:
    """A limited process that reads one path after another."""

    def __init__(self, memory: int = MAX_MEMORY) -> None:
        self._worker = Worker("whycite.documents.confined:read_units", memory)

    def read(
        self,
        path: str | Path,
        format: str | None = None,
        seconds: float = MAX_SECONDS,
        members: Sequence[FolderMember] | None = None,
    ) -> Iterator[Document]:
        """The documents at a path; of a folder, those of some members or of all."""
        return _ConfinedStream(self._worker, str(path), format, seconds, members).documents()

    def close(self) -> None:
        """End the process."""
        self._worker.close()


class _ConfinedStream:
    """The documents at one path, from as many processes as it takes."""

    def __init__(
        self, worker: Worker, path: str, format: str | None, seconds: float, members: Sequence[FolderMember] | None
    ) -> None:
        self._worker = worker
        self._members = members
        self._path = path
        self._format = format
        self._seconds = seconds
        self._finished: set[str] = set()  # files that need not be read again
        self._open: list[str] = []  # files being read: an archive, then a file in it
        self._delivered: dict[str, int] = {}  # documents of each open file that were handed on; "" is the path itself
        self._is_fresh = False  # whether the process has read nothing else; it may have read another path

    def documents(self) -> Iterator[Document]:
        """The documents, without those that end the process."""
        content = _piped_bytes(self._path)
        while True:
            job = {
                "path": self._path,
                "format": self._format,
                "seconds": self._seconds,
                "content": None if content is None else base64.b64encode(content).decode(),
                "finished": sorted(self._finished),
                "delivered": self._delivered,
                "members": self._members,
            }
            self._open = []
            try:
                yield from self._read(json.dumps(job).encode())
                return
            except ProcessEnded as error:
                culprit = self._open[-1] if self._open else self._path
                # Only a document that ends a fresh process is to blame: another may have used up its memory.
                if error.late or self._is_fresh:
                    self._finished.add(culprit)
                    yield unreadable(culprit, str(error).removeprefix(f"{self._path}: "))
                    if culprit == self._path:
                        return
                self._is_fresh = True
            except UserError as error:  # the process could not begin
                yield unreadable(self._path, error)
                return

    def _read(self, job: bytes) -> Iterator[Document]:
        with closing(self._worker.stream(job, self._path, _PATIENCE * self._seconds)) as messages:
            for kind, value in messages:
                if kind == "begin":
                    self._open.append(value)
                    continue
                if kind == "end":
                    self._open.remove(value)
                    self._finished.add(value)
                    self._delivered.pop(value, None)
                else:
                    file = self._open[-1] if self._open else ""
                    self._delivered[file] = self._delivered.get(file, 0) + 1
                    yield from_plain(value)
                self._is_fresh = False


def _piped_bytes(path: str) -> bytes | None:
    """The bytes of standard input or a pipe, which the limited process cannot read itself."""
    if path == "-":
        return sys.stdin.buffer.read()
    try:
        file = Path(path)
        return file.read_bytes() if file.exists() and not file.is_file() and not file.is_dir() else None
    except (OSError, ValueError):  # reported when it is read
        return None


# The code below runs in the limited process.


def read_units(data: bytes, pulse: Pulse) -> None:
    """Send the documents a job asks for, each between the "begin" and the "end" of its file."""
    job = json.loads(data)
    path, visit = job["path"], _ReportingVisit(job["finished"], job["delivered"], job["seconds"], pulse)
    content = None if job["content"] is None else base64.b64decode(job["content"])
    members = None if job["members"] is None else [FolderMember(*member) for member in job["members"]]
    try:
        for document in stream(path, job["format"], visit, content, members):
            visit.send(document)
    except UserError as error:
        if isinstance(error.__cause__, MemoryError):
            os._exit(1)  # a fresh process may have enough
        visit.send(unreadable(path, error))
    finally:
        _set_clock(0)


class _ReportingVisit:
    """Tells the parent which file is being read, and limits the time that it takes."""

    def __init__(self, finished: Iterable[str], delivered: Mapping[str, int], seconds: float, pulse: Pulse) -> None:
        self._finished = frozenset(finished)
        self._delivered = dict(delivered)
        self._seconds = seconds
        self._pulse = pulse
        self._open = [""]

    def begin(self, path: str) -> bool:
        """Whether to read a file."""
        if path in self._finished:
            return False
        self._open.append(path)
        self._pulse.send(("begin", path))
        _set_clock(self._seconds)
        return True

    def end(self, path: str) -> None:
        """Note that a file is done."""
        self._open.remove(path)
        self._pulse.send(("end", path))

    def send(self, document: Document) -> None:
        """Hand on a document, unless an earlier process did so before it ended."""
        file = self._open[-1]
        self._delivered[file] = self._delivered.get(file, 0) - 1
        if self._delivered[file] < 0:
            self._pulse.send(("document", to_plain(document)))
        _set_clock(self._seconds)


def _set_clock(seconds: float) -> None:
    """Raise an error after this much processor time, and every second from then on; 0 for never."""
    if sys.platform == "win32":
        return  # the limit on the clock still applies

    def expire(*_: object) -> None:
        raise UserError(f"gave up after {seconds:g} seconds; the file is too large or malicious")

    signal.signal(signal.SIGPROF, expire)
    signal.setitimer(signal.ITIMER_PROF, seconds, 1.0)
