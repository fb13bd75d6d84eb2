"""A small corpus with dates and subjects, made so that claims of the newest papers can be answered."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import FakeEncoder, FakeLibrary

FACTS = [
    ("Sleep spindles support the consolidation of memory", "10.1/spindles"),
    ("Place cells fire when the animal is at one place", "10.1/place"),
    ("Dopamine neurons signal errors of predicted reward", "10.1/dopamine"),
    ("Grid cells tile the environment in hexagons", "10.1/grid"),
]


def _record(number: int, subject: str) -> dict[str, Any]:
    """A paper that cites three of the four works, each for what it found."""
    text, spans = "", []
    for fact, doi in FACTS[number % 2 : number % 2 + 3]:
        text += f"{'In study ' + str(number) + ' as before, ' if number % 3 else ''}{fact.lower()} ("
        spans.append({"start": len(text), "end": len(text) + 9, "text": "Doe, 2001", "ref_id": doi})
        text += "Doe, 2001). "
    entries = {doi: {"title": fact, "authors": ["Doe J"], "year": 2001, "doi": doi} for fact, doi in FACTS}
    return {
        "paper_id": f"{number}",
        "doi": f"10.9/{number:02}",
        "title": f"Study number {number} of what brains do all day long",
        "abstract": f"We study {subject} for the {number}th time.",
        "year": 2020,
        "pub_date": f"2020-01-{number + 1:02}",
        "subjects": [subject],
        "body_text": [{"section": "Introduction", "text": text.strip(), "cite_spans": spans}],
        "bib_entries": entries,
    }


@pytest.fixture(scope="session")
def corpus() -> Callable[..., Path]:
    """Writes papers of these numbers, the higher the newer, to a file."""

    def write(path: Path, numbers: Iterable[int], subject: str = "Neuroscience") -> Path:
        path.write_text("".join(json.dumps(_record(number, subject)) + "\n" for number in numbers))
        return path

    return write


@pytest.fixture(scope="session")
def new_library() -> type[FakeLibrary]:
    """Makes an empty library."""
    return FakeLibrary


@pytest.fixture
def library() -> FakeLibrary:
    """An empty library."""
    return FakeLibrary()


@pytest.fixture(scope="session")
def encoder() -> FakeEncoder:
    """The encoder of these libraries."""
    return FakeEncoder()
