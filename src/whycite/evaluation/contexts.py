"""Citing sentences and the papers they may cite, of which title and abstract are known and no citation."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whycite.documents import Reference
from whycite.documents.identity import group
from whycite.documents.jsontext import as_list, as_text
from whycite.errors import UserError
from whycite.evaluation.drawing import draw
from whycite.evaluation.rows import read

__all__ = ["Context", "Contexts", "claim_of", "load"]

# What a masked sentence still says of its citations: the mask, names of others who are cited, numbers, years, and
# the brackets that held them. Every loop takes one character or one fixed form a turn, so all are linear.
_MASK = re.compile(r"\[CIT\]")
_OTHERS = re.compile(r"\b[A-Z][\w’'-]{1,40}(?:,? (?:and|&) [A-Z][\w’'-]{1,40})?,? et al\b\.?")
_NUMBERS = re.compile(r"\[\d{1,3}(?:\s?[-–,;]\s?\d{1,3}){0,20}\]")
_YEAR = re.compile(r"\b(?:1[89]|20)\d\d[a-z]?\b")
_HUSK = re.compile(r"[(\[][\s,;:&.–-]*[)\]]")
_BEFORE_STOP = re.compile(r"\s+([.,;:!?)\]])")


@dataclass(frozen=True, slots=True)
class Context:
    """A citing sentence without its citations, and the papers it cites."""

    id: str
    text: str
    truth: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Contexts:
    """Sentences to ask for and the papers to choose from; of papers that are the same only the first."""

    papers: tuple[Reference, ...]
    contexts: tuple[Context, ...]
    all: int  # sentences there are to draw from


def claim_of(masked: str) -> str:
    """A sentence in which "[CIT]" masks citations, with nothing left that tells which paper is cited."""
    for gone in (_MASK, _NUMBERS, _OTHERS, _YEAR, _HUSK):
        masked = gone.sub(" ", masked)
    return _BEFORE_STOP.sub(r"\1", " ".join(masked.split())).lstrip(" .,;:")


def load(folder: Path, limit: int, seed: int) -> Contexts:
    """The papers of papers.jsonl and a draw from contexts.jsonl, either compressed or not; limit 0: all contexts.

    Sentences that say nothing without their citations, or cite none of the papers, are left out.
    """
    if limit < 0:
        raise UserError(f"--limit must be 0 or more, not {limit}")
    papers = [_paper(data) for data in read(folder, "papers.jsonl")]
    first: dict[int, Reference] = {}
    same = {paper.id: first.setdefault(number, paper).id for number, paper in zip(group(papers), papers, strict=True)}
    found = [_context(data, same) for data in read(folder, "contexts.jsonl")]
    usable = [context for context in found if context.truth and any(map(str.isalpha, context.text))]
    if not usable:
        raise UserError(f"{folder}: no sentence of contexts.jsonl cites a paper of papers.jsonl")
    chosen = draw(usable, lambda context: context.id, limit or len(usable), seed)
    return Contexts(tuple(first.values()), tuple(chosen), len(usable))


def _paper(data: dict[str, Any]) -> Reference:
    year = data.get("year")
    return Reference(
        id=as_text(data.get("paper_id")),
        title=as_text(data.get("title")),
        authors=tuple(map(as_text, as_list(data.get("authors")))),
        year=year if isinstance(year, int) else None,
        doi=as_text(data.get("doi")),
        abstract=as_text(data.get("abstract")),
    )


def _context(data: dict[str, Any], same: dict[str, str]) -> Context:
    masked = as_text(data.get("text_masked"))
    cited = {same[id] for id in map(as_text, as_list(data.get("cited"))) if id in same}
    return Context(as_text(data.get("context_id")), claim_of(masked), tuple(sorted(cited)))
