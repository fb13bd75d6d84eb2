"""Files that a browser sends: safe names, and a folder on disk for as long as they are needed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from threading import Lock
from typing import BinaryIO

from whycite.documents.sources import DiskFolder, Source, open_archive, unwrap
from whycite.errors import UserError

__all__ = ["Upload", "remove_all", "root_directory", "safe_name", "unpacked_folder", "upload_folder", "write_uploads"]

_MAX_NAME_BYTES = 200  # bytes of a name
_MAX_DEPTH = 8  # folders
_UNSAFE_SIGNS = re.compile(r"[\x00-\x1f\x7f<>:\"|?*\\]")
_ROOT_LOCK = Lock()
_UNPACK_LOCK = Lock()  # what an archive holds is in memory while it is unpacked: one after the other


@dataclass(frozen=True, slots=True)
class Upload:
    """A file as it was sent."""

    name: str
    stream: BinaryIO


def safe_name(name: str) -> str:
    """A relative path that leads nowhere else: no way up, no drive, no odd signs."""
    parts = (_UNSAFE_SIGNS.sub("_", part).strip() for part in name.replace("\\", "/").split("/"))
    safe_parts = [part for part in (_name_end(part) for part in parts) if part.strip(". ")]
    return "/".join(safe_parts[-_MAX_DEPTH:]) or "file"


def _name_end(part: str) -> str:
    """The end of a name that is too long for a disk: it says what kind of file it is."""
    return part.encode("utf-8", "surrogateescape")[-_MAX_NAME_BYTES:].decode("utf-8", "ignore").strip()


@contextmanager
def upload_folder(files: Sequence[Upload]) -> Iterator[Path]:
    """A folder with the files."""
    with write_uploads(files) as folder:
        yield Path(folder)


def write_uploads(files: Sequence[Upload]) -> TemporaryDirectory[str]:
    """A folder with the files, which is gone once it is cleaned up."""
    directory = TemporaryDirectory(dir=Path(root_directory().name).resolve())
    try:
        for file in files:
            _write(Path(directory.name), file)
    except BaseException:
        directory.cleanup()
        raise
    return directory


@contextmanager
def unpacked_folder(files: Sequence[Upload]) -> Iterator[Path]:
    """A folder with the files; an archive sent alone with what it holds."""
    with upload_folder(files) as folder:
        archive_directory = _unpack_archive(folder, safe_name(files[0].name)) if len(files) == 1 else None
        if archive_directory is None:
            yield folder
            return
    with archive_directory as path:
        yield Path(path)


def _unpack_archive(folder: Path, name: str) -> TemporaryDirectory[str] | None:
    """What an archive holds, laid out; None where the file is none, or holds nothing that can be read."""
    with _UNPACK_LOCK:
        archive = open_archive(unwrap(Source(DiskFolder(folder, ""), name)))
        names = archive.names() if archive is not None else []
        return (
            write_uploads([Upload(member, archive.open(member)) for member in names])
            if archive is not None and names
            else None
        )


def remove_all() -> None:
    """Drop everything that was laid out, also what is in use."""
    root_directory().cleanup()
    _temporary_root.cache_clear()


def root_directory() -> TemporaryDirectory[str]:
    """The folder that holds those of all uploads."""
    with _ROOT_LOCK:  # two threads would make two, of which the one that is not kept is gone at once
        if not Path(_temporary_root().name).is_dir():  # a server may run so long that somebody clears it away
            _temporary_root().cleanup()
            _temporary_root.cache_clear()
        return _temporary_root()


@lru_cache(maxsize=1)
def _temporary_root() -> TemporaryDirectory[str]:
    return TemporaryDirectory(prefix="whycite-", ignore_cleanup_errors=True)


def _write(folder: Path, file: Upload) -> None:
    path = folder / safe_name(file.name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as target:
            copyfileobj(file.stream, target, 1 << 20)
    except FileExistsError as error:
        raise UserError(f"{safe_name(file.name)}: two of the files have this name; send them in folders") from error
    except OSError as error:  # a file and a folder of one name, a disk that is full
        raise UserError(f"{safe_name(file.name)}: cannot be laid out ({error.strerror or error})") from error
