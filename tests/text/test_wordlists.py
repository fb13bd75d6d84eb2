"""Word lists and tables in data files."""

from whycite.text.wordlists import load_tables, load_word_lists, load_words


def test_words_are_separated_by_white_space_and_comments_are_skipped() -> None:
    words = load_words("whycite.text", "conjunctions")
    assert {"and", "whereas"} <= words
    assert "#" not in words


def test_a_list_is_a_string_of_words() -> None:
    words = load_word_lists("whycite.text.sentences")
    assert {"e.g", "fig"} <= words["never_last"]
    assert not words["never_last"] & words["may_end"]


def test_a_table_keeps_its_order() -> None:
    tables = load_tables("whycite.text.accents")
    assert list(tables) == ["accents", "symbols", "math_symbols", "not_text"]
    assert next(iter(tables["math_symbols"].items())) == ("alpha", "α")
