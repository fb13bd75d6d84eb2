"""Small documents, an encoder that needs no model, and all that a library holds."""

from collections.abc import Callable, Mapping
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from tests.drafts import citing_document, numbered_document
from tests.fakes import FakeEncoder, hashing_encoder
from whycite.documents.model import Document
from whycite.library import add_documents, maintenance
from whycite.library.store import open_store
from whycite.library.tables import TABLES

Make = Callable[..., Document]
Content = Mapping[str, list[Any]]


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


@pytest.fixture
def encoder(monkeypatch: pytest.MonkeyPatch) -> FakeEncoder:
    """The fake encoder, which libraries made with it are opened with too."""
    fake = hashing_encoder()
    monkeypatch.setattr(maintenance, "encoder_of", lambda *_: fake)
    return fake


@pytest.fixture(name="make")
def _make() -> Make:
    """Makes documents."""
    return citing_document


@pytest.fixture(name="numbered")
def _numbered() -> Make:
    """Makes one of a row of papers that cite each other's works."""
    return numbered_document


@pytest.fixture(name="content")
def _content() -> Callable[[Path], Content]:
    """Reads all that a library holds."""
    return content


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where the library of a test is."""
    return tmp_path / "library"


@pytest.fixture(scope="session")
def six_papers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library of six papers that no test changes."""
    built = tmp_path_factory.mktemp("six papers") / "library"
    add_documents(built, map(numbered_document, range(6)), jobs=1, encoder=hashing_encoder())
    return built


@pytest.fixture
def library(six_papers: Path, place: Path, encoder: FakeEncoder) -> Path:
    """A library of six papers, for the test alone."""
    return copytree(six_papers, place)
