"""Whether the papers that a draft cites still stand: retractions, expressions of concern, corrections."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from whycite.check.answers import CachedLibrary
from whycite.documents.model import Reference, Sentence
from whycite.library.notices import PaperNotices, look_up

__all__ = ["CITATION_RULES", "CitationProblem", "citation_problems", "entry_notices"]

# Rules about the papers that a sentence cites, by the status that breaks them; `meaning` completes "The sentence …".
CITATION_RULES = {
    "retracted": "cites a retracted paper",
    "concern": "cites a paper with an expression of concern",
    "corrected": "cites a paper that was corrected",
}


@dataclass(frozen=True, slots=True)
class CitationProblem:
    """What is wrong with a paper that a sentence cites."""

    rule: str  # one of CITATION_RULES
    key: str  # the draft's key of the paper
    message: str


def entry_notices(
    references: Sequence[Reference], library: CachedLibrary | None, register: Path
) -> dict[str, PaperNotices]:
    """What was published about the entries of a bibliography, by id; without a library, by a register alone."""
    known = library.notices(references) if library is not None else look_up(register, references)
    return {reference.id: own for reference, own in zip(references, known, strict=True) if own != PaperNotices()}


def citation_problems(
    sentence: Sentence, notices: Mapping[str, PaperNotices], ignored: Collection[str]
) -> tuple[CitationProblem, ...]:
    """The problems with the papers that a sentence cites, worst first, without those of ignored rules."""
    problems = [
        CitationProblem(own.status, key, own.description)
        for key in sentence.cited_keys
        if (own := notices.get(key)) and own.status in CITATION_RULES and own.status not in ignored
    ]
    return tuple(sorted(problems, key=lambda problem: [*CITATION_RULES].index(problem.rule)))
