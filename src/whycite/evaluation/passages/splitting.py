"""Parts that share no document: whole groups of cases packed to size (the thesis, section 4.3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from whycite.errors import UserError
from whycite.evaluation.drawing import draw
from whycite.evaluation.passages.model import Case
from whycite.packing import joined, packed

__all__ = ["Parts", "apart", "folds", "split"]

_DEV = 0.15


@dataclass(frozen=True, slots=True)
class Parts:
    """Cases to learn from, to choose by, and to report on."""

    train: tuple[Case, ...]
    dev: tuple[Case, ...]
    test: tuple[Case, ...]


def split(cases: Sequence[Case], dev: float = 0.15, test: float = 0.15, seed: int = 0) -> Parts:
    """Parts of about these shares; no document, citing or cited, stands in two of them. The seed decides which."""
    if min(dev, test) <= 0 or dev + test >= 1:
        raise UserError(f"the shares of dev and test must be above 0 and together below 1, not {dev} and {test}")
    groups = draw(_groups(cases), lambda group: group[0].id, len(cases), seed)
    chosen_test, rest = packed(groups, round(test * len(cases)))
    chosen_dev, rest = packed(rest, round(dev * len(cases)))
    if not (chosen_test and chosen_dev and rest):
        raise UserError(f"{len(cases)} cases in {len(groups)} groups that share no document are too few to part")
    return Parts(_in_order(cases, rest), _in_order(cases, chosen_dev), _in_order(cases, chosen_test))


def folds(cases: Sequence[Case], number: int, seed: int = 0) -> list[Parts]:
    """Every case once in a test part, of about equal size; of the others dev gets 15 %. No two parts share a document.

    One fold is the split of the thesis.
    """
    if number == 1:
        return [split(cases, seed=seed)]
    groups = draw(_groups(cases), lambda group: group[0].id, len(cases), seed)
    if not 1 < number <= len(groups):
        raise UserError(f"folds must be from 1 to {len(groups)}, the groups that share no document, not {number}")
    tests: list[list[list[Case]]] = [[] for _ in range(number)]
    for group in sorted(groups, key=len, reverse=True):
        min(tests, key=lambda test: sum(map(len, test))).append(group)
    found = []
    for test in tests:
        rest = [group for group in groups if not any(group is taken for taken in test)]
        dev, train = packed(rest, round(_DEV * sum(map(len, rest))))
        if not (dev and train):
            raise UserError(f"{len(cases)} cases in {len(groups)} groups that share no document are too few to part")
        found.append(Parts(_in_order(cases, train), _in_order(cases, dev), _in_order(cases, test)))
    return found


def apart(cases: Iterable[Case], others: Iterable[Case]) -> list[Case]:
    """The cases that share no document, citing or cited, with the others."""
    taken = {name for other in others for name in (other.citing, other.document)}
    return [case for case in cases if case.citing not in taken and case.document not in taken]


def _groups(cases: Iterable[Case]) -> list[list[Case]]:
    """Cases that are joined by a document, over however many steps."""
    return joined(cases, lambda case: (case.document, case.citing))


def _in_order(cases: Iterable[Case], groups: Iterable[list[Case]]) -> tuple[Case, ...]:
    chosen = {id(case) for group in groups for case in group}
    return tuple(case for case in cases if id(case) in chosen)
