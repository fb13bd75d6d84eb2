"""Findings as workflow commands: GitHub shows them beside the lines of a change."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from whycite.check.model import Checked, Finding
from whycite.check.reporting.words import is_reported, message, needs, relative

__all__ = ["report"]


def report(checked: Sequence[Checked]) -> str:
    """A command a line for each finding; empty where there is none."""
    return "".join(_command(finding) for one in checked for finding in one.findings if is_reported(finding))


def _command(finding: Finding) -> str:
    path = relative(finding.file) or Path(finding.file)
    place = {"file": path.as_posix(), "line": finding.line, "endLine": finding.end_line}
    if finding.line == finding.end_line:  # columns of several lines are refused
        place |= {"col": finding.column, "endColumn": finding.end_column}
    needed = finding.kind == "needs-citation"
    place["title"] = "whycite: " + (needs(finding) if needed else "could cite more")
    written = ",".join(f"{name}={_property(str(value))}" for name, value in place.items())
    return f"::{'warning' if needed else 'notice'} {written}::{_data(message(finding))}\n"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
