"""`whycite worth`: how likely each sentence needs a citation."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whycite.cli.options import AsJson
from whycite.cli.stopping import Stopped
from whycite.cli.terminal import count, print_json, printable, say
from whycite.errors import UserError

if TYPE_CHECKING:
    from whycite.worthiness import Detector, Paragraph

__all__ = ["worth"]

_EXPECTED = 'expected a JSON object such as {"id": "1", "section": "Introduction", "sentences": ["One.", "Two."]}'
_DIGITS = 4


def worth(
    sentences: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SENTENCE...", help="The sentences of one paragraph, without citations; - reads a text."
        ),
    ] = None,
    section: Annotated[
        str, typer.Option(metavar="HEADING", help="The heading above them, or a section type: introduction, method, …")
    ] = "",
    batch: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help='Answer each line {"id": …, "section": …, "sentences": […]} of a file, or of -.'
        ),
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="DIR", help="A model of 'whycite train worthiness', if not the bundled one.")
    ] = None,
    calibration: Annotated[
        str, typer.Option(metavar="KIND", help="The kind of text probabilities are meant for: articles or drafts.")
    ] = "articles",
    as_json: AsJson = False,
) -> None:
    """Say how likely each sentence of a paragraph needs a citation; a whole draft is what 'whycite check' reads."""
    from whycite.worthiness import load

    if bool(sentences) == (batch is not None):
        raise UserError("give sentences in quotation marks, or a file of paragraphs with --batch")
    if batch is not None:
        _batch(batch, section, load(model, 1, calibration))
        return
    given = _split(sys.stdin.buffer.read()) if sentences == ["-"] else tuple(sentences or ())
    detector = load(model, None, calibration)
    (found,) = detector.worthiness([_paragraph(given, section)])
    rounded = [round(float(value), _DIGITS) for value in found]
    if as_json:
        print_json({"sentences": list(given), "worthiness": rounded})
        return
    from rich.console import Console

    console = Console(highlight=False)
    for text, value in zip(given, rounded, strict=True):
        say(console, printable(text), indent=6, mark=f"{value:.2f}")


def _split(content: bytes) -> tuple[str, ...]:
    from whycite.documents.sources import decode
    from whycite.text.sentences import split

    text = decode(content)[0].lstrip("\ufeff")
    return tuple(text[start:end] for start, end in split(text))


def _paragraph(sentences: tuple[str, ...], section: str) -> Paragraph:
    from whycite import structure
    from whycite.worthiness import Paragraph

    section = " ".join(section.split())
    return Paragraph(sentences, (section,) if section else (), structure.section_type(section) if section else None)


def _batch(path: str, section: str, detector: Detector) -> None:
    from rich.console import Console

    from whycite.cli.lines import lines, opened
    from whycite.cli.parallel import in_order
    from whycite.cli.progress import counted

    def answer(line: tuple[int, str]) -> dict[str, Any]:
        record = _record(line[1], f"{'stdin' if path == '-' else path}:{line[0]}")
        given = tuple(record["sentences"])
        (found,) = detector.worthiness([_paragraph(given, record.get("section") or section)])
        return {"id": record["id"], "worthiness": [round(float(value), _DIGITS) for value in found]}

    done = 0
    errors = Console(stderr=True, highlight=False, force_terminal=False if sys.stdout.isatty() else None)
    try:
        with opened(path) as stream, counted(errors, "paragraph") as tell:
            for found in in_order(lines(stream, path), answer, os.cpu_count() or 1):
                print_json(found)
                done += 1
                sys.stdout.flush()
                tell(done)
    except KeyboardInterrupt:
        raise Stopped(f"{count(done, 'paragraph')} answered") from None


def _record(line: str, place: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{place}: not JSON; {_EXPECTED}") from error
    if not isinstance(record, dict):
        raise UserError(f"{place}: {_EXPECTED}")
    if type(record.get("id")) not in (str, int, float) or record["id"] == "":
        raise UserError(f'{place}: "id" must be a name or a number; {_EXPECTED}')
    given = record.get("sentences")
    if not isinstance(given, list) or not all(isinstance(each, str) for each in given):
        raise UserError(f'{place}: "sentences" must be a list of strings; {_EXPECTED}')
    if not isinstance(record.get("section") or "", str):
        raise UserError(f'{place}: "section" must be a string; {_EXPECTED}')
    return record
