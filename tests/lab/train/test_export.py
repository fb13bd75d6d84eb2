"""From the folder of a Hugging Face model to one that `load` takes."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.fakes import tiny_entailment_network, tiny_folder, transformers_vectors, word_tokenizer
from whycite.errors import MissingExtra, UserError
from whycite.lab.train.export import export, export_judgements
from whycite.models import load_encoder
from whycite.models.folders import ModelSettings, Pooling
from whycite.models.pairs import load_entailment

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


def test_same_judgements_as_transformers(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from whycite.lab.train.entailment import PairEncoder, predict

    tokenizer = word_tokenizer([f"w{number}" for number in range(4, 40)])
    network = tiny_entailment_network(tokenizer.get_vocab_size())
    with torch.no_grad():
        network.model.encoder.relative_attention_bias.weight.normal_(0, 2)
    made = export_judgements(network, tokenizer, tmp_path / "mine", name="mine", max_tokens=40)
    assert made == ModelSettings("mine", made.version, max_tokens=40)
    model = load_entailment(tmp_path / "mine", threads=1)
    assert model.name == f"mine@{made.version}"
    claims = ("w4 w5 w6", "w9 w8 w4")
    wanted = predict(network, PairEncoder(tokenizer, 40, 1), [(claim, text) for claim in claims for text in TEXTS])
    judged = np.concatenate([model.judge(claim, TEXTS) for claim in claims])
    assert wanted.std(0).min() > 0.1  # else they are close whatever the graph does
    np.testing.assert_allclose(judged, wanted, atol=0.1)


def test_a_pair_as_long_as_the_model_reads(tmp_path: Path) -> None:
    """Positions and distances that no pair has are left out, and no others."""
    pytest.importorskip("torch")
    from whycite.lab.train.entailment import PairEncoder, predict

    tokenizer = word_tokenizer([f"w{number}" for number in range(4, 40)])
    network = tiny_entailment_network(tokenizer.get_vocab_size())
    export_judgements(network, tokenizer, tmp_path, name="mine", max_tokens=24)
    pair = ("w4 " * 30, "w5 w6 " * 30)
    (wanted,) = predict(network, PairEncoder(tokenizer, 24, 1), [pair])
    np.testing.assert_allclose(load_entailment(tmp_path).judge(pair[0], [pair[1]])[0], wanted, atol=0.1)


def test_without_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "tokenizer.json").write_text("{}")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match=r"pip install 'whycite\[train\]'"):
        export(tmp_path, tmp_path / "out")
