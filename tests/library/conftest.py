"""Small documents, an encoder that needs no model, and all that a library holds."""

import re
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from whycite.documents.model import Citation, Document, Reference, Section, Sentence
from whycite.library import maintenance
from whycite.library.store import open_store
from whycite.library.tables import TABLES

Make = Callable[..., Document]
Content = Mapping[str, list[Any]]
_MARKER = re.compile(r"\[@([^\]]+)\]")


class FakeEncoder:
    """Gives each text a direction of its own, the same on every machine."""

    dimensions = 16

    def __init__(self, name: str = "fake@1") -> None:
        self.name = name

    def encode(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> NDArray[np.float32]:
        """One unit vector a text."""
        vectors = np.empty((len(texts), self.dimensions), np.float32)
        for row, text in enumerate(texts):
            digest = blake2b(text.encode("utf-8"), digest_size=self.dimensions).digest()
            vectors[row] = np.frombuffer(digest, np.uint8).astype(np.float32) - 127.5
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors


def make(
    path: str,
    *sentences: str,
    references: Sequence[Reference] = (),
    title: str = "",
    warnings: Sequence[str] = (),
    **paper: Any,
) -> Document:
    """A document of sentences in which "[@a,b]" cites two references."""
    return Document(
        path,
        "plain",
        Reference("self", title=title, **paper),
        (Section("Introduction", 1, "introduction"),),
        tuple(_sentence(text, at) for at, text in enumerate(sentences)),
        tuple(references),
        tuple(warnings),
    )


def numbered(at: int, **fields: Any) -> Document:
    """A paper of its own that cites two works, one of them cited by its neighbours too.

    No name stands in front of a citation, so that nothing has to be parsed.
    """
    works = [
        Reference(
            f"r{work}",
            title=f"Observations number {work} of the growth of cells in ponds",
            authors=(f"Author{work}, A.",),
            year=2000 + work % 20,
            doi=f"10.1234/work.{work}",
        )
        for work in (at, at + 1)
    ]
    told: dict[str, Any] = {"title": f"Report number {at} about growth of cells in cold ponds", "year": 2020}
    return make(
        f"paper{at}.md",
        f"Cells of kind {at} grow in the “ponds” [@r{at}].",
        f"Cells grow in “water” [@r{at},r{at + 1}].",
        references=works,
        doi=f"10.5555/paper.{at}",
        **{**told, **fields},
    )


def content(path: Path) -> Content:
    """Everything that a library holds, but for times; the order of rows does not count."""
    store = open_store(path)
    assert store is not None
    store.checkout_commit()
    tables = {}
    for name in TABLES:
        rows = store[name].to_arrow().to_pylist()
        for row in rows:
            row.pop("added", None)
            row["traits"] = sorted(row.get("traits", ()))
        tables[name] = sorted((tuple(sorted(row.items())) for row in rows), key=repr)
    return tables


def _sentence(text: str, at: int) -> Sentence:
    clean, last = "", 0
    citations: list[Citation] = []
    for marker in _MARKER.finditer(text):
        clean += text[last : marker.start()]
        start = len(clean)
        clean += f"[{len(citations) + 1}]"
        citations.append(Citation(tuple(marker[1].split(",")), marker.start(), marker.end(), start, len(clean)))
        last = marker.end()
    return Sentence(clean + text[last:], 0, at, "paper.md", 0, len(text), tuple(citations))


@pytest.fixture
def encoder(monkeypatch: pytest.MonkeyPatch) -> FakeEncoder:
    """The fake encoder, which libraries made with it are opened with too."""
    fake = FakeEncoder()
    monkeypatch.setattr(maintenance, "encoder_of", lambda *_: fake)
    return fake


@pytest.fixture(name="make")
def _make() -> Make:
    """Makes documents."""
    return make


@pytest.fixture(name="numbered")
def _numbered() -> Make:
    """Makes one of a row of papers that cite each other's works."""
    return numbered


@pytest.fixture(name="content")
def _content() -> Callable[[Path], Content]:
    """Reads all that a library holds."""
    return content


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where the library of a test is."""
    return tmp_path / "library"
