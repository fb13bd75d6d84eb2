"""SCOPE's input variants as token sequences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whycite.check.detector import VARIANTS, SequenceFrame, find_variant, readings, segments
from whycite.errors import UserError

CLS, SEP, SEC = 0, 2, 9
FRAME = SequenceFrame(CLS, SEP, 512)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("ctx", [[CLS, 11, 12, SEP, 21, SEP]]),
        ("ctx-section-extra", [[CLS, SEC, SEP, 11, 12, SEP, 21, SEP]]),
        ("ctx-section-first", [[CLS, SEC, 11, 12, SEP, 21, SEP]]),
        ("ctx-section-always", [[CLS, SEC, 11, 12, SEP, SEC, 21, SEP]]),
        ("solo", [[CLS, 11, 12, SEP], [CLS, 21, SEP]]),
        ("solo-section-extra", [[CLS, SEC, SEP, 11, 12, SEP], [CLS, SEC, SEP, 21, SEP]]),
        ("solo-section-firstalways", [[CLS, SEC, 11, 12, SEP], [CLS, SEC, 21, SEP]]),
    ],
)
def test_as_published(name: str, wanted: list[list[int]]) -> None:
    found = list(readings([[11, 12], [21]], [SEC], find_variant(name), FRAME))
    assert [list(each.tokens) for each in found] == wanted
    own = {index: each.tokens[start:stop] for each in found for index, start, stop in each.sentences}
    assert own == {0: (11, 12), 1: (21,)}
    assert all(each.tokens[stop] == SEP for each in found for _, _, stop in each.sentences)


def test_seven() -> None:
    assert len({each.name for each in VARIANTS}) == 7


def test_unknown() -> None:
    with pytest.raises(UserError, match="ctx-section-extra"):
        find_variant("context")


def test_solo_reads_one() -> None:
    with pytest.raises(ValueError, match="one sentence"):
        segments(find_variant("solo"), [0, 1])


def test_no_room() -> None:
    with pytest.raises(ValueError, match="no room"):
        list(readings([[1]], [SEC] * 20, find_variant("ctx-section-extra"), SequenceFrame(CLS, SEP, 10)))


@given(
    st.lists(st.integers(0, 90), max_size=30),
    st.integers(0, 60),
    st.sampled_from(VARIANTS),
    st.integers(64, 200),
)
def test_every_sentence_once_and_none_too_long(lengths: list[int], section: int, kind: object, limit: int) -> None:
    sentences = [[100 + at] * length for at, length in enumerate(lengths)]
    made = list(readings(sentences, [SEC] * section, kind, SequenceFrame(CLS, SEP, limit)))  # type: ignore[arg-type]
    assert all(len(each.tokens) <= limit for each in made)
    judged = [index for each in made for index, _, _ in each.sentences]
    assert sorted(judged) == list(range(len(lengths)))
    for each in made:
        for index, start, stop in each.sentences:
            own = list(each.tokens[start:stop])
            assert own == sentences[index][: len(own)]
            assert each.tokens[stop] == SEP
