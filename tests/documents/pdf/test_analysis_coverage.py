"""How much of a PDF was read: scanned pages, fonts without Unicode, prose that looks like something else."""

import io
import json
from collections.abc import Callable
from pathlib import Path

import pypdfium2
import pytest
from typer.testing import CliRunner

from tests.documents.pdf.test_pdf import Paper, assemble, fill, prose, sentences
from whycite.cli import app
from whycite.documents.jsondocument import document_json, from_plain, to_plain
from whycite.documents.model import Document
from whycite.documents.pdf import READER
from whycite.documents.pdf.analysis import name_pages
from whycite.text.language import reads_as_prose

Read = Callable[..., list[Document]]
ABSTRACT = (
    "We show that bees sleep at night. In this work the sleep of forty bees was recorded with small cameras, and the "
    "results are compared with those of an earlier study. It is concluded that young bees sleep longer than old ones."
)


def paper_with_scans(pages: int, scanned: set[int]) -> bytes:
    """A paper, some pages of which (from 1) are only an image."""
    image = b"<</Type/XObject/Subtype/Image/Width 1/Height 1/ColorSpace/DeviceGray/BitsPerComponent 8/Length 1>>"
    objects = [b"<</Type/Catalog/Pages 2 0 R>>", b"", b"<</Type/Font/Subtype/Type1/BaseFont/Times-Roman>>"]
    objects.append(image + b"\nstream\n\x80\nendstream")
    kids = []
    for number in range(1, pages + 1):
        lines = fill(prose(number, 40), 90)[:50]
        text = "".join(f"BT /F 10 Tf 1 0 0 1 72 {740 - 12 * i} Tm ({line}) Tj ET\n" for i, line in enumerate(lines))
        content = "q 612 0 0 792 0 0 cm /I Do Q" if number in scanned else text
        kids.append(len(objects) + 1)
        looks = "/MediaBox[0 0 612 792]/Resources<</Font<</F 3 0 R>>/XObject<</I 4 0 R>>>>"
        objects.append(f"<</Type/Page/Parent 2 0 R{looks}/Contents {len(objects) + 2} 0 R>>".encode())
        objects.append(f"<</Length {len(content)}>>\nstream\n{content}\nendstream".encode())
    objects[1] = f"<</Type/Pages/Kids[{' '.join(f'{kid} 0 R' for kid in kids)}]/Count {pages}>>".encode()
    return assemble(objects)


def paper_without_unicode(text: str, code: Callable[[str], int]) -> bytes:
    """A page in a font whose codes are its own and that does not say which letters they stand for."""
    lines = "".join(
        f"BT /F 10 Tf 1 0 0 1 72 {740 - 12 * i} Tm <{''.join(f'{code(c):02x}' for c in line)}> Tj ET\n"
        for i, line in enumerate(fill(text, 90))
    )
    names = " ".join(f"/glyph{number}" for number in range(256))
    font = (
        f"<</Type/Font/Subtype/Type1/BaseFont/ABCDEF+Odd/FirstChar 0/LastChar 255/Widths[{' '.join(['480'] * 256)}]"
        f"/Encoding<</Type/Encoding/Differences[0 {names}]>>>>"
    )
    page = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F 3 0 R>>>>/Contents 5 0 R>>"
    objects = ["<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[4 0 R]/Count 1>>", font, page]
    objects.append(f"<</Length {len(lines)}>>\nstream\n{lines}\nendstream")
    return assemble([each.encode("latin-1") for each in objects])


def test_scanned_pages_are_named_with_what_to_do(read_bytes: Read) -> None:
    (document,) = read_bytes(READER, paper_with_scans(10, {3, 4, 5}), "paper.pdf")
    (warning,) = document.warnings
    assert warning.startswith("paper.pdf: pages 3-5 are scanned and have no text")
    assert "pip install 'whycite[ocr]'" in warning or "OCR" in warning
    assert document.coverage.share == pytest.approx(0.7, abs=0.03)
    assert document.coverage.gaps == "pages 3-5 are scanned"


def test_scanned_pages_are_read_by_ocr(read_bytes: Read) -> None:
    pytest.importorskip("rapidocr", reason="the extra is not installed: pip install 'whycite[ocr]'")
    printed = pypdfium2.PdfDocument(paper_with_scans(1, set()))
    scan = pypdfium2.PdfDocument.new()
    page = scan.new_page(612, 792)
    image = pypdfium2.PdfImage.new(scan)
    image.set_bitmap(printed[0].render(scale=200 / 72))
    image.set_matrix(pypdfium2.PdfMatrix().scale(612, 792))
    page.insert_obj(image)
    page.gen_content()
    buffer = io.BytesIO()
    scan.save(buffer)
    (document,) = read_bytes(READER, buffer.getvalue(), "scan.pdf")
    expected = fill(prose(1, 40), 90)[:50]
    words = " ".join(sentences(document)).split()
    assert sum(word in words for word in " ".join(expected).split()) > 0.95 * len(" ".join(expected).split())
    assert {sentence.page for sentence in document.sentences} == {1}
    assert document.warnings == ("scan.pdf: page 1 was read by OCR; expect mistakes",)
    assert document.coverage.share == 1


def test_a_paper_that_was_read_whole_says_nothing(read_bytes: Read) -> None:
    (document,) = read_bytes(READER, paper_with_scans(3, set()), "paper.pdf")
    assert document.warnings == ()
    assert document.coverage.share == 1
    assert document.coverage.gaps == ""


def test_fonts_without_unicode_are_reported_and_not_read_as_text(
    read_bytes: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("whycite.documents.pdf._can_recognise", lambda: False)
    data = paper_without_unicode(prose(1, 30), lambda c: 33 + (ord(c) * 7) % 90)
    (document,) = read_bytes(READER, data, "paper.pdf")
    assert document.sentences == ()
    assert document.coverage.share == 0
    assert any("page 1" in warning and "fonts" in warning for warning in document.warnings)


def test_fonts_without_unicode_in_plain_codes_are_read(read_bytes: Read) -> None:
    text = prose(1, 30)
    (document,) = read_bytes(READER, paper_without_unicode(text, ord), "paper.pdf")
    assert " ".join(sentences(document)) == text
    assert document.warnings == ()


def test_an_abstract_in_typewriter_letters_is_prose(read_bytes: Read) -> None:
    paper = Paper()
    paper.put(150, 740, "A Study of the Sleep of Bees", 18, "bold")
    paper.put(280, 700, "Abstract", 11, "bold")
    y = paper.column(90, 684, fill(ABSTRACT, 70), font="mono")
    paper.put(72, y - 20, "1 Introduction", 12, "bold")
    y = paper.column(72, y - 40, fill(prose(2, 20), 100))
    paper.column(72, y - 30, ["for (i = 0; i < n; i++) {", "    total += count(i);", "}"], font="mono")
    (document,) = read_bytes(READER, paper.data(), "paper.pdf")
    assert " ".join(sentences(document)).startswith(ABSTRACT)
    assert not any("total" in sentence.text for sentence in document.sentences)
    assert document.warnings == ()


@pytest.mark.parametrize(
    ("text", "is_prose"),
    [
        (ABSTRACT, True),
        ("the most frequent of all words in the list are left out", True),
        ("for (i = 0; i < n; i++) { total += count(i); }", False),
        ("def mean(values): return sum(values) / len(values) if values else 0", False),
        ("12.5 0.3 44 7.1 3.3", False),
        ("Figure axis label", False),
    ],
)
def test_what_reads_as_prose(text: str, is_prose: bool) -> None:
    assert reads_as_prose(text) is is_prose


def test_sentences_of_a_pdf_know_their_page(read_bytes: Read) -> None:
    (document,) = read_bytes(READER, paper_with_scans(4, {2}), "paper.pdf")
    pages = {sentence.text.partition("x")[0].split()[-1]: sentence.page for sentence in document.sentences}
    assert pages == {"1": 1, "3": 3, "4": 4}
    assert document_json(document)["sentences"][0]["page"] == 1
    assert from_plain(json.loads(json.dumps(to_plain(document)))) == document


def test_read_shows_the_warning_and_the_pages(tmp_path: Path) -> None:
    path = tmp_path / "paper.pdf"
    path.write_bytes(paper_with_scans(5, {2}))
    plain = json.loads(CliRunner().invoke(app, ["read", "--json", str(path)]).stdout)
    assert any("page 2 is scanned" in warning for warning in plain["warnings"])
    assert {sentence["page"] for sentence in plain["sentences"]} == {1, 3, 4, 5}
    draft = tmp_path / "draft.md"
    draft.write_text("# Bees\n\nBees sleep at night.\n", "utf-8")
    plain = json.loads(CliRunner().invoke(app, ["read", "--json", str(draft)]).stdout)
    assert "page" not in plain["sentences"][0]


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ([3], "page 3"),
        ([3, 4], "pages 3 and 4"),
        ([3, 4, 5], "pages 3-5"),
        ([1, 3, 4, 5, 9], "pages 1, 3-5 and 9"),
        (list(range(1, 40, 2)), "pages 1, 3, 5, 7, 9 and 15 more"),
    ],
)
def test_names_of_pages(numbers: list[int], text: str) -> None:
    assert name_pages(numbers) == text
