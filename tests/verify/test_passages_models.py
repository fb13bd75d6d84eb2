"""Passages in the order of another model, which a plug-in brings."""

from collections.abc import Sequence
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from whycite.errors import UserError
from whycite.verify import passages
from whycite.verify.passages import load_passage_model, reorder_passages
from whycite.verify.verification import Passage, Verification

VERIFICATION = Verification(
    "Bees sleep.",
    "backed",
    0.9,
    (
        Passage(1, 2, 0.8, "Bees sleep at night.", "Results", decides=True),
        Passage(2, 0, 0.1, "Wax.", "Results"),
        Passage(3, 1, 0.0, "A long sentence about hives.", "Results"),
    ),
)


def by_length(claim: str, sentences: Sequence[str]) -> NDArray[np.floating]:
    return np.array([float(len(text)) - 10 for text in sentences])


def test_passages_are_in_the_order_of_the_model_and_the_verdict_stays() -> None:
    reordered = reorder_passages(VERIFICATION, by_length)
    assert [(passage.rank, passage.index, passage.decides) for passage in reordered.passages] == [
        (1, 1, False),
        (2, 2, True),
        (3, 0, False),
    ]
    assert all(0 <= passage.score <= 1 for passage in reordered.passages)
    assert (reordered.verdict, reordered.confidence) == ("backed", 0.9)


def test_the_model_reads_sentences_in_document_order() -> None:
    read: list[list[str]] = []

    def remember(claim: str, sentences: Sequence[str]) -> NDArray[np.floating]:
        read.append(list(sentences))
        return np.zeros(len(sentences))

    reordered = reorder_passages(VERIFICATION, remember)
    assert read == [["Wax.", "A long sentence about hives.", "Bees sleep at night."]]
    assert [passage.index for passage in reordered.passages] == [0, 1, 2]  # ties stay in document order
    assert reorder_passages(Verification("x", "could not check", 0.0), remember).passages == ()


def test_scores_must_be_numbers() -> None:
    with pytest.raises(UserError, match="no number for each of 3 sentences"):
        reorder_passages(VERIFICATION, lambda claim, sentences: np.full(len(sentences), np.nan))
    with pytest.raises(UserError, match="no number for each"):
        reorder_passages(VERIFICATION, lambda claim, sentences: np.zeros(1))


def test_a_folder_is_opened_by_the_plug_in_that_knows_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(UserError, match="no such folder"):
        load_passage_model(tmp_path / "none")
    with pytest.raises(UserError, match="not a model of passages"):
        load_passage_model(tmp_path)
    entries = [EntryPoint("broken", "no.such.module:x", "g"), EntryPoint("mine", f"{__name__}:open_by_length", "g")]
    monkeypatch.setattr(passages, "entry_points", lambda group: entries)
    monkeypatch.setattr(EntryPoint, "load", lambda entry: open_by_length if entry.name == "mine" else 1 / 0)
    assert load_passage_model(tmp_path) is by_length
    assert "cannot use the plug-in 'broken'" in caplog.text


def open_by_length(folder: Path) -> passages.PassageScorer | None:
    return by_length
