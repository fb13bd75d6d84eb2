"""What was encoded once is not encoded again, and makes the same library."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from whycite.documents.model import Document
from whycite.library import AddProgress, Library, add_documents, adding, remove
from whycite.library.encoding import encoder_of
from whycite.models import Encoder, cache
from whycite.models.encoders import OnnxEncoder

Make = Callable[..., Document]
Read = Callable[[Path], Any]


@pytest.fixture(autouse=True)
def _nothing_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHYCITE_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def asked(encoder: Any, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the encoder is asked for."""
    asked: list[str] = []
    encode = encoder.encode

    def keep(texts: Sequence[str], progress: Callable[[int], None] | None = None) -> NDArray[np.float32]:
        asked.extend(texts)
        vectors: NDArray[np.float32] = encode(texts)
        return vectors

    monkeypatch.setattr(encoder, "encode", keep)
    return asked


def test_another_library(place: Path, encoder: Any, asked: list[str], numbered: Make, content: Read) -> None:
    add_documents(place, map(numbered, range(4)), jobs=1, encoder=encoder)
    assert len(asked) == len(set(asked)) > 8
    asked.clear()
    other = place.with_name("other")
    add_documents(other, map(numbered, range(4)), jobs=1, encoder=encoder)
    assert not asked
    assert content(other) == content(place)


def test_what_was_removed(place: Path, encoder: Any, asked: list[str], numbered: Make, content: Read) -> None:
    add_documents(place, map(numbered, range(4)), jobs=1, encoder=encoder)
    before = content(place)
    remove(place, ["paper1.md"])
    asked.clear()
    add_documents(place, [numbered(1)], jobs=1, encoder=encoder)
    assert not asked
    assert content(place) == before


def test_after_a_crash(
    place: Path, encoder: Any, asked: list[str], numbered: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*args: Any) -> Any:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr("whycite.library.writer.span_rows", crash)
        with pytest.raises(MemoryError):
            add_documents(place, map(numbered, range(4)), jobs=1, encoder=encoder)
    assert asked
    asked.clear()
    add_documents(place, map(numbered, range(4)), jobs=1, encoder=encoder)
    assert not asked
    assert Library.open(place).info().documents == 4


def test_libraries_are_the_same_with_and_without(
    place: Path, numbered: Make, content: Read, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """With the bundled encoder: when all is new, when all is remembered, when the file is broken, and without one."""
    places = [place.with_name(name) for name in ("new", "remembered", "broken", "without")]
    for at in places:
        if at.name == "broken":
            (cache.cache_folder() / cache.VECTORS_FILE).write_bytes(b"no database")
        if at.name == "without":
            monkeypatch.setattr(adding, "CachedEncoder", _itself)
        add_documents(at, [numbered(1), numbered(2)], jobs=1)
        assert len(caplog.messages) == (at.name in ("broken", "without"))  # told once
    assert [content(at) == content(places[0]) for at in places] == [True] * 4


def _itself(encoder: Encoder) -> Encoder:
    return encoder


def test_claims_are_not_kept(place: Path, numbered: Make) -> None:
    """They are encoded by the encoder itself."""
    add_documents(place, [numbered(1)], jobs=1)
    assert isinstance(encoder_of(Library.open(place).encoder, place), OnnxEncoder)


def test_added_is_told_as_before(place: Path, encoder: Any, numbered: Make) -> None:
    told: list[AddProgress] = []
    report = add_documents(place, map(numbered, range(4)), jobs=1, encoder=encoder, progress=told.append)
    assert (report.added, told[-1].added, told[-1].spans) == (4, 4, report.spans)
