"""Instructions for labellers: after figures A.1 to A.3 of the thesis, and our own for TC."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from whycite.lab.annotate.tasks import LABELS, TaskKind

__all__ = ["INSTRUCTIONS", "AnswerChoice", "Instructions"]


@dataclass(frozen=True, slots=True)
class AnswerChoice:
    """An answer, its text on the page, and its keyboard shortcut."""

    label: str
    text: str
    key: str


@dataclass(frozen=True, slots=True)
class Instructions:
    """The texts of the page for a kind of task."""

    title: str
    steps: tuple[str, ...]
    guide: str
    hints: tuple[str, ...]
    question: str
    choices: tuple[AnswerChoice, ...]


def _choices(kind: TaskKind, *buttons: tuple[str, str]) -> tuple[AnswerChoice, ...]:
    return tuple(AnswerChoice(label, *button) for label, button in zip(LABELS[kind], buttons, strict=True))


_READ = "Read both sentences to the end and make sure that you understand them. A minute or two is enough."
_JUDGE = "How does the second sentence relate to the first?"

INSTRUCTIONS: Mapping[TaskKind, Instructions] = MappingProxyType(
    {
        "BR": Instructions(
            "Which option backs the claim better?",
            (
                "Read the claim.",
                "Read both options.",
                "Make sure that you understand all three sentences.",
                "Choose the option that better supports the claim.",
                "If neither supports it at all, choose either one.",
            ),
            "What makes an option better, most important first:",
            (
                "It directly addresses the claim.",
                "It gives evidence for part of the claim.",
                "It is about the same topic.",
                "It mentions something related to the topic of the claim.",
            ),
            "Which one?",
            _choices("BR", ("Option 1", "1"), ("Option 2", "2")),
        ),
        "BC-E": Instructions(
            _JUDGE,
            (
                _READ,
                "Decide whether the second sentence gives evidence for the first.",
                "If it is only related and gives no evidence, choose “Not evidence”.",
            ),
            "Look for:",
            ("an idea, a method or an explanation in the second sentence that the first one is based on.",),
            "Is this evidence?",
            _choices("BC-E", ("Evidence", "e"), ("Not evidence", "n")),
        ),
        "BC-R": Instructions(
            _JUDGE,
            (_READ, "Decide whether the second sentence is related to the first."),
            "Look for:",
            ("an idea, a method or an explanation in the second sentence that is related to the first one.",),
            "Is this related?",
            _choices("BC-R", ("Related", "r"), ("Unrelated", "n")),
        ),
        "TC": Instructions(
            "Does the sentence say what the claim says?",
            (
                "Read the claim, then the sentence from the paper it cites.",
                "Judge by this sentence alone, not by what you know of the topic.",
                "“Supports”: whoever believes the sentence must believe the claim, in all that matters.",
                "“Contradicts”: the two cannot both be true.",
                "“Neither”: anything else, even on the same topic.",
            ),
            "Choose “Neither” if the sentence only:",
            (
                "is about other people, animals, substances or outcomes;",
                "says that something may be so, is expected or is unknown;",
                "reports an association where the claim names a cause;",
                "says what was done, not what was found.",
            ),
            "What does the sentence do?",
            _choices("TC", ("Supports", "p"), ("Contradicts", "c"), ("Neither", "n")),
        ),
    }
)
