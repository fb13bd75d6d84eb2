"""Training worthiness, on a model with random weights and sentences of a few words."""

import json
from dataclasses import astuple, fields, replace
from itertools import count, pairwise
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any
from zlib import crc32

import numpy as np
import pytest
import typer
from typer.testing import CliRunner, Result

from tests.fakes import tiny_model, word_tokenizer
from whycite.check.detector import VARIANTS, DetectorHead, InputVariant, ParagraphText, load_detector, readings
from whycite.check.paragraphs import LabelledDocument, LabelledParagraph, LabelledSentence, complete_text
from whycite.documents import read
from whycite.errors import UserError
from whycite.lab.cli.train import worthiness
from whycite.lab.scope.worthinessmeasures import split_by_date
from whycite.lab.train.bases import load_base, save_base
from whycite.lab.train.worthiness.examples import save_labelled
from whycite.models.folders import PACKED

torch = pytest.importorskip("torch", reason="training needs the extra train")
transformers = pytest.importorskip("transformers", reason="training needs the extra train")

from whycite.lab.train.worthiness import WorthinessRecipe, build, scope_recipe, training  # noqa: E402
from whycite.lab.train.worthiness.batches import (  # noqa: E402
    PLACE,
    UNKNOWN,
    WorthinessBatch,
    WorthinessBatches,
    shuffled_paragraphs,
    tokenize_documents,
)
from whycite.lab.train.worthiness.build import build_worthiness_model as make_model  # noqa: E402
from whycite.lab.train.worthiness.network import build_network, scores  # noqa: E402
from whycite.lab.train.worthiness.training import frame_of, judge_out_of_fold, train  # noqa: E402

WORDS = [f"w{at}" for at in range(30)]
SHAPE: dict[str, Any] = {
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "max_position_embeddings": 130,
    "initializer_range": 0.2,  # weights so large that distances count
    "pad_token_id": 1,
}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of a base."""
    folder = tmp_path_factory.mktemp("base") / "tiny"
    save_base(folder, tiny_model(**SHAPE), word_tokenizer([*WORDS, "Introduction", "Methods"]))
    return str(folder)


def documents(number: int, seed: int = 0) -> list[LabelledDocument]:
    """Sentences are worthy when they hold w0 and stand in the introduction."""
    random = Random(seed)

    def paragraph() -> LabelledParagraph:
        heading = random.choice(["Introduction", "Methods"])
        texts = [" ".join(random.choices(WORDS[:8], k=random.randint(3, 7))) for _ in range(random.randint(1, 5))]
        sentences = []
        for at, text in enumerate(texts):
            worthy = "w0" in text.split() and heading[0] == "I"
            places = (text.index("w0") + 2,) if worthy else ()
            sentences.append(LabelledSentence(text, worthy, len(texts) < 3 or at % 3 > 0, "", places))
        return LabelledParagraph((heading,), heading.lower().rstrip("s"), tuple(sentences))

    return [
        LabelledDocument(
            f"d{at}", "", f"2024-{1 + at // 28:02}-{1 + at % 28:02}", tuple(paragraph() for _ in range(12))
        )
        for at in range(number)
    ]


def quietly(word: str) -> None:
    """No word of progress."""


def recipe(base: str, **others: object) -> WorthinessRecipe:
    made = WorthinessRecipe(base=base, epochs=6, rate=5e-3, tokens=512, limit=64, heading="top", noise=0, folds=0)
    return replace(made, **others)  # type: ignore[arg-type]


@pytest.mark.parametrize(("readout", "folds", "f1"), [("mean", 2, 0.8), ("separator", 0, 0.55)])
def test_learns(base: str, readout: str, folds: int, f1: float) -> None:
    parts = documents(40)
    words: list[str] = []
    found = train(parts[:30], parts[30:34], parts[34:], recipe(base, readout=readout, folds=folds), words.append)
    assert found.report["test"]["all"]["f1"] > f1
    assert found.report["test"]["all"]["sentences"] == len(found.test.scores)
    assert len(found.report["epochs"]) == 6
    assert any("dev F1" in word for word in words)


def test_learns_from_the_judgement_of_another_base(base: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts, judge = documents(40), other_base(base, tmp_path, "mpnet")
    learned: list[tuple[str, float]] = []
    real = training.learn

    def noted(*arguments: Any, **named: Any) -> Any:
        learned.append((arguments[4].base, arguments[4].rate))
        return real(*arguments, **named)

    monkeypatch.setattr(training, "learn", noted)
    own = recipe(base, folds=2, judge=judge, judge_rate=4e-3, soft=1)  # labels count for nothing
    found = train(parts[:30], parts[30:34], parts[34:], own, quietly)
    assert learned == [(judge, 4e-3), (judge, 4e-3), (base, 5e-3)]
    assert found.report["test"]["all"]["f1"] > 0.8
    assert found.network["backbone"].config.model_type == "roberta"


def test_a_document_given_twice_is_read_twice(base: str) -> None:
    texts = tokenize_documents(documents(3), load_base(base).tokenizer, 0, 0)
    read = shuffled_paragraphs(texts, np.array([0, 2, 2]), recipe(base), 0)
    times = np.bincount(texts.documents[read], minlength=3) / np.bincount(texts.documents)
    assert times.tolist() == [1, 0, 2]


def test_what_is_too_sure_is_calibrated(base: str, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = tokenize_documents(documents(22), load_base(base).tokenizer, 0, 0)

    def too_sure(*arguments: Any) -> tuple[Any, list[Any]]:
        return None, []

    def scored(reader: Any, texts: Any, numbers: Any) -> tuple[Any, Any]:
        own = np.flatnonzero(np.isin(texts.by_sentence(texts.documents), numbers))
        return own, np.where(texts.worthy[own] ^ (own % 4 == 0), 20.0, -20.0)  # a quarter is wrong

    monkeypatch.setattr(training, "learn", too_sure)
    monkeypatch.setattr(training, "score_sentences", scored)
    soft = judge_out_of_fold(texts, np.arange(20), np.array([20, 21]), recipe(base, folds=2), quietly)
    learned = soft[~np.isnan(soft)]
    assert learned.min() == pytest.approx(0.25, abs=0.1)
    assert learned.max() == pytest.approx(0.75, abs=0.1)


def test_a_smaller_network_learns_from_a_larger_one_and_from_a_reader(base: str, tmp_path: Path) -> None:
    """The reader asks for a citation where "w1" stands, whatever authors cite."""
    large = other_base(base, tmp_path, "mpnet", num_hidden_layers=2)
    out = tmp_path / "made"
    own = recipe(large, epochs=9, judge_rate=5e-3, soft=0.7, words=24, inner=12, layers=1, reader=1.0, bits=4)
    judged = [
        replace(document, key=f"judged {number}", paragraphs=tuple(_read(part) for part in document.paragraphs))
        for number, document in enumerate(documents(30, seed=1))
    ]
    outcome = make_model(documents(40), out, own, quietly, dev=4, test=6, judged=judged)
    assert outcome.network["backbone"].config.intermediate_size == 12
    assert len(outcome.network["backbone"].encoder.layer) == 1
    assert outcome.network["backbone"].config.vocab_size == 4 + 8 + 2  # special tokens, words, headings
    assert outcome.report["test"]["all"]["f1"] > 0.8
    content = json.loads((out / "worthiness.json").read_text())
    content["decisions"]["drafts"] = content["decisions"]["articles"] | {"reader": True}
    (out / "worthiness.json").write_text(json.dumps(content))
    given = [paragraph for document in documents(10, seed=2) for paragraph in document.unlabelled()]
    found = np.concatenate(load_detector(out, 1, "drafts").scores(given))  # type: ignore[attr-defined]
    wanted = np.array(["w1" in text.split() for paragraph in given for text in paragraph.sentences])
    assert np.median(found[wanted]) > np.quantile(found[~wanted], 0.9)


def test_labels_of_documents_that_are_held_out_are_not_learned(
    base: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learned: list[str] = []
    real = training.train

    def noted(*arguments: Any) -> Any:
        learned.extend(document.key for document in arguments[7])
        return real(*arguments)

    monkeypatch.setattr(build, "train", noted)
    own = recipe(base, epochs=1)
    make_model(documents(12), tmp_path / "made", own, quietly, dev=2, test=3, judged=documents(12)[5:9])
    assert learned == ["d5", "d6"]  # d7 and d8 are for dev


def _read(paragraph: LabelledParagraph) -> LabelledParagraph:
    sentences = (
        replace(sentence, worthy=False, reader_label=2 * ("w1" in sentence.text.split()))
        for sentence in paragraph.sentences
    )
    return replace(paragraph, sentences=tuple(sentences))


def test_same_seed_same_scores(base: str) -> None:
    parts = documents(8)

    def run(seed: int) -> list[float]:
        short = recipe(base, epochs=1, noise=0.3, heading="any", seed=seed)
        return [float(each) for each in train(parts[:6], parts[6:7], parts[7:], short, quietly).test.scores]

    assert run(1) == run(1) != run(2)


def test_over_by_the_deadline(base: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = count()
    clock = SimpleNamespace(monotonic=lambda: next(ticks) / 10)  # seconds, more with every look
    monkeypatch.setattr("whycite.lab.train.worthiness.training.time", clock)
    parts = documents(6)
    with pytest.raises(UserError, match="deadline"):
        train(parts[:2], parts[2:3], parts[3:], recipe(base), quietly, deadline=1e-9)
    found = train(parts[:4], parts[4:5], parts[5:], recipe(base, epochs=10**6), quietly, deadline=3)
    assert 0 < len(found.report["epochs"]) < 10**6


def batches(base: str, own: WorthinessRecipe, number: int, learning: bool) -> tuple[Any, list[WorthinessBatch]]:
    loaded = load_base(base)
    texts = tokenize_documents(documents(number), loaded.tokenizer, 0.2, 0)
    order = shuffled_paragraphs(texts, np.arange(number), own, 3)
    maker = WorthinessBatches(texts, frame_of(loaded, own), own, order if learning else np.sort(order), 1, learning)
    return texts, [maker[at] for at in range(len(maker))]


def test_every_sentence_is_in_one_batch(base: str) -> None:
    own = recipe(base, heading="any")
    texts, made = batches(base, own, 5, learning=True)
    assert sorted(at for batch in made for at in batch.sentences) == list(range(len(texts.worthy)))
    assert all(len(batch.tokens) == own.tokens for batch in made)
    assert all(len(batch.bounds) == own.tokens // 8 for batch in made)
    assert any((np.sort(batch.sentences) != batch.sentences).any() for batch in made)


@pytest.mark.parametrize("kind", VARIANTS, ids=lambda kind: kind.name)
def test_passes_are_those_of_the_detector(base: str, kind: InputVariant) -> None:
    own = recipe(base, variant=kind.name, limit=64)
    texts, made = batches(base, own, 3, learning=False)
    frame = frame_of(load_base(base), own)
    found = []
    for batch in made:
        for start, stop in pairwise(batch.bounds):
            assert (batch.positions[start:stop] == np.arange(stop - start)).all()
            if (batch.owner[start:stop] < len(batch.sentences)).any():
                found.append(tuple(batch.tokens[start:stop].tolist()))
    wanted = [
        reading.tokens
        for at in range(len(texts.paragraphs) - 1)
        for reading in readings(
            [texts.tokens_of(int(texts.own[each])).tolist() for each in range(*texts.paragraphs[at : at + 2])],
            texts.tokens_of(int(texts.sections[at, 2])).tolist(),
            kind,
            frame,
        )
    ]
    assert found == wanted


def test_marks_stand_where_citations_stood(base: str) -> None:
    texts, made = batches(base, recipe(base), 3, learning=False)
    word = load_base(base).tokenizer.token_to_id("w0")
    for batch in made:
        marked = batch.marks == PLACE
        assert (batch.tokens[marked] == word).all()
        assert sorted({int(at) for at in batch.owner[marked]}) == list(np.flatnonzero(texts.worthy[batch.sentences]))
        assert (batch.marks[batch.owner == len(batch.sentences)] == UNKNOWN).all()


def test_several_processes_read_the_same(base: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("whycite.lab.train.worthiness.batches.TASK_DOCUMENTS", 2)
    tokenizer = load_base(base).tokenizer
    given = documents(5)
    given[1] = replace(given[1], paragraphs=())  # it counts all the same
    one, two = (tokenize_documents(given, tokenizer, 0.3, 0, workers) for workers in (0, 2))
    assert all(np.array_equal(getattr(one, field.name), getattr(two, field.name)) for field in fields(one))
    assert len(one.worthy) == one.paragraphs[-1]
    assert set(one.documents.tolist()) == {0, 2, 3, 4}


def test_judged_by_those_that_have_not_learned_it(base: str) -> None:
    texts = tokenize_documents(documents(22), load_base(base).tokenizer, 0, 0)
    soft = judge_out_of_fold(texts, np.arange(20), np.array([20]), recipe(base, folds=2, epochs=6), quietly)
    learned = texts.by_sentence(texts.documents) < 20
    assert ((soft[learned] > 0) & (soft[learned] < 1)).all()
    assert np.isnan(soft[~learned]).all()
    assert soft[learned][texts.worthy[learned]].mean() > soft[learned][~texts.worthy[learned]].mean()


def test_conform_paragraphs_alone(base: str) -> None:
    texts = tokenize_documents(documents(5), load_base(base).tokenizer, 0, 0)
    made = shuffled_paragraphs(texts, np.arange(5), recipe(base, conform=True), 0)
    assert 0 < len(made) < len(texts.paragraphs) - 1
    assert (texts.kinds[made] == 0).all()


@pytest.mark.parametrize("kind", ["roberta", "longformer", "mpnet"])
def test_the_mean_is_over_a_sentence_s_own_tokens(base: str, tmp_path: Path, kind: str) -> None:
    own = recipe(base)
    texts, (batch, *_) = batches(base, own, 1, learning=False)
    network = build_network(
        load_base(base if kind == "roberta" else other_base(base, tmp_path, kind)).model, own
    ).eval()
    with torch.inference_mode():
        found, marks = scores(network, batch, "mean", 64, torch.device("cpu"))
        for start, stop in list(pairwise(batch.bounds))[:3]:
            states = network["backbone"](torch.from_numpy(batch.tokens[None, start:stop])).last_hidden_state[0]
            assert torch.allclose(network["marks"](states)[:, 0], marks[start:stop], atol=1e-4)
            for at in set(batch.owner[start:stop].tolist()) - {len(batch.sentences)}:
                places = np.flatnonzero(batch.owner[start:stop] == at)
                assert float(found[at]) == pytest.approx(float(network["head"](states[places].mean(0))), abs=1e-4)
                wanted = texts.tokens_of(int(texts.own[batch.sentences[at]]))
                assert list(batch.tokens[start + places]) == list(wanted)


@pytest.mark.parametrize(
    "change",
    [
        {"variant": "wide"},
        {"epochs": 0},
        {"folds": 1},
        {"soft": 2},
        {"tokens": 63},
        {"judge": "b", "folds": 0},
        {"judge": "b", "inner": 8},
        {"words": 9},
        {"layers": 1},
        {"bits": 5},
    ],
    ids=str,
)
def test_recipes_that_cannot_be(change: dict[str, Any]) -> None:
    with pytest.raises(UserError):
        WorthinessRecipe(**change)


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
    pack = tmp_path / "pack.jsonl.bz2"
    packed = run("--data", papers, "--out", pack, "--pack")
    assert packed.exit_code == 0, packed.exception
    assert "8 documents" in packed.stdout
    common = ("--base", base, "--dev", 1, "--test", 2, "--epochs", 1, "--batch", 512, "--limit", 64, "--rate", 5e-3)
    for name, data in (("one", papers), ("two", pack)):
        made = run("--data", data, "--out", tmp_path / name, *common)
        assert "fold 2 of 2" in made.stdout
        assert made.exit_code == 0, (made.output, made.exception)
        assert "saved to" in made.stdout
    first, second = (load_detector(tmp_path / name, 1) for name in ("one", "two"))
    (found,), (other,) = (each.worthiness([ParagraphText(("w1 w2.", "w3."), ("Methods",))]) for each in (first, second))
    assert len(found) == 2
    assert np.allclose(found, other)
    card = (tmp_path / "one" / "README.md").read_text("utf-8")
    assert "correlation of scores" in card
    assert str(tmp_path) not in card
    assert str(Path(base).parent) not in card
    plain = run("--data", pack, "--out", tmp_path / "plain", *common, "--folds", 0)
    assert plain.exit_code == 0
    assert "part" not in plain.stdout
    again = run("--data", pack, "--out", tmp_path / "one", *common)
    assert isinstance(again.exception, UserError)


def test_from_papers_and_labels_to_a_smaller_detector(base: str, tmp_path: Path) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    labels = []
    for number in range(1, 9):
        path = papers / f"{number}.md"
        path.write_text(PAPER.format(number=number), "utf-8")
        document = read(path)
        checksums = [crc32(complete_text(sentence, document).encode()) for sentence in document.sentences]
        sentences = [[index, checksum, "A", 2 * (index % 2), 1.0] for index, checksum in enumerate(checksums)]
        part = "test" if number == 2 else "train"
        labels.append(json.dumps({"document": f"papers/{path.name}", "part": part, "sentences": sentences}))
    (tmp_path / "labels.jsonl").write_text("\n".join(labels))
    common = ("--data", papers, "--dev", 1, "--test", 2, "--epochs", 1, "--batch", 512, "--limit", 64, "--base",
              other_base(base, tmp_path, "mpnet"), "--inner", 12, "--words", 20, "--bits", 4)  # fmt: skip
    made = run(*common, "--out", tmp_path / "made", "--labels", tmp_path / "labels.jsonl", "--labelled", tmp_path)
    assert made.exit_code == 0, (made.output, made.exception)
    assert "inner width of 12" in made.stdout
    assert (tmp_path / "made" / PACKED).is_file()
    assert len(DetectorHead.read(tmp_path / "made").output) == 2
    card = (tmp_path / "made" / "README.md").read_text("utf-8")
    assert "4 documents" in card  # of eight, one is set aside and three are held out
    unlabelled = run(*common, "--out", tmp_path / "other", "--labels", tmp_path / "labels.jsonl")
    assert isinstance(unlabelled.exception, UserError)
    small = run("--data", papers, "--out", tmp_path / "other", "--base", base, "--inner", 12, "--dev", 1, "--test", 2)
    assert "only an MPNet" in str(small.exception)


def other_base(base: str, folder: Path, kind: str, **shape: Any) -> str:
    """A base of another kind with the same words."""
    window = {"attention_window": 16, "initializer_range": 0.02} if kind == "longformer" else {}
    model = tiny_model(kind, **(SHAPE | window | shape))
    save_base(folder / "base", model, load_base(base).tokenizer)
    return str(folder / "base")


@pytest.mark.parametrize("kind", ["roberta", "bert", "longformer"])
@pytest.mark.parametrize("readout", ["mean", "separator"])
def test_what_runs_says_what_was_trained(base: str, tmp_path: Path, kind: str, readout: str) -> None:
    start = base if kind == "roberta" else other_base(base, tmp_path, kind)
    out = tmp_path / "made"
    own = recipe(start, epochs=3, readout=readout)
    outcome = make_model(documents(12), out, own, lambda word: None, dev=2, test=3)
    assert (out / "model.onnx").is_file() == (kind != "longformer")
    detector = load_detector(out, 1)
    held = documents(12)[-3:]
    found = np.concatenate(detector.scores([each for one in held for each in one.unlabelled()]))  # type: ignore[attr-defined]
    assert np.corrcoef(found, outcome.test.scores)[0, 1] > 0.97
    content = json.loads((out / "worthiness.json").read_text())
    assert content["readout"] == readout
    assert content["decisions"].keys() == {"articles"}


@pytest.mark.parametrize(("variant", "readout"), [("ctx-section-first", "separator"), ("solo-section-extra", "start")])
def test_scopes_recipe_reads_types_and_runs_as_it_was_trained(
    base: str, tmp_path: Path, variant: str, readout: str
) -> None:
    published = scope_recipe(variant, base)
    assert (published.readout, published.heading, published.conform) == (readout, "type", True)
    assert (published.noise, published.named, published.marks, published.folds, published.soft) == (0, 0, 0, 0, 0)
    own = replace(published, epochs=3, rate=5e-3, limit=64)
    outcome = make_model(documents(12), tmp_path / "made", own, quietly, dev=2, test=3)
    content = json.loads((tmp_path / "made" / "worthiness.json").read_text())
    assert (content["readout"], content["section"]) == (readout, "type")
    paragraphs = [each for one in documents(12)[-3:] for each in one.unlabelled()]
    found = np.concatenate(load_detector(tmp_path / "made", 1).scores(paragraphs))  # type: ignore[attr-defined]
    assert np.corrcoef(found, outcome.test.scores)[0, 1] > 0.97


@pytest.mark.parametrize(
    ("steps", "expected"),
    [(1500, {0: 0.0, 150: 0.5, 300: 1.0, 900: 0.5, 1500: 0.0}), (200, {0: 0.0, 150: 0.5, 200: 2 / 3})],
)
def test_scopes_rate_rises_for_300_steps_however_many_follow(steps: int, expected: dict[int, float]) -> None:
    own = scope_recipe("ctx")
    fitting = training.WorthinessOptimiser(
        torch.nn.Linear(2, 2), own, np.zeros(1, np.float32), torch.device("cpu"), np.inf, print
    )
    for step, share in expected.items():
        fitting.advance(step / steps, steps)
        assert fitting.rate == pytest.approx(share * own.rate)


def test_the_start_is_read_for_one_sentence_at_a_time(base: str) -> None:
    with pytest.raises(UserError, match="choose a solo variant"):
        recipe(base, variant="ctx", readout="start")


def test_what_bibliographies_count_is_learned_too(base: str, tmp_path: Path) -> None:
    titles = tuple(f"w{first} w{second}" for first in range(6) for second in range(6))
    listed = [replace(each, titles=titles) for each in documents(12)]
    words: list[str] = []
    make_model(listed, tmp_path / "made", recipe(base, epochs=1), words.append, dev=3, test=3)
    assert "reading the bibliographies of 3 documents" in words
    counts = load_detector(tmp_path / "made", 1).bibliography
    assert counts is not None
    assert np.isfinite(astuple(counts)).all()
    make_model(documents(12), tmp_path / "other", recipe(base, epochs=1), words.append, dev=3, test=3)
    assert load_detector(tmp_path / "other", 1).bibliography is None


def test_documents_without_titles_count_for_the_threshold(
    base: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dev = split_by_date(documents(12), 3, 3).dev
    listed = [replace(each, titles=() if each == dev[1] else ("w0 w1", *map(str, range(50)))) for each in documents(12)]
    given: list[list[bool]] = []

    def taught(alone: Any, signs: Any, worthy: Any) -> None:
        given.append([bool(np.isnan(each).all()) for each in signs])
        assert list(map(len, alone)) == list(map(len, worthy)) == list(map(len, signs))

    monkeypatch.setattr(build, "learn_bibliography", taught)
    words: list[str] = []
    make_model(listed, tmp_path / "made", recipe(base, epochs=1), words.append, dev=3, test=3)
    assert "reading the bibliographies of 2 documents" in words
    assert given == [[False, True, False]]


def test_a_model_that_is_there_is_kept(base: str, tmp_path: Path) -> None:
    (tmp_path / "worthiness.json").write_text("mine")
    with pytest.raises(UserError, match="already contains a model"):
        make_model(documents(6), tmp_path, recipe(base), lambda word: None, 1, 1)
    assert (tmp_path / "worthiness.json").read_text() == "mine"
    save_labelled(documents(3), tmp_path / "few.jsonl.bz2")
    few = run("--data", tmp_path / "few.jsonl.bz2", "--out", tmp_path / "new", "--base", base)
    assert "cannot hold out 300 of 3 documents" in str(few.exception)
