"""Training worthiness, on a model with random weights and sentences of a few words."""

import json
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import typer
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing
from typer.testing import CliRunner, Result

from whycite.cli.trainworthiness import worthiness
from whycite.errors import UserError
from whycite.training.bases import load_base, save_base
from whycite.worthiness import Paragraph, load
from whycite.worthiness.model import LabelledDocument, LabelledParagraph, LabelledSentence
from whycite.worthiness.pack import save

torch = pytest.importorskip("torch", reason="training needs the extra train")
transformers = pytest.importorskip("transformers", reason="training needs the extra train")

from whycite.training.worthiness import Recipe, train  # noqa: E402
from whycite.training.worthiness.__main__ import main  # noqa: E402
from whycite.training.worthiness.batches import Maker, groups  # noqa: E402
from whycite.training.worthiness.making import make as make_model  # noqa: E402
from whycite.training.worthiness.network import load_weights, make, save_weights, scores  # noqa: E402
from whycite.training.worthiness.texts import read  # noqa: E402
from whycite.training.worthiness.training import frame_of, judge  # noqa: E402

WORDS = [f"w{at}" for at in range(30)]
TINY = {
    "vocab_size": 40,
    "hidden_size": 32,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "max_position_embeddings": 130,
    "initializer_range": 0.2,
}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of a base."""
    torch.manual_seed(0)
    words = ["<s>", "<pad>", "</s>", "<unk>", *WORDS, "Introduction", "Methods"]
    tokenizer = Tokenizer(WordLevel({word: at for at, word in enumerate(words)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    config = transformers.AutoConfig.for_model("roberta", **TINY, pad_token_id=1)
    folder = tmp_path_factory.mktemp("base") / "tiny"
    save_base(folder, transformers.AutoModel.from_config(config, add_pooling_layer=False), tokenizer)
    return str(folder)


def documents(number: int, seed: int = 0) -> list[LabelledDocument]:
    """Sentences are worthy when they hold w0 and stand in the introduction."""
    random = Random(seed)

    def paragraph() -> LabelledParagraph:
        heading = random.choice(["Introduction", "Methods"])
        texts = [" ".join(random.choices(WORDS[:8], k=random.randint(3, 7))) for _ in range(random.randint(1, 5))]
        sentences = [
            LabelledSentence(text, "w0" in text.split() and heading[0] == "I", at % 3 > 0)
            for at, text in enumerate(texts)
        ]
        return LabelledParagraph((heading,), heading.lower().rstrip("s"), tuple(sentences))

    return [
        LabelledDocument(
            f"d{at}", "", f"2024-{1 + at // 28:02}-{1 + at % 28:02}", tuple(paragraph() for _ in range(12))
        )
        for at in range(number)
    ]


def quietly(word: str) -> None:
    """No word of progress."""


def recipe(base: str, **others: object) -> Recipe:
    made = Recipe(base=base, epochs=6, rate=5e-3, tokens=512, limit=64, heading="top", noise=0)
    return replace(made, **others)  # type: ignore[arg-type]


@pytest.mark.parametrize(("readout", "f1"), [("mean", 0.8), ("separator", 0.55)])
def test_learns(base: str, readout: str, f1: float) -> None:
    parts = documents(40)
    words: list[str] = []
    found = train(parts[:30], parts[30:34], parts[34:], recipe(base, readout=readout, average=0.9), words.append)
    assert found.report["test"]["all"]["f1"] > f1
    assert found.report["test"]["all"]["sentences"] == len(found.test.scores)
    assert len(found.report["epochs"]) == 6
    assert any("dev F1" in word for word in words)


def test_same_seed_same_scores(base: str) -> None:
    parts = documents(8)

    def run(seed: int) -> list[float]:
        short = recipe(base, epochs=1, noise=0.3, heading="any", seed=seed)
        return [float(each) for each in train(parts[:6], parts[6:7], parts[7:], short, quietly).test.scores]

    assert run(1) == run(1) != run(2)


def test_over_by_the_deadline(base: str) -> None:
    parts = documents(6)
    with pytest.raises(UserError, match="deadline"):
        train(parts[:2], parts[2:3], parts[3:], recipe(base), quietly, deadline=1e-9)
    found = train(parts[:4], parts[4:5], parts[5:], recipe(base, epochs=10**6), quietly, deadline=3)
    assert 0 < len(found.report["epochs"]) < 10**6


def test_every_sentence_is_in_one_batch(base: str) -> None:
    loaded = load_base(base)
    texts = read(documents(5), loaded.tokenizer, 0.2, 0)
    own = recipe(base, joined=0.5, heading="any")
    made = groups(texts, own, 3)
    assert sorted(at for group in made for at in group) == list(range(len(texts.paragraphs) - 1))
    assert any(len(group) > 1 for group in made)
    maker = Maker(texts, frame_of(loaded, own), own, made, 7, 1, learning=True)
    batches = [batch for at in range(len(maker)) for batch in maker[at]]
    assert sorted(at for batch in batches for at in batch.sentences) == list(range(len(texts.worthy)))
    assert all(batch.tokens.size <= own.tokens for batch in batches)


def test_conform_paragraphs_alone(base: str) -> None:
    texts = read(documents(5), load_base(base).tokenizer, 0, 0)
    made = groups(texts, recipe(base, conform=True), 0)
    assert 0 <= len(made) < len(texts.paragraphs) - 1
    assert all(texts.kinds[group[0]] == 0 for group in made)


def test_the_mean_is_over_a_sentence_s_own_tokens(base: str) -> None:
    loaded = load_base(base)
    own = recipe(base)
    texts = read(documents(1), loaded.tokenizer, 0, 0)
    network = make(loaded.model, own).eval()
    maker = Maker(texts, frame_of(loaded, own), own, [np.array([0]), np.array([1])], 2, 0, learning=False)
    (batch,) = maker[0]
    with torch.inference_mode():
        found = scores(network, batch, "mean", torch.device("cpu"))
        for row, length in enumerate(batch.lengths):
            states = network["backbone"](torch.from_numpy(batch.tokens[row : row + 1, :length])).last_hidden_state[0]
            width = batch.tokens.shape[1]
            for at in range(len(batch.sentences)):
                places = batch.own[batch.owner == at]
                if places[0] // width == row:
                    wanted = network["head"](states[places - row * width].mean(0))
                    assert float(found[at]) == pytest.approx(float(wanted), abs=1e-4)
                    tokens = batch.tokens[row, places - row * width]
                    assert list(tokens) == list(texts.of(int(batch.sentences[at])))


@pytest.mark.parametrize("frozen", [False, True])
def test_weights_come_back(base: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, frozen: bool) -> None:
    monkeypatch.setattr("whycite.training.worthiness.network._PART", 4000)
    parts = documents(6)
    own = recipe(base, epochs=1, frozen=frozen)
    found = train(parts[:4], parts[4:5], parts[5:], own, quietly)
    save_weights(found.network, tmp_path)
    files = list(tmp_path.glob("weights-*.npz"))
    assert len(files) > 3
    loaded = load_base(base)
    network = make(loaded.model, own)
    load_weights(network, tmp_path)
    texts = read(parts[5:], loaded.tokenizer, 0, 0)
    again = judge(network, texts, frame_of(loaded, own), own, torch.device("cpu"))
    assert np.allclose(again.scores, found.test.scores, atol=0.05)
    with pytest.raises(UserError, match="another recipe"):
        load_weights(make(load_base(base).model, replace(own, frozen=not frozen)), tmp_path)
    with pytest.raises(UserError, match="no weights"):
        load_weights(network, tmp_path / "nowhere")


def test_trained_and_picked(base: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pack = tmp_path / "pack.xz"
    save(documents(12), pack)
    common = [
        str(pack),
        "--dev",
        "2",
        "--test",
        "2",
        "--documents",
        "6",
        "--set",
        f"base={base}",
        "tokens=512",
        "limit=64",
    ]
    for name, epochs in (("short", 1), ("long", 3)):
        made = ["train", *common, "rate=5e-3", f"epochs={epochs}", "frozen=true", "--out", str(tmp_path / name)]
        assert main(made) == 0
    assert main(["pick", str(tmp_path / "short"), str(tmp_path / "long"), "--out", str(tmp_path / "out")]) == 0
    assert "the weights are those of" in capsys.readouterr().out
    reports = json.loads((tmp_path / "out" / "reports.json").read_text())
    assert reports["long"]["documents"] == 6
    assert reports["long"]["recipe"]["frozen"] is True
    assert (tmp_path / "out" / "weights-0.npz").is_file()
    with np.load(tmp_path / "out" / "scores.npz") as held:
        assert {"short.dev", "short.test", "long.dev", "long.test"} == set(held)


@pytest.mark.parametrize("value", ["depth=3", "epochs=many", "variant=wide", "epochs=0", "average=1"])
def test_mistakes(tmp_path: Path, capsys: pytest.CaptureFixture[str], value: str) -> None:
    assert main(["train", str(tmp_path / "none.xz"), "--out", str(tmp_path), "--set", value]) == 2
    assert "Traceback" not in capsys.readouterr().err
    assert main(["pick", str(tmp_path), "--out", str(tmp_path)]) == 2


PAPER = """\
---
title: Paper {number}
date: 2024-01-{number:02}
references:
- id: a
  title: A title
---

# Introduction

w0 w1 w2 w3 w4 w5 w6 w7 is what others said [@a]. We measured w4 w5 w6 w7 ourselves again.

# Methods

We took w1 w2 w3 w4 from a shelf. It was w5 w6 w7 cold there.
"""


def run(*arguments: Any) -> Result:
    app = typer.Typer()
    app.command()(worthiness)
    return CliRunner().invoke(app, list(map(str, arguments)))


def test_from_papers_to_a_detector(base: str, tmp_path: Path) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    for number in range(1, 9):
        (papers / f"{number}.md").write_text(PAPER.format(number=number), "utf-8")
    pack = tmp_path / "pack.jsonl.xz"
    packed = run("--data", papers, "--out", pack, "--pack")
    assert packed.exit_code == 0, packed.exception
    assert "8 documents" in packed.stdout
    common = ("--base", base, "--dev", 1, "--test", 2, "--epochs", 1, "--batch", 512, "--limit", 64, "--rate", 5e-3)
    for name, data in (("one", papers), ("two", pack)):
        made = run("--data", data, "--out", tmp_path / name, *common)
        assert made.exit_code == 0, (made.output, made.exception)
        assert "written to" in made.stdout
    first, second = (load(tmp_path / name, 1) for name in ("one", "two"))
    (found,), (other,) = (each.worthiness([Paragraph(("w1 w2.", "w3."), ("Methods",))]) for each in (first, second))
    assert len(found) == 2
    assert np.allclose(found, other)
    card = (tmp_path / "one" / "README.md").read_text("utf-8")
    assert "correlation of scores" in card
    assert str(tmp_path) not in card
    again = run("--data", pack, "--out", tmp_path / "one", *common)
    assert isinstance(again.exception, UserError)


@pytest.mark.parametrize("kind", ["roberta", "bert", "longformer"])
@pytest.mark.parametrize("readout", ["mean", "separator"])
def test_what_runs_says_what_was_trained(base: str, tmp_path: Path, kind: str, readout: str) -> None:
    start = base
    if kind != "roberta":
        shape = {"vocab_size": 40, "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2,
                 "intermediate_size": 64, "max_position_embeddings": 130, "pad_token_id": 1}  # fmt: skip
        if kind == "longformer":
            shape["attention_window"] = 16
        config = transformers.AutoConfig.for_model(kind, **shape)
        start = str(tmp_path / "base")
        torch.manual_seed(0)
        model = transformers.AutoModel.from_config(config, add_pooling_layer=False)
        save_base(Path(start), model, load_base(base).tokenizer)
    out = tmp_path / "made"
    own = recipe(start, epochs=3, readout=readout)
    outcome = make_model(documents(12), out, own, lambda word: None, dev=2, test=3)
    assert (out / "model.onnx").is_file() == (kind != "longformer")
    detector = load(out, 1)
    held = documents(12)[-3:]
    found = np.concatenate(detector.scores([each for one in held for each in one.unlabelled()]))  # type: ignore[attr-defined]
    assert np.corrcoef(found, outcome.test.scores)[0, 1] > 0.97
    content = json.loads((out / "worthiness.json").read_text())
    assert content["readout"] == readout
    assert content["decisions"].keys() == {"articles"}


def test_a_model_that_is_there_is_kept(base: str, tmp_path: Path) -> None:
    (tmp_path / "worthiness.json").write_text("mine")
    with pytest.raises(UserError, match="holds a model already"):
        make_model(documents(6), tmp_path, recipe(base), lambda word: None, 1, 1)
    assert (tmp_path / "worthiness.json").read_text() == "mine"
    save(documents(3), tmp_path / "few.jsonl.xz")
    few = run("--data", tmp_path / "few.jsonl.xz", "--out", tmp_path / "new", "--base", base)
    assert "too few" in str(few.exception)
