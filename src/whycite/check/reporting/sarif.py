"""Findings as SARIF 2.1.0, which code review tools and editors read."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

from whycite.check.findings import CheckedDraft, Finding
from whycite.check.reporting.messages import is_reported, message, printable, relative_path
from whycite.cite.recommendations import recommendation_json

__all__ = ["report"]

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
# The ids are an interface: who has silenced one wants it silent with the next version too.
_RULES: list[dict[str, Any]] = [
    {
        "id": "needs-citation",
        "name": "NeedsCitation",
        "shortDescription": {"text": "A sentence makes a claim that seems to need a citation."},
        "fullDescription": {
            "text": "Sentences that report what others found, did or made are expected to say where that is published."
        },
        "help": {"text": "Cite one of the papers proposed, or silence the sentence with a comment: whycite: ignore"},
        "defaultConfiguration": {"level": "warning"},
    },
    {
        "id": "cited",
        "name": "Cited",
        "shortDescription": {"text": "A sentence cites already; other papers could be cited too."},
        "fullDescription": {"text": "Given on request only, with the papers that fit a sentence that has citations."},
        "help": {"text": "Nothing has to be done."},
        "defaultConfiguration": {"level": "note"},
    },
]
_INDEX = {rule["id"]: index for index, rule in enumerate(_RULES)}


def report(checked: Sequence[CheckedDraft]) -> str:
    """The findings of all drafts as one run."""
    seen: Counter[str] = Counter()
    notifications = [
        {"level": "warning", "message": {"text": _literal(printable(warning))}}
        for draft in checked
        for warning in draft.warnings
    ]
    run = {
        "tool": {"driver": {"name": "whycite", "version": version("whycite"), "rules": _RULES}},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": notifications}],
        "results": [_result(finding, seen) for finding in _reported(checked)],
    }
    content = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(content, indent=2) + "\n"


def _reported(checked: Sequence[CheckedDraft]) -> Iterator[Finding]:
    return (finding for draft in checked for finding in draft.findings if is_reported(finding))


def _result(finding: Finding, seen: Counter[str]) -> dict[str, Any]:
    return {
        "ruleId": finding.kind,
        "ruleIndex": _INDEX[finding.kind],
        "level": _RULES[_INDEX[finding.kind]]["defaultConfiguration"]["level"],
        "message": {"text": _literal(message(finding))},
        "locations": [{"physicalLocation": {"artifactLocation": _artifact(finding.file), "region": _region(finding)}}],
        "partialFingerprints": {"whyciteSentence/v1": _fingerprint(finding, seen)},
        "rank": round(100 * min(max(finding.worthiness, 0.0), 1.0), 2),
        "properties": {
            "text": finding.text,
            "section": finding.section,
            "sectionType": finding.section_type,
            "worthiness": finding.worthiness,
            "threshold": finding.threshold,
            "cites": list(finding.cites),
            "doubtful": finding.doubtful,
            "recommendations": [
                recommendation_json(proposal.recommendation)
                | {"citationKey": proposal.key, "known": proposal.in_bibliography}
                for proposal in finding.recommendations
            ],
        },
    }


def _artifact(file: str) -> dict[str, str]:
    path = relative_path(file)
    if path is None:
        return {"uri": Path(file).absolute().as_uri()}
    return {"uri": quote(path.as_posix().encode("utf-8", "surrogateescape")), "uriBaseId": "%SRCROOT%"}


def _region(finding: Finding) -> dict[str, int]:
    return {
        "startLine": finding.line,
        "startColumn": finding.column,
        "endLine": finding.end_line,
        "endColumn": finding.end_column,
    }


def _fingerprint(finding: Finding, seen: Counter[str]) -> str:
    """The same for the same sentence wherever it moves to; equal sentences are numbered."""
    sentence = f"{finding.kind}\n{' '.join(finding.text.split())}"
    seen[sentence] += 1
    return sha256(f"{sentence}\n{seen[sentence]}".encode("utf-8", "surrogatepass")).hexdigest()


def _literal(text: str) -> str:
    """Text in which nothing is a place for an argument, and nothing a link (sections 3.11.5 and 3.11.6)."""
    return text.replace("{", "{{").replace("}", "}}").replace("](", "]\\(")
