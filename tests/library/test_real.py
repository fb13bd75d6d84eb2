"""Real files, the real parser and the bundled encoder."""

from pathlib import Path

import pytest

from whycite.documents.reading import read
from whycite.evidence import extract
from whycite.library import Library, add, remove
from whycite.models import load_encoder

BIB = """
@article{vaswani, title={Attention is all you need}, author={Vaswani, Ashish}, year={2017}}
@article{watson, title={Molecular structure of nucleic acids}, author={Watson, J. D.}, year={1953},
  doi={10.1038/171737a0}}
"""
DRAFT = """---
title: A study of machines that translate and of molecules that do not
bibliography: refs.bib
---

# Introduction

The transformer architecture [@vaswani] relies on attention alone.
DNA is a double helix of two strands [@watson].
"""


def test_from_files_to_answers(place: Path, tmp_path: Path) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "refs.bib").write_text(BIB)
    (papers / "draft.md").write_text(DRAFT)
    report = add(place, [papers], jobs=1)
    assert (report.added, report.skipped) == (1, [])
    library = Library.open(place)
    assert library.encoder == load_encoder().name
    claim = "genetic material is wound like a spiral staircase"
    hits = library.search_spans(claim, load_encoder().encode([claim])[0])
    best = max(hits, key=lambda hit: hit.cosine)
    [citation] = library.citations([best.id])
    assert library.papers([citation.paper])[citation.paper].key == "doi:10.1038/171737a0"
    assert citation.section_type == "introduction"
    spans = extract(read(papers / "draft.md"))
    assert {text for text, _, _ in library.occurrences()} == {span.text for span in spans}
    assert add(place, [papers], jobs=1).unchanged == 1
    assert [entry.path for entry in remove(place, [str(papers / "draft.md")])] == [str(papers / "draft.md")]
    assert Library.open(place).info().papers == 0


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_real_articles_come_and_go(place: Path, data: Path) -> None:
    archive = data / "elife" / "elife-tiny.jsonl.zst"
    report = add(place, [archive])
    assert report.added + len(report.skipped) == 60
    library = Library.open(place)
    info = library.info()
    assert info.spans > 60 * 50
    support = library.support([paper for _, paper in library.pairs()])
    assert max(support.values()) > 3
    again = add(place, [archive])
    assert (again.added, again.unchanged) == (0, report.added)
    assert Library.open(place).version == library.version
    remove(place, [str(entry.id) for entry in library.documents()])
    left = Library.open(place).info()
    assert (left.documents, left.papers, left.spans, left.citations) == (0, 0, 0, 0)
