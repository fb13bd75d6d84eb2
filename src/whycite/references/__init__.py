"""Is every reference real, right and not retracted?

- What is checked: `entries` (the entries of a bibliography as they stand in its files), `report` (rules, problems,
  verdicts).
- Offline: `hygiene` (what an entry itself shows), `bibliography` (what entries and citations show together),
  `comparison` (an entry beside a record of the same paper), `checking` (all of it, with the library's records).
- Mending: `fixing` (what is certain).
"""

from __future__ import annotations

from whycite.references.checking import check_references
from whycite.references.report import CheckedReference, ReferenceProblem, ReferenceReport, Verdict

__all__ = ["CheckedReference", "ReferenceProblem", "ReferenceReport", "Verdict", "check_references"]
