"""Compared tables as one HTML page with plots, which needs nothing but itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from whycite.lab.reproduce.tables import ComparedTable, Figure
from whycite.lab.reproduce.tabletext import column_figures, conditions, figure_text, heads, lines, remarks, table_title

__all__ = ["html", "plot"]

_STYLE = """
:root { color-scheme: light dark; --paper: #8a8f98; --ours: #2f6fd0; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: .8rem 0; font-variant-numeric: tabular-nums; font-size: .9em; }
th, td { padding: .15rem .6rem; text-align: right; vertical-align: top; }
th:nth-child(-n+3), td:nth-child(-n+3), .conditions td, .conditions th { text-align: left; }
thead th { border-bottom: 1px solid currentColor; }
tr.ours td:nth-child(n+3) { font-weight: 600; color: var(--ours); }
.warning { border-left: 3px solid #c77700; padding-left: .7rem; }
.wide { overflow-x: auto; }
svg text { font: 12px system-ui, sans-serif; fill: currentColor; }
.paper-bar { fill: var(--paper); } .our-bar { fill: var(--ours); }
"""
_BAR, _GAP, _NAMES, _WIDTH, _VALUES = 11, 8, 330, 420, 70


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
