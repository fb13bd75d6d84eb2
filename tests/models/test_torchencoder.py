"""Encoders of Hugging Face run by PyTorch: the vectors, and the names they are loaded by."""

import shutil
import socket
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer
from tokenizers.processors import TemplateProcessing

from tests.fakes import tiny_folder, transformers_vectors
from whycite.errors import MissingExtra, UserError
from whycite.lab.train.export import export
from whycite.models import load_encoder
from whycite.models.encoders import OnnxEncoder, TorchEncoder
from whycite.models.folders import ModelSettings, Pooling

torch = pytest.importorskip("torch", reason="models of Hugging Face need the extra train")
transformers = pytest.importorskip("transformers", reason="models of Hugging Face need the extra train")

TEXTS = ["w4 w5 w6", "w7", "w9 w8 w4 w30 w31 w32 w33", "", "w4 w5 w6 w7", "w12 " * 25]


@pytest.mark.parametrize("kind", ["bert", "roberta", "distilbert", "mpnet"])
@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_same_vectors_as_transformers(tmp_path: Path, kind: str, pooling: Pooling) -> None:
    made = tiny_folder(tmp_path / "tiny", kind, {"pooling": pooling})
    encoder = load_encoder(made, threads=1)
    assert isinstance(encoder, TorchEncoder)
    assert encoder.dimensions == 32
    found = encoder.encode(TEXTS)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, transformers_vectors(made, TEXTS, pooling), atol=1e-5)


@pytest.mark.parametrize(("kind", "places"), [("bert", 34), ("roberta", 32), ("mpnet", 32)])
def test_cut_where_positions_end(tmp_path: Path, kind: str, places: int) -> None:
    encoder = TorchEncoder(tiny_folder(tmp_path / "tiny", kind, {"pooling": "mean"}), 1)
    full = ["w5"] * (places - 2)  # the tokenizer adds two
    long, longer, short = encoder.encode([" ".join(full), " ".join([*full, "w9 w9"]), " ".join(full[1:])])
    np.testing.assert_allclose(long, longer, atol=1e-5)
    assert np.abs(long - short).max() > 1e-4


def test_cut_and_prefix_by_encoder_json(tmp_path: Path) -> None:
    made = tiny_folder(tmp_path / "tiny", facts={"name": "mine", "pooling": "mean", "max_tokens": 5, "prefix": "w4 "})
    encoder = TorchEncoder(made, 1)
    assert encoder.name.startswith("mine@")
    first, second = encoder.encode(["w5 w6", "w5 w6 w7"])
    np.testing.assert_allclose(first, second, atol=1e-5)
    (made / "encoder.json").write_text('{"pooling": "mean"}')
    np.testing.assert_allclose(TorchEncoder(made, 1).encode(["w4 w5 w6"])[0], first, atol=1e-5)


def test_many_texts_come_back_in_order_and_equal_ones_are_encoded_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = TorchEncoder(tiny_folder(tmp_path / "tiny"), 1)
    texts = [f"w{4 + n % 36} w{4 + n // 36}" + " w9" * (n % 7) for n in range(300)]
    alone = np.concatenate([encoder.encode([text]) for text in texts[:40]])
    monkeypatch.setattr("whycite.models.encoders.WINDOW_TEXTS", 64)
    told: list[int] = []
    seen: list[int] = []
    forward = transformers.BertModel.forward

    def watched(model: Any, ids: Any, **options: Any) -> Any:
        seen.append(len(ids))
        return forward(model, ids, **options)

    monkeypatch.setattr(transformers.BertModel, "forward", watched)
    found = encoder.encode([*texts, *texts], told.append)
    np.testing.assert_allclose(found[:40], alone, atol=1e-5)
    np.testing.assert_array_equal(found[:300], found[300:])
    assert sum(told) == 600
    assert sum(seen) == len({*texts}) == 300
    assert len(seen) == len(told) > 1


@pytest.mark.parametrize("most", [1, 20, 1000])
def test_no_more_tokens_together_than_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    encoder = TorchEncoder(tiny_folder(tmp_path / "tiny"), 1)
    wanted = encoder.encode(TEXTS)
    sizes: list[tuple[int, int]] = []
    forward = transformers.BertModel.forward

    def watched(model: Any, ids: Any, **options: Any) -> Any:
        sizes.append(tuple(ids.shape))
        return forward(model, ids, **options)

    monkeypatch.setattr(transformers.BertModel, "forward", watched)
    monkeypatch.setattr("whycite.models.encoders.TORCH_BATCH_TOKENS", {"cpu": most, "cuda": most})
    np.testing.assert_allclose(encoder.encode(TEXTS), wanted, atol=1e-5)
    assert all(texts == 1 or texts * longest <= most for texts, longest in sizes)
    assert sum(texts for texts, _ in sizes) == len(TEXTS)


@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_texts_without_any_token(tmp_path: Path, pooling: Pooling) -> None:
    made = tiny_folder(tmp_path / "tiny", facts={"pooling": pooling})
    path = str(made / "tokenizer.json")
    tokenizer = Tokenizer.from_file(path)
    tokenizer.post_processor = TemplateProcessing(single="$A", special_tokens=[])
    tokenizer.save(path)
    nothing, something = TorchEncoder(made, 1).encode(["", "w4"])
    assert nothing.tolist() == [0] * 32
    np.testing.assert_allclose(np.linalg.norm(something), 1, rtol=1e-5)
    assert TorchEncoder(made, 1).encode([""]).tolist() == [[0] * 32]


def test_no_texts_and_one_text(tmp_path: Path) -> None:
    encoder = TorchEncoder(tiny_folder(tmp_path / "tiny"), 1)
    assert encoder.encode([]).shape == (0, 32)
    with pytest.raises(TypeError, match="not one text"):
        encoder.encode("w4")


def test_as_many_threads_as_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = TorchEncoder(tiny_folder(tmp_path / "tiny"), 3)
    before = torch.get_num_threads()
    seen: list[int] = []
    forward = transformers.BertModel.forward

    def watched(model: Any, ids: Any, **options: Any) -> Any:
        seen.append(torch.get_num_threads())
        return forward(model, ids, **options)

    monkeypatch.setattr(transformers.BertModel, "forward", watched)
    encoder.encode(TEXTS)
    assert {*seen} == {3}
    assert torch.get_num_threads() == before


def test_by_name_out_of_the_cache_without_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("asked the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    place = tmp_path / "models--me--tiny"
    made = tiny_folder(place / "snapshots" / "0123abc", facts={"name": "called otherwise"})
    (place / "refs").mkdir()
    (place / "refs" / "main").write_text("0123abc")
    encoder = load_encoder("me/tiny", threads=1)
    version = encoder.name.removeprefix("me/tiny@")
    assert len(version) == 8
    assert TorchEncoder(made, 1).name == f"called otherwise@{version}"
    np.testing.assert_allclose(encoder.encode(TEXTS), transformers_vectors(made, TEXTS, "cls"), atol=1e-5)
    with pytest.raises(UserError, match="hf download me/other"):
        load_encoder("me/other", threads=1)
    with pytest.raises(UserError, match="no encoder 'a/b/c'"):
        load_encoder("a/b/c", threads=1)
    exported = export("me/tiny", tmp_path / "out")
    assert (exported.name, exported.dimensions) == ("out", 32)


def test_a_folder_comes_before_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tiny_folder(tmp_path / "somebody" / "tiny")
    assert load_encoder("somebody/tiny", threads=1).name.startswith("tiny@")


def test_an_exported_model_comes_before_the_original(tmp_path: Path) -> None:
    made = tiny_folder(tmp_path / "tiny")
    export(made, made)
    assert isinstance(load_encoder(made, threads=1), OnnxEncoder)


def test_export_uses_the_model_as_its_folder_says(tmp_path: Path) -> None:
    made = tiny_folder(tmp_path / "tiny", "roberta", {"pooling": "mean", "max_tokens": 9, "prefix": "w4 "})
    found = export(made, tmp_path / "out")
    assert found == ModelSettings("out", found.version, 32, 9, "mean", "w4 ")
    vectors = load_encoder(tmp_path / "out").encode(TEXTS), load_encoder(made).encode(TEXTS)
    assert (vectors[0] * vectors[1]).sum(1).min() > 0.998
    other = export(made, tmp_path / "other", pooling="cls", max_tokens=7, prefix="")
    assert other == ModelSettings("other", other.version, 32, 7, "cls", "")


def test_export_with_a_list_of_words(tmp_path: Path) -> None:
    made = tiny_folder(tmp_path / "tiny")
    (made / "tokenizer.json").unlink()
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(f"w{n}" for n in range(5, 40))]
    (made / "vocab.txt").write_text("\n".join(words))
    export(made, tmp_path / "out")
    vectors = load_encoder(tmp_path / "out").encode(TEXTS), load_encoder(made).encode(TEXTS)
    assert (vectors[0] * vectors[1]).sum(1).min() > 0.998


def test_version_that_encoder_json_says(tmp_path: Path) -> None:
    made = tiny_folder(tmp_path / "tiny")
    name, _, version = TorchEncoder(made, 1).name.partition("@")
    ModelSettings(name, version).write(made)
    assert TorchEncoder(made, 1).name == f"{name}@{version}"
    ModelSettings(name, "12345678").write(made)
    with pytest.raises(UserError, match=rf"holds version {version} of 'tiny', but encoder\.json says 12345678"):
        TorchEncoder(made, 1)


def test_wrong_dimensions(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="gives vectors of 32 numbers: correct 'dimensions', 7"):
        TorchEncoder(tiny_folder(tmp_path / "tiny", facts={"dimensions": 7}), 1).encode(["w4"])


@pytest.mark.parametrize("package", ["torch", "transformers"])
def test_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    made = tiny_folder(tmp_path / "tiny")
    copied = shutil.copytree(made, tmp_path / "copied")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=r"pip install 'whycite\[train\]'"):
        load_encoder(copied, threads=1)
