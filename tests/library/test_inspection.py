"""A library that was changed behind whycite's back: nothing wrong is read, and what can be is made anew."""

import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from whycite.documents.model import Document
from whycite.errors import UserError
from whycite.library import Library, add_documents, checksums, inspect, maintenance, readingcopy
from whycite.library.readingcopy import copy_folder

Make = Callable[..., Document]
_SEED = 20
_FLIPS = 30


def _answers(place: Path, encoder: Any) -> list[Any]:
    library = Library.open(place)
    vector = encoder.encode(["cells"])[0]
    spans = library.search_spans("cells", vector)
    papers = library.search_papers("cells", vector)
    citations = library.citations([span.id for span in spans])
    sources = library.sources([citation.document for citation in citations])
    ids = [paper.id for paper in papers]
    return [
        spans, papers, citations, sources, library.papers(ids), library.support(ids), library.outlines(ids, vector),
        list(library.documents()),
    ]  # fmt: skip


def _flip(file: Path, generator: random.Random) -> None:
    """Change one bit as a failing disk does: the time of the file stays."""
    content, status = bytearray(file.read_bytes()), file.stat()
    content[generator.randrange(len(content))] ^= 1 << generator.randrange(8)
    file.write_bytes(content)
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))


def test_a_library_is_sound_and_names_its_state(library: Path, encoder: Any, numbered: Make) -> None:
    inspection = inspect(library)
    assert inspection.is_sound
    assert inspection.damage == ()
    assert inspection.files > 10
    assert inspection.state == Library.open(library).state
    add_documents(library, [numbered(9)], jobs=1, encoder=encoder)
    assert inspect(library).is_sound
    assert Library.open(library).state not in (None, inspection.state)


def test_adding_nothing_new_keeps_the_state(library: Path, encoder: Any, numbered: Make) -> None:
    state = Library.open(library).state
    add_documents(library, [numbered(1)], jobs=1, encoder=encoder)
    assert Library.open(library).state == state


def test_one_bit_anywhere_never_changes_an_answer_unnoticed(library: Path, encoder: Any, tmp_path: Path) -> None:
    expected = _answers(library, encoder)
    generator = random.Random(_SEED)
    files = sorted(
        file
        for file in library.rglob("*")
        if file.is_file() and file.stat().st_size and not file.name.startswith(("writer.", "checksums.stamps"))
        if file.name != "latest_version_hint.json"
    )
    told = 0
    for number in range(_FLIPS):
        damaged = tmp_path / f"copy{number}"
        shutil.copytree(library, damaged)
        file = damaged / generator.choice(files).relative_to(library)
        _flip(file, generator)
        inspection = inspect(damaged)
        assert not inspection.is_sound, file
        try:
            answers = _answers(damaged, encoder)
        except UserError:
            told += 1
        else:
            assert answers == expected, file
        shutil.rmtree(damaged)
    assert 0 < told < _FLIPS


def test_the_reading_copy_is_made_anew(library: Path, encoder: Any) -> None:
    expected = _answers(library, encoder)
    generator = random.Random(_SEED)
    for file in sorted(copy_folder(library).rglob("*")):
        if file.is_file() and file.stat().st_size:
            _flip(file, generator)
            assert {damage.kind for damage in inspect(library).damage} == {"copy"}
            repaired = inspect(library, repair=True)
            assert repaired.is_sound
            assert {damage.repaired for damage in repaired.damage} == {True}
            assert inspect(library).damage == ()
            assert Library.open(library).snapshot.reading_copy is not None
    assert _answers(library, encoder) == expected


def test_indices_are_made_anew(library: Path, encoder: Any) -> None:
    expected = _answers(library, encoder)
    maintenance.compact(library)
    file = max((library / "spans.lance" / "_indices").rglob("*.lance"), key=lambda file: file.stat().st_size)
    _flip(file, random.Random(_SEED))
    with pytest.raises(UserError, match="whycite library check"):
        Library.open(library)
    assert {damage.kind for damage in inspect(library).damage} == {"index"}
    assert inspect(library, repair=True).is_sound
    assert inspect(library).damage == ()
    assert _answers(library, encoder) == expected


def test_tables_that_are_damaged_stay_as_they_are(library: Path) -> None:
    [file, *_] = sorted((library / "spans.lance" / "data").iterdir())
    _flip(file, random.Random(_SEED))
    content = file.read_bytes()
    inspection = inspect(library, repair=True)
    assert not inspection.is_sound
    assert [damage.file for damage in inspection.damage] == [file.relative_to(library).as_posix()]
    assert file.read_bytes() == content
    file.unlink()
    assert [damage.kind for damage in inspect(library).damage] == ["table"]


def test_a_library_without_checksums_opens_and_gets_them(library: Path, encoder: Any, numbered: Make) -> None:
    for file in library.glob("checksums.*"):
        file.unlink()
    manifest = next(copy_folder(library).rglob("facts.json"))
    content = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({key: content[key] for key in content if key not in ("files", "checksum")}))
    for file in copy_folder(library).rglob("*.checks.npy"):
        file.unlink()
    opened = Library.open(library)
    assert opened.state is None
    assert opened.snapshot.reading_copy is not None
    assert inspect(library).files == 0
    assert inspect(library, repair=True).files > 0
    add_documents(library, [numbered(9)], jobs=1, encoder=encoder)
    assert Library.open(library).snapshot.reading_copy is not None
    assert inspect(library).is_sound


def test_a_copied_library_is_read_again_once(library: Path, encoder: Any, tmp_path: Path) -> None:
    copied = tmp_path / "copied"
    shutil.copytree(library, copied, copy_function=shutil.copyfile)
    for file in copied.rglob("*.lance"):
        os.utime(file, ns=(1, 1))
    assert _answers(copied, encoder) == _answers(library, encoder)
    assert inspect(copied).is_sound


def test_a_large_library_is_read_whole_once_a_week(
    library: Path, encoder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checksums, "SMALL", 0)
    monkeypatch.setattr(readingcopy, "SMALL", 0)
    stamps = library / "checksums.stamps.json"
    Library.open(library)
    [table, *_] = sorted((library / "spans.lance" / "data").iterdir())
    [array] = copy_folder(library).rglob("papers.support.npy")
    generator = random.Random(_SEED)
    _flip(array, generator)
    assert Library.open(library).snapshot.reading_copy is not None  # what a disk does unnoticed shows later
    verified = array.with_name("verified")
    os.utime(verified, (0, 0))
    assert Library.open(library).snapshot.reading_copy is None
    inspect(library, repair=True)
    assert Library.open(library).snapshot.reading_copy is not None
    _flip(table, generator)
    Library.open(library)
    stamps.write_text(json.dumps(json.loads(stamps.read_text()) | {"verified": 0}))
    with pytest.raises(UserError, match="damaged"):
        Library.open(library)


@pytest.mark.parametrize(
    "name", ["writer.lock", "writer.json", "notices.sqlite", "spans.lance/data/x.lance", "reading"]
)
def test_a_library_with_links_is_not_opened(library: Path, encoder: Any, numbered: Make, name: str) -> None:
    victim = library.parent / "victim"
    victim.write_text("mine")
    link = library / name
    if link.is_dir():
        link.rename(library.parent / "moved")
    link.unlink(missing_ok=True)
    link.symlink_to(victim)
    for use in (
        lambda: Library.open(library),
        lambda: inspect(library),
        lambda: add_documents(library, [numbered(9)], jobs=1, encoder=encoder),
    ):
        with pytest.raises(UserError, match="a link, which a library does not have"):
            use()
    assert victim.read_text() == "mine"
