"""The models that training begins with, and how one is kept."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer

from tests.fakes import MARKS, tiny_model, word_tokenizer
from whycite.errors import MissingExtra, UserError
from whycite.lab.train.bases import Base, load_base, save_base
from whycite.lab.train.export import export
from whycite.lab.train.quantisation import EncoderShape, build_graph
from whycite.models import DEFAULT, load_encoder
from whycite.models.folders import ModelSettings

torch = pytest.importorskip("torch", reason="training needs the extra train")
transformers = pytest.importorskip("transformers", reason="training needs the extra train")

TEXTS = ["w4 w5 w6", "w7", "w9 w8 w4 w30 w31 w32 w33", "w4 w5 w6 w7"]
SENTENCES = [
    "Neural stem cells divide asymmetrically in the developing cortex.",
    "Stars of low mass burn hydrogen for longer than the age of the universe.",
    "We use BM25 (Robertson and Zaragoza, 2009) to rank passages, and SciBERT to encode them.",
    "olfactory glomeruli",
]


def tiny(kind: str) -> tuple[Any, Tokenizer]:
    """A model with random weights and a tokenizer of a few words."""
    marks = ("[CLS]", "[PAD]", "[SEP]", "[UNK]") if kind == "bert" else MARKS
    return tiny_model(kind, pad_token_id=1), word_tokenizer([f"w{n}" for n in range(4, 40)], marks)


def vectors(base: Base, texts: list[str]) -> Any:
    """By the first token, padded and masked as training does."""
    ids = [base.tokenizer.encode(text).ids for text in texts]
    longest = max(map(len, ids))
    padded = torch.tensor([each + [base.config.pad_token_id] * (longest - len(each)) for each in ids])
    mask = torch.tensor([[1] * len(each) + [0] * (longest - len(each)) for each in ids])
    with torch.inference_mode():
        states = base.model(padded, attention_mask=mask).last_hidden_state[:, 0]
    return torch.nn.functional.normalize(states, dim=1).numpy()


def test_the_bundled_encoder() -> None:
    base = load_base(DEFAULT)
    assert base.name == DEFAULT
    assert base.facts.pooling == "cls"
    assert type(base.model) is transformers.RobertaModel
    assert (base.config.pad_token_id, base.config.max_position_embeddings) == (1, 514)
    assert base.tokenizer.truncation is None
    assert all(weight.dtype == torch.float32 and weight.requires_grad for weight in base.model.parameters())
    assert (vectors(base, SENTENCES) * load_encoder().encode(SENTENCES)).sum(1).min() > 0.994


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_kept_and_loaded_again(tmp_path: Path, kind: str, capfd: pytest.CaptureFixture[str]) -> None:
    model, tokenizer = tiny(kind)
    tokenizer.enable_padding(length=20)
    tokenizer.enable_truncation(9)
    save_base(tmp_path / "mine", model, tokenizer, pooling="mean", max_tokens=20, prefix="w4 ")
    assert tokenizer.padding is not None
    found = load_base(tmp_path / "mine")
    assert found.name == str(tmp_path / "mine")
    assert found.facts == ModelSettings("mine", max_tokens=20, pooling="mean", prefix="w4 ")
    assert found.tokenizer.encode("w4").tokens == tokenizer.encode("w4").tokens[:3]
    assert found.tokenizer.padding is found.tokenizer.truncation is None
    for name, weight in found.model.state_dict().items():
        assert torch.equal(weight, model.state_dict()[name])
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_kept_exported_and_read_back(tmp_path: Path, kind: str) -> None:
    model, tokenizer = tiny(kind)
    save_base(tmp_path / "mine", model, tokenizer)
    export(tmp_path / "mine", tmp_path / "out")
    base = load_base(tmp_path / "out")
    assert base.config.model_type == kind
    assert (base.config.hidden_act, base.config.layer_norm_eps) == ("gelu", model.config.layer_norm_eps)
    encoders = load_encoder(tmp_path / "mine", threads=1), load_encoder(tmp_path / "out", threads=1)
    for encoder in encoders:
        assert (vectors(base, TEXTS) * encoder.encode(TEXTS)).sum(1).min() > 0.994
    save_base(tmp_path / "again", base.model, base.tokenizer)
    export(tmp_path / "again", tmp_path / "same")
    assert (tmp_path / "same" / "model.onnx").read_bytes() == (tmp_path / "out" / "model.onnx").read_bytes()


def test_the_body_of_what_gives_scores(tmp_path: Path) -> None:
    model, tokenizer = tiny("roberta")
    weights = {name: weight.numpy() for name, weight in model.state_dict().items()}
    weights |= {"head.weight": np.ones(32, np.float32), "head.bias": np.ones(1, np.float32)}
    graph = build_graph(weights, EncoderShape(2, 4, model.config.layer_norm_eps, 2, output="scores"))
    (tmp_path / "model.onnx").write_bytes(graph.SerializeToString())
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    base = load_base(tmp_path)
    wanted = Base("", model.eval(), tokenizer, model.config, base.facts)
    assert (vectors(base, TEXTS) * vectors(wanted, TEXTS)).sum(1).min() > 0.994


def test_by_name_out_of_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    place = tmp_path / "models--me--base"
    save_base(place / "snapshots" / "0123abc", *tiny("bert"))
    (place / "refs").mkdir()
    (place / "refs" / "main").write_text("0123abc")
    base = load_base("me/base")
    assert base.name == "me/base"
    np.testing.assert_allclose(vectors(base, TEXTS), load_encoder("me/base", threads=1).encode(TEXTS), atol=1e-5)
    with pytest.raises(UserError, match="hf download me/other"):
        load_base("me/other")


def test_unknown_name() -> None:
    with pytest.raises(UserError, match=r"no encoder 'nowhere'; use .*claims-30m"):
        load_base("nowhere")


def test_a_folder_that_holds_no_model(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"has no model\.onnx"):
        load_base(tmp_path)


@pytest.mark.parametrize("package", ["torch", "transformers", "onnx"])
def test_without_the_extra(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=r"pip install 'whycite\[train\]'"):
        load_base(DEFAULT)
