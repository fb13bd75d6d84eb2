"""A ranker in a folder, of random weights."""

from pathlib import Path
from types import SimpleNamespace
from typing import get_args

import numpy as np
import pytest

from tests.fakes import tiny_ranker
from whycite.errors import UserError
from whycite.models.pairs import (
    RANKER_FOLDER,
    OnnxRanker,
    TargetKind,
    load_ranker,
    paper_text,
    passage_text,
    ranker_of,
)

CLAIM = "cells divide in the cortex"
TEXTS = ["cells divide", "stars burn", "cells in the cortex\ndivide", "", "cells " * 400]
WORDS = "cells divide in the cortex stars burn paper span passage stance :"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_ranker(tmp_path_factory.mktemp("encoder") / RANKER_FOLDER, WORDS)


def test_a_score_depends_on_nothing_but_its_pair(folder: Path) -> None:
    one, two = load_ranker(folder, threads=1), load_ranker(folder, threads=2)
    together = one.score("paper", CLAIM, TEXTS)
    assert together.dtype == np.float32
    assert together.tolist() == two.score("paper", CLAIM, TEXTS[::-1])[::-1].tolist()
    assert together.tolist() == [float(one.score("paper", CLAIM, [text])[0]) for text in TEXTS]
    assert len({*together.tolist()}) == len(TEXTS)


def test_it_is_told_what_it_compares(folder: Path) -> None:
    scores = [float(load_ranker(folder).score(kind, CLAIM, TEXTS[:1])[0]) for kind in get_args(TargetKind)]
    assert len(set(scores)) == 4


def test_nothing_to_score(folder: Path) -> None:
    assert load_ranker(folder).score("paper", CLAIM, []).shape == (0,)


def test_half_characters_and_long_claims(folder: Path) -> None:
    scores = load_ranker(folder).score("passage", "x\ud800 " * 5000, ["\udfff", "text " * 5000])
    assert np.isfinite(scores).all()


def test_loaded_once(folder: Path) -> None:
    assert load_ranker(folder) is load_ranker(folder)
    assert isinstance(load_ranker(folder), OnnxRanker)
    assert load_ranker(folder).name.startswith("tiny@")


def test_it_lies_with_its_encoder(folder: Path) -> None:
    def stored(place: Path | None) -> object:
        return ranker_of(SimpleNamespace(folder=place) if place else SimpleNamespace())

    assert stored(folder.parent) is load_ranker(folder)
    assert stored(folder) is None
    assert stored(None) is None


def test_no_ranker(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(UserError, match=r"has no ranker\.json: .* train one with 'whycite train ranker'"):
        load_ranker(tmp_path)
    with pytest.raises(UserError, match="threads must be 1 or more"):
        load_ranker(folder, threads=0)


def test_another_model_than_its_facts_say(tmp_path: Path, folder: Path) -> None:
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    with (tmp_path / "model.onnx").open("ab") as model:
        model.write(b"more")
    with pytest.raises(
        UserError, match=r"holds version [0-9a-f]{8} of 'tiny', but ranker\.json says .*: copy the folder again"
    ):
        load_ranker(tmp_path).score("paper", CLAIM, TEXTS)


def test_texts() -> None:
    assert paper_text("Title", "") == "Title"
    assert paper_text("Title", "abstract") == "Title\nabstract"
    assert passage_text("b", "a", "c") == "b\na c"
