"""Exports that other programs read."""

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from whycite.documents.model import Document, Reference
from whycite.library import Library, add_documents, export_ilciter, export_trec
from whycite.library.tables import identifier

Make = Callable[..., Document]


def test_exports_hold_every_pair(place: Path, encoder: Any, make: Make, numbered: Make) -> None:
    sharp = make("s.md", "If a < b & “c” [@w], it “holds” [@w,v].", references=[
        Reference("w", title="Less & more", authors=("Doe, J.",), year=2010), Reference("v", doi="10.1/v")
    ])  # fmt: skip
    add_documents(place, [numbered(1), numbered(2), sharp], jobs=1, encoder=encoder)
    library = Library.open(place)
    expected = Counter((text, key) for text, key, _ in library.occurrences())

    rows = list(export_ilciter(library))
    found = Counter({(row["span"], paper["key"]): paper["support"] for row in rows for paper in row["papers"]})
    assert found == expected
    supports = [[paper["support"] for paper in row["papers"]] for row in rows]
    assert supports == [sorted(each, reverse=True) for each in supports]
    [work] = {
        (paper["title"], paper["year"], *paper["authors"])
        for row in rows
        for paper in row["papers"]
        if paper["key"] == "title:less more|2010|do"
    }
    assert work == ("Less & more", 2010, "Doe, J.")
    assert list(export_ilciter(Library.open(place))) == rows

    documents = [ET.fromstring(text) for text in export_trec(library)]
    texts = {int(each.findtext("DOCNO") or 0): (each.findtext("TEXT") or "").strip() for each in documents}
    assert texts == {identifier(text): text for text, _ in expected}
    assert texts.items() <= library.texts(list(texts)).items()
