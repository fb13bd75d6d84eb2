"""Where bytes come from: files of a closed folder, on disk, compressed or inside an archive."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import os
import posixpath
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO, Protocol, cast

import zstandard

from whycite.errors import UserError

__all__ = ["MAX_UNPACKED", "DiskFolder", "Folder", "MemoryFolder", "Source", "decode", "open_archive", "unwrap"]


MAX_FILE = 64 << 20  # bytes; no document has more text, though a stream of records may
_CHUNK_BYTES = 1 << 20
_HEAD_BYTES = 1 << 16  # enough to recognise any format


class Folder(Protocol):
    """A tree of files by relative POSIX path; nothing outside it can be reached."""

    warnings: list[str]

    def names(self) -> list[str]: ...

    def __contains__(self, name: object) -> bool: ...

    def open(self, name: str) -> BinaryIO: ...

    def path(self, name: str) -> str:
        """The path of a file as messages and documents show it."""

    def subfolder(self, name: str) -> Folder:
        """A subfolder as a closed folder of its own."""


class DiskFolder:
    """A folder on disk; links that lead out of it count as missing, and hidden files are not listed."""

    def __init__(self, root: Path, label: str | None = None) -> None:
        self.root = root.resolve()
        self.label = str(root) if label is None else label
        self.warnings: list[str] = []

    def names(self) -> list[str]:
        names: list[str] = []
        waiting = [""]
        while waiting:
            folder = waiting.pop()
            try:
                entries = list(os.scandir(self.root / folder))
            except OSError as error:
                self.warnings.append(f"{self.path(folder)}: {error.strerror or error}")
                continue
            for entry in entries:
                name = posixpath.join(folder, entry.name)
                if entry.name.startswith("."):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(name)
                elif entry.is_file(follow_symlinks=False) or name in self:
                    names.append(name)
        return sorted(names)

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str) or "\0" in name:
            return False
        try:
            path = (self.root / name).resolve()
            return path.is_relative_to(self.root) and path.is_file()
        except (OSError, RuntimeError):  # a name too long, or a loop of links: not a readable file
            return False

    def open(self, name: str) -> BinaryIO:
        if name not in self:
            raise UserError(f"{self.path(name)}: no such file")
        try:
            return (self.root / name).open("rb")
        except OSError as error:
            raise UserError(f"{self.path(name)}: {error.strerror or error}") from error

    def path(self, name: str) -> str:
        return posixpath.join(self.label, name)

    def subfolder(self, name: str) -> DiskFolder:
        return DiskFolder(self.root / name, self.path(name))


class MemoryFolder:
    """Files held in memory: an unpacked archive, standard input."""

    def __init__(self, files: Mapping[str, bytes], label: str) -> None:
        self._files = files
        self.label = label
        self.warnings: list[str] = []

    def names(self) -> list[str]:
        return sorted(self._files)

    def __contains__(self, name: object) -> bool:
        return name in self._files

    def open(self, name: str) -> BinaryIO:
        return io.BytesIO(self._files[name])

    def path(self, name: str) -> str:
        return posixpath.join(self.label, name)

    def subfolder(self, name: str) -> MemoryFolder:
        files = {path[len(name) + 1 :]: data for path, data in self._files.items() if path.startswith(name + "/")}
        return MemoryFolder(files, self.path(name))


@dataclass(frozen=True)
class Source:
    """One file of a folder."""

    folder: Folder
    name: str

    @property
    def path(self) -> str:
        """The path as messages and documents show it."""
        return self.folder.path(self.name)

    def open(self) -> BinaryIO:
        """The bytes as a stream."""
        return self.folder.open(self.name)

    def head(self) -> bytes:
        """The first bytes, enough to recognise the format."""
        with self.open() as stream:
            return stream.read(_HEAD_BYTES)

    def data(self, limit: int = MAX_FILE) -> bytes:
        """All bytes; an error if the file is too large for a document."""
        chunks: list[bytes] = []
        size = 0
        with self.open() as stream:
            # In pieces: a stream reserves memory for all that it is asked for, however short it is.
            while chunk := stream.read(min(_CHUNK_BYTES, limit + 1 - size)):
                chunks.append(chunk)
                size += len(chunk)
        if size > limit:
            raise UserError(f"{self.path}: larger than {limit >> 20} MB; too large for one document")
        return b"".join(chunks)

    def sibling(self, name: str) -> Source | None:
        """Another file of the folder by its path from the folder's root, or None if there is none."""
        name = posixpath.normpath(name.replace("\\", "/"))
        if name.startswith(("/", "../")) or name not in self.folder:
            return None
        return Source(self.folder, name)


def decode(data: bytes, declared: str | None = None) -> tuple[str, str | None]:
    """The text of a file and, if its encoding had to be guessed, a warning. Line ends are kept."""
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return data.decode(encoding, "replace"), None
    try:
        return data.decode("utf-8"), None
    except UnicodeDecodeError:
        pass
    if declared and (codec := _text_codec(declared)):
        return data.decode(codec, "replace"), None
    # Windows-1252, with its five unassigned bytes as Latin-1: reads any file, and Western text correctly.
    text = data.decode("cp1252", "whycite-latin1")
    return text, "not UTF-8 and no encoding declared; read as Windows-1252"


_BOMS = [
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
]
_ALIASES = {"ansinew": "cp1252", "applemac": "mac_roman", "latin9": "iso8859-15", "utf8x": "utf-8"}


def _text_codec(name: str) -> str | None:
    name = _ALIASES.get(name.lower(), name)
    if not re.fullmatch(r"[\w-]{1,30}", name):
        return None
    try:
        info = codecs.lookup(name)
    except LookupError:
        return None
    return info.name if info._is_text_encoding else None


def _as_latin1(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("latin-1"), error.end


codecs.register_error("whycite-latin1", _as_latin1)


# Limits against archives built to fill memory.
MAX_UNPACKED = 256 << 20  # bytes of one archive
MAX_MEMBERS = 20_000  # files in one archive
_MAX_DEPTH = 3  # layers of compression
_DAMAGE = (OSError, EOFError, zlib.error, lzma.LZMAError, zstandard.ZstdError)
_ZSTD_BYTES = 1 << 10  # decompressed at a time: what was made to fill memory becomes 32 MB, other data some kilobytes
_TAR_MAGIC = slice(257, 262)
_ENCRYPTED = 1  # the flag of a member of a .zip file
_FIRST_NAME = 30  # where a .zip file names its first member
# What can be part of a document; anything else, such as figures, is not even unpacked.
_DOCUMENT_SUFFIXES = frozenset(
    ".tex .ltx .latex .bib .bbl .bst .sty .cls .def .md .markdown .qmd .rmd .typ .txt .xml .nxml .jats .tei "
    ".json .jsonl .ris .nbib .csl .yml .yaml .pdf .docx .docm .odt .gz .zst .bz2 .xz .tar .zip .tgz".split()
)
# Documents that are .zip files themselves: by their suffix, or by the part that they begin with.
_PACKAGE_SUFFIXES = (".docx", ".docm", ".dotx", ".odt", ".ott")
_PACKAGE_SIGNS = (
    *(b"[Content_Types].xml", b"_rels/.rels", b"docProps/", b"word/document.xml"),
    b"mimetypeapplication/vnd.oasis.opendocument.text",
)


class _ZstdStream(io.RawIOBase):
    """Decompressed Zstandard data; the package's own reader takes data that was cut off for complete."""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self._frame = zstandard.ZstdDecompressor().decompressobj()
        self._is_inside = False  # a frame
        self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(cast(bytearray, buffer))
        while not self._ready:
            data = self._frame.unused_data or self._raw.read(_ZSTD_BYTES)
            if not data and self._is_inside:
                raise EOFError("it ends too early")
            if not data:
                return 0
            if self._frame.eof:
                self._frame = zstandard.ZstdDecompressor().decompressobj()
            self._ready = self._frame.decompress(data)
            self._is_inside = not self._frame.eof
        size = min(len(view), len(self._ready))
        view[:size], self._ready = self._ready[:size], self._ready[size:]
        return size


_Opener = Callable[[BinaryIO], BinaryIO]
_OPENERS: tuple[tuple[bytes, str, _Opener], ...] = (
    (b"\x1f\x8b", ".gz", lambda stream: cast(BinaryIO, gzip.GzipFile(fileobj=stream))),
    (b"BZh", ".bz2", lambda stream: cast(BinaryIO, bz2.BZ2File(stream))),
    (b"\xfd7zXZ\0", ".xz", lambda stream: cast(BinaryIO, lzma.LZMAFile(stream))),  # noqa: SIM115
    (b"\x28\xb5\x2f\xfd", ".zst", lambda stream: cast(BinaryIO, _ZstdStream(stream))),
)
_Member = tuple[str, int, Callable[[int], bytes]]  # name, declared size, reader of at most n bytes


class _DecompressingFolder:
    """A folder in which one file is decompressed on the fly; messages show its name on disk."""

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
        return cast(BinaryIO, io.BufferedReader(_GuardedStream(self._opener(raw), raw, self.path(name)), 1 << 20))

    def path(self, name: str) -> str:
        return self._inner.path(self._packed if name == self._name else name)

    def subfolder(self, name: str) -> Folder:
        return self._inner.subfolder(name)


class _GuardedStream(io.RawIOBase):
    """A decompressed stream that reports damage as a UserError."""

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
    """The source decompressed on the fly; its name loses the suffix."""
    for _ in range(_MAX_DEPTH):
        with source.open() as stream:
            magic = stream.read(6)
        match = next(((suffix, opener) for sign, suffix, opener in _OPENERS if magic.startswith(sign)), None)
        if match is None:
            break
        suffix, opener = match
        low = source.name.lower()
        name = source.name[: -len(suffix)] if low.endswith(suffix) else source.name + ".unpacked"
        if low.endswith(".tgz"):
            name = source.name[:-4] + ".tar"
        source = Source(_DecompressingFolder(source.folder, source.name, name, opener), name)
    return source


def open_archive(source: Source) -> Folder | None:
    """The folder inside a tar or zip file, or None if the source is neither, or a word-processor document."""
    with source.open() as stream:
        head = stream.read(512)
    if source.name.lower().endswith(_PACKAGE_SUFFIXES) or head[_FIRST_NAME:].startswith(_PACKAGE_SIGNS):
        return None
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        files = _zip_files(source)
    elif head[_TAR_MAGIC] == b"ustar":
        files = _tar_files(source)
    else:
        return None
    warnings: list[str] = []
    try:
        folder = MemoryFolder(_unpack(source, files, warnings), source.path)
    except UserError:
        raise
    except Exception as error:  # a damaged archive can raise any error: ValueError, struct.error, EOFError…
        raise UserError(f"{source.path}: cannot read the archive ({error})") from error
    folder.warnings = warnings
    return folder


def _unpack(source: Source, files: Iterator[_Member], warnings: list[str]) -> dict[str, bytes]:
    """The members that can be part of a document, within the limits."""
    contents: dict[str, bytes] = {}
    total = 0
    for count, (name, size, read) in enumerate(files):
        if count >= MAX_MEMBERS:
            raise UserError(f"{source.path}: more than {MAX_MEMBERS:,} files; unpack it and give the folder instead")
        name = posixpath.normpath(name.replace("\\", "/"))
        if name.startswith(("/", "..")) or ":" in name.split("/")[0]:
            warnings.append(f"{source.path}: {name} points outside the archive; skipped")
            continue
        if posixpath.splitext(name)[1].lower() not in _DOCUMENT_SUFFIXES and "." in posixpath.basename(name):
            continue
        data = read(max(0, MAX_UNPACKED - total) + 1) if total + size <= MAX_UNPACKED else b""
        total += max(size, len(data))
        if total > MAX_UNPACKED:
            raise UserError(
                f"{source.path}: unpacks to more than {MAX_UNPACKED >> 20} MB; unpack it and give the folder instead"
            )
        contents[name] = data
    return contents


def _zip_files(source: Source) -> Iterator[_Member]:
    with zipfile.ZipFile(io.BytesIO(source.data(MAX_UNPACKED))) as archive:
        for member in archive.infolist():
            if not member.is_dir():
                yield member.filename, member.file_size, partial(_read_zip, source, archive, member)


def _read_zip(source: Source, archive: zipfile.ZipFile, member: zipfile.ZipInfo, limit: int) -> bytes:
    if member.flag_bits & _ENCRYPTED:
        raise UserError(f"{source.path}: {member.filename} is encrypted; unpack it and give the folder instead")
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
