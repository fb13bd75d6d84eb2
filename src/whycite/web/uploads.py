"""Uploaded files: safe names, and temporary folders."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from shutil import copyfile, copyfileobj
from tempfile import TemporaryDirectory
from threading import Lock
from typing import BinaryIO

from whycite.documents.sources import DiskFolder, Source, open_archive, unwrap
from whycite.errors import UserError

__all__ = [
    "Upload",
    "remove_all",
    "root_directory",
    "safe_name",
    "unpack_archives",
    "unpacked_folder",
    "upload_folder",
    "write_upload",
    "write_uploads",
]

_MAX_NAME_BYTES = 200
_MAX_DEPTH = 8  # folders
_UNSAFE_SIGNS = re.compile(r"[\x00-\x1f\x7f<>:\"|?*\\]")
_ROOT_LOCK = Lock()
_UNPACK_LOCK = Lock()  # one archive at a time, because its files are unpacked in memory


@dataclass(frozen=True, slots=True)
class Upload:
    """An uploaded file."""

    name: str
    stream: BinaryIO


def safe_name(name: str) -> str:
    """A relative path that cannot leave its folder: no "..", no drive, no special characters."""
    parts = (_UNSAFE_SIGNS.sub("_", part).strip() for part in name.replace("\\", "/").split("/"))
    safe_parts = [part for part in (_name_end(part) for part in parts) if part.strip(". ")]
    return "/".join(safe_parts[-_MAX_DEPTH:]) or "file"


def _name_end(part: str) -> str:
    """The end of a name that is too long for a file system, because it has the file extension."""
    return part.encode("utf-8", "surrogateescape")[-_MAX_NAME_BYTES:].decode("utf-8", "ignore").strip()


@contextmanager
def upload_folder(files: Sequence[Upload]) -> Iterator[Path]:
    """A temporary folder with the files."""
    with write_uploads(files) as folder:
        yield Path(folder)


def write_uploads(files: Sequence[Upload]) -> TemporaryDirectory[str]:
    """Write the files to a temporary folder, which the caller cleans up."""
    directory = TemporaryDirectory(dir=Path(root_directory().name).resolve())
    try:
        for file in files:
            write_upload(Path(directory.name), file)
    except BaseException:
        directory.cleanup()
        raise
    return directory


@contextmanager
def unpacked_folder(files: Sequence[Upload]) -> Iterator[Path]:
    """A temporary folder with the files; archives are unpacked, together with the files beside them."""
    with upload_folder(files) as folder, write_uploads([]) as target:
        yield Path(target) if unpack_archives(folder, Path(target)) else folder


def unpack_archives(folder: Path, target: Path) -> bool:
    """Unpack the archives in a folder to another, together with the files beside them; False if there are none."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    archives = []
    for path in files:
        try:
            archive = _unpack_archive(folder, path.relative_to(folder).as_posix())
        except UserError as error:
            raise UserError(str(error).replace(f"{folder}/", "")) from error
        if archive is not None:
            archives.append(path)
            with archive as unpacked:
                _copy_files((file for file in Path(unpacked).rglob("*") if file.is_file()), Path(unpacked), target)
    if archives:
        _copy_files((path for path in files if path not in archives), folder, target)
    return bool(archives)


def _copy_files(paths: Iterable[Path], source: Path, target: Path) -> None:
    for path in paths:
        name = path.relative_to(source)
        try:
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            copyfile(path, target / name)
        except OSError as error:  # a file here and a folder there with the same name, or a full disk
            raise UserError(f"{name.as_posix()}: cannot be stored ({error.strerror or error})") from error


def _unpack_archive(folder: Path, name: str) -> TemporaryDirectory[str] | None:
    """Unpack an archive; None if the file is not an archive, or has no readable files."""
    with _UNPACK_LOCK:
        archive = open_archive(unwrap(Source(DiskFolder(folder, ""), name)))
        names = archive.names() if archive is not None else []
        return (
            write_uploads([Upload(member, archive.open(member)) for member in names])
            if archive is not None and names
            else None
        )


def remove_all() -> None:
    """Delete all temporary folders, even those in use."""
    root_directory().cleanup()
    _temporary_root.cache_clear()


def root_directory() -> TemporaryDirectory[str]:
    """The parent of all temporary folders."""
    with _ROOT_LOCK:  # or two threads could each create one, and one would be deleted
        if not Path(_temporary_root().name).is_dir():  # it may have been deleted during a long run
            _temporary_root().cleanup()
            _temporary_root.cache_clear()
        return _temporary_root()


@lru_cache(maxsize=1)
def _temporary_root() -> TemporaryDirectory[str]:
    return TemporaryDirectory(prefix="whycite-", ignore_cleanup_errors=True)


def write_upload(folder: Path, file: Upload, *, replace: bool = False) -> None:
    """Write a file to a folder under its safe name; with `replace`, over one with the same name."""
    path = folder / safe_name(file.name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb" if replace else "xb") as target:
            copyfileobj(file.stream, target, 1 << 20)
    except FileExistsError as error:
        raise UserError(f"{safe_name(file.name)}: two files have this name; upload them in folders") from error
    except OSError as error:  # a file and a folder with the same name, or a full disk
        raise UserError(f"{safe_name(file.name)}: cannot be stored ({error.strerror or error})") from error
