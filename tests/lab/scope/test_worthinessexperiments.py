"""SCOPE's table 3, and drafts measured by what other drafts teach."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.fakes import FakeDetector, letter_encoder
from whycite.check.calibration import BibliographyWeights
from whycite.check.detector import ParagraphText
from whycite.check.paragraphs import LabelledDocument, LabelledParagraph, LabelledSentence
from whycite.errors import UserError
from whycite.lab.scope.worthinessexperiments import (
    BASELINES,
    ScoredDraft,
    cross_fit,
    fit_decision,
    score_draft,
    worthiness_table,
)
from whycite.lab.scope.worthinessmeasures import best_threshold, split_by_date


def _knowing() -> FakeDetector:
    """A detector that knows: worthy sentences hold the word "shown"."""
    return FakeDetector(lambda text: 0.9 * ("shown" in text), {"": 0.5, "method": 0.99}, name="knowing@1")


def _guessing() -> FakeDetector:
    """A detector that would call all sentences worthy, if it were not for bibliographies."""
    weights = BibliographyWeights(alone=1, shares=0, words=1, shift=-1, threshold=0.65)
    return FakeDetector(lambda text: 0.6, bibliography=weights, name="guessing@1")


def documents(number: int) -> list[LabelledDocument]:
    random = Random(0)

    def sentence() -> LabelledSentence:
        worthy = random.random() < 0.3
        text = f"It is {'shown' if worthy else 'seen'} that {random.choice('abcdef')} holds."
        return LabelledSentence(text, worthy, random.random() < 0.7)

    def paragraph(type: str) -> LabelledParagraph:
        return LabelledParagraph((type,), type, tuple(sentence() for _ in range(3)))

    return [
        LabelledDocument(f"d{at}", "", f"2024-01-{at + 1:02}", tuple(map(paragraph, ["result"] * 4 + ["method"])))
        for at in range(number)
    ]


def test_table_3() -> None:
    pytest.importorskip("scipy")
    said: list[str] = []
    rows = worthiness_table(split_by_date(documents(20), 4, 6), _knowing(), tell=said.append)
    assert {row.method for row in rows} == {*BASELINES, "knowing@1"}
    found = {(row.method, row.kind): row for row in rows}
    assert found["chance", "all"].sentences == 6 * 15
    parts = ("conform", "non-conform", "mixed")
    assert sum(found["chance", kind].sentences for kind in parts) == 6 * 15
    assert found["logistic regression", "all"].scores.f1 == 1
    ours = found["knowing@1", "all"].scores
    assert ours.precision == 1
    assert ours.recall < 1  # by its own threshold nothing in methods is worthy
    assert found["class-weighted", "all"].scores.f1 < 0.6
    assert said == ["logistic regression", "knowing@1"]


def test_table_3_with_bibliographies() -> None:
    pytest.importorskip("scipy")
    listed = [replace(each, titles=("What has been shown", "Mice", "Rats", "Bees", "Ants")) for each in documents(20)]
    rows = worthiness_table(split_by_date(listed, 4, 6), _guessing(), letter_encoder())
    found = {row.method: row.scores for row in rows if row.kind == "all"}
    assert found["guessing@1"].recall == 1 > found["guessing@1"].precision
    informed = found["guessing@1, with the titles of the bibliography"]
    assert informed.recall == informed.precision == 1  # what a title says was asked for, and nothing else
    without = worthiness_table(split_by_date(documents(20), 4, 6), _guessing(), letter_encoder())
    same = {row.method: row.scores for row in without if row.kind == "all"}
    assert same["guessing@1"].recall == 1
    assert same["guessing@1, with the titles of the bibliography"].recall == 0  # the threshold is that of all documents


def with_signs(alone: list[ScoredDraft]) -> list[ScoredDraft]:
    """Drafts whose bibliographies tell what is worthy; the first has none."""
    chance = np.random.default_rng(1)
    told = [
        replace(each, signs=np.column_stack([np.where(each.worthy, 0.0, -4.0), chance.normal(size=200)]))
        for each in alone
    ]
    return [replace(told[0], signs=np.full((200, 2), np.nan)), *told[1:]]


def test_drafts_with_bibliographies_are_decided_by_others() -> None:
    alone = drafts(apart=0.5)
    assert cross_fit(alone).all.f1 < 0.6
    found = cross_fit(with_signs(alone))
    assert {draft.name: scores.f1 > 0.9 for draft, scores in found.by_draft} == {
        f"p{at}": at > 0 for at in range(6)
    }  # fmt: skip


def test_a_draft_without_titles_has_no_signs() -> None:
    def scores(paragraphs: Sequence[ParagraphText]) -> list[NDArray[np.float64]]:
        return [np.zeros(len(each.sentences)) for each in paragraphs]

    detector: Any = SimpleNamespace(scores=scores, probabilities=lambda found: np.full(len(found), 0.5))
    (document, *_) = documents(1)
    made = score_draft("a", "a", document, detector, letter_encoder())
    assert made.signs is not None
    assert made.signs.shape == (len(document.texts), 2)
    assert np.isnan(made.signs).all()
    assert score_draft("a", "a", document, detector).signs is None
    titles = replace(document, titles=("What has been shown", *"abcdefghij"))
    told = score_draft("a", "a", titles, detector, letter_encoder()).signs
    assert told is not None
    assert not np.isnan(told).any()


def test_one_threshold_with_and_without_a_bibliography() -> None:
    told = with_signs(drafts(apart=1.5))
    found, others = fit_decision(told), fit_decision(told[1:])
    assert found.bibliography is not None
    assert others.bibliography is not None
    informed = [
        found.bibliography.informed_worthiness(found.calibration.probabilities(each.scores), each.signs)  # type: ignore[arg-type]
        for each in told
    ]
    worthy = np.concatenate([each.worthy for each in told])
    assert found.bibliography.threshold == best_threshold(worthy, np.concatenate(informed))
    assert found.bibliography.threshold != others.bibliography.threshold


def drafts(shift: float = 0.0, apart: float = 4.0) -> list[ScoredDraft]:
    chance = np.random.default_rng(0)
    made = []
    for at in range(6):
        worthy = chance.random(200) < 0.2
        scores = np.where(worthy, 0.0, -apart) + chance.normal(0, 1, 200) + shift
        texts = tuple(f"The cells of {at} are in the blood of mice now." for _ in worthy)
        made.append(ScoredDraft(f"p{at}", f"p{at // 2}", texts, worthy, scores, worthy & (chance.random(200) < 0.3)))
    return made


def test_drafts_are_decided_by_others() -> None:
    for shift in (0.0, 5.0):  # calibration takes care of it
        found = cross_fit(drafts(shift))
        assert found.all.f1 > 0.9
        assert found.english == found.all
        assert len(found.by_draft) == 6


def test_a_decision_gives_the_share_that_is_there() -> None:
    made = drafts(2.0, apart=1.0)
    found = fit_decision(made)
    probabilities = np.concatenate([found.calibration.probabilities(each.scores) for each in made])
    worthy = np.concatenate([each.worthy for each in made])
    assert probabilities.mean() == pytest.approx(worthy.mean(), abs=0.03)


def test_other_languages_are_counted_apart() -> None:
    foreign = ScoredDraft(
        "q", "q", ("Les cellules sont dans la souris.",) * 4, np.array([True] * 4), np.full(4, -9.0), np.zeros(4, bool)
    )
    found = cross_fit([*drafts(), foreign])
    assert found.english.f1 > found.all.f1
    assert found.english == cross_fit(drafts()).all  # nothing is learned from it


def test_mistakes() -> None:
    with pytest.raises(UserError, match="two projects"):
        cross_fit(drafts()[:2])
    with pytest.raises(UserError, match="drafts with citations"):
        fit_decision([])
