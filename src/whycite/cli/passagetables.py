"""The tables of `whycite eval passages`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from whycite.cli.terminal import count, plain, printable, say

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["show"]

_MEASURES = ("pairwise", "MRR", "MAP", "nDCG@10", "R@1", "R@3", "R@5", "R@10", "F1@2")
_SURE = ("pairwise", "MRR")  # measures whose interval is shown


def show(report: Mapping[str, Any], console: Console) -> None:
    """All tables that there are figures for."""
    for name, facts in report.get("datasets", {}).items():
        say(
            console,
            printable(
                f"{name}: {count(facts['cases'], 'claim')}, {facts['with_gold']:,} with sentences that back them, "
                f"{count(facts['documents'], 'document')}; {count(facts['hard'], 'hard pair')}, "
                f"{facts['augmented']:,} augmented."
            ),
        )
    if "pairs" in report:
        _pairs(report["pairs"], console)
    for name, methods in report.get("documents", {}).items():
        _documents(name, methods, console)
    for name, methods in report.get("selection", {}).items():
        rows = [
            [method, *(f"{each[key]:.3f}" for key in ("precision", "recall", "f1"))] for method, each in methods.items()
        ]
        _table(
            f"{name}: sentences chosen, as SciFact counts them", ("Method", "precision", "recall", "F1"), rows, console
        )
    if report.get("one_for_all_folds"):
        shared = " and ".join(report["one_for_all_folds"])
        told = "one ranker for all folds; where it was trained on these data sets, its figures say nothing"
        say(console, f"{shared}: {told}.")
        console.print()
    for name, labels in report.get("labels", {}).items():
        _labels(name, labels, console)
    for name, kinds in report.get("altered", {}).items():
        heads = ("Altered", "claims", "less backed", "backed before", "not any more")
        rows = [
            [kind, f"{each['pairs']}", f"{each['share']:.0%}", f"{each['backed']}", f"{each['lost']}"]
            for kind, each in kinds.items()
        ]
        _table(f"{name}: claims altered so that they say something else", heads, rows, console)


def _pairs(datasets: Mapping[str, Any], console: Console) -> None:
    """Tables 7.1 and 7.2: accuracy on pairs, with what the thesis had on pairs of its own."""
    from whycite.evaluation.passages.comparisons import KINDS
    from whycite.evaluation.passages.published import BEST, DOCUMENT, PAIRWISE

    thesis = {
        model: (f"{PAIRWISE['majority'][column]:.3f}", f"{PAIRWISE['augmented'][column]:.3f}")
        for model, column in (("lstm", "rnn"), ("bilstm", "bidirectional"), ("bidaf", "attention"))
    } | {
        "document": (f"{DOCUMENT['base']:.3f}", ""),
        "document-attention": (f"{DOCUMENT['inter-sentence attention']:.3f}", ""),
    }
    heads = ["Method"]
    for name in datasets:
        for kind in KINDS:
            heads += [f"{name}\n{kind}", "\n95 %"]
    heads += ["thesis\nmajority", "thesis\naugmented"]
    rows = []
    for method in next(iter(datasets.values())):
        cells = [method]
        for each in datasets.values():
            for kind in KINDS:
                cells += _sure(each[method][kind])
        rows.append([*cells, *thesis.get(method, ("", ""))])
    _table("Which of two sentences backs the claim (the thesis's tables 7.1 and 7.2)", heads, rows, console)
    say(console, f"The thesis's best on its own pairs: {BEST} (its conclusion; {_best(PAIRWISE):.3f} in table 7.1).")
    console.print()


def _best(table: Mapping[str, Mapping[str, float]]) -> float:
    return max(value for row in table.values() for value in row.values())


def _documents(name: str, methods: Mapping[str, Any], console: Console) -> None:
    heads = ["Method"]
    for measure in _MEASURES:
        heads += [measure, "95 %"] if measure in _SURE else [measure]
    rows = []
    for method, figures in methods.items():
        cells = [method]
        for measure in _MEASURES:
            cells += _sure(figures[measure]) if measure in _SURE else [f"{figures[measure]['mean']:.3f}"]
        rows.append(cells)
    _table(f"{name}: all sentences of the document in order", heads, rows, console)


def _labels(name: str, labels: Mapping[str, Any], console: Console) -> None:
    say(
        console,
        printable(
            f"{name}: label accuracy {labels['accuracy']:.3f}, macro F1 {labels['macro_f1']:.3f}; "
            f"the most frequent label alone {labels['majority']:.3f}."
        ),
    )
    verdicts = list(next(iter(labels["confusion"].values())))
    rows = [[label, *(str(row[verdict]) for verdict in verdicts)] for label, row in labels["confusion"].items()]
    _table(f"{name}: labels (down) and verdicts (across)", ("Label", *verdicts), rows, console)


def _sure(value: Mapping[str, float]) -> list[str]:
    return [f"{value['mean']:.3f}", f"{value['low']:.2f}–{value['high']:.2f}"]


def _table(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]], console: Console) -> None:
    from rich import box
    from rich.table import Table

    say(console, printable(title))  # a title of the table's own is wrapped to its width
    table = Table(box=box.SIMPLE, padding=(0, 1, 0, 0))
    table.add_column(heads[0], no_wrap=True)
    for head in heads[1:]:
        table.add_column(head, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*map(plain, row))
    console.print(table)
