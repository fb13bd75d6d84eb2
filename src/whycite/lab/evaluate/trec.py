"""Runs and true papers in TREC format, which every evaluation tool reads.
A run has lines "query Q0 paper rank score tag", the truth (qrels) "query 0 paper 1". White space in the names of
queries and papers is percent-encoded, as is the percent sign itself: "title:a%20study". Reading decodes it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote, unquote

from whycite.errors import UserError
from whycite.files import write_lines
from whycite.lab.evaluate.comparison import Run, Truth

__all__ = ["read_qrels", "read_run", "write_qrels", "write_run"]


def write_run(path: Path, run: Run, tag: str = "whycite") -> None:
    """Write a run atomically; queries without papers have no line."""
    for query, papers in run.items():
        scores = [score for _, score in papers]
        if not all(map(math.isfinite, scores)) or any(later > score for score, later in pairwise(scores)):
            raise UserError(f"the scores of query '{query}' must be finite and in descending order")
    lines = (
        f"{_name(query)} Q0 {_name(key)} {rank} {float(score)!r} {_name(tag)}\n"
        for query, papers in run.items()
        for rank, (key, score) in enumerate(papers, start=1)
    )
    write_lines(path, lines)


def read_run(path: Path) -> dict[str, list[tuple[str, float]]]:
    """Read a run, sorted by score, then by rank."""
    papers_by_query: dict[str, list[tuple[float, int, str]]] = {}
    for place, (query, _, key, rank, score, _) in _lines(path, 6):
        try:
            value, position = float(score), int(rank)
        except ValueError as error:
            raise UserError(f"{place}: '{rank} {score}' is not a rank and a score") from error
        if not math.isfinite(value):
            raise UserError(f"{place}: the score must be finite, not {value}")
        papers_by_query.setdefault(query, []).append((-value, position, key))
    return {query: [(key, -score) for score, _, key in sorted(papers)] for query, papers in papers_by_query.items()}


def write_qrels(path: Path, truth: Truth) -> None:
    """Write the true papers atomically; queries without any have no line."""
    write_lines(path, (f"{_name(query)} 0 {_name(key)} 1\n" for query, keys in truth.items() for key in sorted(keys)))


def read_qrels(path: Path) -> dict[str, set[str]]:
    """Read the true papers: those with relevance above 0."""
    keys_by_query: dict[str, set[str]] = {}
    for place, (query, _, key, relevance) in _lines(path, 4):
        try:
            is_relevant = int(relevance) > 0
        except ValueError as error:
            raise UserError(f"{place}: the relevance '{relevance}' is not a whole number") from error
        if is_relevant:
            keys_by_query.setdefault(query, set()).add(key)
    return keys_by_query


def _name(text: str) -> str:
    if not text:
        raise UserError("a TREC file needs names for all queries and papers")
    return "".join(
        quote(sign, safe="", errors="surrogatepass") if sign == "%" or sign.isspace() or _lone(sign) else sign
        for sign in text
    )


def _lone(sign: str) -> bool:
    """Whether a character is a lone surrogate, which cannot be written to a file."""
    return "\ud800" <= sign <= "\udfff"


def _lines(path: Path, fields: int) -> Iterator[tuple[str, list[str]]]:
    """Decoded fields of each non-empty line, with its location for error messages."""
    try:
        lines = path.read_text("utf-8").split("\n")
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not a UTF-8 text file") from error
    for number, line in enumerate(lines, start=1):
        place, parts = f"{path}:{number}", line.split()
        if parts and len(parts) != fields:
            raise UserError(f"{place}: expected {fields} fields, not {len(parts)}")
        try:
            decoded = [unquote(part, errors="surrogatepass") for part in parts]
        except UnicodeDecodeError as error:
            raise UserError(f"{place}: write a literal percent sign as %25") from error
        if parts:
            yield place, decoded
