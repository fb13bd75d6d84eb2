"""`whycite cite`: find papers to cite for a claim, with evidence."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whycite.cli.terminal import AsJson, Interruption, LibraryPath, count, print_json, say
from whycite.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rich.console import Console

    from whycite.cite.recommendations import Claim, Method, Recommendation
    from whycite.library import Library

__all__ = ["CiteFormat", "cite"]

_MAX_CLAIM_LENGTH = 10_000  # characters
_EXPECTED = 'expected a JSON object such as {"id": "1", "text": "the claim"}'


class CiteFormat(StrEnum):
    """Output formats."""

    text = "text"
    json = "json"
    trec = "trec"
    bibtex = "bibtex"
    csl = "csl"
    ris = "ris"


_ENTRIES = (CiteFormat.bibtex, CiteFormat.csl, CiteFormat.ris)  # for a bibliography


def cite(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="CLAIM", help="Sentence or phrase to find papers for; - reads standard input."),
    ] = None,
    n: Annotated[int, typer.Option("-n", metavar="N", min=1, max=1000, help="Number of papers to show.")] = 10,
    method: Annotated[str, typer.Option(metavar="NAME", help="Ranking method; `--method list` shows all.")] = "whycite",
    year_max: Annotated[
        int | None, typer.Option(metavar="YEAR", min=1000, max=2999, help="Ignore papers newer than this.")
    ] = None,
    section: Annotated[
        str | None, typer.Option(metavar="TYPE", help="Section of the claim: introduction, method, …")
    ] = None,
    title: Annotated[str, typer.Option(help="Title of your draft.")] = "",
    cited: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY", help="Key of a paper your draft already cites, as in --json; repeatable."),
    ] = None,
    include_retracted: Annotated[
        bool, typer.Option("--include-retracted", help="Also show retracted papers, marked as such.")
    ] = False,
    format: Annotated[
        CiteFormat | None, typer.Option(help="Output format: text, json, trec, bibtex, csl or ris.")
    ] = None,
    how_cited: Annotated[
        bool, typer.Option("--how-cited", help="Show what each paper is cited for, and who agrees or disagrees.")
    ] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show how each score is computed.")] = False,
    batch: Annotated[
        str | None,
        typer.Option(metavar="FILE", help='Answer every line {"id": …, "text": …} of a JSON Lines file or -.'),
    ] = None,
    library: LibraryPath = None,
    as_json: AsJson = False,
) -> None:
    """Find papers in your library to cite for a claim, with the evidence for each."""
    from whycite import structure
    from whycite.cite.recommendations import load_method
    from whycite.documents.sources import decode
    from whycite.library import Library

    claim = " ".join(words or ())
    several = len(words or ()) > 1 and any(len(word.split()) > 1 for word in words or ())
    if several or bool(words) == (batch is not None):
        raise UserError("give one claim in quotation marks, or use --batch FILE for several")
    if as_json and format not in (None, CiteFormat.json):
        raise UserError(f"--json cannot be used with --format {format.value}")
    if batch is not None and format not in (None, CiteFormat.json, CiteFormat.trec):
        raise UserError(f"--batch cannot be used with --format {format.value}; use json or trec")
    output_format = CiteFormat.json if as_json or (batch is not None and format is None) else format or CiteFormat.text
    context = {
        "title": title,
        "section_type": None if section is None else structure.parse_section_type(section),
        "cited": tuple(cited or ()),
        "year": year_max,
        "include_retracted": include_retracted,
    }
    if how_cited and output_format not in (CiteFormat.text, CiteFormat.json):
        raise UserError(f"--how-cited cannot be used with --format {output_format.value}; use text or json")
    if batch is not None:
        opened = Library.open(library)
        _warn_of_unknown(cited or (), opened)
        answerer = _Answerer(opened, load_method(method, opened), n, how_cited)
        _answer_batch(batch, context, answerer, output_format, explain)
        return
    text = decode(sys.stdin.buffer.read())[0].lstrip("\ufeff") if claim == "-" else claim
    parsed_claim = _make_claim(text, **context)
    opened = Library.open(library)
    _warn_of_unknown(parsed_claim.cited, opened)
    answerer = _Answerer(opened, load_method(method, opened), n, how_cited)
    _print_answer(answerer.recommend(parsed_claim), parsed_claim, answerer, output_format, explain)


def _warn_of_unknown(keys: Sequence[str], library: Library) -> None:
    """Say which papers that a draft cites the library does not know, since they change nothing."""
    numbers = {key: library.paper_id(key) for key in keys}
    known = library.papers([*numbers.values()])
    for key in (key for key, number in numbers.items() if number not in known):
        warning = f"warning: --cited {key}: no paper in your library has this key; keys look like doi:10.1000/x"
        say(_error_console(), warning)


@dataclass(frozen=True, slots=True)
class _Answerer:
    """Answers claims from a library."""

    library: Library
    method: Method
    n: int
    how_cited: bool

    def recommend(self, claim: Claim) -> Sequence[Recommendation]:
        from whycite.cite.recommendations import with_receptions

        answer = self.method.recommend(claim, self.n)
        return with_receptions(self.library, answer) if self.how_cited else answer


def _print_answer(
    answer: Sequence[Recommendation],
    claim: Claim,
    answerer: _Answerer,
    format: CiteFormat,
    explain: bool,
) -> None:
    from rich.console import Console

    from whycite.cite.exports import as_bibtex, as_csl, as_ris
    from whycite.cite.fit import nothing_fits
    from whycite.cite.recommendations import NOTHING_FITS, answer_fits, answer_json
    from whycite.cli import results

    if format in _ENTRIES and answer and nothing_fits(answer_fits(answer)):
        say(_error_console(), f"warning: {NOTHING_FITS[0].lower()}{NOTHING_FITS[1:-1]} follow.")
    if format is CiteFormat.json:
        print_json({"text": claim.text, **answer_json(answer, explain), "state": answerer.library.state})
    elif format is CiteFormat.trec:
        print(_trec_run("1", answer, answerer.method.name), end="")
    elif format is CiteFormat.bibtex:
        print(as_bibtex(recommendation.paper for recommendation in answer), end="")
    elif format is CiteFormat.csl:
        print(json.dumps(as_csl(recommendation.paper for recommendation in answer), ensure_ascii=False, indent=2))
    elif format is CiteFormat.ris:
        print(as_ris(recommendation.paper for recommendation in answer), end="")
    else:
        console = Console(highlight=False)
        results.show_recommendations(answer, claim.text, console, explain, fits=answer_fits(answer))
        if not answer:
            year = f" from {claim.year} or earlier" if claim.year else ""
            say(console, f"No papers{year} match this claim. Add more with `whycite add`.")


@dataclass(frozen=True, slots=True)
class _BatchClaim:
    """A claim of a batch, with the id under which it is answered."""

    id: str | int | float
    claim: Claim


def _make_claim(text: str, **context: Any) -> Claim:
    """Make a claim with its context; raises a UserError if it is too long."""
    from whycite.cite.recommendations import Claim

    text = " ".join(text.split())
    if len(text) > _MAX_CLAIM_LENGTH:
        raise UserError(f"claim is too long: {len(text):,} characters, but at most {_MAX_CLAIM_LENGTH:,} are allowed")
    return Claim(text, **context)


def _parse_claim(line: str, place: str, context: Mapping[str, Any]) -> _BatchClaim:
    """Parse a line of a batch; `context` provides what the line does not say about the draft."""
    from whycite import structure
    from whycite.cli.batch import parse_object

    record = parse_object(line, place, _EXPECTED)
    for key in ("id", "text"):
        if record.get(key) is None:
            raise UserError(f'{place}: "{key}" is missing; {_EXPECTED}')
    fields = {key: _valid_field(record, key, place) for key in _FIELD_TYPES if record.get(key) is not None}
    claim_context = dict(context) | {key: fields[key] for key in ("title", "paragraph") if key in fields}
    if "section" in fields:  # may be a heading without a type
        claim_context["section_type"] = structure.section_type(fields["section"])
    if "cited" in fields:
        claim_context["cited"] = tuple(fields["cited"])
    if "year" in fields:
        claim_context["year"] = min(fields["year"], context.get("year") or fields["year"])
    try:
        return _BatchClaim(fields["id"], _make_claim(fields["text"], **claim_context))
    except UserError as error:
        raise UserError(f"{place}: {error}") from error


def _valid_field(record: dict[str, Any], key: str, place: str) -> Any:
    kind, is_valid = _FIELD_TYPES[key]
    if not is_valid(record[key]):
        raise UserError(f'{place}: "{key}" must be {kind}, not {json.dumps(record[key])[:40]}')
    return record[key]


def _is_text(value: object) -> bool:
    return isinstance(value, str)


_FIELD_TYPES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "id": ("a string or a number", lambda value: type(value) in (str, int, float) and value != ""),
    "text": ("a string", _is_text),
    "title": ("a string", _is_text),
    "section": ("a string", _is_text),
    "paragraph": ("a string", _is_text),
    "cited": ("a list of keys", lambda value: isinstance(value, list) and all(map(_is_text, value))),
    "year": ("a whole number", lambda value: type(value) is int),
}


def _answer_batch(
    path: str,
    context: Mapping[str, Any],
    answerer: _Answerer,
    format: CiteFormat,
    explain: bool,
) -> None:
    from whycite.cite.recommendations import answer_json
    from whycite.cli.batch import map_in_order, open_input, read_lines
    from whycite.cli.progress import count_progress

    def answer(line: tuple[int, str]) -> tuple[_BatchClaim, Sequence[Recommendation]]:
        batch_claim = _parse_claim(line[1], f"{'stdin' if path == '-' else path}:{line[0]}", context)
        return batch_claim, answerer.recommend(batch_claim.claim)

    answer_count = 0
    try:
        with open_input(path) as stream, count_progress(_error_console(), "answer") as tell:
            for batch_claim, recommendations in map_in_order(read_lines(stream, path), answer, os.cpu_count() or 1):
                if format is CiteFormat.trec:
                    sys.stdout.write(_trec_run(str(batch_claim.id), recommendations, answerer.method.name))
                else:
                    print_json(
                        {"id": batch_claim.id, **answer_json(recommendations, explain), "state": answerer.library.state}
                    )
                answer_count += 1
                sys.stdout.flush()
                tell(answer_count)
    except KeyboardInterrupt:
        raise Interruption(f"answered {count(answer_count, 'claim')}") from None


def _error_console() -> Console:
    """Standard error for progress, which stays silent while answers are printed on the same terminal."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, force_terminal=False if sys.stdout.isatty() else None)


def _trec_run(query: str, answer: Sequence[Recommendation], method: str) -> str:
    """The answer in TREC run format, with names escaped as whycite.lab.evaluate.comparison reads them."""
    return "".join(
        f"{_trec_name(query)} Q0 {_trec_name(recommendation.paper.key)} {recommendation.rank} "
        f"{recommendation.score!r} {_trec_name(method)}\n"
        for recommendation in answer
    )


def _trec_name(text: str) -> str:
    from urllib.parse import quote

    return "".join(quote(sign, safe="") if sign == "%" or sign.isspace() else sign for sign in text)
