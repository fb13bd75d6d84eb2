"""Papers known by title and abstract alone, with the real library, encoder and default method."""

import json
from pathlib import Path

import pytest

from whycite.errors import UserError
from whycite.lab.evaluate import abstracts
from whycite.lab.evaluate.abstracts import METHODS, ContextsOutcome, as_dict, run, write
from whycite.lab.evaluate.comparison import read_qrels, read_run

PAPERS = {
    "P1": ("A statistical part of speech tagger", "Markov models tag words with their part of speech."),
    "P2": ("Sentence reduction for text summarization", "We remove phrases from sentences for summaries."),
    "P3": ("Automatic evaluation of machine translation", "A metric that compares translations with references."),
    "P4": ("Segmenting text into topics", ""),
}
CONTEXTS = {
    "c1": ("We tag every word with its part of speech with a Markov tagger [CIT].", "P1"),
    "c2": ("Summaries are shorter when phrases are removed from sentences [CIT].", "P2"),
    "c3": ("The quality of translations is measured with a metric [CIT].", "P3"),
    "c4": ("The text is cut into topics first [CIT].", "P4"),
}


def quietly(stage: str, done: int, total: int | None) -> None:
    pass


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("contexts")
    papers = ({"paper_id": id, "title": title, "abstract": text, "year": 2000} for id, (title, text) in PAPERS.items())
    (folder / "papers.jsonl").write_text("".join(json.dumps(paper) + "\n" for paper in papers))
    contexts = ({"context_id": id, "text_masked": text, "cited": [paper]} for id, (text, paper) in CONTEXTS.items())
    (folder / "contexts.jsonl").write_text("".join(json.dumps(context) + "\n" for context in contexts))
    return folder


@pytest.fixture(scope="module")
def found(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> ContextsOutcome:
    return run(folder, 0, METHODS, 0, tmp_path_factory.mktemp("work"), quietly)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_finds_what_is_plain(found: ContextsOutcome, method: str) -> None:
    row = next(row for row in found.rows if row.method == method)
    assert row.means["MRR"] > 0.8
    assert row.means["R@3"] == 1


def test_ranks_are_fused() -> None:
    one = {"q": [("a", 9.0), ("b", 8.0)]}
    other = {"q": [("b", 0.3), ("c", 0.2), ("a", 0.1)]}
    fused = abstracts.fuse_ranks(one, other)["q"]
    assert [paper for paper, _ in fused] == ["b", "a", "c"]
    assert [score for _, score in fused] == pytest.approx([1 / 62 + 1 / 61, 1 / 61 + 1 / 63, 1 / 62])


def test_files_and_figures(found: ContextsOutcome, tmp_path: Path) -> None:
    write(found, tmp_path / "out")
    assert read_qrels(tmp_path / "out" / "contexts.qrels") == {id: {paper} for id, (_, paper) in CONTEXTS.items()}
    for method in METHODS:
        assert read_run(tmp_path / "out" / f"contexts.{method}.run") == {
            id: papers for id, papers in found.runs[method].items() if papers
        }
    figures = json.loads(json.dumps(as_dict(found)))
    assert figures["claims"] == {"asked": 4, "all": 4}
    assert [row["method"] for row in figures["methods"]] == list(METHODS)
    assert figures["methods"][-1]["p"].keys() == {"bm25-okapi"}


def test_only_what_is_asked_for(folder: Path, tmp_path: Path) -> None:
    asked = run(folder, 3, ["fusion", "bm25-plus"], 0, tmp_path, quietly)
    assert list(asked.runs) == ["fusion", "bm25-plus"]
    assert len(asked.contexts.contexts) == 3
    assert not list(tmp_path.iterdir())  # no library is made for methods that need none
    with pytest.raises(UserError, match=r"unknown method 'ilciter'; choose one of: bm25-okapi, .*, whycite"):
        run(folder, 3, ["ilciter"], 0, tmp_path, quietly)
