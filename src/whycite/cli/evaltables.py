"""The tables of `whycite eval`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from whycite.cli.terminal import count, plain, printable, say

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from whycite.evaluation.comparison import Row
    from whycite.evaluation.ilciter import Outcome

__all__ = ["show", "table"]

_TABLE_4 = ("bm25-okapi", "bm25-plus", "bm25-plus-rank-bm25", "ilciter")
_TABLE_5 = ("encoder", "ensemble-okapi-encoder", "ensemble-plus-encoder", "ensemble-all", "ilciter")
_RATIOS = ("MRR", "R@10")
_CHOICES = {"random": "drawn at random", "supported": "with the best supported papers, as ILCiteR's authors chose"}


def show(outcomes: Sequence[Outcome], console: Console) -> None:
    """Table 2 of ILCiteR for all topics, then tables 4 and 5 for each topic and choice of claims."""
    from whycite.evaluation.ilciter import AGAINST

    _statistics(outcomes, console)
    for outcome in outcomes:
        name, choices = plain(outcome.prepared.topic), outcome.choices
        for choice, chosen in choices.items():
            say(
                console, printable(f"{outcome.prepared.topic}: {count(len(chosen.cases), 'claim')} {_CHOICES[choice]}.")
            )
            table_4 = [row for row in chosen.rows if row.method in _TABLE_4 or row.method.startswith("whycite")]
            table_5 = [row for row in chosen.rows if row.method in _TABLE_5]
            table(f"{name}, {choice}: words and whycite (ILCiteR's table 4)", table_4, AGAINST, console)
            if any(row.method != "ilciter" for row in table_5):
                table(f"{name}, {choice}: meaning, and ensembles (table 5)", table_5, AGAINST, console)


def _statistics(outcomes: Sequence[Outcome], console: Console) -> None:
    heads = ("Topic", "papers", "spans", "characters", "tokens", "cited papers", "held out", "claims", "answerable")
    rows = _empty("Databases (ILCiteR's table 2) and claims", *heads)
    for outcome in outcomes:
        prepared, database = outcome.prepared, outcome.database
        rows.add_row(
            plain(prepared.topic),
            f"{prepared.papers:,}",
            f"{database.spans:,}",
            f"{database.characters:.2f}",
            f"{database.tokens:.2f}",
            f"{database.papers:,}",
            f"{prepared.held_out:,}",
            f"{len(prepared.claims.cases):,}",
            f"{outcome.answerable:,}",
        )
    console.print(rows)
    for outcome in outcomes:
        prepared = outcome.prepared
        days = f"held out: {prepared.oldest or 'no date'} to {prepared.newest or 'no date'}"
        say(console, printable(f"{prepared.topic}: {prepared.rule}; {days}."))
    console.print()


def table(title: str, rows: Sequence[Row], against: Sequence[str], console: Console) -> None:
    """Methods side by side: each held against others, and how many times as good as the first of these."""
    others = [other for other in against if any(other in row.p for row in rows)]
    heads = [f"{name} ×\n{others[0]}" for name in _RATIOS] + [f"p\n{other}" for other in others] if others else []
    columns = ("MRR", "95 %", "R@1", "R@3", "R@5", "R@10", *heads)
    shown = _empty(title, "Method", *columns)
    for row in rows:
        recalls = [f"{row.means[name]:.3f}" for name in ("R@1", "R@3", "R@5", "R@10")]
        interval = f"{row.interval.low:.3f}–{row.interval.high:.3f}"
        ratios = [_ratio(row, others[0], name) for name in _RATIOS] if others else []
        shown.add_row(
            row.method, f"{row.means['MRR']:.4f}", interval, *recalls, *ratios, *(_p(row, other) for other in others)
        )
    console.print(shown)


def _empty(title: str, first: str, *heads: str) -> Table:
    """A table of names and numbers; narrow gaps, so that all methods fit into 120 columns."""
    from rich import box
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=box.SIMPLE, padding=(0, 1, 0, 0))
    table.add_column(first, no_wrap=True)
    for head in heads:
        table.add_column(head, justify="right")
    return table


def _ratio(row: Row, other: str, measure: str) -> str:
    ratio = row.ratios.get(other, {}).get(measure)
    return "–" if ratio is None else f"{ratio:.2f}"


def _p(row: Row, other: str) -> str:
    """The p of a paired t-test of the MRR."""
    if other not in row.p:
        return "–"
    p = row.p[other]["MRR"]
    return "<.0001" if p < 0.0001 else f"{p:.4f}"
