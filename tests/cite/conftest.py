"""A library in memory whose every cosine and BM25 score is given by the test."""

import pytest

from tests.fakes import FakeEncoder, FakeLibrary


@pytest.fixture
def library() -> FakeLibrary:
    """An empty library."""
    return FakeLibrary()


@pytest.fixture(scope="session")
def encoder() -> FakeEncoder:
    """The encoder of these libraries."""
    return FakeEncoder()
