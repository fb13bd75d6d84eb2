"""The report of a check while it runs: warnings, findings as they come, and how far it got when it is stopped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from whycite.cli.progress import StageBar
from whycite.cli.results import FindingPrinter
from whycite.cli.terminal import Interruption, count, printable, say
from whycite.files import shorten_paths

if TYPE_CHECKING:
    from rich.console import Console

    from whycite.check.findings import CheckedDraft, Finding

__all__ = ["LiveReport"]


class LiveReport:
    """Prints what a check reports, above its progress bar; without `streams`, warnings only."""

    def __init__(self, bar: StageBar, errors: Console, streams: bool) -> None:
        from rich.console import Console

        self._bar, self._errors = bar, errors
        self._printer = FindingPrinter(Console(highlight=False)) if streams else None
        self._warnings: set[str] = set()
        self._stage: tuple[str, int, int | None] = ("", 0, None)
        self._shown: list[Finding] = []
        self._total = 0  # sentences of the draft that need a citation

    def progress(self, stage: str, completed: int, total: int | None) -> None:
        """Show how far a stage is."""
        self._stage = stage, completed, total
        self._bar(stage, completed, total)

    def show(self, judged: CheckedDraft, findings: Sequence[Finding]) -> None:
        """Print new warnings and some findings of a draft."""
        self._total = sum(finding.kind == "needs-citation" for finding in judged.findings)
        with self._bar.hidden():
            self._show_warnings(judged)
            if self._printer:
                self._shown.extend(self._printer.show(judged, findings))

    def finish(self, reports: Sequence[CheckedDraft]) -> None:
        """Print what is still to be said, and a summary of each draft."""
        with self._bar.hidden():
            for checked in reports:
                self._show_warnings(checked)
            if self._printer:
                self._printer.summarise(reports)

    @contextmanager
    def interruptible(self, draft: str) -> Iterator[None]:
        """Check a draft; if the user stops it, say how far it got."""
        self._stage, self._shown = ("", 0, None), []
        try:
            yield
        except KeyboardInterrupt:
            raise Interruption(self._position(draft)) from None

    def _show_warnings(self, checked: CheckedDraft) -> None:
        for warning in dict.fromkeys(checked.warnings):
            if warning not in self._warnings:
                self._warnings.add(warning)
                say(self._errors, f"warning: {printable(shorten_paths(warning))}")

    def _position(self, draft: str) -> str:
        """How far the check of a draft got."""
        name, again = printable(shorten_paths(draft)), "run the command again to continue"
        if self._shown:
            end = self._shown[-1]
            number = sum(finding.kind == "needs-citation" for finding in self._shown)
            place = printable(shorten_paths(f"{end.file}:{end.end_line}"))
            return (
                f"{name}: shown up to {place}, {number:,} of {count(self._total, 'sentence')} that need a citation; "
                f"{again}"
            )
        stage, completed, total = self._stage
        if total:
            return f"{name}: {stage}, {completed:,} of {total:,}; {again}"
        return f"{name}: nothing checked yet"
