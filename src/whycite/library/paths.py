"""Where libraries are, what can be seen of them without opening them, and the paths of their documents.

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
    "absolute",
    "default_path",
    "file_of",
    "library_exists",
    "library_state",
    "stands_alone",
    "stored_path",
]

_COMMITS = "commits.lance"  # LanceDB's folder of the table `commits`, which every library has
_RECORD = re.compile(r":\d+\Z")


def default_path() -> Path:
    """The user's library: $WHYCITE_LIBRARY, else a folder where the platform keeps data."""
    setting = os.environ.get("WHYCITE_LIBRARY")
    return (
        Path(setting).expanduser() if setting else platformdirs.user_data_path("whycite", appauthor=False) / "library"
    )


def library_exists(path: Path) -> bool:
    """Whether there is a library at the path; it may still be empty or damaged, which opening it shows."""
    return (path / _COMMITS).is_dir()


def library_state(path: Path) -> list[tuple[str, int]]:
    """The commits of a library and their times, which change with every commit; empty where there is none."""
    commits = []
    with suppress(FileNotFoundError, NotADirectoryError), os.scandir(path / _COMMITS / "_versions") as entries:
        for entry in entries:
            with suppress(FileNotFoundError):  # dropped by a writer just now
                commits.append((entry.name, entry.stat().st_mtime_ns))
    return sorted(commits)


def absolute(path: str) -> str:
    """A path from the root on, by whatever links its folder was reached; a link to a file keeps its own name."""
    folder, name = os.path.split(path)
    try:
        return str(Path(os.path.realpath(folder), name))
    except ValueError:  # a sign that no name of a file has
        return path


def file_of(path: str) -> str | None:
    """The file on disk that holds a document; None where there is none: standard input, a pipe, a file that is gone."""
    place = Path(absolute(path))
    try:
        candidates = (*reversed(place.parents), place, Path(_RECORD.sub("", str(place))))
        return next((str(file) for file in candidates if file.is_file()), None)
    except OSError:  # a name too long for a file, a folder that may not be entered
        return None


def stored_path(path: str) -> str:
    """The path under which a document is filed: absolute, where it is on disk."""
    return path if file_of(path) is None else absolute(path)


def stands_alone(path: str) -> bool:
    """Whether a path always means the same document; records have other numbers once one has come or gone."""
    file = file_of(path)
    return file is not None and (file == absolute(path) or _RECORD.search(path) is None)
