"""`whycite train passages` and `whycite eval passages`, from data sets to models and tables."""

import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import typer
from typer.testing import CliRunner, Result

from tests.fakes import FakeRanker
from whycite.lab.cli.evaluate_passages import passages as evaluate
from whycite.lab.cli.train_verify import passages as train

pytest.importorskip("torch")

app = typer.Typer()
app.command("train")(train)
app.command("eval")(evaluate)

TOPICS = ["ants", "bees", "cats", "dogs", "eels", "foxes"]
WORDS = [*TOPICS, "grow", "fall", "when", "it", "rains", "snows", "by", "and", "sleep", "increase", "are", "seen"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """SciFact in small: thirty abstracts of four sentences, of which one is of the claim's topic; and vectors."""
    chance = Random(0)
    (tmp_path / "scifact").mkdir()
    corpus, claims = [], []
    for at in range(30):
        topics = chance.sample(TOPICS, 4)
        corpus.append({"doc_id": at, "abstract": [f"{topic} increase when it rains {at}." for topic in topics]})
        right = chance.randrange(4)
        evidence = {str(at): [{"sentences": [right], "label": chance.choice(["SUPPORT", "CONTRADICT"])}]}
        claim = f"{topics[right]} increase when it snows."
        claims.append({"id": at, "claim": claim, "evidence": evidence if at % 5 else {}, "cited_doc_ids": [at]})
    _write(tmp_path / "scifact" / "corpus.jsonl", corpus)
    _write(tmp_path / "scifact" / "claims_train.jsonl", claims)
    numbers = np.random.default_rng(0).normal(size=(len(WORDS), 8)).round(3)
    lines = (" ".join([word, *map(str, row)]) + "\n" for word, row in zip(WORDS, numbers.tolist(), strict=True))
    (tmp_path / "glove.txt").write_text("".join(lines), "utf-8")
    return tmp_path


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def _run(*arguments: object) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)), env={"COLUMNS": "160"})


def test_models_beside_words_and_meaning(folder: Path) -> None:
    asked: list[object] = ["eval", "--data", folder / "scifact", "--models", "gru,document", "--pairs", "hard"]
    asked += ["--folds", 2, "--epochs", 1, "--altered", 2]
    asked += ["--vectors", folder / "glove.txt", "--work", folder / "work"]
    result = _run(*asked, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert (found["folds"], found["learnt_from"]) == (2, "hard")
    assert found["datasets"]["scifact"]["with_gold"] == 24
    methods = {"bm25", "encoder", "verify", "gru", "document"}
    assert methods <= set(found["pairs"]["scifact"])
    assert found["pairs"]["scifact"]["bm25"]["hard"]["mean"] == 1.0  # only the right sentence names the topic
    assert found["documents"]["scifact"]["bm25"]["MRR"]["mean"] == 1.0
    assert 0 <= found["selection"]["scifact"]["gru"]["f1"] <= 1
    assert set(found["labels"]) == set(found["altered"]) == {"scifact"}
    assert found["altered"]["scifact"]["all"]["pairs"] == 2
    kept = folder / "work" / "fold-2" / "gru" / "weights.npz"
    before = kept.stat().st_mtime_ns
    again = _run(*asked)
    assert again.exit_code == 0, again.output
    assert kept.stat().st_mtime_ns == before  # a model that is kept is not trained again
    assert "0.777" in again.stdout
    assert f"{found['pairs']['scifact']['gru']['hard']['mean']:.3f}" in again.stdout
    assert "scifact: ranking all sentences of the document" in again.stdout
    assert "label accuracy" in again.stdout


def test_no_models_and_no_verdicts(folder: Path) -> None:
    result = _run("eval", "--data", folder / "scifact", "--models", "", "--folds", 1, "--no-verdicts", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert "gru" not in found["pairs"]["scifact"]
    assert "labels" not in found


def _begins_alike(kind: str, claim: str, text: str) -> float:
    assert kind == "passage"
    return float(text.startswith(claim.split()[0]))


@pytest.mark.parametrize("own", [False, True], ids=["one", "each"])
def test_encoders_and_rankers_beside(folder: Path, own: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rankers: dict[Path, FakeRanker] = {}
    monkeypatch.setattr(
        "whycite.models.pairs.load_ranker",
        lambda path: rankers.setdefault(path, FakeRanker(_begins_alike, str(path))),
    )
    if own:
        for fold in (1, 2):
            (folder / "ranker" / f"fold-{fold}").mkdir(parents=True)
    asked = ["eval", "--data", folder / "scifact", "--models", "", "--folds", 2, "--no-verdicts", "--seed", 5]
    result = _run(*asked, "--encoder", "claims-30m", "--ranker", folder / "ranker", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["seed"] == 5
    figures = found["pairs"]["scifact"]
    assert figures["encoder claims-30m"] == figures["encoder"]
    assert figures["ranker"]["hard"]["mean"] == 1.0
    assert found["one_for_all_folds"] == (["verify"] if own else ["ranker", "verify"])
    assert len(rankers) == (2 if own else 1)


def _record(folder: Path, number: int = 30) -> Path:
    """The judgements of a model that knows the gold, on the first claims of SciFact."""
    from whycite.lab.thesis.datasets import load_scifact

    recorded = {}
    for case in load_scifact(folder / "scifact")[:number]:
        decided = [0, 5, 0] if case.label == "backed" else [0, 0, 5]
        rows = [[9, *decided[1:], 0] if index in case.gold else [0, 0, 0, 5] for index in range(4)]
        recorded[case.id] = [[0, 1, 2, 3], rows, [0, *decided[1:], 0] if case.gold else [0, 0, 0, 5]]
    path = folder / "recorded.json"
    path.write_text(json.dumps(recorded), "utf-8")
    return path


def test_judgements_of_models_that_had_not_seen_the_claims(folder: Path) -> None:
    asked = ["eval", "--data", folder / "scifact", "--models", "", "--folds", 2, "--recorded", _record(folder)]
    result = _run(*asked, "--json")
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert report["pairs"]["scifact"]["verify"]["hard"]["mean"] == 1.0
    assert report["one_for_all_folds"] == []
    labels = report["labels"]["scifact"]
    assert labels["cases"] == 30  # every claim, since none was seen
    assert labels["accuracy"] > 0.7  # the most frequent label has less than half
    assert report["altered"] == {}  # nobody has recorded judgements on altered claims
    assert "trained on these datasets" not in _run(*asked).stdout


def test_judgements_that_lack_claims(folder: Path) -> None:
    (folder / "recorded.json").write_text("no json", "utf-8")
    asked = ["eval", "--data", folder / "scifact", "--models", "", "--folds", 2, "--no-verdicts"]
    result = _run(*asked, "--recorded", folder / "recorded.json")
    assert "recorded.json: not a file of recorded judgements" in str(result.exception)


def test_labels_alone(tmp_path: Path) -> None:
    """Citation-Integrity tells no sentences, so there is nothing to order; only its dev part is judged."""
    folder = tmp_path / "citint"
    folder.mkdir()
    sentences = ["Sleep was reduced by 20 % in mice.", "Mice were kept in cages.", "We thank all mice."]
    _write(folder / "corpus.jsonl", [{"doc_id": 1000 * at, "abstract": sentences} for at in range(1, 5)])
    claims = [
        {
            "id": at,
            "claim": "Sleep was reduced by 20 % in mice <|cit|>.",
            "evidence": {str(1000 * at): [{"sentences": [0], "label": "SUPPORT"}]},
            "cited_doc_ids": [1000 * at],
        }
        for at in range(1, 5)
    ]
    _write(folder / "claims_train.jsonl", claims[:2])
    _write(folder / "claims_dev.jsonl", claims[2:])
    result = _run("eval", "--data", folder, "--altered", 1)
    assert result.exit_code == 0, result.output
    assert "citint dev: 2 claims, label accuracy" in result.stdout
    assert "citint dev: claims altered" in result.stdout
    assert "thesis" not in result.stdout
    found = json.loads(_run("eval", "--data", folder, "--altered", 1, "--json").stdout)
    assert sum(sum(row.values()) for row in found["labels"]["citint dev"]["confusion"].values()) == 2
    assert found["altered"]["citint dev"]["all"]["pairs"] == 1
    assert "none of the datasets has" in str(
        _run("train", "--data", folder, "--model", "rnn", "--out", tmp_path / "x").exception
    )


def test_verdicts_on_a_split_by_path(folder: Path) -> None:
    """A split in SciFact's form anywhere: all of its claims are judged by `verify` as it is, and nothing is ranked."""
    claims = (folder / "scifact" / "claims_train.jsonl").read_text("utf-8").splitlines()[:10]
    (folder / "scifact" / "my_split.jsonl").write_text("\n".join(claims), "utf-8")
    asked = ["eval", "--data", folder / "scifact" / "my_split.jsonl", "--no-ranking", "--altered", 0]
    found = json.loads(_run(*asked, "--json").stdout)
    assert "pairs" not in found
    assert found["altered"] == {}
    labels = found["labels"]["scifact/my_split"]
    assert (labels["cases"], labels["classes"]["not found"]["cases"]) == (10, 2)
    contradicted = labels["confusion"]["contradicted"]
    assert labels["contradicted_called_backed"]["cases"] == contradicted["backed"] + contradicted["secondary"]
    shown = _run(*asked).stdout
    assert f"scifact/my_split: 10 claims, label accuracy {labels['accuracy']:.3f}" in shown
    called = labels["contradicted_called_backed"]["cases"]
    assert f"Contradicted called backed: {called} of {sum(contradicted.values())}" in shown
    assert f"{labels['classes']['backed']['recall']:.3f}" in shown


def test_a_model_is_trained_and_scores(folder: Path) -> None:
    from whycite.lab.thesis.modelstore import load

    asked = ("train", "--model", "lstm", "--data", folder / "scifact", "--vectors", folder / "glove.txt")
    result = _run(*asked, "--out", folder / "model", "--pairs", "hard", "--epochs", 2, "--hidden", 4, "--seed", 3)
    assert result.exit_code == 0, result.output
    assert "lstm: epoch 2, loss" in result.stdout
    assert "test accuracy" in result.stdout
    model = load(folder / "model")
    assert (model.recipe.hidden, model.recipe.seed) == (4, 3)
    assert model("bees increase", ["bees grow", "ants grow"]).shape == (2,)
    assert str(folder) not in (folder / "model" / "README.md").read_text("utf-8")


def test_labels_of_annotate_train_a_model_and_measure_it(folder: Path) -> None:
    """What `whycite annotate aggregate` writes is data for both commands."""
    from whycite.lab.annotate.aggregation import AggregatedLabel
    from whycite.lab.annotate.pairs import judgement_row
    from whycite.lab.annotate.tasks import LabellingTask, TaskOption
    from whycite.lab.thesis.datasets import load_scifact

    names = {"backed": "supports", "contradicted": "contradicts", "not found": "neither", None: "neither"}
    rows = [
        judgement_row(
            LabellingTask(f"{number}:TC:{at}", "TC", case.claim, (TaskOption(at, text),), case.citing, case.document),
            AggregatedLabel(names[case.label] if at in case.gold else "neither", 1.0, 3),
        )
        for number, case in enumerate(load_scifact(folder / "scifact"))
        for at, text in enumerate(case.sentences)
    ]
    _write(folder / "labels.jsonl", rows)
    asked = ("--data", folder / "labels.jsonl", "--vectors", folder / "glove.txt", "--pairs", "hard", "--epochs", 1)
    result = _run("train", "--model", "gru", *asked, "--out", folder / "model", "--hidden", 4)
    assert result.exit_code == 0, result.output
    assert "test accuracy" in result.stdout
    found = json.loads(_run("eval", *asked, "--models", "", "--folds", 2, "--altered", 0, "--json").stdout)
    (name,) = found["labels"]
    assert name == f"{folder.name}/labels"
    assert found["datasets"][name]["with_gold"] == 24
    assert found["documents"][name]["bm25"]["MRR"]["mean"] == 1.0  # as on the data set it was made from
    assert found["labels"][name]["classes"]["not found"]["cases"] == 6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("eval", "--data", "{}"), "not a dataset of passages; expected the keys"),
        (("eval", "--data", "nowhere/scifact"), "no such file or folder"),
        (("eval", "--data", "{}/scifact/corpus.jsonl"), "corpus.jsonl:1: not a claim with passages; expected the keys"),
        (("eval", "--data", "{}/scifact", "--no-ranking", "--no-verdicts"), "nothing to evaluate"),
        (("eval", "--data", "{}/scifact", "--models", "cnn"), "unknown model 'cnn'"),
        (("eval", "--data", "{}/scifact", "--models", "", "--ranker", "{}"), "has no ranker"),
        (("train", "--data", "{}/scifact", "--model", "cnn", "--out", "{}/x"), "unknown model 'cnn'"),
        (("train", "--data", "nowhere/citint", "--model", "rnn", "--out", "{}/x"), "no such file or folder"),
        (("train", "--data", "{}/scifact", "--model", "rnn", "--out", "{}/x", "--vectors", "no.txt"), "cannot be read"),
    ],
    ids=["set", "folder", "file", "nothing", "model", "ranker", "train-model", "train-folder", "vectors"],
)
def test_mistakes(folder: Path, arguments: tuple[str, ...], message: str) -> None:
    result = _run(*(argument.format(folder) for argument in arguments))
    assert message in str(result.exception)


def test_a_trained_model_is_measured_as_it_is(folder: Path) -> None:
    trained = ["train", "--model", "gru", "--data", folder / "scifact", "--vectors", folder / "glove.txt"]
    assert _run(*trained, "--epochs", 1, "--out", folder / "my-gru").exit_code == 0
    asked = ["eval", "--data", folder / "scifact", "--model", folder / "my-gru", "--no-verdicts"]
    result = _run(*asked, "--json")
    assert result.exit_code == 0, result.output
    figures = json.loads(result.stdout)
    assert set(figures["documents"]["scifact"]) == {"bm25", "encoder", "model my-gru"}
    assert figures["datasets"]["scifact"]["with_gold"] == 24  # all claims, not those of one part
    assert "folds" not in figures
    assert "--folds is not used with --model" in str(_run(*asked, "--folds", 2).exception)
    assert "two models are called 'my-gru'" in str(_run(*asked, "--model", folder / "my-gru").exception)
    assert "not a model of passages" in str(_run(*asked[:-2], folder / "scifact").exception)
