"""Labelled documents in a packed file."""

import lzma
from pathlib import Path
from random import Random

import pytest

from whycite.errors import UserError
from whycite.worthiness.model import LabelledDocument, LabelledParagraph, LabelledSentence
from whycite.worthiness.pack import load, save

DOCUMENT = LabelledDocument(
    "doi:10.1/a",
    "Über cells",
    "2025-01-02",
    (
        LabelledParagraph(("Results", "One"), "result", (LabelledSentence("A.", True, False, "Doe: A."),)),
        LabelledParagraph((), None, (LabelledSentence("B.", False, True), LabelledSentence("C.", True, True))),
    ),
)


def test_comes_back_as_it_was(tmp_path: Path) -> None:
    other = LabelledDocument("x", "", "", ())
    assert save([DOCUMENT, other], tmp_path / "p.xz") == 2
    assert list(load(tmp_path / "p.xz")) == [DOCUMENT, other]


def test_stops_before_it_is_too_large(tmp_path: Path) -> None:
    random = Random(0)
    documents = [
        LabelledDocument(str(at), random.randbytes(20_000).hex(), "", ()) for at in range(100)
    ]  # 2 MB when compressed
    written = save(documents, tmp_path / "p.xz", most=500_000)
    assert 5 < written < 50
    assert (tmp_path / "p.xz").stat().st_size < 1_000_000
    assert [each.key for each in load(tmp_path / "p.xz")] == [str(at) for at in range(written)]


@pytest.mark.parametrize("content", [b"", b"no xz", lzma.compress(b'"other"\n'), lzma.compress(b"{")], ids=repr)
def test_no_pack(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "p.xz").write_bytes(content)
    with pytest.raises(UserError, match=r"p\.xz"):
        list(load(tmp_path / "p.xz"))
