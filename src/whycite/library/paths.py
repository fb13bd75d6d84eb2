"""Paths of libraries and of their documents, and what can be known of a library without opening it.

A document is a file, a member of an archive (`papers.zip/a.tex`) or a record of a file (`papers.jsonl:12`).
Nothing here imports the store, which takes a second to load.
"""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from pathlib import Path

import platformdirs

__all__ = [
    "MIRROR",
    "ORIGINALS",
    "REGISTER",
    "UPLOADED",
    "absolute",
    "default_path",
    "file_of",
    "library_exists",
    "library_state",
    "local_path",
    "mirrored_address",
    "original_path",
    "register_state",
    "remote_address",
    "stands_alone",
    "stored_path",
]

_COMMITS = "commits.lance"  # LanceDB's folder of the table `commits`, which every library has
REGISTER = "notices.sqlite"  # the register of retractions and corrections
MIRROR = "mirror.json"  # in the copy of a library in object storage: where that is
UPLOADED = "<upload>/"  # prefix of files that came through a browser, which no path on this machine can have
ORIGINALS = "originals"  # in the folder of a library: these files
_RECORD = re.compile(r":\d+\Z")


def default_path() -> Path:
    """The user's library: $WHYCITE_LIBRARY, or a folder in the platform's data directory."""
    setting = os.environ.get("WHYCITE_LIBRARY")
    return local_path(setting) if setting else platformdirs.user_data_path("whycite", appauthor=False) / "library"


def local_path(path: Path | str) -> Path:
    """The folder of a library; that of a copy if the library is in object storage."""
    address = remote_address(path)
    if address is None:
        return Path(path).expanduser()
    from whycite.library.publishing import locate

    return locate(address)


def remote_address(path: Path | str) -> str | None:
    """The address of a library in object storage, which may have gone through a `Path`; None if it is on disk."""
    scheme, _, rest = str(path).partition(":/")
    return f"s3://{rest.lstrip('/')}" if scheme == "s3" else None


def mirrored_address(library: Path) -> str | None:
    """The address of which a folder has a copy; None if it is a library of its own."""
    try:
        return str(json.loads((library / MIRROR).read_text("utf-8"))["address"])
    except (OSError, ValueError, KeyError):
        return None


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


def original_path(library: Path, path: str) -> str:
    """Where the text of a document is: files that came through a browser are kept in the folder of the library."""
    if not path.startswith(UPLOADED):
        return path
    folder = (library / ORIGINALS).resolve()
    original = (folder / path.removeprefix(UPLOADED)).resolve()
    return str(original) if original.is_relative_to(folder) else path


def stored_path(path: str) -> str:
    """The path under which a document is stored; absolute if it is on disk."""
    return path if file_of(path) is None else absolute(path)


def stands_alone(path: str) -> bool:
    """Whether a path always means the same document; records are renumbered when one is added or removed."""
    file = file_of(path)
    return file is not None and (file == absolute(path) or _RECORD.search(path) is None)
