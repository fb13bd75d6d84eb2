"""A small document with a verification made by hand, and a browser where there is one."""

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from whycite.documents.model import Document, Reference, Section, Sentence
from whycite.verify.verification import Passage, Verification

TEXTS = (
    "We study how bees rest.",
    "Foragers sleep at night.",
    "Hives were filmed for 12 nights.",
    "Foragers slept 7.7 hours a night.",
    "Their antennae hung down.",
    "Foragers need sleep, as others said.",
)
SCORES = (0.1, 0.62, 0.05, 0.93, 0.3, 0.81)
SECTIONS = (Section("Introduction", 1), Section("Methods", 1), Section("Filming", 2), Section("Results", 1))
PLACES = ((0, 0), (0, 0), (2, 1), (3, 2), (3, 2), (3, 3))  # section and paragraph of each sentence

Make = Callable[..., tuple[Document, Verification]]


def _document(texts: tuple[str, ...], title: str, path: str, headings: tuple[str, ...]) -> Document:
    usual = len(texts) == len(PLACES)
    places = PLACES if usual else tuple((at // 40, at // 5) for at in range(len(texts)))
    sections = SECTIONS if usual else tuple(Section(f"Part {at + 1}", 1) for at in range(len(texts) // 40 + 1))
    if headings:
        sections = tuple(replace(section, heading=heading) for section, heading in zip(sections, headings, strict=True))
    sentences = tuple(
        Sentence(text, section, paragraph, path, 0, len(text))
        for text, (section, paragraph) in zip(texts, places, strict=True)
    )
    return Document(path, "markdown", Reference("", title=title, year=2023), sections, sentences)


def _make(
    texts: tuple[str, ...] = TEXTS,
    scores: tuple[float, ...] = SCORES,
    title: str = "How bees rest",
    path: str = "papers/bees.md",
    claim: str = "Bees sleep 77 hours.",
    headings: tuple[str, ...] = (),
    note: str = "77 in the claim, 7.7 here",
) -> tuple[Document, Verification]:
    document = _document(texts, title, path, headings)
    order = sorted(range(len(scores)), key=lambda index: -scores[index])
    passages = tuple(
        Passage(
            rank,
            index,
            scores[index],
            document.sentences[index].text,
            document.sections[document.sentences[index].section].heading,
            quotes=rank == 2,
            numbers=note if rank == 1 else "",
        )
        for rank, index in enumerate(order, 1)
    )
    return document, Verification(claim, "contradicted", 0.87, passages, "The best passage has another number.")


@pytest.fixture
def make() -> Make:
    """A document and its verification; the best passage has other numbers, the second repeats the claim."""
    return _make


@pytest.fixture(scope="module")  # a second one cannot be started while it runs
def browser() -> Iterator[Any]:
    """Chromium; tests that need it are skipped where it or its driver is missing."""
    playwright = pytest.importorskip("playwright.sync_api", reason="no browser test without: pip install playwright")
    program = os.environ.get("WHYCITE_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("no browser at hand: install chromium, or set WHYCITE_CHROMIUM to its path")
    arguments = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync", "--disable-component-update"]
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(
            executable_path=program,
            args=[*arguments, "--disable-background-networking", "--disable-quic"],
            timeout=100_000,  # milliseconds: a busy machine is slow to start it
        )
        yield opened
        opened.close()


@pytest.fixture
def artefacts(tmp_path: Path) -> Path:
    """Where screenshots are left: $WHYCITE_ARTEFACTS, or the test's own folder."""
    folder = Path(os.environ.get("WHYCITE_ARTEFACTS") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    return folder
