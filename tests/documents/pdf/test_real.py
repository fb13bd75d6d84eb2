"""The PDF reader on real papers: the bars of the benchmark, offsets, references."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pypdfium2
import pytest

from whycite.documents.model import Document
from whycite.documents.pdf import READER
from whycite.documents.sources import DiskFolder, Source


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    """The module that measures; it is a script, not part of the package."""
    path = Path(__file__).resolve().parents[3] / "benchmarks" / "pdf.py"
    spec = importlib.util.spec_from_file_location("benchmarks_pdf", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def read(path: Path) -> Document:
    return next(READER.read(Source(DiskFolder(path.parent, ""), path.name)))


def test_sentences_and_sections_of_ten_papers(data: Path, benchmark: ModuleType) -> None:
    paths = sorted((data / "pdf").glob("*.pdf"))
    assert len(paths) == 10
    total, found, order, right = 0, 0, 0, 0
    for path in paths:
        sentences, titles = benchmark.truth(path.with_suffix(".xml"))
        document = read(path)
        text = benchmark.as_text(document)
        measures = [text.holds(sentence) for sentence in sentences]
        total += len(sentences)
        found += sum(measure["found"] for measure in measures)
        order += sum(measure["order"] for measure in measures)
        right += benchmark.title_f1(titles, document) >= benchmark.RIGHT
    assert found >= 0.9 * total
    assert order >= 0.9 * total
    assert right >= 8


def test_the_measure_can_fail(benchmark: ModuleType) -> None:
    text = benchmark.Text("One sentence is here, another one is there, and both are long enough.", ())
    assert text.holds("another one is there, and both are long")["found"]
    assert not text.holds("both are long enough, another one is there, and one sentence")["found"]
    assert not text.holds("a third sentence that nobody wrote")["found"]
    assert text.holds("One sentence is here, and both are lo ng enough")["order"]
    assert not text.holds("One sentence is here, and both are not long enough")["order"]
    assert not text.holds("both are long enough, another one is there, and one sentence")["order"]


@pytest.mark.parametrize("name", ["pdf/P98-2143.pdf", "pdf/J04-2003.pdf", "formats/N18-3011.pdf"])
def test_sentences_stand_where_they_say(data: Path, name: str, benchmark: ModuleType) -> None:
    path = data / name
    with pypdfium2.PdfDocument(path) as pages:
        text = "\f".join(page.get_textpage().get_text_range() for page in pages)
    document = read(path)
    assert len(document.sentences) > 100
    missing = 0
    for sentence in document.sentences:
        cut = benchmark.letters(text[sentence.start : sentence.end])
        words = [benchmark.letters(word) for word in sentence.text.split()]
        missing += not all(word in cut for word in words if word and word != "equation")
    assert missing <= 0.01 * len(document.sentences)


def test_title_authors_sections_and_references_of_an_acl_paper(data: Path) -> None:
    document = read(data / "formats" / "N18-3011.pdf")
    assert document.paper.title == "Construction of the Literature Graph in Semantic Scholar"
    assert document.paper.authors[0] == "Ammar, Waleed"
    top = [section.heading for section in document.sections if section.level == 1]
    assert top == [
        "Abstract",
        "1 Introduction",
        "2 Structure of The Literature Graph",
        "3 Extracting Metadata",
        "4 Entity Extraction and Linking",
        "5 Other Research Problems",
        "6 Conclusion and Future Work",
        "References",
    ]
    assert len(document.references) == 27
    citations = [citation for sentence in document.sentences for citation in sentence.citations]
    assert sum(bool(citation.keys) for citation in citations) >= 0.9 * len(citations) > 20
