"""Work on a stream of things: on several threads, in order, each answer as soon as it is there."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from threading import Semaphore, Thread
from typing import TypeVar

__all__ = ["in_order"]

T = TypeVar("T")
R = TypeVar("R")

_AHEAD = 4  # things a thread may have waiting


class _End:
    """No more things come, because of an error or not."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error


def in_order(things: Iterable[T], work: Callable[[T], R], threads: int) -> Iterator[R]:
    """The results in the order of the things; those before a thing that fails come before its error.

    Things are waited for apart from results: who writes one and waits for its answer before the next gets it.
    """
    events: SimpleQueue[T | Future[R] | _End] = SimpleQueue()
    room = Semaphore(threads * _AHEAD)
    pool = ThreadPoolExecutor(threads)
    # A daemon: a wait for standard input cannot be ended, and must not keep the program from ending.
    Thread(target=_feed, args=(things, events, room), daemon=True).start()
    pending: deque[Future[R]] = deque()
    end: _End | None = None
    try:
        while end is None or pending:
            event = events.get()
            if isinstance(event, _End):
                end = event
            elif not isinstance(event, Future):
                pending.append(pool.submit(work, event))
                pending[-1].add_done_callback(events.put)
            while pending and pending[0].done():
                room.release()
                yield pending.popleft().result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    if end.error is not None:
        raise end.error


def _feed(things: Iterable[T], events: SimpleQueue[T | Future[R] | _End], room: Semaphore) -> None:
    try:
        for thing in things:
            room.acquire()
            events.put(thing)
        events.put(_End())
    except Exception as error:  # noqa: BLE001 - whoever waits for more would wait forever
        events.put(_End(error))
