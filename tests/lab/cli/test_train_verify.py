"""`whycite train entailment`, from data to a folder that judges claims."""

import json
import shutil
from dataclasses import asdict
from inspect import signature
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.fakes import tiny_folder, tiny_model, word_tokenizer
from tests.lab.train.test_entailmentpack import FILLER, make_data
from whycite.cli import app
from whycite.errors import UserError
from whycite.lab.cli.train_verify import entailment
from whycite.lab.train import entailmentstages
from whycite.lab.train.bases import save_base
from whycite.lab.train.entailmentpack import load_marked
from whycite.lab.train.verifyexamples import load_recorded
from whycite.models.pairs import load_entailment

WORDS = [f"w{number}" for number in range(300)] + sorted({*FILLER.replace(".", " ").split(), "sleep", "the", "of"})


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Tiny data and a tiny MPNet in the folder base."""
    tokenizer = word_tokenizer(WORDS)
    model = tiny_model(
        *("mpnet", 0), vocab_size=tokenizer.get_vocab_size(), pad_token_id=1, hidden_size=16, num_hidden_layers=3,
        num_attention_heads=2, intermediate_size=32, max_position_embeddings=66,
    )  # fmt: skip
    save_base(tmp_path / "base", model, tokenizer, max_tokens=64)
    return make_data(tmp_path)


def _run(data: Path, *arguments: str | Path, out: str = "model", status: int = 0) -> str:
    command = ["train", "entailment", "--data", data, "--written", data / "written.jsonl", "--out", data / out]
    options = ["--base", data / "base", "--layers", "2", "--inner", "24", "--words", "60", "--steps", "6", *arguments]
    result = CliRunner().invoke(app, [*map(str, command), *map(str, options)], catch_exceptions=False)
    assert result.exit_code == status, result.output
    return result.output


def test_a_model_and_its_judgements_of_marked_claims(data: Path) -> None:
    told = _run(data, "--folds", "3", "--seed", "2", "--deadline", "60")
    for stage in ("teacher", "student", "student with marked claims without fold 3", "student with marked claims"):
        assert f"{stage}: " in told
    model = load_entailment(data / "model", threads=1)
    assert model.judge("Bee number 3 sleeps.", ["The bee was seen in the hive.", "seen"]).shape == (2, 4)
    assert model.name.startswith("model@")
    recorded = json.loads((data / "model" / "recorded.json").read_text("utf-8"))
    cases = load_marked(data)
    assert recorded.keys() == {case.id for case in cases}
    rows = load_recorded(data / "model" / "recorded.json", cases).judge(cases[0].claim, cases[0].sentences)
    assert rows.shape == (3, 4)
    card = (data / "model" / "README.md").read_text("utf-8")
    assert "| seed | 2 |" in card
    assert "scifact 18" in card
    assert str(data) not in card
    with pytest.raises(UserError, match="already contains a model"):
        _run(data)


def test_no_folds_and_no_marked_claims(data: Path) -> None:
    _run(data, "--folds", "0")
    assert not (data / "model" / "recorded.json").exists()
    shutil.rmtree(data / "scifact")
    told = _run(data, out="second")
    assert "skipped scifact: not in " in told
    assert "without fold" not in told
    assert load_entailment(data / "second", threads=1).judge("Bee", ["bee"]).shape == (1, 4)


def test_an_interrupted_run_writes_nothing(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(entailmentstages, "write_card", interrupt)
    _run(data, "--folds", "0", status=130)
    assert list((data / "model").iterdir()) == []


def test_mistakes(data: Path) -> None:
    for options, message in (
        (("--layers", "4"), "--layers 4: .*base has only 3"),
        (("--inner", "33"), "--inner 33: .*base has only 32"),
        (("--folds", "1"), "--folds 1: use 0 for none"),
        (("--base", tiny_folder(data / "bert")), "is a 'bert' model; an entailment model is made from MPNet"),
    ):
        with pytest.raises(UserError, match=message):
            _run(data, *options)


def test_defaults_are_those_of_the_recipe() -> None:
    plan = entailmentstages.EntailmentPlan()
    defaults = {name: option.default for name, option in signature(entailment).parameters.items()}
    assert asdict(plan) == {name: defaults[name] for name in asdict(plan)}
