"""Vectors of words from a file or an encoder, and models that are kept and read again."""

import json
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
import torch

from tests.fakes import tiny_base
from tests.lab.toys import make_comparisons, toy_lexicon
from whycite.errors import UserError
from whycite.lab.thesis import modelstore, networks
from whycite.lab.thesis.networks import PADDING, PassageRecipe, encoder_word_vectors, read_word_vectors
from whycite.lab.thesis.training import train


def _glove(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_words_of_a_file(tmp_path: Path) -> None:
    file = _glove(tmp_path / "glove.txt", "the 1 2\nbee 3 4\n. . . 5 6\nthe 7 8\nBee 9 10\n")
    lexicon = read_word_vectors(file, ["The bee"])
    assert lexicon.ids("The bee Bee wasp", 9) == [1, 2, 3, PADDING]
    assert lexicon.vectors.tolist() == [[0, 0], [1, 2], [3, 4], [9, 10]]
    assert lexicon.ids("", 9) == [PADDING]
    assert len(lexicon.ids("bee " * 50, 7)) == 7


def test_rare_words_are_kept_where_the_texts_have_them(tmp_path: Path) -> None:
    file = _glove(tmp_path / "glove.txt", "2 2\nthe 1 2\nwasp 3 4\nbee 5 6\n")  # as word2vec writes it
    with mock.patch.object(networks, "_FREQUENT_WORDS", 2):
        assert dict(read_word_vectors(file, ["A Bee"]).numbers) == {"the": 1, "bee": 2}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a file of word vectors"),
        ("the a b\n", "not a file of word vectors"),
        ("the 1 2\nbee 1\n", ":2: expected a word and 2"),
    ],
    ids=["empty", "words", "short"],
)
def test_files_without_vectors(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        read_word_vectors(_glove(tmp_path / "glove.txt", text), [])


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read"):
        read_word_vectors(tmp_path / "nowhere.txt", [])


def test_tokens_of_an_encoder() -> None:
    with mock.patch.object(networks, "load_base", return_value=tiny_base()):
        full, fewer = encoder_word_vectors("tiny", 32), encoder_word_vectors("tiny", 5)
    assert full.vectors.shape == (201, 32)
    assert fewer.vectors.shape == (201, 5)
    assert fewer.ids("w4 w5", 9) == [5, 6]
    assert not fewer.vectors[PADDING].any()
    spread = fewer.vectors[1:].std(axis=0)
    assert (np.diff(spread) <= 1e-6).all()  # the axes with most of the differences, in order


def test_a_model_is_kept_and_read_again(tmp_path: Path) -> None:
    recipe = PassageRecipe(model="document-attention", words=12, hidden=4, epochs=1)
    trained = train(make_comparisons(4, 1), make_comparisons(4, 2), toy_lexicon(), recipe)
    folder = tmp_path / "model"
    modelstore.save(folder, trained.model, {"pairs": "hard"}, trained.measured, {"dev": trained.accuracy})
    again = modelstore.load(folder)
    asked = ("show ants", ["ants grow", "bees grow slowly"])
    assert again.recipe == recipe
    np.testing.assert_allclose(again(*asked), trained.model(*asked), atol=1e-3)  # vectors are kept in 16 bits
    np.testing.assert_allclose(modelstore.load(folder, again.lexicon)(*asked), again(*asked))
    card = (folder / "README.md").read_text("utf-8")
    assert "document-attention" in card
    assert f"| dev | {trained.accuracy:.4f} |" in card


def test_folders_without_a_model(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not a model of passages; train one with `whycite train passages`"):
        modelstore.load(tmp_path)
    trained = train(
        make_comparisons(2, 1), make_comparisons(2, 2), toy_lexicon(), PassageRecipe(words=12, hidden=4, epochs=1)
    )
    modelstore.save(tmp_path, trained.model, {}, trained.measured, {})
    config = json.loads((tmp_path / "passages.json").read_text("utf-8"))
    (tmp_path / "passages.json").write_text(json.dumps(config | {"recipe": config["recipe"] | {"hidden": 6}}), "utf-8")
    with pytest.raises(UserError, match="incomplete model of passages"):
        modelstore.load(tmp_path)
    config["words"] |= {"encoder": True, "version": "other"}
    (tmp_path / "passages.json").write_text(json.dumps(config), "utf-8")
    with (
        mock.patch.object(modelstore, "encoder_word_vectors", return_value=toy_lexicon()),
        pytest.raises(UserError, match="not the one the model was trained with"),
    ):
        modelstore.load(tmp_path)
    (tmp_path / "passages.json").write_text("{", "utf-8")
    with pytest.raises(UserError, match="cannot be read"):
        modelstore.load(tmp_path)


def test_weights_that_could_run_code_are_not_opened(tmp_path: Path) -> None:
    trained = train(
        make_comparisons(2, 1), make_comparisons(2, 2), toy_lexicon(), PassageRecipe(words=12, hidden=4, epochs=1)
    )
    modelstore.save(tmp_path, trained.model, {}, trained.measured, {})
    weights = tmp_path / "weights.npz"
    torch.save(trained.model.network.learned_weights(), weights)
    with pytest.raises(UserError, match="incomplete model of passages"):
        modelstore.load(tmp_path)
    np.savez(weights, bias=np.array([object()]))
    with pytest.raises(UserError, match="incomplete model of passages"):
        modelstore.load(tmp_path)
    weights.write_bytes(weights.read_bytes()[:100])
    with pytest.raises(UserError, match="incomplete model of passages"):
        modelstore.load(tmp_path)
