"""What goes wrong is told in a sentence that says what to do."""

import errno
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import hashing_encoder
from whycite.documents.model import Document
from whycite.errors import UserError
from whycite.library import AddProgress, Library, add_documents, adding, compact, remove
from whycite.library.readingcopy import copy_folder
from whycite.library.store import open_store, plain_errors

Make = Callable[..., Document]
Read = Callable[[Path], Any]
WORKER = Path(__file__).with_name("worker.py")


def test_there_is_none(place: Path) -> None:
    for ask in (Library.open, compact, lambda at: remove(at, ["a.md"])):
        with pytest.raises(UserError, match="no library here yet; create one with: whycite add FOLDER"):
            ask(place)
    assert not place.exists()


def test_a_file_is_no_library(place: Path, encoder: Any, numbered: Make) -> None:
    place.write_text("notes")
    for ask in (Library.open, lambda at: add_documents(at, [numbered(1)], encoder=encoder)):
        with pytest.raises(UserError, match="not a library but a file"):
            ask(place)
    with pytest.raises(UserError, match="Not a directory"):
        add_documents(place / "below", [numbered(1)], encoder=encoder)
    assert place.read_text() == "notes"


def test_a_folder_of_other_things_is_left_alone(place: Path, encoder: Any, numbered: Make) -> None:
    place.mkdir()
    (place / "thesis.tex").write_text("text")
    for ask in (Library.open, lambda at: add_documents(at, [numbered(1)], encoder=encoder)):
        with pytest.raises(UserError, match=r"not a library \(it contains thesis\.tex\); choose another folder"):
            ask(place)
    assert [file.name for file in place.iterdir()] == ["thesis.tex"]


def test_of_a_newer_program(place: Path, encoder: Any, numbered: Make) -> None:
    add_documents(place, [numbered(1)], jobs=1, encoder=encoder)
    store = open_store(place)
    assert store is not None
    commits = store.database.open_table("commits")
    last = max(commits.to_arrow().to_pylist(), key=lambda row: row["commit"])
    commits.add([last | {"commit": last["commit"] + 1, "schema": last["schema"] + 1}])
    for ask in (Library.open, compact, lambda at: add_documents(at, [numbered(2)], encoder=encoder)):
        with pytest.raises(
            UserError, match=r"newer version of whycite \(schema 3, this version supports 2\); update whycite"
        ):
            ask(place)


def test_another_encoder(place: Path, encoder: Any, numbered: Make) -> None:
    add_documents(place, [numbered(1)], jobs=1, encoder=encoder)
    other = hashing_encoder("fake@2")
    told = (
        r"uses the encoder fake@1, not fake@2; omit --encoder, or move .* with: whycite library reindex --encoder fake$"
    )
    with pytest.raises(UserError, match=told):
        add_documents(place, [numbered(2)], jobs=1, encoder=other)
    assert Library.open(place).info().documents == 1


@pytest.mark.parametrize("left", [[], ["commits.lance/_transactions"], ["papers.lance/data"]], ids=str)
def test_what_was_begun_and_not_finished_is_begun_again(
    place: Path, encoder: Any, numbered: Make, left: list[str]
) -> None:
    place.mkdir()
    for folder in left:
        (place / folder).mkdir(parents=True)
    with pytest.raises(UserError, match="no library here yet"):
        Library.open(place)
    add_documents(place, [numbered(1)], jobs=1, encoder=encoder)
    assert Library.open(place).info().documents == 1


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "the disk is full; everything added so far is safe"),
        (RuntimeError("lance error: No space left on device (os error 28), x.rs:1"), "the disk is full"),
        (OSError(errno.EROFS, "Read-only file system"), "not writable; choose another folder with --library"),
        (PermissionError(errno.EACCES, "Permission denied"), "not writable"),
        (RuntimeError("lance error: Permission denied (os error 13)"), "not writable"),
        (OSError(errno.EIO, "Input/output error"), "Input/output error"),
        (OSError("strange"), "strange"),
        (RuntimeError("lance error: Not found: x, /src/x.rs"), r"cannot be read \(lance error: Not found: x\)"),
        (ValueError("file does not appear to be a Lance file"), "restore the folder from a backup"),
    ],
)  # fmt: skip
def test_what_the_disk_refuses(place: Path, error: Exception, told: str) -> None:
    with pytest.raises(UserError, match=told) as caught, plain_errors(place):
        raise error
    assert str(caught.value).startswith(f"{place}: ")
    assert caught.value.__cause__ is error


@pytest.mark.parametrize("error", [ValueError("our own"), RuntimeError("our own"), KeyError("x"), KeyboardInterrupt()])
def test_mistakes_of_the_program_are_not_hidden(place: Path, error: BaseException) -> None:
    with pytest.raises(type(error)) as caught, plain_errors(place):
        raise error
    assert caught.value is error


@pytest.mark.parametrize(
    ("table", "harm"),
    [
        ("papers", "gone"),
        ("documents", "cut"),
        ("spans", "overwritten"),
        ("citations", "cut"),
        ("commits", "overwritten"),
    ],
)
def test_damaged_files(place: Path, encoder: Any, numbered: Make, table: str, harm: str) -> None:
    add_documents(place, [numbered(1), numbered(2)], jobs=1, encoder=encoder)
    shutil.rmtree(copy_folder(place))  # which would answer for some of them
    for file in (place / f"{table}.lance" / "data").iterdir():
        content = file.read_bytes()
        if harm == "gone":
            file.unlink()
        else:
            file.write_bytes(content[: len(content) // 2] if harm == "cut" else b"\xff" * len(content))

    def ask() -> None:
        library = Library.open(place)
        hits = library.search_spans("cells", encoder.encode(["cells"])[0])
        library.search_papers("cells", encoder.encode(["cells"])[0])
        library.citations([hit.id for hit in hits])
        list(library.documents())

    with pytest.raises(UserError, match=r"cannot be read \(" if harm == "gone" else "its checksum differs"):
        ask()
    for write in (lambda: add_documents(place, [numbered(3)], jobs=1, encoder=encoder), lambda: compact(place)):
        with suppress(UserError):  # it need not read what is damaged
            write()


def test_lost_commits_do_not_make_it_a_new_library(place: Path, encoder: Any, numbered: Make) -> None:
    add_documents(place, [numbered(1)], jobs=1, encoder=encoder)
    shutil.rmtree(place / "commits.lance" / "_versions")
    with pytest.raises(UserError, match="cannot be read"):
        add_documents(place, [numbered(2)], jobs=1, encoder=encoder)
    assert any((place / "documents.lance" / "data").iterdir())


def test_lock_that_cannot_be_made(place: Path, encoder: Any, numbered: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    add_documents(place, [numbered(1)], jobs=1, encoder=encoder)

    def refuse(*args: Any, **options: Any) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(Path, "write_text", refuse)
    with pytest.raises(UserError, match="not writable"):
        add_documents(place, [numbered(2)], jobs=1, encoder=encoder)
    assert Library.open(place).info().documents == 1


def test_no_room_for_more(place: Path, encoder: Any, numbered: Make, content: Read) -> None:
    papers = [numbered(at) for at in range(4)]
    add_documents(place, papers[:2], jobs=1, encoder=encoder)
    before = content(place)
    limit = 600  # bytes of a file: less than any table needs
    code = (
        f"import sys; sys.argv[1:] = ['add', {str(place)!r}, '4']; import resource, signal, runpy;"
        f"signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}));"
        f"runpy.run_path({str(WORKER)!r}, run_name='__main__')"
    )
    ran = subprocess.run([sys.executable, "-B", "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert ran.stderr.strip().splitlines()[-1].startswith(f"whycite.errors.UserError: {place}: ")
    assert content(place) == before
    add_documents(place, papers, jobs=1, encoder=encoder)
    assert Library.open(place).info().documents == 4
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != limit


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of a megabyte."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("no disk may be mounted here")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def test_a_full_disk_loses_nothing(
    small_disk: Path, encoder: Any, numbered: Make, content: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = small_disk / "library"
    monkeypatch.setattr(adding, "BATCH_DOCUMENTS", 5)
    told = 0

    def tell(progress: AddProgress) -> None:
        nonlocal told
        told = progress.added

    with pytest.raises(UserError, match="the disk is full; everything added so far is safe"):
        add_documents(place, map(numbered, range(1_000)), jobs=1, encoder=encoder, progress=tell)
    assert told >= 5
    assert Library.open(place).info().documents >= told
    moved = shutil.copytree(place, small_disk.with_name("moved"))
    add_documents(moved, map(numbered, range(told + 10)), jobs=1, encoder=encoder)
    fresh = small_disk.with_name("fresh")
    add_documents(fresh, map(numbered, range(told + 10)), jobs=1, encoder=encoder)
    assert content(moved) == content(fresh)
