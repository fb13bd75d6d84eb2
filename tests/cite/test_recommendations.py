"""What a claim may be, and which papers it may have."""

import pytest

from whycite.cite.recommendations import Claim, check_number, is_allowed
from whycite.errors import UserError
from whycite.library import Paper


@pytest.mark.parametrize("text", ["", "  \n\t", "… !?", "\u200b", "→"])
def test_a_claim_without_a_word(text: str) -> None:
    with pytest.raises(UserError, match="the claim has no words"):
        Claim(text)


@pytest.mark.parametrize("text", ["R", "細胞は分裂する", "α", "عقد", "42", "e\u0301"])
def test_any_script_makes_a_claim(text: str) -> None:
    assert Claim(text).text == text


@pytest.mark.parametrize("n", [0, -3])
def test_no_recommendations(n: int) -> None:
    with pytest.raises(UserError, match=f"must be 1 or more, not {n}"):
        check_number(n)


@pytest.mark.parametrize(
    ("year", "limit", "expected"),
    [(2010, None, True), (2010, 2010, True), (2011, 2010, False), (None, 2010, True), (None, None, True)],
)
def test_no_paper_newer_than_the_limit(year: int | None, limit: int | None, expected: bool) -> None:
    assert is_allowed(Paper("k", "Title", (), year, "", ""), Claim("cells", year=limit)) is expected


@pytest.mark.parametrize(
    ("title", "draft", "expected"),
    [
        ("A study of cells", "A Study of Cells.", False),
        ("A study of cells", "A study of stars", True),
        ("", "", True),
        ("A study of cells", "", True),
        ("", "A study of cells", True),
    ],
)
def test_the_draft_is_not_recommended_for_itself(title: str, draft: str, expected: bool) -> None:
    assert is_allowed(Paper("k", title, (), None, "", ""), Claim("cells", title=draft)) is expected
