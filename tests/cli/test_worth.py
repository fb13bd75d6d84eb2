"""`whycite worth` as a user runs it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from whycite.errors import UserError

Run = Callable[..., Result]
SAID = "Previous studies have shown that sleep deprivation impairs memory consolidation in mice."
DONE = "Samples were stored at -80 °C."


def test_sentences(run: Run) -> None:
    found = run("worth", SAID, DONE, "--section", "Introduction")
    assert found.exit_code == 0, found.exception
    first, second = found.stdout.splitlines()
    assert float(first.split()[0]) > 0.5 > float(second.split()[0])
    assert SAID in first


def test_json_and_standard_input(run: Run) -> None:
    content = json.loads(run("worth", "-", "--json", stdin=f"{SAID} {DONE}\r\n").stdout)
    assert content["sentences"] == [SAID, DONE]
    first, second = content["worthiness"]
    assert 0 <= second < first <= 1


def test_calibrations_differ(run: Run) -> None:
    articles, drafts = (
        json.loads(run("worth", SAID, "--json", "--calibration", kind).stdout)["worthiness"]
        for kind in ("articles", "drafts")
    )
    assert articles != drafts


def test_batch_keeps_order_and_ids(run: Run, tmp_path: Path) -> None:
    lines: list[dict[str, Any]] = [
        {"id": at, "section": "Introduction", "sentences": [SAID, DONE][: at % 3]} for at in range(12)
    ]
    lines.append({"id": "last", "sentences": [SAID]})
    path = tmp_path / "batch.jsonl"
    path.write_text("\r\n".join(map(json.dumps, lines)) + "\r\n\r\n", "utf-8")
    for answered in (run("worth", "--batch", path), run("worth", "--batch", "-", stdin=path.read_bytes())):
        assert answered.exit_code == 0, answered.exception
        found = [json.loads(line) for line in answered.stdout.splitlines()]
        assert [each["id"] for each in found] == [each["id"] for each in lines]
        assert [len(each["worthiness"]) for each in found] == [len(each["sentences"]) for each in lines]
        assert all(each.keys() == {"id", "worthiness"} for each in found)
        assert found[1]["worthiness"] == found[4]["worthiness"]


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("{", "invalid JSON"),
        ("[]", "JSON object"),
        ('{"sentences": []}', '"id"'),
        ('{"id": 1}', '"sentences"'),
        ('{"id": 1, "sentences": "one"}', '"sentences"'),
        ('{"id": 1, "sentences": [1]}', '"sentences"'),
        ('{"id": 1, "sentences": [], "section": 5}', '"section"'),
    ],
)
def test_mistakes_of_a_batch(run: Run, tmp_path: Path, line: str, word: str) -> None:
    path = tmp_path / "batch.jsonl"
    path.write_text(f'{{"id": 0, "sentences": ["{DONE}"]}}\n\n{line}\n', "utf-8")
    found = run("worth", "--batch", path)
    assert isinstance(found.exception, UserError)
    assert str(found.exception).startswith(f"{path}:3: ")
    assert word in str(found.exception)
    assert json.loads(found.stdout)["id"] == 0  # what came before is answered


@pytest.mark.parametrize(
    "arguments", [[], [SAID, "--batch", "-"], [SAID, "--model", "nowhere"], [SAID, "--calibration", "poems"]],
    ids=["nothing", "both", "no-model", "no-calibration"],
)  # fmt: skip
def test_mistakes(run: Run, arguments: list[str]) -> None:
    assert isinstance(run("worth", *arguments).exception, UserError)


def test_no_markup_from_sentences(run: Run) -> None:
    found = run("worth", "[bold]Cells[/bold] divide.\x1b[31m")
    assert "[bold]Cells[/bold]" in found.stdout
    assert "\x1b" not in found.stdout
