"""`whycite add` as a user runs it."""

import io
import json
import os
import re
import signal
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import Result

from whycite.cli.progress import add_progress
from whycite.errors import UserError
from whycite.library import AddProgress

PAPER = """\
---
title: A note on {subject} in the field
year: 2020
references:
- {{id: doe, title: All about {subject}, author: [{{family: Doe, given: Jane}}], issued: 2010}}
---
The {subject} was seen before [@doe].
"""

Run = Callable[..., Result]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    for subject in ("moth", "wasp"):
        (folder / f"{subject}.md").write_text(PAPER.format(subject=subject), "utf-8")
    return folder


def _json(result: Result) -> dict[str, Any]:
    assert result.exit_code == 0, result.output
    content: dict[str, Any] = json.loads(result.stdout)
    return content


def test_a_damaged_archive_is_skipped_and_the_rest_is_added(run: Run, folder: Path, tmp_path: Path) -> None:
    whole = tmp_path / "whole.zip"
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr("bee.md", PAPER.format(subject="bee"))
    data = whole.read_bytes()
    for cut in range(0, len(data), 7):
        (folder / f"cut{cut:04}.zip").write_bytes(data[:cut] + data[cut + 1 :])
    count = len(range(0, len(data), 7))
    added = _json(run("add", folder, "--library", tmp_path / "library", "--jobs", "1", "--json"))
    assert added["added"] >= 2
    assert added["added"] + added["unchanged"] + len(added["skipped"]) == 2 + count  # some do no harm
    assert len(added["skipped"]) > count // 2
    assert all(entry["reason"].startswith(str(folder)) for entry in added["skipped"])


def test_an_empty_path_is_a_mistake(run: Run, tmp_path: Path) -> None:
    result = run("add", "", "--library", tmp_path / "library")
    assert isinstance(result.exception, UserError)
    assert "an empty path" in str(result.exception)
    assert not (tmp_path / "library").exists()


def test_a_folder_again_and_changed(run: Run, folder: Path, tmp_path: Path) -> None:
    library = tmp_path / "library"
    (folder / "broken.xml").write_text("<article><front></article>", "utf-8")
    first = run("add", folder, "--library", library, "--jobs", "1")
    assert first.exit_code == 0, first.output
    skipped, done = first.stdout.splitlines()
    assert skipped.startswith(f"skipped {folder}/broken.xml:1: broken XML")
    assert done.startswith("2 added, 0 unchanged, 0 replaced, 1 skipped")
    assert done.endswith("s; your library now has 2 documents, 4 papers, 2 evidence spans.")

    again = _json(run("add", folder, "--library", library, "--jobs", "1", "--json"))
    assert (again["added"], again["unchanged"], again["replaced"]) == (0, 2, 0)
    assert [skipped["path"] for skipped in again["skipped"]] == [f"{folder}/broken.xml"]
    assert again["library"]["documents"] == 2
    assert again["library"]["path"] == str(library)

    (folder / "moth.md").write_text(PAPER.format(subject="moth") + "\nIt flew [@doe].\n", "utf-8")
    changed = _json(run("add", folder / "moth.md", "--library", library, "--jobs", "1", "--json"))
    assert (changed["unchanged"], changed["replaced"]) == (0, 1)
    assert changed["library"]["documents"] == 2
    assert changed["library"]["spans"] == 3


def test_an_archive_standard_input_and_the_default_library(run: Run, folder: Path, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "papers.tar.gz", "w:gz") as archive:
        archive.add(folder, "papers")
    assert run("add", tmp_path / "papers.tar.gz", "--jobs", "1").exit_code == 0
    extra = PAPER.format(subject="beetle").encode()
    result = run("add", "-", "--format", "markdown", "--jobs", "1", stdin=extra)
    assert result.exit_code == 0, result.output
    listed = run("library", "list", "--json")
    titles = {json.loads(line)["title"] for line in listed.stdout.splitlines()}
    assert titles == {f"A note on {subject} in the field" for subject in ("moth", "wasp", "beetle")}
    assert (tmp_path / "own library").is_dir()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "no such file or folder"),
        ({}, "contains no document that whycite can read"),
        ({"a.xml": "<article>"}, "a.xml:1: broken XML"),
        ({"a.xml": "<article>", "b.xml": "<article>"}, "1 more could not be read"),
    ],
    ids=["absent", "empty", "one broken", "two broken"],
)
def test_nothing_to_read_is_a_mistake(run: Run, tmp_path: Path, content: dict[str, str] | None, message: str) -> None:
    if content is not None:
        (tmp_path / "papers").mkdir()
        for name, text in content.items():
            (tmp_path / "papers" / name).write_text(text, "utf-8")
    result = run("add", tmp_path / "papers", "--jobs", "1")
    assert isinstance(result.exception, UserError)
    assert message in str(result.exception)
    assert "\n" not in str(result.exception)


def test_a_missing_path_is_told_before_anything_is_added(run: Run, folder: Path, tmp_path: Path) -> None:
    result = run("add", folder, tmp_path / "gone.pdf")
    assert str(result.exception) == f"{tmp_path / 'gone.pdf'}: no such file or folder"
    assert not (tmp_path / "own library").exists()


@pytest.mark.parametrize("jobs", ["0", "-2", "many"])
def test_jobs_must_be_a_number_above_zero(run: Run, folder: Path, jobs: str) -> None:
    assert run("add", folder, "--jobs", jobs).exit_code == 2


def test_many_skipped_files_are_counted_and_json_names_all(run: Run, folder: Path) -> None:
    for number in range(25):
        (folder / f"{number}.xml").write_text("<article>", "utf-8")
    shown = run("add", folder, "--jobs", "1").stdout
    assert sum(line.startswith("skipped ") for line in shown.splitlines()) == 21
    assert "skipped 5 more; use --json to list them all" in shown
    assert len(_json(run("add", folder, "--jobs", "1", "--json"))["skipped"]) == 25


def test_warnings_are_told_and_json_tells_all(run: Run, folder: Path) -> None:
    for number in range(7):
        text = PAPER.format(subject=f"bug number {number}") + f"\nIt is gone [@lost{number}].\n"
        (folder / f"{number}.md").write_text(text, "utf-8")
    (folder / "broken.xml").write_text("<article>", "utf-8")
    *lines, done = run("add", folder, "--jobs", "1").stdout.splitlines()
    assert lines[0].startswith("skipped ")
    assert lines[1] == f"warning: {folder}/0.md: 1 cited key has no entry in the bibliography: lost0"
    assert [line[:9] for line in lines[2:6]] == ["warning: "] * 4
    assert lines[6:] == ["2 more warnings; use --json to see them all"]
    assert "1 skipped, 7 warnings in " in done
    content = _json(run("add", folder, "--jobs", "1", "--json"))
    assert len(content["warnings"]) == 8  # why one was skipped is one of them
    assert content["warnings"][0] == {
        "path": f"{folder}/0.md", "warning": "1 cited key has no entry in the bibliography: lost0"
    }  # fmt: skip


def test_what_cites_nothing_is_counted(run: Run, folder: Path) -> None:
    (folder / "shopping.txt").write_text("Milk, eggs and bread are to be bought today.\n", "utf-8")
    shown = run("add", folder, "--jobs", "1").stdout
    assert shown.startswith("3 added, 0 unchanged, 0 replaced, 0 skipped in ")
    assert " s; found no citations in 1 document; your library now has 3 documents, " in shown
    assert _json(run("add", folder, "--jobs", "1", "--json"))["without_citations"] == 0  # of the new ones
    (folder / "shopping.txt").write_text("Milk alone is to be bought today.\n", "utf-8")
    assert "1 replaced, 0 skipped" in (shown := run("add", folder, "--jobs", "1").stdout)
    assert "found no citations in 1 document; " in shown
    (folder / "refs.bib").write_text("@book{b, title={Stars}, author={Roe, K.}}\n", "utf-8")
    assert "no citations" not in run("add", folder / "refs.bib").stdout  # it has no text


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_stopped_by_the_user_says_what_is_kept(folder: Path, tmp_path: Path) -> None:
    for number in range(400):
        (folder / f"{number}.md").write_text(PAPER.format(subject=f"thing number {number}"), "utf-8")
    library = tmp_path / "library"
    arguments = ["add", str(folder), "--library", str(library), "--jobs", "1"]
    command = [sys.executable, "-c", "from whycite.cli import main; main()", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while not (library / "citations.lance" / "data").is_dir() and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=100)
    assert (process.returncode, output) == (130, b"")
    assert re.fullmatch(rb"whycite: stopped; added \d+ documents?; run the command again to continue\n", errors), (
        errors.decode()
    )


def test_a_terminal_shows_how_far_it_has_come() -> None:
    file = io.StringIO()
    console = Console(file=file, width=140, force_terminal=True, color_system=None, highlight=False)
    with add_progress(console) as tell:
        tell(AddProgress(read=1203, added=1200, unchanged=7, spans=34_000, reading="papers/[bold] one.pdf"))
    assert re.search(
        r"1,203 documents read, 7 unchanged, 34,000 spans, [\d,]+/min papers/\[bold\] one.pdf", file.getvalue()
    )
    with add_progress(Console(file=file, width=100)) as tell:
        length = len(file.getvalue())
        tell(AddProgress(1, 1, 0, 1, "x"))
    assert len(file.getvalue()) == length


@pytest.mark.parametrize(
    ("progress", "expected"),
    [
        (AddProgress(0, 0, 3, 0, "papers/one.pdf"), r"0 documents read, 3 unchanged papers/one\.pdf"),
        (AddProgress(2, 0, 0, 0, "papers/one.pdf"), r"2 documents read, [\d,]+/min papers/one\.pdf"),
        (
            AddProgress(2, 0, 0, 0, "papers/" * 30 + "one.pdf"),
            r"2 documents read, [\d,]+/min …[\w/]+apers/one\.pdf",
        ),
    ],
    ids=["none yet", "none on disk", "a long path"],
)
def test_documents_count_when_they_are_read_and_paths_show_their_ends(progress: AddProgress, expected: str) -> None:
    file = io.StringIO()
    console = Console(file=file, width=80, force_terminal=True, color_system=None, highlight=False)
    with add_progress(console) as tell:
        tell(progress)
    assert re.search(f"{expected} *$", file.getvalue().replace("\r", "\n"), re.MULTILINE), file.getvalue()


def test_a_cluster_is_for_files(run: Run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = tmp_path / "library"
    result = run("add", "--zotero", "--ray", "local", "--library", str(library))
    assert "--ray cannot be used with --zotero" in str(result.output) + str(result.exception)
    monkeypatch.setattr("whycite.library.cluster.connected", lambda *_: nullcontext())
    entries = folder / "entries.bib"
    entries.write_text("@article{moth, title = {A note on moths}, file = {moth.md}}\n")
    result = run("add", str(entries), "--ray", "local", "--library", str(library))
    assert "bibliography that names its files" in str(result.output) + str(result.exception)
    assert not library.exists()


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_cluster_on_this_machine(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("ray")
    arguments = ["add", str(folder), "--library", str(tmp_path / "library"), "--ray", "local", "--jobs", "1"]
    command = [sys.executable, "-c", "from whycite.cli import main; main()", *arguments]
    process = subprocess.run(command, capture_output=True, text=True, timeout=500, check=False)
    assert (process.returncode, process.stderr) == (0, "")
    assert process.stdout.startswith("2 added, 0 unchanged, 0 replaced, 0 skipped in ")
