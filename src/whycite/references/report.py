"""What a check of references reports: rules, problems, a verdict for each reference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NotRequired, get_args

from typing_extensions import TypedDict

from whycite.references.entries import Entry

__all__ = [
    "REFERENCE_RULES",
    "SEVERITIES",
    "CheckedReference",
    "ReferenceProblem",
    "ReferenceProblemJson",
    "ReferenceReport",
    "ReferenceReportJson",
    "ReferenceRule",
    "Severity",
    "Verdict",
    "report_json",
]

# "differs" and "confirmed" are about a record of the paper, in the library or of a service; without one, or if it says
# too little, a reference is "unknown", which does not mean that it is false.
Verdict = Literal["confirmed", "differs", "retracted", "unknown"]
Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)


@dataclass(frozen=True, slots=True)
class ReferenceRule:
    """What a problem of a reference is called and means."""

    id: str
    severity: Severity
    meaning: str
    differs: bool = False  # whether the reference disagrees with a record of the paper


_RULES = (
    ReferenceRule("retracted", "error", "the paper was retracted"),
    ReferenceRule("concern", "warning", "an expression of concern was published about the paper"),
    ReferenceRule("corrected", "note", "a correction of the paper was published"),
    ReferenceRule("notice", "note", "the reference is itself a notice about another paper"),
    ReferenceRule("title-differs", "error", "the identifier belongs to a paper with another title", differs=True),
    ReferenceRule("unregistered-doi", "error", "the DOI does not exist", differs=True),
    ReferenceRule("doi-differs", "error", "the paper with this title has another DOI", differs=True),
    ReferenceRule("author-differs", "error", "the paper is by other authors", differs=True),
    ReferenceRule("year-differs", "warning", "the paper is from another year", differs=True),
    ReferenceRule("venue-differs", "warning", "the DOI belongs to another journal or conference", differs=True),
    ReferenceRule("authors-missing", "note", "the paper has more authors"),
    ReferenceRule("missing-entry", "error", "a key is cited that the bibliography lacks"),
    ReferenceRule("doubled-key", "error", "two entries have the same key"),
    ReferenceRule("shared-identifier", "error", "two entries with different titles have the same identifier"),
    ReferenceRule("duplicate", "warning", "two entries are the same paper"),
    ReferenceRule("malformed-doi", "error", "the DOI is not one"),
    ReferenceRule("malformed-arxiv", "error", "the arXiv id is not one"),
    ReferenceRule("malformed-pmid", "error", "the PubMed id is not one"),
    ReferenceRule("malformed-isbn", "error", "the ISBN is cut off or mistyped"),
    ReferenceRule("malformed-issn", "error", "the ISSN is cut off or mistyped"),
    ReferenceRule("malformed-orcid", "error", "the ORCID is cut off or mistyped"),
    ReferenceRule("future-year", "error", "the year is in the future"),
    ReferenceRule("placeholder", "error", "a template's text was never replaced"),
    ReferenceRule("missing-field", "warning", "the entry lacks a field that its type needs"),
    ReferenceRule("missing-doi", "note", "the paper has a DOI that the entry lacks"),
    ReferenceRule("doi-form", "note", "the DOI is written as an address"),
    ReferenceRule("et-al", "warning", "the author list ends in “et al.”, which BibTeX takes for a person"),
    ReferenceRule("published-version", "note", "the preprint has been published since"),
    ReferenceRule("uncited", "note", "the entry is never cited"),
)
REFERENCE_RULES = {rule.id: rule for rule in _RULES}


@dataclass(frozen=True, slots=True)
class ReferenceProblem:
    """What is wrong with a reference, or should be looked at."""

    rule: str
    field: str
    message: str
    correction: str = ""  # what the field should be, if that is certain

    @property
    def severity(self) -> Severity:
        """How bad it is."""
        return REFERENCE_RULES[self.rule].severity


@dataclass(frozen=True, slots=True)
class CheckedReference:
    """A reference with its verdict."""

    entry: Entry
    verdict: Verdict
    problems: tuple[ReferenceProblem, ...] = ()
    sources: tuple[str, ...] = ()  # where records of the paper were found: "your library", "Crossref"


@dataclass(frozen=True, slots=True)
class ReferenceReport:
    """A draft or a bibliography with a verdict for each of its references."""

    path: str
    references: tuple[CheckedReference, ...]
    warnings: tuple[str, ...] = ()

    def count(self, severity: Severity) -> int:
        """How many problems are that bad."""
        return sum(problem.severity == severity for reference in self.references for problem in reference.problems)

    def verdicts(self) -> Counter[Verdict]:
        """How many references have each verdict."""
        return Counter(reference.verdict for reference in self.references)


class ReferenceProblemJson(TypedDict):
    """A problem of a reference."""

    rule: str
    field: str
    message: str
    severity: Severity
    correction: NotRequired[str]


class CheckedReferenceJson(TypedDict):
    """A reference with its verdict."""

    key: str
    verdict: Verdict
    problems: list[ReferenceProblemJson]
    file: str
    line: int | None
    sources: list[str]


class ReferenceReportJson(TypedDict):
    """The references of a draft or a bibliography."""

    path: str
    references: list[CheckedReferenceJson]
    warnings: list[str]


def report_json(report: ReferenceReport) -> ReferenceReportJson:
    """A report as JSON."""
    return {
        "path": report.path,
        "references": [_reference_json(reference) for reference in report.references],
        "warnings": list(report.warnings),
    }


def _reference_json(reference: CheckedReference) -> CheckedReferenceJson:
    return {
        "key": reference.entry.key,
        "verdict": reference.verdict,
        "problems": _problems_json(reference.problems),
        "file": reference.entry.file,
        "line": reference.entry.line,
        "sources": list(reference.sources),
    }


def _problems_json(problems: Sequence[ReferenceProblem]) -> list[ReferenceProblemJson]:
    rows: list[ReferenceProblemJson] = []
    for problem in problems:
        row: ReferenceProblemJson = {
            "rule": problem.rule,
            "field": problem.field,
            "message": problem.message,
            "severity": problem.severity,
        }
        if problem.correction:
            row["correction"] = problem.correction
        rows.append(row)
    return rows
