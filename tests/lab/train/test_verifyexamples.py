"""What verify learns from: data sets, recorded judgements, and cases ready for claims."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.fakes import FakeEncoder, FakeEntailment
from whycite.errors import UserError
from whycite.lab.thesis.datasets import PassageCase
from whycite.lab.train.verifyexamples import (
    CachedEntailment,
    RecordedEntailment,
    load_recorded,
    prepare,
    training_cases,
)
from whycite.verify.features import shipped_weights

CASE = PassageCase(
    "1", "scifact", "Foragers sleep", "c", "d", ("Bees work.", "Foragers sleep at night.", "We thank."), frozenset({1})
)
RECORDED: dict[str, Any] = {"1": [[0, 1], [[0, 0, 0, 3], [2, 4, 0, 0]], [1, 2, 0, 0]]}


def test_recorded_judgements_are_those_of_sentences_and_of_all_together() -> None:
    model = RecordedEntailment([CASE], RECORDED)
    together = " ".join(CASE.sentences[index] for index in RECORDED[CASE.id][0])
    rows = model.judge(CASE.claim, [CASE.sentences[1], CASE.sentences[0], together])
    np.testing.assert_array_equal(rows, [[2, 4, 0, 0], [0, 0, 0, 3], [1, 2, 0, 0]])
    assert rows.dtype == np.float64


def test_what_was_not_recorded_is_an_error() -> None:
    with pytest.raises(UserError, match="no judgement was recorded on 'Foragers sleep'"):
        RecordedEntailment([CASE], RECORDED).judge(CASE.claim, ["Ants."])


def test_another_model_judges_what_was_not_recorded() -> None:
    model = RecordedEntailment([CASE], RECORDED, FakeEntailment(lambda claim, passage: (9, 0, 0, 0)))
    assert model.judge("Ants carry leaves", ["Ants."]).tolist() == [[9, 0, 0, 0]]
    rows = model.judge(CASE.claim, ["Ants.", CASE.sentences[1]])  # the model may have learned from this claim
    assert np.isnan(rows[0]).all()
    assert rows[1].tolist() == [2, 4, 0, 0]


def test_a_file_of_recorded_judgements(tmp_path: Path) -> None:
    path = tmp_path / "recorded.json"
    path.write_text(json.dumps(RECORDED | {"9": [[], [], []]}), "utf-8")
    strange = PassageCase("2", "scifact", "Ants carry leaves", "c", "e", ("Ants.",))
    model = load_recorded(path, [CASE, strange])
    assert model.judge(CASE.claim, [CASE.sentences[1]]).tolist() == [[2, 4, 0, 0]]


def test_a_pair_is_read_once() -> None:
    model = FakeEntailment(lambda claim, passage: (len(passage), 0, 0, 0))
    cached = CachedEntailment(model)
    assert cached.name == model.name
    assert cached.judge("Bees sleep", ["Bees.", "Ants.", "Bees."])[:, 0].tolist() == [5, 5, 5]
    assert cached.judge("Bees sleep", ["Ants.", "Honeybees."])[:, 0].tolist() == [5, 10]
    assert cached.judge("Bees sleep", []).shape == (0, 4)
    assert [passages for _, passages in model.asked] == [["Bees.", "Ants."], ["Honeybees."]]


@pytest.mark.parametrize("content", ["no json", '{"1": 3}', '{"1": [[7], [[0, 0, 0, 0]]]}'])
def test_another_file(tmp_path: Path, content: str) -> None:
    (tmp_path / "recorded.json").write_text(content, "utf-8")
    with pytest.raises(UserError, match="not a file of recorded judgements"):
        load_recorded(tmp_path / "recorded.json", [CASE]).judge(CASE.claim, CASE.sentences)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"none\.json: not a file of recorded judgements"):
        load_recorded(tmp_path / "none.json", [CASE])


def test_sentences_are_prepared_once() -> None:
    ready = prepare(FakeEncoder(), FakeEntailment(), shipped_weights())
    assert ready(CASE) is ready(CASE)
    assert ready(CASE).types == (None, None, None)
    labelled = PassageCase("2", "s", "Foragers sleep", "c", "d", CASE.sentences, sections=("Abstract", "Results", ""))
    assert ready(labelled).types[:2] == ("abstract", "result")


def test_training_cases_are_those_of_known_data_sets(tmp_path: Path) -> None:
    folder = tmp_path / "scifact"
    folder.mkdir()
    documents = [{"doc_id": number, "abstract": list(CASE.sentences)} for number in range(1, 21)]
    claims = [
        {
            "id": number,
            "claim": f"Foragers of hive {number} sleep at night.",
            "cited_doc_ids": [number],
            "evidence": {str(number): [{"sentences": [1], "label": "SUPPORT"}]},
        }
        for number in range(1, 21)
    ]
    for name, rows in (("corpus", documents), ("claims_train", claims)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    whole, part = training_cases([folder], whole=True), training_cases([folder])
    assert len(whole) == 20
    assert {case.id for case in part} < {case.id for case in whole}
    with pytest.raises(UserError, match="not a dataset of passages; expected a folder named citint, clscisumm"):
        training_cases([tmp_path])
