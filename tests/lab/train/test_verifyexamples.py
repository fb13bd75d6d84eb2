"""What verify learns from."""

import json
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.fakes import FakeEncoder
from whycite.errors import UserError
from whycite.lab.thesis.datasets import PassageCase
from whycite.lab.train.verifyexamples import (
    UnseenScores,
    VerdictExample,
    examples_with_stances,
    mix_claims,
    verdict_examples,
)
from whycite.lab.train.verifyweights import bar_of, fit_bars, fit_kinds, fit_steps, fit_verdicts, main
from whycite.verify.features import CLASSES, STEPS, load_weights
from whycite.verify.passages import sentence_in_context

NOISE = ("The weather was fine.", "A river flows there.", "Nobody was in town.", "The car is red.")


def _case(at: int, label: str = "backed") -> PassageCase:
    sentences = (*NOISE[: at % 4], f"Protein p{at} increases growth of cell c{at}.", *NOISE[at % 4 :])
    gold = frozenset({at % 4}) if label != "not found" else frozenset[int]()
    claim = f"p{at} increases growth of cell c{at}" if label == "backed" else f"Kinase x{at} binds receptor y{at}"
    return PassageCase(str(at), "scifact", claim, f"claim {at}", f"d{at}", sentences, gold, label)  # type: ignore[arg-type]


def test_words_in_common_are_learnt_first() -> None:
    cases = [_case(at) for at in range(20)]
    scores = {case.id: [float(at in case.gold) for at in range(5)] for case in cases}
    ranker = UnseenScores(cases, {"passage": scores, "between": scores})
    weights = fit_steps(cases, FakeEncoder(), ranker)
    steps = weights.steps["abstract"]
    assert steps["words"]["coverage"] > 0
    assert steps["words"]["bm25"] > 0
    assert steps["read"]["ranker"] > 0
    assert steps["between"]["between"] > 0
    for step in ("read", "between"):
        assert steps[step].keys() == {*STEPS[step], "bias"}
    assert weights.steps["paper"]["words"] == {}  # there was no such case
    without = fit_steps(cases, FakeEncoder(), None).steps["abstract"]
    assert without["read"] == without["between"] == {}


def test_verdicts() -> None:
    cases = [_case(at, "backed" if at % 2 else "not found") for at in range(30)]
    weights = fit_steps(cases, FakeEncoder(), None)
    found = fit_verdicts([VerdictExample(case, case.label or "") for case in cases], FakeEncoder(), weights)
    assert found.keys() == set(CLASSES)
    assert found["backed"]["coverage"] > 0 > found["not found"]["coverage"]
    kinds = fit_kinds([VerdictExample(case, case.label or "") for case in cases], FakeEncoder(), weights)
    assert kinds == {"paper": found, "abstract": found}  # there was no whole paper


def test_stances_part_backing_from_contradiction() -> None:
    cases = [_case(at) for at in range(20)]
    weights = fit_steps(cases, FakeEncoder(), None)
    unseen = {"stance": {case.id: 2.0 for case in cases}, "altered": {case.id: [["not so", -2.0]] for case in cases}}
    told = list(examples_with_stances([*cases, _case(99)], unseen))
    assert [example.stance for example in told] == [2.0, -2.0] * 20
    both = [*told, VerdictExample(_case(99, "not found"), "not found")]
    weights = replace(weights, verdicts=fit_kinds(both, FakeEncoder(), weights))
    found = fit_verdicts(told, FakeEncoder(), weights, stance=True)
    assert found.keys() == {"backed", "contradicted"}
    assert found["backed"]["stance"] > 0 > found["contradicted"]["stance"]
    assert "coverage" not in found["backed"]


def test_bars() -> None:
    cases = [_case(at, "backed" if at % 2 else "not found") for at in range(30)]
    told = [VerdictExample(case, case.label or "") for case in cases]
    weights = fit_steps(cases, FakeEncoder(), None)
    weights = replace(weights, verdicts=fit_kinds(told, FakeEncoder(), weights))
    assert fit_bars(told, FakeEncoder(), None, weights).keys() == {"abstract"}  # there was no whole paper


def test_a_bar_keeps_the_false_out_of_papers_and_most_right_in_abstracts() -> None:
    rows = [("a", "backed", 0.65)] * 40 + [("a", "not found", 0.6)] * 30 + [("a", "not found", 0.81)]
    rows += [("b", "backed", 0.55), ("b", "not found", 0.2)]
    assert bar_of("paper", rows) == 0.65  # one in 32 is wrong
    assert bar_of("paper", [*rows, ("b", "not found", 0.8), ("b", "not found", 0.8)]) == 0.85
    assert bar_of("abstract", rows[:71]) == 0.65
    assert bar_of("abstract", rows) == 0.5  # more is right of b than is lost of a
    assert bar_of("abstract", [("a", "contradicted", 0.5), ("a", "backed", 0.1)]) == 0.5  # right nowhere


def test_what_the_command_writes_has_the_bar_of_its_criterion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [_case(at, "backed" if at % 2 else "not found") for at in range(30)]
    evidence = [{"sentences": [1], "label": "SUPPORT"}]
    documents = [{"doc_id": 1000 * (1 + at), "abstract": case.sentences} for at, case in enumerate(cases)]
    claims = [
        {
            "id": at,
            "claim": case.claim,
            "cited_doc_ids": [1000 * (1 + at)],
            "evidence": {str(1000 * (1 + at)): evidence} if case.gold else {},
        }
        for at, case in enumerate(cases)
    ]
    for name in ("scifact", "citint"):
        _write(tmp_path / name / "corpus.jsonl", documents)
        _write(tmp_path / name / "claims_train.jsonl", claims)
    said = [{"sid": at, "text": text} for at, text in enumerate(NOISE)]
    _write(tmp_path / "clscisumm" / "train-documents.jsonl", [{"paper_id": id, "sentences": said} for id in "pq"])
    citing = {"citance": "The river flows through the town.", "citing_paper": "x", "gold_sids": [1]}
    _write(tmp_path / "clscisumm" / "train.jsonl", [{**citing, "citance_id": id, "topic": id} for id in "pq"])
    monkeypatch.setattr("whycite.lab.train.verifyweights.load_encoder", FakeEncoder)
    given: dict[str, list[tuple[str, str, float]]] = {}

    def bar(kind: str, rows: list[tuple[str, str, float]]) -> float:
        given[kind] = rows
        return bar_of(kind, rows)

    monkeypatch.setattr("whycite.lab.train.verifyweights.bar_of", bar)
    told: list[str] = []
    main([str(tmp_path), str(tmp_path / "out.json")], told.append)
    written = load_weights(tmp_path / "out.json")
    assert written.bars == {"abstract": bar_of("abstract", given["abstract"])}  # there was no whole paper
    assert {name for name, _, _ in given["abstract"]} == {"scifact", "citint"}
    assert len(given["abstract"]) == 60
    assert told[-1].endswith("fitted on 32 claims with passages and 60 with verdicts")


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def test_examples_are_labelled_altered_and_exchanged() -> None:
    found = list(verdict_examples([_case(1), _case(2, "not found")], [_case(3), _case(4)], Random(0)))
    assert [example.label for example in found] == [
        *("backed", "contradicted", "contradicted"),
        "not found",
        *("backed", "contradicted", "contradicted") * 2,
        *("not found", "not found"),
    ]
    assert found[1].case.claim != found[0].case.claim
    assert found[1].count < 1
    assert found[-1].case.claim == _case(4).claim
    assert found[-1].case.sentences == _case(3).sentences


def test_scores_of_others() -> None:
    case = _case(1)
    ranker = UnseenScores([case], {"passage": {case.id: [1, 2, 3, 4, 5]}, "between": {case.id: [6, 7, 8, 9, 10]}})
    assert ranker.score("passage", case.claim, list(case.sentences)[::-1]).tolist() == [5, 4, 3, 2, 1]
    assert ranker.score("passage", case.claim, [sentence_in_context(case.sentences, 3)]).tolist() == [9]
    with pytest.raises(ValueError, match="no scores of kind stance"):
        ranker.score("stance", "", [])


def test_wrong_use() -> None:
    with pytest.raises(UserError, match="expected the folder"):
        main([])


def test_a_mixed_claim_has_long_words_of_another() -> None:
    made = mix_claims(
        "Thresher sharks use their tails to hunt sardines", "violet umbrellas paint cathedrals", Random(0)
    )
    words = made.split()
    assert len(words) == 8
    assert 1 <= sum(word in ("violet", "umbrellas", "paint", "cathedrals") for word in words) <= 2
    assert mix_claims("We see", "violet umbrellas", Random(0)) == "We see"
    assert mix_claims("Thresher sharks", "a b", Random(0)) == "Thresher sharks"
