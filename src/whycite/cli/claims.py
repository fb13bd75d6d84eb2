"""Claims as users give them: as options, or as the records of a batch."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from whycite.errors import UserError

if TYPE_CHECKING:
    from whycite.recommend import Claim

__all__ = ["Query", "claim", "query", "section_type"]

_LONGEST = 10_000  # characters of a claim
_EXPECTED = 'expected a JSON object such as {"id": "1", "text": "the claim"}'


@dataclass(frozen=True, slots=True)
class Query:
    """A claim of a batch, under the name its answer is given."""

    id: str | int | float
    claim: Claim


def claim(text: str, **around: Any) -> Claim:
    """The claim with what is known around it, if it can be answered."""
    from whycite.recommend import Claim

    text = " ".join(text.split())
    if len(text) > _LONGEST:
        raise UserError(f"the claim has {len(text):,} characters; give a sentence or a few, {_LONGEST:,} at most")
    return Claim(text, **around)


def section_type(name: str | None) -> str | None:
    """The section type that a user names, by itself or by a heading that means it."""
    from whycite import structure

    return None if name is None else structure.type_named(name)


def query(line: str, place: str, around: Mapping[str, Any]) -> Query:
    """The claim in a line of a batch; what the line does not say of the draft is taken from `around`."""
    from whycite import structure

    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{place}: not JSON; {_EXPECTED}") from error
    if not isinstance(record, dict):
        raise UserError(f"{place}: {_EXPECTED}")
    for key in ("id", "text"):
        if record.get(key) is None:
            raise UserError(f'{place}: "{key}" is missing; {_EXPECTED}')
    given = {key: _field(record, key, place) for key in _KINDS if record.get(key) is not None}
    known = dict(around) | {key: given[key] for key in ("title", "paragraph") if key in given}
    if "section" in given:  # a heading that means no type says nothing
        known["section_type"] = structure.section_type(given["section"])
    if "cited" in given:
        known["cited"] = tuple(given["cited"])
    if "year" in given:
        known["year"] = min(given["year"], around.get("year") or given["year"])
    try:
        return Query(given["id"], claim(given["text"], **known))
    except UserError as error:
        raise UserError(f"{place}: {error}") from error


def _field(record: dict[str, Any], key: str, place: str) -> Any:
    kind, right = _KINDS[key]
    if not right(record[key]):
        raise UserError(f'{place}: "{key}" must be {kind}, not {json.dumps(record[key])[:40]}')
    return record[key]


def _is_text(value: object) -> bool:
    return isinstance(value, str)


_KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "id": ("a name or a number", lambda value: type(value) in (str, int, float) and value != ""),
    "text": ("a string", _is_text),
    "title": ("a string", _is_text),
    "section": ("a string", _is_text),
    "paragraph": ("a string", _is_text),
    "cited": ("a list of keys", lambda value: isinstance(value, list) and all(map(_is_text, value))),
    "year": ("a whole number", lambda value: type(value) is int),
}
