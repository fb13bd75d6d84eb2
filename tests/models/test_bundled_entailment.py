"""The bundled entailment model: what it takes for backing, and what it does not."""

import numpy as np
import pytest

from whycite.models.pairs import CONTRADICTS, DEFAULT_ENTAILMENT, RELEVANCE, EntailmentModel, load_entailment
from whycite.verify.verdict import stance_of

CLAIM = "Aspirin reduces the risk of colorectal cancer."
BACKING = "Aspirin use lowered colorectal cancer risk."


@pytest.fixture(scope="module")
def entailment() -> EntailmentModel:
    return load_entailment()


def test_it_loads_by_its_name(entailment: EntailmentModel) -> None:
    assert entailment.name.startswith(f"{DEFAULT_ENTAILMENT}@")
    assert load_entailment(DEFAULT_ENTAILMENT) is entailment


def test_a_paraphrase_supports(entailment: EntailmentModel) -> None:
    assert stance_of(entailment.judge(CLAIM, [BACKING])[0]) == "supports"


@pytest.mark.parametrize(
    "passage",
    [
        "We hypothesised that aspirin reduces the risk of colorectal cancer.",
        "It is unknown whether aspirin reduces the risk of colorectal cancer.",
        "Ibuprofen reduces the risk of colorectal cancer.",
        "Aspirin reduces the risk of breast cancer.",
        "Aspirin reduces the risk of colorectal cancer in mice but not in humans.",
    ],
    ids=["hypothesis", "open question", "another agent", "another outcome", "another population"],
)
def test_what_is_almost_the_claim_does_not_support(entailment: EntailmentModel, passage: str) -> None:
    assert stance_of(entailment.judge(CLAIM, [passage])[0]) != "supports"


@pytest.mark.parametrize(
    "passage",
    ["Aspirin increases the risk of colorectal cancer.", "Aspirin does not reduce the risk of colorectal cancer."],
    ids=["direction", "denial"],
)
def test_the_opposite_contradicts(entailment: EntailmentModel, passage: str) -> None:
    assert stance_of(entailment.judge(CLAIM, [passage])[0]) == "contradicts"


COMPARISON = "Lighthouse keepers slept less soundly than fishermen did."


def test_a_comparison_is_the_same_from_the_other_side(entailment: EntailmentModel) -> None:
    passages = ["Fishermen slept more soundly than lighthouse keepers.", "Fishermen slept less soundly than keepers."]
    same, opposite = entailment.judge(COMPARISON, passages)
    assert stance_of(same) == "supports"
    assert stance_of(opposite) == "contradicts"


def test_what_is_about_the_claim_is_most_relevant(entailment: EntailmentModel) -> None:
    strange = ["We thank our colleagues for their help.", "Mice were housed in groups of four."]
    rows = entailment.judge(CLAIM, [*strange, BACKING])
    assert rows.shape == (3, CONTRADICTS + 2)
    assert rows[:, RELEVANCE].argmax() == 2


def test_a_judgement_depends_neither_on_neighbours_nor_on_threads(entailment: EntailmentModel) -> None:
    passages = [BACKING, "Patients took aspirin for ten years.", f"{BACKING} {BACKING}", ""]
    together = entailment.judge(CLAIM, passages)
    np.testing.assert_array_equal(load_entailment(threads=1).judge(CLAIM, passages[::-1])[::-1], together)
    np.testing.assert_array_equal(entailment.judge(CLAIM, passages[:1])[0], together[0])
