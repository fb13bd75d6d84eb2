"""What verify learns from."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from numpy.typing import NDArray

from whycite.errors import UserError
from whycite.evaluation.passages.model import Case
from whycite.training.passagebars import bar_of, fit_bars
from whycite.training.passageexamples import Example, Unseen, examples, mixed, with_stances
from whycite.training.passagefitting import fit_kinds, fit_steps, fit_verdicts, main
from whycite.verify.weights import CLASSES, STEPS

NOISE = ("The weather was fine.", "A river flows there.", "Nobody was in town.", "The car is red.")


class Encoder:
    """Vectors without meaning."""

    name, dimensions = "none@1", 4

    def encode(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> NDArray[np.float32]:
        return np.full((len(texts), 4), 0.5, np.float32)


def _case(at: int, label: str = "backed") -> Case:
    sentences = (*NOISE[: at % 4], f"Protein p{at} increases growth of cell c{at}.", *NOISE[at % 4 :])
    gold = frozenset({at % 4}) if label != "not found" else frozenset[int]()
    claim = f"p{at} increases growth of cell c{at}" if label == "backed" else f"Kinase x{at} binds receptor y{at}"
    return Case(str(at), "scifact", claim, f"claim {at}", f"d{at}", sentences, gold, label)  # type: ignore[arg-type]


def test_words_in_common_are_learnt_first() -> None:
    cases = [_case(at) for at in range(20)]
    ranker = Unseen((case, [float(at in case.gold) for at in range(5)]) for case in cases)
    weights = fit_steps(cases, Encoder(), ranker)
    steps = weights.steps["abstract"]
    assert steps["words"]["coverage"] > 0
    assert steps["words"]["bm25"] > 0
    assert steps["read"]["ranker"] > 0
    assert steps["read"].keys() == {*STEPS["read"], "bias"}
    assert weights.steps["paper"]["words"] == {}  # there was no such case
    assert fit_steps(cases, Encoder(), None).steps["abstract"]["read"] == {}


def test_verdicts() -> None:
    cases = [_case(at, "backed" if at % 2 else "not found") for at in range(30)]
    weights = fit_steps(cases, Encoder(), None)
    found = fit_verdicts([Example(case, case.label or "") for case in cases], Encoder(), weights)
    assert found.keys() == set(CLASSES)
    assert found["backed"]["coverage"] > 0 > found["not found"]["coverage"]
    kinds = fit_kinds([Example(case, case.label or "") for case in cases], Encoder(), weights)
    assert kinds == {"paper": found, "abstract": found}  # there was no whole paper


def test_stances_part_backing_from_contradiction() -> None:
    cases = [_case(at) for at in range(20)]
    weights = fit_steps(cases, Encoder(), None)
    unseen = {"stance": {case.id: 2.0 for case in cases}, "altered": {case.id: [["not so", -2.0]] for case in cases}}
    told = list(with_stances([*cases, _case(99)], unseen))
    assert [example.stance for example in told] == [2.0, -2.0] * 20
    both = [*told, Example(_case(99, "not found"), "not found")]
    weights = replace(weights, verdicts=fit_kinds(both, Encoder(), weights))
    found = fit_verdicts(told, Encoder(), weights, stance=True)
    assert found.keys() == {"backed", "contradicted"}
    assert found["backed"]["stance"] > 0 > found["contradicted"]["stance"]
    assert "coverage" not in found["backed"]


def test_bars() -> None:
    cases = [_case(at, "backed" if at % 2 else "not found") for at in range(30)]
    told = [Example(case, case.label or "") for case in cases]
    weights = fit_steps(cases, Encoder(), None)
    weights = replace(weights, verdicts=fit_kinds(told, Encoder(), weights))
    assert fit_bars(told, Encoder(), None, weights).keys() == {"abstract"}  # there was no whole paper


def test_a_bar_keeps_the_false_out_of_papers_and_most_right_in_abstracts() -> None:
    rows = [("a", "backed", 0.65)] * 40 + [("a", "not found", 0.6)] * 30 + [("a", "not found", 0.81)]
    rows += [("b", "backed", 0.55), ("b", "not found", 0.2)]
    assert bar_of("paper", rows) == 0.65  # one in 32 is wrong
    assert bar_of("paper", [*rows, ("b", "not found", 0.8), ("b", "not found", 0.8)]) == 0.85
    assert bar_of("abstract", rows[:71]) == 0.65
    assert bar_of("abstract", rows) == 0.5  # more is right of b than is lost of a
    assert bar_of("abstract", [("a", "contradicted", 0.5), ("a", "backed", 0.1)]) == 0.5  # right nowhere


def test_examples_are_labelled_altered_and_exchanged() -> None:
    found = list(examples([_case(1), _case(2, "not found")], [_case(3), _case(4)], Random(0)))
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
    ranker = Unseen([(_case(1), [1, 2, 3, 4, 5])])
    assert ranker.score("passage", _case(1).claim, list(_case(1).sentences)[::-1]).tolist() == [5, 4, 3, 2, 1]
    with pytest.raises(ValueError, match="no scores of kind stance"):
        ranker.score("stance", "", [])


def test_wrong_use() -> None:
    with pytest.raises(UserError, match="give the folder"):
        main([])


def test_a_mixed_claim_has_long_words_of_another() -> None:
    made = mixed("Thresher sharks use their tails to hunt sardines", "violet umbrellas paint cathedrals", Random(0))
    words = made.split()
    assert len(words) == 8
    assert 1 <= sum(word in ("violet", "umbrellas", "paint", "cathedrals") for word in words) <= 2
    assert mixed("We see", "violet umbrellas", Random(0)) == "We see"
    assert mixed("Thresher sharks", "a b", Random(0)) == "Thresher sharks"
