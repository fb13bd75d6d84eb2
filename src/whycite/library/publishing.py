"""Libraries in object storage: one writer publishes snapshots, and readers keep a copy of the last one.

A snapshot lists the files of a library at one commit. Their content is stored in parts, under the checksum of each, so
that a part is never overwritten and is sent once. The object `latest.json` names the snapshot; it is replaced last, and
only if nobody else replaced it meanwhile. A reader copies what it lacks into a new folder, which gets its name when all
checksums are right: nobody ever reads half of a snapshot.

LanceDB can read tables in object storage itself, but needs half a second to a second for an answer, and does not know
of the reading copy, of checksums, or of one commit over all tables.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import shutil
import sqlite3
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock, Thread
from typing import Any
from uuid import uuid4

from whycite.errors import MissingExtra, UserError
from whycite.files import atomic_write
from whycite.library.checksums import Seal, digest_file, note_verified, read_seal, seal, verification_time
from whycite.library.maintenance import open_for_change
from whycite.library.paths import MIRROR, REGISTER, default_path, remote_address
from whycite.library.readingcopy import copied_files, write_copy
from whycite.library.store import Store, open_store, plain_errors, writing
from whycite.library.tables import identifier
from whycite.models.cache import cache_folder

__all__ = ["FOLLOW_SECONDS", "PART_BYTES", "PublishReport", "locate", "mirror", "publish"]

PART_BYTES = 64 << 20  # files that grow at their end, as the heaps of the reading copy do, are sent again from there
_COPIES = f"[!.]*/{MIRROR}"  # not those that are being made, or were when their process was killed
_LATEST, _PARTS, _SNAPSHOTS = "latest.json", "parts", "snapshots"
_FORMAT = 1  # increase it when older versions cannot read what this one publishes
_DIGEST_BYTES = 16
_TRANSFERS = 8  # at once
_GRACE = timedelta(days=1)  # how long a reader may take to copy a snapshot that was replaced meanwhile
FOLLOW_SECONDS = 10.0  # between two looks for a new snapshot
_TAKEN = ("PreconditionFailed", "ConditionalRequestConflict")
_ABSENT = ("NoSuchKey", "404")
_LOGIN = re.compile(r"(?<=://)[^/\s]+@")  # a name and a password in an address, which no message should show
_LOG = logging.getLogger("whycite")

Part = tuple[str, int]  # checksum and bytes


@dataclass(frozen=True, slots=True)
class PublishReport:
    """What publishing a library did."""

    address: str
    version: int  # the number of the library's commit
    state: str  # a checksum of all that answers rest on
    snapshot: str  # a checksum of all files
    files: int
    bytes: int
    sent: int  # bytes that were not there yet


@dataclass(frozen=True, slots=True)
class _SnapshotFile:
    """A file of a snapshot."""

    name: str
    changed: int  # its time in nanoseconds, by which later checks tell that it is the same
    parts: tuple[Part, ...]

    @property
    def size(self) -> int:
        return sum(size for _, size in self.parts)


def publish(path: Path | str | None, address: str) -> PublishReport:
    """Send the last commit of a library to object storage, where readers find it under the address."""
    storage = _Storage(_checked(address))
    place = Path(path).expanduser() if path is not None else default_path()
    if open_store(place) is None:
        raise UserError(f"{place}: no library here yet; create one with: whycite add FOLDER")
    with writing(place, "library publish"), plain_errors(place), TemporaryDirectory() as temporary:
        store = open_for_change(place)
        write_copy(store)
        sealed = read_seal(place)
        if sealed is None or sealed.commit != store.commit.number:
            seal(place, store.commit)
            sealed = read_seal(place)
        assert sealed is not None
        latest, tag = storage.latest()
        _refuse_fork(storage.address, store, latest)
        stored = {part for file in _files_of(latest) for part in file.parts}
        files, sent = [], 0
        for name, file in _published_files(store, sealed, Path(temporary)):
            entry, new = _send(storage, name, file, stored)
            _compare_with_seal(sealed, entry, file)
            files.append(entry)
            sent += new
        content = {
            "format": _FORMAT,
            "state": sealed.state,
            "commit": asdict(store.commit),
            "files": [[file.name, file.changed, file.parts] for file in files],
        }
        snapshot = storage.put_snapshot(content, tag, previous=latest)
        try:
            storage.drop_old(keep=snapshot)
        except UserError as error:  # readers have the new one already
            _LOG.warning("published, but old versions were not deleted: %s", error)
    size = sum(file.size for file in files)
    return PublishReport(storage.address, store.commit.number, sealed.state, snapshot, len(files), size, sent)


def mirror(address: str) -> Path:
    """A folder with a copy of the last snapshot at an address; what is missing is copied first."""
    address = _checked(address)
    home = cache_folder() / "libraries" / f"{identifier(address):x}"
    try:
        storage = _Storage(address)
        latest, _ = storage.latest()
    except UserError as error:
        if (place := _newest(home)) is None:
            raise
        _LOG.warning("%s; answering from the copy of %s", error, _time_of(place))
        return place
    if latest is None:
        raise UserError(f"{address}: no library here yet; publish one with: whycite library publish {address}")
    if latest["format"] > _FORMAT:
        raise UserError(f"{address}: published by a newer version of whycite; update whycite")
    place = home / str(latest["snapshot"])
    with plain_errors(home):
        if not place.exists():
            _copy(storage, latest, home, place)
        os.utime(place / MIRROR)
        _drop_old_copies(home, place)
    return place


class _Follower:
    """The copies that this process reads, and the threads that look for newer snapshots."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._places: dict[str, Path] = {}
        self._looked: dict[str, float] = {}
        self._looking: set[str] = set()

    def place(self, address: str) -> Path:
        """Where to read; the first time at once, and from then on without waiting."""
        with self._lock:
            place = self._places.get(address)
            if place is None or not place.is_dir():  # another process may have dropped what was not used for a day
                self._places[address] = mirror(address)
                self._looked[address] = time.monotonic()
            elif address not in self._looking and time.monotonic() - self._looked[address] >= FOLLOW_SECONDS:
                self._looking.add(address)
                Thread(target=self._look, args=(address,), daemon=True).start()
            return self._places[address]

    def _look(self, address: str) -> None:
        try:
            self._places[address] = mirror(address)
        except UserError as error:  # what is here is whole; the storage may be back the next time
            _LOG.warning("%s", error)
        finally:
            self._looked[address] = time.monotonic()
            self._looking.discard(address)


_FOLLOWER = _Follower()


def locate(address: str) -> Path:
    """Like `mirror`, but looks for a new snapshot every ten seconds only, and does not wait for it."""
    return _FOLLOWER.place(address)


def _checked(address: str) -> str:
    place = remote_address(address)
    if place is None or not re.fullmatch(r"s3://[\w.-]+(?:/[^/]+)*/?", place):
        raise UserError(f"'{address}' is not an address in object storage; give one like s3://bucket/folder")
    return place.rstrip("/")


def _refuse_fork(address: str, store: Store, latest: Mapping[str, Any] | None) -> None:
    """Raise an error if what is published is not an earlier commit of the library."""
    if latest is not None and latest["commit"] not in [asdict(commit) for commit in store.commits()]:
        raise UserError(
            f"{address}: has a library that this one did not grow from (version {latest['commit']['number']} of "
            f"{latest['commit']['time']}); publish to another address"
        )


def _published_files(store: Store, sealed: Seal, temporary: Path) -> Iterator[tuple[str, Path]]:
    """The files that a reader needs, by their names in the library."""
    for name in (*sealed.files, "checksums.json", *copied_files(store.path, store.commit)):
        yield name, store.path / name
    if (store.path / REGISTER).exists():  # another program may be changing it
        with (
            closing(sqlite3.connect(store.path / REGISTER)) as source,
            closing(sqlite3.connect(temporary / REGISTER)) as target,
        ):
            source.backup(target)
        shutil.copystat(store.path / REGISTER, temporary / REGISTER)
        yield REGISTER, temporary / REGISTER


def _send(storage: _Storage, name: str, file: Path, stored: set[Part]) -> tuple[_SnapshotFile, int]:
    """Send the parts of a file that are not stored yet; returns how many bytes that were."""
    parts: list[Part] = []
    sent = 0
    with file.open("rb") as stream:
        while data := stream.read(PART_BYTES):
            part = (_digest(data), len(data))
            if part not in stored:
                storage.put_part(part, data)
                stored.add(part)
                sent += len(data)
            parts.append(part)
    return _SnapshotFile(name, file.stat().st_mtime_ns, tuple(parts)), sent


def _compare_with_seal(sealed: Seal, file: _SnapshotFile, source: Path) -> None:
    """Raise an error if a file of the tables is not what was written."""
    expected = sealed.files.get(file.name)
    digest = file.parts[0][0] if len(file.parts) == 1 else digest_file(source)
    if expected not in (None, digest):
        raise UserError(f"{source}: damaged (its checksum differs); see what can be done with: whycite library check")


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).hexdigest()


def _files_of(snapshot: Mapping[str, Any] | None) -> list[_SnapshotFile]:
    entries = snapshot["files"] if snapshot is not None else []
    return [
        _SnapshotFile(name, changed, tuple((digest, size) for digest, size in parts))
        for name, changed, parts in entries
    ]


def _copy(storage: _Storage, snapshot: Mapping[str, Any], home: Path, place: Path) -> None:
    """Copy a snapshot to a folder, which appears when it is whole."""
    home.mkdir(parents=True, exist_ok=True)
    staging = home / f".{uuid4().hex}"
    local_files, local_parts = _local_files(home)
    verified = time.time()
    try:
        files = _files_of(snapshot)
        for file in files:
            if not _is_safe(file.name):
                raise UserError(f"{storage.address}: names a file outside of the library ({file.name})")
            target = staging / file.name
            target.parent.mkdir(parents=True, exist_ok=True)
            if (twin := local_files.get((file.parts, file.changed))) is not None:
                with suppress(OSError):  # no links on this disk, or just dropped by another process
                    status = twin.stat()
                    if (status.st_size, status.st_mtime_ns) == (file.size, file.changed):
                        os.link(twin, target)
                        # A link is not read: it is as old as the copy that it comes from.
                        verified = min(verified, verification_time(home / twin.relative_to(home).parts[0]))
        missing = [file for file in files if not (staging / file.name).exists()]
        with ThreadPoolExecutor(_TRANSFERS) as pool:
            for _ in pool.map(lambda file: _fetch(storage, file, staging / file.name, local_parts), missing):
                pass
        note_verified(staging, verified)
        content = {"address": storage.address, "files": snapshot["files"], "time": snapshot["commit"]["time"]}
        with atomic_write(staging / MIRROR) as note:
            note.write(json.dumps(content).encode())
        with suppress(OSError):  # another process was faster
            staging.rename(place)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _is_safe(name: str) -> bool:
    """Whether the name of a file leads nowhere but into the library."""
    parts = name.split("/")
    return not {"\\", ":"} & {*name} and not {"", ".", ".."} & {*parts}  # "C:name" is a place of its own on Windows


def _local_files(home: Path) -> tuple[dict[tuple[tuple[Part, ...], int], Path], dict[Part, tuple[Path, int]]]:
    """The files of copies that are here, by content and time; and where each part is."""
    files: dict[tuple[tuple[Part, ...], int], Path] = {}
    parts: dict[Part, tuple[Path, int]] = {}
    for note in home.glob(_COPIES):
        with suppress(OSError, ValueError):
            for file in _files_of(json.loads(note.read_text("utf-8"))):
                files[file.parts, file.changed] = note.parent / file.name
                offset = 0
                for part in file.parts:
                    parts[part] = note.parent / file.name, offset
                    offset += part[1]
    return files, parts


def _fetch(storage: _Storage, file: _SnapshotFile, target: Path, local_parts: Mapping[Part, tuple[Path, int]]) -> None:
    with target.open("wb") as stream:
        for part in file.parts:
            stream.write(_local_part(part, local_parts) or storage.get_part(part))
    os.utime(target, ns=(file.changed, file.changed))


def _local_part(part: Part, local_parts: Mapping[Part, tuple[Path, int]]) -> bytes | None:
    """A part that an older copy has; None if it has not, or not as it was."""
    file, offset = local_parts.get(part, (None, 0))
    if file is None:
        return None
    with suppress(OSError), file.open("rb") as stream:
        stream.seek(offset)
        data = stream.read(part[1])
        return data if _digest(data) == part[0] else None
    return None


def _newest(home: Path) -> Path | None:
    """The copy that was used last."""
    notes: list[tuple[float, Path]] = []
    for note in home.glob(_COPIES):
        with suppress(FileNotFoundError):
            notes.append((note.stat().st_mtime, note.parent))
    return max(notes, default=(0.0, None))[1]


def _time_of(place: Path) -> str:
    return str(json.loads((place / MIRROR).read_text("utf-8"))["time"])


def _drop_old_copies(home: Path, place: Path) -> None:
    """Delete copies that no process has used for a while."""
    for entry in home.iterdir():
        with suppress(OSError):
            age = time.time() - (entry / MIRROR if (entry / MIRROR).exists() else entry).stat().st_mtime
            if entry != place and age > _GRACE.total_seconds():
                shutil.rmtree(entry, ignore_errors=True)


class _Storage:
    """The objects of a library in object storage."""

    def __init__(self, address: str) -> None:
        self.address = address
        bucket, _, folder = address.removeprefix("s3://").partition("/")
        self._bucket, self._folder = bucket, folder.rstrip("/")
        try:
            import boto3
        except ImportError as error:
            raise MissingExtra("a library in object storage", "scale") from error
        # The names that LanceDB reads, too.
        endpoint = os.environ.get("AWS_ENDPOINT_URL") or os.environ.get("AWS_ENDPOINT")
        region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or "us-east-1"
        with self._plain_errors():
            try:
                self._client = boto3.client("s3", endpoint_url=endpoint, region_name=region)
            except ValueError as error:
                raise UserError(
                    f"{address}: AWS_ENDPOINT_URL is not the address of a server; give one like http://localhost:9000"
                ) from error

    def latest(self) -> tuple[dict[str, Any] | None, str | None]:
        """The last snapshot and the tag of the object that names it; None if there is none."""
        from botocore.exceptions import ClientError

        with self._plain_errors():
            try:
                pointer = self._client.get_object(Bucket=self._bucket, Key=self._key(_LATEST))
            except ClientError as error:
                if _code(error) in _ABSENT:
                    return None, None
                raise
            try:
                name = str(json.loads(pointer["Body"].read())["snapshot"])
            except (ValueError, KeyError, TypeError) as error:
                raise UserError(
                    f"{self.address}: {_LATEST} there is not from whycite; give the address of a published library"
                ) from error
            data = self._get(f"{_SNAPSHOTS}/{name}")
            if _digest(data) != name:
                raise UserError(f"{self.address}: the list of files is damaged in storage; publish the library again")
            return json.loads(data) | {"snapshot": name}, pointer["ETag"]

    def put_snapshot(self, content: Mapping[str, Any], tag: str | None, previous: Mapping[str, Any] | None) -> str:
        """Make a snapshot the last one, if that is still the one with the tag."""
        from botocore.exceptions import ClientError

        data = json.dumps(content).encode()
        name = _digest(data)
        if previous is not None and previous["snapshot"] == name:
            return name
        with self._plain_errors():
            self._client.put_object(Bucket=self._bucket, Key=self._key(f"{_SNAPSHOTS}/{name}"), Body=data)
            condition = {"IfNoneMatch": "*"} if tag is None else {"IfMatch": tag}
            try:
                pointer = json.dumps({"snapshot": name}).encode()
                self._client.put_object(Bucket=self._bucket, Key=self._key(_LATEST), Body=pointer, **condition)
            except ClientError as error:
                if _code(error) in _TAKEN:
                    raise UserError(
                        f"{self.address}: somebody else published at the same time; one writer is enough"
                    ) from error
                raise
        return name

    def put_part(self, part: Part, data: bytes) -> None:
        """Store a part."""
        with self._plain_errors():
            self._client.put_object(Bucket=self._bucket, Key=self._key(f"{_PARTS}/{part[0]}"), Body=data)

    def get_part(self, part: Part) -> bytes:
        """A part, as it was stored."""
        with self._plain_errors():
            data = self._get(f"{_PARTS}/{part[0]}")
        if _digest(data) != part[0]:
            raise UserError(f"{self.address}: {_PARTS}/{part[0]} is damaged in storage; publish the library elsewhere")
        return data

    def drop_old(self, keep: str) -> None:
        """Delete the snapshots that nobody can be copying any more, and the parts that only they have."""
        with self._plain_errors():
            # A snapshot was the last until the next one was stored. All times are the storage's: clocks differ. They
            # are in whole seconds, and of those stored in one second the one that is kept is the last.
            snapshots = sorted(self._list(_SNAPSHOTS), key=lambda snapshot: (snapshot[1], snapshot[0] == keep))
            begin = snapshots[-1][1] - _GRACE
            replaced = {name for (name, _), (_, time_replaced) in pairwise(snapshots) if time_replaced < begin} - {keep}
            old = [f"{_SNAPSHOTS}/{name}" for name in replaced]
            needed: set[str] = set()
            for name in {keep, *(name for name, _ in snapshots)} - replaced:
                files = _files_of(json.loads(self._get(f"{_SNAPSHOTS}/{name}")))
                needed |= {digest for file in files for digest, _ in file.parts}
            # Other parts are kept for a while as well: somebody may be publishing them.
            old += [
                f"{_PARTS}/{name}"
                for name, time_stored in self._list(_PARTS)
                if name not in needed and time_stored < begin
            ]
            for name in old:
                self._client.delete_object(Bucket=self._bucket, Key=self._key(name))

    def _list(self, folder: str) -> list[tuple[str, datetime]]:
        prefix = self._key(f"{folder}/")
        pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=prefix)
        return [
            (entry["Key"].removeprefix(prefix), entry["LastModified"])
            for page in pages
            for entry in page.get("Contents", ())
        ]

    def _get(self, name: str) -> bytes:
        data: bytes = self._client.get_object(Bucket=self._bucket, Key=self._key(name))["Body"].read()
        return data

    def _key(self, name: str) -> str:
        return f"{self._folder}/{name}" if self._folder else name

    @contextmanager
    def _plain_errors(self) -> Iterator[None]:
        """Turn errors of the storage into messages for the user."""
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            yield
        except ClientError as error:
            message = error.response.get("Error", {}).get("Message") or str(error)
            raise UserError(f"{self.address}: the storage refused ({_code(error)}: {message})") from error
        except BotoCoreError as error:
            reason = _LOGIN.sub("", str(error))
            raise UserError(
                f"{self.address}: {reason}; credentials and address come from the environment "
                "(AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT_URL)"
            ) from error


def _code(error: Any) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))
