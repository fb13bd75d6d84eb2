"""Which texts are encoded together."""

from hypothesis import given
from hypothesis import strategies as st

from whycite.encoders.batches import TOKENS, batches


@given(st.lists(st.integers(0, 400)))
def test_every_text_once_equally_long_and_not_too_many(lengths: list[int]) -> None:
    made = list(batches(lengths))
    assert sorted(index for batch in made for index in batch) == list(range(len(lengths)))
    for batch in made:
        assert len({lengths[index] for index in batch}) == 1
        assert len(batch) == 1 or sum(lengths[index] for index in batch) <= max(TOKENS, len(batch))
