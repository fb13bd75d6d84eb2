"""Which texts are encoded together, and on which threads."""

from concurrent.futures import ThreadPoolExecutor
from threading import get_ident

from hypothesis import given
from hypothesis import strategies as st

from whycite.models.runtime import BATCH_TOKENS, batches, disable_threads, map_threaded


@given(st.lists(st.integers(0, 400)))
def test_every_text_once_equally_long_and_not_too_many(lengths: list[int]) -> None:
    made = list(batches(lengths))
    assert sorted(index for batch in made for index in batch) == list(range(len(lengths)))
    for batch in made:
        assert len({lengths[index] for index in batch}) == 1
        assert len(batch) == 1 or sum(lengths[index] for index in batch) <= max(BATCH_TOKENS, len(batch))


def test_work_is_shared_out_unless_it_is_kept() -> None:
    def here(threads: int) -> bool:
        return {*map_threaded(lambda _: get_ident(), range(8), threads)} == {get_ident()}

    assert here(1)
    assert not here(2)
    with ThreadPoolExecutor(1, initializer=disable_threads) as pool:
        assert pool.submit(here, 2).result()
    assert not here(2)
