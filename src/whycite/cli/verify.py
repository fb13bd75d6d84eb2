"""`whycite verify`: check whether cited papers back the claims they are cited for."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whycite.cli.terminal import AsJson, Interruption, LibraryPath, count, draft_errors, print_json, printable, say
from whycite.errors import UserError
from whycite.files import shorten_paths

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from rich.console import Console

    from whycite.documents.model import Document
    from whycite.verify.drafts import CitationVerdict
    from whycite.verify.verification import Verification

    Reorder = Callable[[Verification], Verification]

__all__ = ["VerifyFormat", "verify"]


class VerifyFormat(StrEnum):
    """Output formats."""

    text = "text"
    json = "json"
    markdown = "markdown"
    html = "html"
    docx = "docx"
    odt = "odt"


_MAX_SENTENCES = 100_000  # per record
_EXPECTED = 'expected a JSON object such as {"id": "1", "claim": "the claim", "sentences": ["one", "another"]}'
_COMMENTED = (VerifyFormat.docx, VerifyFormat.odt)


def verify(
    path: Annotated[
        str | None,
        typer.Argument(metavar="PAPER|DRAFT", help="Cited paper if --claim is given, else a draft; - reads stdin."),
    ] = None,
    claim: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Claim that PAPER should back; - reads stdin.")
    ] = None,
    n: Annotated[int, typer.Option("-n", metavar="N", min=1, max=1000, help="Number of passages to show.")] = 5,
    papers: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Folder with the papers that DRAFT cites.")
    ] = None,
    library: LibraryPath = None,
    fail_on: Annotated[
        list[str] | None,
        typer.Option(metavar="VERDICT", help="Exit with 1 on this verdict; repeatable."),
    ] = None,
    heatmap: Annotated[bool, typer.Option("--heatmap", help="Show all of PAPER, shaded by score.")] = False,
    format: Annotated[
        VerifyFormat | None,
        typer.Option(
            help="Output format: text, json, html (report on DRAFT, heat map of PAPER), markdown (DRAFT), docx or "
            "odt (a copy of DRAFT with comments)."
        ),
    ] = None,
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="File for --format html, markdown, docx or odt.")
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Model that orders the passages; the verdict does not change."),
    ] = None,
    batch: Annotated[
        str | None,
        typer.Option(metavar="FILE", help='Answer every line {"id": …, "claim": …, "sentences": […]} of a file or -.'),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find the sentences of a paper that back a claim, or check every citation of a draft."""
    output_format = _choose_format(format, as_json, claim, heatmap, out)
    failing_verdicts = _parse_verdicts(fail_on or ())
    reorder = _load_order(model)
    if batch is not None:
        if path is not None or claim is not None or format not in (None, VerifyFormat.json) or heatmap:
            raise UserError("--batch cannot be used with a paper, --claim, --heatmap or --format")
        has_failure = _verify_batch(batch, reorder, failing_verdicts)
    elif path is None:
        raise UserError('give a paper with --claim "…", a draft, or --batch FILE')
    elif claim is not None:
        if papers is not None or library is not None:
            raise UserError("--papers and --library can only be used with a draft, not with --claim")
        has_failure = _verify_claim(claim, path, n, output_format, heatmap, out, reorder, failing_verdicts)
    else:
        has_failure = _verify_draft(path, papers, library, n, output_format, out, reorder, failing_verdicts)
    if has_failure:
        raise typer.Exit(1)


def _choose_format(
    format: VerifyFormat | None, as_json: bool, claim: str | None, heatmap: bool, out: str | None
) -> VerifyFormat:
    if as_json and format not in (None, VerifyFormat.json):
        raise UserError(f"--json cannot be used with --format {format.value}")
    output_format = VerifyFormat.json if as_json else format or VerifyFormat.text
    if claim is None and heatmap:
        raise UserError("a heat map needs a claim; use --claim")
    if claim is not None and output_format in (VerifyFormat.markdown, *_COMMENTED):
        raise UserError(f"--format {output_format.value} reports on a draft; leave out --claim")
    if heatmap and output_format is not VerifyFormat.text:
        raise UserError("--heatmap prints text; for a web page, use --format html --out FILE")
    if output_format is VerifyFormat.html and out is None:
        raise UserError("--format html needs --out FILE")
    if out is not None and output_format not in (VerifyFormat.html, VerifyFormat.markdown, *_COMMENTED):
        raise UserError("--out can only be used with --format html, markdown, docx or odt")
    return output_format


def _parse_verdicts(names: Collection[str]) -> frozenset[str]:
    from typing import get_args

    from whycite.verify.verification import Verdict

    verdicts = get_args(Verdict)
    for verdict in names:
        if verdict not in verdicts:
            raise UserError(f"unknown verdict '{verdict}'; choose one of: {', '.join(verdicts)}")
    return frozenset(names)


def _load_order(model: Path | None) -> Reorder:
    """What orders the passages of a verification: a model, or nothing."""
    if model is None:
        return lambda verification: verification
    from whycite.verify.passages import load_passage_model, reorder_passages

    scorer = load_passage_model(model)
    return lambda verification: reorder_passages(verification, scorer)


def _verify_claim(
    claim: str,
    path: str,
    n: int,
    format: VerifyFormat,
    heatmap: bool,
    out: str | None,
    reorder: Reorder,
    failing_verdicts: Collection[str],
) -> bool:
    from rich.console import Console
    from rich.text import Text

    from whycite import read
    from whycite.cli.progress import count_progress
    from whycite.cli.results import show_verification
    from whycite.cli.terminal import open_output
    from whycite.documents.sources import decode
    from whycite.library.notices import look_up
    from whycite.library.paths import default_path
    from whycite.verify.claims import open_document
    from whycite.verify.verification import verification_json

    if claim == "-":
        if path == "-":
            raise UserError("the claim and the paper cannot both come from standard input")
        claim = decode(sys.stdin.buffer.read())[0].lstrip("\ufeff")
    if not claim.strip():
        raise UserError("the claim is empty")
    document = read(path)
    with count_progress(_error_console(), "sentence") as tell:
        sentence_count = 0

        def advance(number: int) -> None:
            nonlocal sentence_count
            sentence_count += number
            tell(sentence_count)

        verification = reorder(open_document(document, progress=advance).verify(claim))
    [notices] = look_up(default_path(), [document.paper])
    if format is VerifyFormat.json:
        warning = {"warning": notices.description} if notices.description else {}
        about = {"path": document.path, "title": document.paper.title}
        print_json({**about, **warning, **verification_json(verification, n)})
    elif format is VerifyFormat.html:
        from whycite.verify.heatmap import html

        with open_output(out) as file:
            file.write(html(document, verification).encode("utf-8", "replace"))
    else:
        console = Console(highlight=False)
        if notices.description:
            say(console, Text(printable(notices.description), style="bold red"))
        if heatmap:
            from whycite.verify.heatmap import terminal

            console.print(terminal(document, verification, top=n))
        else:
            show_verification(verification, console, n)
    return verification.verdict in failing_verdicts


def _verify_draft(
    path: str,
    papers: str | None,
    library: str | None,
    n: int,
    format: VerifyFormat,
    out: str | None,
    reorder: Reorder,
    failing_verdicts: Collection[str],
) -> bool:
    from dataclasses import replace

    from whycite import read
    from whycite.cli.progress import stage_progress
    from whycite.verify.drafts import citation_verdict_json, verify_draft
    from whycite.verify.fulltexts import texts_in_folder

    opened_library = None
    if papers is None or library is not None:
        from whycite.library import Library

        opened_library = Library.open(library)
    with draft_errors():
        document = read(path)
    if format in _COMMENTED and document.format != format.value:
        raise UserError(f"{path}: --format {format.value} writes comments into a .{format.value}, and this is none")
    _warn(document.warnings)  # of a chapter that is missing, none of whose citations is verified
    if papers is not None and not texts_in_folder(papers):
        _warn([f"{papers}: contains no document that whycite can read"])
    citation_verdicts: list[CitationVerdict] = []
    try:
        with stage_progress(_error_console()) as watch:
            for checked in verify_draft(document, papers, opened_library, progress=watch):
                checked = replace(checked, verification=reorder(checked.verification))
                citation_verdicts.append(checked)
                if format is VerifyFormat.json:
                    print_json(citation_verdict_json(checked, n))
                    sys.stdout.flush()
    except KeyboardInterrupt:
        raise Interruption(f"checked {count(len(citation_verdicts), 'citation')}") from None
    if format is not VerifyFormat.json:
        _write_report(document, citation_verdicts, n, format, out)
    return any(checked.verification.verdict in failing_verdicts for checked in citation_verdicts)


def _warn(warnings: Sequence[str]) -> None:
    for warning in dict.fromkeys(warnings):
        say(_error_console(), f"warning: {printable(shorten_paths(warning))}")


def _write_report(
    document: Document, citation_verdicts: Sequence[CitationVerdict], n: int, format: VerifyFormat, out: str | None
) -> None:
    from rich.console import Console

    from whycite.cli.results import show_draft_report
    from whycite.cli.terminal import open_output
    from whycite.cli.wordfiles import write_verdicts
    from whycite.verify.report import draft_report, html, markdown

    report = draft_report(document, citation_verdicts)
    if format is VerifyFormat.text:
        show_draft_report(report, Console(highlight=False))
        return
    if format in _COMMENTED:
        write_verdicts(document, citation_verdicts, out, Console(highlight=False))
        return
    content = html(report, n) if format is VerifyFormat.html else markdown(report)
    with open_output(out) as file:
        file.write(content.encode("utf-8", "replace"))


def _verify_batch(path: str, reorder: Reorder, failing_verdicts: Collection[str]) -> bool:
    from whycite.cli.batch import map_in_order, open_input, read_lines
    from whycite.cli.progress import count_progress

    answer_count, has_failure = 0, False
    try:
        with open_input(path) as stream, count_progress(_error_console(), "answer") as tell:
            source_name = "stdin" if path == "-" else path
            # One at a time, because the models already use all cores.
            for answer in map_in_order(
                read_lines(stream, path), lambda line: _answer_record(line[1], f"{source_name}:{line[0]}", reorder), 1
            ):
                print_json(answer)
                sys.stdout.flush()
                answer_count += 1
                has_failure = has_failure or answer["verdict"] in failing_verdicts
                tell(answer_count)
    except KeyboardInterrupt:
        raise Interruption(f"answered {count(answer_count, 'claim')}") from None
    return has_failure


def _answer_record(line: str, place: str, reorder: Reorder) -> dict[str, Any]:
    """Answer a record of a batch with the score of every sentence and the verdict."""
    from whycite.cli.batch import parse_object
    from whycite.verify.claims import verify_sentences
    from whycite.verify.verification import verdict_json

    record = parse_object(line, place, _EXPECTED)
    _check_record(record, place)
    try:
        verification = reorder(verify_sentences(record["claim"], record["sentences"], record.get("sections")))
    except UserError as error:
        raise UserError(f"{place}: {error}") from error
    scores = [0.0] * len(record["sentences"])
    for passage in verification.passages:
        scores[passage.index] = round(passage.score, 6)
    return {"id": record["id"], "scores": scores, **verdict_json(verification)}


def _check_record(record: dict[str, Any], place: str) -> None:
    for key in ("id", "claim", "sentences"):
        if record.get(key) is None:
            raise UserError(f'{place}: "{key}" is missing; {_EXPECTED}')
    if type(record["id"]) not in (str, int, float) or record["id"] == "":
        raise UserError(f'{place}: "id" must be a string or a number')
    if not isinstance(record["claim"], str):
        raise UserError(f'{place}: "claim" must be a string, not {json.dumps(record["claim"])[:40]}')
    for key in ("sentences", "sections"):
        texts = record.get(key, [])
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise UserError(f'{place}: "{key}" must be a list of strings')
    if len(record["sentences"]) > _MAX_SENTENCES:
        raise UserError(f"{place}: {len(record['sentences']):,} sentences, but at most {_MAX_SENTENCES:,} are allowed")


def _error_console() -> Console:
    """Standard error, for progress."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)
