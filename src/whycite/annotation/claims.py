"""Claims with the documents they cite, as tasks are made from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from whycite.annotation.model import Option
from whycite.annotation.rows import read, text_of, whole_numbers
from whycite.documents import read as read_document
from whycite.errors import UserError
from whycite.text.normalise import fold

__all__ = ["Cited", "read_claims"]

_EXPECTED = 'give "sentences", a list of strings, or "paper", the path of a document'
_SHORTEST = 3  # words of a sentence that can say something


@dataclass(frozen=True, slots=True)
class Cited:
    """A claim and the sentences of the document it cites that can be candidates."""

    id: str
    claim: str
    citing: str
    document: str
    sentences: tuple[Option, ...]
    gold: frozenset[int] | None = None  # indices of the sentences that are evidence; None: not known
    related: frozenset[int] | None = None


def read_claims(path: str | Path) -> Iterator[Cited]:
    """The claims of a JSONL file; papers stand beside it where their paths are relative."""
    folder = Path() if str(path) == "-" else Path(path).parent
    known: set[str] = set()
    for place, row in read(path):
        claim = _claim(row, place, folder)
        if claim.id in known:
            raise UserError(f"{place}: there is a claim '{claim.id}' already")
        known.add(claim.id)
        yield claim


def _claim(row: Mapping[str, Any], place: str, folder: Path) -> Cited:
    id, claim = text_of(row, "id", place), text_of(row, "claim", place)
    paper, given = row.get("paper"), row.get("sentences")
    if (paper is None) == (given is None):
        raise UserError(f"{place}: {_EXPECTED}")
    if given is not None:
        if not isinstance(given, list) or not all(isinstance(each, str) for each in given):
            raise UserError(f"{place}: {_EXPECTED}")
        sentences = tuple(Option(at, text) for at, text in enumerate(given))
    else:
        file = folder / text_of(row, "paper", place)
        try:
            sentences = _of_paper(file)
        except UserError as error:
            raise UserError(f"{place}: {error}") from error
    number = len(given) if given is not None else max((each.index for each in sentences), default=-1) + 1
    marked = {key: whole_numbers(row, key, place) for key in ("gold", "related")}
    for key, indices in marked.items():
        if indices and not 0 <= min(indices) <= max(indices) < number:
            raise UserError(f'{place}: "{key}" counts the sentences from 0, and there are {number}')
    same = fold(claim)
    return Cited(
        id=id,
        claim=" ".join(claim.split()),
        citing=text_of(row, "citing", place, id),
        document=text_of(row, "document", place, "" if paper is None else str(paper)) or id,
        # The claim itself, found in the document, backs nothing.
        sentences=tuple(each for each in sentences if each.text.strip() and fold(each.text) != same),
        gold=marked["gold"],
        related=marked["related"],
    )


@lru_cache(maxsize=8)  # claims about one paper stand together, most often
def _of_paper(path: Path) -> tuple[Option, ...]:
    """The sentences of a paper's own prose, by their places in it."""
    document = read_document(path)
    return tuple(
        Option(at, sentence.text)
        for at, sentence in enumerate(document.sentences)
        if sentence.kind == "prose" and sum(map(str.isalpha, _initials(sentence.text))) >= _SHORTEST
    )


def _initials(text: str) -> list[str]:
    return [word[0] for word in text.split()]
