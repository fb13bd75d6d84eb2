"""The real drafts: every one loads, its citations are found and linked, its sentences stand where they say."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from whycite.documents import Document, read
from whycite.documents.sources import decode

# Where the index, which counts with a regex, is wrong: each was looked at.
MISCOUNTED = {
    "duvenaud-early": (72, r"\defcitealias names a paper, it does not cite it"),
    "duvenaud-thesis": (196, r"\defcitealias, and three citations between \iffalse and \fi"),
    "labor-tex": (145, r"four stand in the definition of \citeproc"),
}
PLACEHOLDERS = {"EQUATION", "REF"}
WORD = re.compile(r"[A-Za-z]{3,}")


@cache
def _index(data: Path) -> dict[str, dict[str, Any]]:
    return {entry["name"]: entry for entry in json.loads((data / "drafts" / "index.json").read_text())}


@cache
def _document(data: Path, name: str) -> Document:
    return read(data / "drafts" / name)


@cache
def _text(file: str) -> str:
    return decode(Path(file).read_bytes())[0]


@pytest.fixture(scope="module")
def drafts(data: Path) -> dict[str, Document]:
    return {name: _document(data, name) for name in _index(data)}


def test_all_load_with_the_right_main_file(data: Path, drafts: dict[str, Document]) -> None:
    assert len(drafts) == 62
    for name, document in drafts.items():
        assert Path(document.path) == data / "drafts" / name / _index(data)[name]["main"]
        assert document.sentences, name


def test_cite_commands_are_counted_right(data: Path, drafts: dict[str, Document]) -> None:
    latex = {name: document for name, document in drafts.items() if document.format == "latex"}
    assert len(latex) == 56
    for name, document in latex.items():
        count = sum(len(sentence.citations) for sentence in document.sentences)
        expected = MISCOUNTED[name][0] if name in MISCOUNTED else _index(data)[name]["cite_commands"]
        assert count == expected, name


def test_footnotes_of_a_thesis_make_its_sentences_citing_ones(drafts: dict[str, Document]) -> None:
    sentences = drafts["stolfi-tese"].sentences
    assert sum(bool(sentence.note_citations) for sentence in sentences) > 150
    places = {(s.file, c.start) for s in sentences if s.kind == "footnote" for c in s.citations}
    # A note that is a reference itself has no citation of its own.
    assert {(s.file, c.start) for s in sentences for c in s.note_citations if c.keys} <= places


def test_every_key_that_has_an_entry_resolves(data: Path, drafts: dict[str, Document]) -> None:
    for name, document in drafts.items():
        bibs = [
            _text(str(path))
            for path in sorted((data / "drafts" / name).rglob("*.b*"))
            if path.suffix in {".bib", ".bbl"}
        ]
        entries = {key for bib in bibs for key in re.findall(r"^\s*@\w+\s*[{(]\s*([^,\s]+)\s*,", bib, re.MULTILINE)}
        entries |= {key for bib in bibs for key in re.findall(r"\\bibitem(?:\[[^\]]*\])?\{([^}]+)\}", bib)}
        cited = {key for sentence in document.sentences for citation in sentence.citations for key in citation.keys}
        assert not (cited & entries) - document.by_id.keys(), name


def test_every_sentence_stands_where_it_says(drafts: dict[str, Document]) -> None:
    checked = from_macros = 0
    for document in drafts.values():
        for sentence in document.sentences:
            cut = _text(sentence.file)[sentence.start : sentence.end]
            words = [word for word in WORD.findall(sentence.text) if word not in PLACEHOLDERS]
            missing = [word for word in words if word not in cut]
            checked += 1
            # Words that a macro, an accent or a hyphenation mark makes stand in the source in another form.
            assert not missing or "\\" in cut or "$" in cut, (sentence, cut)
            from_macros += bool(missing)
    assert checked > 25_000
    assert from_macros / checked < 0.04


def test_sentences_read_like_prose(drafts: dict[str, Document]) -> None:
    for document in drafts.values():
        with_macro = [s.text for s in document.sentences if re.search(r"\\[A-Za-z]+\{|\\begin|\\cite", s.text)]
        assert len(with_macro) <= 1, with_macro
