"""Published tables with our figures beside them: as text, as Markdown, as an HTML page, and kept between runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, get_args

from whycite.cli.terminal import escape_markup, printable, say
from whycite.errors import UserError
from whycite.files import make_folder, write_lines
from whycite.lab.ilciter.workspace import check_setup, slug

if TYPE_CHECKING:
    from rich.console import Console

__all__ = [
    "PAPERS",
    "ComparedRow",
    "ComparedTable",
    "Figure",
    "FigureStore",
    "OurRow",
    "PaperName",
    "PublishedTable",
    "as_dict",
    "compare_rows",
    "figure_text",
    "heads",
    "html",
    "lines",
    "markdown",
    "mean_figure",
    "p_text",
    "plot",
    "published_tables",
    "show_table",
    "table_title",
]

PaperName = Literal["ilciter", "scope", "thesis"]
PAPERS: tuple[PaperName, ...] = get_args(PaperName)


@dataclass(frozen=True, slots=True)
class Figure:
    """A number of a table, and its standard error or deviation where the table has it."""

    value: float
    spread: float | None = None


Figures = tuple[Figure | None, ...]
"""One per column; None where there is none."""


@dataclass(frozen=True, slots=True)
class OurRow:
    """What we measured: figures by column, and p values of a paired t-test by measure."""

    group: str
    name: str
    figures: Mapping[str, Figure]
    p: Mapping[str, float] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """A row of the paper and our own; one of the two may be missing."""

    group: str
    name: str
    paper: Figures | None
    ours: Figures | None
    p: Mapping[str, float] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """A table as it stands in a paper."""

    paper: str
    number: str
    title: str
    conditions: Mapping[str, str]  # data, pool, k and so on
    columns: tuple[str, ...]
    plot: str  # the column to draw
    spread: str  # what stands in brackets: standard error, standard deviation, or ""
    rows: tuple[tuple[str, str, Figures], ...]  # group, name, figures


@dataclass(frozen=True, slots=True)
class ComparedTable:
    """A published table and ours, with what both were measured on."""

    published: PublishedTable
    rows: tuple[ComparedRow, ...]
    conditions: Mapping[str, str]  # ours, by the same names
    not_comparable: str  # why the figures of both must not be compared, or ""
    tested_against: str = ""  # the row that p values are against
    notes: tuple[str, ...] = ()
    our_spread: str = ""  # what stands in our brackets where the paper has none

    @property
    def number(self) -> str:
        """The number of the table in its paper."""
        return self.published.number

    @property
    def spread(self) -> str:
        """What stands in brackets, or "" if no figure has an error or deviation."""
        figures = (figure for row in self.rows for part in (row.paper, row.ours) for figure in part or ())
        shown = any(figure is not None and figure.spread is not None for figure in figures)
        return (self.published.spread or self.our_spread) if shown else ""


@cache
def published_tables(paper: PaperName) -> Mapping[str, PublishedTable]:
    """The tables of a paper by number."""
    content = json.loads((files(__package__) / "published" / f"{paper}.json").read_text("utf-8"))
    return MappingProxyType(
        {number: _published_table(content["name"], number, table) for number, table in content["tables"].items()}
    )


def _published_table(paper: str, number: str, table: Mapping[str, Any]) -> PublishedTable:
    return PublishedTable(
        paper,
        number,
        table["title"],
        table["conditions"],
        tuple(table["columns"]),
        table["plot"],
        table.get("spread", ""),
        tuple((row["group"], row["name"], tuple(map(_figure, row["figures"]))) for row in table["rows"]),
    )


def _figure(value: float | list[float]) -> Figure:
    return Figure(*value) if isinstance(value, list) else Figure(value)


def compare_rows(published: PublishedTable, our_rows: Sequence[OurRow]) -> tuple[ComparedRow, ...]:
    """The rows of the paper in its order with ours beside them; those that only we have end their group."""
    measured = {(row.group, row.name): row for row in our_rows}
    groups = [*dict.fromkeys([*(group for group, _, _ in published.rows), *(row.group for row in our_rows)])]
    rows = []
    for group, name, figures in published.rows:
        row = measured.pop((group, name), None)
        rows.append(_compared(group, name, figures, row, published.columns))
    rows += [_compared(row.group, row.name, None, row, published.columns) for row in measured.values()]
    return tuple(sorted(rows, key=lambda row: groups.index(row.group)))


def _compared(group: str, name: str, paper: Figures | None, row: OurRow | None, columns: Sequence[str]) -> ComparedRow:
    if row is None:
        return ComparedRow(group, name, paper, None)
    return ComparedRow(group, name, paper, tuple(row.figures.get(column) for column in columns), row.p, row.note)


def mean_figure(figures: Iterable[Figure | None]) -> Figure | None:
    """The mean of figures, without their spread; None if any is missing."""
    values = [figure.value if figure is not None else None for figure in figures]
    present = [value for value in values if value is not None]
    return Figure(sum(present) / len(present)) if present and len(present) == len(values) else None


def as_dict(table: ComparedTable) -> dict[str, Any]:
    """A table as JSON."""
    published = table.published
    return {
        "table": published.number,
        "title": published.title,
        "columns": list(published.columns),
        "conditions": {"paper": dict(published.conditions), "ours": dict(table.conditions)},
        "comparable": not table.not_comparable,
        "not_comparable": table.not_comparable,
        "spread": table.spread,
        "tested_against": table.tested_against,
        "rows": [
            {
                "group": row.group,
                "name": row.name,
                "paper": _figures_json(row.paper, published.columns),
                "ours": _figures_json(row.ours, published.columns),
                "p": dict(row.p),
                "note": row.note,
            }
            for row in table.rows
        ],
        "notes": list(table.notes),
    }


def _figures_json(figures: Figures | None, columns: Sequence[str]) -> dict[str, Any] | None:
    if figures is None:
        return None
    return {
        column: {"value": figure.value, "spread": figure.spread}
        for column, figure in zip(columns, figures, strict=True)
        if figure is not None
    }


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
    sentences = [f"Not comparable: {table.not_comparable}."] if table.not_comparable else []
    if table.spread:
        sentences.append(f"In brackets: {table.spread}.")
    if table.tested_against:
        sentences.append(f"p: paired t-test over the same claims, against {table.tested_against}.")
    return [*sentences, *table.notes, *dict.fromkeys(f"{row.name}: {row.note}." for row in table.rows if row.note)]


def conditions(table: ComparedTable) -> list[tuple[str, str, str]]:
    """The name of each condition, the paper's and ours."""
    names = dict.fromkeys([*table.published.conditions, *table.conditions])
    return [(name, table.published.conditions.get(name, "–"), table.conditions.get(name, "–")) for name in names]


def show_table(table: ComparedTable, console: Console) -> None:
    """Print a table, its conditions and remarks."""
    from rich import box
    from rich.table import Table

    say(console, printable(table_title(table)))
    for name, paper, our_condition in conditions(table):
        say(console, printable(f"  {name}: {paper} (paper); {our_condition} (ours)"))
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
        if table_remarks := remarks(table):
            parts.append(" ".join(table_remarks))
        parts.append(_markdown_table(heads(table), list(lines(table)), numbers_from=3))
    return "\n\n".join(parts) + "\n"


def _markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]], numbers_from: int | None = None) -> str:
    rule = ["---:" if numbers_from is not None and place >= numbers_from else "---" for place in range(len(head))]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in (head, rule, *rows))


def column_figures(table: ComparedTable, figures: Figures | None, column: str) -> Figure | None:
    """The figure of a column, or None."""
    return figures[table.published.columns.index(column)] if figures is not None else None


_STYLE = """
:root { color-scheme: light dark; --paper: #8a8f98; --ours: #2f6fd0; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 90rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: .8rem 0; font-variant-numeric: tabular-nums; font-size: .9em; }
th, td { padding: .15rem .45rem; text-align: right; vertical-align: top; }
th:nth-child(-n+3), td:nth-child(-n+3), .conditions td, .conditions th { text-align: left; }
thead th { border-bottom: 1px solid currentColor; }
tr.ours td:nth-child(n+3) { font-weight: 600; color: var(--ours); }
.warning { border-left: 3px solid #c77700; padding-left: .7rem; }
.wide { overflow-x: auto; } .wide td { white-space: nowrap; }
svg text { font: 12px system-ui, sans-serif; fill: currentColor; }
.paper-bar { fill: var(--paper); } .our-bar { fill: var(--ours); }
"""
_BAR, _GAP, _NAMES, _WIDTH, _VALUES = 11, 8, 330, 420, 100


def html(title: str, introduction: str, tables: Sequence[ComparedTable]) -> str:
    """The page."""
    return "".join(
        (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n",
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
            f'<meta name="generator" content="whycite">\n<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n',
            f"</head>\n<body>\n<h1>{escape(title)}</h1>\n<p>{escape(introduction)}</p>\n",
            *(part for table in tables for part in _section(table)),
            "</body>\n</html>\n",
        )
    )


def _section(table: ComparedTable) -> Iterator[str]:
    yield f'<section id="table-{escape(table.number)}">\n<h2>{escape(table_title(table))}</h2>\n'
    yield '<table class="conditions"><thead><tr><th></th><th>paper</th><th>ours</th></tr></thead><tbody>\n'
    for row in conditions(table):
        yield "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>\n"
    yield "</tbody></table>\n"
    for place, remark in enumerate(remarks(table)):
        warning = ' class="warning"' if place == 0 and table.not_comparable else ""
        yield f"<p{warning}>{escape(remark)}</p>\n"
    yield plot(table)
    yield '<div class="wide"><table><thead><tr>'
    yield "".join(f"<th>{escape(head)}</th>" for head in heads(table)) + "</tr></thead><tbody>\n"
    for cells in lines(table):
        yield f'<tr class="{escape(cells[2])}">' + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>\n"
    yield "</tbody></table></div>\n</section>\n"


def plot(table: ComparedTable) -> str:
    """Bars of one column as SVG: the paper's figures in grey, ours in blue."""
    column = table.published.plot
    bars: list[tuple[str, list[tuple[str, Figure]]]] = []
    for row in table.rows:
        values = (
            ("paper-bar", column_figures(table, row.paper, column)),
            ("our-bar", column_figures(table, row.ours, column)),
        )
        drawn = [(kind, figure) for kind, figure in values if figure is not None]
        if drawn:
            bars.append((f"{row.group}: {row.name}" if row.group else row.name, drawn))
    largest = max((figure.value for _, drawn in bars for _, figure in drawn), default=0.0)
    if largest <= 0:
        return ""
    parts, top = [], 0
    for name, drawn in bars:
        middle = top + len(drawn) * _BAR / 2 + 4
        parts.append(f'<text x="{_NAMES - 8}" y="{middle:g}" text-anchor="end">{escape(name)}</text>')
        for kind, figure in drawn:
            width = max(figure.value, 0) / largest * _WIDTH
            parts.append(f'<rect class="{kind}" x="{_NAMES}" y="{top}" width="{width:.1f}" height="{_BAR - 1}"/>')
            parts.append(f'<text x="{_NAMES + width + 5:.1f}" y="{top + _BAR - 2}">{figure_text(figure)}</text>')
            top += _BAR
        top += _GAP
    label = escape(f"{column}: the paper's figures in grey, ours in blue")
    return (
        f'<figure><svg viewBox="0 0 {_NAMES + _WIDTH + _VALUES} {top}" width="{_NAMES + _WIDTH + _VALUES}" '
        f'role="img" aria-label="{label}">{"".join(parts)}</svg>\n<figcaption>{label}</figcaption></figure>\n'
    )


class FigureStore:
    """Figures by name, each in a file of its own; all were made from the same data with the same settings."""

    def __init__(self, folder: Path, setup: dict[str, Any]) -> None:
        check_setup(make_folder(folder), setup, "--out")
        self.folder = folder
        self._figures = make_folder(folder / "figures")

    def __len__(self) -> int:
        return len(list(self._figures.glob("*.json")))

    def measure(self, name: str, compute: Callable[[], Any]) -> Any:
        """The figures of that name: what is kept of them, or what `compute` gives, which must be plain types."""
        path = self._figures / f"{slug(name)}.json"
        if path.exists():
            try:
                return json.loads(path.read_text("utf-8"))
            except ValueError as error:
                raise UserError(f"{path}: not what was written there ({error}); delete the file") from error
        figures = compute()
        write_lines(path, [json.dumps(figures) + "\n"])
        return json.loads(path.read_text("utf-8"))  # the same types, whether it was kept or not

    def folder_for(self, name: str) -> Path:
        """A folder for models or libraries."""
        return make_folder(self.folder / slug(name))
