"""Many documents, one after the other and on several processes."""

import itertools
import os
import signal
from collections.abc import Callable, Iterator

import pytest

from whycite.documents.model import Document
from whycite.errors import UserError
from whycite.evidence import extract, extract_many
from whycite.evidence import many as module


def _die(document: Document) -> None:
    os.kill(os.getpid(), signal.SIGKILL)  # as a system short of memory does


Make = Callable[..., Document]


@pytest.fixture
def papers(document: Make) -> list[Document]:
    return [document(f"We train a neural parser <a|[{at}]> and use GPT-{at} <b|[3]>.") for at in range(12)]


@pytest.mark.parametrize("jobs", [1, 2])
def test_same_spans_in_order_whatever_the_jobs(papers: list[Document], jobs: int) -> None:
    expected = [(paper, extract(paper)) for paper in papers]
    assert all(spans for _, spans in expected)
    assert list(extract_many(papers, jobs=jobs)) == expected


@pytest.mark.parametrize("jobs", [1, 2])
def test_documents_are_taken_as_they_are_needed(papers: list[Document], jobs: int) -> None:
    taken = 0

    def endless() -> Iterator[Document]:
        nonlocal taken
        for paper in itertools.cycle(papers):
            taken += 1
            yield paper

    found = extract_many(endless(), jobs=jobs)
    next(found)
    assert taken <= 8
    found.close()  # type: ignore[attr-defined]


def test_a_process_that_dies_is_told_in_a_sentence(papers: list[Document], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "extract", _die)
    with pytest.raises(UserError, match=r"paper\.txt: .*try fewer jobs"):
        list(extract_many(papers, jobs=2))


def test_jobs_are_counted_from_one(papers: list[Document]) -> None:
    with pytest.raises(UserError, match="1 or more"):
        extract_many(papers, jobs=0)


def test_no_process_is_started_for_a_few_documents(papers: list[Document], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ProcessPoolExecutor", None)
    assert list(extract_many(papers[:3], jobs=2)) == [(paper, extract(paper)) for paper in papers[:3]]
