"""A library moved to another encoder is what it would be had it been made with that one."""

import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lancedb.table
import pytest

from tests.fakes import FakeEncoder, hashing_encoder
from whycite.documents.model import Document
from whycite.errors import UserError
from whycite.library import Library, add_documents, compact, maintenance, remove
from whycite.library.maintenance import reindex
from whycite.library.store import open_store
from whycite.models import cache

Make = Callable[..., Document]
Read = Callable[[Path], Any]
WORKER = Path(__file__).with_name("worker.py")


class Killed(BaseException):
    """The end of a process, as far as files can tell: nothing is written after it."""


@pytest.fixture(autouse=True)
def _nothing_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHYCITE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(maintenance, "PROGRESS_TEXTS", 4)


@pytest.fixture
def other() -> FakeEncoder:
    """Another encoder, with longer vectors, which keeps what it was asked for."""

    return hashing_encoder("other@1", 24)


def _texts(place: Path) -> list[str]:
    store = open_store(place)
    assert store is not None
    return [text for name in ("spans", "papers") for text in store[name].to_arrow()["text"].to_pylist()]


def _answer(library: Library, encoder: Any) -> Any:
    [vector] = encoder.encode(["growing cells"])
    hits = library.search_spans("growing cells", vector, k=1_000)
    return hits, library.search_papers("growing cells", vector), library.citations([hit.id for hit in hits])


def test_it_is_as_if_made_with_the_other_encoder(
    place: Path, encoder: Any, other: Any, numbered: Make, content: Read
) -> None:
    fresh = place.with_name("fresh")
    for at, used in ((place, encoder), (fresh, other)):
        add_documents(at, map(numbered, range(6)), jobs=1, encoder=used)
    other.calls.clear()
    told: list[tuple[str, int, int | None]] = []
    done = reindex(place, encoder=other, progress=lambda *what: told.append(what))
    assert (done.before, done.encoder, done.spans, done.papers) == ("fake@1", "other@1", 7, 13)
    assert content(place) == content(fresh)
    assert _answer(Library.open(place), other) == _answer(Library.open(fresh), other)
    assert told[0] == ("encoding", 0, 20)
    assert [what for what, *_ in told[-2:]] == ["writing", "indexing"]
    assert [texts for _, texts, _ in told] == sorted(texts for _, texts, _ in told)
    assert told[-1][1:] == (20, 20)
    left = {file.name for file in place.iterdir() if file.suffix not in (".lance", ".lock")}
    assert left == {"reading", "checksums.json", "checksums.stamps.json"}
    compact(place)
    assert content(place) == content(fresh)


def test_vectors_are_encoded_anew_and_once(place: Path, encoder: Any, other: Any, numbered: Make) -> None:
    add_documents(place, map(numbered, range(6)), jobs=1, encoder=encoder)
    reindex(place, encoder=other)
    assert sorted(other.asked) == sorted(_texts(place))


def test_it_is_indexed_like_before(
    place: Path, encoder: Any, other: Any, numbered: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintenance, "PROGRESS_TEXTS", 100)
    monkeypatch.setattr(maintenance, "MIN_INDEXED_VECTORS", 100)
    monkeypatch.setattr(maintenance, "PARTITION_ROWS", 7)
    add_documents(place, map(numbered, range(112)), jobs=1, encoder=encoder)
    compact(place)
    reindex(place, encoder=other)
    store = open_store(place)
    assert store is not None
    assert {found.name for found in store["spans"].list_indices()} == {"id_idx", "text_idx", "vector_16_idx"}
    assert not maintenance.needs_index(store)
    text = "Cells of kind 7 grow in the “ponds”"
    assert text in {hit.text for hit in Library.open(place).search_spans("", other.encode([text])[0], k=3)}


def test_the_library_goes_on_with_the_other_encoder(
    place: Path, encoder: Any, other: Any, numbered: Make, content: Read
) -> None:
    add_documents(place, [numbered(1), numbered(2)], jobs=1, encoder=encoder)
    reindex(place, encoder=other)
    with pytest.raises(UserError, match=r"other@1, not fake@1; .*with: whycite library reindex --encoder fake$"):
        add_documents(place, [numbered(3)], jobs=1, encoder=encoder)
    add_documents(place, [numbered(3)], jobs=1, encoder=other)
    remove(place, ["paper1.md"], encoder=other)
    fresh = place.with_name("fresh")
    add_documents(fresh, [numbered(2), numbered(3)], jobs=1, encoder=other)
    assert content(place) == content(fresh)


def test_there_and_back(place: Path, encoder: Any, other: Any, numbered: Make, content: Read) -> None:
    add_documents(place, map(numbered, range(3)), jobs=1, encoder=encoder)
    before = content(place)
    reindex(place, encoder=other)
    reindex(place, encoder=encoder)
    assert content(place) == before
    other.calls.clear()
    reindex(place, encoder=other)
    assert not other.asked  # remembered


def test_nothing_to_do(place: Path, encoder: Any, numbered: Make) -> None:
    add_documents(place, [numbered(1)], jobs=1, encoder=encoder)
    version = Library.open(place).version
    (place / "reindex.sqlite").write_bytes(b"begun with another encoder, and given up")
    done = reindex(place, encoder=encoder)
    assert (done.before, done.encoder, done.spans) == ("fake@1", "fake@1", 2)
    assert Library.open(place).version == version
    assert not (place / "reindex.sqlite").exists()


def test_a_library_whose_documents_are_gone(place: Path, encoder: Any, other: Any, numbered: Make) -> None:
    add_documents(place, [numbered(1)], jobs=1, encoder=encoder)
    remove(place, ["paper1.md"])
    reindex(place, encoder=other)
    assert Library.open(place).encoder == "other@1"
    add_documents(place, [numbered(2)], jobs=1, encoder=other)
    assert Library.open(place).info().documents == 1


def test_there_is_none(place: Path, other: Any) -> None:
    with pytest.raises(UserError, match="no library here yet; create one with: whycite add FOLDER"):
        reindex(place, encoder=other)
    with pytest.raises(UserError, match="no encoder 'nowhere'"):
        reindex(place, encoder="nowhere")
    assert not place.exists()


def test_readers_see_the_old_vectors_until_all_are_there(place: Path, encoder: Any, other: Any, numbered: Make) -> None:
    add_documents(place, map(numbered, range(4)), jobs=1, encoder=encoder)
    early = Library.open(place)
    before = _answer(early, encoder)
    stages = []

    def look(what: str, done: int, total: int | None) -> None:
        stages.append(what)
        library = Library.open(place)
        assert library.encoder == "fake@1"
        assert _answer(library, encoder) == before
        with pytest.raises(UserError, match="in use by `whycite library reindex`"):
            add_documents(place, [numbered(9)], jobs=1, encoder=encoder)

    reindex(place, encoder=other, progress=look)
    assert stages[-2:] == ["writing", "indexing"]
    assert Library.open(place).encoder == "other@1"
    assert _answer(early, encoder) == before


def test_stopped_it_goes_on_where_it_was(place: Path, encoder: Any, other: Any, numbered: Make, content: Read) -> None:
    """Also without what is remembered for all libraries, and when the library has changed in the meantime."""
    add_documents(place, map(numbered, range(6)), jobs=1, encoder=encoder)
    before = content(place)

    def stop(what: str, done: int, total: int | None) -> None:
        if done >= 8:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reindex(place, encoder=other, progress=stop)
    assert content(place) == before
    encoded = set(other.asked)
    assert 8 <= len(encoded) < 12
    shutil.rmtree(cache.cache_folder(), ignore_errors=True)
    add_documents(place, [numbered(8)], jobs=1, encoder=encoder)
    remove(place, ["paper2.md"])
    other.calls.clear()
    reindex(place, encoder=other)
    assert sorted(other.asked) == sorted(set(_texts(place)) - encoded)
    fresh = place.with_name("fresh")
    add_documents(fresh, map(numbered, (0, 1, 3, 4, 5, 8)), jobs=1, encoder=other)
    assert content(place) == content(fresh)


@pytest.mark.parametrize("waiting", [b"no database", None], ids=["garbage", "folder"])
def test_a_broken_file_costs_time_only(
    place: Path, encoder: Any, other: Any, numbered: Make, content: Read, caplog: pytest.LogCaptureFixture,
    waiting: bytes | None,
) -> None:  # fmt: skip
    add_documents(place, map(numbered, range(3)), jobs=1, encoder=encoder)
    if waiting is None:
        (cache.cache_folder() / cache.VECTORS_FILE).unlink()
        (cache.cache_folder() / cache.VECTORS_FILE).mkdir()
    else:
        (place / "reindex.sqlite").write_bytes(waiting)
    reindex(place, encoder=other)
    assert len(caplog.messages) == 1
    fresh = place.with_name("fresh")
    add_documents(fresh, map(numbered, range(3)), jobs=1, encoder=other)
    assert content(place) == content(fresh)


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=[pytest.mark.slow, pytest.mark.timeout(900)])])
def test_ended_before_any_write(
    place: Path, encoder: Any, other: Any, numbered: Make, content: Read, monkeypatch: pytest.MonkeyPatch, every: int
) -> None:
    """Of tables, of what is remembered, of vectors that wait: before each of them the process may end."""
    add_documents(place, map(numbered, range(3)), jobs=1, encoder=encoder)
    texts, before = len(_texts(place)), content(place)
    made: list[str] = []
    end = -1

    def ending(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def write(*args: Any, **options: Any) -> Any:
            if len(made) == end:
                raise Killed
            made.append(name)
            return original(*args, **options)

        return write

    changes = [(lancedb.table.LanceTable, name) for name in ("add", "optimize", "create_index", "restore")]
    for home, name in [*changes, (cache.Cache, "put"), (maintenance, "_delete_vector_cache")]:
        monkeypatch.setattr(home, name, ending(name, getattr(home, name)))
    undisturbed = shutil.copytree(place, place.with_name("undisturbed"))
    shutil.rmtree(cache.cache_folder(), ignore_errors=True)
    reindex(undisturbed, encoder=other)
    after, calls = content(undisturbed), tuple(made)
    assert calls.count("put") == 6  # three batches, each kept twice
    assert {"add", "create_index", "_delete_vector_cache"} <= set(calls)
    for ended in range(0, len(calls), every):
        at = shutil.copytree(place, place.with_name(f"ended{ended}"))
        shutil.rmtree(cache.cache_folder(), ignore_errors=True)
        made.clear()
        other.calls.clear()
        end = ended
        with pytest.raises(Killed):
            reindex(at, encoder=other)
        end = -1
        now = Library.open(at).encoder
        assert (now, content(at)) in [("fake@1", before), ("other@1", after)]
        _answer(Library.open(at), encoder if now == "fake@1" else other)
        shutil.rmtree(cache.cache_folder(), ignore_errors=True)
        reindex(at, encoder=other)
        assert content(at) == after, f"ended before {ended} of {calls}"
        assert not list(at.glob("reindex*"))
        assert len(other.asked) <= texts + maintenance.PROGRESS_TEXTS  # what was not written yet when it ended
        shutil.rmtree(at)


@pytest.mark.parametrize("kills", [2, pytest.param(15, marks=[pytest.mark.slow, pytest.mark.timeout(900)])])
def test_killed_at_any_moment(place: Path, encoder: Any, other: Any, numbered: Make, content: Read, kills: int) -> None:
    add_documents(place, map(numbered, range(40)), jobs=1, encoder=encoder)
    fresh = place.with_name("fresh")
    add_documents(fresh, map(numbered, range(40)), jobs=1, encoder=other)
    states = {"fake@1": content(place), "other@1": content(fresh)}
    aims = ["fake@1", "other@1"]
    moment = random.Random(kills)
    for _ in range(kills):
        shutil.rmtree(cache.cache_folder(), ignore_errors=True)
        if Library.open(place).encoder == aims[-1]:
            aims.reverse()  # and back
        command = [sys.executable, str(WORKER), "reindex", str(place), "24" if aims[-1] == "other@1" else "16"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(moment.uniform(0, 0.5))
            process.kill()
        library = Library.open(place)
        assert content(place) == states[library.encoder]
        _answer(library, encoder if library.encoder == "fake@1" else other)
    reindex(place, encoder=other)
    assert content(place) == states["other@1"]
