"""Paths of libraries and of their documents, and what can be known of a library without opening it.

A document is a file, a member of an archive (`papers.zip/a.tex`) or a record of a file (`papers.jsonl:12`).
Nothing here imports the store, which takes a second to load.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

import platformdirs

__all__ = [
    "REGISTER",
    "absolute",
    "default_path",
    "file_of",
    "library_exists",
    "library_state",
    "register_state",
    "stands_alone",
    "stored_path",
]

_COMMITS = "commits.lance"  # LanceDB's folder of the table `commits`, which every library has
REGISTER = "notices.sqlite"  # the register of retractions and corrections
_RECORD = re.compile(r":\d+\Z")


def default_path() -> Path:
    """The user's library: $WHYCITE_LIBRARY, or a folder in the platform's data directory."""
    setting = os.environ.get("WHYCITE_LIBRARY")
    return (
        Path(setting).expanduser() if setting else platformdirs.user_data_path("whycite", appauthor=False) / "library"
    )


def library_exists(path: Path) -> bool:
    """Whether there is a library at the path, possibly empty or damaged."""
    return (path / _COMMITS).is_dir()


def library_state(path: Path) -> list[tuple[str, int]]:
    """The commits of a library and its register of notices, with their times; empty if there is no library."""
    commits = register_state(path)
    with suppress(FileNotFoundError, NotADirectoryError), os.scandir(path / _COMMITS / "_versions") as entries:
        for entry in entries:
            with suppress(FileNotFoundError):  # just dropped by a writer
                commits.append((entry.name, entry.stat().st_mtime_ns))
    return sorted(commits)


def register_state(path: Path) -> list[tuple[str, int]]:
    """The register of notices and its time, which changes whenever the register does; empty if there is none."""
    try:
        return [(REGISTER, (path / REGISTER).stat().st_mtime_ns)]
    except OSError:
        return []


def absolute(path: str) -> str:
    """The absolute path, with links to folders resolved; a link to a file keeps its own name."""
    folder, name = os.path.split(path)
    try:
        return str(Path(os.path.realpath(folder), name))
    except ValueError:  # a character that no file name can have
        return path


def file_of(path: str) -> str | None:
    """The file on disk that contains a document; None for standard input, pipes and deleted files."""
    place = Path(absolute(path))
    try:
        candidates = (*reversed(place.parents), place, Path(_RECORD.sub("", str(place))))
        return next((str(file) for file in candidates if file.is_file()), None)
    except OSError:  # name too long, or no permission
        return None


def stored_path(path: str) -> str:
    """The path under which a document is stored; absolute if it is on disk."""
    return path if file_of(path) is None else absolute(path)


def stands_alone(path: str) -> bool:
    """Whether a path always means the same document; records are renumbered when one is added or removed."""
    file = file_of(path)
    return file is not None and (file == absolute(path) or _RECORD.search(path) is None)
