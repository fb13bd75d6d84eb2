"""Is every reference real, right and not retracted?

- What is checked: `entries` (the entries of a bibliography as they stand in its files), `report` (rules, problems,
  verdicts).
- Offline: `hygiene` (what an entry shows by itself), `comparison` (an entry beside a record of the same paper),
  `checking` (all of it, what entries show together, beside the citations of the draft and the library's records).
- Online: `client` (questions to one service, politely), `services` (what each answers), `online` (what to ask for).
- Mending: `fixing` (what is certain).
"""

from __future__ import annotations

from whycite.references.checking import check_references
from whycite.references.report import CheckedReference, ReferenceProblem, ReferenceReport, Verdict

__all__ = ["CheckedReference", "ReferenceProblem", "ReferenceReport", "Verdict", "check_references"]
