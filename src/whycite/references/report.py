"""What a check of references reports: rules, problems, a verdict for each; as JSON, GitHub commands and SARIF 2.1.0."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, NotRequired, get_args
from urllib.parse import quote

from typing_extensions import TypedDict

from whycite.check.reporting.messages import printable, relative_path
from whycite.references.entries import Entry

__all__ = [
    "COMMON_RULES",
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
    "github_report",
    "report_json",
    "sarif_report",
    "with_sarif_run",
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
    ReferenceRule("identifiers-differ", "warning", "two fields of the entry identify two papers", differs=True),
    ReferenceRule("authors-missing", "note", "the paper has more authors"),
    ReferenceRule(
        "missing-entry", "error", "a key is cited, or fields are taken from one, that the bibliography lacks"
    ),
    ReferenceRule("key-case", "warning", "two spellings of a key differ in capitals only"),
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
    ReferenceRule("malformed-year", "error", "the year has too many digits or too few"),
    ReferenceRule("malformed-date", "warning", "a date is not one, or is in the future"),
    ReferenceRule("malformed-url", "warning", "the address is not one that others can open"),
    ReferenceRule("placeholder", "error", "a template's text was never replaced"),
    ReferenceRule("missing-field", "warning", "the entry lacks a field that its type needs"),
    ReferenceRule("missing-doi", "note", "the paper has a DOI that the entry lacks"),
    ReferenceRule("doi-form", "note", "the DOI is written as an address, or with more than the DOI"),
    ReferenceRule("et-al", "warning", "the author list ends in “et al.”, which BibTeX takes for a person"),
    ReferenceRule("author-list", "warning", "names are not separated by “and”, so BibTeX takes them for one person"),
    ReferenceRule("published-version", "note", "the preprint has been published since"),
    ReferenceRule("no-identifier", "note", "the article has neither a DOI nor another identifier"),
    ReferenceRule("uncited", "note", "the entry is never cited"),
)
REFERENCE_RULES = {rule.id: rule for rule in _RULES}
COMMON_RULES = frozenset({"uncited", "no-identifier"})  # true of many entries, so reported once for all of them


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


_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}
_INDEX = {rule: index for index, rule in enumerate(REFERENCE_RULES)}


def _problems(reports: Sequence[ReferenceReport]) -> Iterator[tuple[CheckedReference, ReferenceProblem]]:
    for report in reports:
        for reference in report.references:
            for problem in reference.problems:
                yield reference, problem


def github_report(reports: Sequence[ReferenceReport]) -> str:
    """One workflow command per problem."""
    return "".join(_command(reference, problem) for reference, problem in _problems(reports))


def _command(reference: CheckedReference, problem: ReferenceProblem) -> str:
    path = relative_path(reference.entry.file) or Path(reference.entry.file)
    place = f"file={_escape(path.as_posix(), ':,')},line={reference.entry.line or 1}"
    title = f"title=whycite: {_escape(problem.rule, ':,')}".replace(":", "%3A")
    message = _escape(f"{reference.entry.key}: {problem.message}")
    return f"::{_COMMANDS[problem.severity]} {place},{title}::{message}\n"


def _escape(text: str, signs: str = "") -> str:
    for sign in ("%", "\r", "\n", *signs):
        text = text.replace(sign, f"%{ord(sign):02X}")
    return text


def sarif_report(reports: Sequence[ReferenceReport]) -> str:
    """The problems as a log with one run."""
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [_run(reports)]}, indent=2) + "\n"


def _run(reports: Sequence[ReferenceReport]) -> dict[str, Any]:
    """The problems as one run of a log."""
    warnings = [warning for report in reports for warning in report.warnings]
    return {
        "tool": {"driver": {"name": "whycite references", "version": version("whycite"), "rules": _descriptors()}},
        "automationDetails": {"id": "whycite/references/"},
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": True,
                "toolExecutionNotifications": [
                    {"level": "warning", "message": {"text": _literal(printable(warning))}} for warning in warnings
                ],
            }
        ],
        "results": [_result(reference, problem) for reference, problem in _problems(reports)],
    }


def with_sarif_run(log: str, reports: Sequence[ReferenceReport]) -> str:
    """A log with the problems as a further run; the same log without reports."""
    if not reports:
        return log
    content = json.loads(log)
    content["runs"].append(_run(reports))
    return json.dumps(content, indent=2) + "\n"


def _descriptors() -> list[dict[str, Any]]:
    return [
        {
            "id": rule.id,
            "name": "".join(word.capitalize() for word in rule.id.split("-")),
            "shortDescription": {"text": f"{rule.meaning[0].upper()}{rule.meaning[1:]}."},
            "defaultConfiguration": {"level": rule.severity},
        }
        for rule in REFERENCE_RULES.values()
    ]


def _result(reference: CheckedReference, problem: ReferenceProblem) -> dict[str, Any]:
    path = relative_path(reference.entry.file)
    if path is None:
        artifact = {"uri": Path(reference.entry.file).absolute().as_uri()}
    else:
        artifact = {"uri": quote(path.as_posix().encode("utf-8", "surrogateescape")), "uriBaseId": "%SRCROOT%"}
    return {
        "ruleId": problem.rule,
        "ruleIndex": _INDEX[problem.rule],
        "level": problem.severity,
        "message": {"text": _literal(printable(f"{reference.entry.key}: {problem.message}"))},
        "locations": [
            {"physicalLocation": {"artifactLocation": artifact, "region": {"startLine": reference.entry.line or 1}}}
        ],
        "properties": {"key": reference.entry.key, "verdict": reference.verdict, "field": problem.field},
    }


def _literal(text: str) -> str:
    """Text escaped so that SARIF sees no placeholder and no link in it (sections 3.11.5 and 3.11.6)."""
    return text.replace("{", "{{").replace("}", "}}").replace("](", "]\\(")
