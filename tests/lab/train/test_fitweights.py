"""Chances and bars that tell right papers from wrong ones."""

import tomllib
from pathlib import Path

import numpy as np
import pytest

import whycite
from tests.fakes import FakeEncoder, FakeLibrary, word_encoder
from whycite.cite.evidence_sum import EvidenceSum
from whycite.cite.fit import SIGNS, FitSigns, FitWeights, InsertionWeights, fit_chance
from whycite.errors import UserError
from whycite.lab.ilciter.workspace import ClaimCase
from whycite.lab.train.fitweights import (
    FitCase,
    cross_fit,
    draft_cases,
    figures,
    fit_bar,
    fit_insertion,
    fit_weights,
    library_cases,
    move_bar,
    write_weights,
)

MD = """\
---
references:
- {id: a, title: Granite walls, issued: 2001}
- {id: b, title: Flowers in the spring, issued: 2002}
- {id: c, title: Bees of the north, issued: 2003}
---

# Introduction

Walls of granite last [@a]. Flowers bloom in spring [@b; @a]. Bees sleep [@c]. Nobody knows [@d].
"""


def signs(meaning: float) -> FitSigns:
    return FitSigns(meaning, 0.0, 0.0, 0.0, 0.0)


def case(number: int) -> FitCase:
    """A claim whose right paper is near, except for every fourth."""
    random = np.random.default_rng(number)
    meanings = np.array([0.8 if number % 4 else 0.5, 0.5, 0.4]) + random.normal(0, 0.05, 3)
    true = np.array([True, False, False])
    remote = (signs(0.1),)
    return FitCase(f"p{number % 5}", f"d{number % 5}", true, tuple(map(signs, meanings)), 5 * meanings, remote)


CASES = [case(number) for number in range(100)]


def test_near_papers_get_a_high_chance_and_the_bar_is_between() -> None:
    weights = fit_weights(CASES)
    assert weights.weights["meaning"] > 5
    bar = fit_bar(CASES, weights)
    assert fit_chance(signs(0.4), weights) < bar < fit_chance(signs(0.8), weights)
    assert fit_chance(signs(0.1), weights) < 0.1
    silent = sum(max(case.chances(weights)) < bar for case in CASES)
    assert silent == 12  # of a hundred that have the right paper


def test_a_moved_bar_decides_as_before() -> None:
    weights = fit_weights(CASES)
    bar = fit_bar(CASES, weights)
    moved = move_bar(weights, bar, 0.3)
    assert fit_bar(CASES, moved) == pytest.approx(0.3, abs=1e-3)
    assert figures(CASES, moved, 0.3) == figures(CASES, weights, bar)


def test_what_is_inserted_is_right_often_enough() -> None:
    near = [one for one in CASES if one.share < 0.55]
    wrong = [FitCase(one.project, one.source, ~one.true, one.signs, one.scores) for one in [*near, *near, *near]]
    weights = fit_weights(CASES)
    insertion = fit_insertion([*CASES, *wrong], weights)
    found = figures([*CASES, *wrong], weights, 0.0, insertion)
    assert 0 < found.inserted < found.claims
    assert found.right >= 0.75 * found.inserted


def test_figures_count_claims() -> None:
    weights = FitWeights(dict.fromkeys(SIGNS, 0.0) | {"meaning": 10.0}, -6.0)
    present = FitCase("p", "d", np.array([False, True]), (signs(0.7), signs(0.5)), np.array([2.0, 0.0]))
    absent = FitCase("p", "d", np.array([True]), (signs(0.3),), np.array([1.0]))
    surely = InsertionWeights(1.0, 0.0, 0.0, 0.0, 0.5)
    found = figures([present, absent], weights, 0.5, surely)
    assert (found.claims, found.shown, found.shown_silent, found.without_silent) == (2, 2, 1, 1)
    assert (found.inserted, found.right) == (1, 0)


def test_each_project_is_measured_by_others() -> None:
    found = cross_fit(CASES)
    assert found.claims == found.shown == 100
    assert found.without_silent > 50
    assert found.shown_silent < 20
    with pytest.raises(UserError, match="too few claims"):
        fit_weights([one.without_true() for one in CASES])


def test_the_citations_of_drafts_are_cases(tmp_path: Path) -> None:
    documents = []
    for name in ("one", "two", "one-old"):
        (tmp_path / f"{name}.md").write_text(MD, "utf-8")
        documents.append((name, whycite.read(tmp_path / f"{name}.md")))
    cases = draft_cases(documents, word_encoder())
    assert sorted((one.project, one.source) for one in cases) == sorted(
        (project, draft) for project, draft in (("one", "one"), ("two", "two"), ("one", "one-old")) for _ in range(3)
    )
    assert sorted(one.true.sum() for one in cases[:3]) == [1, 1, 2]
    assert all(len(one.signs) == 3 for one in cases)
    assert all(len(one.without_true().signs) == 3 - one.true.sum() for one in cases)


def test_the_claims_of_a_topic_are_cases() -> None:
    library = FakeLibrary()
    library.cite("cells divide", "a", cosine=0.9)
    library.cite("cells grow", "b", cosine=0.2)
    claims = [ClaimCase(f"{truth}", "Cells divide", 0, None, "0", 0, truth) for truth in (("a",), ())]
    answered, unanswered = library_cases(EvidenceSum(library, FakeEncoder()), claims, "Cells")
    assert answered.true.tolist() == [True, False]
    assert answered.signs[0].meaning == pytest.approx(0.9)
    assert answered.remote == (answered.signs[1],)
    assert not unanswered.true.any()


def test_weights_are_written_as_they_are_read(tmp_path: Path) -> None:
    weights = FitWeights(dict.fromkeys(SIGNS, 0.5), -1.25)
    insertion = InsertionWeights(1.0, -1.0, 0.5, 0.25, 0.75)
    write_weights(tmp_path / "fit.toml", weights, weights, 0.3, insertion, "a command")
    tables = tomllib.loads((tmp_path / "fit.toml").read_text("utf-8"))
    assert tables["bar"] == 0.3
    assert tables["library"] == tables["bibliography"] == dict.fromkeys(SIGNS, 0.5) | {"bias": -1.25}
    assert InsertionWeights(**tables["insertion"]) == insertion
