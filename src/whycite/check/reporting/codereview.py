"""Findings for code review: a SARIF 2.1.0 log, and GitHub workflow commands, which annotate the lines of a change."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from importlib.metadata import version
from itertools import zip_longest
from pathlib import Path
from typing import Any
from urllib.parse import quote

from whycite.check.draftfiles import DraftFile
from whycite.check.findings import CITATION_RULES, CheckedDraft, Finding
from whycite.check.fix.edits import FileChange, FixPlan, text_of
from whycite.check.fix.planning import plan
from whycite.check.reporting.messages import (
    is_reported,
    message,
    need_phrase,
    printable,
    problem_message,
    problem_phrase,
    relative_path,
)
from whycite.check.rules import RULES, Rule
from whycite.cite.recommendations import recommendation_json
from whycite.errors import UserError

__all__ = ["github", "sarif"]

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
# The ids are an interface: users silence rules by id, across versions.
_RULES: list[dict[str, Any]] = [
    {
        "id": "needs-citation",
        "name": "NeedsCitation",
        "shortDescription": {"text": "The sentence makes a claim that seems to need a citation."},
        "fullDescription": {"text": "A sentence that reports the work of others should cite where it was published."},
        "help": {
            "text": "Cite one of the recommended papers, or silence the sentence with the comment `whycite: ignore`."
        },
        "defaultConfiguration": {"level": "warning"},
    },
    {
        "id": "cited",
        "name": "Cited",
        "shortDescription": {"text": "The sentence has a citation; other papers could be cited as well."},
        "fullDescription": {
            "text": "Reported only with --all, with papers that match a sentence that already has citations."
        },
        "help": {"text": "No action is needed."},
        "defaultConfiguration": {"level": "note"},
    },
]


def _descriptor(rule: Rule) -> dict[str, Any]:
    """A certain rule below `needs-citation`: SARIF ids are hierarchical."""
    return {
        "id": f"needs-citation/{rule.id}",
        "name": "".join(word.capitalize() for word in rule.id.split("-")),
        "shortDescription": {"text": f"The sentence {rule.meaning}."},
        "fullDescription": {"text": f"The sentence {rule.meaning}, which certainly needs a citation."},
        "help": {"text": f"Cite the work, or silence the rule with the comment `whycite: ignore[{rule.id}]`."},
        "defaultConfiguration": {"level": "warning"},
    }


_RULES += [_descriptor(rule) for rule in RULES if rule.direction == "needs"]
_LEVELS = {"retracted": "error", "concern": "warning", "corrected": "note"}
_RULES += [
    {
        "id": rule,
        "name": rule.capitalize(),
        "shortDescription": {"text": f"The sentence {meaning}."},
        "fullDescription": {"text": f"The sentence {meaning}; whether it still backs the claim is yours to decide."},
        "help": {"text": f"Cite another paper, or silence the rule with the comment `whycite: ignore[{rule}]`."},
        "defaultConfiguration": {"level": _LEVELS[rule]},
    }
    for rule, meaning in CITATION_RULES.items()
]
_Place = tuple[str, int, int]  # a sentence by its file and offsets
_INDEX = {rule["id"]: index for index, rule in enumerate(_RULES)}


def sarif(checked: Sequence[CheckedDraft], roots: Sequence[Path | None] = ()) -> str:
    """The findings of all drafts as one run, each with the change that `--fix` would make.

    `roots` has the folder of each draft that was checked as a folder.
    """
    seen: Counter[str] = Counter()
    notifications = [_notification("warning", warning) for draft in checked for warning in draft.warnings]
    fixes: dict[_Place, dict[str, Any]] = {}
    for draft, root in zip_longest(checked, roots):
        try:
            fixes |= _fixes(plan(draft, root=root))
        except UserError as error:  # the draft is in an archive, or came from standard input
            notifications.append(_notification("note", f"without fixes: {error}"))
    run = {
        "tool": {"driver": {"name": "whycite", "version": version("whycite"), "rules": _RULES}},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": notifications}],
        "results": [result for finding in _reported(checked) for result in _results(finding, seen, fixes)],
    }
    content = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(content, indent=2) + "\n"


def _notification(level: str, text: str) -> dict[str, Any]:
    return {"level": level, "message": {"text": _literal(printable(text))}}


def _place(finding: Finding) -> _Place:
    return finding.file, finding.start, finding.end


def _fixes(fix_plan: FixPlan) -> dict[_Place, dict[str, Any]]:
    """The property `fixes` of each finding that can be fixed; each fix works without the others."""
    texts: dict[Path, DraftFile] = {}
    fixes = {}
    for (finding, proposal), changes in zip(fix_plan.fixed, fix_plan.separate_changes, strict=True):
        for change in changes:
            if change.path not in texts:
                texts[change.path] = DraftFile(text_of(change.old_content), "")
        fix = {
            "description": {"text": _literal(printable(f"Cite {proposal.key}"))},
            "artifactChanges": [_artifact_change(change, texts[change.path]) for change in changes],
        }
        fixes[_place(finding)] = {"fixes": [fix]}
    return fixes


def _artifact_change(change: FileChange, file: DraftFile) -> dict[str, Any]:
    return {
        "artifactLocation": _artifact(change.label),
        "replacements": [
            {
                # Of length zero: nothing is deleted.
                "deletedRegion": {"startLine": line, "startColumn": column, "endLine": line, "endColumn": column},
                "insertedContent": {"text": insertion.text},
            }
            for insertion in change.insertions
            for line, column in [file.position(insertion.offset)]
        ],
    }


def _reported(checked: Sequence[CheckedDraft]) -> Iterator[Finding]:
    return (finding for draft in checked for finding in draft.findings if is_reported(finding))


def _results(finding: Finding, seen: Counter[str], fixes: Mapping[_Place, dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """One result for the papers that the sentence cites, if one does not stand, and one for those it could cite."""
    if finding.problems:
        yield _result(finding, finding.problems[0].rule, problem_message(finding), seen)
    if finding.kind == "needs-citation" or finding.recommendations:
        certain = finding.rule and finding.kind == "needs-citation"
        rule_id = f"{finding.kind}/{finding.rule}" if certain else finding.kind
        yield _result(finding, rule_id, message(finding), seen) | fixes.get(_place(finding), {})


def _result(finding: Finding, rule_id: str, text: str, seen: Counter[str]) -> dict[str, Any]:
    return {
        "ruleId": rule_id,
        "ruleIndex": _INDEX[rule_id],
        "level": _RULES[_INDEX[rule_id]]["defaultConfiguration"]["level"],
        "message": {"text": _literal(text)},
        "locations": [{"physicalLocation": {"artifactLocation": _artifact(finding.file), "region": _region(finding)}}],
        "partialFingerprints": {"whyciteSentence/v1": _fingerprint(finding, rule_id, seen)},
        "rank": round(100 * min(max(finding.worthiness, 0.0), 1.0), 2),
        "properties": {
            "text": finding.text,
            "section": finding.section,
            "sectionType": finding.section_type,
            "worthiness": finding.worthiness,
            "threshold": finding.threshold,
            "cites": list(finding.cites),
            "fits": finding.fits,
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


def _fingerprint(finding: Finding, rule_id: str, seen: Counter[str]) -> str:
    """An id that stays the same when a sentence moves; equal sentences are numbered."""
    sentence = f"{rule_id if rule_id in CITATION_RULES else finding.kind}\n{' '.join(finding.text.split())}"
    seen[sentence] += 1
    return sha256(f"{sentence}\n{seen[sentence]}".encode("utf-8", "surrogatepass")).hexdigest()


def _literal(text: str) -> str:
    """Text escaped so that SARIF sees no placeholder and no link in it (sections 3.11.5 and 3.11.6)."""
    return text.replace("{", "{{").replace("}", "}}").replace("](", "]\\(")


def github(checked: Sequence[CheckedDraft]) -> str:
    """A workflow command for each finding, and for each sentence that cites a paper which no longer stands."""
    return "".join(command for draft in checked for finding in draft.findings for command in _commands(finding))


def _commands(finding: Finding) -> Iterator[str]:
    if finding.problems:
        level = "error" if finding.problems[0].rule == "retracted" else "warning"
        yield _command(finding, level, problem_phrase(finding), problem_message(finding))
    if finding.kind == "needs-citation":
        yield _command(finding, "warning", need_phrase(finding), message(finding))
    elif finding.recommendations:
        yield _command(finding, "notice", "could cite more", message(finding))


def _command(finding: Finding, level: str, title: str, text: str) -> str:
    path = relative_path(finding.file) or Path(finding.file)
    place = {"file": path.as_posix(), "line": finding.line, "endLine": finding.end_line}
    if finding.line == finding.end_line:  # GitHub rejects columns that span several lines
        place |= {"col": finding.column, "endColumn": finding.end_column}
    place["title"] = f"whycite: {title}"
    written = ",".join(f"{name}={_escaped_property(str(value))}" for name, value in place.items())
    return f"::{level} {written}::{_escaped(text)}\n"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escaped_property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")
