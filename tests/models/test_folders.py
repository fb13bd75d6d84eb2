"""Encoders in folders: foreign models, `encoder.json`, and what is said of broken ones."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from whycite.errors import UserError
from whycite.models.encoders import OnnxEncoder
from whycite.models.folders import ModelFolder, ModelSettings

Make = Callable[..., Path]


def test_without_encoder_json(folder: Make) -> None:
    encoder = OnnxEncoder(folder(), 1)
    assert encoder.name.startswith("tiny@")
    assert encoder.dimensions == 5
    np.testing.assert_array_equal(encoder.encode(["cells divide", "divide"]), np.eye(5)[[1, 2]])


def test_mean_of_the_tokens(folder: Make) -> None:
    encoder = OnnxEncoder(folder({"pooling": "mean"}), 1)
    np.testing.assert_allclose(encoder.encode(["cells divide"])[0], [0, 0.5**0.5, 0.5**0.5, 0, 0], rtol=1e-6)


def test_model_that_pools_itself_but_gives_no_unit_vectors(folder: Make) -> None:
    found = OnnxEncoder(folder(pooled=True), 1).encode(["cells", "stars shine"])
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, rtol=1e-6)
    assert found[1].tolist().count(0) == 3


def test_masks_are_filled_in(folder: Make) -> None:
    encoder = OnnxEncoder(folder(inputs=("attention_mask", "token_type_ids")), 1)
    np.testing.assert_array_equal(encoder.encode(["stars"])[0], np.eye(5)[3])


def test_prefix_and_cut(folder: Make) -> None:
    made = folder({"name": "mine", "pooling": "mean", "max_tokens": 3, "prefix": "stars "})
    encoder = OnnxEncoder(made, 1)
    np.testing.assert_array_equal(encoder.encode(["cells divide shine"]), encoder.encode(["cells divide"]))
    assert encoder.encode(["cells"])[0][3] > 0
    assert encoder.name.startswith("mine@")


def test_texts_without_any_token(folder: Make) -> None:
    with_pieces = OnnxEncoder(folder({"pooling": "mean"}), 1).encode(["", "cells"])
    assert with_pieces[0].tolist() == [0] * 5
    assert with_pieces[1].tolist() == [0, 1, 0, 0, 0]


def test_version_follows_the_content(folder: Make) -> None:
    made = folder({"prefix": ""})
    first = OnnxEncoder(made, 1).name
    assert OnnxEncoder(made, 1).name == first
    ModelSettings("tiny", prefix="query: ").write(made)
    second = OnnxEncoder(made, 1).name
    with (made / "tokenizer.json").open("a") as file:
        file.write(" ")
    assert len({first, second, OnnxEncoder(made, 1).name}) == 3


def test_other_files_than_encoder_json_says(folder: Make) -> None:
    with pytest.raises(
        UserError, match=r"holds version [0-9a-f]{8} of 'tiny', but encoder\.json says 12345678: copy the folder again"
    ):
        OnnxEncoder(folder({"version": "12345678"}), 1)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_missing_file(folder: Make, name: str) -> None:
    made = folder()
    (made / name).unlink()
    with pytest.raises(UserError, match=f"has no {name}"):
        OnnxEncoder(made, 1)


@pytest.mark.parametrize(
    ("name", "said"), [("model.onnx", "not a model that can be run"), ("tokenizer.json", "not a readable tokenizer")]
)
def test_broken_file(folder: Make, name: str, said: str) -> None:
    made = folder()
    (made / name).write_text("broken")
    with pytest.raises(UserError, match=said):
        OnnxEncoder(made, 1).encode(["cells"])


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"pooling": "max"}, "'pooling' must be one of cls, mean, not 'max'"),
        ({"max_tokens": 0}, "must be 3 or more"),
        ({"name": None}, "must be text"),
        ({"max_tokens": "9"}, "must be a whole number"),
        ({"colour": "red"}, "unknown setting 'colour'"),
        ([], "not a JSON object"),
    ],
    ids=["pooling", "few tokens", "name", "type", "unknown", "list"],
)
def test_mistakes_in_encoder_json(folder: Make, facts: Any, said: str) -> None:
    with pytest.raises(UserError, match=said):
        OnnxEncoder(folder(facts), 1)


def test_encoder_json_that_is_not_json(folder: Make) -> None:
    made = folder()
    (made / "encoder.json").write_text("{")
    with pytest.raises(UserError, match="is not JSON"):
        _ = ModelFolder(made).settings


def test_wrong_dimensions(folder: Make) -> None:
    with pytest.raises(UserError, match="gives vectors of 5 numbers: correct 'dimensions', 7"):
        OnnxEncoder(folder({"dimensions": 7}), 1).encode(["cells"])


def test_unknown_inputs(folder: Make) -> None:
    with pytest.raises(UserError, match="takes input_ids, pixels: an encoder takes"):
        OnnxEncoder(folder(inputs=("pixels",)), 1).encode(["cells"])


def test_facts_written_are_facts_read(folder: Make) -> None:
    made = folder()
    facts = ModelSettings("mine", "", 5, 64, "mean", "é: ")
    facts.write(made)
    assert ModelFolder(made).settings == facts
