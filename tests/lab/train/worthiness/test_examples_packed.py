"""Labelled documents in a packed file."""

import bz2
from pathlib import Path

import pytest

from whycite.check.paragraphs import LabelledDocument, LabelledParagraph, LabelledSentence
from whycite.errors import UserError
from whycite.lab.train.worthiness.examples import load_labelled, save_labelled

DOCUMENT = LabelledDocument(
    "doi:10.1/a",
    "Über cells",
    "2025-01-02",
    (
        LabelledParagraph(
            ("Results", "One"), "result", (LabelledSentence("A.", True, False, "Doe: A.", (1, 2), True),)
        ),
        LabelledParagraph((), None, (LabelledSentence("B.", False, True), LabelledSentence("C.", True, True))),
    ),
    ("On cells", "Über Zellen"),
)


def test_comes_back_as_it_was(tmp_path: Path) -> None:
    other = LabelledDocument("x", "", "", ())
    assert save_labelled([DOCUMENT, other], tmp_path / "p.bz2") == 2
    assert list(load_labelled(tmp_path / "p.bz2")) == [DOCUMENT, other]


@pytest.mark.parametrize("content", [b"", b"no pack", bz2.compress(b'"other"\n'), bz2.compress(b"{")], ids=repr)
def test_no_pack(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "p.bz2").write_bytes(content)
    with pytest.raises(UserError, match=r"p\.bz2"):
        list(load_labelled(tmp_path / "p.bz2"))
