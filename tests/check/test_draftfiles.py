"""Lines and columns of offsets, and comments that ask to leave sentences alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whycite.check.draftfiles import DraftFile

COMMENTS = {"latex": "% whycite: {}", "markdown": "<!-- whycite: {} -->", "typst": "// whycite: {}"}
formats = pytest.mark.parametrize("format", sorted(COMMENTS))


def ignored(text: str, sentence: str, format: str) -> bool:
    start = text.index(sentence)
    return DraftFile(text, format).ignores(start, start + len(sentence))


def test_lines_and_columns_count_from_one_whatever_the_line_end() -> None:
    text = DraftFile("one\r\ntwo\rthree\nfour", "plain")
    assert [text.position(at) for at in (0, 4, 5, 9, 15)] == [(1, 1), (1, 5), (2, 1), (3, 1), (4, 1)]


@given(st.text(alphabet="ab\r\n", max_size=30), st.integers(0, 30))
def test_line_and_column_give_the_offset_back(text: str, at: int) -> None:
    at = min(at, len(text))
    line, column = DraftFile(text, "plain").position(at)
    pieces = text.replace("\r\n", "\0\n").replace("\r", "\n").replace("\0\n", "\0\n").split("\n")
    assert sum(len(piece) + 1 for piece in pieces[: line - 1]) + column - 1 == at


@formats
def test_a_comment_on_the_line_or_alone_on_the_line_before_is_heard(format: str) -> None:
    comment = COMMENTS[format].format("ignore")
    text = f"First. {comment}\nSecond.\n{comment}\nThird.\nFourth.\n"
    assert [ignored(text, sentence, format) for sentence in ("First.", "Second.", "Third.", "Fourth.")] == [
        True,
        False,
        True,
        False,
    ]


@formats
def test_a_stretch_and_a_whole_file_can_be_left_alone(format: str) -> None:
    start, end = (COMMENTS[format].format(f"ignore-{edge}") for edge in ("start", "end"))
    text = f"One.\n{start}\nTwo.\n\nThree.\n{end}\nFour.\n{start}\nFive.\n"
    assert [ignored(text, one, format) for one in ("One.", "Two.", "Three.", "Four.", "Five.")] == [
        False,
        True,
        True,
        False,
        True,
    ]
    assert ignored(f"One.\n{COMMENTS[format].format('ignore-file')}\n", "One.", format)


def test_what_only_looks_like_a_comment_is_not_heard() -> None:
    assert not ignored(r"Half is 50\% whycite: ignore", "Half", "latex")
    assert not ignored("See https://whycite: ignore", "See", "typst")
    assert not ignored("One. % whycite: ignored", "One.", "latex")
    assert not ignored("One. % whycite: ignore", "One.", "markdown")


@formats
def test_a_comment_can_name_the_rules_it_is_about(format: str) -> None:
    one, two = (COMMENTS[format].format(f"ignore[{rules}]") for rules in ("own-result", "outline, own-result"))
    start, end = (COMMENTS[format].format(f"ignore-{edge}") for edge in ("start[abstract]", "end"))
    text = f"First. {one}\nSecond.\n{two}\nThird.\n{start}\nFourth.\n{end}\nFifth.\n"
    file = DraftFile(text, format)
    rules = [
        file.ignored_rules(text.index(sentence), text.index(sentence) + len(sentence))
        for sentence in ("First.", "Second.", "Third.", "Fourth.", "Fifth.")
    ]
    assert rules == [{"own-result"}, set(), {"outline", "own-result"}, {"abstract"}, set()]
    assert not any(file.ignores(text.index(word), text.index(word) + 1) for word in ("First", "Third", "Fourth"))
    assert file.rule_lines == {"own-result": 1, "outline": 3, "abstract": 5}


@formats
def test_a_whole_file_can_do_without_a_rule(format: str) -> None:
    file = DraftFile(f"One.\n{COMMENTS[format].format('ignore-file[outline]')}\n", format)
    assert file.ignored_rules(0, 4) == {"outline"}
    assert not file.ignores(0, 4)
