"""Comparisons: the same seen from the other side, and the opposite."""

from collections import Counter
from random import Random

import pytest

from whycite.lab.thesis.alterations import comparison_statements, turn_finding


@pytest.mark.parametrize(
    ("finding", "same", "opposites"),
    [
        (
            "Expression was higher in knockout animals than in controls.",
            "Expression was lower in controls than in knockout animals.",
            (
                "Expression was higher in controls than in knockout animals.",
                "Expression was lower in knockout animals than in controls.",
            ),
        ),
        (
            "The old method had fewer errors than CRISPR.",
            "CRISPR had more errors than the old method.",
            ("CRISPR had fewer errors than the old method.", "The old method had more errors than CRISPR."),
        ),
    ],
    ids=["in both", "subjects"],
)
def test_a_finding_is_seen_from_the_other_side(finding: str, same: str, opposites: tuple[str, str]) -> None:
    turned = turn_finding(finding)
    assert turned is not None
    assert (turned.same, turned.opposites) == (same, opposites)


@pytest.mark.parametrize(
    "finding",
    [
        "Expression was higher in knockout animals.",
        "Expression was not higher in knockout animals than in controls.",
        "Expression was higher and activity lower in knockout animals than in controls.",
        "Expression did not differ between knockout animals and controls.",
    ],
    ids=["one side", "negated", "two directions", "equal"],
)
def test_what_cannot_be_turned_is_left_alone(finding: str) -> None:
    assert turn_finding(finding) is None


def test_statements_have_every_label_and_are_the_same_for_the_same_seed() -> None:
    statements = list(comparison_statements(400, Random(0)))
    assert statements == list(comparison_statements(400, Random(0)))
    counts = Counter(label for _, _, label in statements)
    assert min(counts[label] for label in ("backed", "contradicted", "not found")) > 60
    assert not any("{" in text for claim, passage, _ in statements for text in (claim, passage))


def test_a_claim_is_worded_in_other_words_than_what_backs_it() -> None:
    backed = [(claim, passage) for claim, passage, label in comparison_statements(400, Random(0)) if label == "backed"]
    assert sum(claim in passage for claim, passage in backed) < len(backed) / 4
