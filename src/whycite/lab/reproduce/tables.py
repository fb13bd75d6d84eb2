"""A published table with our figures beside it, and the conditions of both."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Literal, get_args

__all__ = [
    "PAPERS",
    "ComparedRow",
    "ComparedTable",
    "Figure",
    "OurRow",
    "PaperName",
    "PublishedTable",
    "as_dict",
    "compare_rows",
    "mean_figure",
    "published_tables",
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

    @property
    def number(self) -> str:
        """The number of the table in its paper."""
        return self.published.number

    @property
    def has_spread(self) -> bool:
        """Whether any figure comes with an error or deviation."""
        figures = (figure for row in self.rows for part in (row.paper, row.ours) for figure in part or ())
        return any(figure is not None and figure.spread is not None for figure in figures)


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


def compare_rows(published: PublishedTable, ours: Sequence[OurRow]) -> tuple[ComparedRow, ...]:
    """The rows of the paper in its order with ours beside them, then those that only we have."""
    measured = {(row.group, row.name): row for row in ours}
    rows = []
    for group, name, figures in published.rows:
        row = measured.pop((group, name), None)
        rows.append(_compared(group, name, figures, row, published.columns))
    rows += [_compared(row.group, row.name, None, row, published.columns) for row in measured.values()]
    return tuple(rows)


def _compared(group: str, name: str, paper: Figures | None, row: OurRow | None, columns: Sequence[str]) -> ComparedRow:
    if row is None:
        return ComparedRow(group, name, paper, None)
    return ComparedRow(group, name, paper, tuple(row.figures.get(column) for column in columns), row.p, row.note)


def mean_figure(figures: Iterable[Figure | None]) -> Figure | None:
    """The mean of figures, without their spread; None if any is missing."""
    values = [figure.value if figure is not None else None for figure in figures]
    known = [value for value in values if value is not None]
    return Figure(sum(known) / len(known)) if known and len(known) == len(values) else None


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
        "spread": published.spread,
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
