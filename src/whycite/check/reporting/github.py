"""Findings as GitHub workflow commands, which become annotations on the lines of a change."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from whycite.check.findings import CheckedDraft, Finding
from whycite.check.reporting.messages import is_reported, message, need_phrase, relative_path

__all__ = ["report"]


def report(checked: Sequence[CheckedDraft]) -> str:
    """One workflow command per finding."""
    return "".join(_command(finding) for draft in checked for finding in draft.findings if is_reported(finding))


def _command(finding: Finding) -> str:
    path = relative_path(finding.file) or Path(finding.file)
    place = {"file": path.as_posix(), "line": finding.line, "endLine": finding.end_line}
    if finding.line == finding.end_line:  # GitHub rejects columns that span several lines
        place |= {"col": finding.column, "endColumn": finding.end_column}
    needed = finding.kind == "needs-citation"
    place["title"] = "whycite: " + (need_phrase(finding) if needed else "could cite more")
    written = ",".join(f"{name}={_property(str(value))}" for name, value in place.items())
    return f"::{'warning' if needed else 'notice'} {written}::{_data(message(finding))}\n"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
