"""Splits: nothing is lost, no document is shared, and parts are as large as they can be."""

from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whycite.errors import UserError
from whycite.lab.thesis import datasets
from whycite.lab.thesis.datasets import PassageCase
from whycite.lab.thesis.experiment import CaseSplit, folds, split, without_shared_documents


def case(id: int, citing: str, document: str) -> PassageCase:
    return PassageCase(f"{id}", "made", "claim", citing, document, ("sentence",), frozenset({0}))


def names(cases: tuple[PassageCase, ...]) -> set[str]:
    return {name for case in cases for name in (case.citing, case.document)}


def sizes(parts: CaseSplit) -> list[int]:
    return [len(parts.train), len(parts.dev), len(parts.test)]


def check(cases: list[PassageCase], parts: CaseSplit) -> None:
    every = (parts.train, parts.dev, parts.test)
    assert sorted(case.id for part in every for case in part) == sorted(case.id for case in cases)
    for first, second in combinations(every, 2):
        assert not names(first) & names(second)


DOCUMENTS = st.integers(0, 60).map(str)


@given(st.lists(st.tuples(DOCUMENTS, DOCUMENTS), min_size=1, max_size=60), st.integers(0, 3))
def test_no_document_in_two_parts(links: list[tuple[str, str]], seed: int) -> None:
    cases = [case(id, citing, document) for id, (citing, document) in enumerate(links)]
    try:
        parts = split(cases, seed=seed)
    except UserError:
        return
    check(cases, parts)
    assert len(parts.dev) <= round(0.15 * len(cases))
    assert len(parts.test) <= round(0.15 * len(cases))
    assert split(cases, seed=seed) == parts


@given(st.lists(st.tuples(DOCUMENTS, DOCUMENTS), min_size=1, max_size=60), st.integers(2, 4))
def test_folds_test_every_case_once(links: list[tuple[str, str]], number: int) -> None:
    cases = [case(id, citing, document) for id, (citing, document) in enumerate(links)]
    try:
        found = folds(cases, number)
    except UserError:
        return
    for parts in found:
        check(cases, parts)
    assert sorted(case.id for parts in found for case in parts.test) == sorted(case.id for case in cases)


def test_folds_are_of_like_size() -> None:
    cases = [case(id, f"x{id}", f"y{id // 2}") for id in range(60)]
    assert [sizes(parts) for parts in folds(cases, 5)] == [[42, 6, 12]] * 5
    assert folds(cases, 1) == [split(cases)]
    with pytest.raises(UserError, match="folds must be between 1 and 30"):
        folds(cases, 31)


def test_groups_fill_the_parts() -> None:
    """Of groups of 9, 6, 5, 4 and many of 2 cases, 15 of 100 need an odd one."""
    groups = [9, 6, 5, 4, *[2] * 38]
    cases: list[PassageCase] = []
    for group, size in enumerate(groups):
        cases += [case(len(cases) + at, f"citing {group} {at}", f"cited {group}") for at in range(size)]
    for seed in range(5):
        parts = split(cases, seed=seed)
        check(cases, parts)
        assert sizes(parts) == [70, 15, 15]


def test_citing_and_cited_names_are_of_one_kind() -> None:
    """a cites b and b cites c: what stands on either side is the same paper."""
    chain = [case(0, "a", "b"), case(1, "b", "c")]
    others = [case(id, f"x{id}", f"y{id}") for id in range(2, 20)]
    for seed in range(8):
        parts = split([*chain, *others], seed=seed)
        assert any(set(chain) <= set(part) for part in (parts.train, parts.dev, parts.test))


def test_the_seed_decides() -> None:
    cases = [case(id, f"x{id}", f"y{id}") for id in range(40)]
    assert split(cases, seed=1) != split(cases, seed=0)
    assert split(cases[::-1], seed=0).test == split(cases, seed=0).test[::-1]


def test_apart() -> None:
    cases = [case(0, "a", "b"), case(1, "c", "d"), case(2, "e", "f"), case(3, "g", "h")]
    assert without_shared_documents(cases, [case(9, "b", "z"), case(8, "y", "c")]) == cases[2:]


def test_mistakes() -> None:
    with pytest.raises(UserError, match="cannot split 2 cases in 1 groups"):
        split([case(0, "a", "b"), case(1, "c", "b")])
    with pytest.raises(UserError, match=r"add up to less than 1, not 0\.5 and 0\.5"):
        split([], 0.5, 0.5)
    with pytest.raises(UserError, match=r"above 0 and add up to less than 1, not 0\.0 and 0\.15"):
        split([], 0.0)


def test_real_cases(data: Path) -> None:
    for cases in (datasets.load_clscisumm(data / "clscisumm"), datasets.load_scifact(data / "scifact")):
        parts = split(cases)
        check(cases, parts)
        for size, share in zip(sizes(parts), (0.7, 0.15, 0.15), strict=True):
            assert size == pytest.approx(share * len(cases), abs=2)
