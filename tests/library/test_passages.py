"""What documents say in their own words: stored by paragraph, found by words, and gone with the document."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from whycite.documents.model import Document
from whycite.library import Library, add_documents, remove
from whycite.library.checksums import forget_seal
from whycite.library.store import open_store

Make = Callable[..., Document]
SENTENCES = (
    "Cells divide in cold ponds.",
    "This was shown before [@a].",
    "Doe et al. (1999) saw it.",
    "Ducks swim there.",
)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "library"


@pytest.fixture
def document(make: Make) -> Document:
    document = make("ponds.md", *SENTENCES, title="The growth of cells in very cold ponds")
    return replace(document, sentences=tuple(replace(sentence, paragraph=0) for sentence in document.sentences))


def own_words(place: Path, encoder: Any, text: str) -> list[tuple[tuple[str, ...], int]]:
    """The sentences of passages and their papers."""
    [vector] = encoder.encode([text])
    *_, hits = Library.open(place).search(text, lambda: vector, passages=5)
    return [(hit.sentences, hit.paper) for hit in hits]


def test_found_by_words(place: Path, encoder: Any, document: Document) -> None:
    add_documents(place, [document], jobs=1, encoder=encoder)
    [(sentences, paper)] = own_words(place, encoder, "Do cells divide?")
    assert sentences == ("Cells divide in cold ponds.", "Ducks swim there.")  # the others cite
    assert Library.open(place).papers([paper])[paper].title == document.paper.title
    assert own_words(place, encoder, "Wasps") == []


def test_left_out_on_request(place: Path, encoder: Any, document: Document) -> None:
    add_documents(place, [document], jobs=1, encoder=encoder, own_text=False)
    assert own_words(place, encoder, "Do cells divide?") == []


def test_gone_with_the_document(place: Path, encoder: Any, document: Document, numbered: Make) -> None:
    add_documents(place, [document, numbered(1)], jobs=1, encoder=encoder)
    remove(place, [document.path], encoder=encoder)
    assert own_words(place, encoder, "Do cells divide?") == []


def test_a_library_of_an_older_version(place: Path, encoder: Any, document: Document, numbered: Make) -> None:
    add_documents(place, [numbered(1)], jobs=1, encoder=encoder)
    store = open_store(place)
    assert store is not None
    commits = store.database.open_table("commits")
    commits.update(values={"schema": 1})
    commits.drop_columns(["passages"])
    store.database.drop_table("passages")
    forget_seal(place)  # such a library has no list of checksums
    assert own_words(place, encoder, "cells") == []
    assert Library.open(place).info().documents == 1
    add_documents(place, [document], jobs=1, encoder=encoder)
    assert len(own_words(place, encoder, "Do cells divide?")) == 1
    remove(place, [document.path], encoder=encoder)
    assert Library.open(place).info().documents == 1
