"""`whycite references`: is every reference real, right and not retracted; `whycite retractions`: import who says so."""

from __future__ import annotations

import os
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whycite.cli.terminal import (
    AsJson,
    CommandGroup,
    LibraryPath,
    confirm_changes,
    count,
    draft_errors,
    open_output,
    print_json,
    printable,
    say,
)
from whycite.errors import UserError
from whycite.files import shorten_paths

if TYPE_CHECKING:
    from rich.console import Console

    from whycite.documents.model import Reference
    from whycite.library import Paper
    from whycite.references.checking import PaperKnowledge
    from whycite.references.entries import Bibliography
    from whycite.references.report import CheckedReference, ReferenceProblem, ReferenceReport

__all__ = ["ReferencesFormat", "Seriousness", "references", "retractions", "show_references"]

_STYLES = {"error": "bold red", "warning": "yellow", "note": "dim"}
_VERDICT_STYLES = {"confirmed": "green", "differs": "red", "retracted": "bold red", "unknown": "dim"}
_MAX_KEYS = 10  # entries that are never cited, by name
_SUMMED_UP = {  # common problems, at the end: what is said of one entry and of several
    "no-identifier": (
        "1 article has no DOI or other identifier", "{number} articles have no DOI or other identifier",
    ),
    "uncited": ("1 entry is never cited", "{number} entries are never cited"),
}  # fmt: skip


class ReferencesFormat(StrEnum):
    """Output formats."""

    text = "text"
    json = "json"
    sarif = "sarif"
    github = "github"


class Seriousness(StrEnum):
    """How bad a problem must be to make a check of references fail."""

    error = "error"
    warning = "warning"
    note = "note"


def references(
    path: Annotated[str, typer.Argument(metavar="DRAFT|FILE", help="Draft, project folder or bibliography file.")],
    format: Annotated[ReferencesFormat | None, typer.Option(help="Output format: text, json, sarif or github.")] = None,
    out: Annotated[str | None, typer.Option(metavar="FILE", help="Write the report to a file.")] = None,
    online: Annotated[
        bool, typer.Option("--online", help="Also ask Crossref and other services; sends identifiers and titles.")
    ] = False,
    fix: Annotated[bool, typer.Option("--fix", help="Mend what is certain in BibTeX files, after showing it.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Let --fix write without asking.")] = False,
    fail_on: Annotated[
        Seriousness | None, typer.Option(metavar="LEVEL", help="Exit with 1 from this level: error, warning or note.")
    ] = None,
    library: LibraryPath = None,
    no_library: Annotated[bool, typer.Option("--no-library", help="Do not compare with your library.")] = False,
    as_json: AsJson = False,
) -> None:
    """Check whether references are real, right and not retracted."""
    _check_options(format, out, fix, yes, library, no_library, as_json)
    from whycite.check.settings import settings_for
    from whycite.references.checking import check_bibliography, library_knowledge
    from whycite.references.entries import load_bibliography

    with draft_errors():
        bibliography = load_bibliography(path)
    cited = [entry.reference for entry in bibliography.entries]
    knowledge = library_knowledge(cited, library, use_library=not no_library)
    if online:
        knowledge = _ask_services(cited, knowledge, settings_for(Path(path)).contact)
    report = check_bibliography(bibliography, knowledge)
    if fix:
        if _fix(bibliography, report, yes):
            bibliography, before = load_bibliography(path), bibliography
            report = check_bibliography(bibliography, _known_again(bibliography, before, knowledge))
        _tell_what_is_left(report, path)
    else:
        _write(report, ReferencesFormat.json if as_json else format or ReferencesFormat.text, out)
    if not (online or fix) and out in (None, "-") and not as_json and format in (None, ReferencesFormat.text):
        _explain_unknown(report)
    if fail_on and _fails(report, fail_on):
        raise typer.Exit(1)


def _known_again(
    bibliography: Bibliography, before: Bibliography, knowledge: Sequence[PaperKnowledge]
) -> list[PaperKnowledge]:
    """What is known of the entries of a bibliography that was just mended, in the order of those with one key."""
    from whycite.references.checking import PaperKnowledge

    known: dict[str, list[PaperKnowledge]] = {}
    for entry, facts in zip(before.entries, knowledge, strict=True):
        known.setdefault(entry.key, []).append(facts)
    return [known[entry.key].pop(0) if known.get(entry.key) else PaperKnowledge() for entry in bibliography.entries]


def _ask_services(
    references: Sequence[Reference], knowledge: Sequence[PaperKnowledge], contact: str
) -> list[PaperKnowledge]:
    """What services know of references, after saying what is sent to whom."""
    from rich.console import Console

    from whycite.models.cache import cache_folder
    from whycite.references.client import ServiceClient
    from whycite.references.online import service_knowledge
    from whycite.references.services import Services

    errors = Console(stderr=True, highlight=False)
    with ServiceClient(cache_folder() / "services", contact) as client:
        keys = [os.environ.get(f"WHYCITE_{name}_KEY", "") for name in ("OPENALEX", "SEMANTIC_SCHOLAR")]
        services = Services(client, *keys)
        address = f", with your address {contact}" if contact else ""
        say(
            errors,
            f"Sending the identifiers and titles of {count(len(references), 'reference')} to "
            f"{', '.join(services.names)}{address}. Nothing else leaves this machine.",
        )
        with errors.status("Asking services …") as status:
            answers = service_knowledge(
                references,
                knowledge,
                services,
                lambda done: status.update(f"Asking services … {done:,} of {len(references):,}"),
            )
        for name, reason in {**client.last_failures, **client.failures}.items():
            say(errors, f"warning: {name} {reason}; what it would know is missing")
        if not contact:
            say(errors, 'Services prefer to know whom to write to: set contact = "you@example.org" in .whycite.toml.')
    return answers


def _check_options(
    format: ReferencesFormat | None,
    out: str | None,
    fix: bool,
    yes: bool,
    library: str | None,
    no_library: bool,
    as_json: bool,
) -> None:
    """Reject options that cannot be combined."""
    if as_json and format not in (None, ReferencesFormat.json):
        raise UserError(f"--json cannot be used with --format {format.value}")
    if library is not None and no_library:
        raise UserError("--library cannot be used with --no-library")
    if yes and not fix:
        raise UserError("--yes can only be used with --fix")
    if fix and (format not in (None, ReferencesFormat.text) or as_json or out):
        raise UserError("--fix cannot be used with --format, --json or --out")


def _fails(report: ReferenceReport, level: Seriousness) -> bool:
    levels = list(Seriousness)[: list(Seriousness).index(level) + 1]
    return any(report.count(serious.value) for serious in levels)


def _write(report: ReferenceReport, format: ReferencesFormat, out: str | None) -> None:
    from whycite.cli.terminal import json_line
    from whycite.references.report import github_report, report_json, sarif_report

    if format is ReferencesFormat.text and out in (None, "-"):
        from rich.console import Console

        show_references(report, Console(highlight=False))
        return
    with open_output(out) as stream:
        if format is ReferencesFormat.json:
            stream.write(json_line(report_json(report)))
        elif format is ReferencesFormat.text:
            stream.write(_plain_text(report).encode("utf-8", "replace"))
        else:
            render = sarif_report if format is ReferencesFormat.sarif else github_report
            stream.write(render([report]).encode("utf-8", "replace"))


def _explain_unknown(report: ReferenceReport) -> None:
    """Say what to do about references that no record confirms."""
    from rich.console import Console

    if report.references and report.verdicts()["unknown"] == len(report.references):
        say(
            Console(highlight=False),
            "Nothing was compared with a record, since none is known here. Add papers to your library, or look the "
            "references up with --online.",
        )
    elif _without_record(report):
        say(Console(highlight=False), "Look up what no record confirms with --online.")


def _plain_text(report: ReferenceReport) -> str:
    import io

    from rich.console import Console

    page = io.StringIO()
    show_references(report, Console(highlight=False, file=page, force_terminal=False, width=120))
    return page.getvalue()


def show_references(report: ReferenceReport, console: Console) -> None:
    """Print the references that have problems, in their order, and a summary."""
    from rich.text import Text

    for warning in report.warnings:
        say(console, Text(printable(shorten_paths(f"warning: {warning}")), style="yellow"))
    for reference in report.references:
        problems = [problem for problem in reference.problems if problem.rule not in _SUMMED_UP]
        if problems:
            _show_reference(reference, problems, console)
    summaries = [*(_summed_up(report, rule) for rule in _SUMMED_UP), _without_record(report)]
    for summary in filter(None, summaries):
        say(console, Text(printable(summary), style="dim"))
    if any(summaries):
        console.print()
    say(console, printable(shorten_paths(_summary(report))))


def _summed_up(report: ReferenceReport, rule: str) -> str:
    """How many references break a rule, and which; "" if none does."""
    keys = [reference.entry.key for reference in report.references if rule in {p.rule for p in reference.problems}]
    singular, plural = _SUMMED_UP[rule]
    summary = singular if len(keys) == 1 else plural.format(number=f"{len(keys):,}")
    return f"{summary}: {_names(keys)}" if keys else ""


def _names(keys: Sequence[str]) -> str:
    return ", ".join(keys[:_MAX_KEYS]) + (" …" if len(keys) > _MAX_KEYS else "")


def _without_record(report: ReferenceReport) -> str:
    """Which references no record confirms; "" if that is none of them, or no record of any was found."""
    entries = [reference for reference in report.references if reference.entry.reference.title]
    keys = [reference.entry.key for reference in entries if reference.verdict == "unknown"]
    if not keys or not any(reference.sources for reference in entries):
        return ""
    verb = "is" if len(keys) == 1 else "are"
    return f"{count(len(keys), 'reference')} {verb} confirmed by no record: {_names(keys)}"


def _show_reference(reference: CheckedReference, problems: list[ReferenceProblem], console: Console) -> None:
    from rich.text import Text

    entry = reference.entry
    line = Text(printable(shorten_paths(f"{entry.place}: ")), style="bold").append(printable(entry.key), style="bold")
    say(console, line.append(f"  {reference.verdict}", style=f"not bold {_VERDICT_STYLES[reference.verdict]}"))
    if entry.reference.title:
        say(console, Text(printable(f"  {entry.reference.title}")))
    for problem in problems:
        label = Text(f"  {problem.severity}: ", style=_STYLES[problem.severity])
        say(
            console,
            label.append(printable(shorten_paths(problem.message)), style="default not bold").append(
                f" ({problem.rule})", style="dim not bold"
            ),
        )
    console.print()


def _summary(report: ReferenceReport) -> str:
    if not report.references:
        return f"{report.path}: no references found."
    verdicts = report.verdicts()
    parts = [
        f"{verdicts['confirmed']:,} confirmed",
        f"{verdicts['differs']:,} {'differs' if verdicts['differs'] == 1 else 'differ'}",
        f"{verdicts['retracted']:,} retracted",
        f"{verdicts['unknown']:,} unknown",
    ]
    problems = [count(report.count(level.value), level.value) for level in Seriousness]
    return f"{report.path}: {count(len(report.references), 'reference')}: {', '.join(parts)}; {', '.join(problems)}."


def _fix(bibliography: Bibliography, report: ReferenceReport, yes: bool) -> bool:
    """Mend what is certain, after showing it; whether anything was written."""
    from rich.console import Console
    from rich.text import Text

    from whycite.references.fixing import apply_changes, diff_changes, plan_changes

    if not bibliography.contents:
        raise UserError(f"{report.path}: has no BibTeX file that could be mended")
    console = Console(highlight=False)
    changes = plan_changes(bibliography, report)
    fixed = [description for change in changes for description in change.fixed]
    colours = {"+": "green", "-": "red", "@": "cyan"}
    labels = {change.path: shorten_paths(change.path) for change in changes}
    for line in diff_changes(changes, labels).splitlines():
        say(console, Text(printable(line), style=colours.get(line[:1], "default")))
    for refusal in (reason for change in changes for reason in change.refused):
        say(console, Text(printable(shorten_paths(f"not mended: {refusal}")), style="yellow"))
    if not fixed:
        say(console, "Nothing to mend that is certain.")
        return False
    if not yes and not confirm_changes(console):
        say(console, "Nothing was written.")
        return False
    apply_changes(changes)
    say(console, f"Mended {count(len(fixed), 'problem')} in {count(len(changes), 'file')}.")
    return True


def _tell_what_is_left(report: ReferenceReport, path: str) -> None:
    """Say how many problems are for a person to mend."""
    from rich.console import Console

    left = [count(number, level.value) for level in Seriousness if (number := report.count(level.value))]
    if left:
        where = printable(shorten_paths(f"whycite references {path} lists them"))
        say(Console(highlight=False), f"Left for you: {', '.join(left)}; {where}.")


retractions = CommandGroup(no_args_is_help=True)
_NOTICE_NOUNS = {
    "retraction": "retraction",
    "concern": "expression of concern",
    "correction": "correction",
    "reinstatement": "reinstatement",
}
_MAX_PAPERS = 20  # papers of the library that are listed


@retractions.callback()
def _retractions() -> None:
    """Know which papers were retracted or corrected; `cite`, `check` and all other commands then say so."""


@retractions.command("import", short_help="Import the list of Retraction Watch.")
def import_retractions(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The CSV file of Retraction Watch.")],
    library: LibraryPath = None,
    as_json: AsJson = False,
) -> None:
    """Import the list of Retraction Watch, in place of an earlier one.

    Get it from https://gitlab.com/crossref/retraction-watch-data. Nothing is downloaded by whycite.
    """
    from rich.console import Console

    from whycite.library.retractionwatch import import_list

    report = import_list(library, file)
    if as_json:
        from whycite.cite.recommendations import paper_json

        print_json(
            {
                "notices": dict(report.notices),
                "skipped": report.skipped,
                "papers": [paper_json(paper) for paper in report.papers],
            }
        )
        return
    console = Console(highlight=False)
    counts = [
        _count_notices(report.notices[kind], noun) for kind, noun in _NOTICE_NOUNS.items() if report.notices.get(kind)
    ]
    skipped = f"; skipped {count(report.skipped, 'row')} without an identifiable paper" if report.skipped else ""
    say(console, f"Imported {', '.join(counts)}{skipped}.")
    if not report.papers:
        say(console, "No paper in your library is on the list.")
        return
    _show_papers_on_list(console, report.papers)


def _show_papers_on_list(console: Console, papers: Sequence[Paper]) -> None:
    from rich.text import Text

    from whycite.cli.results import byline
    from whycite.documents.references.notices import describe_status

    number = len(papers)
    say(console, f"{count(number, 'paper')} in your library {'is' if number == 1 else 'are'} on the list:")
    for paper in papers[:_MAX_PAPERS]:
        say(console, Text(printable(paper.title) or "(no title)", style="bold"), indent=2)
        say(console, Text(printable(byline(paper)), style="dim"), indent=4)
        say(console, Text(printable(describe_status(paper.status, paper.notices)), style="red"), indent=4)
    if number > _MAX_PAPERS:
        say(console, f"and {number - _MAX_PAPERS:,} more; --json lists them all", indent=2)


def _count_notices(number: int, noun: str) -> str:
    """ "2 expressions of concern"."""
    head, _, rest = noun.partition(" ")
    return f"{count(number, head)} {rest}".rstrip()
