"""A library in object storage: published whole, read from a copy, moved to the next without a stop."""

import json
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from threading import Event
from typing import Any
from urllib.request import Request, urlopen

import pytest
from typer.testing import CliRunner

from tests.fakes import FakeEncoder
from whycite.cli import app
from whycite.documents.model import Document
from whycite.errors import MissingExtra, UserError
from whycite.library import Library, add_documents, inspect, publish, publishing
from whycite.library.checksums import verification_time
from whycite.library.paths import MIRROR, default_path
from whycite.library.publishing import mirror
from whycite.library.store import writing
from whycite.service.loading import CurrentLibrary

Make = Callable[..., Document]
ADDRESS = "s3://papers/our/library"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Object storage on this machine."""
    moto = pytest.importorskip("moto.server")
    storage = moto.ThreadedMotoServer(port=0, verbose=False)
    storage.start()
    host, port = storage.get_host_and_port()
    yield f"http://{host}:{port}"
    storage.stop()


@pytest.fixture
def storage(server: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """An empty bucket, and a cache of the test's own."""
    import boto3

    for name, value in {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_ENDPOINT_URL": server,
        "WHYCITE_CACHE": str(tmp_path / "cache"),
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(publishing, "_FOLLOWER", publishing._Follower())
    client = boto3.client("s3", region_name="us-east-1")
    client.create_bucket(Bucket="papers")
    yield client
    urlopen(Request(f"{server}/moto-api/reset", method="POST")).close()


def _names(storage: Any, folder: str) -> set[str]:
    entries = storage.list_objects_v2(Bucket="papers", Prefix=f"our/library/{folder}").get("Contents", ())
    return {entry["Key"] for entry in entries}


def _answers(place: Path, encoder: FakeEncoder) -> Any:
    library = Library.open(place)
    [vector] = encoder.encode(["cells"])
    spans = library.search_spans("growing cells", vector)
    assert library.snapshot.reading_copy is not None
    return spans, library.search_papers("cells", vector), library.citations([span.id for span in spans])


def test_a_reader_gets_the_same_answers(library: Path, encoder: FakeEncoder, storage: Any) -> None:
    report = publish(library, ADDRESS)
    copy = mirror(ADDRESS)
    assert _answers(copy, encoder) == _answers(library, encoder)
    assert (report.version, report.state) == (Library.open(library).version, Library.open(copy).state)
    assert inspect(copy).is_sound
    assert mirror(f"{ADDRESS}/") == copy


def test_only_what_is_new_is_sent(
    library: Path, encoder: FakeEncoder, storage: Any, numbered: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publishing, "PART_BYTES", 20_000)
    first = publish(library, ADDRESS)
    again = publish(library, ADDRESS)
    assert (again.sent, again.snapshot) == (0, first.snapshot)
    old = mirror(ADDRESS)
    add_documents(library, [numbered(7)], jobs=1, encoder=encoder)
    second = publish(library, ADDRESS)
    assert 0 < second.sent < second.bytes
    reads: set[Any] = set()
    get_part = publishing._Storage.get_part

    def note_part(storage: Any, part: Any) -> bytes:
        reads.add(part)
        return get_part(storage, part)

    monkeypatch.setattr(publishing._Storage, "get_part", note_part)
    new = mirror(ADDRESS)
    assert new != old
    assert verification_time(new) == verification_time(old)  # what is linked is not read again
    assert sum(size for _, size in reads) <= second.sent
    assert _answers(new, encoder) == _answers(library, encoder)
    assert inspect(new).is_sound
    assert inspect(old).is_sound  # somebody may be reading it


def test_a_server_moves_on_without_a_stop(
    library: Path, encoder: FakeEncoder, storage: Any, numbered: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publishing, "FOLLOW_SECONDS", 0.0)
    publish(library, ADDRESS)
    monkeypatch.setenv("WHYCITE_LIBRARY", ADDRESS)
    current = CurrentLibrary(None)
    assert current.library().info().documents == 6
    add_documents(library, [numbered(7)], jobs=1, encoder=encoder)
    publish(library, ADDRESS)
    deadline = time.monotonic() + 120
    while current.library().info().documents == 6:
        assert time.monotonic() < deadline
    assert current.library().info().documents == 7


def test_a_server_looks_once_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Copying a large snapshot takes longer than the time between two looks."""
    monkeypatch.setattr(publishing, "FOLLOW_SECONDS", 0.0)
    monkeypatch.setattr(publishing, "mirror", lambda _: tmp_path)
    follower = publishing._Follower()
    assert follower.place(ADDRESS) == tmp_path
    looks: list[str] = []
    begun, may_end = Event(), Event()

    def copy_slowly(address: str) -> Path:
        looks.append(address)
        begun.set()
        may_end.wait(60)
        return tmp_path / "new"

    monkeypatch.setattr(publishing, "mirror", copy_slowly)
    for _ in range(5):
        assert follower.place(ADDRESS) == tmp_path
    assert begun.wait(60)
    assert follower.place(ADDRESS) == tmp_path
    assert looks == [ADDRESS]
    may_end.set()


def test_a_server_outlives_the_copy_it_began_with(library: Path, storage: Any) -> None:
    publish(library, ADDRESS)
    copy = mirror(ADDRESS)
    current = CurrentLibrary(copy)
    assert current.library().info().documents == 6
    shutil.rmtree(copy)  # as it is a day after it was replaced
    assert current.library().info().documents == 6
    assert current.stated_path == mirror(ADDRESS)


def test_a_damaged_copy_says_how_to_mend_it(library: Path, storage: Any) -> None:
    publish(library, ADDRESS)
    copy = mirror(ADDRESS)
    file = next((copy / "spans.lance" / "data").iterdir())
    file.write_bytes(file.read_bytes()[:-1] + b"?")
    with pytest.raises(UserError, match=f"damaged .*; delete {copy.parent}, and it is copied again"):
        Library.open(copy)
    shown = CliRunner().invoke(app, ["library", "check", "--library", ADDRESS]).output
    assert f"; delete {copy.parent}, and it is copied again" in " ".join(shown.split())
    shutil.rmtree(copy.parent)
    assert Library.open(mirror(ADDRESS)).info().documents == 6


def test_half_of_a_snapshot_is_never_read(
    library: Path, encoder: FakeEncoder, storage: Any, numbered: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(library, ADDRESS)
    old = mirror(ADDRESS)
    before = _answers(old, encoder)
    add_documents(library, [numbered(7)], jobs=1, encoder=encoder)
    with monkeypatch.context() as patch:  # the writer dies before the end
        patch.setattr(publishing._Storage, "put_snapshot", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            publish(library, ADDRESS)
    assert mirror(ADDRESS) == old
    publish(library, ADDRESS)
    for name in _names(storage, "parts"):
        storage.put_object(Bucket="papers", Key=name, Body=b"damaged")
    with pytest.raises(UserError, match="is damaged in storage"):
        mirror(ADDRESS)
    assert [entry.name for entry in old.parent.iterdir()] == [old.name]
    assert _answers(old, encoder) == before


def test_out_of_reach_the_last_copy_answers(
    library: Path, storage: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    publish(library, ADDRESS)
    copy = mirror(ADDRESS)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    assert mirror(ADDRESS) == copy
    assert "answering from the copy of" in caplog.text
    with pytest.raises(UserError, match="AWS_ENDPOINT_URL"):
        mirror("s3://papers/another")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://name:secret@127.0.0.1:1")
    with pytest.raises(UserError, match=r"^[^@]*//127\.0\.0\.1:1/[^@]*$"):
        mirror("s3://papers/another")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "127.0.0.1:1")
    with pytest.raises(UserError, match="AWS_ENDPOINT_URL is not the address of a server"):
        mirror("s3://papers/another")


def test_a_copy_is_not_changed(library: Path, storage: Any, encoder: FakeEncoder, numbered: Make) -> None:
    publish(library, ADDRESS)
    copy = mirror(ADDRESS)
    with pytest.raises(UserError, match=f"{ADDRESS}: can only be read here"):
        add_documents(copy, [numbered(9)], jobs=1, encoder=encoder)


def test_another_library_does_not_take_the_place(
    library: Path, storage: Any, encoder: FakeEncoder, numbered: Make, tmp_path: Path
) -> None:
    fork = tmp_path / "fork"
    shutil.copytree(library, fork)
    add_documents(library, [numbered(7)], jobs=1, encoder=encoder)
    publish(library, ADDRESS)
    with pytest.raises(UserError, match="has a library that this one did not grow from"):
        publish(fork, ADDRESS)


def test_two_writers_at_once(library: Path, storage: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    send = publishing._send

    def send_late(*arguments: Any) -> Any:
        body = json.dumps({"snapshot": "another"}).encode()
        storage.put_object(Bucket="papers", Key="our/library/latest.json", Body=body)
        return send(*arguments)

    monkeypatch.setattr(publishing, "_send", send_late)
    with pytest.raises(UserError, match="somebody else published at the same time"):
        publish(library, ADDRESS)


def test_a_damaged_library_is_not_published(library: Path, storage: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def damage(*arguments: Any) -> None:
        file = next((library / "spans.lance" / "data").iterdir())
        file.write_bytes(file.read_bytes()[:-1] + b"?")

    monkeypatch.setattr(publishing, "_refuse_fork", damage)
    with pytest.raises(UserError, match="its checksum differs"):
        publish(library, ADDRESS)
    assert not _names(storage, "latest")


def test_old_snapshots_and_their_parts_go(
    library: Path, storage: Any, encoder: FakeEncoder, numbered: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(library, ADDRESS)
    old = mirror(ADDRESS)
    parts = _names(storage, "parts")
    add_documents(library, [numbered(7)], jobs=1, encoder=encoder)
    publish(library, ADDRESS)
    assert parts <= _names(storage, "parts")  # somebody may be copying it
    monkeypatch.setattr(publishing, "_GRACE", -publishing._GRACE)
    publish(library, ADDRESS)
    assert len(_names(storage, "snapshots")) == 1
    assert not parts <= _names(storage, "parts")
    new = mirror(ADDRESS)
    assert [entry.name for entry in old.parent.iterdir()] == [new.name]
    assert _answers(new, encoder) == _answers(library, encoder)


def test_a_snapshot_stays_for_a_day_after_it_was_replaced(
    library: Path, storage: Any, encoder: FakeEncoder, numbered: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(library, ADDRESS)
    old = _names(storage, "")
    add_documents(library, [numbered(7)], jobs=1, encoder=encoder)
    list_objects = publishing._Storage._list

    def list_aged(storage: Any, folder: str) -> Any:
        return [
            (name, time - timedelta(days=9) if f"our/library/{folder}/{name}" in old else time)
            for name, time in list_objects(storage, folder)
        ]

    monkeypatch.setattr(publishing._Storage, "_list", list_aged)
    publish(library, ADDRESS)
    assert old <= _names(storage, "")  # somebody may have begun to copy it a minute ago


def test_old_snapshots_that_cannot_be_deleted(
    library: Path, storage: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*_: Any) -> None:
        raise UserError("the storage refused (AccessDenied)")

    monkeypatch.setattr(publishing._Storage, "_list", refuse)
    assert publish(library, ADDRESS).sent
    assert "old versions were not deleted: the storage refused (AccessDenied)" in caplog.text
    assert mirror(ADDRESS).is_dir()


def test_what_a_killed_reader_left_is_not_read(library: Path, storage: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(library, ADDRESS)
    copy = mirror(ADDRESS)
    unfinished = copy.with_name(f".{copy.name}")
    unfinished.mkdir()
    (unfinished / MIRROR).write_text("{", "utf-8")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    assert mirror(ADDRESS) == copy


def test_names_lead_nowhere_else(library: Path, storage: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("/escape", "a/../../escape", "a//b", "C:escape", "a\\..\\escape"):
        assert not publishing._is_safe(name)
    monkeypatch.setattr(publishing, "_published_files", lambda *_: [("../escape", next(library.glob("*.json")))])
    publish(library, ADDRESS)
    with pytest.raises(UserError, match="outside of the library"):
        mirror(ADDRESS)


def test_publishing_takes_its_turn(library: Path, storage: Any) -> None:
    with writing(library, "add"), pytest.raises(UserError, match="in use by `whycite add`"):
        publish(library, ADDRESS)


def test_mistakes_are_told(library: Path, storage: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for address in ("papers", "s3:", "s3://", "https://papers/x", "s3://name:secret@papers/x"):
        with pytest.raises(UserError, match="give one like s3://bucket/folder"):
            publish(library, address)
    with pytest.raises(UserError, match="no library here yet; create one"):
        publish(tmp_path / "nothing", ADDRESS)
    with pytest.raises(UserError, match="no library here yet; publish one with: whycite library publish"):
        mirror(ADDRESS)
    with pytest.raises(UserError, match="NoSuchBucket"):
        publish(library, "s3://nobody/library")
    storage.put_object(Bucket="papers", Key="our/library/latest.json", Body=b"<html>")
    with pytest.raises(UserError, match="is not from whycite"):
        mirror(ADDRESS)
    monkeypatch.setitem(sys.modules, "boto3", None)
    with pytest.raises(MissingExtra, match=r"pip install 'whycite\[scale\]'"):
        mirror(ADDRESS)


def test_from_the_command_line(library: Path, storage: Any) -> None:
    run = CliRunner().invoke
    result = run(app, ["library", "publish", ADDRESS, "--library", str(library)])
    assert result.output.startswith(f"Published version {Library.open(library).version} at {ADDRESS}: ")
    report = json.loads(run(app, ["library", "publish", ADDRESS, "--json", "--library", str(library)]).output)
    assert report["sent"] == 0
    info = json.loads(run(app, ["library", "info", "--library", ADDRESS, "--json"]).output)
    assert info["documents"] == 6
    assert (Path(info["path"]) / MIRROR).exists()


def test_the_environment_can_name_it(library: Path, storage: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(library, ADDRESS)
    monkeypatch.setenv("WHYCITE_LIBRARY", ADDRESS)
    assert default_path() == mirror(ADDRESS)
    assert Library.open().info().documents == 6
