"""What a paper is cited for, and that what is no claim is not judged."""

from pathlib import Path

import numpy as np
import pytest

from whycite.evidence.citationfunctions import (
    FUNCTIONS,
    citation_functions,
    make_function_weights,
    shipped_function_weights,
    sign_names,
)
from whycite.models import load_encoder

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
