"""Spans of real documents of every style of citation."""

import re
from itertools import islice
from pathlib import Path

import pytest

from whycite.documents import stream
from whycite.evidence import extract

STYLES = {
    "author-year in brackets": "elife/elife-tiny.jsonl.zst",
    "author-year, JATS": "formats/PMC6398430.nxml",
    "numbers": "formats/PMC5828200.nxml",
    "numbers, unarXive": "formats/unarxive-sample.jsonl.gz",
    "printed, GROBID": "formats/N18-3011.tei.xml",
    "LaTeX": "formats/1911.02782.gz",
}
RESIDUE = re.compile(r"\(\s*\)|\[\s*\]|\(\s*[,;]|[,;]\s*\)|,\s*,|;\s*;|\ufffc|\s{2}|^[,;:)\]]")


@pytest.mark.parametrize("style", STYLES)
def test_every_linked_citation_of_a_sentence_with_words_is_evidence(data: Path, style: str) -> None:
    linked = lost = 0
    for document in islice(stream(data / STYLES[style]), 2):
        spans = extract(document)
        assert {span.kind for span in spans} == {"entity", "piece", "sentence"}
        found = {(span.sentence, key) for span in spans for key in span.keys}
        for at, sentence in enumerate(document.sentences):
            keys = {(at, key) for citation in sentence.citations for key in citation.keys}
            linked += len(keys)
            lost += len(keys - found) if len(sentence.without_citations()) > 20 else 0
    assert linked >= 20
    assert lost <= linked / 100


@pytest.mark.parametrize("style", STYLES)
def test_nothing_is_left_of_markers(data: Path, style: str) -> None:
    for document in islice(stream(data / STYLES[style]), 2):
        for span in extract(document):
            source = document.sentences[span.sentence].text
            residue = RESIDUE.search(span.text)
            assert residue is None or residue[0] in source, (span.text, source)
