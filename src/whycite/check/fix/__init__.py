"""Write the citations that a check proposes into the draft, and their entries into its bibliography."""

from whycite.check.fix.edits import FileChange, FixPlan, Insertion, Refusal, apply
from whycite.check.fix.planning import Objection, best_choices, plan

__all__ = ["FileChange", "FixPlan", "Insertion", "Objection", "Refusal", "apply", "best_choices", "plan"]
