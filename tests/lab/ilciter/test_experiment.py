"""Claims put to methods, over small stand-ins for library, encoder and default method."""

from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes import FakeEncoder, FakeMethod
from whycite.cite import recommendations
from whycite.cite.recommendations import Claim
from whycite.errors import UserError
from whycite.lab.ilciter import METHODS
from whycite.lab.ilciter.experiment import (
    ALL_METHODS,
    DEPTH,
    check_methods,
    database_of,
    rank,
    recommend_papers,
    support_of,
)
from whycite.lab.ilciter.workspace import ClaimCase, HeldOutPaper
from whycite.library import Library
from whycite.models import load_encoder

Occurrence = tuple[str, str, int | None]
OCCURRENCES: list[Occurrence] = [
    ("sleep helps memory", "doi:10.1/a", 2001),
    ("sleep helps memory", "doi:10.1/b", 2010),
    ("sleep helps memory", "doi:10.1/b", 2010),
    ("memory fades", "doi:10.1/a", None),
    ("mice run", "doi:10.1/c", None),
]
SOURCE = HeldOutPaper("doi:10.1/x", "On sleep", 2020, ("doi:10.1/a", "doi:10.1/b"), {"4": "Sleep helps. So it is."})
CASE = ClaimCase("x#0", "sleep and memory", 0, "introduction", "4", 1, ("doi:10.1/b",))


class Occurrences(Library):
    """A library of which nothing is known but what cites what."""

    path = Path("nowhere")

    def __init__(self, found: Sequence[Occurrence] = OCCURRENCES) -> None:
        self.found = found

    @property
    def encoder(self) -> str:
        return load_encoder().name

    def occurrences(self) -> Iterator[Occurrence]:
        return iter(self.found)


@pytest.fixture
def method(monkeypatch: pytest.MonkeyPatch) -> FakeMethod:
    """The default method; to the encoder all texts are alike."""
    method = FakeMethod()
    encoder = FakeEncoder(name=load_encoder().name)
    import_module("whycite.library.encoding")  # it keeps the load that it finds when it is first imported
    monkeypatch.setattr("whycite.models.load_encoder", lambda: encoder)
    monkeypatch.setattr(recommendations, "load_method", lambda name, library: method)
    return method


@given(st.permutations(OCCURRENCES))
def test_the_database_does_not_hang_on_the_order_of_the_library(found: list[Occurrence]) -> None:
    database = database_of(Occurrences(found))
    assert list(database.spans) == ["memory fades", "mice run", "sleep helps memory"]
    assert support_of(database) == {"doi:10.1/a": 2, "doi:10.1/b": 2, "doi:10.1/c": 1}


def test_published_methods(method: FakeMethod) -> None:
    runs = rank(
        Occurrences(), database_of(Occurrences()), [SOURCE], [CASE], ("ilciter", "bm25-okapi"), lambda *told: None
    )
    assert list(runs) == ["ilciter", "bm25-okapi"]
    # Both papers have the best span and are cited twice by what was found; b is newer.
    assert runs["bm25-okapi"] == runs["ilciter"] == {"x#0": [("doi:10.1/b", 1.0), ("doi:10.1/a", 0.5)]}
    assert not method.asked


def test_what_the_default_method_is_told(method: FakeMethod) -> None:
    names = ("whycite", "whycite+context", "whycite+draft")
    told: list[tuple[str, int, int | None]] = []
    runs = rank(Occurrences(), database_of(Occurrences()), [SOURCE], [CASE], names, lambda *a: told.append(a), "Sleep")
    paragraph = "Sleep helps. So it is."
    assert method.asked == [
        (Claim("sleep and memory"), DEPTH),
        (Claim("sleep and memory", "On sleep", "introduction", paragraph), DEPTH),
        # What the draft cites before the claim, not what it cites later.
        (Claim("sleep and memory", "On sleep", "introduction", paragraph, ("doi:10.1/a",), 2020), DEPTH),
    ]
    assert list(runs) == list(names)
    assert [stage for stage, _, _ in told] == [f"Sleep, {name}" for name in names]


def test_scores_never_rise() -> None:
    scores = [0.9, 0.5, 0.5 + 1e-12, 0.1]
    found: Any = [SimpleNamespace(paper=SimpleNamespace(key=f"p{at}"), score=s) for at, s in enumerate(scores)]
    ranked = recommend_papers(FakeMethod(lambda claim: found), Claim("sleep"))
    assert ranked == [
        ("p0", 0.9),
        ("p1", 0.5),
        ("p2", 0.5),
        ("p3", 0.1),
    ]


def test_method_names() -> None:
    assert check_methods(["whycite", "ilciter", "whycite"]) == ("whycite", "ilciter")
    assert set(METHODS) < set(ALL_METHODS)
    with pytest.raises(UserError, match="unknown method 'best'; choose one of: bm25-okapi, "):
        check_methods(["best"])
