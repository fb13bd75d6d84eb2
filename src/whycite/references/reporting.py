"""The report on references for machines: GitHub workflow commands and SARIF 2.1.0."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

from whycite.check.reporting.messages import printable, relative_path
from whycite.references.report import REFERENCE_RULES, CheckedReference, ReferenceProblem, ReferenceReport

__all__ = ["github_report", "sarif_report", "with_sarif_run"]

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
