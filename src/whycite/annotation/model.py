"""What labellers are asked, and what they say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

__all__ = ["ACTIONS", "KINDS", "LABELS", "Action", "Entry", "Kind", "Option", "Task"]

Kind = Literal["BR", "BC-E", "BC-R"]
"""Which of two sentences backs the claim better; whether one is evidence; whether it is related (the thesis, 4.3)."""
KINDS: tuple[Kind, ...] = get_args(Kind)

LABELS: Mapping[Kind, tuple[str, str]] = MappingProxyType(
    {"BR": ("1", "2"), "BC-E": ("evidence", "not evidence"), "BC-R": ("related", "unrelated")}
)

Action = Literal["answer", "skip", "undo"]
ACTIONS: tuple[Action, ...] = get_args(Action)


@dataclass(frozen=True, slots=True)
class Option:
    """A sentence of the cited document."""

    index: int
    text: str


@dataclass(frozen=True, slots=True)
class Task:
    """A claim with one sentence to judge, or two to compare."""

    id: str
    kind: Kind
    claim: str
    options: tuple[Option, ...]
    citing: str = ""  # where the claim comes from
    document: str = ""  # the cited one
    gold: str | None = None  # the right label, where known
    discarded: tuple[Option, ...] = ()  # sentences of the document that are less like the claim than all candidates


@dataclass(frozen=True, slots=True)
class Entry:
    """What a labeller did with a task: a line of the file of answers."""

    task: str
    labeller: str
    action: Action
    label: str = ""
    submission: str = ""  # a name for this act, so that one sent twice counts once
    at: str = ""  # when, in UTC
