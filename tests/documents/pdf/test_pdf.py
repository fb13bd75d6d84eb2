"""The PDF reader on pages made by the test itself: order, hyphens, furniture, structure, citations."""

import io
import random
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field

import pypdfium2
import pytest

from whycite.documents.model import Document
from whycite.documents.pdf import READER

FONTS = {"roman": "Times-Roman", "bold": "Times-Bold", "italic": "Times-Italic", "mono": "Courier"}
WORDS = (
    "the results of this method show that large models learn from data and rules which were made by people who "
    "wanted to know how language works when nobody looks at it for long while others count words in old books"
).split()


@dataclass
class Paper:
    """Grows pages of absolutely placed text, as a printer does."""

    pages: list[list[str]] = field(default_factory=lambda: [[]])

    def page(self) -> None:
        self.pages.append([])

    def put(self, x: float, y: float, text: str, size: float = 10, font: str = "roman") -> None:
        safe = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)").encode("cp1252").decode("latin-1")
        name = list(FONTS).index(font)
        self.pages[-1].append(f"BT /F{name} {size} Tf 1 0 0 1 {x} {y} Tm ({safe}) Tj ET")

    def column(self, x: float, y: float, lines: list[str], size: float = 10, font: str = "roman") -> float:
        for line in lines:
            self.put(x, y, line, size, font)
            y -= 1.2 * size
        return y

    def rule(self, x: float, y: float, width: float) -> None:
        self.pages[-1].append(f"{x} {y} {width} 0.5 re f")

    def data(self) -> bytes:
        count = len(self.pages)
        kids = " ".join(f"{3 + 2 * i} 0 R" for i in range(count))
        fonts = " ".join(f"/F{i} {3 + 2 * count + i} 0 R" for i in range(len(FONTS)))
        objects = ["<</Type/Catalog/Pages 2 0 R>>", f"<</Type/Pages/Kids[{kids}]/Count {count}>>"]
        for i, operators in enumerate(self.pages):
            looks = f"/MediaBox[0 0 612 792]/Resources<</Font<<{fonts}>>>>"
            objects.append(f"<</Type/Page/Parent 2 0 R{looks}/Contents {4 + 2 * i} 0 R>>")
            content = "\n".join(operators)
            objects.append(f"<</Length {len(content)}>>\nstream\n{content}\nendstream")
        objects += [f"<</Type/Font/Subtype/Type1/BaseFont/{n}/Encoding/WinAnsiEncoding>>" for n in FONTS.values()]
        return assemble([each.encode("latin-1") for each in objects])


def assemble(objects: list[bytes], trailer: bytes = b"") -> bytes:
    """A PDF file of these objects, the first of which is the catalogue."""
    out, places = bytearray(b"%PDF-1.7\n"), []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n" % number + body + b"\nendobj\n"
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer\n<</Size %d/Root 1 0 R%s>>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, trailer, start)
    return bytes(out)


def prose(seed: int, sentences: int) -> str:
    """Sentences of running text, each of its own."""
    chance = random.Random(seed)
    said = []
    for number in range(sentences):
        words = [chance.choice(WORDS) for _ in range(chance.randint(9, 16))]
        said.append(f"Sentence {seed}x{number} says that " + " ".join(words) + ".")
    return " ".join(said)


def fill(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, break_on_hyphens=False)


def sentences(document: Document, kind: str = "prose") -> list[str]:
    return [sentence.text for sentence in document.sentences if sentence.kind == kind]


def two_column_paper() -> tuple[bytes, list[str]]:
    """A paper of two pages in two columns, and the sentences it holds in order."""
    abstract, left, right, second = prose(1, 4), prose(2, 22), prose(3, 24), prose(4, 20)
    paper = Paper()
    for number, text in enumerate([(left, right), (second, "")]):
        if number:
            paper.page()
        paper.put(72, 760, "Journal of Examples, Volume 7", 8)
        paper.put(300, 30, str(number + 11), 9)
        top = 720.0
        if number == 0:
            paper.put(110, 715, "A Study of Reading Papers in Two Columns", 18, "bold")
            paper.put(220, 690, "Anna B. Miller and Chen Wang", 11)
            paper.put(200, 676, "University of Somewhere, City", 10, "italic")
            paper.put(280, 650, "Abstract", 11, "bold")
            top = paper.column(90, 634, fill(abstract, 95)) - 14
            paper.put(60, top, "1 Introduction", 12, "bold")
        lines = fill(text[0], 50)
        both = [lines, fill(text[1], 50)] if text[1] else [lines[: len(lines) // 2], lines[len(lines) // 2 :]]
        paper.column(60, top - (20 if number == 0 else 0), both[0])
        paper.column(320, top, both[1])
    expected = [each for text in (abstract, left, right, second) for each in text.replace(". ", ".\n").split("\n")]
    return paper.data(), expected


def test_two_columns_under_a_full_width_abstract(read_bytes: Callable[..., list[Document]]) -> None:
    data, expected = two_column_paper()
    (document,) = read_bytes(READER, data, "paper.pdf")
    assert sentences(document) == expected
    assert [section.heading for section in document.sections] == ["Abstract", "1 Introduction"]
    assert document.paper.title == "A Study of Reading Papers in Two Columns"
    assert document.paper.authors == ("Miller, Anna B.", "Wang, Chen")
    assert document.warnings == ()


def test_offsets_count_in_the_text_pypdfium2_extracts(read_bytes: Callable[..., list[Document]]) -> None:
    data, _ = two_column_paper()
    (document,) = read_bytes(READER, data, "paper.pdf")
    with pypdfium2.PdfDocument(io.BytesIO(data)) as pages:
        text = "\f".join(page.get_textpage().get_text_range() for page in pages)
    for sentence in document.sentences:
        assert sentence.file == "paper.pdf"
        cut = text[sentence.start : sentence.end]
        assert cut.startswith(sentence.text.split()[0])
        assert cut.endswith(sentence.text.split()[-1])


def one_column(lines: list[tuple[str, float, str]], x: float = 72) -> Paper:
    """A page of lines, each with size and font; an empty one leaves a gap."""
    paper = Paper()
    y = 740.0
    for text, size, font in lines:
        if text:
            paper.put(x, y, text, size, font)
        y -= 12
    return paper


def body(text: str, width: int = 95) -> list[tuple[str, float, str]]:
    return [(line, 10.0, "roman") for line in fill(text, width)]


GAP = [("", 10.0, "roman")]


def test_hyphens_at_line_ends(read_bytes: Callable[..., list[Document]]) -> None:
    text = [
        "We use knowledge-based methods and statistical translation in the whole of this long paper, with com-",
        "putation made easy. Here the method is called knowledge-",
        "based again, and the non-",
        "linear case of the COVID-",
        "19 data is a state-of-the-",
        "art one; the statis-",
        "tical view ends the paper, and art is long while a linear view of knowledge based on data is short; pre-",
        "and postwar views differ.",
    ]
    paper = one_column([(line, 10.0, "roman") for line in text])
    (document,) = read_bytes(READER, paper.data(), "paper.pdf")
    assert " ".join(sentences(document)) == (
        "We use knowledge-based methods and statistical translation in the whole of this long paper, with computation "
        "made easy. Here the method is called knowledge-based again, and the non-linear case of the COVID-19 data is a "
        "state-of-the-art one; the statistical view ends the paper, and art is long while a linear view of knowledge "
        "based on data is short; pre- and postwar views differ."
    )


def test_citations_printed_as_question_marks_are_told(read_bytes: Callable[..., list[Document]]) -> None:
    text = (
        "Others have ranked the candidates [?, ?]. Features help (Smith, 2010; ?). Is it so (why?), and how (if at all)"
    )
    (document,) = read_bytes(READER, one_column(body(text)).data(), "paper.pdf")
    told = "3 citations are printed as “?”, since the bibliography had no entry when the PDF was made"
    assert [warning for warning in document.warnings if "“?”" in warning] == [f"paper.pdf: {told}"]
    (document,) = read_bytes(
        READER, one_column(body("The author was born in Ulm (?), or so they say.")).data(), "paper.pdf"
    )
    assert not [warning for warning in document.warnings if "“?”" in warning]


def test_headings_captions_footnotes_tables_and_formulas_stay_apart(read_bytes: Callable[..., list[Document]]) -> None:
    paper = one_column(
        [
            ("The Title of a Paper in One Column", 16.0, "bold"),
            *GAP,
            *GAP,
            ("1 Introduction", 12.0, "bold"),
            *GAP,
            *body(prose(5, 6) + " The energy is given by"),
        ]
    )
    y = 560.0
    paper.put(230, y, "E = m c", 10, "italic")
    paper.put(268, y + 4, "2", 7)
    paper.put(280, y, "+ p q ± 5 × 7 = 9", 10, "italic")
    paper.put(500, y, "(1)", 10)
    y = paper.column(72, y - 20, fill("where the mass is known. " + prose(6, 5), 95))
    paper.put(72, y - 20, "2 Methods", 12, "bold")
    paper.put(72, y - 40, "2.1 Participants", 10, "bold")
    y = paper.column(72, y - 56, fill(prose(7, 6), 95)) - 14
    y = paper.column(110, y, ["Table 1: Scores of three systems on the test set."], 9) - 8
    for row in (("System", "Score", "Error"), ("Alpha", "12.5", "0.31"), ("Beta", "13.9", "0.22")):
        for x, cell in zip((150, 280, 400), row, strict=True):
            paper.put(x, y, cell, 9)
        y -= 11
    y = paper.column(72, y - 20, fill(prose(8, 5), 95))
    paper.rule(72, 86, 120)
    paper.put(74, 78, "1", 6)
    paper.put(78, 75, "The code of this paper can be had from the authors.", 8)
    (document,) = read_bytes(READER, paper.data(), "paper.pdf")
    headings = [(section.heading, section.level) for section in document.sections]
    assert headings == [("1 Introduction", 1), ("2 Methods", 1), ("2.1 Participants", 2)]
    assert sentences(document, "footnote") == ["The code of this paper can be had from the authors."]
    assert sentences(document, "caption")[0] == "Table 1: Scores of three systems on the test set."
    assert "Alpha 12.5 0.31" in sentences(document, "table")
    said = sentences(document)
    assert "The energy is given by EQUATION where the mass is known." in said
    assert not any("12.5" in text or "code of this paper" in text for text in said)
    assert len(said) == 6 + 1 + 5 + 6 + 5


def reference_paper(style: str) -> bytes:
    entries = [
        ("Smith, J. and Lee, K.", "2010", "Learning to read the many papers of our time.", "Journal of Reading"),
        ("Brown, A.", "2012", "On the art of citing what nobody has read.", "Proceedings of Citing"),
        ("García, M., Chen, L. and Wu, T.", "2015", "Deep nets for shallow rivers.", "River Letters"),
    ]
    marks = {
        "author": ("(Smith and Lee, 2010)", "(García et al., 2015; Brown, 2012)"),
        "number": ("[1]", "[2, 3]"),
    }[style]
    text = f"Reading is hard {marks[0]}. Citing is harder {marks[1]} for all who try it. "
    paper = one_column(
        [
            ("A Short Paper on Citing", 16.0, "bold"),
            *GAP,
            *GAP,
            ("1 Introduction", 12.0, "bold"),
            *body(text + prose(9, 8)),
            *GAP,
            ("References", 12.0, "bold"),
        ]
    )
    y = 540.0
    for number, (people, year, title, venue) in enumerate(entries, 1):
        entry = f"{people} ({year}). {title} {venue}, {number}(2):10-20."
        first, *rest = fill(("" if style == "author" else f"[{number}] ") + entry, 60)
        paper.put(72, y, first)
        y = paper.column(90, y - 12, rest)
    return paper.data()


@pytest.mark.parametrize("style", ["author", "number"])
def test_references_are_split_and_citations_linked(read_bytes: Callable[..., list[Document]], style: str) -> None:
    (document,) = read_bytes(READER, reference_paper(style), "paper.pdf")
    ids = ["ref1", "ref2", "ref3"] if style == "author" else ["1", "2", "3"]
    assert [reference.id for reference in document.references] == ids
    assert [reference.year for reference in document.references] == [2010, 2012, 2015]
    assert "Proceedings of Citing" in document.references[1].text
    cited = [key for sentence in document.sentences for citation in sentence.citations for key in citation.keys]
    assert sorted(cited) == sorted(ids)
    assert sentences(document)[0].startswith("Reading is hard")
    assert not any("River Letters" in sentence.text for sentence in document.sentences)


def test_markers_without_reference_are_counted(read_bytes: Callable[..., list[Document]]) -> None:
    data = (
        reference_paper("author")
        .replace(b"(Smith and Lee, 2010", b"(Nobody et al., 1987")
        .replace(rb"\(Smith and Lee, 2010", rb"\(Nobody et al., 1987")
    )
    (document,) = read_bytes(READER, data, "paper.pdf")
    assert any("1 citation marker could not be linked" in warning for warning in document.warnings)


def test_line_numbers_in_the_margin_are_dropped(read_bytes: Callable[..., list[Document]]) -> None:
    text = prose(10, 30)
    paper = Paper()
    for number, line in enumerate(fill(text, 85), 1):
        paper.put(72, 752 - 14 * number, line)
        paper.put(40, 752 - 14 * number, str(number), 7)
    (document,) = read_bytes(READER, paper.data(), "paper.pdf")
    assert " ".join(sentences(document)) == text


def test_a_scan_without_text_gives_a_warning(read_bytes: Callable[..., list[Document]]) -> None:
    paper = Paper()
    paper.rule(0, 0, 600)
    (document,) = read_bytes(READER, paper.data(), "scan.pdf")
    assert document.sentences == ()
    (warning,) = document.warnings
    assert warning.startswith("scan.pdf: no text layer; ")
    assert "OCR" in warning or "pip install 'whycite[ocr]'" in warning


def test_it_knows_a_pdf_by_its_first_bytes() -> None:
    assert READER.sniff(Paper().data())
    assert not READER.sniff(b"\\documentclass{article}")
