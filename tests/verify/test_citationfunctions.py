"""What a paper is cited for, and that what is no claim is not judged."""

import json
from pathlib import Path

import numpy as np
import pytest

from whycite.models import load_encoder
from whycite.verify import drafts
from whycite.verify.citationfunctions import (
    FUNCTIONS,
    citation_functions,
    make_function_weights,
    shipped_function_weights,
    sign_names,
)

METHODS = [
    "One million cells were electroporated with previously described constructs.",
    "We used BLAST.",
    "We used BLAST to find homologous sequences.",
    "Reads were aligned with BWA.",
    "RNA was extracted using TRIzol.",
    "Sequences were aligned using MUSCLE version 3.8.",
]
POINTERS = [
    "see Section 2",
    "See Section 2 of Kaiser et al.",
    "For a review, see Doe.",
    "For more details on this scheme, see Doe and Roe.",
    "We refer the reader to Smith et al. for a detailed discussion of the code.",
    "Further details can be found in Doe.",
]
CLAIMS = [
    "Foraging honeybees sleep about seven hours at night.",
    "Aspirin reduces the risk of colorectal cancer.",
    "The scheme proposed by Kaiser halves the cost of sorting.",
    "Cells were treated with rapamycin, which reduced their growth.",
    "Treatment was performed in 40 patients and reduced mortality by half.",
    "Using fMRI, Doe et al. showed that the amygdala responds to fear.",
    "Doe et al. trained a CNN on 1,000 images and reached 95 % accuracy.",
    "Our results are consistent with those of Doe, who found that ants sleep by day.",
    "See that bees sleep at night.",
]


@pytest.mark.parametrize(("claims", "functions"), [(METHODS, {"method"}), (POINTERS, {"pointer"})])
def test_no_claims(claims: list[str], functions: set[str]) -> None:
    assert set(citation_functions(claims)) == functions


def test_claims_are_not_dropped() -> None:
    assert set(citation_functions(CLAIMS)) <= {"background", "result"}
    assert citation_functions([]) == []


def test_real_claims_are_not_dropped(data: Path) -> None:
    """SciFact's are all claims; nearly all sentences of Citation-Integrity are."""
    from whycite.lab.thesis.casefiles import load_cases

    claims = [case.claim for case in load_cases(data / "scifact" / "claims_train.jsonl.zst")[:300]]
    assert set(citation_functions(claims)) <= {"background", "result"}
    citing = [case.claim for case in load_cases(data / "citint" / "claims_dev.jsonl.zst")]
    dropped = [
        claim for claim, function in zip(citing, citation_functions(citing), strict=True) if function == "method"
    ]
    assert len(dropped) <= 0.02 * len(citing)


def test_weights_belong_to_the_encoder() -> None:
    """Fit them again if this fails: python -m whycite.lab.train.functionweights."""
    assert shipped_function_weights().encoder == load_encoder().name


def test_the_bar_decides() -> None:
    names = sign_names()
    columns = np.zeros((load_encoder().encode(["a"]).shape[1] + len(names), len(FUNCTIONS)))
    columns[-len(names) + names.index("we use"), FUNCTIONS.index("method")] = 1.0
    claim = ["We used BLAST."]  # one sign: its chance is e / (e + 2), .576
    for bar, function in ((0.57, "method"), (0.58, "background")):
        weights = make_function_weights(columns, np.zeros(3), bar, "any")
        assert citation_functions(claim, weights) == [function]


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
