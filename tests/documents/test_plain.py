"""Plain text is read with its headings, its reference list, and the markers that point at it."""

import time
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.thoroughness import MAX_SECONDS, scaled
from whycite.documents.model import Document
from whycite.documents.plain import READER
from whycite.documents.sources import MemoryFolder, Source
from whycite.errors import UserError

PAPER = """\
A Study of Citation Behaviour in
Plain Text Files

Jane Doe and Kim Lee
Department of Things, University of X

Abstract. We show that plain text is
readable (Smith et al., 2010). It works.

1. Introduction

Hard wrapped lines are com-
mon (Lee and Kim, 2011; Unknown, 1999), as Smith
et al. (2010) say. They are well-
known, and well-known they are.

- first item (Lee and Kim, 2011)
- second item

1.1 Data sets
Some data is there.

Figure 1: A caption of (Smith et al., 2010).

METHODS

Method text.

Results
=======

More text here.

REFERENCES

Lee, K. and Kim, S. (2011). On things. Journal of Things, 3(2), 1-10.

Smith, J., Brown, A., and White, B. (2010). Plain text. Proceedings of
  the Conference, pages 3-9.

Appendix A

After the list.
"""


def read(text: str | bytes, name: str = "paper.txt") -> Document:
    data = text.encode() if isinstance(text, str) else text
    (document,) = READER.read(Source(MemoryFolder({name: data}, ""), name))
    return document


def texts(document: Document, kind: str = "prose") -> list[str]:
    return [sentence.text for sentence in document.sentences if sentence.kind == kind]


def marked(document: Document, text: str) -> list[tuple[str, tuple[str, ...]]]:
    citations = [citation for sentence in document.sentences for citation in sentence.citations]
    return [(" ".join(text[c.start : c.end].split()), c.keys) for c in citations]


def misplaced(document: Document, files: Mapping[str, str]) -> list[str]:
    """The sentences whose letters their source range does not hold in order."""
    wrong = []
    for sentence in document.sentences:
        source = files[sentence.file]
        assert 0 <= sentence.start <= sentence.end <= len(source)
        letters = iter(source[sentence.start : sentence.end])
        if not all(letter in letters for letter in sentence.text if letter.isalnum()):
            wrong.append(sentence.text)
        for citation in sentence.citations:
            assert sentence.start <= citation.start <= citation.end <= sentence.end
            shown = sentence.text[citation.text_start : citation.text_end]
            assert shown.split() == source[citation.start : citation.end].replace("-\n", "").split()
    return wrong


def test_a_paper() -> None:
    document = read(PAPER)
    assert document.paper.title == "A Study of Citation Behaviour in Plain Text Files"
    assert [(section.heading, section.level) for section in document.sections] == [
        ("Abstract", 1),
        ("Introduction", 1),
        ("Data sets", 2),
        ("METHODS", 1),
        ("Results", 1),
        ("Appendix A", 1),
    ]
    assert texts(document) == [
        "We show that plain text is readable (Smith et al., 2010).",
        "It works.",
        "Hard wrapped lines are common (Lee and Kim, 2011; Unknown, 1999), as Smith et al. (2010) say.",
        "They are well-known, and well-known they are.",
        "first item (Lee and Kim, 2011)",
        "second item",
        "Some data is there.",
        "Method text.",
        "More text here.",
        "After the list.",
    ]
    assert texts(document, "caption") == ["Figure 1: A caption of (Smith et al., 2010)."]
    assert marked(document, PAPER) == [
        ("Smith et al., 2010", ("ref2",)),
        ("Lee and Kim, 2011", ("ref1",)),
        ("Unknown, 1999", ()),
        ("Smith et al. (2010)", ("ref2",)),
        ("Lee and Kim, 2011", ("ref1",)),
        ("Smith et al., 2010", ("ref2",)),
    ]
    assert [reference.year for reference in document.references] == [2011, 2010]
    assert not misplaced(document, {"paper.txt": PAPER})


def test_numbers_and_line_ends() -> None:
    text = (
        "Title of it\r\n\r\nIntroduction\r\n\r\nAs shown [1, 2] and\r\nin [3].\r\n\r\nReferences\r\n\r\n"
        "[1] A. Smith. One. 2010.\r\n[2] B. Lee. Two,\r\n    with more. 1999.\r\n[3] C. Kim. Three. 2001.\r\n"
    )
    document = read(text)
    assert document.paper.title == "Title of it"
    assert marked(document, text) == [("[1, 2]", ("1", "2")), ("[3]", ("3",))]
    assert [reference.id for reference in document.references] == ["1", "2", "3"]
    assert texts(document) == ["As shown [1, 2] and in [3]."]
    assert not misplaced(document, {"paper.txt": text})


def test_text_without_blank_lines_is_divided_by_its_headings() -> None:
    text = "1 Introduction\nText goes\non here.\n2 Methods\nWe did it.\nIt was\n2 times as good.\n3 Results\nGood.\n"
    document = read(text)
    assert [section.heading for section in document.sections] == ["Introduction", "Methods", "Results"]
    assert texts(document) == ["Text goes on here.", "We did it.", "It was 2 times as good.", "Good."]


def test_long_lines_are_paragraphs() -> None:
    line = "This is a sentence that is long enough to fill a line by itself, as text without hard breaks has it. " * 3
    document = read(f"{line}\n{line}\n{line}\n")
    assert {sentence.paragraph for sentence in document.sentences} == {0, 1, 2}


@pytest.mark.parametrize(
    ("text", "title", "expected"),
    [
        ("A claim that wants backing", "", ["A claim that wants backing"]),
        ("One claim.\n\nAnother claim.", "", ["One claim.", "Another claim."]),
        ("The title\n\nThe text.", "The title", ["The text."]),
        ("Introduction\n\nThe text.", "", ["The text."]),
        ("", "", []),
        ("\n\n \n", "", []),
        ("References\n\n", "", ["References"]),
    ],
)
def test_short_texts(text: str, title: str, expected: list[str]) -> None:
    document = read(text)
    assert document.paper.title == title
    assert texts(document) == expected


def test_other_encodings() -> None:
    assert texts(read("Café déjà vu.".encode("utf-16"))) == ["Café déjà vu."]
    assert texts(read("Café déjà vu.".encode("cp1252"))) == ["Café déjà vu."]


def test_binary_files_are_refused() -> None:
    binary = bytes(range(256)) * 10
    assert not READER.sniff(binary)
    with pytest.raises(UserError, match="not a text file"):
        read(binary)
    assert READER.sniff(b"Any text at all.")


PIECES = st.sampled_from(
    ["\n", "\n\n", "\r\n", "\f", " ", "  ", "- ", "1. ", "1.2 ", "A. ", "II. ", "Introduction", "REFERENCES",
     "References", "Abstract. ", "====", "----", "Smith (2010)", "(Smith, 2010)", "[1]", "[1] ",
     "Smith, J. 2010. Title.", "word", "Word", "Word.", "hy-", "phen", "Figure 1: ", "é", "\t", "CAPS", "\ufeff", "³"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=60).map("".join))
def test_anything_is_read(text: str) -> None:
    assert not misplaced(read(text), {"paper.txt": text})


@given(st.text(max_size=300))
def test_any_characters_are_read(text: str) -> None:
    text = text.encode("utf-8", "ignore").decode()
    try:
        document = read(text)
    except UserError:
        return
    assert all(0 <= s.start <= s.end <= len(text) for s in document.sentences)


@pytest.mark.parametrize(
    "unit", ["[", "*", ">", "@", "-", "- ", "=", " ", "\n", "\t", "-\n", "A\n", "1. A\n", "[1]\n", "=\n"]
)
def test_time_is_linear(unit: str) -> None:
    size = scaled(1_000_000 if len(unit) == 1 else 250_000)
    text = unit * (size // len(unit))
    begun = time.process_time()
    read(text)
    read(f"{text}\nReferences\n{text}")
    assert time.process_time() - begun < MAX_SECONDS


def test_a_long_line_broken_within_a_citation_goes_on() -> None:
    long = "Many words stand here and go on. " * 10
    text = (
        f"Introduction\n\n{long}So García-Peña et al.\n(2012) did. {long}\nAnother paragraph. {long}\n\n"
        "References\n\nGarcía-Peña, A., Foo, B. and Bar, C. (2012). Title. Journal.\n\nLee, K. (2004). B. Press.\n"
    )
    document = read(text)
    (citing,) = [sentence for sentence in document.sentences if sentence.citations]
    assert citing.text == "So García-Peña et al. (2012) did."
    assert [sentence.paragraph for sentence in document.sentences if sentence.text == "Another paragraph."] == [1]
    assert document.sentences[0].paragraph == citing.paragraph == 0


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("{\\rtf1\\ansi Hi}", "save it as .docx"),
        ('<?xml version="1.0"?>\n<office:document office:version="1.3"/>', "save it as .odt"),
    ],
)
def test_formats_of_word_processors_are_not_taken_for_text(text: str, remedy: str) -> None:
    with pytest.raises(UserError, match=remedy):
        next(READER.read(Source(MemoryFolder({"a.txt": text.encode()}, ""), "a.txt")))


@pytest.mark.parametrize("text", ["<!DOCTYPE html><p>Hi</p>", "\n<html><body>Hi</body></html>"])
def test_a_web_page_is_not_taken_for_a_paper(text: str) -> None:
    with pytest.raises(UserError, match="web pages cannot be read"):
        next(READER.read(Source(MemoryFolder({"a.html": text.encode()}, ""), "a.html")))
