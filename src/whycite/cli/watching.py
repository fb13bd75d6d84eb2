"""`--watch`: check again whenever a file of the drafts is saved."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from whycite.cli.terminal import printable, say
from whycite.errors import UserError
from whycite.files import shorten_paths

if TYPE_CHECKING:
    from rich.console import Console

    from whycite.check.findings import CheckedDraft

__all__ = ["FileStates", "file_states", "wait_for_change", "watch_drafts"]

FileStates = dict[str, tuple[int, int]]
"""Modification time and size of each file."""

_SUFFIXES = {
    *(".tex", ".ltx", ".md", ".markdown", ".qmd", ".rmd", ".myst", ".typ", ".txt", ".docx", ".odt"),
    *(".bib", ".bbl", ".json", ".ris", ".yaml", ".yml", ".toml"),
}
_INTERVAL = 0.25  # seconds
_MAX_FILES = 10_000  # more than any draft has; keeps a home folder from being scanned four times a second
_TIME_RESOLUTION = 2.0  # seconds to which old file systems round file times down


def watch_drafts(
    drafts: Sequence[str],
    check_drafts: Callable[[], tuple[list[CheckedDraft], bool]],
    out: str | None,
    errors: Console,
) -> NoReturn:
    """Check now and after every change, until the user stops it."""
    places = [Path(draft) for draft in drafts]
    read: set[Path] = set()

    def look() -> FileStates:
        return {file: facts for file, facts in file_states(places, read).items() if not out or Path(file) != Path(out)}

    while True:
        previous, start = look(), time.time()
        try:
            reports, _ = check_drafts()
            read.update(Path(sentence.file) for checked in reports for sentence in checked.document.sentences)
        except UserError as error:  # the file may be only half saved: wait for the next change
            say(errors, f"whycite: {printable(shorten_paths(str(error)))}")
            outcome = "not checked"
        else:
            outcome = f"checked in {time.time() - start:.1f} s"
        old = (start - _TIME_RESOLUTION) * 1e9
        folders = {Path(file).parent for file in previous}  # in these, a new file is a change even if it is old
        older_files = {
            file: facts for file, facts in look().items() if Path(file).parent not in folders and facts[0] < old
        }
        now = time.strftime("%H:%M:%S")
        errors.print(f"{outcome} at {now}; waiting for changes (press Ctrl-C to stop)")
        wait_for_change(older_files | previous, look)


def file_states(drafts: Iterable[Path], read: Iterable[Path] = ()) -> FileStates:
    """The state of every file in the folders of the drafts and of the files that were read with them."""
    states: FileStates = {}
    folders = {draft if draft.is_dir() else draft.parent for draft in drafts}
    for folder in sorted({*folders, *(file.parent for file in read)}):
        for file in _draft_files(folder):
            try:
                facts = file.stat()
            except OSError:  # deleted meanwhile
                continue
            states[str(file)] = (facts.st_mtime_ns, facts.st_size)
            if len(states) >= _MAX_FILES:
                return states
    return states


def wait_for_change(previous: FileStates, look: Callable[[], FileStates], interval: float = _INTERVAL) -> FileStates:
    """Wait for a change, and then until nothing changes any more, because editors save in several steps."""
    now = look()
    while now == previous:
        time.sleep(interval)
        now = look()
    while True:
        time.sleep(interval)
        later = look()
        if later == now:
            return now
        now = later


def _draft_files(folder: Path) -> Iterable[Path]:
    try:
        with os.scandir(folder) as entries:
            return sorted(Path(entry.path) for entry in entries if Path(entry.name).suffix.lower() in _SUFFIXES)
    except OSError:  # deleted; reading the draft will report it
        return []
