"""The parts of the PDF reader that decide about words: hyphens, numbers of headings, labels of captions."""

import time
from collections.abc import Callable

import pytest

from tests.thoroughness import MAX_SECONDS, scaled
from whycite.documents.pdf.floats import is_caption_label
from whycite.documents.pdf.frontmatter import author_names
from whycite.documents.pdf.headings import Numbering, is_reference_heading, split_number
from whycite.documents.pdf.margins import FOLIO, LEADER
from whycite.documents.pdf.textflow import Vocabulary

TEXT = [
    "We say that a knowledge-based view of the translation is better than statistical translation of words",
    "and the part-of-speech tags of the words show the state-of-the-art in the speech community, where art",
    "is based on the linear models of predicate structure and the argument types that people know well",
    "as StatView told us of it long ago",
]


@pytest.mark.parametrize(
    ("before", "after", "kept"),
    [
        ("knowledge", "based", True),  # the document writes it so elsewhere
        ("transla", "tion", False),
        ("statis", "tical", False),
        ("part-of", "speech", True),
        ("state-of-the", "art", True),
        ("rule", "of-thumb", True),
        ("non", "linear", True),
        ("predicate", "argument", True),  # two words of the document that it never writes as one
        ("how", "ever", False),
        ("COVID", "19", True),
        ("ACE", "tagged", True),
        ("Tree", "Adjoining", True),
        ("compu", "ters", False),
        ("Stat", "View", False),  # "StatView" is a word of the document
        ("over", "slept", False),
        ("two", "factor", True),
        ("well-known-view", "prolongation", True),
        ("PBS", "T,", True),
        ("N", "terminal", True),
        ("IR41a", "expressing", True),
        ("people", "making", True),
    ],
)
def test_hyphens_are_kept_where_the_document_has_them(before: str, after: str, kept: bool) -> None:
    assert Vocabulary(TEXT).keeps_hyphen(before, after) is kept


def test_a_shared_end_of_a_word_keeps_hyphen_and_space() -> None:
    words = Vocabulary(["the thousand words of this text"])
    assert words.is_suspended("pre", "and")
    assert words.is_suspended("ipsi", "or")
    assert not words.is_suspended("thous", "and")
    assert not words.is_suspended("transla", "tion")


@pytest.mark.parametrize(
    ("text", "number", "title"),
    [
        ("1 Introduction", "1", "Introduction"),
        ("2.3. Data and Tasks", "2.3", "Data and Tasks"),
        ("IV. RESULTS", "IV", "RESULTS"),
        ("B. Related work", "B", "Related work"),
        ("A.1 Proofs", "A.1", "Proofs"),
        ("Introduction", "", "Introduction"),
        ("2010 was a good year", "", "2010 was a good year"),
    ],
)
def test_numbers_of_headings(text: str, number: str, title: str) -> None:
    assert split_number(text) == (number, title)


def test_numbers_follow_each_other() -> None:
    numbering = Numbering(roman=False)
    for number in ("1", "2", "2.1", "2.2", "3"):
        assert numbering.allows(number, sure=True)
        numbering.note(number)
    assert not numbering.allows("1", sure=True)
    assert not numbering.allows("9", sure=True)
    assert not numbering.allows("H", sure=True)  # the initial of an author
    assert numbering.allows("A", sure=True)
    assert [numbering.level(number) for number in ("3", "3.2", "A.1")] == [1, 2, 2]


def test_letters_stand_under_roman_numbers_and_begin_anew() -> None:
    numbering = Numbering(roman=True)
    for number in ("I", "A", "B", "II", "A"):
        assert numbering.allows(number, sure=True)
        numbering.note(number)
    assert [numbering.level(number) for number in ("II", "B")] == [1, 2]


@pytest.mark.parametrize(
    "text", ["References", "7. REFERENCES", "Literature Cited", "R E F E R E N C E S", "Bibliography"]
)
def test_headings_of_reference_lists(text: str) -> None:
    assert is_reference_heading(text)
    assert not is_reference_heading(text + " to the literature are many")


def test_names_are_told_from_places() -> None:
    assert author_names(["Anna B. Miller, José García-López and Peter van den Berg"]) == [
        "Anna B. Miller",
        "José García-López",
        "Peter van den Berg",
    ]
    assert author_names(["Department of Biology, University of Somewhere"]) == []
    assert author_names(["Miller, Member, IEEE"]) == []


@pytest.mark.parametrize("unit", ["1.", " ", "Figure 1 ", ". ", "A. ", "-", "1 of 2", "x"])
@pytest.mark.parametrize(
    "work",
    [
        split_number,
        is_caption_label,
        is_reference_heading,
        FOLIO.fullmatch,
        LEADER.search,
        lambda text: author_names([text]),
    ],
)
def test_a_million_characters_take_no_time(work: Callable[[str], object], unit: str) -> None:
    text = unit * (scaled(1_000_000) // len(unit))
    begun = time.process_time()
    work(text)
    work("Figure " + text)
    assert time.process_time() - begun < MAX_SECONDS
