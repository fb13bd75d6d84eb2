"""Weights that lie with an encoder."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from whycite.cite.scoring import FILE, FittedWeights, RankingWeights, stored_with
from whycite.errors import UserError
from whycite.models import load_encoder


def _encoder(folder: Path) -> Any:
    return SimpleNamespace(folder=folder)


def test_they_come_back(tmp_path: Path) -> None:
    fitted = FittedWeights(RankingWeights(sentence_cosine=1.25, ranker=0.5), 10.5)
    fitted.write(tmp_path)
    assert stored_with(_encoder(tmp_path)) == fitted
    FittedWeights(RankingWeights()).write(tmp_path)
    assert stored_with(_encoder(tmp_path)).doubt is None


def test_without_them_there_are_others(tmp_path: Path) -> None:
    assert stored_with(_encoder(tmp_path)) == FittedWeights(RankingWeights())
    assert stored_with(SimpleNamespace()) == FittedWeights(RankingWeights())


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"doubt": "x", "weights": {}}', '{"doubt": 1, "weights": {"no": 1}}']
)
def test_a_file_that_holds_none(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match="not a file of weights"):
        stored_with(_encoder(tmp_path))


def test_the_bundled_encoder_has_its_own() -> None:
    bundled = stored_with(load_encoder())
    assert bundled.weights != RankingWeights()
    assert bundled.doubt is not None
