"""Citations of a draft that claim nothing are not judged."""

import json
from pathlib import Path

import pytest

from whycite.evidence.citationfunctions import citation_functions
from whycite.verify import drafts

DRAFT = """\
---
title: A draft
references:
- {id: kaiser, title: "Busy bees need rest, too", author: [{family: Kaiser}], issued: 1988, DOI: 10.1000/bees}
- {id: roe, title: A paper that nobody has at hand here, author: [{family: Roe, given: R.}], issued: 2001}
---

Honeybees that forage sleep at night [@kaiser].
Bees were filmed using previously described methods [@kaiser].
We used BLAST [@roe].
For a review, see @kaiser.
"""


@pytest.mark.usefixtures("judged_by_words")
def test_what_is_no_claim_is_not_judged(tmp_path: Path, paper: Path) -> None:
    draft = tmp_path / "draft.md"
    draft.write_text(DRAFT, "utf-8")
    found = [drafts.citation_verdict_json(checked, 1) for checked in drafts.verify_draft(draft, paper.parent)]
    claim, method, tool, pointer = found
    assert (claim["function"], claim["verdict"]) == ("background", "backed")
    for checked in (method, tool):
        assert (checked["function"], checked["verdict"]) == ("method", "could not check")
        assert (checked["reason"], checked["confidence"]) == ("cited for a method, not for a claim", 0.0)
        assert checked["passages"] == []
    assert "missing" not in tool  # nothing waits for its full text
    assert (method["paper"], tool["paper"]) == (str(paper), "")
    assert (pointer["function"], pointer["verdict"]) == ("pointer", "could not check")
    assert pointer["reason"] == "only points to the paper, without a claim"
    json.dumps(found)


@pytest.mark.parametrize(
    ("sentence", "function"),
    [
        (
            "@kaiser created a method based on VGGnet and using the software doc2vec.",
            "background",
        ),  # a claim about what Kaiser did
        ("In @kaiser, the authors created a method based on VGGnet, using the software doc2vec.", "background"),
        ("We used BLAST to find homologous sequences, following @kaiser.", "method"),
        ("As in @kaiser, we used BLAST to find homologous sequences.", "method"),
        ("We used @kaiser's software to find homologous sequences.", "method"),
    ],
)
def test_what_the_cited_authors_did_is_a_claim(tmp_path: Path, sentence: str, function: str) -> None:
    draft = tmp_path / "draft.md"
    draft.write_text(DRAFT.partition("Honeybees")[0] + sentence + "\n", "utf-8")
    assert citation_functions([sentence.replace("@kaiser", "Kaiser")]) == ["method"]  # by its words alone
    assert [checked.function for checked in drafts.verify_draft(draft)] == [function]


def test_no_paper_is_opened_for_a_method(tmp_path: Path, paper: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draft = tmp_path / "draft.md"
    draft.write_text(DRAFT.replace("Honeybees that forage sleep at night", "Reads were aligned with BWA"), "utf-8")

    def refuse(*arguments: object, **options: object) -> None:
        raise AssertionError("a paper was opened")

    monkeypatch.setattr(drafts, "open_full_text", refuse)
    assert {checked.verification.verdict for checked in drafts.verify_draft(draft, paper.parent)} == {"could not check"}
