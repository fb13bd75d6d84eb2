"""What rows of data sets hold, in forms that several of them share."""

from __future__ import annotations

from typing import Any

from whycite.documents.jsontext import as_dict, as_list, as_text

__all__ = ["numbers", "rationales", "texts"]


def texts(value: object) -> tuple[str, ...]:
    """The strings of a list."""
    return tuple(map(as_text, as_list(value)))


def numbers(value: object) -> frozenset[int]:
    """The whole numbers of a list."""
    return frozenset(number for number in as_list(value) if isinstance(number, int))


def rationales(row: dict[str, Any]) -> dict[str, tuple[tuple[frozenset[int], ...], str]]:
    """In rows of SciFact's form: the rationales of each document, each a set of sentences, and the label."""
    found: dict[str, tuple[tuple[frozenset[int], ...], str]] = {}
    for document, given in as_dict(row.get("evidence")).items():
        marked = [as_dict(rationale) for rationale in as_list(given)]
        sets = tuple(filter(None, (numbers(rationale.get("sentences")) for rationale in marked)))
        found[document] = sets, next((as_text(rationale.get("label")) for rationale in marked), "")
    return found
