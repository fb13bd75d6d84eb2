"""The true entry of a masked citation among all entries of its draft."""

from pathlib import Path

import numpy as np
import pytest

import whycite
from tests.fakes import word_encoder
from whycite.check.bibliography import FEATURES
from whycite.lab.train.fitweights import (
    MaskedCitation,
    cross_fit_entries,
    fit_entry_weights,
    mask_citations,
    project_name,
    reciprocal_rank,
)

MD = """\
---
references:
- {id: a, title: Granite walls, issued: 2001}
- {id: b, title: Flowers in the spring, issued: 2002}
---

# Introduction

Walls of granite last [@a]. Flowers bloom [@b; @a]. Nobody knows [@c].
"""


def case(at: int, true: int) -> MaskedCitation:
    features = np.random.default_rng(at).random((5, len(FEATURES)))
    features[true, 0] += 0.8
    return MaskedCitation(f"p{at % 7}", f"d{at % 7}", (true,), features, features[:, 1])


def test_equal_entries_share_the_middle_of_their_places() -> None:
    assert reciprocal_rank(np.array([3.0, 1.0, 1.0, 1.0]), [1]) == 1 / 3
    assert reciprocal_rank(np.array([3.0, 1.0, 2.0]), [1, 2]) == 1 / 2


@pytest.mark.parametrize("name", ["thesis", "thesis-old", "qmd-thesis", "rmd-thesis-old"])
def test_versions_of_a_draft_are_one_project(name: str) -> None:
    assert project_name(name) == "thesis"


def test_every_citation_with_an_entry_is_a_case(tmp_path: Path) -> None:
    (tmp_path / "draft.md").write_text(MD, "utf-8")
    found = mask_citations(whycite.read(tmp_path / "draft.md"), "draft-old", word_encoder())
    assert [(one.project, one.true) for one in found] == [("draft", (0,)), ("draft", (1, 0))]
    assert found[0].bm25.argmax() == 0
    # The entry is cited elsewhere too: that other sentence speaks for it, its own does not.
    assert found[0].features[0, FEATURES.index("section")] == pytest.approx(np.log(2))
    assert found[1].features[1, FEATURES.index("section")] == 0


def test_weights_find_what_tells_the_true_entry() -> None:
    examples = [case(at, at % 5) for at in range(150)]
    weights = fit_entry_weights(examples)
    assert max(weights, key=lambda name: abs(weights[name])) == FEATURES[0]
    assert weights[FEATURES[0]] > 2
    outcome = cross_fit_entries(examples)
    assert outcome.ratio > 1.5
    assert outcome.reciprocal_ranks.mean() > 0.7


@pytest.mark.slow
def test_real_drafts_beat_titles_by_far(data: Path) -> None:
    from whycite.models import load_encoder

    examples = []
    for name in ("bayes-vis", "hogg-straightline", "monero-0005", "lab156-scss", "exoabc", "qmd-labor"):
        examples += mask_citations(whycite.read(data / "drafts" / name), name, load_encoder())
    assert cross_fit_entries(examples).ratio > 1.3
