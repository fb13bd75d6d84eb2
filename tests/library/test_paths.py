"""Documents go by the absolute path of their file, from wherever it is named."""

import os
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from whycite.library.paths import absolute, file_of, library_exists, library_state, stands_alone, stored_path


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "papers").mkdir()
    for name in ("papers/a.md", "papers/r.jsonl", "papers/odd:3"):
        (tmp_path / name).touch()
    with ZipFile(tmp_path / "papers" / "z.zip", "w") as archive:
        archive.writestr("in/a.md", "")
    (tmp_path / "link").symlink_to("papers")
    (tmp_path / "papers" / "link.md").symlink_to("a.md")
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("path", "file", "alone"),
    [
        ("papers/a.md", "a.md", True),
        ("./papers/../papers/a.md", "a.md", True),
        ("link/a.md", "a.md", True),
        ("papers/link.md", "link.md", True),
        ("papers/odd:3", "odd:3", True),
        ("papers/r.jsonl:12", "r.jsonl", False),
        ("papers/z.zip/in/a.md", "z.zip", True),
        ("papers/z.zip/in/r.jsonl:12", "z.zip", False),
        (f"papers/z.zip/{'x' * 300}.md", "z.zip", True),
    ],
    ids=str,
)
def test_on_disk(tmp_path: Path, path: str, file: str, alone: bool) -> None:
    found = file_of(path)
    assert found == str(tmp_path.resolve() / "papers" / file)
    assert stored_path(path).startswith(found)
    assert stored_path(path) == absolute(path) == absolute(absolute(path))
    assert stored_path(path).endswith(path.rpartition("/")[2])
    assert stands_alone(path) is stands_alone(stored_path(path)) is alone


@pytest.mark.parametrize(
    "path", ["stdin", "stdin:3", "papers/none.md", "papers", "pipe", "", "/", ":1", "x" * 300, "a\0/b", "\ud800/b"]
)
def test_not_on_disk(path: str) -> None:
    assert file_of(path) is None
    assert stored_path(path) == path
    assert not stands_alone(path)


def test_a_commit_dropped_while_commits_are_read_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = tmp_path / "library"
    assert not library_exists(library)
    assert library_state(library) == []
    versions = library / "commits.lance" / "_versions"
    versions.mkdir(parents=True)
    assert library_exists(library)
    (versions / "2.manifest").touch()
    expected = library_state(library)
    (versions / "1.manifest").touch()
    scandir = os.scandir

    def drop_one(folder: Path) -> Any:
        entries = list(scandir(folder))
        (versions / "1.manifest").unlink()
        return nullcontext(iter(entries))

    monkeypatch.setattr(os, "scandir", drop_one)
    assert library_state(library) == expected
    assert len(expected) == 1
