"""Evidence of many documents, on as many processes as asked for."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import chain, islice

from whycite.documents.model import Document
from whycite.errors import UserError
from whycite.evidence.spans import Span, extract

__all__ = ["extract_many"]

Found = Generator[tuple[Document, list[Span]], None, None]

_AHEAD = 4  # documents a process may have waiting
_FEW = 8  # documents for which it does not pay to start processes


def extract_many(documents: Iterable[Document], jobs: int = 1) -> Found:
    """Each document with its evidence spans, in order; the spans do not depend on the number of jobs.

    Whoever may stop before the end closes it: then the processes end.
    """
    if jobs < 1:
        raise UserError(f"jobs must be 1 or more, not {jobs}")
    return _spread(documents, jobs) if jobs > 1 else _here(documents)


def _here(documents: Iterable[Document]) -> Found:
    return ((document, extract(document)) for document in documents)


def _spread(documents: Iterable[Document], jobs: int) -> Found:
    rest = iter(documents)
    first = list(islice(rest, _FEW))
    if len(first) < _FEW:
        yield from _here(first)
    else:
        yield from _apart(chain(first, rest), jobs)


def _apart(documents: Iterable[Document], jobs: int) -> Found:
    # Spawned, not forked: a fork of a process with threads can hang.
    pool = ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), initializer=_serve)
    waiting: deque[tuple[Document, Future[list[Span]]]] = deque()
    try:
        for document in documents:
            with _uninterrupted():
                waiting.append((document, pool.submit(extract, document)))
            if len(waiting) >= jobs * _AHEAD:
                yield _next(waiting)
        while waiting:
            yield _next(waiting)
    finally:
        with _uninterrupted():  # a second Ctrl-C here would leave processes that are told nothing and waited for
            pool.shutdown(wait=True, cancel_futures=True)


def _next(waiting: deque[tuple[Document, Future[list[Span]]]]) -> tuple[Document, list[Span]]:
    document, future = waiting.popleft()
    try:
        return document, future.result()
    except BrokenProcessPool as error:
        raise UserError(f"{document.path}: a process that reads evidence was ended; try fewer jobs") from error


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Let Ctrl-C wait, for processes that are started here too: before they serve it would end them noisily."""
    came: list[int] = []
    alone = threading.current_thread() is threading.main_thread()  # which is the one that Ctrl-C stops
    handler = signal.signal(signal.SIGINT, lambda number, _: came.append(number)) if alone else None
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if hasattr(signal, "pthread_sigmask") else None
    try:
        yield
    finally:
        if mask is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if alone:
            signal.signal(signal.SIGINT, handler)
        if came:  # where another thread was told, it is no longer pending
            signal.raise_signal(signal.SIGINT)


def _serve() -> None:
    """Make this process one that serves another: Ctrl-C is not for it, and it ends when the other one does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()  # returns however the parent ended
        os._exit(1)
