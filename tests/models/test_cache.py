"""Vectors that are remembered: the same as without, each text encoded once, and no harm from a broken file."""

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import numpy as np
import platformdirs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.fakes import FakeEncoder, hashing_encoder
from tests.thoroughness import examples
from whycite.models import cache
from whycite.models.cache import CachedEncoder, cache_folder


def _plain(texts: Sequence[str], encoder: FakeEncoder | None = None) -> NDArray[np.float32]:
    """What comes without a file, as exact as a library keeps it."""
    return (encoder or hashing_encoder()).encode(texts).astype(np.float16).astype(np.float32)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "vectors.sqlite"


def test_no_text_is_encoded_twice(file: Path) -> None:
    first, second = hashing_encoder(), hashing_encoder()
    made = CachedEncoder(first, file).encode(["a", "b", "a"])
    again = CachedEncoder(second, file).encode(["b", "c", "a", "c"])
    assert (first.asked, second.asked) == (["a", "b"], ["c"])
    np.testing.assert_array_equal(made, _plain(["a", "b", "a"]))
    np.testing.assert_array_equal(again, _plain(["b", "c", "a", "c"]))
    assert made.dtype == np.float32


def test_it_is_the_encoder_to_whoever_asks(file: Path) -> None:
    encoder = CachedEncoder(hashing_encoder("x@2", 7), file)
    assert (encoder.name, encoder.dimensions) == ("x@2", 7)
    assert encoder.encode([]).shape == (0, 7)
    with pytest.raises(TypeError, match="not one text"):
        encoder.encode("text")


@settings(max_examples=examples(25))
@given(st.lists(st.lists(st.text(st.characters(codec=None), max_size=5), max_size=6), max_size=4))
def test_any_texts_in_any_order(tmp_path_factory: pytest.TempPathFactory, calls: list[list[str]]) -> None:
    file = tmp_path_factory.mktemp("cache") / "vectors.sqlite"
    encoder = hashing_encoder()
    for texts in calls:
        np.testing.assert_array_equal(CachedEncoder(encoder, file).encode(texts), _plain(texts))
    assert sorted(encoder.asked) == sorted({text for texts in calls for text in texts})


def test_encoders_do_not_mix(file: Path) -> None:
    for encoder in (hashing_encoder("x@1"), hashing_encoder("x@2"), hashing_encoder("x@2", 5), hashing_encoder("x@2")):
        np.testing.assert_array_equal(CachedEncoder(encoder, file).encode(["a"]), _plain(["a"], encoder))
        assert encoder.asked[0] == "a"  # of vectors of another length it makes no use


def test_progress_counts_every_text(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "TEXTS_PER_WRITE", 3)
    CachedEncoder(hashing_encoder(), file).encode(["a", "b"])
    told: list[int] = []
    CachedEncoder(hashing_encoder(), file).encode(["a", "c", "c", "b", "d"], told.append)
    assert sum(told) == 5
    assert all(told)


def test_what_is_encoded_when_it_is_stopped_is_kept(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "TEXTS_PER_WRITE", 2)

    def stop(text: str) -> tuple[float, float]:
        if text == "e":
            raise KeyboardInterrupt
        return 1, 0

    with pytest.raises(KeyboardInterrupt):
        CachedEncoder(FakeEncoder(stop), file).encode(list("abcdefg"))
    encoder = FakeEncoder()
    CachedEncoder(encoder, file).encode(list("abcdefg"))
    assert encoder.asked == list("efg")


def test_the_oldest_go_when_the_file_is_full(file: Path) -> None:
    texts = [f"text {at}" for at in range(2_000)]
    limit = 400_000
    for at in range(0, len(texts), 100):
        CachedEncoder(hashing_encoder(dimensions=384), file, limit).encode(texts[at : at + 100])
    assert file.stat().st_size < 1.3 * limit
    encoder = hashing_encoder(dimensions=384)
    CachedEncoder(encoder, file, limit=None).encode(texts)
    gone = len(encoder.asked)
    assert encoder.asked == texts[:gone]
    assert 1_500 < gone < 1_800  # 400 vectors have room


def test_a_limit_below_one_vector_keeps_nothing_and_ends(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    encoder = CachedEncoder(hashing_encoder(), file, limit=1)
    np.testing.assert_array_equal(encoder.encode(["a", "b"]), _plain(["a", "b"]))
    with closing(sqlite3.connect(file)) as database:
        assert database.execute("SELECT count(*) FROM vectors").fetchone() == (0,)
    assert not caplog.records


def _as_garbage(file: Path) -> None:
    file.write_bytes(b"not a database" * 1_000)


def _as_folder(file: Path) -> None:
    file.mkdir()


def _below_a_file(file: Path) -> None:
    file.parent.rmdir()
    file.parent.write_text("a file")


def _of_another_program(file: Path) -> None:
    with closing(sqlite3.connect(file)) as database:
        database.execute("CREATE TABLE vectors (word TEXT)")


def _cut(file: Path) -> None:
    CachedEncoder(hashing_encoder(), file).encode([f"text {at}" for at in range(500)])
    file.write_bytes(file.read_bytes()[:5_000])


@pytest.mark.parametrize("harm", [_as_garbage, _as_folder, _below_a_file, _of_another_program, _cut])
def test_a_file_that_cannot_be_used_is_told_of_once(
    file: Path, harm: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    file.parent.mkdir()
    harm(file)
    texts = [f"text {at}" for at in range(500)]
    encoder = CachedEncoder(hashing_encoder(), file)
    for some in (texts, texts[:3], ["new"]):
        np.testing.assert_array_equal(encoder.encode(some), _plain(some))
    assert len(caplog.messages) == 1
    assert caplog.messages[0].startswith(f"cannot use the cache {file} (")


@pytest.mark.parametrize("at", [0.3, 0.5, 0.9], ids=str)
def test_damaged_bytes_are_never_taken_for_a_vector(file: Path, at: float) -> None:
    texts = [f"text {number}" for number in range(500)]
    CachedEncoder(hashing_encoder(dimensions=384), file).encode(texts)
    content = bytearray(file.read_bytes())
    begin = int(len(content) * at)
    content[begin : begin + 3_000] = b"\x5a" * 3_000
    file.write_bytes(content)
    encoder = hashing_encoder(dimensions=384)
    np.testing.assert_array_equal(
        CachedEncoder(encoder, file).encode(texts), _plain(texts, hashing_encoder(dimensions=384))
    )
    assert encoder.asked


def test_a_file_that_others_hold_is_done_without(
    file: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(cache, "LOCK_SECONDS", 0.05)
    CachedEncoder(hashing_encoder(), file).encode(["a"])
    with closing(sqlite3.connect(file)) as database:
        database.execute("BEGIN IMMEDIATE")
        encoder = hashing_encoder()
        np.testing.assert_array_equal(CachedEncoder(encoder, file).encode(["a", "b"]), _plain(["a", "b"]))
        assert encoder.asked == ["b"]  # whoever writes hinders no reader
    assert ["locked" in message for message in caplog.messages] == [True]


def test_files_of_earlier_versions_are_used(file: Path) -> None:
    CachedEncoder(hashing_encoder(), file).encode(["a"])
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("ALTER TABLE vectors RENAME COLUMN value TO vector")
    encoder = hashing_encoder()
    np.testing.assert_array_equal(CachedEncoder(encoder, file).encode(["a", "b"]), _plain(["a", "b"]))
    assert encoder.asked == ["b"]


def test_several_at_once(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    texts = [f"text {at}" for at in range(60)]

    def work(first: int) -> None:
        for at in range(20):
            some = texts[first + at :: 7]
            np.testing.assert_array_equal(
                CachedEncoder(hashing_encoder(), file, limit=50_000).encode(some), _plain(some)
            )

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert not caplog.records


@pytest.mark.skipif(os.name != "posix", reason="kills a process")
def test_killed_processes_leave_it_whole(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    code = """
import sys
from pathlib import Path
from whycite.models.cache import CachedEncoder
from tests.fakes import FakeEncoder
encoder = CachedEncoder(FakeEncoder(lambda text: 0.5, 384, "equal@1"), Path(sys.argv[1]))
for at in range(1_000_000):
    encoder.encode([f"{at} {number}" for number in range(100)])
    print(at, flush=True)
"""
    for after in (0.0, 0.05):
        with subprocess.Popen([sys.executable, "-c", code, str(file)], stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(after)
            process.kill()
    encoder = hashing_encoder("equal@1", 384)
    assert (CachedEncoder(encoder, file).encode([f"0 {number}" for number in range(100)]) == 0.5).all()
    assert not encoder.asked
    assert not caplog.records
    with closing(sqlite3.connect(file)) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_remembering_costs_little(file: Path) -> None:
    """The bundled encoder takes three milliseconds of a core for a text."""
    texts = [f"Cells of kind {at} grow in ponds" for at in range(5_000)]

    began = time.process_time()
    for _ in range(2):
        CachedEncoder(FakeEncoder(lambda text: 0.5, 384), file).encode(texts)
    assert (time.process_time() - began) / len(texts) < 0.001


def test_where_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("WHYCITE_CACHE", str(tmp_path / "own"))
    assert cache_folder() == tmp_path / "own"
    CachedEncoder(hashing_encoder()).encode(["a"])
    assert [found.suffix for found in (tmp_path / "own").iterdir()] == [".sqlite"]
    monkeypatch.setenv("WHYCITE_CACHE", "~/vectors")
    assert cache_folder() == Path.home() / "vectors"
    monkeypatch.delenv("WHYCITE_CACHE")
    assert cache_folder() == platformdirs.user_cache_path("whycite", appauthor=False)
