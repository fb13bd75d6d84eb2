"""Where libraries are, and how they call the files that their documents came from.

A document is a file, a member of an archive (`papers.zip/a.tex`) or a record of a file (`papers.jsonl:12`).
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import platformdirs

__all__ = ["absolute", "default_path", "file_of", "stands_alone", "stored_path"]


def default_path() -> Path:
    """The user's library: $WHYCITE_LIBRARY, else a folder where the platform keeps data."""
    setting = os.environ.get("WHYCITE_LIBRARY")
    return (
        Path(setting).expanduser() if setting else platformdirs.user_data_path("whycite", appauthor=False) / "library"
    )


_RECORD = re.compile(r":\d+\Z")


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
