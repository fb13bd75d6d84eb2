"""Findings as GitHub workflow commands, which become annotations on the lines of a change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from whycite.check.findings import CheckedDraft, Finding
from whycite.check.reporting.messages import message, need_phrase, problem_message, problem_phrase, relative_path

__all__ = ["report"]


def report(checked: Sequence[CheckedDraft]) -> str:
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
    written = ",".join(f"{name}={_property(str(value))}" for name, value in place.items())
    return f"::{level} {written}::{_data(text)}\n"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
