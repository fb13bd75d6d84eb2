"""Files are written whole or not at all, and stay what they are: their rights, their links, their bytes."""

import os
from pathlib import Path

import pytest

from tests.drafts import check_by_words
from whycite.check.fix import apply, edits, plan
from whycite.errors import UserError
from whycite.files import atomic_write

LATEX = "\\documentclass{article}\n\\begin{document}\nSo do bees.\n\\bibliography{refs}\n\\end{document}\n"
BIB = "@article{doe, title = {Old work}, year = 2001}\n"


@pytest.fixture
def draft(tmp_path: Path) -> Path:
    (tmp_path / "refs.bib").write_text(BIB, "utf-8")
    (tmp_path / "main.tex").write_text(LATEX, "utf-8")
    return tmp_path / "main.tex"


def test_rights_are_kept_and_nothing_is_left_behind(draft: Path) -> None:
    draft.chmod(0o640)
    apply(plan(check_by_words(draft)))
    assert draft.stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in draft.parent.iterdir()) == ["main.tex", "refs.bib"]


def test_a_link_stays_a_link(draft: Path) -> None:
    real = draft.parent / "real.bib"
    (draft.parent / "refs.bib").rename(real)
    (draft.parent / "refs.bib").symlink_to("real.bib")
    apply(plan(check_by_words(draft)))
    assert (draft.parent / "refs.bib").is_symlink()
    assert "kaiser1988" in real.read_text("utf-8")


def test_a_draft_behind_a_link(draft: Path, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "link.tex").symlink_to(draft)
    apply(plan(check_by_words(folder / "link.tex")))
    assert (folder / "link.tex").is_symlink()
    assert "bees~\\cite{kaiser1988}." in draft.read_text("utf-8")


@pytest.mark.parametrize("name", ["main.tex", "refs.bib"])
def test_a_file_that_changed_underneath_stops_all(draft: Path, name: str) -> None:
    made = plan(check_by_words(draft))
    changed = draft.parent / name
    changed.write_text(changed.read_text("utf-8") + "% mine\n", "utf-8")
    before = {path: path.read_bytes() for path in draft.parent.iterdir()}
    with pytest.raises(UserError, match=f"{name}: changed"):
        apply(made)
    assert {path: path.read_bytes() for path in draft.parent.iterdir()} == before


def test_applying_twice_is_refused(draft: Path) -> None:
    made = plan(check_by_words(draft))
    apply(made)
    after = draft.read_bytes()
    with pytest.raises(UserError, match="changed since"):
        apply(made)
    assert draft.read_bytes() == after


@pytest.mark.parametrize("failing", ["main.tex", "refs.bib"])
def test_all_files_or_none(draft: Path, monkeypatch: pytest.MonkeyPatch, failing: str) -> None:
    made = plan(check_by_words(draft))
    before = {path: path.read_bytes() for path in draft.parent.iterdir()}
    replace = Path.replace
    failed: list[Path] = []

    def fails_once(self: Path, target: Path) -> Path:
        if target.name == failing and not failed:
            failed.append(target)
            raise OSError(28, "No space left on device")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", fails_once)
    with pytest.raises(UserError, match="No space left"):
        apply(made)
    assert failed
    assert {path: path.read_bytes() for path in draft.parent.iterdir()} == before


def test_a_change_at_the_last_moment_is_seen(draft: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = plan(check_by_words(draft))

    def meddling(path: Path) -> object:
        draft.write_text(LATEX + "% mine\n", "utf-8")
        return atomic_write(path)

    monkeypatch.setattr(edits, "atomic_write", meddling)
    with pytest.raises(UserError, match="changed since"):
        apply(made)
    assert draft.read_text("utf-8") == LATEX + "% mine\n"
    assert (draft.parent / "refs.bib").read_text("utf-8") == BIB


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_bibliography_that_may_not_be_written(draft: Path) -> None:
    (draft.parent / "refs.bib").chmod(0o440)
    assert "is read-only" in plan(check_by_words(draft)).refused[0].reason


@pytest.mark.parametrize("stopped_at", ["main.tex", "refs.bib"])
def test_ctrl_c_between_two_files_writes_none(draft: Path, monkeypatch: pytest.MonkeyPatch, stopped_at: str) -> None:
    made = plan(check_by_words(draft))
    before = {path: path.read_bytes() for path in draft.parent.iterdir()}
    replace = Path.replace
    stopped: list[Path] = []

    def stops_once(self: Path, target: Path) -> Path:
        if target.name == stopped_at and not stopped:
            stopped.append(target)
            raise KeyboardInterrupt
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", stops_once)
    with pytest.raises(KeyboardInterrupt):
        apply(made)
    assert stopped
    assert {path: path.read_bytes() for path in draft.parent.iterdir()} == before
