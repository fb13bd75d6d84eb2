"""Where a draft lacks a citation, and which to put there."""

from whycite.callable import make_callable
from whycite.check.jsonform import as_dict
from whycite.check.model import Checked, Finding, Proposal
from whycite.check.pipeline import check

__all__ = ["Checked", "Finding", "Proposal", "as_dict", "check"]

make_callable(__name__, check)
