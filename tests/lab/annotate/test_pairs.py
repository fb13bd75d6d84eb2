"""Data sets out of comparisons, their parts, and orders."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.lab.toys import make_tasks, simulate_labels
from whycite.errors import UserError
from whycite.lab.annotate.pairs import (
    DATASETS,
    PARTS,
    SentencePair,
    as_dict,
    assign_parts,
    balanced_ranks,
    build_datasets,
    rank_sentences,
    split,
    swap_evenly,
)
from whycite.lab.annotate.tasks import TaskOption
from whycite.lab.evaluate.comparison import group_by_names, order_by_lot, pack_groups

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whycite.lab.annotate.tasks import LabellingTask


def split_majority(
    tasks: Mapping[str, LabellingTask],
    answered: Mapping[str, Mapping[str, str]],
    dev: float = 0.15,
    test: float = 0.15,
    seed: int = 0,
) -> dict[str, dict[str, list[SentencePair]]]:
    datasets = build_datasets(tasks, answered)
    return split(datasets, assign_parts(datasets["majority"], dev, test, seed), seed)


def test_data_sets_by_how_sure_the_vote_was() -> None:
    known = make_tasks(4)
    known["t0"] = replace(known["t0"], discarded=(TaskOption(7, "Far."), TaskOption(8, "Farther.")))
    known["t1"] = replace(
        known["t1"], claim="Claim 0.", document="cited 0", options=(TaskOption(0, "S0."), TaskOption(5, "S5."))
    )
    answered = {
        "t0": dict(zip("abcde", "11111", strict=True)),  # 0 beats 1
        "t1": dict(zip("abcde", "22221", strict=True)),  # 5 beats 0
        "t2": dict(zip("abcde", "11122", strict=True)),
    }
    found = build_datasets(known, answered)
    assert tuple(found) == DATASETS
    assert {name: len(pairs) for name, pairs in found.items()} == {
        "majority": 3, "high-majority": 2, "unanimous": 1, "augmented": 3,
    }  # fmt: skip
    # Sentence 0 was once the worse one: only those that never were are set against what was discarded.
    known["t1"] = replace(known["t1"], discarded=known["t0"].discarded)
    added = [pair for pair in build_datasets(known, answered)["augmented"] if not pair.is_labelled]
    assert [(pair.first_option.index, pair.second_option.index, pair.label) for pair in added] == [
        (5, 7, "1"),
        (5, 8, "1"),
    ]
    assert len({pair.id for pair in build_datasets(known, answered)["augmented"]}) == 5


def test_parts_share_no_document_and_are_balanced() -> None:
    tasks, answered = simulate_labels([3.0] * 5, number=400)
    # Documents that several claims cite, and citing documents with several claims.
    tasks = {
        id: replace(task, citing=f"citing {at // 3}", document=f"cited {at % 150}", discarded=(TaskOption(9, "Far."),))
        for at, (id, task) in enumerate(tasks.items())
    }
    parted = split_majority(tasks, answered, seed=3)
    assert tuple(parted) == DATASETS
    for name, parts in parted.items():
        seen = [{n for pair in parts[part] for n in (pair.citing, pair.document)} for part in PARTS]
        assert not seen[0] & seen[1] | seen[0] & seen[2] | seen[1] & seen[2], name
        for pairs in parts.values():
            firsts = sum(pair.label == "1" for pair in pairs)
            assert abs(2 * firsts - len(pairs)) <= 1
    assert split_majority(tasks, answered, seed=3) == parted


def test_sizes_are_those_asked_for() -> None:
    tasks, answered = simulate_labels([3.0] * 3, number=200)
    parts = split_majority(tasks, answered)["majority"]
    assert {part: len(pairs) for part, pairs in parts.items()} == {"train": 140, "dev": 30, "test": 30}
    again = split_majority(tasks, answered, seed=1)["majority"]
    assert {pair.id for pair in again["test"]} != {pair.id for pair in parts["test"]}


def test_swapping_keeps_what_is_better() -> None:
    pairs = build_datasets(*simulate_labels([3.0] * 3, number=31))["majority"]
    even = swap_evenly(pairs)
    for before, after in zip(pairs, even, strict=True):
        better = [(pair.first_option, pair.second_option)[int(pair.label) - 1] for pair in (before, after)]
        assert better[0] == better[1]
        assert {after.first_option, after.second_option} == {before.first_option, before.second_option}
    assert sum(pair.label == "1" for pair in even) == 16
    assert as_dict(even[0])["options"][0] == {"index": even[0].first_option.index, "text": even[0].first_option.text}


def test_too_little_to_part() -> None:
    tasks, answered = simulate_labels([3.0] * 3, number=2)
    with pytest.raises(UserError, match=r"in \d+ groups? without a document in common, cannot be parted"):
        split_majority(tasks, answered)
    with pytest.raises(UserError, match="add up to less than 1"):
        split_majority(tasks, answered, 0.5, 0.5)


def pair(better: int, worse: int, claim: str = "Claim.") -> SentencePair:
    return SentencePair(
        f"{better}-{worse}", claim, TaskOption(worse, f"S{worse}"), TaskOption(better, f"S{better}"), "2", "a", "b", 1.0
    )


def test_ranks_by_hand() -> None:
    assert balanced_ranks([(1, 2), (1, 3), (2, 3)]) == {1: 2, 2: 0, 3: -2}
    (ranked,) = rank_sentences([pair(1, 2), pair(1, 3), pair(3, 4)])
    assert [(option.index, score) for option, score in ranked.order] == [(1, 2), (3, 0), (2, -1), (4, -1)]
    assert ranked.order[0][0].text == "S1"
    assert len(rank_sentences([pair(1, 2), pair(1, 2, "Another.")])) == 2


@given(st.permutations(range(8)))
def test_all_comparisons_of_an_order_give_it_back(order: list[int]) -> None:
    scores = balanced_ranks((better, worse) for at, better in enumerate(order) for worse in order[at + 1 :])
    assert sorted(scores, key=lambda item: -scores[item]) == order


def test_some_noisy_comparisons_give_nearly_the_order() -> None:
    random = np.random.default_rng(0)
    comparisons = []
    for better in range(60):
        for worse in range(better + 1, 60):
            if random.random() < 0.5:
                comparisons.append((better, worse) if random.random() < 0.9 else (worse, better))
    scores = balanced_ranks(comparisons)
    found = np.argsort([-scores[item] for item in range(60)])
    assert np.corrcoef(found, np.arange(60))[0, 1] > 0.9


names = st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=3).map(tuple), max_size=20)


@given(names)
def test_groups_share_no_name_and_hold_everything(named: list[tuple[str, ...]]) -> None:
    things = list(enumerate(named))
    groups = group_by_names(things, lambda thing: thing[1])
    assert sorted(thing for group in groups for thing in group) == things
    held = [{name for _, given in group for name in given} for group in groups]
    assert sum(map(len, held)) == len(set().union(*held)) if held else True


@given(st.lists(st.integers(1, 9), max_size=12), st.integers(0, 40))
def test_packing_fills_as_well_as_can_be(sizes: list[int], size: int) -> None:
    groups = [[at] * number for at, number in enumerate(sizes)]
    chosen, rest = pack_groups(groups, size)
    assert sorted([*chosen, *rest]) == sorted(groups)
    reachable = {0}
    for number in sizes:
        reachable |= {total + number for total in reachable}
    assert sum(map(len, chosen)) == max(total for total in reachable if total <= size)


def test_lots_hang_on_seed_and_name() -> None:
    things = [str(number) for number in range(50)]
    assert order_by_lot(things, str, 1) == order_by_lot(reversed(things), str, 1) != order_by_lot(things, str, 2)
