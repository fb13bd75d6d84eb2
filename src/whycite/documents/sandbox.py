"""Runs a function on untrusted input in another process with limited memory and time."""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator
from typing import IO, Any

from whycite.errors import UserError

__all__ = ["ProcessEnded", "Pulse", "Worker", "serve"]

MAX_MEMORY = 1 << 30  # bytes of address space
MAX_ANSWER = 256 << 20  # bytes; a longer answer means the process is broken
_PULSE_SECONDS = 0.25  # between two signs of life
_LENGTH_BYTES = 8  # the length prefix of a message
_MAX_JOBS = 200  # after this many the process is replaced, so that leaked memory is freed
_COLLECTED_AT = 50_000  # new objects, as in commands; at the 700 of Python, reading takes a twentieth longer
_START_SECONDS = 30.0  # for a process to start, even on a busy machine
# The signal that ends a silent process, and the exit status it leaves.
_LATE, _LATE_STATUS = (signal.SIGTERM, 1) if sys.platform == "win32" else (signal.SIGALRM, -signal.SIGALRM)
# Libraries of linear algebra reserve memory for a thread on every core, which counts against the limit.
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
_SCRIPT = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]);"
    "from whycite.documents.sandbox import serve; serve(sys.argv[2], int(sys.argv[3]))"
)


class ProcessEnded(UserError):
    """The limited process crashed, ran out of memory or fell silent; `late` if it fell silent."""

    def __init__(self, message: str, late: bool) -> None:
        super().__init__(message)
        self.late = late


class Worker:
    """A limited process that runs one function ("module:name") on one input after another.

    The function takes the bytes and a `Pulse` that it calls as a sign of life, and returns data that JSON can hold.
    A process that crashes, runs out of memory or falls silent is replaced for the next input. It cannot write files,
    open network connections or start programs.
    """

    def __init__(self, function: str, memory: int = MAX_MEMORY) -> None:
        self._function = function
        self._memory = memory
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0  # the process that started it: a fork must not talk to the same worker
        self._jobs = 0
        atexit.register(self.close)

    def run(self, data: bytes, name: str, seconds: float) -> Any:
        """The function's result for `data`; if it fails, a UserError that begins with `name`.

        The process is ended after `seconds` without a sign of life.
        """
        with self._lock:
            answer = None
            process = self._ready_process()
            try:
                if _await_request(process, _START_SECONDS if self._jobs == 1 else seconds):
                    answer = _exchange(process, data, seconds)
            finally:  # also on Ctrl-C: a process in the middle of a job is no longer usable
                if answer is None:
                    self._stop()
        if answer is None:
            raise _ended(process, name, seconds)
        if "error" in answer:
            raise UserError(f"{name}: {answer['error']}")
        return answer["result"]

    def stream(self, data: bytes, name: str, seconds: float) -> Generator[Any, None, None]:
        """The items that the function sends for `data`; a ProcessEnded if the process ends before it returns.

        Nothing else can run meanwhile. Close the iterator if you stop early: that ends the process.
        """
        with self._lock:
            process = self._ready_process()
            is_complete = False
            try:
                answer = None
                if _await_request(process, _START_SECONDS if self._jobs == 1 else seconds):
                    answer = _exchange(process, data, seconds)
                while answer is not None and "item" in answer:
                    yield answer["item"]
                    answer = _next_answer(process, seconds)
                is_complete = answer is not None
            finally:
                if not is_complete:
                    self._stop()
        if answer is None:
            raise _ended(process, name, seconds)
        if "error" in answer:
            raise UserError(f"{name}: {answer['error']}")

    def close(self) -> None:
        """End the process if it is running."""
        with self._lock:
            self._stop()

    def _ready_process(self) -> subprocess.Popen[bytes]:
        """The process; a new one if there is none or it has done its share."""
        if self._process is not None and (self._owner != os.getpid() or self._process.poll() is not None):
            self._process = None
        if self._process is not None and self._jobs >= _MAX_JOBS:
            self._stop()
        if self._process is None:
            self._process = _start(self._function, self._memory)
            self._owner, self._jobs = os.getpid(), 0
        self._jobs += 1
        return self._process

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None or self._owner != os.getpid():
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except BrokenPipeError:
                    continue  # unwritten data no longer matters


def _start(function: str, memory: int) -> subprocess.Popen[bytes]:
    arguments = [sys.executable, "-c", _SCRIPT, json.dumps(sys.path), function, str(memory)]
    with _Starting():
        return subprocess.Popen(
            arguments,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C reaches only us, and we end the process
            env=os.environ | _ONE_THREAD,
        )


def _ended(process: subprocess.Popen[bytes], name: str, seconds: float) -> ProcessEnded:
    status = process.returncode
    return ProcessEnded(f"{name}: {_reason(status, seconds)}", status == _LATE_STATUS)


def _await_request(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Wait until the process asks for a job; False if it does not."""
    assert process.stdout is not None
    with _Alarm(process, seconds):
        return _read(process.stdout, 0) is not None


def _exchange(process: subprocess.Popen[bytes], data: bytes, seconds: float) -> dict[str, Any] | None:
    """Send a job and wait for the answer; None if the process ended instead."""
    assert process.stdin is not None
    try:
        with _Alarm(process, seconds):
            _write(process.stdin, f"{seconds:.3f}".encode())
            _write(process.stdin, data)
    except BrokenPipeError:  # the process is gone
        return None
    return _next_answer(process, seconds)


def _next_answer(process: subprocess.Popen[bytes], seconds: float) -> dict[str, Any] | None:
    """Wait for the next answer; None if the process ended instead."""
    assert process.stdout is not None
    answer: bytes | None = b""
    try:
        while answer == b"":  # a sign of life
            with _Alarm(process, seconds):
                answer = _read(process.stdout, MAX_ANSWER)
        decoded = json.loads(answer) if answer else None
    except (ValueError, RecursionError):  # garbage
        return None
    return decoded if isinstance(decoded, dict) else None


class _Alarm:
    """Ends a process unless it responds in time."""

    def __init__(self, process: subprocess.Popen[bytes], seconds: float) -> None:
        self._timer = threading.Timer(seconds, process.send_signal, [_LATE])
        self._timer.daemon = True

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()


def _write(stream: IO[bytes], message: bytes) -> None:
    stream.write(len(message).to_bytes(_LENGTH_BYTES, "big"))
    stream.write(message)
    stream.flush()


def _read(stream: IO[bytes], limit: int) -> bytes | None:
    """The next message; None at the end of the stream or if it is longer than `limit`."""
    head = stream.read(_LENGTH_BYTES)
    length = int.from_bytes(head, "big")
    if len(head) < _LENGTH_BYTES or length > limit:
        return None
    message = stream.read(length)
    return message if len(message) == length else None


def _reason(status: int | None, seconds: float) -> str:
    """Why a process ended, in words."""
    if status == _LATE_STATUS:
        return f"gave up after {seconds:g} seconds without progress; the file is too large or malicious"
    return "the reader crashed or ran out of memory; the file is damaged or malicious"


def serve(function: str, memory: int) -> None:
    """The main loop of the limited process: run the function on every message until there are no more."""
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # a stray print must not get between the messages
    gc.set_threshold(_COLLECTED_AT)
    module, _, name = function.partition(":")
    work = getattr(importlib.import_module(module), name)
    _limit(memory)
    sys.addaudithook(_forbid)
    while True:
        _write(sink, b"")  # ready
        head, data = _read(source, sys.maxsize), _read(source, sys.maxsize)
        if head is None or data is None:
            return
        pulse = Pulse(sink, float(head))
        pulse()
        _write(sink, _answer(work, data, pulse, memory))
        del data
        _expire(0)


class Pulse:
    """Sends signs of life, often enough but not too often, and items of the answer."""

    def __init__(self, sink: IO[bytes], seconds: float) -> None:
        self._sink, self._seconds = sink, seconds
        self._last_pulse = 0.0

    def __call__(self) -> None:
        now = time.monotonic()
        if now - self._last_pulse > min(_PULSE_SECONDS, self._seconds / 4):
            self._last_pulse = now
            _expire(self._seconds + 1)
            _write(self._sink, b"")

    def send(self, item: object) -> None:
        """Hand on an item that JSON can hold."""
        message = json.dumps({"item": item}).encode()
        _expire(0)  # the parent may be busy with what it already has
        _write(self._sink, message)
        _expire(self._seconds + 1)


def _answer(work: Callable[..., Any], data: bytes, alive: Pulse, memory: int) -> bytes:
    """The function's result, or what went wrong."""
    try:
        return json.dumps({"result": work(data, alive)}).encode()
    except UserError as error:
        reason = str(error)
    except MemoryError:
        reason = f"needs more than {memory >> 20} MB of memory; the file is too large or malicious"
    except Exception as error:  # noqa: BLE001 - any error is reported to the parent
        reason = f"could not be read ({type(error).__name__}: {error})"
    return json.dumps({"error": reason}).encode()


def _expire(seconds: float) -> None:
    """End this process after this time, in case the parent is gone; 0 for never."""
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _limit(memory: int) -> None:
    """Limit memory, and forbid writing files and core dumps."""
    if sys.platform == "win32":
        return  # Windows has no such limits; the time limit still applies
    import resource

    for limit, value in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_CORE, 0)):
        _, hard = resource.getrlimit(limit)
        if hard == resource.RLIM_INFINITY or value < hard:
            resource.setrlimit(limit, (value, value))


class _Starting:
    """Marks the start of another limited process, the only program that one may start."""

    active = False

    def __enter__(self) -> None:
        _Starting.active = True

    def __exit__(self, *_: object) -> None:
        _Starting.active = False


_FORBIDDEN = ("socket.connect", "socket.bind", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto")
_PROGRAMS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty", "os.startfile")


def _forbid(event: str, _: tuple[object, ...]) -> None:
    """An audit hook against network connections and other programs; it cannot be removed again."""
    if event in _FORBIDDEN or (event in _PROGRAMS and not _Starting.active):
        raise PermissionError(f"a reader may not do this: {event}")
