"""Puts the citations that a check proposes into the draft, and their entries into its bibliography."""

from whycite.check.fixing.model import Change, Insertion, Plan, Refusal
from whycite.check.fixing.planning import plan
from whycite.check.fixing.writing import apply

__all__ = ["Change", "Insertion", "Plan", "Refusal", "apply", "plan"]
