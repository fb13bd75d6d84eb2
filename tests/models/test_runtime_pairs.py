"""A claim and a text side by side: what is cut off, and what an output depends on."""

from pathlib import Path

import numpy as np
import pytest

from tests.fakes import tiny_entailment
from whycite.errors import UserError
from whycite.models.pairs import EntailmentModel, OnnxEntailment, load_entailment
from whycite.models.runtime import side_by_side

CLAIM = "cells divide in the cortex"
TEXTS = ["cells divide", "stars burn", "cells in the cortex\ndivide", "", "cells " * 400]
WORDS = "cells divide in the cortex stars burn"
START, END = 0, 2


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("torch", reason="tiny models need the extra train")
    return tiny_entailment(tmp_path_factory.mktemp("entailment"), WORDS)


@pytest.mark.parametrize(
    ("claim", "text", "joined"),
    [
        ([5, 6], [7, 8], [START, 5, 6, END, 7, 8, END]),
        ([5, 6], [7, 8, 9, 10, 11], [START, 5, 6, END, 7, 8, 9, END]),
        ([5, 6, 7, 8, 9, 10], [11], [START, 5, 6, 7, 8, END, 11, END]),
        ([5, 6, 7, 8, 9], [10, 11, 12, 13, 14], [START, 5, 6, END, 10, 11, 12, END]),
    ],
    ids=["both fit", "a long text", "a long claim", "both too long"],
)
def test_the_longer_one_is_cut_at_its_end(claim: list[int], text: list[int], joined: list[int]) -> None:
    assert side_by_side([START, *claim, END], [START, *text, END], 8) == joined


def test_an_output_depends_on_nothing_but_its_pair(folder: Path) -> None:
    one, two = load_entailment(folder, threads=1), load_entailment(folder, threads=2)
    together = one.judge(CLAIM, TEXTS)
    assert together.shape == (len(TEXTS), 4)
    np.testing.assert_array_equal(together, two.judge(CLAIM, TEXTS[::-1])[::-1])
    for text, row in zip(TEXTS, together, strict=True):
        np.testing.assert_array_equal(one.judge(CLAIM, [text])[0], row)
    assert len({*map(tuple, together.tolist())}) == len(TEXTS)


def test_claim_and_text_are_not_exchangeable(folder: Path) -> None:
    model = load_entailment(folder)
    assert model.judge("cells divide", ["stars burn"]).tolist() != model.judge("stars burn", ["cells divide"]).tolist()


def test_weights_of_four_bits_take_half_of_the_room(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="tiny models need the extra train")
    sizes = {"hidden_size": 256, "intermediate_size": 512, "num_attention_heads": 4}
    wide = tiny_entailment(tmp_path / "wide", WORDS, **sizes)
    packed = tiny_entailment(tmp_path / "packed", WORDS, bits=4, **sizes)
    weight = sum(file.stat().st_size for name in ("model.onnx", "weights.npz") for file in [packed / name])
    assert weight < 0.7 * (wide / "model.onnx").stat().st_size
    assert np.isfinite(load_entailment(packed).judge(CLAIM, TEXTS)).all()
    (packed / "weights.npz").write_bytes((packed / "weights.npz").read_bytes()[:-9])
    with pytest.raises(UserError, match="holds version"):
        OnnxEntailment(packed, 1).judge(CLAIM, TEXTS)


def test_nothing_to_judge(folder: Path) -> None:
    assert load_entailment(folder).judge(CLAIM, []).shape == (0, 4)


def test_half_characters_and_long_texts(folder: Path) -> None:
    rows = load_entailment(folder).judge("x\ud800 " * 5000, ["\udfff", "text " * 5000])
    assert np.isfinite(rows).all()


def test_tokens_are_counted_with_both_ends(folder: Path) -> None:
    model = OnnxEntailment(folder, 1)
    assert model.token_count("cells divide") == 4
    assert model.max_tokens == 48


def test_loaded_once_and_named_by_its_version(folder: Path) -> None:
    model: EntailmentModel = load_entailment(folder)
    assert model is load_entailment(folder)
    assert model.name.startswith("tiny@")


def test_a_folder_without_a_model(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(UserError, match=r"has no entailment\.json: this is not a complete entailment model folder"):
        load_entailment(tmp_path)
    with pytest.raises(UserError, match="there is no such entailment model folder"):
        load_entailment(tmp_path / "nowhere")
    with pytest.raises(UserError, match="threads must be 1 or more"):
        load_entailment(folder, threads=0)


def test_another_model_than_its_settings_name(tmp_path: Path, folder: Path) -> None:
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    with (tmp_path / "model.onnx").open("ab") as model:
        model.write(b"more")
    with pytest.raises(UserError, match=r"holds version [0-9a-f]{8} of 'tiny', but entailment\.json says"):
        load_entailment(tmp_path).judge(CLAIM, TEXTS)
