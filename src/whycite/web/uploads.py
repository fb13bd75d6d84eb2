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

from whycite.documents.containers import open_archive, unwrap
from whycite.documents.sources import DiskFolder, Source
from whycite.errors import UserError

__all__ = ["Upload", "forget", "laid_out", "lay_out", "safe_name", "unpacked"]

_LONGEST = 200  # bytes of a name
_DEEPEST = 8  # folders
_ODD = re.compile(r"[\x00-\x1f\x7f<>:\"|?*\\]")
_MAKING = Lock()
_UNPACKING = Lock()  # what an archive holds is in memory while it is unpacked: one after the other


@dataclass(frozen=True, slots=True)
class Upload:
    """A file as it was sent."""

    name: str
    stream: BinaryIO


def safe_name(name: str) -> str:
    """A relative path that leads nowhere else: no way up, no drive, no odd signs."""
    parts = (_ODD.sub("_", part).strip() for part in name.replace("\\", "/").split("/"))
    kept = [part for part in (_ending(part) for part in parts) if part.strip(". ")]
    return "/".join(kept[-_DEEPEST:]) or "file"


def _ending(part: str) -> str:
    """The end of a name that is too long for a disk: it says what kind of file it is."""
    return part.encode("utf-8", "surrogateescape")[-_LONGEST:].decode("utf-8", "ignore").strip()


@contextmanager
def laid_out(files: Sequence[Upload]) -> Iterator[Path]:
    """A folder with the files."""
    with lay_out(files) as made:
        yield Path(made)


def lay_out(files: Sequence[Upload]) -> TemporaryDirectory[str]:
    """A folder with the files, which is gone once it is cleaned up."""
    made = TemporaryDirectory(dir=Path(_root().name).resolve())
    try:
        for file in files:
            _write(Path(made.name), file)
    except BaseException:
        made.cleanup()
        raise
    return made


@contextmanager
def unpacked(files: Sequence[Upload]) -> Iterator[Path]:
    """A folder with the files; an archive sent alone with what it holds."""
    with laid_out(files) as folder:
        inside = _members(folder, safe_name(files[0].name)) if len(files) == 1 else None
        if inside is None:
            yield folder
            return
    with inside as made:
        yield Path(made)


def _members(folder: Path, name: str) -> TemporaryDirectory[str] | None:
    """What an archive holds, laid out; None where the file is none, or holds nothing that can be read."""
    with _UNPACKING:
        held = open_archive(unwrap(Source(DiskFolder(folder, ""), name)))
        names = held.names() if held is not None else []
        return lay_out([Upload(each, held.open(each)) for each in names]) if held is not None and names else None


def forget() -> None:
    """Drop everything that was laid out, also what is in use."""
    _root().cleanup()


def _root() -> TemporaryDirectory[str]:
    with _MAKING:  # two threads would make two, of which the one that is not kept is gone at once
        if not Path(_made().name).is_dir():  # a server may run so long that somebody clears it away
            _made().cleanup()
            _made.cache_clear()
        return _made()


@lru_cache(maxsize=1)
def _made() -> TemporaryDirectory[str]:
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
