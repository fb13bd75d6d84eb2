"""Structure analysis over real articles."""

from pathlib import Path

import pytest

from whycite.documents import Document, stream
from whycite.structure import BLOCKS, OUTER_TYPES, Template, dictionary, label, outline, support


def typed(documents: list[Document]) -> float:
    """The share of top-level headings with text that have a type."""
    found = []
    for document in documents:
        sections = [section for section in outline(label(document, dictionary())).sections if section.heading]
        top = min((section.level for section in sections if section.type not in OUTER_TYPES), default=0)
        found += [section.type is not None for section in sections if section.level <= top]
    return sum(found) / len(found)


@pytest.mark.parametrize(
    ("path", "documents", "share"),
    [("elife/elife-tiny.jsonl.zst", 60, 1.0), ("formats/unarxive-sample.jsonl.gz", 40, 0.6), ("jats-raw", 30, 0.95)],
)
def test_top_level_headings_have_types(data: Path, path: str, documents: int, share: float) -> None:
    read = list(stream(data / path))
    assert len(read) == documents
    assert typed(read) >= share


def test_each_dictionary_finds_more(data: Path) -> None:
    outlines = [outline(document) for document in stream(data / "formats/unarxive-sample.jsonl.gz")]
    shares = support(outlines, [dictionary(block) for block in BLOCKS]).shares[Template.parse("I * C")]
    assert list(shares) == sorted(shares)
    assert shares[0] < shares[1] < shares[3]
