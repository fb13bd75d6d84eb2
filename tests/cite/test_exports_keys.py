"""New keys look like those of the file, and clash with none."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whycite.cite.exports import CitationKeys, key_style
from whycite.documents.model import Reference
from whycite.library import Paper

PAPER = Paper("doi:10.1/x", "The Deep Sea of Norway", ("Ångström, Per", "Roe, Ann"), 2010, "Sea", "10.1/x")


def entries(*keys: str) -> list[Reference]:
    known = [
        (("Smith, John",), 1999, "A shallow lake"),
        (("Müller, Eva", "Doe, Jane"), 2005, "On rivers and seas"),
        (("Poe, Edgar", "Lee, Ann", "Kay, Bo"), 2021, "The raven"),
    ]
    return [Reference(key, title, authors, year) for key, (authors, year, title) in zip(keys, known, strict=True)]


@pytest.mark.parametrize(
    ("keys", "new"),
    [
        (("Smith1999", "Muller2005", "Poe2021"), "Angstrom2010"),
        (("Smith99", "Muller05a", "Poe21"), "Angstrom10"),
        (("smith_1999_shallow", "muller_2005_rivers", "poe_2021_raven"), "angstrom_2010_deep"),
        (("smith_shallow_1999", "muller_rivers_2005", "poe_raven_2021"), "angstrom_deep_2010"),
        (("smith99:shallow", "muller05:rivers", "poe21:raven"), "angstrom10:deep"),
        (("Smith:1999", "Muller:2005", "Poe:2021"), "Angstrom:2010"),
        (("Smith1999Shallow", "Muller2005Rivers", "Poe2021Raven"), "Angstrom2010Deep"),
        (("Smith1999", "MullerDoe2005", "Poe2021"), "AngstromRoe2010"),
        (("r1", "r2", "r3"), "angstrom2010deep"),
    ],
    ids=lambda value: value[1] if isinstance(value, tuple) else None,
)
def test_the_style_is_that_of_the_file(keys: tuple[str, ...], new: str) -> None:
    assert CitationKeys(entries(*keys)).key_for(PAPER) == new


def test_a_paper_keeps_its_key_and_others_get_other_ones() -> None:
    keys = CitationKeys(entries("Smith1999", "Muller2005", "Poe2021"), used_keys=["angstrom2010"])
    other = Paper("doi:10.1/y", "Another one", ("Ångström, Per",), 2010, "", "")
    assert keys.key_for(PAPER) == "Angstrom2010b"
    assert keys.key_for(other) == "Angstrom2010c"
    assert keys.key_for(PAPER) == "Angstrom2010b"


def test_what_is_not_known_is_left_out() -> None:
    assert CitationKeys([]).key_for(Paper("title:x", "", (), None, "", "")) == "anonymous"


@given(st.lists(st.sampled_from(["Doe, Jane", "Roe, Ann", "Ø", ""]), min_size=2, max_size=60), st.integers(0, 2))
def test_keys_never_clash(authors: list[str], years: int) -> None:
    keys = CitationKeys(entries("Smith1999", "Muller2005", "Poe2021"))
    papers = [Paper(f"k:{at}", "Title", (name,), years or None, "", "") for at, name in enumerate(authors)]
    made = sorted(keys.key_for(paper).lower() for paper in papers)
    assert all(one < other for one, other in pairwise(made))


def test_a_style_needs_more_than_one_key() -> None:
    assert key_style(entries("Smith:1999", "r2", "r3")) == key_style([])
