"""Compared tables as text for a terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from whycite.cli.terminal import escape_markup, printable, say
from whycite.lab.reproduce.tables import ComparedRow, ComparedTable, Figure, Figures

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["figure_text", "heads", "lines", "markdown", "p_text", "show_table", "table_title"]

PAPER, OURS = "paper", "ours"


def figure_text(figure: Figure | None) -> str:
    """A figure with as many digits as it needs: 0.357, 1,234 or 117.46, and its spread in brackets."""
    if figure is None:
        return ""
    value = figure.value
    text = f"{value:.3f}" if abs(value) < 10 else f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"
    return text if figure.spread is None else f"{text} ({figure.spread:.3f})"


def p_text(row: ComparedRow, measure: str) -> str:
    """The p value of a measure, or nothing."""
    if measure not in row.p:
        return ""
    return "<.0001" if row.p[measure] < 0.0001 else f"{row.p[measure]:.4f}"


def table_title(table: ComparedTable) -> str:
    """The title with the paper and the number of the table."""
    return f"{table.published.paper}, table {table.number}: {table.published.title}"


def tested_measures(table: ComparedTable) -> tuple[str, ...]:
    """The measures that have p values in this table."""
    return tuple(dict.fromkeys(measure for row in table.rows for measure in row.p))


def heads(table: ComparedTable) -> list[str]:
    """The heads of all columns."""
    tests = [f"p ({measure})" for measure in tested_measures(table)]
    return ["", "", "", *table.published.columns, *tests]


def lines(table: ComparedTable) -> Iterator[list[str]]:
    """One line of cells for the paper and one for us, per row; the names stand in the first of them."""
    tested = tested_measures(table)
    previous_group = ""
    for row in table.rows:
        group = row.group if row.group != previous_group else ""
        previous_group, name = row.group, row.name
        for source, figures in ((PAPER, row.paper), (OURS, row.ours)):
            if figures is not None:
                tests = [p_text(row, measure) if source == OURS else "" for measure in tested]
                yield [group, name, source, *map(figure_text, figures), *tests]
                group = name = ""


def remarks(table: ComparedTable) -> list[str]:
    """What must be known to read the table, one sentence each."""
    said = [f"Not comparable: {table.not_comparable}."] if table.not_comparable else []
    if table.has_spread and table.published.spread:
        said.append(f"In brackets: {table.published.spread}.")
    if table.tested_against:
        said.append(f"p: paired t-test over the same claims, against {table.tested_against}.")
    return [*said, *table.notes, *dict.fromkeys(f"{row.name}: {row.note}." for row in table.rows if row.note)]


def conditions(table: ComparedTable) -> list[tuple[str, str, str]]:
    """The name of each condition, the paper's and ours."""
    names = dict.fromkeys([*table.published.conditions, *table.conditions])
    return [(name, table.published.conditions.get(name, "–"), table.conditions.get(name, "–")) for name in names]


def show_table(table: ComparedTable, console: Console) -> None:
    """Print a table, its conditions and remarks."""
    from rich import box
    from rich.table import Table

    say(console, printable(table_title(table)))
    for name, paper, ours in conditions(table):
        say(console, printable(f"  {name}: {paper} (paper); {ours} (ours)"))
    for remark in remarks(table):
        say(console, printable(f"  {remark}"))
    shown = Table(box=box.SIMPLE, padding=(0, 1, 0, 0))
    for position, head in enumerate(heads(table)):
        shown.add_column(escape_markup(head), justify="left" if position < 3 else "right", no_wrap=position < 3)
    for cells in lines(table):
        shown.add_row(*map(escape_markup, cells))
    console.print(shown)


def markdown(title: str, introduction: str, tables: Sequence[ComparedTable]) -> str:
    """All tables as one Markdown document."""
    parts = [f"# {title}", introduction]
    for table in tables:
        parts.append(f"## {table_title(table)}")
        parts.append(_markdown_table(["", "paper", "ours"], [list(row) for row in conditions(table)]))
        if said := remarks(table):
            parts.append(" ".join(said))
        parts.append(_markdown_table(heads(table), list(lines(table)), numbers_from=3))
    return "\n\n".join(parts) + "\n"


def _markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]], numbers_from: int | None = None) -> str:
    rule = ["---:" if numbers_from is not None and place >= numbers_from else "---" for place in range(len(head))]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in (head, rule, *rows))


def column_figures(table: ComparedTable, figures: Figures | None, column: str) -> Figure | None:
    """The figure of a column, or None."""
    return figures[table.published.columns.index(column)] if figures is not None else None
