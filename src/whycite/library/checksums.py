"""Checksums of the files of a library, so that what is read is what was written.

Writers list the files of the tables, which never change, with their checksums when they are done (`seal`). Whoever
opens a small library reads all of them. Of a large one, size and time of every file are compared with what they were
when it was last verified, which takes milliseconds; only files that differ in these are read again, and once a week
all (`verify_files`): a failing disk changes neither. The reading copy has checksums of its own (`readingcopy`).
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from whycite.errors import UserError
from whycite.files import atomic_write
from whycite.library.paths import mirrored_address
from whycite.library.records import Commit

__all__ = [
    "SMALL",
    "TRUST_SECONDS",
    "FileStamp",
    "Seal",
    "damaged_files",
    "digest_file",
    "forget_seal",
    "missing_files",
    "note_verified",
    "read_seal",
    "seal",
    "stamp_file",
    "verification_time",
    "verify_files",
]

_SEAL = "checksums.json"
_STAMPS = "checksums.stamps.json"  # may be lost: it only saves time
_HINT = "latest_version_hint.json"  # the only file of a table that LanceDB overwrites; tables open without it
_DIGEST_BYTES = 16
SMALL = 32 << 20  # bytes that are read again whenever a library is opened, which takes 40 ms
TRUST_SECONDS = 7 * 86_400.0  # for which size and time of files prove what they contain, if they have more bytes

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
    sealed_files = previous.files if previous is not None else {}
    verified = _read_stamps(library)[0] if sealed_files else time.time()  # what was listed before is not read again
    files: dict[str, str] = {}
    stamps: dict[str, FileStamp] = {}
    for name, file in _table_files(library):
        with suppress(FileNotFoundError):
            digest = sealed_files.get(name) or digest_file(file)
            files[name], stamps[name] = digest, (*_size_and_time(file), digest)
    content: dict[str, Any] = {"commit": asdict(commit), "files": files}
    with atomic_write(library / _SEAL) as target:
        target.write(json.dumps({"state": _state(content), **content}).encode())
    _write_stamps(library, verified, stamps)


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
        remainder = f" and {len(damaged) - 1} more" if len(damaged) > 1 else ""
        remedy = (
            "see what can be done with: whycite library check"
            if mirrored_address(library) is None
            else f"delete {library.parent}, and it is copied again"  # later copies have links to the same files
        )
        raise UserError(f"{library / damaged[0]}{remainder}: damaged (its checksum differs); {remedy}")


def damaged_files(library: Path, trust_stamps: bool = False) -> list[str]:
    """The files of the tables that are not what was written.

    With `trust_stamps`, unchanged size and time count as proof in a large library that was verified lately.
    """
    sealed = read_seal(library)
    if sealed is None:
        return []
    verified, known_stamps = _read_stamps(library)
    present: dict[str, FileStamp] = {}
    for name, digest in sealed.files.items():
        with suppress(FileNotFoundError):
            present[name] = (*_size_and_time(library / name), digest)
    is_small = sum(size for size, _, _ in present.values()) <= SMALL
    trust_stamps &= not is_small and 0 <= time.time() - verified < TRUST_SECONDS
    damaged = []
    for name, stamp in present.items():
        with suppress(FileNotFoundError):
            if not (trust_stamps and known_stamps.get(name) == stamp) and digest_file(library / name) != stamp[2]:
                damaged.append(name)
    stamps = {name: stamp for name, stamp in present.items() if name not in damaged}
    if stamps != known_stamps or not (trust_stamps or is_small):
        with suppress(UserError):  # the library may be read-only
            _write_stamps(library, verified if trust_stamps else time.time(), stamps)
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


def note_verified(library: Path, verified: float) -> None:
    """Note when all files of the tables had been read last, and were what was written."""
    sealed = read_seal(library)
    names = sealed.files.items() if sealed is not None else ()
    _write_stamps(library, verified, {name: (*_size_and_time(library / name), digest) for name, digest in names})


def verification_time(library: Path) -> float:
    """When all files of the tables were last read; 0 if it is not known."""
    return _read_stamps(library)[0]


def _read_stamps(library: Path) -> tuple[float, dict[str, FileStamp]]:
    """When all files were last read, and what they were then."""
    try:
        content = json.loads((library / _STAMPS).read_bytes())
        stamps = {name: (size, changed, digest) for name, (size, changed, digest) in content["files"].items()}
        return float(content["verified"]), stamps
    except (OSError, ValueError, TypeError, AttributeError, KeyError):
        return 0.0, {}


def _write_stamps(library: Path, verified: float, stamps: Mapping[str, FileStamp]) -> None:
    with atomic_write(library / _STAMPS) as target:
        target.write(json.dumps({"verified": verified, "files": stamps}).encode())
