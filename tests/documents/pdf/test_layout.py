"""The PDF reader on pages made by the test: floats, notes and bitmap fonts, and what must stay running text."""

from collections.abc import Callable, Sequence

import pytest

from tests.documents.pdf.test_pdf import Paper, assemble, fill, prose, sentences
from whycite.documents.model import Document
from whycite.documents.pdf import READER

Read = Callable[..., list[Document]]


def text_page(*, top: float = 740, count: int = 12, seed: int = 1) -> tuple[Paper, float]:
    """A page that begins with running text, and the height at which it ends."""
    paper = Paper()
    return paper, paper.column(72, top, fill(prose(seed, count), 95))


def rows(paper: Paper, y: float, cells: Sequence[Sequence[str]]) -> float:
    for row in cells:
        for x, cell in zip((150, 280, 400), row, strict=True):
            paper.put(x, y, cell)
        y -= 12
    return y


TABLE = [("System", "P", "R"), ("Alpha over base", "12.5", "0.31"), ("Beta over base", "13.9", "0.22")]


def test_a_table_above_its_caption_does_not_take_the_text_below(read_bytes: Read) -> None:
    paper, y = text_page()
    y = rows(paper, y, TABLE)
    paper.put(72, y, "Table 1. Scores of the systems on the test set")
    paper.put(72, y - 30, "These are two examples of it:")
    paper.put(200, y - 46, "some words that stand alone here")
    paper.column(72, y - 66, fill(prose(2, 8), 95))
    (document,) = read_bytes(READER, paper.data(), "paper.pdf")
    assert sentences(document, "table") == ["System P R", "Alpha over base 12.5 0.31", "Beta over base 13.9 0.22"]
    assert sentences(document, "caption") == ["Table 1. Scores of the systems on the test set"]
    said = " ".join(sentences(document))
    assert "These are two examples of it:" in said
    assert "some words that stand alone here" in said


def test_rows_without_a_caption_are_a_table(read_bytes: Read) -> None:
    paper, y = text_page()
    y = rows(paper, y - 12, TABLE)
    paper.column(72, y - 12, fill(prose(2, 8), 95))
    (document,) = read_bytes(READER, paper.data(), "paper.pdf")
    assert sentences(document, "table") == ["System P R", "Alpha over base 12.5 0.31", "Beta over base 13.9 0.22"]


def test_text_that_begins_with_the_name_of_a_table_is_text(read_bytes: Read) -> None:
    paper, y = text_page()
    paper.put(72, y - 20, "2 Results", 12, "bold")
    paper.column(72, y - 40, fill("Table 1 shows how the scores of all systems grow. " + prose(3, 8), 95))
    (document,) = read_bytes(READER, paper.data(), "paper.pdf")
    assert "Table 1 shows how the scores of all systems grow." in sentences(document)
    assert not sentences(document, "caption")


def test_the_label_of_a_table_stands_over_small_capitals(read_bytes: Read) -> None:
    paper, y = text_page()
    paper.put(280, y - 30, "TABLE I", 8)
    for x, text, size in ((200, "S", 8), (204.5, "CORES OF THE", 6.4), (252, "S", 8), (256.5, "YSTEMS", 6.4)):
        paper.put(x, y - 39, text, size)
    y = rows(paper, y - 54, TABLE)
    paper.column(72, y - 30, fill(prose(2, 8), 95))
    (document,) = read_bytes(READER, paper.data(), "paper.pdf")
    assert " ".join(sentences(document, "caption")) == "TABLE I SCORES OF THE SYSTEMS"


def test_of_a_figure_what_can_be_read_is_kept(read_bytes: Read) -> None:
    paper, y = text_page()
    steps = ["(1) Propose all possible features for the words.", "(2) Count every feature in the training data."]
    y = paper.column(150, y - 30, steps, 9)
    paper.put(150, y - 10, "Figure 1: The steps of the method", 9)
    for x, label in ((150, "encoder"), (260, "decoder"), (380, "loss")):
        paper.put(x, y - 60, label, 9)
    paper.put(150, y - 90, "Figure 2: The parts of the model", 9)
    paper.column(72, y - 120, fill(prose(2, 8), 95))
    (document,) = read_bytes(READER, paper.data(), "paper.pdf")
    assert sentences(document, "table") == steps
    assert len(sentences(document, "caption")) == 2
    assert not any("encoder" in sentence.text for sentence in document.sentences)


def test_a_float_does_not_break_the_sentence_around_it(read_bytes: Read) -> None:
    paper = Paper()
    lines = [
        *fill(prose(1, 9), 95),
        "and the lines that were used in all of these experiments were given to us kindly by Greg",
    ]
    y = rows(paper, paper.column(72, 740, lines), TABLE)
    paper.put(72, y - 8, "Table 1. Scores of the systems on the test set", 9)
    paper.column(72, y - 50, ["Miller.", *fill(prose(2, 8), 95)])
    (document,) = read_bytes(READER, paper.data(), "paper.pdf")
    assert any(text.endswith("given to us kindly by Greg Miller.") for text in sentences(document))


def test_a_note_goes_on_in_the_next_column(read_bytes: Read) -> None:
    paper = Paper()
    for x, seed in ((60, 1), (320, 2)):
        paper.column(x, 740, fill(prose(seed, 30), 50)[:48])
    paper.put(62, 123, "1", 6)
    paper.put(66, 120, "The symbol will always show the position of", 8)
    paper.column(320, 120, ["the pronoun that was left out."], 8)
    paper.put(322, 109, "2", 6)
    paper.put(326, 106, "This is another note.", 8)
    (document,) = read_bytes(READER, paper.data(), "paper.pdf")
    assert sentences(document, "footnote") == [
        "The symbol will always show the position of the pronoun that was left out.",
        "This is another note.",
    ]


def test_small_print_over_a_note_is_no_text_but_a_quotation_over_a_rule_is(read_bytes: Read) -> None:
    for ruled in (False, True):
        paper, _ = text_page(count=30)
        paper.column(72, 110, ["Licensed to everybody under the terms of some licence, all rights reserved."], 8)
        if ruled:
            paper.rule(72, 99, 120)
        paper.put(74, 91, "1", 6)
        paper.put(78, 88, "See the page of the project.", 8)
        (document,) = read_bytes(READER, paper.data(), "paper.pdf")
        assert any("Licensed to everybody" in text for text in sentences(document)) is ruled
        assert "See the page of the project." in sentences(document, "footnote")


def test_notes_beside_a_reference_list_are_found(read_bytes: Read) -> None:
    paper = Paper()
    paper.column(60, 740, fill(prose(1, 30), 50)[:48])
    paper.put(62, 123, "1", 6)
    paper.put(66, 120, "Only a note, and no entry of the list.", 8)
    y = paper.column(320, 740, fill(prose(2, 8), 50)) - 16
    paper.put(320, y, "References", 12, "bold")
    y -= 18
    for number in range(1, 13):
        y = paper.column(320, y, [f"[{number}] A. Author. A paper on subject {number}. In", "Journal of Tests, 2001."])
    (document,) = read_bytes(READER, paper.data(), "paper.pdf")
    assert sentences(document, "footnote") == ["Only a note, and no entry of the list."]
    assert len(document.references) == 12


def test_raised_marks_hardly_smaller_than_their_line_stay_in_it(read_bytes: Read) -> None:
    paper, y = text_page()
    paper.put(72, y, "Here is a word")
    paper.put(132, y + 4, "3", 9)
    paper.put(140, y, "with a mark, and the rest of the line goes on after it as all lines of the text do.")
    (document,) = read_bytes(READER, paper.data(), "paper.pdf")
    assert any("Here is a word³ with a mark, and" in text for text in sentences(document))


def test_addresses_in_typewriter_letters_are_no_code(read_bytes: Read) -> None:
    paper, y = text_page()
    paper.column(72, y - 12, ["http://www.example.org/a/long/", "path/that/goes/on.html"], font="mono")
    paper.column(72, y - 60, ["for (i = 0; i < n; i++)", "    total += count(i);"], font="mono")
    (document,) = read_bytes(READER, paper.data(), "paper.pdf")
    said = " ".join(sentence.text for sentence in document.sentences)
    assert "http://www.example.org/a/long/path/that/goes/on.html" in said
    assert "total" not in said


def bitmap_paper(lines: list[tuple[float, float, float, str]]) -> bytes:
    """A page in the fonts that TeX makes of bitmaps: no name, codes of its own, two sizes of one alphabet."""
    codes = "".join(f"/a{code} 6 0 R" for code in range(256))
    names = " ".join(f"/a{code}" for code in range(256))
    font = (
        "<</Type/Font/Subtype/Type3/FontMatrix[.01 0 0 .01 0 0]/FontBBox[0 0 50 70]/FirstChar 0/LastChar 255"
        f"/Widths[{' '.join(['50'] * 256)}]/Encoding<</Type/Encoding/Differences[0 {names}]>>/CharProcs<<{codes}>>"
        "/Resources<<>>>>"
    )
    drawn = "50 0 5 0 45 70 d1 5 0 40 70 re f"
    content = "\n".join(
        f"BT /F0 {size} Tf 1 0 0 1 {x} {y} Tm <{text.encode('latin-1').hex()}> Tj ET" for x, y, size, text in lines
    )
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F0 5 0 R>>>>/Contents 4 0 R>>",
        f"<</Length {len(content)}>>\nstream\n{content}\nendstream",
        font,
        f"<</Length {len(drawn)}>>\nstream\n{drawn}\nendstream",
    ]
    return assemble([each.encode("latin-1") for each in objects])


@pytest.mark.parametrize("code", ["\x1c", "\x0c"], ids=["T1", "OT1"])
def test_ligatures_and_headings_of_bitmap_fonts(read_bytes: Read, code: str) -> None:
    lines = [(72.0, 764.0, 18.0, "A Title in Bitmaps"), (72.0, 740.0, 12.0, "1 Introduction")]
    text = fill("The §rst speci§c case is what we §nd here. " + prose(1, 12), 90)
    lines += [(72.0, 716.0 - 12 * i, 10.0, line.replace("§", code)) for i, line in enumerate(text)]
    (document,) = read_bytes(READER, bitmap_paper(lines), "paper.pdf")
    assert [section.heading for section in document.sections] == ["1 Introduction"]
    assert sentences(document)[0] == "The first specific case is what we find here."


def test_accents_that_are_drawn_apart_from_their_letters(read_bytes: Read) -> None:
    paper, y = text_page()
    paper.put(72, y - 24, "Benoit Cote wrote the first version of this text, as all of his colleagues know.")
    for letter_middle, accent in ((38.34, "\u02c6"), (45.84, "\u00b4")):  # of "o" and "e" in Times at 10 points
        paper.put(72 + letter_middle - 1.67, y - 24, accent)
    (document,) = read_bytes(READER, paper.data(), "paper.pdf")
    assert any(text.startswith("Benoit Côté wrote the first version") for text in sentences(document))


ENTRIES = [
    f"[{n}] A. Author{n}. On the reading of paper number {n}. Journal of Papers {n}, 20{n:02}." for n in range(1, 60)
]


def test_a_page_of_references_below_the_rule_of_a_running_head_has_no_footnotes(read_bytes: Read) -> None:
    paper = Paper()
    for page in range(3):
        if page:
            paper.page()
        paper.put(72, 765, "A Short Title")
        paper.rule(72, 758, 460)
        if page == 0:
            paper.column(72, 740, fill(prose(1, 40), 95), 12)
    for page, entries in enumerate((ENTRIES[:29], ENTRIES[29:])):
        if page == 0:
            paper.pages = paper.pages[:2]
            paper.put(72, 740, "References", 14, "bold")
        else:
            paper.page()
            paper.put(72, 765, "A Short Title")
            paper.rule(72, 758, 460)
        paper.column(72, 716 if page == 0 else 744, entries)
    (document,) = read_bytes(READER, paper.data(), "paper.pdf")
    assert [reference.id for reference in document.references] == [str(n) for n in range(1, 60)]
    assert not sentences(document, "footnote")


def test_a_page_that_begins_higher_than_the_others_keeps_its_first_lines(read_bytes: Read) -> None:
    paper = Paper()
    for seed in range(1, 5):
        paper.column(72, 700, fill(prose(seed, 30), 95))
        paper.page()
    first = "Here the text of a page begins far above that of all of the other pages."
    paper.put(72, 760, first)
    paper.column(72, 730, fill(prose(9, 30), 95))
    (document,) = read_bytes(READER, paper.data(), "paper.pdf")
    assert any(text.endswith(first) for text in sentences(document))


def test_a_reference_list_that_ends_lower_than_other_pages_keeps_its_last_entries(read_bytes: Read) -> None:
    paper = Paper()
    for seed in range(1, 4):
        paper.column(72, 740, fill(prose(seed, 90), 95)[:48])
        paper.put(300, 80, str(seed))
        paper.page()
    paper.put(72, 746, "References", 14, "bold")
    for n in range(19):
        paper.put(72, 730 - 32 * n, f"Author{n}, A., Writer, B., Editor, C., & Printer, D. 2001, ApJ, 809, {n},")
        paper.put(84, 718 - 32 * n, f"doi:10.1088/0004-637X/809/1/{n}")
    paper.put(300, 80, "4")
    (document,) = read_bytes(READER, paper.data(), "paper.pdf")
    assert len(document.references) == 19


def test_a_wide_table_on_one_page_makes_no_columns(read_bytes: Read) -> None:
    paper = Paper()
    paper.column(72, 740, fill(prose(1, 40), 95))
    paper.page()
    for x, width, seed in ((72, 70, 2), (412, 20, 3)):
        paper.column(x, 740, fill(prose(seed, 40), width)[:24])
    halves = ("Here the text goes on below the table, over the whole width of the", "page, as other pages do,")
    for x, half in zip((72, 412), halves, strict=True):
        paper.put(x, 420, half)
    paper.put(72, 408, "and it goes on with a line of words.")
    (document,) = read_bytes(READER, paper.data(), "paper.pdf")
    assert f"{halves[0]} {halves[1]} and it goes on with a line of words." in sentences(document)


def test_what_follows_the_reference_list_is_no_part_of_its_last_entry(read_bytes: Read) -> None:
    paper, y = text_page(top=700)
    paper.put(72, y - 24, "References", 14, "bold")
    y = paper.column(72, y - 44, ENTRIES[:6])
    paper.put(84, y - 20, "University of Bees, 12 Hive Street, Meadow")
    (document,) = read_bytes(READER, paper.data(), "paper.pdf")
    assert len(document.references) == 6
    assert not any("Hive Street" in reference.text for reference in document.references)


def test_a_figure_made_of_rows_is_a_table(read_bytes: Read) -> None:
    paper, y = text_page()
    cells = [(f"Part {n}", f"{n}5", f"9{n}%") for n in "123"] + [(f"{n}0,000", f"{n},500", "100.0%") for n in "456789"]
    y = rows(paper, y - 30, cells)
    paper.put(72, y - 10, "Figure 1: The parts of the corpus", 9)
    paper.column(72, y - 50, fill(prose(2, 8), 95))
    (document,) = read_bytes(READER, paper.data(), "paper.pdf")
    assert sentences(document, "table") == [" ".join(row) for row in cells]


def test_prose_above_the_caption_of_a_figure_is_kept(read_bytes: Read) -> None:
    paper, y = text_page()
    paper.put(150, y - 40, "Choose the word in the set with the highest chance.")
    for x, label in ((150, "encoder"), (260, "decoder"), (380, "loss")):
        paper.column(x, y - 60, [label] * 4, 9)
    paper.put(150, y - 120, "Figure 2: The parts of the model", 9)
    paper.column(72, y - 150, fill(prose(2, 8), 95))
    (document,) = read_bytes(READER, paper.data(), "paper.pdf")
    assert "Choose the word in the set with the highest chance." in sentences(document)
    assert not any("encoder" in sentence.text for sentence in document.sentences)


@pytest.mark.parametrize("heading", ["Referências", "Bibliographie", "Literatur"])
def test_reference_lists_and_appendices_in_other_languages(read_bytes: Read, heading: str) -> None:
    paper, y = text_page(top=700)
    paper.put(72, 740, "The Title of a Paper", 18, "bold")
    paper.put(72, y - 24, heading, 14, "bold")
    y = paper.column(72, y - 44, ENTRIES[:8])
    paper.put(72, y - 24, "Anexo A. Dados", 14, "bold")
    paper.column(72, y - 44, fill(prose(2, 8), 95))
    (document,) = read_bytes(READER, paper.data(), "paper.pdf")
    assert len(document.references) == 8
    assert len(sentences(document)) == 20


def test_captions_side_by_side_are_read_one_after_the_other(read_bytes: Read) -> None:
    paper, y = text_page()
    parts = (
        ["(a) The first part shows how many", "bees slept in the night. It was", "made in May."],
        ["(b) The second part shows all of", "the bees that were awake in the", "hive at noon."],
    )
    for x, lines in zip((80, 300), parts, strict=True):
        paper.column(x, y - 60, lines, 9)
    paper.put(72, y - 110, "Figure 1: Bees by night and by day.")
    paper.column(72, y - 140, fill(prose(2, 8), 95))
    (document,) = read_bytes(READER, paper.data(), "paper.pdf")
    captions = sentences(document, "caption")
    assert "(a) The first part shows how many bees slept in the night." in captions
    assert "(b) The second part shows all of the bees that were awake in the hive at noon." in captions


def test_labels_of_a_list_do_not_hide_the_gutter_before_them(read_bytes: Read) -> None:
    paper = Paper()
    paper.put(60, 750, "A Study of Reading Papers in Two Columns", 18, "bold")
    for x, seed in ((60, 1), (312, 2)):
        paper.column(x, 720, fill(prose(seed, 20), 52))
    paper.page()
    paper.put(60, 740, "References", 12, "bold")
    number = 100
    for x in (60, 312):
        y = 720.0
        for _ in range(16):
            number += 1
            paper.put(x, y, f"[{number}]")
            paper.put(x + 24, y, f"A. Author{number} and B. Writer, The reading and writing")
            lines = [f"of very many papers, number {number}, in the hive of honey,", "Journal of Papers, 2001."]
            y = paper.column(x + 24, y - 12, lines)
    (document,) = read_bytes(READER, paper.data(), "paper.pdf")
    assert [reference.id for reference in document.references] == [str(n) for n in range(101, 133)]
    assert all(f"number {reference.id}," in reference.text for reference in document.references)


def test_an_appendix_after_the_reference_list_is_text(read_bytes: Read) -> None:
    paper, y = text_page(top=700)
    paper.put(72, 740, "The Title of a Paper", 18, "bold")
    for formula in ("X X X X", "I O I"):
        y -= 24
        paper.put(250, y, formula, 14)
    paper.put(72, y - 24, "References", 14, "bold")
    y = paper.column(72, y - 44, ENTRIES[:6])
    paper.put(72, y - 24, "A Further results", 14, "bold")
    paper.column(72, y - 44, fill(prose(2, 8), 95))
    (document,) = read_bytes(READER, paper.data(), "paper.pdf")
    assert len(document.references) == 6
    assert "A Further results" in [section.heading for section in document.sections]


def test_prose_that_was_taken_for_a_reference_gives_a_warning(read_bytes: Read) -> None:
    paper, y = text_page(top=700, count=8)
    paper.put(72, 740, "The Title of a Paper", 18, "bold")
    paper.put(72, y - 24, "References", 14, "bold")
    y = paper.column(72, y - 44, ENTRIES[:6])
    paper.column(72, y, fill(prose(2, 30), 95))
    (document,) = read_bytes(READER, paper.data(), "paper.pdf")
    assert any("page 1 was taken for a reference and left out" in warning for warning in document.warnings)
