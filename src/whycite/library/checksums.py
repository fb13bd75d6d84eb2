"""Checksums of the files of a library, so that what is read is what was written.

Writers list the files of the tables, which never change, with their checksums when they are done (`seal`). Whoever
opens the library compares size and time of every file with what they were when it was last verified, which takes
milliseconds; only files that differ in these are read again (`verify_files`). The reading copy has checksums of its
own (`readingcopy`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from whycite.errors import UserError
from whycite.files import atomic_write
from whycite.library.records import Commit

__all__ = [
    "FileStamp",
    "Seal",
    "damaged_files",
    "digest_file",
    "forget_seal",
    "missing_files",
    "read_seal",
    "seal",
    "stamp_file",
    "verify_files",
]

_SEAL = "checksums.json"
_STAMPS = "checksums.stamps.json"  # may be lost: it only saves time
_HINT = "latest_version_hint.json"  # the only file of a table that LanceDB overwrites; tables open without it
_DIGEST_BYTES = 16

FileStamp = tuple[int, int, str]  # size, time of the last change in nanoseconds, checksum


@dataclass(frozen=True, slots=True)
class Seal:
    """The checksums of the files of the tables at a commit."""

    commit: int
    state: str  # a checksum of the commit and all of these
    files: Mapping[str, str]


def seal(library: Path, commit: Commit) -> None:
    """List the files of the tables with their checksums; a file that was listed before keeps its checksum."""
    previous = read_seal(library)
    known = previous.files if previous is not None else {}
    files: dict[str, str] = {}
    stamps: dict[str, FileStamp] = {}
    for name, file in _table_files(library):
        with suppress(FileNotFoundError):
            digest = known.get(name) or digest_file(file)
            files[name], stamps[name] = digest, (*_size_and_time(file), digest)
    content: dict[str, Any] = {"commit": asdict(commit), "files": files}
    with atomic_write(library / _SEAL) as target:
        target.write(json.dumps({"state": _state(content), **content}).encode())
    _write_stamps(library, stamps)


def forget_seal(library: Path) -> None:
    """Delete the list of checksums, before tables are created."""
    for name in (_SEAL, _STAMPS):
        (library / name).unlink(missing_ok=True)


def read_seal(library: Path) -> Seal | None:
    """The list of checksums; None if a library of an older version has none."""
    try:
        content = json.loads((library / _SEAL).read_bytes())
        state = content.pop("state")
        if state != _state(content):
            raise ValueError("its own checksum differs")
        return Seal(content["commit"]["number"], state, content["files"])
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(
            f"{library / _SEAL}: the list of checksums is damaged ({error}); check the library with: "
            "whycite library check --repair"
        ) from error


def verify_files(library: Path) -> None:
    """Raise an error if a file of the tables is not what was written; a file that is gone is LanceDB's concern."""
    if damaged := damaged_files(library, trust_stamps=True):
        more = f" and {len(damaged) - 1} more" if len(damaged) > 1 else ""
        raise UserError(
            f"{library / damaged[0]}{more}: damaged (its checksum differs); see what can be done with: "
            "whycite library check"
        )


def damaged_files(library: Path, trust_stamps: bool = False) -> list[str]:
    """The files of the tables that are not what was written; with `trust_stamps`, unchanged stamps count as proof."""
    sealed = read_seal(library)
    if sealed is None:
        return []
    known = _read_stamps(library)
    stamps: dict[str, FileStamp] = {}
    damaged = []
    for name, digest in sealed.files.items():
        with suppress(FileNotFoundError):
            stamp = (*_size_and_time(library / name), digest)
            if (trust_stamps and known.get(name) == stamp) or digest_file(library / name) == digest:
                stamps[name] = stamp
            else:
                damaged.append(name)
    if stamps != known:
        with suppress(UserError):  # the library may be read-only
            _write_stamps(library, stamps)
    return damaged


def missing_files(library: Path) -> list[str]:
    """The files of the tables that are gone, although no writer dropped them."""
    sealed = read_seal(library)
    return [name for name in (sealed.files if sealed is not None else ()) if not (library / name).exists()]


def stamp_file(file: Path) -> FileStamp:
    """Size, time and checksum of a file."""
    return (*_size_and_time(file), digest_file(file))


def digest_file(file: Path) -> str:
    """The checksum of a file."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.blake2b(digest_size=_DIGEST_BYTES)).hexdigest()


def _size_and_time(file: Path) -> tuple[int, int]:
    status = file.stat()
    return status.st_size, status.st_mtime_ns


def _table_files(library: Path) -> Iterator[tuple[str, Path]]:
    for table in sorted(library.glob("*.lance")):
        for file in sorted(table.rglob("*")):
            if file.is_file() and file.name != _HINT:
                yield file.relative_to(library).as_posix(), file


def _state(content: Mapping[str, Any]) -> str:
    data = json.dumps(content, sort_keys=True).encode()
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).hexdigest()


def _read_stamps(library: Path) -> dict[str, FileStamp]:
    try:
        return {name: (size, time, digest) for name, (size, time, digest) in _load_stamps(library)}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _load_stamps(library: Path) -> Any:
    return json.loads((library / _STAMPS).read_bytes()).items()


def _write_stamps(library: Path, stamps: Mapping[str, FileStamp]) -> None:
    with atomic_write(library / _STAMPS) as target:
        target.write(json.dumps(stamps).encode())
