"""What a fix is made of: text put into files, and nothing taken away."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from whycite.check.fixing.diffs import hunks
from whycite.check.fixing.encoding import Insertion, insert, text_of
from whycite.check.model import Finding, Proposal

__all__ = ["Change", "Insertion", "Plan", "Refusal"]


@dataclass(frozen=True, slots=True)
class Change:
    """A file with what comes into it."""

    path: Path  # where it lies, links followed
    label: str  # how the draft's messages call it
    before: bytes
    insertions: tuple[Insertion, ...]

    @property
    def after(self) -> bytes:
        """The file as it will be."""
        return insert(self.before, self.insertions)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A finding that is left as it is, and why."""

    finding: Finding
    proposal: Proposal
    reason: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What a fix will do to a draft; nothing is written before it is applied."""

    draft: str
    changes: tuple[Change, ...] = ()
    fixed: tuple[tuple[Finding, Proposal], ...] = ()
    refused: tuple[Refusal, ...] = ()

    def diff(self) -> str:
        """The changes as a unified diff, for people to read and for `patch`."""
        return "".join(hunks(change.label, text_of(change.before), change.insertions) for change in self.changes)
