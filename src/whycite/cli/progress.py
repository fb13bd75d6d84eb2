"""Progress displays, shown only on a terminal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from whycite.cli.terminal import Interruption, count, escape_markup
from whycite.files import shorten_paths

if TYPE_CHECKING:
    from rich.console import Console

    from whycite.library import AddProgress, AddReport

__all__ = [
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
