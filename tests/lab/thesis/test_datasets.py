"""The data sets: small ones in their form, mistakes in them, and the real ones."""

import json
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from whycite.errors import UserError
from whycite.lab.thesis import datasets
from whycite.lab.thesis.datasets import PassageCase

Write = Callable[..., Path]

PAPER = {
    "paper_id": "C00-1",
    "sentences": [
        {"sid": 3, "section": "Abstract", "text": "We tag."},
        {"sid": 4, "section": "Method", "text": "Trigrams are smoothed."},
    ],
}
CITANCE = {
    "citance_id": "C00-1#1",
    "topic": "C00-1",
    "citing_paper": "W02-2",
    "citance": "Trigrams are smoothed (Doe, 2000).",
    "gold_sids": [4],
    "offset_text_jaccard": 0.5,
}
CLAIM = {
    "id": 7,
    "claim": "Aspirin helps.",
    "evidence": {"1": [{"sentences": [1], "label": "CONTRADICT"}, {"sentences": [0, 2], "label": "CONTRADICT"}]},
    "cited_doc_ids": [2, 1],
}
ABSTRACTS = [{"doc_id": 1, "abstract": ["a", "b", "c", "d"]}, {"doc_id": 2, "abstract": ["e"]}]
CITED = {
    "id": 0,
    "claim": "It helps [<|cit|>].",
    "evidence": {"66003": [{"sentences": [0], "label": "REFUTE"}]},
    "cited_doc_ids": [66003],
}
RETRIEVED = {"doc_id": 66003, "abstract": ["p", "q"]}


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes rows to a file of the folder that it returns, compressed where the name says so."""

    def write_rows(name: str, rows: Iterable[Any]) -> Path:
        data = "".join(json.dumps(row) + "\n" for row in rows).encode()
        (tmp_path / name).write_bytes(zstandard.compress(data) if name.endswith(".zst") else data)
        return tmp_path

    return write_rows


def test_clscisumm(write: Write) -> None:
    write("train-documents.jsonl.zst", [PAPER])
    doubtful, empty = {"offset_text_jaccard": 0.49}, {"citance": "(Doe, 2000)."}
    folder = write("train.jsonl", [CITANCE, CITANCE | doubtful, CITANCE | empty, CITANCE | {"gold_sids": []}])
    (case,) = datasets.load_clscisumm(folder)
    assert case == PassageCase(
        id="C00-1#1",
        dataset="clscisumm",
        claim="Trigrams are smoothed.",
        citing="W02-2",
        document="C00-1",
        sentences=("We tag.", "Trigrams are smoothed."),
        gold=frozenset({1}),  # the place in the document, not the number
        sections=("Abstract", "Method"),
    )


def test_clscisumm_automatic(write: Write) -> None:
    write("auto-documents.jsonl.zst", [PAPER])
    folder = write("auto-scisummnet.jsonl.zst", [CITANCE])
    assert [case.dataset for case in datasets.load_clscisumm_automatic(folder)] == ["clscisumm-automatic"]


def test_scifact(write: Write) -> None:
    write("corpus.jsonl.zst", ABSTRACTS)
    first, second = datasets.load_scifact(write("claims_train.jsonl.zst", [CLAIM]))
    assert (first.document, first.gold, first.label) == ("1", frozenset({0, 1, 2}), "contradicted")
    assert (second.document, second.gold, second.label) == ("2", frozenset(), "not found")
    assert first.citing == second.citing  # so that a claim stands in one part


def test_citint(write: Write) -> None:
    write("corpus.jsonl", [RETRIEVED])
    folder = write(
        "claims_dev.jsonl", [CITED, CITED | {"id": 1, "evidence": {}}, CITED | {"id": 2, "claim": "<|cit|>"}]
    )
    first, second = datasets.load_citint(folder, "dev")
    assert (first.claim, first.document, first.sentences) == ("It helps.", "66", ("p", "q"))
    assert (first.gold, first.label) == (frozenset(), "contradicted")
    assert (second.id, second.label) == ("dev:1", "not found")


@pytest.mark.parametrize(
    "change", [{"topic": "X"}, {"gold_sids": [0]}, {"gold_sids": [4, 5]}], ids=["document", "before", "behind"]
)
def test_gold_of_no_document(write: Write, change: dict[str, Any]) -> None:
    write("train-documents.jsonl", [PAPER])
    folder = write("train.jsonl", [CITANCE | change])
    with pytest.raises(UserError, match=r"train\.jsonl:1: the gold of 'C00-1#1' is not in train-documents\.jsonl"):
        datasets.load_clscisumm(folder)


@pytest.mark.parametrize(
    "change",
    [
        {"cited_doc_ids": [3]},
        {"evidence": {"1": [{"sentences": [4], "label": "SUPPORT"}]}},
        {"evidence": {"1": [{"sentences": [1], "label": "MAYBE"}]}},
    ],
    ids=["document", "sentence", "label"],
)
def test_evidence_that_cannot_be_understood(write: Write, change: dict[str, Any]) -> None:
    write("corpus.jsonl", ABSTRACTS)
    folder = write("claims_train.jsonl", [CLAIM | change])
    with pytest.raises(UserError, match=r"the evidence of claim '7' in abstract '[13]' is malformed"):
        datasets.load_scifact(folder)


@pytest.mark.parametrize(
    "change",
    [{"cited_doc_ids": [1]}, {"cited_doc_ids": ["x"]}, {"evidence": {"66003": [{"sentences": [0], "label": "MAYBE"}]}}],
    ids=["document", "name", "label"],
)
def test_citations_that_cannot_be_understood(write: Write, change: dict[str, Any]) -> None:
    write("corpus.jsonl", [RETRIEVED])
    folder = write("claims_train.jsonl", [CITED | change])
    with pytest.raises(UserError, match=r"the evidence of claim '0' in document '\w+' is malformed"):
        datasets.load_citint(folder, "train")


def test_missing_and_broken_files(write: Write, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such folder"):
        datasets.load_scifact(tmp_path / "none")
    write("corpus.jsonlines", ABSTRACTS)
    write("claims_train.jsonl", [CLAIM])
    with pytest.raises(UserError, match=r"contains no corpus\.jsonl, compressed or not"):
        datasets.load_scifact(tmp_path)
    with pytest.raises(UserError, match="unknown part 'test' of Citation-Integrity; choose one of: train, dev"):
        datasets.load_citint(tmp_path, "test")
    (tmp_path / "corpus.jsonl").write_text("{}\nbroken\n")
    with pytest.raises(UserError, match=r"corpus\.jsonl:2: not JSON"):
        datasets.load_scifact(tmp_path)


@pytest.mark.parametrize("wrong", [{"gold": frozenset({1})}, {"sections": ("a", "b")}], ids=["gold", "sections"])
def test_cases_hold_together(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="c: "):
        PassageCase("c", "d", "claim", "citing", "document", ("sentence",), **wrong)


def test_real_cases(data: Path) -> None:
    people, claims = datasets.load_clscisumm(data / "clscisumm"), datasets.load_scifact(data / "scifact")
    assert (len(people), len({case.document for case in people})) == (734, 40)
    assert Counter(case.label for case in claims if case.gold) == {"backed": 370, "contradicted": 194}
    assert len({case.citing for case in claims}) == 809
    for part, size, articles in (("train", 2_136, 70), ("dev", 316, 10)):
        cases = datasets.load_citint(data / "citint", part)
        assert (len(cases), len({case.document for case in cases})) == (size, articles)
        assert not any("cit|" in case.claim for case in cases)
