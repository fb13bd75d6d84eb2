"""Papers of a topic, and which of them are held out."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whycite.documents import Document, Reference, Sentence
from whycite.errors import UserError
from whycite.lab.evaluate.topics import (
    CorpusEntry,
    DocumentSpool,
    gather_papers,
    hold_out_newest,
    parse_topics,
    read_publication_records,
    resolve,
)


def entry(name: str, date: str, title: str = "") -> CorpusEntry:
    return CorpusEntry(Reference(name, doi=f"10.1/{name}", title=title), date, f"{name}.xml", (0, 0))


def names(entries: list[CorpusEntry]) -> list[str]:
    return [entry.paper.id for entry in entries]


def test_the_most_recent_are_held_out() -> None:
    papers = [
        entry("a", "2023-05-01"),
        entry("c", "2025"),
        entry("b", "2025-01-02"),
        entry("e", ""),
        entry("d", "2024"),
    ]
    kept, held = hold_out_newest(papers, 2)
    assert names(held) == ["b", "c"]  # a day is later than the bare year it is in
    assert names(kept) == ["d", "a", "e"]


@given(st.permutations([("a", "2025"), ("b", "2025"), ("c", "2025"), ("d", "2024"), ("e", "")]), st.integers(1, 4))
def test_the_order_of_the_data_changes_nothing(papers: list[tuple[str, str]], number: int) -> None:
    kept, held = hold_out_newest([entry(*paper) for paper in papers], number)
    assert names(held) + names(kept) == ["a", "b", "c", "d", "e"]
    assert len(held) == number


def test_a_paper_given_twice_is_not_in_both_parts() -> None:
    title = "A preprint of seven words that is published"
    preprint = CorpusEntry(
        Reference("p", doi="10.1101/2024.01.01.574123", title=title, year=2024), "2024-01-01", "p.xml", (0, 0)
    )
    published = CorpusEntry(Reference("q", doi="10.1/q", title=title, year=2024), "2024-06-01", "q.xml", (0, 0))
    again = CorpusEntry(published.paper, published.date, "tiny.xml", (9, 9))
    kept, held = hold_out_newest([preprint, entry("old", "2020"), again, published], 1)
    assert held == [published]
    assert names(kept) == ["old"]


@pytest.mark.parametrize(("held_out", "message"), [(2, "cannot hold out 2 of 2 papers"), (0, "at least one paper")])
def test_too_few(held_out: int, message: str) -> None:
    with pytest.raises(UserError, match=message):
        hold_out_newest([entry("a", "2025"), entry("b", "2025")], held_out)


def test_documents_come_back_from_the_shelf(tmp_path: Path) -> None:
    shelf = DocumentSpool(tmp_path)
    documents = [
        Document(f"{n}.tex", "latex", Reference("x"), sentences=(Sentence("Text ü. " * n, 0, 0, "f", 0, 8),))
        for n in range(1, 4)
    ]
    places = [shelf.put(document) for document in documents]
    assert [shelf.get(place) for place in reversed(places)] == documents[::-1]
    assert shelf.get(shelf.put(documents[0])) == documents[0]
    shelf.close()
    assert not list(tmp_path.iterdir())


def test_papers_are_gathered_by_subject_and_abstract(tmp_path: Path) -> None:
    def record(id: str, abstract: str, *subjects: str) -> str:
        facts = {"paper_id": id, "doi": f"10.1/{id}", "abstract": abstract, "subjects": subjects, "year": 2020}
        return json.dumps(facts | {"pub_date": f"2020-01-{id}", "body_text": [{"text": "Some text."}]}) + "\n"

    (tmp_path / "a.jsonl").write_text(record("01", "On NER.", "Ecology") + record("02", "On cells.", "Cell Biology"))
    (tmp_path / "b.jsonl").write_text(record("03", "We tag (NER) things.", "Medicine") + "broken\n")
    known = read_publication_records([tmp_path])
    topics = resolve(parse_topics("ecology,NER=NER"), ["Ecology"])
    told: list[tuple[str, int, int | None]] = []
    shelf = DocumentSpool(tmp_path)
    found, unread = gather_papers(
        [tmp_path / "a.jsonl", tmp_path / "b.jsonl"], topics, known, shelf, lambda *a: told.append(a)
    )
    assert {name: [(e.key, e.date) for e in entries] for name, entries in found.items()} == {
        "ecology": [("doi:10.1/01", "2020-01-01")],
        "NER": [("doi:10.1/01", "2020-01-01"), ("doi:10.1/03", "2020-01-03")],
    }
    assert found["ecology"][0] is found["NER"][0]  # read and kept once
    assert shelf.get(found["NER"][1].location).paper.abstract == "We tag (NER) things."
    assert len(unread) == 1
    assert "b.jsonl:2: not JSON" in unread[0]
    assert told[-1] == ("reading papers", 4, None)
    shelf.close()
