"""Other programs beside ours, with a stand-in for inCite."""

import sys
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from whycite.documents import Reference
from whycite.errors import MissingExtra
from whycite.lab.ilciter.experiment import rank_by_incite

PAPERS = {
    "P1": Reference("P1", title="Bees sleep", authors=("Klein, Barrett",), year=2010, venue="Bees", abstract="Rest."),
    "P2": Reference("P2", title="Ants dig"),
    "P3": Reference("P3"),
}


@dataclass
class StandIn:
    """Recommends the papers whose title shares a word with the claim, and repeats the first."""

    papers: list[Any]

    def retrieve(self, query: str, k: int, **options: Any) -> list[Any]:
        assert options["author_boost"] == 1.0
        best = [paper for paper in self.papers if {*query.lower().split()} & {*paper.title.lower().split()}]
        return [SimpleNamespace(paper_id=paper.id, score=1.0) for paper in (*best, *best[:1])][:k]


def ignore(stage: str, number: int, total: int | None) -> None:
    pass


def test_incite_ranks_papers_for_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    models, retrieval = ModuleType("incite.models"), ModuleType("incite.retrieval")
    models.Paper = SimpleNamespace  # type: ignore[attr-defined]
    given: list[Any] = []

    def create_retriever(papers: list[Any], method: str, **options: Any) -> StandIn:
        given.extend(papers)
        return StandIn(papers)

    retrieval.create_retriever = create_retriever  # type: ignore[attr-defined]
    for module in (ModuleType("incite"), models, retrieval):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    run = rank_by_incite(PAPERS, {"c1": "Ants and bees", "c2": "Wasps"}, 10, ignore)
    assert run == {"c1": [("P1", 1.0), ("P2", 1.0)], "c2": []}
    assert [paper.id for paper in given] == ["P1", "P2"]
    assert (given[0].journal, given[0].authors, given[0].year) == ("Bees", ["Klein, Barrett"], 2010)


def test_incite_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "incite.models", None)
    with pytest.raises(MissingExtra, match=r"whycite\[bench\]"):
        rank_by_incite(PAPERS, {"c1": "Ants"}, 10, ignore)
