"""Weights fitted to what is known."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.fakes import FakeEncoder, FakeEntailment
from whycite.errors import UserError
from whycite.lab.thesis import datasets
from whycite.lab.thesis.datasets import PassageCase
from whycite.lab.train.verifyweights import (
    SignExample,
    fit_bars,
    fit_classes,
    fit_order,
    fit_steps,
    fit_verdicts,
    main,
    sign_examples,
)
from whycite.verify.features import CLASSES, KINDS, STEPS, PassageWeights, load_weights, shipped_weights

NAMES = ("tells", "noise", "constant")


def _cases(count: int = 60) -> tuple[list[np.ndarray], list[np.ndarray]]:
    chance = np.random.default_rng(1)
    tables, gold = [], []
    for _ in range(count):
        marked = np.zeros(20, np.bool_)
        marked[chance.integers(20)] = True
        table = np.stack([100 * (marked + chance.normal(0, 0.5, 20)), chance.normal(0, 1, 20), np.ones(20)], axis=1)
        tables.append(table)
        gold.append(marked)
    return tables, gold


def test_what_tells_gold_sentences_counts() -> None:
    tables, gold = _cases()
    weights = fit_order(tables, gold, NAMES)
    assert weights["tells"] > 0.01
    assert abs(weights["noise"]) < 50 * weights["tells"]
    assert weights["constant"] == 0
    above = [
        float((table @ [weights[name] for name in NAMES])[marked].max())
        for table, marked in zip(tables, gold, strict=True)
    ]
    below = [
        float((table @ [weights[name] for name in NAMES])[~marked].mean())
        for table, marked in zip(tables, gold, strict=True)
    ]
    assert np.mean(np.array(above) > np.array(below)) > 0.9


def test_logits_are_chances() -> None:
    tables, gold = _cases()
    weights = fit_order(tables, gold, NAMES)
    logits = np.concatenate(tables) @ [weights[name] for name in NAMES] + weights["bias"]
    assert float((1 / (1 + np.exp(-logits))).mean()) == pytest.approx(1 / 20, abs=0.01)


def test_nothing_to_fit_to() -> None:
    with pytest.raises(UserError, match="no cases with both gold"):
        fit_order([np.zeros((2, 3))], [np.zeros(2, np.bool_)], NAMES)
    with pytest.raises(UserError, match="with these labels"):
        fit_classes([{"a": 1.0}], ["else"], ("yes", "no"))


def test_classes() -> None:
    signs = [{"a": float(n % 2), "b": float(n % 3)} for n in range(60)]
    weights = fit_classes(signs, ["yes" if n % 2 else "no" for n in range(60)], ("yes", "no"))
    assert weights["yes"]["a"] > 1 > -1 > weights["no"]["a"]
    assert abs(weights["yes"]["b"]) < 0.3
    assert weights.keys() == {"yes", "no"}


NOISE = ("The weather was fine.", "A river flows there.", "Nobody was in town.", "The car is red.")


def _case(number: int, label: str = "backed") -> PassageCase:
    sentences = (*NOISE[: number % 4], f"Protein p{number} increases growth of cell c{number}.", *NOISE[number % 4 :])
    gold = frozenset({number % 4}) if label != "not found" else frozenset[int]()
    claim = f"p{number} increases growth of cell c{number}"
    claim = claim if label == "backed" else f"Kinase x{number} binds receptor y{number}"
    return PassageCase(str(number), "scifact", claim, f"claim {number}", f"d{number}", sentences, gold, label)  # type: ignore[arg-type]


def _reader() -> FakeEntailment:
    """Supports claims about what a passage names."""

    def judgement(claim: str, passage: str) -> tuple[float, float, float, float]:
        named = claim.split()[0] in passage.split()
        return (3.0, 3.0, -3.0, -1.0) if named else (-3.0, -3.0, -3.0, 3.0)

    return FakeEntailment(judgement)


def test_steps_are_fitted_in_turn() -> None:
    weights = fit_steps([_case(number) for number in range(20)], FakeEncoder(), _reader())
    steps = weights.steps["abstract"]
    assert steps["words"]["coverage"] > 0
    assert steps["words"]["bm25"] > 0
    assert steps["read"]["relevance"] > 0
    assert {step: steps[step].keys() for step in STEPS} == {step: {*STEPS[step], "bias"} for step in STEPS}
    assert weights.steps["paper"]["words"] == {}  # there was no such case


def test_signs_are_those_that_verify_collects() -> None:
    cases = [
        _case(1),
        _case(2, "not found"),
        replace(_case(3), label=None),
        replace(_case(4), sentences=(), gold=frozenset()),
    ]
    weights = fit_steps([_case(number) for number in range(20)], FakeEncoder(), _reader())
    backed, missing = sign_examples(cases, FakeEncoder(), _reader(), weights)
    assert (backed.label, backed.kind) == ("backed", "abstract")
    assert backed.signs["support"] == 4.0
    assert missing.signs["support"] == -6.0


def _examples(kind: str, count: int = 60) -> list[SignExample]:
    """Claims of which a third each is backed, contradicted and neither, and a sign for each of the first two."""
    chance = np.random.default_rng(0)
    return [
        SignExample(
            {
                "support": 3.0 * (label == "backed") + float(chance.normal()),
                "contradiction": 3.0 * (label == "contradicted") + float(chance.normal()),
            },
            label,
            kind,
        )
        for label in CLASSES
        for _ in range(count // 3)
    ]


def test_verdicts_are_fitted_by_kind() -> None:
    paper = _examples("paper")
    backwards = [
        replace(example, signs={name: -value for name, value in example.signs.items()}, kind="abstract")
        for example in paper
    ]
    weights = fit_verdicts([*paper, *backwards])
    assert weights.keys() == {"paper", "abstract"}
    assert weights["paper"]["backed"]["support"] > 0.5 > -0.5 > weights["abstract"]["backed"]["support"]
    assert weights["paper"]["contradicted"]["contradiction"] > 0.5
    assert weights["paper"].keys() == set(CLASSES)


def test_a_kind_without_examples_gets_the_weights_of_all() -> None:
    weights = fit_verdicts(_examples("paper"))
    assert weights["abstract"] == weights["paper"]


def _chance_weights() -> PassageWeights:
    """Weights by which the sign "logit" is the log odds of backed against the rest."""
    verdicts = {"backed": {"logit": 1.0}, "contradicted": {"bias": -50.0}, "not found": {}}
    return PassageWeights({}, dict.fromkeys(KINDS, verdicts))


def _rows(label: str, chance: float, count: int) -> list[SignExample]:
    return [SignExample({"logit": float(np.log(chance / (1 - chance)))}, label, "paper")] * count


def test_a_bar_is_the_lowest_at_which_few_others_get_the_verdict() -> None:
    rows = [*_rows("backed", 0.9, 50), *_rows("not found", 0.72, 10), *_rows("not found", 0.1, 90)]
    bars = fit_bars(rows, _chance_weights())
    assert bars["paper"]["backed"] == 0.75  # ten of a hundred are wrong below it, none above
    few = [*_rows("backed", 0.9, 50), *_rows("not found", 0.72, 3), *_rows("not found", 0.1, 97)]
    assert fit_bars(few, _chance_weights())["paper"]["backed"] == 0.5


def test_what_is_more_likely_than_not_is_said_of_abstracts() -> None:
    bars = fit_bars(_rows("not found", 0.99, 20), _chance_weights())
    assert bars["abstract"] == {"backed": 0.5, "contradicted": 0.5}


def test_a_bar_that_nothing_reaches_is_the_highest() -> None:
    bars = fit_bars(_rows("not found", 0.99, 20), _chance_weights())
    assert bars["paper"]["backed"] == pytest.approx(0.9)
    assert bars.keys() == set(KINDS)


def test_wrong_use() -> None:
    with pytest.raises(UserError, match="expected the folder of the datasets, the file to write, recorded judgements"):
        main([])


def test_the_command_writes_weights_with_bars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [_case(number, "backed" if number % 2 else "not found") for number in range(30)]
    _write(
        tmp_path / "scifact" / "corpus.jsonl",
        [{"doc_id": number + 1, "abstract": case.sentences} for number, case in enumerate(cases)],
    )
    evidence = [
        {str(number + 1): [{"sentences": sorted(case.gold), "label": "SUPPORT"}]} if case.gold else {}
        for number, case in enumerate(cases)
    ]
    _write(
        tmp_path / "scifact" / "claims_train.jsonl",
        [
            {"id": number, "claim": case.claim, "cited_doc_ids": [number + 1], "evidence": evidence[number]}
            for number, case in enumerate(cases)
        ],
    )
    said = [{"sid": number, "text": text} for number, text in enumerate(NOISE)]
    _write(tmp_path / "clscisumm" / "train-documents.jsonl", [{"paper_id": id, "sentences": said} for id in "pqrst"])
    citing = {"citance": "The river flows through the town.", "gold_sids": [1]}
    _write(
        tmp_path / "clscisumm" / "train.jsonl",
        [{**citing, "citing_paper": f"x{id}", "citance_id": id, "topic": id} for id in "pqrst"],
    )
    loaded = [*datasets.load_clscisumm(tmp_path / "clscisumm"), *datasets.load_scifact(tmp_path / "scifact")]
    reader = _reader()
    recorded = {
        case.id: [
            list(range(len(case.sentences))),
            reader.judge(case.claim, case.sentences).tolist(),
            reader.judge(case.claim, [" ".join(case.sentences)])[0].tolist(),
        ]
        for case in loaded
    }
    (tmp_path / "recorded.json").write_text(json.dumps(recorded), "utf-8")
    parts: list[str] = []

    def written(path: Path, data: Path, part: str) -> list[PassageCase]:
        parts.append(part)
        return [*cases, replace(cases[0], citing="others")]

    monkeypatch.setattr("whycite.lab.train.verifyweights.load_encoder", FakeEncoder)
    monkeypatch.setattr("whycite.lab.train.verifyweights.load_entailment", _reader)
    monkeypatch.setattr("whycite.lab.train.verifyweights.load_written", written)
    told: list[str] = []
    paths = ("", "out.json", "recorded.json", "written.jsonl")
    main([str(tmp_path / name) for name in paths], told.append)
    assert set(parts) == {"fit", "train"}  # the articles that measure are not fitted to
    weights = load_weights(tmp_path / "out.json")
    assert weights.bars.keys() == weights.verdicts.keys() == set(KINDS)
    assert weights.verdicts["abstract"]["backed"]["support"] > 0
    # What an article only reports of others is neither backed nor not found.
    assert told[-1].endswith("fitted to 35 claims with passages and 30 with verdicts")
    parts.clear()
    main([str(tmp_path), str(tmp_path / "alone.json"), "-", str(tmp_path / "written.jsonl")], told.append)
    alone, shipped = load_weights(tmp_path / "alone.json"), shipped_weights()
    assert parts == ["fit"]
    for kind in KINDS:
        assert {step: alone.steps[kind][step] for step in ("words", "meaning")} == {
            step: shipped.steps[kind][step] for step in ("words", "meaning")
        }
    assert alone.steps["abstract"]["read"] != shipped.steps["abstract"]["read"]
    assert alone.verdicts["abstract"]["backed"]["support"] > 0
    # A fifth of SciFact: the bundled model has learned from the rest.
    assert told[-1].endswith("fitted to 7 claims with passages and 30 with verdicts")


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
