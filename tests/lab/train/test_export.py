"""From the folder of a Hugging Face model to one that `load` takes."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

from whycite.errors import MissingExtra, UserError
from whycite.lab.train.export import export
from whycite.models import load_encoder
from whycite.models.folders import ModelSettings, Pooling

TINY = {
    "vocab_size": 40,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "max_position_embeddings": 34,
    "initializer_range": 0.3,
}
TEXTS = ["w4 w5 w6", "w7", "w9 w8 w4 w30 w31 w32 w33", "w4 w5 w6 w7"]


def folder(path: Path, kind: str) -> Path:
    """A model with random weights."""
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    torch.manual_seed(0)
    config = transformers.AutoConfig.for_model(kind, **TINY)
    transformers.AutoModel.from_config(config).save_pretrained(path)
    words = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, **{f"w{n}": n for n in range(4, 40)}}
    tokenizer = Tokenizer(WordLevel(words, unk_token="<unk>"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    tokenizer.save(str(path / "tokenizer.json"))
    return path


def by_transformers(path: Path, pooling: Pooling) -> Any:
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    model = transformers.AutoModel.from_pretrained(path).eval()
    tokenizer = Tokenizer.from_file(str(path / "tokenizer.json"))
    vectors = []
    for text in TEXTS:
        with torch.inference_mode():
            states = model(torch.tensor([tokenizer.encode(text).ids])).last_hidden_state[0]
        vector = states[0] if pooling == "cls" else states.mean(0)
        vectors.append(torch.nn.functional.normalize(vector, dim=0).numpy())
    return np.stack(vectors)


@pytest.mark.parametrize("kind", ["bert", "roberta"])
@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_same_vectors_as_transformers(tmp_path: Path, kind: str, pooling: Pooling) -> None:
    source = folder(tmp_path / "source", kind)
    made = export(source, tmp_path / "mine", pooling=pooling)
    encoder = load_encoder(tmp_path / "mine", threads=1)
    assert encoder.name == f"mine@{made.version}"
    assert encoder.dimensions == 32
    found, wanted = encoder.encode(TEXTS), by_transformers(source, pooling)
    assert (found * wanted).sum(1).min() > 0.998


def test_facts(tmp_path: Path) -> None:
    source = folder(tmp_path / "source", "roberta")
    made = export(source, tmp_path / "out", name="mine", prefix="claim: ")
    assert made == ModelSettings(
        "mine", made.version, 32, 32, "cls", "claim: "
    )  # 34 positions, two of which have no token
    assert export(source, tmp_path / "again", name="mine", prefix="claim: ") == made
    assert load_encoder(tmp_path / "out").encode(["w4 " * 100]).shape == (1, 32)


@pytest.mark.parametrize(
    ("config", "said"),
    [({"model_type": "t5"}, "is a 't5'"), ({"model_type": "bert", "hidden_act": "relu"}, "uses 'relu'")],
    ids=["kind", "activation"],
)
def test_models_that_cannot_be_exported(tmp_path: Path, config: dict[str, str], said: str) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(UserError, match=f"{said}; what can be exported is"):
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
