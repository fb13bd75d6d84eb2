"""Headings without numbering, case, punctuation and plurals."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.thoroughness import MAX_SECONDS, scaled
from whycite.structure.synonyms import HeadingPart, normalise_heading, split_heading


@pytest.mark.parametrize(
    ("heading", "normal"),
    [
        ("2.1 Materials & Methods", "material and method"),
        ("II. METHODS", "method"),
        ("IV.1 Data", "data"),
        ("A. Proofs", "proof"),
        ("B.2 Data", "data"),
        ("(3) Results", "result"),
        ("2a) Results", "result"),
        ("§4 Discussion", "discussion"),
        ("1 - Introduction", "introduction"),
        ("1Introduction", "introduction"),
        ("Chapter 3: Results", "result"),
        ("Chapter Three. Results", "result"),
        ("Kapitel 2 Grundlagen", "grundlagen"),
        ("Appendix B", "appendix"),
        ("Experiment 1", "experiment"),
        ("Our Approach", "approach"),
        ("State-of-the-Art", "state of the art"),
        ("Author's contributions", "author contribution"),
        ("Authors’ contributions", "author contribution"),
        ("Conclusion, Limitations and Future Work", "conclusion limitation and future work"),
        ("Results/Discussion.", "result and discussion"),
        ("STAR★Methods", "star method"),
        ("3D reconstruction", "3d reconstruction"),
        ("MIX results", "mix result"),
        ("2.", "2"),
        ("", ""),
    ],
)
def test_normalise(heading: str, normal: str) -> None:
    assert normalise_heading(heading) == normal


def test_parts() -> None:
    assert split_heading("2 Data, variables and the methods: an overview") == [
        HeadingPart(("data",), subtitle=False),
        HeadingPart(("variable",), subtitle=False),
        HeadingPart(("method",), subtitle=False),
        HeadingPart(("overview",), subtitle=True),
    ]


_PIECES = "the a 1 2. 3D 4Data 2a. II A. 3) of results methods and , & : chapter part three ies eses 's É ß İ".split()


@given(st.one_of(st.text(max_size=40), st.lists(st.sampled_from(_PIECES), max_size=12).map(" ".join)))
def test_what_is_normal_stays_so(heading: str) -> None:
    assert normalise_heading(normalise_heading(heading)) == normalise_heading(heading)


@pytest.mark.parametrize("piece", ["1 ", "1.", "the ", "chapter one ", "and ", "'", "I", "(", ": ", "é"])
def test_time_is_bounded(piece: str) -> None:
    heading = piece * (scaled(1_000_000) // len(piece))
    start = time.process_time()
    normalise_heading(heading)
    split_heading(heading)
    assert time.process_time() - start < MAX_SECONDS
