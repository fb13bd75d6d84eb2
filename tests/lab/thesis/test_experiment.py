"""All methods on the same cases: each fold learns from documents that it is not tested on."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from whycite.errors import UserError
from whycite.lab.thesis.datasets import PassageCase
from whycite.lab.thesis.experiment import CaseSplit, drops_as_dict, fixed_fit, labels_as_dict, report, run
from whycite.lab.thesis.measures import Scorer
from whycite.lab.thesis.verdicts import altered_pairs, judge_cases, measure_drops, measure_joint_drops
from whycite.verify.verification import Verification


def knowing(claim: str, sentences: Sequence[str]) -> NDArray[np.floating]:
    return np.array([float(claim in sentence) for sentence in sentences])


def nothing(claim: str, sentences: Sequence[str]) -> NDArray[np.floating]:
    return np.zeros(len(sentences))


def cases(number: int = 20) -> list[PassageCase]:
    sentences = ("one says A", "two says B", "three says C", "four says D")
    return [
        PassageCase(
            f"{at}",
            "scifact",
            "ABCD"[at % 4],
            f"citing {at}",
            f"cited {at}",
            sentences,
            frozenset({at % 4}),
            "backed",
            rationales=(frozenset({at % 4}),),
        )
        for at in range(number)
    ]


def test_every_case_is_tested_once_and_never_learnt_from() -> None:
    seen: list[CaseSplit] = []

    def fit(parts: CaseSplit, fold: int) -> Scorer:
        assert fold == len(seen)
        seen.append(parts)
        return knowing

    found = run({"scifact": cases()}, {"knowing": fit, "nothing": fixed_fit(nothing)}, nothing, number=4)
    assert sorted(case.id for case in found.cases["scifact"]) == sorted(case.id for case in cases())
    for parts in seen:
        names = [{case.document for case in part} for part in (parts.train, parts.dev, parts.test)]
        assert not names[0] & names[1]
        assert not names[0] & names[2]
        assert not names[1] & names[2]
    figures = report(found)
    assert figures["datasets"]["scifact"] == {
        "cases": 20,
        "with_gold": 20,
        "documents": 20,
        "hard": 60,
        "augmented": 60,
    }
    assert figures["pairs"]["scifact"]["knowing"]["hard"] == {"mean": 1.0, "low": 1.0, "high": 1.0}
    assert figures["pairs"]["scifact"]["nothing"]["hard"]["mean"] == 0.5
    assert figures["documents"]["scifact"]["knowing"]["MRR"]["mean"] == 1
    assert figures["documents"]["scifact"]["nothing"]["MRR"]["mean"] == pytest.approx((1 + 1 / 2 + 1 / 3 + 1 / 4) / 4)
    assert figures["selection"]["scifact"]["knowing"]["f1"] == 1
    assert figures["selection"]["scifact"]["nothing"]["f1"] < 0.6


def test_one_fold_is_the_split_of_the_thesis() -> None:
    found = run({"scifact": cases(40)}, {"knowing": fixed_fit(knowing)}, nothing, number=1)
    assert len(found.cases["scifact"]) == 6


def test_mistakes() -> None:
    with pytest.raises(UserError, match="no dataset has labelled"):
        run({}, {}, nothing)
    with pytest.raises(
        UserError, match="folds must be between 1 and 20, the number of groups that share no documents, not 21"
    ):
        run({"made": cases()}, {}, nothing, number=21)
    bare = [PassageCase(f"{at}", "made", "a", f"x{at}", f"y{at}", ("s", "t")) for at in range(20)]
    with pytest.raises(UserError, match="no gold sentence is among the ten sentences most similar"):
        run({"made": bare}, {}, nothing, number=2)
    with pytest.raises(ValueError, match="a number for each of the 4 sentences"):
        run({"made": cases()}, {"short": fixed_fit(lambda claim, sentences: np.zeros(1))}, nothing, number=2)


def _verify(claim: str, sentences: Sequence[str]) -> Verification:
    """Believes what holds no negation."""
    wrong = "not" in claim.split()
    chance = 0.2 if wrong else 0.9
    return Verification(claim, "contradicted" if wrong else "backed", 0.8, chances={"backed": chance})


def _labelled(id: str, claim: str) -> PassageCase:
    return PassageCase(id, "citint", claim, f"claim {id}", id, ("Bees are seen.",), label="backed")


def test_altered_claims_are_less_backed() -> None:
    backed = [_labelled(f"dev:{at}", "Bees are increased by 20 % in fields.") for at in range(9)]
    pairs = altered_pairs(backed, 6)
    assert [pair.kind for pair in pairs] == ["number", "direction", "negation"] * 2
    assert len({pair.case.id for pair in pairs}) == 6
    assert all(pair.altered != pair.case.claim for pair in pairs)
    found = drops_as_dict(measure_drops(pairs, _verify))
    assert found["negation"] == {"pairs": 2, "share": 1.0, "backed": 2, "lost": 2}
    assert found["number"] == {"pairs": 2, "share": 0.0, "backed": 2, "lost": 0}
    assert found["all"]["share"] == pytest.approx(1 / 3)
    assert len(altered_pairs(backed, 100)) == 9
    assert altered_pairs([_labelled("dev:1", "Bees!")], 5) == []


def test_pairs_of_several_data_sets_each_with_its_own_verifier() -> None:
    backed = [_labelled(f"dev:{at}", "Bees are increased by 20 % in fields.") for at in range(9)]
    pairs = altered_pairs(backed, 6)
    watched: list[tuple[int, int | None]] = []
    found = measure_joint_drops(
        [(pairs[:3], _verify), (pairs[3:], lambda claim, sentences: _verify("", sentences))],
        lambda what, done, total: watched.append((done, total)),
    )
    assert (found["all"].pairs, found["negation"].pairs) == (6, 2)
    assert found["negation"].share == 0.5
    assert watched == [(at, 6) for at in range(6)]


def test_verdicts_beside_labels() -> None:
    citint = [
        _labelled("1", "Bees."),
        _labelled("2", "Bees are not seen."),
        replace(_labelled("3", "Bees."), label=None),
    ]
    found = labels_as_dict({"citint": judge_cases(citint, _verify)})["citint"]
    assert (found["accuracy"], found["majority"]) == (0.5, 1.0)
    assert found["confusion"]["backed"] == {
        **{"backed": 1, "secondary": 0, "contradicted": 1},
        **{"not found": 0, "could not check": 0},
    }
    assert found["classes"]["backed"] == {"precision": 1.0, "recall": 0.5, "f1": pytest.approx(2 / 3), "cases": 2}
    assert found["contradicted_called_backed"] == {"cases": 0, "share": 0.0}


def test_methods_that_know_no_other_cases() -> None:
    some = [
        replace(case, gold=frozenset(), rationales=(), label="not found") if int(case.id) % 5 == 0 else case
        for case in cases()
    ]
    asked: list[str] = []

    def only(claim: str, sentences: Sequence[str]) -> NDArray[np.floating]:
        asked.append(claim)
        return nothing(claim, sentences)

    methods = {"knowing": fixed_fit(knowing), "only": fixed_fit(only)}
    figures = report(run({"scifact": some}, methods, nothing, number=2, gold_only=["only"]))
    assert len(asked) == 16
    assert figures["datasets"]["scifact"]["with_gold"] == 16
    assert set(figures["documents"]["scifact"]) == {"knowing", "only"}
    assert set(figures["selection"]["scifact"]) == {"knowing"}
