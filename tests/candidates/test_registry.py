"""The recommenders by name."""

from collections.abc import Callable

import pytest

from whycite.candidates import DEFAULT, Lessons, Part, recommender, recommenders
from whycite.errors import UserError


def test_all_are_there_and_local_retrieval_is_the_default(lessons: Callable[..., Lessons]) -> None:
    ours = {"random", "most-popular", "co-occurrence", "accumulated-bm25", "local-bm25"}
    assert ours | {"aae-none", "aae-title", "aae-section", "aae-section-title"} <= set(recommenders())
    assert DEFAULT == "local-bm25"
    for name in sorted(ours):
        made = recommender(name, lessons())
        assert made.name == name
        assert isinstance(made.recommend(Part(text="bees")), list)


def test_an_unknown_one(lessons: Callable[..., Lessons]) -> None:
    with pytest.raises(UserError, match=r"no recommender of candidates 'nothing'; there are: .*most-popular"):
        recommender("nothing", lessons())
