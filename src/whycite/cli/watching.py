"""Files that somebody works on: told whenever one of them was saved."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path

__all__ = ["State", "changed", "state"]

State = dict[str, tuple[int, int]]
"""When each file was changed, and how long it is."""

_SUFFIXES = {
    *(".tex", ".ltx", ".md", ".markdown", ".qmd", ".rmd", ".myst", ".typ", ".txt"),
    *(".bib", ".bbl", ".json", ".ris", ".yaml", ".yml", ".toml"),
}
_EVERY = 0.25  # seconds
_MOST = 10_000  # files: a draft has fewer, and a home folder is not to be walked through four times a second


def state(drafts: Iterable[Path], read: Iterable[Path] = ()) -> State:
    """What can be seen of drafts from outside: of files beside them and beside those that were read with them."""
    found: State = {}
    folders = {draft if draft.is_dir() else draft.parent for draft in drafts}
    for folder in sorted({*folders, *(file.parent for file in read)}):
        for file in _beside(folder):
            try:
                facts = file.stat()
            except OSError:  # gone in between
                continue
            found[str(file)] = (facts.st_mtime_ns, facts.st_size)
            if len(found) >= _MOST:
                return found
    return found


def changed(before: State, look: Callable[[], State], every: float = _EVERY) -> State:
    """Wait until something is other than before, and nothing has changed since the last look: editors save in steps."""
    now = look()
    while now == before:
        time.sleep(every)
        now = look()
    while True:
        time.sleep(every)
        later = look()
        if later == now:
            return now
        now = later


def _beside(folder: Path) -> Iterable[Path]:
    try:
        with os.scandir(folder) as entries:
            return sorted(Path(entry.path) for entry in entries if Path(entry.name).suffix.lower() in _SUFFIXES)
    except OSError:  # the folder is gone: so is the draft, and whoever reads it says so
        return []
