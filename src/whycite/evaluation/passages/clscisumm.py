"""CL-SciSumm: citing sentences of NLP papers, and the sentences of the cited paper that annotators marked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whycite.documents.jsontext import as_dict, as_list, as_text
from whycite.errors import UserError
from whycite.evaluation.passages.claims import claim_of, says_something
from whycite.evaluation.passages.model import Case
from whycite.evaluation.passages.rows import numbers
from whycite.evaluation.rows import read

__all__ = ["load", "load_automatic"]

_AGREEING = 0.5  # overlap of the copied text and the sentences that the ids name; below, the ids are doubtful


@dataclass(frozen=True, slots=True)
class _Document:
    sentences: tuple[str, ...]
    sections: tuple[str, ...]
    places: dict[int, int]  # by the number a sentence has in the data set


def load(folder: Path) -> list[Case]:
    """The cases marked by people; rows whose ids and copied text disagree are left out."""
    return list(_cases(folder, "train.jsonl", "train-documents.jsonl", "clscisumm"))


def load_automatic(folder: Path) -> list[Case]:
    """The cases whose gold was found by likeness of words, two sentences each: for training, and noisy at that."""
    return list(_cases(folder, "auto-scisummnet.jsonl", "auto-documents.jsonl", "clscisumm-automatic"))


def _cases(folder: Path, rows: str, documents: str, dataset: str) -> Iterator[Case]:
    known = {as_text(row.get("paper_id")): _document(row) for row in read(folder, documents)}
    for row in read(folder, rows):
        agreement = row.get("offset_text_jaccard", 1.0)
        claim = claim_of(as_text(row.get("citance")))
        if not isinstance(agreement, int | float) or agreement < _AGREEING or not says_something(claim):
            continue
        id, cited = as_text(row.get("citance_id")), as_text(row.get("topic"))
        document = known.get(cited)
        marked = numbers(row.get("gold_sids"))
        if document is None or not marked <= document.places.keys():
            raise UserError(f"{folder}: {rows} has gold for '{id}' that is not in {documents}")
        if marked:
            yield Case(
                id=id,
                dataset=dataset,
                claim=claim,
                citing=as_text(row.get("citing_paper")),
                document=cited,
                sentences=document.sentences,
                gold=frozenset(document.places[number] for number in marked),
                sections=document.sections,
            )


def _document(row: dict[str, Any]) -> _Document:
    sentences = [as_dict(sentence) for sentence in as_list(row.get("sentences"))]
    return _Document(
        tuple(as_text(sentence.get("text")) for sentence in sentences),
        tuple(as_text(sentence.get("section")) for sentence in sentences),
        {number: at for at, sentence in enumerate(sentences) if isinstance(number := sentence.get("sid"), int)},
    )
