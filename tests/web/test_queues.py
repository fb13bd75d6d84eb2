"""So much at once, so much waiting, and beyond that an honest no."""

import asyncio
import threading
from typing import Any

import pytest

from whycite.web.guard import Problem
from whycite.web.queues import WorkQueue


def test_what_a_function_returns_or_raises() -> None:
    async def ask() -> None:
        work = WorkQueue(1, 0)
        assert await work.run(divmod, 7, 2) == (3, 1)
        with pytest.raises(ZeroDivisionError):
            await work.run(divmod, 7, 0)
        assert await work.run(divmod, 7, 2) == (3, 1)
        work.close()

    asyncio.run(ask())


def test_more_than_fits_is_refused_and_says_when_to_come_again() -> None:
    async def ask() -> None:
        work = WorkQueue(1, 1)
        go = threading.Event()
        held = [asyncio.ensure_future(work.run(go.wait)) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(Problem) as refused:
            await work.run(go.wait)
        assert refused.value.status == 503
        assert int(refused.value.headers["retry-after"]) > 0
        go.set()
        assert await asyncio.gather(*held) == [True, True]
        assert work.wait_until_idle(60)
        assert await work.run(go.wait)
        work.close()

    asyncio.run(ask())


def test_what_takes_too_long_is_given_up_but_still_counts() -> None:
    async def ask() -> None:
        work = WorkQueue(1, 0, 0.05)
        go = threading.Event()
        with pytest.raises(Problem) as late:
            await work.run(go.wait)
        assert late.value.status == 504
        with pytest.raises(Problem) as refused:  # the thread is still at it
            await work.run(go.wait)
        assert refused.value.status == 503
        go.set()
        assert work.wait_until_idle(60)
        assert work.submit(go.wait).result(60)
        work.close()

    asyncio.run(ask())


def test_when_it_is_closed_nothing_begins_and_what_waits_is_told() -> None:
    async def ask() -> None:
        work = WorkQueue(1, 1)
        begun, go = threading.Event(), threading.Event()

        def wait() -> bool:
            begun.set()
            return go.wait()

        running, waiting = (asyncio.ensure_future(work.run(wait)) for _ in range(2))
        assert await asyncio.to_thread(begun.wait, 60)
        assert not work.close(0.01)
        with pytest.raises(Problem) as told:
            await waiting
        assert told.value.status == 503
        with pytest.raises(Problem) as refused:
            await work.run(go.wait)
        assert refused.value.status == 503
        go.set()
        assert await running
        assert work.close(60)

    asyncio.run(ask())


def test_a_function_that_times_out_itself_says_so() -> None:
    async def ask() -> None:
        work = WorkQueue(1, 0)

        def late() -> None:
            raise TimeoutError("its own")

        with pytest.raises(TimeoutError, match="its own"):
            await work.run(late)
        work.close()

    asyncio.run(ask())


def test_rest_is_when_nobody_waits() -> None:
    work = WorkQueue(1, 1)
    assert work.wait_until_idle(0)
    go = threading.Event()
    asked = [work.submit(go.wait) for _ in range(2)]
    assert not work.wait_until_idle(0.01)
    threading.Timer(0.05, go.set).start()
    assert work.wait_until_idle(60)
    assert all(each.done() for each in asked)
    work.close()


def test_what_is_done_in_the_last_moment_is_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    wait_for = asyncio.wait_for
    go = threading.Event()

    async def ask() -> None:
        work = WorkQueue(1, 0, 0.05)

        async def done_meanwhile(*args: Any) -> Any:
            try:
                return await wait_for(*args)
            except TimeoutError:
                go.set()
                assert work.wait_until_idle(60)
                raise

        monkeypatch.setattr(asyncio, "wait_for", done_meanwhile)
        assert await work.run(go.wait) is True
        work.close()

    asyncio.run(ask())
