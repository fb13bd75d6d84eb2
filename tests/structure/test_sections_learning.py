"""Learning synonyms from a person."""

from collections.abc import Callable
from pathlib import Path

import pytest

from whycite.documents.model import Document
from whycite.structure import (
    SECTION_TYPES,
    HeadingRules,
    UnmatchedHeading,
    dictionary,
    learn,
    load_rules,
    outline,
    save_rules,
    unmatched_headings,
)

Make = Callable[..., Document]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "rules" / "sections.toml"


def test_unmatched_headings_come_most_frequent_first(make: Make) -> None:
    outlines = [
        outline(make("Introduction", "Trees", "2 Kernels", "2.", "Rejected", path="a.tex")),
        outline(make("Introduction", "Kernel", "Kernels", "Conclusion", "Proofs", path="b.tex")),
    ]
    ours = dictionary("ours", HeadingRules({}, frozenset({"rejected"})))
    assert unmatched_headings(outlines, ours) == [
        UnmatchedHeading("2 Kernels", 2, "a.tex"),
        UnmatchedHeading("Trees", 1, "a.tex"),
    ]


def test_answers_become_rules(path: Path) -> None:
    answers = {"Kernels": "method", "Trees": "none", "Leaves": "skip", "Roots": "quit"}
    asked = []

    def ask(heading: UnmatchedHeading) -> str:
        asked.append(heading.heading)
        return answers[heading.heading]

    headings = [UnmatchedHeading(heading, 1, "") for heading in ("Kernels", "Trees", "Leaves", "Roots", "Bark")]
    assert learn(headings, ask, path) == 2
    assert asked == ["Kernels", "Trees", "Leaves", "Roots"]
    assert load_rules(path, SECTION_TYPES) == HeadingRules({"kernel": "method"}, frozenset({"tree"}))


def test_every_answer_is_kept_at_once_and_old_rules_stay(path: Path) -> None:
    save_rules(path, HeadingRules({"bark": "result"}, frozenset({"root"})))

    def ask(heading: UnmatchedHeading) -> str:
        if heading.heading == "Trees":
            raise KeyboardInterrupt
        return "method"

    with pytest.raises(KeyboardInterrupt):
        learn([UnmatchedHeading("Kernels", 1, ""), UnmatchedHeading("Trees", 1, "")], ask, path)
    assert load_rules(path, SECTION_TYPES) == HeadingRules({"kernel": "method", "bark": "result"}, frozenset({"root"}))


def test_what_an_answer_settles_is_not_asked(path: Path) -> None:
    asked = []

    def ask(heading: UnmatchedHeading) -> str:
        asked.append(heading.heading)
        return "method"

    headings = [UnmatchedHeading(heading, 1, "") for heading in ("Deep kernels", "Our deep kernels for trees")]
    learn(headings, ask, path)
    assert asked == ["Deep kernels"]


def test_a_negative_rule_is_not_asked_again(path: Path) -> None:
    save_rules(path, HeadingRules({}, frozenset({"kernel"})))
    assert learn([UnmatchedHeading("Kernels", 1, "")], lambda heading: pytest.fail("asked again"), path) == 0
