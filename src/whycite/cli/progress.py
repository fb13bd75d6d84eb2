"""How far a command has come, shown on a terminal while it works."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from whycite.cli.stopping import Stopped
from whycite.cli.terminal import count, plain

if TYPE_CHECKING:
    from rich.console import Console

    from whycite.library import Progress, Report

__all__ = ["add_shown", "counted", "shown"]


def add_shown(
    library: Path | str | None, paths: Sequence[Path | str], format: str | None = None, jobs: int | None = None
) -> Report:
    """Add papers; when the user stops it, say what is kept."""
    from rich.console import Console

    from whycite.library import add

    errors = Console(stderr=True, highlight=False)
    kept = 0

    def tell(progress: Progress) -> None:
        nonlocal kept
        kept = progress.added
        show(progress)

    try:
        with shown(errors) as show:
            return add(library, paths, format=format, jobs=jobs, progress=tell)
    except KeyboardInterrupt:
        raise Stopped(f"{count(kept, 'document')} added and kept, run it again to go on") from None


@contextmanager
def shown(console: Console) -> Iterator[Callable[[Progress], None]]:
    """Show what is told of an add: documents, spans, rate, and the document read last; only on a terminal."""
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

        def tell(progress: Progress) -> None:
            bar.update(task, description=plain(progress.reading), counts=_counts(progress, time.monotonic() - start))

        yield tell


def _counts(progress: Progress, seconds: float) -> str:
    parts = [f"{count(progress.added, 'document')} added"]
    if progress.unchanged:
        parts.append(f"{progress.unchanged:,} unchanged")
    parts += [count(progress.spans, "span"), f"{progress.added / max(seconds, 0.001) * 60:,.0f} a minute"]
    return ", ".join(parts)


@contextmanager
def counted(console: Console, noun: str) -> Iterator[Callable[[int], None]]:
    """Show how many there are and how fast they come; only on a terminal."""
    from rich.progress import Progress as Bar
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

    start = time.monotonic()
    columns = (SpinnerColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Bar(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=None)

        def tell(number: int) -> None:
            rate = number / max(time.monotonic() - start, 0.001)
            bar.update(task, description=f"{count(number, noun)}, {rate:,.1f} a second")

        yield tell
