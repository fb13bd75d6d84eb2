"""`whycite cite`: which papers a claim should cite, and the evidence for each."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whycite.cli.options import AsJson, LibraryPath
from whycite.cli.stopping import Stopped
from whycite.cli.terminal import count, print_json, say
from whycite.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from whycite.recommend import Claim, Method, Recommendation

__all__ = ["Format", "cite"]


class Format(StrEnum):
    """How answers are printed."""

    text = "text"
    json = "json"
    trec = "trec"
    bibtex = "bibtex"


def cite(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="CLAIM", help="The sentence or phrase; - reads it from standard input."),
    ] = None,
    n: Annotated[int, typer.Option("-n", min=1, max=1000, help="How many papers.")] = 10,
    method: Annotated[str, typer.Option(help="How they are found; a name that is none lists all.")] = "whycite",
    year_max: Annotated[int | None, typer.Option(min=1000, max=2999, help="No paper newer than this.")] = None,
    section: Annotated[
        str | None, typer.Option(metavar="TYPE", help="Where the claim stands: introduction, method, …")
    ] = None,
    title: Annotated[str, typer.Option(help="The title of your draft.")] = "",
    cited: Annotated[
        list[str] | None, typer.Option(metavar="KEY", help="A paper that your draft cites already; may be repeated.")
    ] = None,
    format: Annotated[Format | None, typer.Option(help="How to print; text by default, json for a batch.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show what each score is made of.")] = False,
    batch: Annotated[
        str | None,
        typer.Option(metavar="FILE", help='Answer each line {"id": …, "text": …} of a file of JSON Lines, or of -.'),
    ] = None,
    library: LibraryPath = None,
    as_json: AsJson = False,
) -> None:
    """Find the papers that a claim should cite, each with the evidence for it in your library."""
    from whycite.cli.claims import claim as make_claim
    from whycite.cli.claims import section_type
    from whycite.documents.sources import decode
    from whycite.library import Library
    from whycite.recommend import method as make_method

    claim = " ".join(words or ())
    several = len(words or ()) > 1 and any(len(word.split()) > 1 for word in words or ())
    if several or bool(words) == (batch is not None):
        raise UserError("give one claim in quotation marks, or a file of claims with --batch")
    if as_json and format not in (None, Format.json):
        raise UserError(f"--json and --format {format.value} exclude each other")
    if batch is not None and format in (Format.text, Format.bibtex):
        raise UserError(f"a batch is answered as json or trec, not as {format.value}")
    wanted = Format.json if as_json or (batch is not None and format is None) else format or Format.text
    around = {"title": title, "section_type": section_type(section), "cited": tuple(cited or ()), "year": year_max}
    if batch is not None:
        _batch(batch, around, make_method(method, Library.open(library)), n, wanted, explain)
        return
    text = decode(sys.stdin.buffer.read())[0].lstrip("\ufeff") if claim == "-" else claim
    one = make_claim(text, **around)
    asked = make_method(method, Library.open(library))
    _print(asked.recommend(one, n), one, asked, wanted, explain)


def _print(answer: Sequence[Recommendation], claim: Claim, method: Method, format: Format, explain: bool) -> None:
    from rich.console import Console

    from whycite.cli import answers
    from whycite.recommend import as_bibtex, as_dict

    if format is Format.json:
        print_json({"text": claim.text, "recommendations": [as_dict(found, explain) for found in answer]})
    elif format is Format.trec:
        print(_run("1", answer, method.name), end="")
    elif format is Format.bibtex:
        print(as_bibtex(found.paper for found in answer), end="")
    else:
        console = Console(highlight=False)
        answers.show(answer, claim.text, console, explain, doubt=getattr(method, "doubt", None))
        if not answer:
            year = f" from {claim.year} or before" if claim.year else ""
            say(console, f"No paper{year} in your library fits this claim; add more with: whycite add PATH")


def _batch(path: str, around: Mapping[str, Any], method: Method, n: int, format: Format, explain: bool) -> None:
    from whycite.cli.claims import Query, query
    from whycite.cli.lines import lines, opened
    from whycite.cli.parallel import in_order
    from whycite.cli.progress import counted
    from whycite.recommend import as_dict

    def answer(line: tuple[int, str]) -> tuple[Query, list[Recommendation]]:
        asked = query(line[1], f"{'stdin' if path == '-' else path}:{line[0]}", around)
        return asked, method.recommend(asked.claim, n)

    done = 0
    try:
        with opened(path) as stream, counted(_errors(), "answer") as tell:
            for asked, found in in_order(lines(stream, path), answer, os.cpu_count() or 1):
                if format is Format.trec:
                    sys.stdout.write(_run(str(asked.id), found, method.name))
                else:
                    print_json({"id": asked.id, "recommendations": [as_dict(one, explain) for one in found]})
                done += 1
                sys.stdout.flush()
                tell(done)
    except KeyboardInterrupt:
        raise Stopped(f"{count(done, 'answer')} given") from None


def _errors() -> Console:
    """Standard error; quiet while the answers themselves are on the terminal."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, force_terminal=False if sys.stdout.isatty() else None)


def _run(query: str, answer: Sequence[Recommendation], method: str) -> str:
    """The answer as lines of a TREC run, with names as whycite.evaluation.trec reads them."""
    return "".join(
        f"{_name(query)} Q0 {_name(found.paper.key)} {found.rank} {found.score!r} {_name(method)}\n" for found in answer
    )


def _name(text: str) -> str:
    from urllib.parse import quote

    return "".join(quote(sign, safe="") if sign == "%" or sign.isspace() else sign for sign in text)
