"""What a check finds in a draft."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from whycite.check.notebook import as_html, finding_html
from whycite.documents.model import Document
from whycite.recommend import Recommendation

__all__ = ["Checked", "Finding", "Kind", "Proposal"]

Kind = Literal["needs-citation", "cited", "ok"]


@dataclass(frozen=True, slots=True)
class Proposal:
    """A paper that a sentence could cite, and the key to cite it by."""

    recommendation: Recommendation
    key: str  # the draft's own, or a new one in the style of its keys
    known: bool  # whether the draft's bibliography has it already
    bibtex: str = ""  # the entry to add, where it has not
    doubtful: bool = False  # whether nothing where it comes from clearly fits the sentence


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence of the draft and what is to be said of it.

    Lines and columns count from 1, in code points; the end is the place behind the last character.
    """

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    start: int  # offsets in the decoded file
    end: int
    section: str
    section_type: str | None
    text: str
    worthiness: float
    cites: tuple[str, ...]  # keys, as the draft has them
    kind: Kind
    threshold: float  # from which worthiness on a sentence like this one needs a citation
    recommendations: tuple[Proposal, ...] = ()

    @property
    def doubtful(self) -> bool:
        """Whether even the best of the recommendations does not clearly fit."""
        return bool(self.recommendations) and self.recommendations[0].doubtful

    def _repr_html_(self) -> str:
        return finding_html(self)


@dataclass(frozen=True, slots=True)
class Checked:
    """A draft with a finding for each of its sentences, in order."""

    document: Document
    findings: tuple[Finding, ...]
    warnings: tuple[str, ...] = ()
    stages: Mapping[str, float] = field(default_factory=dict)  # seconds by stage

    def _repr_html_(self) -> str:
        return as_html(self)
