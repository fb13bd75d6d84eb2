"""The diff says exactly what will be in the file."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whycite.check.fix import Insertion
from whycite.check.fix.edits import hunks, insert


def test_a_changed_line_and_lines_that_come_in() -> None:
    text = "one\ntwo.\nthree\n"
    assert hunks("a.tex", text, [Insertion(7, "~\\cite{x}"), Insertion(15, "four\nfive\n")]) == (
        "--- a.tex\n+++ a.tex\n@@ -1,3 +1,5 @@\n one\n-two.\n+two~\\cite{x}.\n three\n+four\n+five\n"
    )


def test_nothing_changed_is_no_diff() -> None:
    assert hunks("a.tex", "one\n", []) == ""


def test_places_far_apart_are_shown_apart() -> None:
    text = "".join(f"{number}\n" for number in range(100))
    shown = hunks("a", text, [Insertion(0, "x"), Insertion(len(text), "y\n")])
    assert [line for line in shown.splitlines() if line.startswith("@@")] == ["@@ -1,4 +1,4 @@", "@@ -98,3 +98,4 @@"]


def _patched(text: str, diff: str) -> str:
    """The text that a diff makes of another, by the rules of unified diffs."""
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    result: list[str] = []
    at = 0
    rows = re.findall(r"[^\n]*\n", diff)[2:]
    for number, row in enumerate(rows):
        if head := re.match(r"@@ -(\d+),(\d+) \+(\d+),(\d+) @@", row):
            first = int(head[1]) - bool(int(head[2]))
            result += lines[at:first]
            at = first
            continue
        if row.startswith("\\"):
            continue
        content = row[1:]
        if number + 1 < len(rows) and rows[number + 1].startswith("\\"):
            content = content[:-1]
        if row[0] in " -":
            assert lines[at] == content
            at += 1
        if row[0] in " +":
            result.append(content)
    return "".join(result + lines[at:])


TEXTS = st.text(st.sampled_from("ab\n"), max_size=60)


@given(
    TEXTS, st.lists(st.tuples(st.integers(0, 60), st.text(st.sampled_from("xy\n"), min_size=1, max_size=5)), max_size=4)
)
def test_a_diff_makes_the_new_file_of_the_old(text: str, places: list[tuple[int, str]]) -> None:
    insertions = [Insertion(min(at, len(text)), put) for at, put in places]
    diff = hunks("a", text, insertions)
    assert _patched(text, diff) == insert(text.encode(), insertions).decode()


@pytest.mark.skipif(shutil.which("patch") is None, reason="no program to apply a patch with")
def test_the_usual_program_takes_it(tmp_path: Path) -> None:
    text = "".join(f"line {number}\n" for number in range(30)) + "last"
    insertions = [Insertion(5, "!"), Insertion(100, "?"), Insertion(len(text), "\nnew\n")]
    (tmp_path / "a").write_text(text, "utf-8")
    diff = hunks("a", text, insertions)
    subprocess.run(["patch", "-p0"], input=diff.encode(), cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "a").read_bytes() == insert(text.encode(), insertions)
