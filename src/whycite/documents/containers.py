"""Compression and archives undone: .gz, .bz2, .xz, .zst, .tar and .zip around any document."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import posixpath
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import BinaryIO, cast

import zstandard

from whycite.documents.sources import Folder, MemoryFolder, Source
from whycite.errors import UserError

__all__ = ["MAX_UNPACKED", "open_archive", "unwrap"]

MAX_UNPACKED = 256 << 20  # bytes of one archive
MAX_MEMBERS = 20_000
_MAX_DEPTH = 3  # compression inside compression
_DAMAGE = (OSError, EOFError, zlib.error, lzma.LZMAError, zstandard.ZstdError)
_TAR_MAGIC = slice(257, 262)
# What can be part of a document; figures and the like are not even unpacked.
_WANTED = frozenset(
    ".tex .ltx .latex .bib .bbl .bst .sty .cls .def .md .markdown .qmd .rmd .typ .txt .xml .nxml .jats .tei "
    ".json .jsonl .ris .nbib .csl .yml .yaml .pdf .gz .zst .bz2 .xz .tar .zip .tgz".split()
)


def _open_zstd(stream: BinaryIO) -> BinaryIO:
    return cast(BinaryIO, zstandard.ZstdDecompressor().stream_reader(stream, read_across_frames=True))


_Opener = Callable[[BinaryIO], BinaryIO]
_OPENERS: tuple[tuple[bytes, str, _Opener], ...] = (
    (b"\x1f\x8b", ".gz", lambda stream: cast(BinaryIO, gzip.GzipFile(fileobj=stream))),
    (b"BZh", ".bz2", lambda stream: cast(BinaryIO, bz2.BZ2File(stream))),
    (b"\xfd7zXZ\0", ".xz", lambda stream: cast(BinaryIO, lzma.LZMAFile(stream))),  # noqa: SIM115
    (b"\x28\xb5\x2f\xfd", ".zst", _open_zstd),
)
_Member = tuple[str, int, Callable[[int], bytes]]  # name, declared size, how to read at most so many bytes


class _Decompressed:
    """A folder in which one file is read through a decompressor; it keeps its name on disk in messages."""

    def __init__(self, inner: Folder, packed: str, name: str, opener: _Opener) -> None:
        self._inner = inner
        self._packed = packed
        self._name = name
        self._opener = opener
        self.warnings = inner.warnings

    def names(self) -> list[str]:
        return sorted({*self._inner.names(), self._name})

    def __contains__(self, name: object) -> bool:
        return name == self._name or name in self._inner

    def open(self, name: str) -> BinaryIO:
        if name != self._name:
            return self._inner.open(name)
        raw = self._inner.open(self._packed)
        return cast(BinaryIO, io.BufferedReader(_Guarded(self._opener(raw), raw, self.path(name)), 1 << 20))

    def path(self, name: str) -> str:
        return self._inner.path(self._packed if name == self._name else name)

    def inside(self, name: str) -> Folder:
        return self._inner.inside(name)


class _Guarded(io.RawIOBase):
    """A decompressed stream whose damage is one plain sentence."""

    def __init__(self, stream: BinaryIO, raw: BinaryIO, path: str) -> None:
        self._stream = stream
        self._raw = raw
        self._path = path

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(cast(bytearray, buffer))
        try:
            data = self._stream.read(len(view))
        except _DAMAGE as error:
            raise UserError(f"{self._path}: the compressed data is damaged ({error})") from error
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._stream.close()
        self._raw.close()
        super().close()


def unwrap(source: Source) -> Source:
    """The source with its compression undone, as a stream; the name loses the suffix."""
    for _ in range(_MAX_DEPTH):
        with source.open() as stream:
            magic = stream.read(6)
        found = next(((suffix, opener) for sign, suffix, opener in _OPENERS if magic.startswith(sign)), None)
        if found is None:
            break
        suffix, opener = found
        low = source.name.lower()
        name = source.name[: -len(suffix)] if low.endswith(suffix) else source.name + ".unpacked"
        if low.endswith(".tgz"):
            name = source.name[:-4] + ".tar"
        source = Source(_Decompressed(source.folder, source.name, name, opener), name)
    return source


def open_archive(source: Source) -> Folder | None:
    """The folder inside a tar or zip file, or None where the source is neither."""
    with source.open() as stream:
        head = stream.read(512)
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        files = _zip_files(source)
    elif head[_TAR_MAGIC] == b"ustar":
        files = _tar_files(source)
    else:
        return None
    warnings: list[str] = []
    try:
        folder = MemoryFolder(_collect(source, files, warnings), source.path)
    except (*_DAMAGE, zipfile.BadZipFile, tarfile.TarError, RuntimeError, NotImplementedError) as error:
        raise UserError(f"{source.path}: the archive cannot be read ({error})") from error
    folder.warnings = warnings
    return folder


def _collect(source: Source, files: Iterator[_Member], warnings: list[str]) -> dict[str, bytes]:
    """The wanted members, within the limits."""
    kept: dict[str, bytes] = {}
    total = 0
    for count, (name, size, read) in enumerate(files):
        if count >= MAX_MEMBERS:
            raise UserError(f"{source.path}: more than {MAX_MEMBERS:,} files; unpack it and name the folder instead")
        name = posixpath.normpath(name.replace("\\", "/"))
        if name.startswith(("/", "..")) or ":" in name.split("/")[0]:
            warnings.append(f"{source.path}: {name} leads out of the archive; left out")
            continue
        if posixpath.splitext(name)[1].lower() not in _WANTED and "." in posixpath.basename(name):
            continue
        data = read(max(0, MAX_UNPACKED - total) + 1) if total + size <= MAX_UNPACKED else b""
        total += max(size, len(data))
        if total > MAX_UNPACKED:
            raise UserError(
                f"{source.path}: unpacks to more than {MAX_UNPACKED >> 20} MB; unpack it and name the folder instead"
            )
        kept[name] = data
    return kept


def _zip_files(source: Source) -> Iterator[_Member]:
    with zipfile.ZipFile(io.BytesIO(source.data(MAX_UNPACKED))) as archive:
        for member in archive.infolist():
            if not member.is_dir():
                yield member.filename, member.file_size, partial(_read_zip, archive, member)


def _read_zip(archive: zipfile.ZipFile, member: zipfile.ZipInfo, limit: int) -> bytes:
    with archive.open(member) as stream:
        return stream.read(limit)


def _tar_files(source: Source) -> Iterator[_Member]:
    with source.open() as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
        for member in archive:
            if member.isfile():
                yield member.name, member.size, partial(_read_tar, archive, member)


def _read_tar(archive: tarfile.TarFile, member: tarfile.TarInfo, limit: int) -> bytes:
    stream = archive.extractfile(member)
    return stream.read(limit) if stream else b""
