"""`whycite verify`: which sentences of a cited paper back a claim, and whether they do."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from whycite.cli.options import AsJson, LibraryPath
from whycite.cli.stopping import Stopped
from whycite.cli.terminal import count, print_json
from whycite.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Collection

    from rich.console import Console

__all__ = ["Format", "verify"]


class Format(StrEnum):
    """How an answer is printed."""

    text = "text"
    json = "json"
    html = "html"


def verify(
    path: Annotated[
        str | None,
        typer.Argument(metavar="[PAPER|DRAFT]", help="With --claim the cited paper, else your draft; - for stdin."),
    ] = None,
    claim: Annotated[str | None, typer.Option(help="The claim that PAPER should back.")] = None,
    n: Annotated[int, typer.Option("-n", min=1, max=1000, help="How many passages.")] = 5,
    papers: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Where the full texts of what DRAFT cites are.")
    ] = None,
    library: LibraryPath = None,
    fail_on: Annotated[
        list[str] | None,
        typer.Option(metavar="VERDICT", help="Exit with 1 if there is such a verdict; may be repeated."),
    ] = None,
    heatmap: Annotated[bool, typer.Option("--heatmap", help="Show all of PAPER, shaded by how it backs.")] = False,
    format: Annotated[Format | None, typer.Option(help="text, json, or html: a page with the heat map.")] = None,
    out: Annotated[str | None, typer.Option(metavar="FILE", help="Where the html page goes.")] = None,
    batch: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help='Answer each line {"id": …, "claim": …, "sentences": […]} of a file, or of -.'
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find the sentences of a paper that back a claim, or check every citation of a draft."""
    wanted = _format(format, as_json, claim, heatmap, out)
    ending = _verdicts(fail_on or ())
    if batch is not None:
        if path is not None or claim is not None or format in (Format.text, Format.html) or heatmap:
            raise UserError("--batch takes claims and sentences from its file; give it alone")
        found = _batch(batch, ending)
    elif path is None:
        raise UserError('give a paper and --claim "…", a draft, or a file of claims with --batch')
    elif claim is not None:
        if papers is not None or library is not None:
            raise UserError("--papers and --library are for drafts; with --claim name the paper itself")
        found = _one(claim, path, n, wanted, heatmap, out, ending)
    else:
        found = _draft(path, papers, library, n, wanted, ending)
    if found:
        raise typer.Exit(1)


def _format(format: Format | None, as_json: bool, claim: str | None, heatmap: bool, out: str | None) -> Format:
    if as_json and format not in (None, Format.json):
        raise UserError(f"--json and --format {format.value} exclude each other")
    wanted = Format.json if as_json else format or Format.text
    if claim is None and (wanted is Format.html or heatmap):
        raise UserError("a heat map is of one claim: give it with --claim")
    if heatmap and wanted is not Format.text:
        raise UserError("--heatmap is for the terminal; for a page use --format html --out FILE")
    if (wanted is Format.html) != (out is not None):
        raise UserError("--format html and --out FILE go together")
    return wanted


def _verdicts(named: Collection[str]) -> frozenset[str]:
    from typing import get_args

    from whycite.verify.model import Verdict

    known = get_args(Verdict)
    for verdict in named:
        if verdict not in known:
            raise UserError(f"no verdict '{verdict}'; there are: {', '.join(known)}")
    return frozenset(named)


def _one(
    claim: str, path: str, n: int, format: Format, heatmap: bool, out: str | None, ending: Collection[str]
) -> bool:
    from rich.console import Console

    from whycite import read
    from whycite.cli.output import writing
    from whycite.cli.progress import counted
    from whycite.cli.verdicts import show
    from whycite.documents.sources import decode
    from whycite.verify import as_dict, open_document

    if claim == "-":
        if path == "-":
            raise UserError("the claim and the paper cannot both come from standard input")
        claim = decode(sys.stdin.buffer.read())[0].lstrip("\ufeff")
    if not claim.strip():
        raise UserError("the claim is empty: give a sentence")
    document = read(path)
    with counted(_errors(), "sentence") as tell:
        done = 0

        def more(number: int) -> None:
            nonlocal done
            done += number
            tell(done)

        found = open_document(document, progress=more).verify(claim)
    if format is Format.json:
        print_json({"path": document.path, "title": document.paper.title, **as_dict(found, n)})
    elif format is Format.html:
        from whycite.verify.heatmap import html

        with writing(out) as file:
            file.write(html(document, found).encode("utf-8", "replace"))
    else:
        console = Console(highlight=False)
        if heatmap:
            from whycite.verify.heatmap import terminal

            console.print(terminal(document, found, top=n))
        else:
            show(found, console, n)
    return found.verdict in ending


def _draft(
    path: str,
    papers: str | None,
    library: str | None,
    n: int,
    format: Format,
    ending: Collection[str],
) -> bool:
    from rich.console import Console

    from whycite import read
    from whycite.cli.progress import watched
    from whycite.cli.verdicts import table
    from whycite.verify import CitationVerdict, citation_as_dict, draft

    kept = None
    if papers is None or library is not None:
        from whycite.library import Library

        kept = Library.open(library)
    document = read(path)
    found: list[CitationVerdict] = []
    try:
        with watched(_errors()) as watch:
            for checked in draft(document, papers, kept, progress=watch):
                found.append(checked)
                if format is Format.json:
                    print_json(citation_as_dict(checked, n))
                    sys.stdout.flush()
    except KeyboardInterrupt:
        raise Stopped(f"{count(len(found), 'citation')} checked") from None
    if format is Format.text:
        table(found, Console(highlight=False))
    return any(checked.verification.verdict in ending for checked in found)


def _batch(path: str, ending: Collection[str]) -> bool:
    from whycite.cli.lines import lines, opened
    from whycite.cli.parallel import in_order
    from whycite.cli.progress import counted
    from whycite.cli.verdicts import answered

    done, ended = 0, False
    try:
        with opened(path) as stream, counted(_errors(), "answer") as tell:
            named = "stdin" if path == "-" else path
            # One at a time: the models use all cores themselves.
            for answer in in_order(lines(stream, path), lambda line: answered(line[1], f"{named}:{line[0]}"), 1):
                print_json(answer)
                sys.stdout.flush()
                done += 1
                ended = ended or answer["verdict"] in ending
                tell(done)
    except KeyboardInterrupt:
        raise Stopped(f"{count(done, 'answer')} given") from None
    return ended


def _errors() -> Console:
    """Standard error, for progress; quiet while answers come on the terminal one by one."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)
