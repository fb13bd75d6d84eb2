"""Models of Hugging Face on disk: found in the cache, opened, and what is said of broken ones."""

import json
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordLevel

from tests.fakes import tiny_model
from whycite.errors import UserError
from whycite.models.folders import ENCODER, ModelFolder, ModelSettings

torch = pytest.importorskip("torch", reason="models of Hugging Face need the extra train")
save_file = pytest.importorskip("safetensors.torch").save_file
transformers = pytest.importorskip("transformers", reason="models of Hugging Face need the extra train")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "tiny"
    tiny_model("bert", pooler=True).save_pretrained(path)
    Tokenizer(WordLevel({"<unk>": 0, "cells": 1}, unk_token="<unk>")).save(str(path / "tokenizer.json"))
    return path


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache in which the model "me/tiny" may be put."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    place = tmp_path / "cache" / "models--me--tiny"
    (place / "refs").mkdir(parents=True)
    (place / "refs" / "main").write_text("0123abc")
    return place / "snapshots" / "0123abc"


def test_in_the_cache(cache: Path) -> None:
    tiny_model("bert", pooler=True).save_pretrained(cache)
    assert ENCODER.find("me/tiny") == cache


def test_not_in_the_cache(cache: Path) -> None:
    with pytest.raises(UserError, match=r"'me/other' is neither a folder nor a model .*: hf download me/other$"):
        ENCODER.find("me/other")


@pytest.mark.parametrize("missing", ["config.json", "model.safetensors"])
def test_half_in_the_cache(cache: Path, missing: str) -> None:
    tiny_model("bert", pooler=True).save_pretrained(cache)
    (cache / missing).unlink()
    with pytest.raises(UserError, match="hf download me/tiny"):
        ENCODER.find("me/tiny")


@pytest.mark.parametrize("name", ["tiny", "a/b/c", "../tiny", "/tiny", "me/", "me/a--b"])
def test_names_no_model_has(cache: Path, name: str) -> None:
    with pytest.raises(UserError, match=f"no encoder '{name}'; use claims-30m, the path of a folder, or a Hugging"):
        ENCODER.find(name)


def pooling(folder: Path, **found: Any) -> None:
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"word_embedding_dimension": 32, **found}))


def modules(folder: Path, *names: str) -> None:
    found = [{"idx": n, "type": f"sentence_transformers.models.{name}"} for n, name in enumerate(names)]
    (folder / "modules.json").write_text(json.dumps(found))


def test_use_where_nothing_is_said(folder: Path) -> None:
    assert ModelFolder(folder).settings == ModelSettings("tiny")


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        ({"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}, "mean"),
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, "cls"),
        ({"pooling_mode": "mean"}, "mean"),
    ],
    ids=["mean", "cls", "by name"],
)
def test_use_by_sentence_transformers(folder: Path, found: dict[str, Any], wanted: str) -> None:
    pooling(folder, **found)
    modules(folder, "Transformer", "Pooling", "Normalize")
    assert ModelFolder(folder).settings.pooling == wanted


def test_use_that_cannot_be_had_must_be_chosen(folder: Path) -> None:
    pooling(folder, pooling_mode_max_tokens=True)
    with pytest.raises(UserError, match=r"makes vectors by max_tokens; .* choose one as 'pooling' in .*encoder\.json"):
        _ = ModelFolder(folder).settings
    (folder / "encoder.json").write_text('{"pooling": "cls", "prefix": "query: "}')
    assert ModelFolder(folder).settings == ModelSettings("tiny", prefix="query: ")


def test_further_layers(folder: Path) -> None:
    pooling(folder, pooling_mode_cls_token=True)
    modules(folder, "Transformer", "Pooling", "Dense")
    with pytest.raises(UserError, match="makes vectors by Dense, cls_token"):
        _ = ModelFolder(folder).settings


@pytest.mark.parametrize(
    ("text", "said"), [("{", "is not JSON"), ("[]", "not a JSON object"), ('{"a": 1}', "unknown setting")]
)
def test_mistakes_in_encoder_json(folder: Path, text: str, said: str) -> None:
    (folder / "encoder.json").write_text(text)
    with pytest.raises(UserError, match=said):
        _ = ModelFolder(folder).settings


def test_version_follows_the_content(folder: Path) -> None:
    found = [ModelFolder(folder).version]
    ModelSettings("renamed").write(folder)
    assert ModelFolder(folder).version == found[0]
    for settings in (ModelSettings("tiny", pooling="mean"), ModelSettings("tiny", prefix="a")):
        settings.write(folder)
        found.append(ModelFolder(folder).version)
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        with (folder / name).open("a") as file:
            file.write(" ")
        found.append(ModelFolder(folder).version)
    assert len({*found}) == len(found)
    (folder / "README.md").write_text("of no matter")
    assert ModelFolder(folder).version == found[-1]


def test_version_of_a_vocabulary_in_parts(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    (folder / "vocab.json").write_text("{}")
    (folder / "merges.txt").write_text("a b")
    first = ModelFolder(folder).version
    (folder / "merges.txt").write_text("a c")
    assert ModelFolder(folder).version != first


def same(left: Any, right: Any) -> bool:
    a, b = left.state_dict(), right.state_dict()
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_no_pooling_layer(tmp_path: Path, kind: str, capfd: pytest.CaptureFixture[str]) -> None:
    bare = tiny_model(kind)
    bare.save_pretrained(tmp_path / "without")
    full = tiny_model(kind, pooler=True)
    full.load_state_dict(bare.state_dict(), strict=False)
    full.save_pretrained(tmp_path / "with")
    transformers.AutoModelForMaskedLM.from_pretrained(tmp_path / "with").save_pretrained(tmp_path / "words")
    capfd.readouterr()
    for name in ("without", "with", "words"):
        found = ModelFolder(tmp_path / name).open_torch_model()
        assert same(found, bare)
        assert not found.training
    assert capfd.readouterr() == ("", "")


def test_what_transformers_shows_is_as_before(folder: Path) -> None:
    log = transformers.utils.logging
    before = log.get_verbosity(), log.is_progress_bar_enabled()
    ModelFolder(folder).open_torch_model()
    assert (log.get_verbosity(), log.is_progress_bar_enabled()) == before


def test_16_bits_become_32(tmp_path: Path) -> None:
    tiny_model("bert", pooler=True).half().save_pretrained(tmp_path)
    assert {weight.dtype for weight in ModelFolder(tmp_path).open_torch_model().parameters()} == {torch.float32}


def test_weights_in_a_pickle_are_not_opened(folder: Path) -> None:
    weights = ModelFolder(folder).open_torch_model().state_dict()
    (folder / "model.safetensors").unlink()
    torch.save(weights, folder / "pytorch_model.bin")
    with pytest.raises(UserError, match="pickle, which can run code"):
        _ = ModelFolder(folder).version
    with pytest.raises(UserError, match="transformers cannot open the model"):
        ModelFolder(folder).open_torch_model()


def test_weights_in_several_files(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    tiny_model("bert", pooler=True).save_pretrained(folder, max_shard_size="30KB")
    parts = sorted(folder.glob("model-*.safetensors"))
    assert len(parts) > 1
    first = ModelFolder(folder).version
    with parts[-1].open("a") as file:
        file.write(" ")
    assert ModelFolder(folder).version != first
    parts[-1].unlink()
    with pytest.raises(UserError, match="lacks the model's weights"):
        _ = ModelFolder(folder).version


def test_weights_that_are_missing(folder: Path) -> None:
    kept = {
        name: weight for name, weight in tiny_model("bert", pooler=True).state_dict().items() if "layer.1" not in name
    }
    save_file(kept, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(UserError, match=r"lacks 16 of the model's weights, such as encoder\.layer\.1\.attention"):
        ModelFolder(folder).open_torch_model()


@pytest.mark.parametrize(
    ("name", "text"),
    [("config.json", "{}"), ("config.json", '{"model_type": "new"}'), ("model.safetensors", "broken")],
    ids=["no kind", "unknown kind", "weights"],
)
def test_broken_models(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text)
    with pytest.raises(UserError, match="transformers cannot open the model in"):
        ModelFolder(folder).open_torch_model()


def test_code_beside_a_model_is_not_run(folder: Path) -> None:
    config = {"model_type": "new", "auto_map": {"AutoConfig": "code.Config", "AutoModel": "code.Model"}}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "code.py").write_text(f"open({str(folder / 'run')!r}, 'w')")
    with pytest.raises(UserError, match="transformers cannot open the model in"):
        ModelFolder(folder).open_torch_model()
    assert not (folder / "run").exists()


def test_models_with_a_decoder(tmp_path: Path) -> None:
    config = transformers.T5Config(vocab_size=40, d_model=32, d_kv=8, d_ff=64, num_layers=1, num_heads=4)
    transformers.AutoModel.from_config(config).save_pretrained(tmp_path)
    with pytest.raises(UserError, match="'t5', which has a decoder"):
        ModelFolder(tmp_path).open_torch_model()


MARKS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def words(folder: Path, *found: str) -> Path:
    (folder / "tokenizer.json").unlink(missing_ok=True)
    (folder / "vocab.txt").write_text("\n".join([*MARKS, *found]), encoding="utf-8")
    return folder


def test_a_list_of_words_in_lower_case(folder: Path) -> None:
    found = ModelFolder(words(folder, "cells", "divide")).open_tokenizer()
    assert found.encode("Cells DIVIDE").tokens == ["[CLS]", "cells", "divide", "[SEP]"]


def test_a_list_of_words_with_capitals_keeps_them(folder: Path) -> None:
    found = ModelFolder(words(folder, "cells", "Cells", "divide")).open_tokenizer()
    assert found.encode("Cells cells").tokens == ["[CLS]", "Cells", "cells", "[SEP]"]


def test_settings_say_whether_case_counts(folder: Path) -> None:
    (folder / "tokenizer_config.json").write_text('{"do_lower_case": true}')
    found = ModelFolder(words(folder, "cells", "Cells", "divide")).open_tokenizer()
    assert found.encode("Cells").tokens == ["[CLS]", "cells", "[SEP]"]


def test_tokenizers_neither_pad_nor_cut(folder: Path) -> None:
    path = folder / "tokenizer.json"
    given = Tokenizer.from_file(str(path))
    given.enable_padding(length=8)
    given.enable_truncation(4)
    given.save(str(path))
    found = ModelFolder(folder).open_tokenizer()
    assert found.padding is None
    assert found.truncation is None


def test_no_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    with pytest.raises(UserError, match="has no tokenizer"):
        ModelFolder(folder).open_tokenizer()
    with pytest.raises(UserError, match="has no tokenizer"):
        _ = ModelFolder(folder).version


def test_words_of_another_kind_of_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").rename(folder / "spiece.model")
    with pytest.raises(
        UserError, match=r"no vocabulary for its tokenizer: it needs one of tokenizer\.json, vocab\.txt"
    ):
        ModelFolder(folder).open_tokenizer()


@pytest.mark.parametrize(("kind", "name"), [("bert", "tokenizer.json"), ("roberta", "vocab.json")])
def test_broken_tokenizers(folder: Path, kind: str, name: str) -> None:
    (folder / "tokenizer.json").unlink()
    (folder / "config.json").write_text(json.dumps({"model_type": kind}))
    (folder / name).write_text("broken")
    with pytest.raises(UserError, match=r"not a readable tokenizer|cannot open the tokenizer"):
        ModelFolder(folder).open_tokenizer()
