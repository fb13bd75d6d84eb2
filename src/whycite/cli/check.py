"""`whycite check`: where a draft needs a citation, and which one."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from whycite.cli.options import AsJson, LibraryPath
from whycite.cli.terminal import printable, say
from whycite.errors import UserError

if TYPE_CHECKING:
    from rich.console import Console

    from whycite.check import Checked
    from whycite.check.settings import Settings
    from whycite.documents import Document

__all__ = ["FailOn", "Format", "check"]

_STEP = 2.0  # seconds: the times of files are rounded down, on old file systems so far


class Format(StrEnum):
    """How findings are given."""

    text = "text"
    json = "json"
    sarif = "sarif"
    github = "github"
    html = "html"


class FailOn(StrEnum):
    """What a check may fail on."""

    needs_citation = "needs-citation"


def check(
    drafts: Annotated[
        list[str], typer.Argument(metavar="DRAFT...", help="Files or project folders; - reads Markdown or plain text.")
    ],
    format: Annotated[Format | None, typer.Option(help="How to give what was found; text by default.")] = None,
    out: Annotated[str | None, typer.Option(metavar="FILE", help="Write it to a file.")] = None,
    threshold: Annotated[
        float | None,
        typer.Option(min=0, max=1, metavar="T", help="From which worthiness on, if not from the model's own."),
    ] = None,
    section: Annotated[
        list[str] | None, typer.Option(metavar="TYPE", help="Look at sections of this type only; may be repeated.")
    ] = None,
    all: Annotated[bool, typer.Option("--all", help="Papers for sentences that cite already, too.")] = False,
    n: Annotated[int | None, typer.Option("-n", min=1, max=100, help="How many papers a sentence; 3.")] = None,
    fix: Annotated[bool, typer.Option("--fix", help="Put the best citations into the draft, after asking.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before --fix writes.")] = False,
    fail_on: Annotated[FailOn | None, typer.Option(help="Exit with 1 if there is such a finding.")] = None,
    worthiness: Annotated[
        str | None, typer.Option(metavar="NAME", help="A worthiness model's folder, if not the bundled one.")
    ] = None,
    library: LibraryPath = None,
    no_library: Annotated[
        bool, typer.Option("--no-library", help="Recommend from the draft's own bibliography alone.")
    ] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Check again whenever the draft is saved.")] = False,
    as_json: AsJson = False,
) -> None:
    """Find the sentences of a draft that need a citation, and the papers that they could cite."""
    _agree(drafts, format, out, fix, yes, library, no_library, as_json)
    if watch and (fix or fail_on or "-" in drafts or (not out and (as_json or format not in (None, Format.text)))):
        raise UserError("--watch shows text, or writes to --out; it reads files, and goes without --fix and --fail-on")
    from whycite.check import check as check_draft
    from whycite.cli.claims import section_type
    from whycite.cli.fixing import fixed
    from whycite.cli.progress import watched
    from whycite.worthiness import load

    sections = [known for name in section or () if (known := section_type(name))]
    errors = _errors()

    def found() -> tuple[list[Checked], Format, bool]:
        """What was found in the drafts, how it is to be given, and whether that is a failure."""
        every: list[Checked] = []
        given = Format.json if as_json else format
        fails = False
        with watched(errors) as tell:
            for draft in drafts:
                settings = _settings(draft)
                given = given or (Format(settings.format) if settings.format else None)
                document, texts = _read(draft)
                checked = check_draft(
                    document,
                    library or settings.library,
                    threshold=settings.threshold if threshold is None else threshold,
                    sections=sections or settings.sections or None,
                    all=all,
                    n=n or settings.n or 3,
                    detector=load(worthiness) if worthiness else None,
                    use_library=not no_library,
                    texts=texts,
                    told=tell,
                )
                every.append(checked)
                wanted = fail_on.value if fail_on else settings.fail_on
                fails = fails or any(finding.kind == wanted for finding in checked.findings)
        for warning in dict.fromkeys(warning for checked in every for warning in checked.warnings):
            say(errors, f"warning: {printable(warning)}")
        return every, given or Format.text, fails

    if watch:
        _watch(drafts, found, out, errors)
    every, given, fails = found()
    if fix:
        fixed(list(zip(drafts, every, strict=True)), yes)
        return
    _report(every, given, out)
    if fails:
        raise typer.Exit(1)


def _watch(
    drafts: Sequence[str], found: Callable[[], tuple[list[Checked], Format, bool]], out: str | None, errors: Console
) -> NoReturn:
    """Check, and again whenever something was saved, until the user stops it."""
    import time

    from whycite.cli.watching import State, changed, state

    places = [Path(draft) for draft in drafts]
    read: set[Path] = set()

    def look() -> State:
        return {file: facts for file, facts in state(places, read).items() if not out or Path(file) != Path(out)}

    while True:
        before, begun = look(), time.time()
        try:
            every, given, _ = found()
            _report(every, given if out else Format.text, out)
            read.update(Path(sentence.file) for checked in every for sentence in checked.document.sentences)
        except UserError as error:  # half of it is written, perhaps: the next time it is saved it may be whole
            say(errors, f"whycite: {printable(str(error))}")
        old = (begun - _STEP) * 1e9
        known = {Path(file).parent for file in before}  # where whatever is new is a change, however old it is
        beside = {file: facts for file, facts in look().items() if Path(file).parent not in known and facts[0] < old}
        now = time.strftime("%H:%M:%S")
        errors.print(f"checked in {time.time() - begun:.1f} s at {now}; waiting for changes, Ctrl-C ends it")
        changed(beside | before, look)


def _agree(
    drafts: Sequence[str],
    format: Format | None,
    out: str | None,
    fix: bool,
    yes: bool,
    library: str | None,
    no_library: bool,
    as_json: bool,
) -> None:
    """Refuse options that contradict each other."""
    if as_json and format not in (None, Format.json):
        raise UserError(f"--json and --format {format.value} exclude each other")
    if library is not None and no_library:
        raise UserError("--library and --no-library exclude each other")
    if yes and not fix:
        raise UserError("--yes answers what --fix asks; give both")
    if fix and (format not in (None, Format.text) or as_json or out):
        raise UserError("--fix shows what it changes; leave out --format, --json and --out")
    if "-" in drafts and (fix or len(drafts) > 1):
        raise UserError("standard input can be checked alone, and cannot be fixed")


def _settings(draft: str) -> Settings:
    from whycite.check.settings import settings_for

    return settings_for(Path.cwd() if draft == "-" else Path(draft))


def _read(draft: str) -> tuple[str | Document, dict[str, str] | None]:
    """The draft; standard input is read, and comes with its text, which is on no disk."""
    if draft != "-":
        return draft, None
    from whycite.documents.registry import readers
    from whycite.documents.sources import MemoryFolder, Source, decode

    data = sys.stdin.buffer.read()
    if not data.strip():
        raise UserError("standard input is empty: give a draft in Markdown or plain text")
    source = Source(MemoryFolder({"stdin": data}, ""), "stdin")
    return next(iter(readers()["markdown"].read(source))), {"stdin": decode(data)[0]}


def _report(found: Sequence[Checked], format: Format, out: str | None) -> None:
    from whycite.cli.output import writing

    with writing(out) as stream:
        if format is Format.text:
            _text(found, stream if out not in (None, "-") else None)
        else:
            stream.write(_made(found, format))


def _made(found: Sequence[Checked], format: Format) -> bytes:
    from whycite.check import as_dict
    from whycite.cli.terminal import json_line

    if format is Format.json:
        return b"".join(json_line(as_dict(checked)) for checked in found)
    from whycite.check.reporting import github, html, sarif

    report = {Format.sarif: sarif.report, Format.github: github.report, Format.html: html.report}[format]
    return report(found).encode("utf-8", "replace")


def _text(found: Sequence[Checked], stream: Any) -> None:
    import io

    from rich.console import Console

    from whycite.cli.findings import show

    if stream is None:
        show(found, Console(highlight=False))
        return
    page = io.StringIO()
    show(found, Console(highlight=False, file=page, force_terminal=False, width=120))
    stream.write(page.getvalue().encode("utf-8", "replace"))


def _errors() -> Console:
    from rich.console import Console

    return Console(stderr=True, highlight=False)
