"""The tables of `whycite annotate`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from whycite.cli.terminal import count, say

if TYPE_CHECKING:
    from rich.console import Console

    from whycite.annotation.comparing import Row
    from whycite.annotation.sampling import Sampling

__all__ = ["show_rows", "show_sampling"]


def show_sampling(checked: Sampling, console: Console) -> None:
    """How much of the known evidence is among the candidates."""
    from rich.table import Table

    table = Table("Most similar", title="Known evidence among them (the thesis, figure 3.1)", title_justify="left")
    table.add_column("of all evidence", justify="right")
    table.add_column("claims with some", justify="right")
    for k, share in checked.found.items():
        table.add_row(f"{k}", f"{share * 100:.0f} %", f"{checked.any[k] * 100:.0f} %")
    console.print(table)
    say(console, f"{count(checked.claims, 'claim')} with {count(checked.evidence, 'sentence')} of evidence.")


def show_rows(rows: Sequence[Row], console: Console) -> None:
    """Ways to aggregate, held against gold."""
    from rich.table import Table

    table = Table("Paradigm", "Aggregation", title="Against gold (the thesis, table 4.1)", title_justify="left")
    for head in ("Tasks", "Cohen", "AUC", "AUC of shares", "F1"):
        table.add_column(head, justify="right")
    for row in rows:
        name = "GLAD" if row.method == "glad" else "Vote"
        figures = [row.kappa, row.auc, row.auc_soft, row.f1]
        shown = ["–" if figure is None else f"{figure:.2f}" for figure in figures]
        table.add_row(row.kind, f"{name} {row.votes}", f"{row.tasks:,}", *shown)
    console.print(table)
