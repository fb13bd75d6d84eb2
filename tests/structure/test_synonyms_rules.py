"""The user's own rules on disk."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whycite.errors import UserError
from whycite.structure import SECTION_TYPES, HeadingRules, load_rules, save_rules
from whycite.structure.synonyms import normalise_heading

HEADINGS = st.text(max_size=20).map(normalise_heading)


@given(st.dictionaries(HEADINGS, st.sampled_from(SECTION_TYPES), max_size=5), st.frozensets(HEADINGS, max_size=5))
def test_what_is_saved_is_loaded(
    tmp_path_factory: pytest.TempPathFactory, positive: dict[str, str], negative: frozenset[str]
) -> None:
    path = tmp_path_factory.mktemp("rules") / "sections.toml"
    save_rules(path, HeadingRules(positive, negative))
    assert load_rules(path, SECTION_TYPES) == HeadingRules(positive, negative)


def test_no_file_no_rules(tmp_path: Path) -> None:
    assert load_rules(tmp_path / "sections.toml", SECTION_TYPES) == HeadingRules()


def test_headings_may_be_written_as_printed(tmp_path: Path) -> None:
    path = tmp_path / "sections.toml"
    path.write_text('negative = ["Thanks!"]\n[positive]\n"related work" = ["2 Our Forebears"]\n')
    assert load_rules(path, SECTION_TYPES) == HeadingRules({"forebear": "related work"}, frozenset({"thank"}))


def test_an_answer_takes_the_place_of_its_opposite() -> None:
    rules = HeadingRules().accept("Kernels", "method").reject("Trees")
    assert rules.reject("3 Kernels") == HeadingRules({}, frozenset({"kernel", "tree"}))
    assert rules.accept("Trees", "result") == HeadingRules({"kernel": "method", "tree": "result"}, frozenset())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"positive = 3", "'positive' must be a table"),
        (b"negative = 'x'", "'negative' must be a list"),
        (b"[positive]\nmethod = [1]", "'positive.method' must be a list"),
        (b"[positive]\nmagic = []", "unknown section type 'magic'"),
        (b"positiv = 1", "unknown key 'positiv'"),
        (b"= =", "not valid TOML"),
        (b"\xff", "not valid TOML"),
    ],
)
def test_mistakes_are_told_in_one_sentence(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "sections.toml"
    path.write_bytes(content)
    with pytest.raises(UserError, match=message) as caught:
        load_rules(path, SECTION_TYPES)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_folder_is_no_file_of_rules(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="directory"):
        load_rules(tmp_path, SECTION_TYPES)
    with pytest.raises(UserError, match="cannot be written"):
        save_rules(tmp_path, HeadingRules())


def test_a_failed_save_leaves_the_old_rules_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "sections.toml"
    save_rules(path, HeadingRules({"kernel": "method"}))

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UserError, match="No space left"):
        save_rules(path, HeadingRules())
    assert load_rules(path, SECTION_TYPES) == HeadingRules({"kernel": "method"})
    assert [file.name for file in tmp_path.iterdir()] == ["sections.toml"]


def test_a_link_to_the_rules_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link.toml").symlink_to(tmp_path / "real.toml")
    save_rules(tmp_path / "link.toml", HeadingRules({"kernel": "method"}))
    assert (tmp_path / "link.toml").is_symlink()
    assert load_rules(tmp_path / "real.toml", SECTION_TYPES) == HeadingRules({"kernel": "method"})
