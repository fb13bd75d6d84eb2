"""`whycite check --fix`: shows what would change, asks, and writes it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from whycite.cli.terminal import count, printable, say
from whycite.errors import UserError

if TYPE_CHECKING:
    from rich.console import Console

    from whycite.check import Checked
    from whycite.check.fixing import Plan

__all__ = ["fixed"]


def fixed(found: Sequence[tuple[str, Checked]], yes: bool) -> None:
    """Put the best citation into every sentence that needs one, draft by draft, after a look at the changes."""
    from rich.console import Console

    from whycite.check.fixing import apply, plan

    console = Console(highlight=False)
    for draft, checked in found:
        made = plan(checked, root=Path(draft) if Path(draft).is_dir() else None)
        _show(made, console)
        left = sum(finding.kind == "needs-citation" and finding.doubtful for finding in checked.findings)
        if left:
            alone = f"{count(left, 'sentence')} left alone, for no paper clearly fits {'it' if left == 1 else 'them'}"
            say(console, printable(f"{made.draft}: {alone}."))
        if not made.changes:
            say(console, printable(f"{made.draft}: nothing to change."))
        elif yes or _agreed(console):
            apply(made)
            files = count(len(made.changes), "file")
            say(console, printable(f"{made.draft}: {count(len(made.fixed), 'citation')} put in, {files} changed."))
        else:
            say(console, printable(f"{made.draft}: left as it is."))


def _show(made: Plan, console: Console) -> None:
    from rich.text import Text

    colours = {"+": "green", "-": "red", "@": "cyan"}
    for line in made.diff().splitlines():
        say(console, Text(printable(line), style=colours.get(line[:1], "default")))
    for refusal in made.refused:
        finding = refusal.finding
        where = f"{finding.file}:{finding.line}: {refusal.proposal.key} is not put in: {refusal.reason}"
        say(console, Text(printable(where), style="yellow"))


def _agreed(console: Console) -> bool:
    if not sys.stdin.isatty():
        raise UserError("nobody is there to ask: give --yes to write the changes shown")
    console.print("Write these changes? [y/N] ", end="", markup=False)
    try:
        return input().strip().lower() in ("y", "yes")
    except EOFError:
        return False
