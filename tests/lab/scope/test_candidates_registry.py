"""The recommenders by name."""

import pytest

from tests.lab.toys import make_lessons
from whycite.errors import UserError
from whycite.lab.scope.candidates import DEFAULT_RECOMMENDER, DraftPart, load_recommender, recommender_names


def test_all_are_there_and_local_retrieval_is_the_default() -> None:
    ours = {"random", "most-popular", "co-occurrence", "accumulated-bm25", "local-bm25"}
    assert ours | {"aae-none", "aae-title", "aae-section", "aae-section-title"} <= set(recommender_names())
    assert DEFAULT_RECOMMENDER == "local-bm25"
    for name in sorted(ours):
        made = load_recommender(name, make_lessons())
        assert made.name == name
        assert isinstance(made.recommend(DraftPart(text="bees")), list)


def test_an_unknown_one() -> None:
    with pytest.raises(UserError, match=r"unknown recommender 'nothing'; choose one of: .*most-popular"):
        load_recommender("nothing", make_lessons())
