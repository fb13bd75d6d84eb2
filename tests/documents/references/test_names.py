"""People's names out of BibTeX and printed lists."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.thoroughness import MAX_SECONDS, scaled
from whycite.documents.references.names import parse_people, person


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("Smith, John", ("Smith, John",)),
        ("John A. Smith", ("Smith, John A.",)),
        ("Jan van der Berg and Ludwig von Beethoven", ("van der Berg, Jan", "von Beethoven, Ludwig")),
        ("Jan Van den Berg", ("Van den Berg, Jan",)),
        ("Smith J, Doe AB", ("Smith, J", "Doe, AB")),
        ("van der Berg JA, Li X", ("van der Berg, JA", "Li, X")),
        ("Smith J.A., Doe K.", ("Smith, J.A.", "Doe, K.")),
        ("J. Smith and K. Doe", ("Smith, J.", "Doe, K.")),
        ("J. Smith, K. Doe and L. Li", ("Smith, J.", "Doe, K.", "Li, L.")),
        ("J.-P. Dupont, A.B.Roe", ("Dupont, J.-P.", "Roe, A.B.")),
        ("Smith, J., Doe, A., & Li, X.", ("Smith, J.", "Doe, A.", "Li, X.")),
        ("Smith, J.; Doe, A. B.", ("Smith, J.", "Doe, A. B.")),
        ("Smith, John, Jane Doe, and Jim Li", ("Smith, John", "Doe, Jane", "Li, Jim")),
        ("John Smith, Jane Doe and Jim Li", ("Smith, John", "Doe, Jane", "Li, Jim")),
        ("Jacob Devlin, Ming-Wei Chang, and Kenton Lee", ("Devlin, Jacob", "Chang, Ming-Wei", "Lee, Kenton")),
        ("García Márquez, Gabriel José", ("García Márquez, Gabriel José",)),
        ("King, Jr., Martin Luther", ("King, Martin Luther Jr.",)),
        ("Martin Luther King Jr.", ("King, Martin Luther Jr.",)),
        ("King, M. L., Jr., & Doe, A.", ("King, M. L. Jr.", "Doe, A.")),
        ("{World Health Organization}", ("World Health Organization",)),
        ("{{The LIGO Collaboration}} and Smith, J", ("The LIGO Collaboration", "Smith, J")),
        ("{Simon and Schuster, Inc.}", ("Simon and Schuster, Inc.",)),
        ("World Health Organization", ("World Health Organization",)),
        (r"{\O}stergaard, J{\"o}rg and {van der Berg}, Jan", ("Østergaard, Jörg", "van der Berg, Jan")),
        ("Knuth, D.~E.", ("Knuth, D. E.",)),
        ("{Emerick}, A. and {Mac Low}, M.-M.", ("Emerick, A.", "Mac Low, M.-M.")),
        (r"Erd\H{o}s, Paul AND Strau{\ss}, A.", ("Erdős, Paul", "Strauß, A.")),
        ("Smith, J. and others", ("Smith, J.",)),
        ("Smith J, et al.", ("Smith, J",)),
        ("Smith, J. (Eds.)", ("Smith, J.",)),
        ("Smith, J. and {The Medicine Editors}", ("Smith, J.", "The Medicine Editors")),
        ("Smith, A and Doe, B and", ("Smith, A", "Doe, B")),
        ("{unbalanced, brace and Doe, B", ("unbalanced, brace", "Doe, B")),
        ("Plato", ("Plato",)),
        ("Aaa, And", ("Aaa, And",)),
        ("and", ()),
        ("", ()),
    ],
)  # fmt: skip
def test_splits_lists(text: str, people: tuple[str, ...]) -> None:
    assert parse_people(text) == people


def test_person_folds_space_and_leaves_out_what_is_missing() -> None:
    assert person("Smith ", " John  A.") == "Smith, John A."
    assert person("Plato") == "Plato"
    assert person("", "Plato") == "Plato"


_LOWER = st.text(alphabet="abcdefghijklmnopqrstuvwxyzéüñø", min_size=3, max_size=8)
_WORD = _LOWER.map(str.capitalize).filter(lambda word: word not in ("Editor", "Editors"))  # these end a list of editors
_FAMILY = st.builds(
    lambda particle, words: " ".join([*particle, *words]),
    st.sampled_from([(), ("van",), ("de", "la"), ("von", "der")]),
    st.lists(_WORD, min_size=1, max_size=2),
)
_GIVEN = st.lists(_WORD | st.sampled_from(["A.", "J.-P.", "K. M."]), min_size=1, max_size=2).map(" ".join)


@given(st.lists(st.builds(person, _FAMILY, _GIVEN), min_size=1, max_size=6))
def test_people_joined_as_in_bibtex_come_back(people: list[str]) -> None:
    assert parse_people(" and ".join(people)) == tuple(people)


@given(st.text(alphabet=st.sampled_from("ABab .,;{}\\&-'"), max_size=80) | st.text(max_size=80))
def test_any_text_gives_names_without_loose_ends(text: str) -> None:
    for name in parse_people(text):
        assert name == name.strip()
        assert any(map(str.isalnum, name))


@pytest.mark.parametrize(
    "unit", [",", ".", "{a ", "and ", "A and ", "a ", "A Jr ", ";", "A, ", "A., ", "{", "et al ", "(Eds.) "]
)
def test_long_lists_take_linear_time(unit: str) -> None:
    start = time.process_time()
    parse_people(unit * scaled(100_000) + "x")
    assert time.process_time() - start < MAX_SECONDS
