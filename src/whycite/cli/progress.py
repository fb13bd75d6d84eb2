"""Progress displays, shown only on a terminal, and the report of a check while it runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from whycite.cli.terminal import Interruption, count, escape_markup, printable, say
from whycite.files import shorten_paths

if TYPE_CHECKING:
    from rich.console import Console

    from whycite.check.findings import CheckedDraft, Finding
    from whycite.library import AddProgress, AddReport

__all__ = [
    "LiveReport",
    "StageBar",
    "add_progress",
    "add_with_progress",
    "count_progress",
    "remaining_time",
    "resumable_progress",
    "stage_progress",
    "truncate_start",
]

_MIN_SECONDS = 1.0  # of work before an estimate means something
_LONG_SECONDS = 100  # from here on, minutes are precise enough
_MARGIN = 11  # columns taken by the spinner, the time and the gaps


def add_with_progress(
    library: Path | str | None,
    paths: Sequence[Path | str],
    format: str | None = None,
    jobs: int | None = None,
    encoder: str | None = None,
    own_text: bool = True,
    ray: str | None = None,
) -> AddReport:
    """Add papers with a progress display; if the user stops it, say how many were added."""
    from whycite.library import add, add_on_cluster

    with resumable_progress() as tell:
        add_them = add if ray is None else partial(add_on_cluster, address=ray)
        return add_them(library, paths, format=format, jobs=jobs, encoder=encoder, progress=tell, own_text=own_text)


@contextmanager
def resumable_progress() -> Iterator[Callable[[AddProgress], None]]:
    """Show the progress of an add; if the user stops it, say how many documents were added."""
    from rich.console import Console

    added_count = 0

    def tell(progress: AddProgress) -> None:
        nonlocal added_count
        added_count = progress.added
        show(progress)

    try:
        with add_progress(Console(stderr=True, highlight=False)) as show:
            yield tell
    except KeyboardInterrupt:
        raise Interruption(f"added {count(added_count, 'document')}; run the command again to continue") from None


@contextmanager
def add_progress(console: Console) -> Iterator[Callable[[AddProgress], None]]:
    """Show documents, spans, rate and the current document."""
    from rich.progress import Progress as Bar
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.table import Column

    start = time.monotonic()
    columns = (
        SpinnerColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[counts]}"),
        TextColumn("[dim]{task.description}", table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis")),
    )
    with Bar(*columns, console=console, transient=True, expand=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=None, counts="reading")

        def tell(progress: AddProgress) -> None:
            counts = _counts(progress, time.monotonic() - start)
            room = max(console.width - len(counts) - _MARGIN, 1)
            bar.update(
                task, description=escape_markup(truncate_start(shorten_paths(progress.reading), room)), counts=counts
            )

        yield tell


def _counts(progress: AddProgress, seconds: float) -> str:
    parts = [f"{count(progress.read, 'document')} read"]
    if progress.unchanged:
        parts.append(f"{progress.unchanged:,} unchanged")
    if progress.spans:
        parts.append(count(progress.spans, "span"))
    if progress.read:
        parts.append(f"{progress.read / max(seconds, 0.001) * 60:,.0f}/min")
    return ", ".join(parts)


def truncate_start(text: str, length: int) -> str:
    """A text of at most this length, cut at its start, because the end of a path says most."""
    return text if len(text) <= length else "…" + text[len(text) - length + 1 :]


@contextmanager
def count_progress(console: Console, noun: str) -> Iterator[Callable[[int], None]]:
    """Show a count and its rate."""
    from rich.progress import Progress as Bar
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

    start = time.monotonic()
    columns = (SpinnerColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Bar(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=None)

        def tell(number: int) -> None:
            rate = number / max(time.monotonic() - start, 0.001)
            bar.update(task, description=f"{count(number, noun)}, {rate:,.1f}/s")

        yield tell


class StageBar:
    """A bar for the stages of long work, with counts and an estimate where they are known."""

    def __init__(self, console: Console) -> None:
        from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[counts]}"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[estimate]}"),
        )
        self._bar = Bar(*columns, console=console, transient=True, disable=not console.is_terminal)
        self._task = self._bar.add_task("", total=None, counts="", estimate="")
        self._stage = ""
        self._stage_start = 0.0

    def __call__(self, stage: str, completed: int, total: int | None) -> None:
        """Show how far a stage is."""
        now = time.monotonic()
        if stage != self._stage:
            self._stage, self._stage_start = stage, now
        counts = f"{completed:,} of {total:,}" if total is not None else f"{completed:,}" if completed else ""
        self._bar.update(
            self._task,
            description=escape_markup(stage),
            completed=completed,
            total=total,
            counts=counts,
            estimate=remaining_time(now - self._stage_start, completed, total),
        )

    def start(self) -> None:
        """Show the bar."""
        self._bar.start()

    def stop(self) -> None:
        """Remove the bar."""
        self._bar.stop()

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Remove the bar while something else is printed, which may be on the same terminal."""
        self.stop()
        try:
            yield
        finally:
            self.start()


@contextmanager
def stage_progress(console: Console) -> Iterator[StageBar]:
    """Show a stage of long work, with a bar, and counts and an estimate where they are known."""
    bar = StageBar(console)
    bar.start()
    try:
        yield bar
    finally:
        bar.stop()


def remaining_time(seconds: float, completed: int, total: int | None) -> str:
    """ "about 2 min left", from the time that a part of a stage took; empty if too little of it is known."""
    if not total or not 0 < completed < total or seconds < _MIN_SECONDS:
        return ""
    remaining = seconds / completed * (total - completed)
    if remaining >= _LONG_SECONDS:
        return f"about {remaining / 60:.0f} min left"
    return f"about {max(1, round(remaining))} s left"


class LiveReport:
    """Prints what a check reports, above its progress bar; without `streams`, warnings only."""

    def __init__(self, bar: StageBar, errors: Console, streams: bool) -> None:
        from rich.console import Console

        from whycite.cli.results import FindingPrinter

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
