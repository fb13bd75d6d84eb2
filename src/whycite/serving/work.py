"""Work for many people on few cores: so much at once, so much waiting, and beyond that an honest no."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from whycite.serving.problems import Problem

__all__ = ["Work"]

P = ParamSpec("P")
T = TypeVar("T")
_AGAIN = 2  # seconds after which it is worth asking again


class Work:
    """Runs functions on a few threads; what does not fit in the queue is refused, what takes too long is given up."""

    def __init__(self, threads: int, waiting: int, seconds: float) -> None:
        self._pool = ThreadPoolExecutor(threads, "whycite-work")
        self._most, self._seconds = threads + waiting, seconds
        self._held = 0

    async def do(self, function: Callable[P, T], /, *args: P.args, **options: P.kwargs) -> T:
        """What the function returns."""
        if self._held >= self._most:
            raise Problem(503, "Too many are asking at once: try again in a moment.", {"retry-after": str(_AGAIN)})
        loop = asyncio.get_running_loop()
        self._held += 1
        running = self._pool.submit(function, *args, **options)
        # Counted until it is over, also when nobody waits for it any more: a thread cannot be stopped.
        running.add_done_callback(lambda _: loop.call_soon_threadsafe(self._done))
        try:
            return await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(running)), self._seconds)
        except TimeoutError:
            running.cancel()
            raise Problem(504, f"This took longer than {self._seconds:.0f} seconds: ask for less at once.") from None

    def close(self) -> None:
        """Take no more work, and wait for none."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _done(self) -> None:
        self._held -= 1
