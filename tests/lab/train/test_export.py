"""From the folder of a Hugging Face model to one that `load` takes."""

import json
import sys
from pathlib import Path

import pytest

from tests.fakes import tiny_folder, transformers_vectors
from whycite.errors import MissingExtra, UserError
from whycite.lab.train.export import export
from whycite.models import load_encoder
from whycite.models.folders import ModelSettings, Pooling

TEXTS = ["w4 w5 w6", "w7", "w9 w8 w4 w30 w31 w32 w33", "w4 w5 w6 w7"]


@pytest.mark.parametrize("kind", ["bert", "roberta"])
@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_same_vectors_as_transformers(tmp_path: Path, kind: str, pooling: Pooling) -> None:
    source = tiny_folder(tmp_path / "source", kind)
    made = export(source, tmp_path / "mine", pooling=pooling)
    encoder = load_encoder(tmp_path / "mine", threads=1)
    assert encoder.name == f"mine@{made.version}"
    assert encoder.dimensions == 32
    found, wanted = encoder.encode(TEXTS), transformers_vectors(source, TEXTS, pooling)
    assert (found * wanted).sum(1).min() > 0.998


def test_facts(tmp_path: Path) -> None:
    source = tiny_folder(tmp_path / "source", "roberta")
    made = export(source, tmp_path / "out", name="mine", prefix="claim: ")
    assert made == ModelSettings(
        "mine", made.version, 32, 32, "cls", "claim: "
    )  # 34 positions, two of which have no token
    assert export(source, tmp_path / "again", name="mine", prefix="claim: ") == made
    assert load_encoder(tmp_path / "out").encode(["w4 " * 100]).shape == (1, 32)


@pytest.mark.parametrize(
    ("config", "said"),
    [({"model_type": "t5"}, "is a 't5' model"), ({"model_type": "bert", "hidden_act": "relu"}, "uses 'relu'")],
    ids=["kind", "activation"],
)
def test_models_that_cannot_be_exported(tmp_path: Path, config: dict[str, str], said: str) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(UserError, match=f"{said}; can export only"):
        export(tmp_path, tmp_path / "out")


def test_no_model_in_the_folder(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not the folder of a Hugging Face model"):
        export(tmp_path, tmp_path / "out")


def test_without_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "tokenizer.json").write_text("{}")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match=r"pip install 'whycite\[train\]'"):
        export(tmp_path, tmp_path / "out")
