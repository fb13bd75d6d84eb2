"""Titles as vectors."""

import math
from pathlib import Path

import numpy as np
import pytest

from tests.fakes import FakeEncoder
from whycite.errors import UserError
from whycite.lab.scope.autoencoder import learn_title_words, vectors_by, vectors_in


def _file(folder: Path, text: str) -> Path:
    path = folder / "vectors.txt"
    path.write_text(text, "utf-8")
    return path


def test_rarer_words_weigh_more(tmp_path: Path) -> None:
    path = _file(tmp_path, "bees 1 0\nsleep 0 1\nunused 5 5\n")
    words = learn_title_words(["Bees sleep", "Bees dance", "Bees"], vectors_in(path))
    assert words.words == ("bees", "sleep")
    common, rare = math.log(4 / 4) + 1, math.log(4 / 2) + 1
    length = math.hypot(common, rare)
    np.testing.assert_allclose(words.vector("The SLEEP of bees"), [common / length, rare / length], rtol=1e-6)
    np.testing.assert_array_equal(words.vector("nothing known"), [0, 0])
    np.testing.assert_allclose(words.vector("bees bees"), [1, 0])


def test_a_line_of_counts_comes_first(tmp_path: Path) -> None:
    words = learn_title_words(["bees"], vectors_in(_file(tmp_path, "2 3\nbees 1 2 3\n\nsleep 4 5 6\n")))
    assert words.dimensions == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bees 1 x\n", ":1: expected a word and numbers"),
        ("other 1 2\nbees 1 2 3\n", ":2: 3 numbers, but other words have 2"),
        ("other 1 2\n", "no word in the titles has a vector"),
    ],
    ids=["no number", "another length", "no word"],
)
def test_files_that_are_none(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        learn_title_words(["bees"], vectors_in(_file(tmp_path, text)))


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="No such file"):
        learn_title_words(["bees"], vectors_in(tmp_path / "nowhere"))


def test_by_an_encoder() -> None:
    words = learn_title_words(["bees sleep"], vectors_by(FakeEncoder(lambda text: (len(text), 1))))
    np.testing.assert_allclose(words.vectors, [[4, 1], [5, 1]])
