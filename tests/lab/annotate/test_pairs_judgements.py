"""Claims with passages and verdicts out of what labellers said."""

import json
from pathlib import Path
from typing import Any

import pytest

from whycite.errors import UserError
from whycite.lab.annotate.pairs import judged_cases


def row(kind: str, label: str, *indices: int, claim: str = "Bees sleep.") -> dict[str, Any]:
    name = "-".join(map(str, indices))
    options = [{"index": index, "text": f"Sentence {index}."} for index in indices]
    task = {"task": f"c:{kind}:{name}", "kind": kind, "label": label, "claim": claim, "options": options}
    return task | {"citing": "draft", "document": "paper", "share": 1.0, "votes": 3}


def write(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "labels.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


@pytest.mark.parametrize(
    ("rows", "gold", "label"),
    [
        ([("TC", "supports", 4), ("TC", "neither", 2)], {1}, "backed"),
        ([("TC", "contradicts", 2), ("TC", "neither", 4)], {0}, "contradicted"),
        ([("TC", "neither", 2), ("TC", "neither", 4)], set(), "not found"),
        ([("TC", "supports", 2), ("TC", "contradicts", 4)], {0, 1}, None),
        ([("BC-E", "evidence", 2), ("BC-E", "not evidence", 4)], {0}, "backed"),
        ([("BC-E", "not evidence", 2), ("BC-E", "not evidence", 4)], set(), None),  # one of them may contradict
        ([("BR", "2", 2, 4), ("BR", "1", 2, 6)], {1}, None),  # 4 never lost; 2 did
        ([("BR", "1", 2, 4), ("TC", "neither", 2)], set(), "not found"),  # the better of two may still say nothing
    ],
)
def test_passages_and_verdict(tmp_path: Path, rows: list[Any], gold: set[int], label: str | None) -> None:
    (case,) = judged_cases(write(tmp_path, *(row(*one) for one in rows)), "mine")
    assert set(case.gold) == gold
    assert case.label == label
    assert case.sentences[:2] == ("Sentence 2.", "Sentence 4.")
    assert (case.id, case.citing, case.document, case.dataset) == ("c", "draft", "paper", "mine")


def test_each_claim_has_its_case(tmp_path: Path) -> None:
    rows = [row("TC", "supports", 2), row("TC", "contradicts", 2, claim="Bees never sleep."), row("BC-R", "related", 4)]
    assert [case.label for case in judged_cases(write(tmp_path, *rows), "mine")] == ["backed", "contradicted"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [row("TC", "evidence", 2)],
            r'labels\.jsonl:1: "label" of a task TC must be one of supports, contradicts, nei',
        ),
        ([row("TC", "neither", 2, 4)], r'labels\.jsonl:1: a task TC has 1 in "options", not 2'),
        ([row("BC-R", "related", 2)], r"labels\.jsonl: only says which sentences are related \(BC-R\); expected"),
    ],
)
def test_mistakes(tmp_path: Path, rows: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(UserError, match=message):
        judged_cases(write(tmp_path, *rows), "mine")
