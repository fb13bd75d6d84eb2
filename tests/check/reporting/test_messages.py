"""What reports say of a finding, and of where its evidence stands."""

from dataclasses import replace

import pytest

from whycite.check.findings import CheckedDraft
from whycite.check.reporting import codereview, html
from whycite.check.reporting.messages import byline, draft_places, message, need_phrase
from whycite.cite.recommendations import Evidence
from whycite.library import Paper, SourceDocument


@pytest.mark.parametrize(
    ("worthiness", "said"),
    [(0.29, "may need a citation"), (0.4999, "may need a citation"), (0.5, "needs a citation")],
)
def test_what_is_less_likely_than_not_is_said_with_care(checked: CheckedDraft, worthiness: float, said: str) -> None:
    finding = replace(checked.findings[0], worthiness=worthiness)
    assert need_phrase(finding) == said
    for papers in (finding.recommendations, ()):
        assert message(replace(finding, recommendations=papers)).startswith(f"This sentence {said} (worthiness ")
    one = replace(checked, findings=(finding,))
    assert f"title=whycite%3A {said}::This sentence {said} " in codereview.github([one])
    assert f'"need": "{said}"' in html.report([one])
    assert f"This sentence {said} " in codereview.sarif([one])


def test_evidence_of_the_draft_itself_says_where_it_stands(checked: CheckedDraft) -> None:
    place = draft_places(checked)
    own = SourceDocument("title:on rest", "On rest", None)
    assert place(Evidence("Cats sleep", 0.9, "Cats sleep (Doe 2001).", own)) == "in this draft, main.tex:6"
    assert place(Evidence("Dogs sleep", 0.9, "Dogs sleep.", own)) == "in this draft"
    assert place(Evidence("Cats sleep", 0.9, "Cats sleep.", SourceDocument("title:on rest", "Of rest", 2001))) == ""
    assert '"place": ""' in html.report([checked])


def test_a_rule_is_the_reason_instead_of_the_worthiness(checked: CheckedDraft) -> None:
    finding = replace(checked.findings[0], rule="previous-work", worthiness=0.8)
    assert message(finding).startswith("This sentence needs a citation (previous-work: reports earlier work).")
    one = replace(checked, findings=(finding,))
    assert '"rule": "previous-work: reports earlier work"' in html.report([one])
    assert "needs-citation, 80%, previous-work" in one._repr_html_()
    assert '"rule": ""' in html.report([checked])


@pytest.mark.parametrize(
    ("authors", "year", "venue", "expected"),
    [
        (("Doe, J.",), 2010, "Nature", "Doe (2010), Nature"),
        ((), 2010, "", "(2010)"),
        ((), None, "Nature", "Nature"),
        (("Doe, J.", "Roe, R."), None, "", "Doe and Roe"),
        ((), None, "", ""),
    ],
)
def test_what_is_unknown_of_a_paper_is_left_out(
    authors: tuple[str, ...], year: int | None, venue: str, expected: str
) -> None:
    assert byline(Paper("k", "T", authors, year, venue, "")) == expected
