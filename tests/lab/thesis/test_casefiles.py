"""Claims of any file or folder, recognised by their keys."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from whycite.errors import UserError
from whycite.lab.thesis.casefiles import load_cases, load_datasets

Write = Callable[[str, list[dict[str, Any]]], Path]

CLAIM = {"id": 7, "claim": "Aspirin helps.", "evidence": {"1": [{"sentences": [1], "label": "CONTRADICT"}]}}
CLAIM |= {"cited_doc_ids": [1]}
MASKED = {"id": 0, "claim": "It helps [<|cit|>].", "evidence": {}, "cited_doc_ids": [66003]}
CITANCE = {"citance_id": "C#1", "topic": "C", "citing_paper": "W", "citance": "It helps.", "gold_sids": [4]}
PAPER = {"paper_id": "C", "sentences": [{"sid": 4, "section": "Abstract", "text": "It does."}]}
ENTAILMENT: dict[str, Any] = {"claim": "It helps.", "evidence": "It does not. Nothing does.", "label": "CONTRADICT"}


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes rows to a file of a folder "mine", compressed where the name says so."""
    (tmp_path / "mine").mkdir()

    def write_rows(name: str, rows: list[dict[str, Any]]) -> Path:
        data = "".join(json.dumps(row) + "\n" for row in rows).encode()
        path = tmp_path / "mine" / name
        path.write_bytes(zstandard.compress(data) if name.endswith(".zst") else data)
        return path

    return write_rows


def test_scifact_by_path(write: Write) -> None:
    write("corpus.jsonl.zst", [{"doc_id": 1, "abstract": ["a", "b"]}])
    (case,) = load_datasets([write("claims_dev.jsonl.zst", [CLAIM])])["mine/claims_dev"]
    assert (case.dataset, case.gold, case.label) == ("mine/claims_dev", frozenset({1}), "contradicted")


def test_citation_integrity_by_path(write: Write) -> None:
    """Its rows have the keys of SciFact's, but name no sentences; its masks and labels tell."""
    write("corpus.jsonl", [{"doc_id": 66003, "abstract": ["p", "q"]}])
    refuted = MASKED | {"claim": "No.", "evidence": {"66003": [{"sentences": [0], "label": "REFUTE"}]}}
    one, two = load_cases(write("claims_test.jsonl", [MASKED, refuted]))
    assert (one.id, one.claim, one.label) == ("test:0", "It helps.", "not found")
    assert (two.gold, two.label) == (frozenset(), "contradicted")


def test_clscisumm_by_path(write: Write) -> None:
    write("auto-documents.jsonl", [PAPER])
    automatic = write("auto-scisummnet.jsonl", [CITANCE | {"annotator": "auto"}])
    (case,) = load_cases(automatic)
    assert (case.sentences, case.gold) == (("It does.",), frozenset({0}))
    write("train-documents.jsonl", [PAPER])
    write("train.jsonl", [CITANCE | {"citance_id": "C#2"}])
    assert [case.id for case in load_cases(automatic.parent)] == ["C#2"]  # automatic gold only as a file


def test_entailment(write: Write) -> None:
    rows = [ENTAILMENT, ENTAILMENT | {"label": "NEI", "evidence": ["It is.", "Or not."], "article": "PMC1"}]
    one, two = load_cases(write("rows.jsonl", rows))
    assert (one.sentences, one.label) == (("It does not.", "Nothing does."), "contradicted")
    assert (two.sentences, two.label, two.document) == (("It is.", "Or not."), "not found", "PMC1")


def test_folders_hold_several_splits(write: Write) -> None:
    write("context.jsonl", [{"sentences": [], "labels": []}])  # not a split, so left out
    write("one.jsonl", [ENTAILMENT])
    folder = write("two.jsonl", [ENTAILMENT, ENTAILMENT]).parent
    cases = load_datasets([folder, folder])["mine"]
    assert [case.id for case in cases] == ["1", "1#2", "2"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], r"rows\.jsonl:1: no records in this file"),
        ([{"text": "It helps."}], r'rows\.jsonl:1: not a claim with passages; expected the keys "claim", "evidence"'),
        ([ENTAILMENT, ENTAILMENT | {"label": "MAYBE"}], r"rows\.jsonl:2: \"label\" must be one of SUPPORT, .*'MAYBE'"),
        ([ENTAILMENT | {"evidence": 3}], r'rows\.jsonl:1: "evidence" must be a text or a list of sentences'),
        (
            [CLAIM | {"cited_doc_ids": [2]}],
            r"rows\.jsonl:1: the evidence of claim '7' .* expected a document of corpus",
        ),
        ([{"task": "a:TC:1", "kind": "TC", "label": "neither"}], r"rows\.jsonl:1: .*run `whycite annotate aggregate` "),
    ],
    ids=["empty", "keys", "label", "evidence", "document", "earlier"],
)
def test_mistakes(write: Write, rows: list[dict[str, Any]], message: str) -> None:
    write("corpus.jsonl", [{"doc_id": 1, "abstract": ["a", "b"]}])
    with pytest.raises(UserError, match=message):
        load_cases(write("rows.jsonl", rows))


def test_missing(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file or folder"):
        load_cases(tmp_path / "none")
    with pytest.raises(UserError, match="not a dataset of passages; expected the keys"):
        load_cases(tmp_path)


def test_real_splits(data: Path) -> None:
    assert len(load_cases(data / "citint" / "claims_dev.jsonl.zst")) == 316
    assert len(load_cases(data / "citint")) == 2_136 + 316
    assert len(load_cases(data / "clscisumm")) == 734
    assert len(load_cases(data / "entailment" / "train.jsonl.zst")) == 47_250
