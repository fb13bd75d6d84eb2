"""Contrast pairs: what is a finding, and what each kind makes of one."""

from random import Random

import pytest

from whycite.lab.thesis.datasets import Label
from whycite.lab.train.contrasts import (
    CONTRAST_KINDS,
    ArticleSentence,
    ContrastKind,
    ContrastPair,
    contrast_pairs,
    finding_of,
    wording_pairs,
)

GROWTH = "Treatment with RAB5 increased the growth of cultured fibroblasts by 20 kg."
LOSS = "The loss of RAB7 was associated with several defects in the outer membrane."
SHAPE = "Deletion of RAB5 may be linked to some changes in the shape of vesicles."
EXPRESSION = "Expression of RAB7 was higher in knockout animals than in control animals."
MEMORY = "Sleep deprivation reduced working memory performance across all tested conditions."


def _sentence(text: str, section_type: str = "result", cites: bool = False) -> ArticleSentence:
    return ArticleSentence(text, section_type, cites)


def _pairs(*texts: str, seed: int = 0) -> list[ContrastPair]:
    return list(contrast_pairs([_sentence(text) for text in texts], Random(seed)))


@pytest.mark.parametrize(
    ("sentence", "finding"),
    [
        (_sentence(f"We found that {GROWTH[0].lower()}{GROWTH[1:-1]} (Figure 2)."), GROWTH),
        (_sentence(f"Thus, our results show that {LOSS[0].lower()}{LOSS[1:]}", "discussion"), LOSS),
        (_sentence(LOSS, "method"), ""),
        (_sentence(LOSS, cites=True), ""),
        (_sentence("We hypothesised that RAB5 increases the growth of cultured fibroblasts."), ""),
        (_sentence("These cells increased their growth under such conditions in the dark."), ""),
        (_sentence("Does RAB5 increase the growth of cultured fibroblasts in the dark?"), ""),
        (_sentence("RAB5 increased growth."), ""),
    ],
    ids=["lead and figure", "lead", "method", "cites", "hypothesis", "refers back", "question", "short"],
)
def test_findings(sentence: ArticleSentence, finding: str) -> None:
    assert finding_of(sentence) == finding


@pytest.mark.parametrize(
    ("kind", "claim", "passage", "label"),
    [
        ("direction", GROWTH.replace("increased", "decreased"), GROWTH, "contradicted"),
        ("direction", GROWTH, GROWTH.replace("increased", "decreased"), "contradicted"),
        ("negation", LOSS.replace("was", "was not"), LOSS, "contradicted"),
        ("unit", GROWTH.replace("kg", "g"), GROWTH, "contradicted"),
        ("unit", GROWTH.replace("kg", "g"), GROWTH.replace("kg", "g"), "backed"),
        (
            "comparison",
            "Expression of RAB7 was higher in control animals than in knockout animals.",
            EXPRESSION,
            "contradicted",
        ),
        ("entity", GROWTH.replace("RAB5", "RAB7"), GROWTH, "not found"),
        ("entity", GROWTH, GROWTH.replace("RAB5", "RAB7"), "not found"),
        ("quantifier", LOSS.replace("several", "all"), LOSS, "not found"),
        ("quantifier", LOSS, LOSS.replace("several", "all"), "backed"),
        ("modality", SHAPE.replace("may be", "is"), SHAPE, "not found"),
        ("modality", SHAPE, SHAPE.replace("may be", "is"), "backed"),
        ("cause", LOSS.replace("associated with", "caused by"), LOSS, "not found"),
        ("detail", GROWTH.replace(" by 20 kg", ""), GROWTH, "backed"),
        ("detail", GROWTH, GROWTH.replace(" by 20 kg", ""), "not found"),
    ],
)
def test_a_kind_changes_one_thing(kind: ContrastKind, claim: str, passage: str, label: Label) -> None:
    assert ContrastPair(kind, claim, passage, label) in _pairs(GROWTH, LOSS, SHAPE, EXPRESSION)


@pytest.mark.parametrize(
    ("kind", "labels"),
    [
        ("finding", ["backed"]),
        ("denial", ["contradicted"]),
        ("unknown", ["not found"]),
        ("others", ["backed"]),
        ("hypothesis", ["not found", "contradicted", "backed"]),
    ],
)
def test_a_frame_around_a_finding_tells_the_label(kind: ContrastKind, labels: list[Label]) -> None:
    pairs = [pair for pair in _pairs(MEMORY) if pair.kind == kind]
    assert [pair.label for pair in pairs] == labels
    for pair in pairs:
        assert pair.claim == MEMORY
        assert "sleep deprivation reduced working memory performance" in pair.passage


def test_an_outcome_comes_from_another_finding() -> None:
    made = [pair for pair in _pairs(LOSS, EXPRESSION) if pair.kind == "outcome"]
    other, same = made[:2]
    assert other.claim == LOSS.replace("the outer membrane", "control animals")
    assert (other.passage, other.label) == (LOSS, "not found")
    assert (same.claim, same.label) == (other.claim, "backed")


def test_another_number_contradicts() -> None:
    changed, reverse, same = [pair for pair in _pairs(GROWTH) if pair.kind == "number"]
    assert (changed.passage, changed.label) == (GROWTH, "contradicted")
    assert changed.claim != GROWTH
    assert (reverse.claim, reverse.passage, reverse.label) == (GROWTH, changed.claim, "contradicted")
    assert (same.claim, same.label) == (changed.claim, "backed")


def test_populations() -> None:
    other, same = [pair for pair in _pairs(GROWTH) if pair.kind == "population"]
    assert (other.passage, other.label) == (GROWTH, "not found")
    assert "fibroblasts" not in other.claim
    assert (same.claim, same.label) == (other.claim, "backed")
    labels = [(pair.label, "but not in" in pair.passage) for pair in _pairs(MEMORY) if pair.kind == "population"]
    assert labels == [("backed", True), ("contradicted", True), ("not found", False), ("not found", True)]


def test_a_sentence_with_two_findings_backs_either() -> None:
    joined = [pair for pair in _pairs(LOSS, MEMORY) if pair.kind == "detail"]
    assert [(pair.claim, pair.label) for pair in joined[:2]] == [(MEMORY, "backed"), (LOSS, "backed")]
    assert joined[0].passage.startswith(LOSS.rstrip(".") + ", ")
    assert joined[0].passage.endswith(" sleep deprivation" + MEMORY[len("Sleep deprivation") :])
    assert all(pair.label == "contradicted" and pair.claim != MEMORY for pair in joined[2:])


def test_findings_on_the_same_topic() -> None:
    near = "Sleep deprivation increased the number of errors of older drivers at night."
    pairs = [pair for pair in _pairs(MEMORY, near, LOSS) if pair.kind == "topic"]
    assert {(pair.claim, pair.passage) for pair in pairs} == {(MEMORY, near), (near, MEMORY)}
    assert {pair.label for pair in pairs} == {"not found"}


def test_wordings_have_every_label_and_the_same_seed_gives_the_same() -> None:
    pairs = list(wording_pairs(200, Random(3)))
    assert {pair.label for pair in pairs} == {"backed", "contradicted", "not found"}
    assert {pair.kind for pair in pairs} == {"wording"}
    assert pairs == list(wording_pairs(200, Random(3)))
    assert not any("{" in pair.claim + pair.passage for pair in pairs)


def test_every_kind_is_made_and_the_same_seed_gives_the_same() -> None:
    near = "Sleep deprivation increased the number of errors of older drivers at night."
    texts = (GROWTH, LOSS, SHAPE, EXPRESSION, MEMORY, near)
    made = _pairs(*texts)
    assert {pair.kind for pair in made} == {*CONTRAST_KINDS} - {"wording"}
    assert made == _pairs(*texts)
    assert made != _pairs(*texts, seed=1)
