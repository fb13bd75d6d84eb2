"""`whycite structure`: show section sequences, templates and their support; `--learn` adds rules for headings."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whycite.cli.terminal import escape_markup
from whycite.errors import UserError
from whycite.files import shorten_paths

if TYPE_CHECKING:
    from rich.console import Console

    from whycite.structure import Dictionary, SectionOutline, TemplateSupport, UnmatchedHeading

__all__ = ["structure"]

_HEADS = {
    "exact": "1) none",
    "defined": "2) defined",
    "learned": "3) learned",
    "ours": "4) whycite",
    "before": "4) before",
    "after": "5) after",
}
_MAX_HEADINGS = 10  # headings without a type


def structure(
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH...", help="Files, folders or archives; - reads standard input.")
    ],
    format: Annotated[str | None, typer.Option(help="Format of the documents, if it is not recognised.")] = None,
    learn: Annotated[bool, typer.Option("--learn", help="Ask for the types of headings that match no rule.")] = False,
    rules: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Rules to use instead of those in your settings.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show the sections of documents and the share of documents that follow each template.

    The table has one column per set of rules: 1) no synonyms, 2) the synonyms SCOPE defined, 3) those it learned,
    4) whycite's and your own.
    """
    from rich.console import Console

    from whycite.structure import BLOCKS, SECTION_TYPES, dictionary, load_rules, rules_path, support, unmatched_headings

    path = rules or rules_path()
    if rules is not None and not learn and not rules.exists():
        raise UserError(f"{rules}: no such file")
    user_rules = load_rules(path, SECTION_TYPES)  # report mistakes in the rules before reading documents
    if learn and "-" in paths:
        raise UserError("--learn reads your answers from standard input, so it cannot be used with -")
    errors = Console(stderr=True, highlight=False)
    outlines, unread = _read_outlines(paths, format, errors)
    columns: dict[str, Dictionary] = {block: dictionary(block, user_rules) for block in BLOCKS}
    if learn:
        _learn(unmatched_headings(outlines, columns["ours"]), path, errors)
        columns["before"] = columns.pop("ours")
        columns["after"] = dictionary("ours", load_rules(path, SECTION_TYPES))
    latest = next(reversed(columns.values()))
    table = support(outlines, list(columns.values()))
    untyped = unmatched_headings(outlines, latest)
    if as_json:
        sequences = [_sequence_json(outline, latest) for outline in outlines]
        content = _support_json(table, columns) | {"sequences": sequences, "unmatched": _unmatched_json(untyped)}
        print(json.dumps(content | {"unread": unread}, ensure_ascii=False, indent=2))
    else:
        _show_support(outlines, latest, table, columns, untyped)


def _read_outlines(paths: Sequence[str], format: str | None, errors: Console) -> tuple[list[SectionOutline], list[str]]:
    """The outlines of all documents, and a message for each that could not be read."""
    from rich.progress import Progress, SpinnerColumn, TextColumn

    from whycite.documents import stream
    from whycite.structure import outline

    for path in paths:
        if path != "-" and not Path(path).exists():
            raise UserError(f"{path}: no such file or folder")
    outlines: list[SectionOutline] = []
    unread: list[str] = []
    columns = (SpinnerColumn(), TextColumn("{task.completed} documents read"))
    with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as progress:
        task = progress.add_task("", total=None)
        for path in paths:
            try:
                for document in stream(path, format):
                    if document.warnings and not document.sections:  # an unreadable file of a folder
                        unread.append(document.warnings[0])
                    else:
                        outlines.append(outline(document))
                    progress.advance(task)
            except UserError as error:
                unread.append(str(error))
    if not outlines:
        raise UserError(unread[0] if unread else f"{paths[0]}: contains no document that whycite can read")
    for sentence in unread:
        errors.print(f"warning: {escape_markup(shorten_paths(sentence))}", soft_wrap=True)
    return outlines, unread


def _learn(headings: Sequence[UnmatchedHeading], path: Path, errors: Console) -> None:
    from whycite.structure import SECTION_TYPES, learn

    if not headings:
        errors.print("Every heading already matches a rule; there is nothing to ask.")
        return
    errors.print(f"{_count_noun(len(headings), 'heading')} without a type. Answer with a number or a name:")
    errors.print("  ".join(f"{number} {type}" for number, type in enumerate(SECTION_TYPES, 1)))
    errors.print("n none of these  s skip (or press Enter)  q quit")
    answers = {"n": "none", "none": "none", "": "skip", "s": "skip", "skip": "skip", "q": "quit", "quit": "quit"}
    answers |= {type: type for type in SECTION_TYPES} | {
        str(number): type for number, type in enumerate(SECTION_TYPES, 1)
    }

    def ask(unmatched: UnmatchedHeading) -> str:
        times = f"{unmatched.documents} documents, e.g. " if unmatched.documents > 1 else ""
        while True:
            question = escape_markup(f"{unmatched.heading} ({times}{shorten_paths(unmatched.example)})")
            errors.print(f"\n{question}\n> ", soft_wrap=True, end="")
            try:
                answer = input().strip().lower()
            except (EOFError, KeyboardInterrupt):  # earlier answers are already saved
                return "quit"
            if answer in answers:
                return answers[answer]
            errors.print(
                f"{escape_markup(repr(answer))} is not a valid answer; "
                f"type a number from 1 to {len(SECTION_TYPES)}, a type, n, s or q"
            )

    rule_count = learn(headings, ask, path)
    errors.print(
        f"\n{_count_noun(rule_count, 'rule')} saved in {escape_markup(shorten_paths(str(path)))}.", soft_wrap=True
    )


def _support_json(table: TemplateSupport, columns: Iterable[str]) -> dict[str, Any]:
    from whycite.structure import depths, parents

    def by_column(shares: tuple[float, ...]) -> dict[str, float]:
        return {name: round(share, 4) for name, share in zip(columns, shares, strict=True)}

    templates = [
        {
            "template": str(template),
            "parents": [str(parent) for parent in parents()[template]],
            "depth": depths()[template],
            "support": by_column(shares),
        }
        for template, shares in table.shares.items()
    ]
    counts = {"documents": table.documents, "without_sections": table.without_sections}
    return counts | {"templates": templates, "any": by_column(table.any)}


def _sequence_json(outline: SectionOutline, dictionary: Dictionary) -> dict[str, Any]:
    from whycite.structure import letters, matching_templates, sequence

    runs = sequence(outline, dictionary)
    return {
        "path": outline.path,
        "sequence": [{"type": run.type, "headings": list(run.headings)} for run in runs],
        "templates": [str(template) for template in matching_templates(letters(runs))],
    }


def _unmatched_json(headings: Iterable[UnmatchedHeading]) -> list[dict[str, Any]]:
    return [{"heading": h.heading, "documents": h.documents, "example": h.example} for h in headings]


def _show_support(
    outlines: Sequence[SectionOutline],
    dictionary: Dictionary,
    table: TemplateSupport,
    columns: Mapping[str, Dictionary],
    untyped: Sequence[UnmatchedHeading],
) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    if len(outlines) == 1:
        _show_sequence(outlines[0], dictionary, console)
    rows = Table("Template", *(_HEADS[name] for name in columns))
    for column in rows.columns[1:]:
        column.justify = "right"
    for template, shares in table.shares.items():
        if any(shares) or len(outlines) > 1:
            rows.add_row(escape_markup(str(template)), *(f"{share:.2f}" for share in shares))
    rows.add_section()
    rows.add_row("any but \\[*]", *(f"{share:.2f}" for share in table.any))
    console.print(rows)
    sectionless = f", {table.without_sections} without sections" if table.without_sections else ""
    console.print(f"{_count_noun(table.documents, 'document')}{sectionless}.")
    if untyped:
        frequent = escape_markup("; ".join(heading.heading for heading in untyped[:_MAX_HEADINGS]))
        remainder = f" and {len(untyped) - _MAX_HEADINGS} more" if len(untyped) > _MAX_HEADINGS else ""
        console.print(f"Headings without a type (add rules with --learn): {frequent}{remainder}.", soft_wrap=True)


def _show_sequence(outline: SectionOutline, dictionary: Dictionary, console: Console) -> None:
    from rich.table import Table

    from whycite.structure import letters, matching_templates, sequence

    runs = sequence(outline, dictionary)
    rows = Table("Type", "Headings", title=escape_markup(shorten_paths(outline.path)), title_justify="left")
    for run in runs:
        rows.add_row(run.type or "–", escape_markup("; ".join(run.headings)))
    console.print(rows)
    names = ", ".join(str(template) for template in matching_templates(letters(runs)))
    console.print(f"Matching templates, most specific first: {names or 'none'}", markup=False, soft_wrap=True)


def _count_noun(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
