"""`whycite worth`: score how likely sentences are to need a citation."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whycite.cli.terminal import AsJson, Interruption, count, print_json, printable, say
from whycite.errors import UserError

if TYPE_CHECKING:
    from whycite.check.detector import Detector, ParagraphText

__all__ = ["worth"]

_EXPECTED = 'expected a JSON object such as {"id": "1", "section": "Introduction", "sentences": ["One.", "Two."]}'
_DIGITS = 4


def worth(
    sentences: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SENTENCE...", help="Sentences of one paragraph, without citations; - reads standard input."
        ),
    ] = None,
    section: Annotated[
        str, typer.Option(metavar="HEADING", help="Section heading or type: introduction, method, …")
    ] = "",
    batch: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help='Answer every line {"id": …, "section": …, "sentences": […]} of a file or -.'
        ),
    ] = None,
    model: Annotated[str | None, typer.Option(metavar="DIR", help="Model made by `whycite train worthiness`.")] = None,
    calibration: Annotated[str, typer.Option(metavar="KIND", help="Calibrate for articles or drafts.")] = "articles",
    as_json: AsJson = False,
) -> None:
    """Score how likely each sentence of a paragraph is to need a citation; for whole drafts, use `whycite check`."""
    from whycite.check.detector import load_detector

    if bool(sentences) == (batch is not None):
        raise UserError("give sentences in quotation marks, or use --batch FILE")
    if batch is not None:
        _answer_batch(batch, section, load_detector(model, 1, calibration))
        return
    texts = _split_sentences(sys.stdin.buffer.read()) if sentences == ["-"] else tuple(sentences or ())
    detector = load_detector(model, None, calibration)
    (chances,) = detector.worthiness([_paragraph(texts, section)])
    rounded = [round(float(value), _DIGITS) for value in chances]
    if as_json:
        print_json({"sentences": list(texts), "worthiness": rounded})
        return
    from rich.console import Console

    console = Console(highlight=False)
    for text, value in zip(texts, rounded, strict=True):
        say(console, printable(text), indent=6, mark=f"{value:.2f}")


def _split_sentences(content: bytes) -> tuple[str, ...]:
    from whycite.documents.sources import decode
    from whycite.text.sentences import split_sentences

    text = decode(content)[0].lstrip("\ufeff")
    return tuple(text[start:end] for start, end in split_sentences(text))


def _paragraph(sentences: tuple[str, ...], section: str) -> ParagraphText:
    from whycite import structure
    from whycite.check.detector import ParagraphText

    section = " ".join(section.split())
    return ParagraphText(sentences, (section,) if section else (), structure.section_type(section) if section else None)


def _answer_batch(path: str, section: str, detector: Detector) -> None:
    from rich.console import Console

    from whycite.cli.batch import map_in_order, open_input, read_lines
    from whycite.cli.progress import count_progress

    def answer(line: tuple[int, str]) -> dict[str, Any]:
        record = _parse_record(line[1], f"{'stdin' if path == '-' else path}:{line[0]}")
        texts = tuple(record["sentences"])
        (chances,) = detector.worthiness([_paragraph(texts, record.get("section") or section)])
        return {"id": record["id"], "worthiness": [round(float(value), _DIGITS) for value in chances]}

    paragraph_count = 0
    errors = Console(stderr=True, highlight=False, force_terminal=False if sys.stdout.isatty() else None)
    try:
        with open_input(path) as stream, count_progress(errors, "paragraph") as tell:
            for response in map_in_order(read_lines(stream, path), answer, os.cpu_count() or 1):
                print_json(response)
                paragraph_count += 1
                sys.stdout.flush()
                tell(paragraph_count)
    except KeyboardInterrupt:
        raise Interruption(f"scored {count(paragraph_count, 'paragraph')}") from None


def _parse_record(line: str, place: str) -> dict[str, Any]:
    from whycite.cli.batch import parse_object

    record = parse_object(line, place, _EXPECTED)
    if type(record.get("id")) not in (str, int, float) or record["id"] == "":
        raise UserError(f'{place}: "id" must be a string or a number; {_EXPECTED}')
    texts = record.get("sentences")
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise UserError(f'{place}: "sentences" must be a list of strings; {_EXPECTED}')
    if not isinstance(record.get("section") or "", str):
        raise UserError(f'{place}: "section" must be a string; {_EXPECTED}')
    return record
