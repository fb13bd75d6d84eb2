"""Libraries and claims of topics: made once, kept, never mixed with others; with the real library and parser."""

import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from whycite.errors import UserError
from whycite.lab.evaluate.topics import Topic, parse_topics
from whycite.lab.ilciter.workspace import PreparedTopic, default_folder, prepare, slug, state_of
from whycite.library import Library

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


def write_corpus(path: Path, numbers: Iterable[int], subject: str = "Neuroscience") -> Path:
    """Papers of these numbers, the higher the newer, in a file."""
    path.write_text("".join(json.dumps(_record(number, subject)) + "\n" for number in numbers))
    return path


def quietly(stage: str, done: int, total: int | None) -> None:
    pass


def made(data: list[Path], topics: str, work: Path | None, held_out: int = 2) -> list[PreparedTopic]:
    return prepare(data, parse_topics(topics), held_out, work, 1, quietly)[0]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_corpus(tmp_path_factory.mktemp("data") / "papers.jsonl", range(6))


@pytest.fixture(scope="module")
def work(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace in which the topic is made."""
    folder = tmp_path_factory.mktemp("work")
    made([data], "neuro", folder)
    return folder


def test_older_papers_become_a_library_and_newer_ones_claims(data: Path, work: Path) -> None:
    (topic,) = made([data], "neuro", work)
    assert (topic.topic, topic.rule, topic.papers, topic.held_out) == ("Neuroscience", "subject Neuroscience", 4, 2)
    assert (topic.oldest, topic.newest) == ("2020-01-05", "2020-01-06")
    library = Library.open(topic.library)
    assert {entry.key for entry in library.documents()} == {f"doi:10.9/0{number}" for number in range(4)}
    assert {source.key for source in topic.claims.sources} == {"doi:10.9/04", "doi:10.9/05"}
    texts = {case.text: case for case in topic.claims.cases}
    case = next(case for text, case in texts.items() if "sleep spindles support" in text)
    assert case.truth == ("doi:10.1/spindles",)
    assert case.section_type == "introduction"
    source = topic.claims.sources[case.source]
    assert "Doe" not in source.paragraphs[case.paragraph]
    assert "doi:10.1/spindles" in source.cited


def test_what_is_made_is_not_made_again(data: Path, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read_again(*arguments: object) -> None:
        raise AssertionError("the data is read again")

    monkeypatch.setattr("whycite.lab.ilciter.workspace.read_publication_records", read_again)
    monkeypatch.setattr("whycite.lab.ilciter.workspace.gather_papers", read_again)
    assert made([data], "neuro", work)[0].papers == 4


def test_what_was_begun_is_gone_on_with(data: Path, work: Path, tmp_path: Path) -> None:
    shutil.copytree(work, tmp_path / "work")
    (tmp_path / "work" / "neuro" / "claims-2.json").unlink()  # stopped while claims were sought
    before = made([data], "neuro", work)[0]
    after = made([data], "neuro", tmp_path / "work")[0]
    assert after.claims == before.claims
    assert Library.open(after.library).info().documents == 4


@pytest.mark.parametrize("held_out", [2, 3], ids=["other data", "other way"])
def test_a_folder_made_otherwise_is_refused(data: Path, work: Path, tmp_path: Path, held_out: int) -> None:
    given = write_corpus(tmp_path / "other.jsonl", range(7)) if held_out == 2 else data
    with pytest.raises(
        UserError, match="was made from other data or with other settings; choose another --work, or delete"
    ):
        made([given], "neuro", work, held_out)


def test_a_folder_of_something_else_is_refused(data: Path, tmp_path: Path) -> None:
    (tmp_path / "neuro").mkdir()
    (tmp_path / "neuro" / "thesis.tex").write_text("mine")
    with pytest.raises(UserError, match="neuro contains other files; choose another --work"):
        made([data], "neuro", tmp_path)


def test_too_few_papers_are_told_before_the_work_begins(data: Path, tmp_path: Path) -> None:
    few = write_corpus(tmp_path / "few.jsonl", [20, 21], "Ecology")
    with pytest.raises(UserError, match=r"topic 'ecology' \(subject Ecology\): cannot hold out 2 of 2 papers"):
        made([data, few], "neuro,ecology", tmp_path / "work")
    assert not (tmp_path / "work" / "neuro" / "library").exists()


@pytest.mark.parametrize(
    ("topics", "message"),
    [("botany", "choose one of: Neuroscience"), ("NER=NER", "of 0 papers"), ("a b=x,A-B=y", "the same name")],
    ids=["subject", "words", "names"],
)
def test_topics_that_cannot_be(data: Path, tmp_path: Path, topics: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        made([data], topics, tmp_path)


def test_by_default_other_data_has_another_folder(data: Path, tmp_path: Path) -> None:
    other = write_corpus(tmp_path / "other.jsonl", range(7))
    places = {default_folder(state_of(paths)) for paths in ([data], [other], [data, other])}
    assert len(places) == 3
    assert default_folder(state_of([data])) == default_folder(state_of([data]))
    with pytest.raises(UserError, match="none: no such file or folder"):
        state_of([tmp_path / "none"])


def test_names_of_folders() -> None:
    assert [slug(name) for name in ("Cell Biology", "../x", "ÄÖ", "NER")] == ["cell-biology", "x", "topic", "ner"]


def test_files_that_cannot_be_read_are_told(data: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.jsonl"
    broken.write_text(json.dumps({"paper_id": "1", "body_text": []}) + "\n{broken\n")
    _, unread = prepare([data, broken], (Topic("b", terms=("brain", "study")),), 2, tmp_path / "work", 1, quietly)
    assert len(unread) == 1
    assert "broken.jsonl:2: not JSON" in unread[0]
