"""Vectors of words from a file or an encoder, and models that are kept and read again."""

import json
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

from whycite.errors import UserError
from whycite.evaluation.passages.comparisons import Comparison
from whycite.training.bases import Base
from whycite.training.passages import storing, vectors
from whycite.training.passages.fitting import train
from whycite.training.passages.recipe import Recipe
from whycite.training.passages.vectors import PADDING, Lexicon, of_encoder, of_file


def _glove(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_words_of_a_file(tmp_path: Path) -> None:
    file = _glove(tmp_path / "glove.txt", "the 1 2\nbee 3 4\n. . . 5 6\nthe 7 8\nBee 9 10\n")
    lexicon = of_file(file, ["The bee"])
    assert lexicon.ids("The bee Bee wasp", 9) == [1, 2, 3, PADDING]
    assert lexicon.vectors.tolist() == [[0, 0], [1, 2], [3, 4], [9, 10]]
    assert lexicon.ids("", 9) == [PADDING]
    assert len(lexicon.ids("bee " * 50, 7)) == 7


def test_rare_words_are_kept_where_the_texts_have_them(tmp_path: Path) -> None:
    file = _glove(tmp_path / "glove.txt", "2 2\nthe 1 2\nwasp 3 4\nbee 5 6\n")  # as word2vec writes it
    with mock.patch.object(vectors, "_KEPT", 2):
        assert dict(of_file(file, ["A Bee"]).numbers) == {"the": 1, "bee": 2}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no vectors of words"),
        ("the a b\n", "no vectors of words"),
        ("the 1 2\nbee 1\n", "line 2: not a word and 2"),
    ],
    ids=["empty", "words", "short"],
)
def test_files_without_vectors(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        of_file(_glove(tmp_path / "glove.txt", text), [])


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read"):
        of_file(tmp_path / "nowhere.txt", [])


def test_tokens_of_an_encoder(base: Callable[..., Base]) -> None:
    with mock.patch.object(vectors, "load_base", return_value=base()):
        full, fewer = of_encoder("tiny", 32), of_encoder("tiny", 5)
    assert full.vectors.shape == (201, 32)
    assert fewer.vectors.shape == (201, 5)
    assert fewer.ids("w4 w5", 9) == [5, 6]
    assert not fewer.vectors[PADDING].any()
    spread = fewer.vectors[1:].std(axis=0)
    assert (np.diff(spread) <= 1e-6).all()  # the axes with most of the differences, in order


def test_a_model_is_kept_and_read_again(
    tmp_path: Path, comparisons: Callable[..., list[Comparison]], lexicon: Lexicon
) -> None:
    recipe = Recipe(model="document-attention", words=12, hidden=4, epochs=1)
    trained = train(comparisons(4, 1), comparisons(4, 2), lexicon, recipe)
    folder = tmp_path / "model"
    storing.save(folder, trained.model, {"pairs": "hard"}, trained.measured, {"dev": trained.accuracy})
    again = storing.load(folder)
    asked = ("show ants", ["ants grow", "bees grow slowly"])
    assert again.recipe == recipe
    np.testing.assert_allclose(again(*asked), trained.model(*asked), atol=1e-3)  # vectors are kept in 16 bits
    np.testing.assert_allclose(storing.load(folder, again.lexicon)(*asked), again(*asked))
    card = (folder / "README.md").read_text("utf-8")
    assert "document-attention" in card
    assert f"| dev | {trained.accuracy:.4f} |" in card


def test_folders_without_a_model(
    tmp_path: Path, comparisons: Callable[..., list[Comparison]], lexicon: Lexicon
) -> None:
    with pytest.raises(UserError, match="holds no model of passages: make one with 'whycite train passages'"):
        storing.load(tmp_path)
    trained = train(comparisons(2, 1), comparisons(2, 2), lexicon, Recipe(words=12, hidden=4, epochs=1))
    storing.save(tmp_path, trained.model, {}, trained.measured, {})
    config = json.loads((tmp_path / "passages.json").read_text("utf-8"))
    (tmp_path / "passages.json").write_text(json.dumps(config | {"recipe": config["recipe"] | {"hidden": 6}}), "utf-8")
    with pytest.raises(UserError, match="holds no whole model of passages"):
        storing.load(tmp_path)
    config["words"] |= {"encoder": True, "version": "other"}
    (tmp_path / "passages.json").write_text(json.dumps(config), "utf-8")
    with (
        mock.patch.object(storing, "of_encoder", return_value=lexicon),
        pytest.raises(UserError, match="not the one it was trained with"),
    ):
        storing.load(tmp_path)
    (tmp_path / "passages.json").write_text("{", "utf-8")
    with pytest.raises(UserError, match="cannot be read"):
        storing.load(tmp_path)
