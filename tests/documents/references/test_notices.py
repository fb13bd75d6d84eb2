"""What titles, notes and dates say of a paper."""

import pytest

from whycite.documents.model import Notice, Publication, Reference
from whycite.documents.references.notices import (
    describe_status,
    is_notice,
    may_state_notice,
    paper_status,
    stated_notices,
)


@pytest.mark.parametrize(
    "title",
    [
        "RETRACTED: Sleep of bees",
        "RETRACTED ARTICLE Sleep of bees",
        "[Retracted] Sleep of bees",
        "Retracted article: Sleep of bees",
        "Retracted – Sleep of bees",
        "WITHDRAWN: Sleep of bees",
        "Sleep of bees (Retracted)",
        "Sleep of bees [Retracted article].",
    ],
)
def test_titles_of_retracted_papers(title: str) -> None:
    assert paper_status(stated_notices(Reference("", title=title))) == "retracted"
    assert not is_notice(Reference("", title=title))
    assert may_state_notice(title)


@pytest.mark.parametrize(
    "title",
    [
        "Retraction: Sleep of bees",
        "Retraction note: Sleep of bees",
        "Retraction notice to “Sleep of bees” [J. Bees 12 (2010)]",
        "Retraction for Doe et al., Sleep of bees",
        "Statement of Retraction: Sleep of bees",
        "Correction: Sleep of bees",
        "Correction to: Sleep of bees",
        "Correction for Doe et al., Sleep of bees",
        "Author Correction: Sleep of bees",
        "Erratum",
        "Erratum to Sleep of bees",
        "Corrigendum: Sleep of bees",
        "Expression of Concern: Sleep of bees",
        "Editorial Expression of Concern",
    ],
)
def test_titles_of_notices(title: str) -> None:
    assert is_notice(Reference("", title=title))
    assert may_state_notice(title)
    assert not stated_notices(Reference("", title=title))


@pytest.mark.parametrize(
    "title",
    [
        "",
        "Retraction of dendrites",
        "Retraction-extension cycles of pili",
        "Retracted wings of bees",
        "Why papers are retracted",
        "Correction of motion in images of bees",
        "Correction for multiple testing",
        "Withdrawal: how smokers feel",
        "Error correction: a review",
        "Errata in the genome of bees",
    ],
)
def test_papers_about_other_things(title: str) -> None:
    assert not is_notice(Reference("", title=title))
    assert not stated_notices(Reference("", title=title))


def test_most_titles_need_no_closer_look() -> None:
    assert not may_state_notice("Busy bees need rest, too")


@pytest.mark.parametrize(
    ("note", "status"),
    [("Retracted in 2015", "retracted"), ("See the expression of concern", "concern"), ("Second edition", "")],
)
def test_notes(note: str, status: str) -> None:
    assert paper_status(stated_notices(Reference("", publication=Publication(note=note)))) == status


def test_a_reinstatement_takes_back_what_came_before_it() -> None:
    retraction, later = Notice("retraction", date="2015-01-01"), Notice("concern", date="2018-01-01")
    reinstatement = Notice("reinstatement", date="2016-01-01")
    assert paper_status([retraction, reinstatement]) == ""
    assert paper_status([retraction, reinstatement, later]) == "concern"
    assert paper_status([retraction, Notice("reinstatement", date="2014-01-01")]) == "retracted"


def test_a_status_in_words_joins_what_sources_know() -> None:
    notices = [
        Notice("retraction", "10.1/n", "2015-10-19", source="PLOS"),
        Notice("retraction", reason="Unreliable data", source="Retraction Watch"),
        Notice("correction", "10.1/c", "2014"),
    ]
    assert describe_status("retracted", notices) == (
        "Retracted 2015-10-19: Unreliable data (doi:10.1/n, according to Retraction Watch)"
    )
    assert describe_status("", notices) == ""
