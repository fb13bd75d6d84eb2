"""A draft is checked again whenever it is saved."""

import io
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest
from rich.console import Console

from tests.drafts import BIB, TEX
from whycite.cli.watching import FileStates, file_states, wait_for_change, watch_drafts
from whycite.errors import UserError

QUICK = 0.01


def test_files_beside_the_draft_and_those_read_with_it_are_seen(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    for name in ("main.tex", "refs.bib", "main.log", "parts/one.tex"):
        (tmp_path / name).write_text(name)
    main, part = tmp_path / "main.tex", tmp_path / "parts" / "one.tex"
    assert set(file_states([main])) == {str(main), str(tmp_path / "refs.bib")}
    assert set(file_states([main], [main, part])) == {str(main), str(tmp_path / "refs.bib"), str(part)}
    assert set(file_states([tmp_path / "parts"])) == {str(part)}
    assert file_states([tmp_path / "gone" / "main.tex"]) == {}


@pytest.mark.parametrize("how", ["written", "made", "removed", "replaced"])
def test_a_change_is_seen_once_it_is_over(tmp_path: Path, how: str) -> None:
    main, other = tmp_path / "main.tex", tmp_path / "other.tex"
    main.write_text("one")
    before = file_states([main])
    steps: dict[str, list[Callable[[], object]]] = {
        "written": [lambda: main.write_text(""), lambda: main.write_text("one two")],
        "made": [other.touch, lambda: other.write_text("another")],
        "removed": [main.unlink],
        "replaced": [lambda: other.write_text("one two"), lambda: other.replace(main)],
    }
    looks = 0

    def look() -> FileStates:
        nonlocal looks
        looks += 1
        if looks > 2 and steps[how]:
            steps[how].pop(0)()
        return file_states([main])

    after = wait_for_change(before, look, QUICK)
    assert not steps[how]
    assert after == file_states([main]) != before


def _seen(main: Path, change: Callable[[], object]) -> None:
    """Return once a change that is made while a check runs has led to another check."""
    checks = 0

    def found() -> NoReturn:
        nonlocal checks
        checks += 1
        if checks > 1:
            raise KeyboardInterrupt
        change()
        raise UserError("not this time")

    with pytest.raises(KeyboardInterrupt):
        watch_drafts([str(main)], found, None, Console(file=io.StringIO()))


@pytest.mark.parametrize("how", ["written", "made", "removed"])
def test_a_change_while_a_check_runs_is_not_missed(tmp_path: Path, how: str) -> None:
    main = tmp_path / "main.tex"
    main.write_text("one")
    written = main if how == "written" else tmp_path / "other.tex"
    _seen(main, main.unlink if how == "removed" else lambda: written.write_text("one two"))


def test_clocks_of_files_that_go_in_steps_hide_no_change(tmp_path: Path) -> None:
    main, other = tmp_path / "main.tex", tmp_path / "other.tex"
    main.write_text("one")

    def change() -> None:
        other.write_text("another")
        step = other.stat().st_mtime_ns - 1_900_000_000  # the time is rounded down, by some to two seconds
        os.utime(other, ns=(step, step))

    _seen(main, change)


def test_an_old_file_that_is_moved_beside_the_draft_while_a_check_runs_is_a_change(tmp_path: Path) -> None:
    main, bibliography = tmp_path / "main.tex", tmp_path / "refs.bib"
    main.write_text("one")

    def change() -> None:
        bibliography.write_text("made long ago")
        os.utime(bibliography, (1_000_000_000, 1_000_000_000))

    _seen(main, change)


def test_a_check_goes_on_until_it_is_stopped(tmp_path: Path) -> None:
    main = tmp_path / "main.tex"
    main.write_text(TEX, "utf-8")
    (tmp_path / "refs.bib").write_text(BIB, "utf-8")
    command = [sys.executable, "-c", "from whycite.cli import main; main()", "check", str(main), "--watch"]
    command += ["--no-library", "--out", str(tmp_path / "found.json"), "--format", "json"]
    environment = {**os.environ, "WHYCITE_CACHE": str(tmp_path / "cache")}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        assert process.stderr is not None
        assert "checked in" in process.stderr.readline()
        first = (tmp_path / "found.json").read_text("utf-8")
        assert "Spiders sleep" not in first
        saved = tmp_path / "main.tex.new"
        saved.write_text(TEX.replace("It is known", "Spiders sleep at night, as it is known. It is known", 1), "utf-8")
        saved.replace(main)  # at once, so that no check sees half of it
        assert "checked in" in process.stderr.readline()
        assert "Spiders sleep" in (tmp_path / "found.json").read_text("utf-8")
        main.unlink()
        said = process.stderr.readline()
        assert "main.tex" in said
        assert "not checked at" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        assert "stopped" in process.stderr.read()
        assert process.wait(100) == 130
    finally:
        process.kill()
        process.wait()
        if process.stderr:
            process.stderr.close()
