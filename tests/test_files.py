"""Files written in one step, and paths as people see them."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from whycite.errors import UserError
from whycite.files import atomic_write, make_folder, shorten_paths, write_lines


def test_lines_are_written_as_they_are(tmp_path: Path) -> None:
    write_lines(tmp_path / "file", ["ä\n", "b\r\n", "c"])
    assert (tmp_path / "file").read_bytes() == "ä\nb\r\nc".encode()
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


def test_the_old_file_is_there_until_the_new_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with atomic_write(str(path)) as file:
        file.write(b"new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"


def test_what_ends_early_changes_nothing(tmp_path: Path) -> None:
    def lines() -> Iterator[str]:
        yield "new\n"
        raise KeyboardInterrupt

    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt):
        write_lines(path, lines())
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "file"
    path.write_text("old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UserError, match="file: cannot be written: No space left on device"):
        write_lines(path, ["new"])
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("file")
    write_lines(tmp_path / "link", ["new"])
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "new"


def test_a_folder_is_made_where_it_can_be(tmp_path: Path) -> None:
    assert make_folder(tmp_path / "a" / "b").is_dir()
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="file: cannot be created: File exists"):
        make_folder(tmp_path / "file")


def test_paths_below_the_current_folder_are_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert shorten_paths(f"{tmp_path}/papers/a.tex") == "papers/a.tex"
    assert (
        shorten_paths(f"{tmp_path}/a.tex: not read; only '{tmp_path}/b.tex' was") == "a.tex: not read; only 'b.tex' was"
    )
    for text in (str(tmp_path), f"{tmp_path}-other/a.tex", f"/elsewhere{tmp_path}/a.tex", "../a.tex", "s3://bucket/a"):
        assert shorten_paths(text) == text
