"""Work for many people on few cores: so much at once, so much waiting, and beyond that an honest no."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Condition
from typing import Any, ParamSpec, TypeVar

from whycite.serving.problems import Problem

__all__ = ["Work"]

P = ParamSpec("P")
T = TypeVar("T")


class Work:
    """Runs functions on a few threads; what does not fit in the queue is refused, what takes too long is given up."""

    def __init__(self, threads: int, waiting: int, seconds: float = 60.0, again: int = 2) -> None:
        """`seconds`: that one may wait for an answer; `again`: after which it is worth asking once more."""
        self._pool = ThreadPoolExecutor(threads, "whycite-work")
        self._most, self._seconds, self._again = threads + waiting, seconds, again
        self._changed = Condition()
        self._held = 0
        self._closed = False

    async def do(self, function: Callable[P, T], /, *args: P.args, **options: P.kwargs) -> T:
        """What the function returns."""
        running = self.begin(lambda: function(*args, **options))
        try:
            return await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(running)), self._seconds)
        except TimeoutError:
            if running.done() and not running.cancelled():  # in the last moment; or the error is the function's own
                return running.result()
            running.cancel()
            raise Problem(504, f"This took longer than {self._seconds:.0f} seconds: ask for less at once.") from None
        except asyncio.CancelledError:
            if running.cancelled():  # not the one who asked, but the server stops
                raise self._refused("The server is being stopped.") from None
            raise

    def close(self, seconds: float = 0.0) -> bool:
        """Take no more work, and wait that long for what has begun; whether nothing is left."""
        with self._changed:
            self._closed = True
        self._pool.shutdown(wait=False, cancel_futures=True)
        return self.rest(seconds)

    def rest(self, seconds: float) -> bool:
        """Wait until nobody waits for anything, at most so long; whether it is so."""
        with self._changed:
            return self._changed.wait_for(lambda: self._held == 0, seconds)

    def begin(self, function: Callable[[], T]) -> Future[T]:
        """Queue a function that nobody waits for."""
        with self._changed:
            if self._closed:
                raise self._refused("The server is being stopped.")
            if self._held >= self._most:
                raise self._refused("Too many are asking at once: try again in a moment.")
            self._held += 1
            running = self._pool.submit(function)
        # Counted until it is over, also when nobody waits for it any more: a thread cannot be stopped.
        running.add_done_callback(self._done)
        return running

    def _done(self, _: Future[Any]) -> None:
        with self._changed:
            self._held -= 1
            self._changed.notify_all()

    def _refused(self, why: str) -> Problem:
        return Problem(503, why, {"retry-after": str(self._again)})
