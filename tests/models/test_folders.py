"""Encoders in folders: foreign models, `encoder.json`, and what is said of broken ones."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.fakes import word_table_folder
from whycite.errors import UserError
from whycite.models.encoders import OnnxEncoder
from whycite.models.folders import ModelFolder, ModelSettings


def test_without_encoder_json(tmp_path: Path) -> None:
    encoder = OnnxEncoder(word_table_folder(tmp_path / "tiny"), 1)
    assert encoder.name.startswith("tiny@")
    assert encoder.dimensions == 5
    np.testing.assert_array_equal(encoder.encode(["cells divide", "divide"]), np.eye(5)[[1, 2]])


def test_mean_of_the_tokens(tmp_path: Path) -> None:
    encoder = OnnxEncoder(word_table_folder(tmp_path / "tiny", {"pooling": "mean"}), 1)
    np.testing.assert_allclose(encoder.encode(["cells divide"])[0], [0, 0.5**0.5, 0.5**0.5, 0, 0], rtol=1e-6)


def test_model_that_pools_itself_but_gives_no_unit_vectors(tmp_path: Path) -> None:
    found = OnnxEncoder(word_table_folder(tmp_path / "tiny", pooled=True), 1).encode(["cells", "stars shine"])
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, rtol=1e-6)
    assert found[1].tolist().count(0) == 3


def test_masks_are_filled_in(tmp_path: Path) -> None:
    encoder = OnnxEncoder(word_table_folder(tmp_path / "tiny", inputs=("attention_mask", "token_type_ids")), 1)
    np.testing.assert_array_equal(encoder.encode(["stars"])[0], np.eye(5)[3])


def test_prefix_and_cut(tmp_path: Path) -> None:
    made = word_table_folder(
        tmp_path / "tiny", {"name": "mine", "pooling": "mean", "max_tokens": 3, "prefix": "stars "}
    )
    encoder = OnnxEncoder(made, 1)
    np.testing.assert_array_equal(encoder.encode(["cells divide shine"]), encoder.encode(["cells divide"]))
    assert encoder.encode(["cells"])[0][3] > 0
    assert encoder.name.startswith("mine@")


def test_texts_without_any_token(tmp_path: Path) -> None:
    with_pieces = OnnxEncoder(word_table_folder(tmp_path / "tiny", {"pooling": "mean"}), 1).encode(["", "cells"])
    assert with_pieces[0].tolist() == [0] * 5
    assert with_pieces[1].tolist() == [0, 1, 0, 0, 0]


def test_version_follows_the_content(tmp_path: Path) -> None:
    made = word_table_folder(tmp_path / "tiny", {"prefix": ""})
    first = OnnxEncoder(made, 1).name
    assert OnnxEncoder(made, 1).name == first
    ModelSettings("tiny", prefix="query: ").write(made)
    second = OnnxEncoder(made, 1).name
    with (made / "tokenizer.json").open("a") as file:
        file.write(" ")
    assert len({first, second, OnnxEncoder(made, 1).name}) == 3


def test_other_files_than_encoder_json_says(tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match=r"holds version [0-9a-f]{8} of 'tiny', but encoder\.json says 12345678: copy the folder again"
    ):
        OnnxEncoder(word_table_folder(tmp_path / "tiny", {"version": "12345678"}), 1)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_missing_file(tmp_path: Path, name: str) -> None:
    made = word_table_folder(tmp_path / "tiny")
    (made / name).unlink()
    with pytest.raises(UserError, match=f"has no {name}"):
        OnnxEncoder(made, 1)


@pytest.mark.parametrize(
    ("name", "said"), [("model.onnx", "not a model that can be run"), ("tokenizer.json", "not a readable tokenizer")]
)
def test_broken_file(tmp_path: Path, name: str, said: str) -> None:
    made = word_table_folder(tmp_path / "tiny")
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
def test_mistakes_in_encoder_json(tmp_path: Path, facts: Any, said: str) -> None:
    with pytest.raises(UserError, match=said):
        OnnxEncoder(word_table_folder(tmp_path / "tiny", facts), 1)


def test_encoder_json_that_is_not_json(tmp_path: Path) -> None:
    made = word_table_folder(tmp_path / "tiny")
    (made / "encoder.json").write_text("{")
    with pytest.raises(UserError, match="is not JSON"):
        _ = ModelFolder(made).settings


def test_wrong_dimensions(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="gives vectors of 5 numbers: correct 'dimensions', 7"):
        OnnxEncoder(word_table_folder(tmp_path / "tiny", {"dimensions": 7}), 1).encode(["cells"])


def test_unknown_inputs(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="takes input_ids, pixels: an encoder takes"):
        OnnxEncoder(word_table_folder(tmp_path / "tiny", inputs=("pixels",)), 1).encode(["cells"])


def test_facts_written_are_facts_read(tmp_path: Path) -> None:
    made = word_table_folder(tmp_path / "tiny")
    facts = ModelSettings("mine", "", 5, 64, "mean", "é: ")
    facts.write(made)
    assert ModelFolder(made).settings == facts
