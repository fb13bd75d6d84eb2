"""Models of one family share a tokenizer's words, and each cuts where it must."""

import json
from pathlib import Path

import pytest
from tokenizers import Tokenizer

import whycite
from tests.fakes import word_table_folder
from whycite.models.folders import TOKENIZER, ModelFolder

TEXT = "Cells divide <s> where <mask> stars shine: Äpfel, 3.5 µm, and 東京 too. " * 9


def _models() -> list[Path]:
    return [path.parent for path in sorted((Path(whycite.__file__).parent / "models").rglob(TOKENIZER))]


@pytest.mark.parametrize("folder", _models(), ids=lambda folder: str(folder.name))
def test_shared_or_not_it_is_the_tokenizer_of_the_file(folder: Path) -> None:
    alone = Tokenizer.from_file(str(folder / TOKENIZER))
    alone.enable_truncation(20)
    short, whole = ModelFolder(folder).open_tokenizer(20), ModelFolder(folder).open_tokenizer()
    assert short.to_str() == alone.to_str()
    assert short.encode(TEXT).ids == alone.encode(TEXT).ids
    assert len(short.encode(TEXT).ids) == 20 < len(whole.encode(TEXT).ids)


def test_a_file_that_changed_is_read_again(tmp_path: Path) -> None:
    made = word_table_folder(tmp_path / "tiny")
    before = ModelFolder(made).open_tokenizer()
    assert before.encode("cells divide").ids == [1, 2]  # and nothing is padded
    path = made / TOKENIZER
    content = json.loads(path.read_text("utf-8"))
    content["model"]["vocab"] |= {"cells": 2, "divide": 1}
    path.write_text(json.dumps(content), "utf-8")
    assert ModelFolder(made).open_tokenizer().encode("cells divide").ids == [2, 1]
    assert before.encode("cells divide").ids == [1, 2]
