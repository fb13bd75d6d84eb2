"""Typst drafts are read as prose with their citations, each at its place."""

import re
import time
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.thoroughness import MAX_SECONDS, scaled
from whycite.documents.model import Document, Publication
from whycite.documents.references import hayagriva
from whycite.documents.sources import MemoryFolder, Source
from whycite.documents.typst import READER

BIB = """
@article{doe99, title={A}, author={Doe, J.}, year={1999}}
@book{lee:04, title={B}, author={Lee, K.}, year={2004}}
"""
YAML = """
doe99:
  type: Article
  title: {value: A, verbatim: true}
  author: ["Doe, Jane", {name: Roe, given-name: Ann, prefix: van}]
  date: 1999-05
  serial-number: {doi: 10.1000/X}
  parent: {type: Periodical, title: Journal of It}
"""
PLACEHOLDERS = re.compile("EQUATION|REF")


def read(text: str, name: str = "main.typ", files: Mapping[str, str] | None = None) -> Document:
    contents = {name: text.encode(), **{n: t.encode() for n, t in (files or {}).items()}}
    (document,) = READER.read(Source(MemoryFolder(contents, ""), name))
    return document


def texts(document: Document, kind: str = "prose") -> list[str]:
    return [sentence.text for sentence in document.sentences if sentence.kind == kind]


def marked(text: str) -> list[tuple[str, tuple[str, ...]]]:
    """What stands in the source of every citation, and its keys."""
    document = read(text, files={"refs.bib": BIB})
    citations = [citation for sentence in document.sentences for citation in sentence.citations]
    return [(text[citation.start : citation.end], citation.keys) for citation in citations]


def misplaced(document: Document, files: Mapping[str, str]) -> list[str]:
    """The sentences whose letters their source range does not hold in order, and keys that theirs does not."""
    wrong = []
    for sentence in document.sentences:
        source = files[sentence.file]
        assert 0 <= sentence.start <= sentence.end <= len(source)
        letters = iter(source[sentence.start : sentence.end])
        text = PLACEHOLDERS.sub("", sentence.with_citations(" "))
        if not all(letter in letters for letter in text if letter.isascii() and letter.isalpha()):
            wrong.append(sentence.text)
        for citation in sentence.citations:
            assert sentence.start <= citation.start <= citation.end <= sentence.end
            wrong += [key for key in citation.keys if key not in source[citation.start : citation.end]]
    return wrong


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("So @doe99.", [("@doe99", ("doe99",))]),
        ("So @doe99[p. 3] and @lee:04.", [("@doe99[p. 3]", ("doe99",)), ("@lee:04", ("lee:04",))]),
        ("So @doe99: yes, (@lee:04).", [("@doe99", ("doe99",)), ("@lee:04", ("lee:04",))]),
        ('#cite(<doe99>, form: "x", supplement: [3])', [('#cite(<doe99>, form: "x", supplement: [3])', ("doe99",))]),
        ('So #cite(label("lee:04")).', [('#cite(label("lee:04"))', ("lee:04",))]),
        ('So #cite("doe99", "lee:04").', [('#cite("doe99", "lee:04")', ("doe99", "lee:04"))]),
        ("So #ref(<doe99>).", [("#ref(<doe99>)", ("doe99",))]),
        ("So #emph[by @doe99 #text(red)[@lee:04]].", [("@doe99", ("doe99",)), ("@lee:04", ("lee:04",))]),
        ("Mail a@doe99.org or \\@doe99.", []),
        ("// @doe99\n/* @doe99 /* @doe99 */ @doe99 */ `@doe99` $@doe99$", []),
        ("```typ\n@doe99\n```", []),
        ("#let x = [@doe99]\n#set page(header: [@doe99])\n#show heading: it => [@doe99 #it]\n", []),
        ("= Head <intro>\nSee @intro, @fig:one and @eq-two.", []),
    ],
)  # fmt: skip
def test_citations(text: str, expected: list[tuple[str, tuple[str, ...]]]) -> None:
    assert marked(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Some *strong* and _emph_ text.", ["Some strong and emph text."]),
        ("A snake_case word.", ["A snake_case word."]),
        ("Two\nlines. // gone\nThree.", ["Two lines.", "Three."]),
        ("- one\n- two\n  goes on\n+ three\n1. four\n/ T: what", ["one", "two goes on", "three", "four", "T: what"]),
        ("By $x = 5$, $alpha <= beta$ and $ sum_(i) x_i $ we see.", ["By x = 5, α ≤ β and EQUATION we see."]),
        ("See @fig:a, @tbl:b, @own.\n\n= H <own>", ["See REF, REF, REF."]),
        ("A [bracket [nested]] stays, and ] too.", ["A [bracket [nested]] stays, and ] too."]),
        ('#text(weight: "bold", fill: red)[Bold #emph[inner] text] here.', ["Bold inner text here."]),
        ('A #link("https://x.org")[link] and #link("https://y.org").', ["A link and https://y.org."]),
        ("Bare https://x.org/a_b//c stays.", ["Bare https://x.org/a_b//c stays."]),
        ("A~b -- c---d co-?op \\#1 \\u{e9}.", ["A b – c—d coop #1 é."]),
        ("Raw `f_x(*a)` text.", ["Raw f_x(*a) text."]),
        ('#if a == "]" [Yes.] else [No.]\nAfter.', ["Yes.", "After."]),
        ("#for x in (1, 2) [Item #x.]", ["Item ."]),
        ('#h(1em)Text#v(2pt) #"string" here.#pagebreak()', ["Text string here."]),
        ("#quote(block: true)[Quoted text.]", ["Quoted text."]),
        ("#let f(x) = {\n  let y = [no]\n  y\n}\nText.", ["Text."]),
        ("#show: doc => columns(2, doc)\nText.", ["Text."]),
        ("#import \"@preview/x:0.1.0\": a, b\nText.", ["Text."]),
        ("#{ [Shown.] }", ["Shown."]),
        ("#slide(align: top)[First.][Second.]", ["First.", "Second."]),
    ],
)  # fmt: skip
def test_text(text: str, expected: list[str]) -> None:
    assert texts(read(text)) == expected


def test_headings_notes_and_captions() -> None:
    text = (
        "= First _part_ <a>\nOne.#footnote[A note @doe99.] Two.\n== Sub\nThree.\n#heading(level: 2)[Made *so*]\nFour.\n"
        '#figure(\n  image("a.png"),\n  caption: [A caption @doe99.],\n) <fig>\n'
        '#figure(table([x]), caption: "Words.")\n'
        "= References\nListed.\n= Appendix\nFive.\n"
    )
    document = read(text)
    headings = [(section.heading, section.level) for section in document.sections]
    assert headings == [("First part", 1), ("Sub", 2), ("Made so", 2), ("Appendix", 1)]
    assert texts(document) == ["One.", "Two.", "Three.", "Four.", "Five."]
    assert texts(document, "footnote") == ["A note [doe99]."]
    assert texts(document, "caption") == ["A caption [doe99].", "Words."]
    assert not misplaced(document, {"main.typ": text})


def test_table_cells_and_headings_that_cite_are_kept() -> None:
    text = (
        "= Of @doe99\nText #table(columns: 2, table.header([H @doe99], [x]), [A @doe99], [1], "
        "..([y], [z @lee:04])) on.\n"
        "#figure(table(columns: 2, [B #emph[by] @doe99], [2]), caption: [Cap.])\n= Two\nEnd.\n"
    )
    document = read(text, files={"refs.bib": BIB})
    assert [section.heading for section in document.sections] == ["Of", "Two"]
    assert texts(document, "heading") == ["Of [doe99]"]
    assert texts(document) == ["Text on.", "End."]
    assert texts(document, "table") == ["H [doe99]", "A [doe99]", "z [lee:04]", "B by [doe99]"]
    assert texts(document, "caption") == ["Cap."]
    assert not misplaced(document, {"main.typ": text})


def test_the_usual_name_of_a_section_is_no_title() -> None:
    document = read("= Introduction\nText.\n== Part\nMore.\n")
    assert document.paper.title == ""
    assert [(section.heading, section.level) for section in document.sections] == [("Introduction", 1), ("Part", 2)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#let ours = [*WidgetNet*]\nWe use #ours.", "We use WidgetNet."),
        ('#let name = "Gizmo"\nWe use #name; here.', "We use Gizmo here."),
        ("#let ours = smallcaps[Foo~#emph[v2] \\#1]\nWe use #ours.", "We use Foo v2 #1."),
        ("#let ours = [Net @doe99]\nWe use #ours.", "We use Net [doe99]."),
        ('#let see(key) = cite(key, form: "prose")\nBy #see(<doe99>).', "By [doe99]."),
        ("#let see(key, note) = [(#cite(label(key)), #note)]\nBy #see(\"doe99\", \"x\").", "By [doe99]."),
        ("#let citet = cite.with(form: \"prose\")\nBy #citet(<doe99>).", "By [doe99]."),
        ("#let pic = image[x]\n#let x = [#x]\nA #pic #x #other b.", "A b."),
        ("So @doe99[p.~7].", "So [doe99, p. 7]."),
    ],
)  # fmt: skip
def test_names_print_what_they_stand_for(text: str, expected: str) -> None:
    document = read(text, files={"refs.bib": BIB})
    assert texts(document) == [expected]
    (sentence,) = document.sentences
    assert sentence.start == text.rfind("\n") + 1
    assert all(text[citation.start] in "#@" for citation in sentence.citations)


def test_names_print_so_much_and_no_more() -> None:
    document = read("#let x = [" + "word " * 190 + "]\n" + "#x " * 100_000)
    assert sum(len(sentence.text) for sentence in document.sentences) < 1 << 19


@pytest.mark.parametrize(
    "head",
    [
        '#set document(title: [My *title*], author: ("Jane Doe", "Kim Lee"))\n',
        '#set document(title: "My title", author: "Jane Doe and Kim Lee")\n',
        '#show: paper.with(\n title: [My title],\n authors: ((name: "Jane Doe", at: "x@y"), (name: "Kim Lee",)),\n)\n',
        '#show: doc => conf(title: "My title", authors: ("Jane Doe", "Kim Lee"), doc)\n',
        "#show: doc => conf(title: [My title], authors: ((name: [Jane Doe], at: [X]), (name: [Kim Lee],)), doc)\n",
        '#let title = [My *title*]\n#set document(title: title, author: ("Jane Doe", "Kim Lee"))\n',
        '#let title = "My title"\n#show: paper.with(title: title, authors: ("Jane Doe", "Kim Lee"))\n',
    ],
)
def test_title_and_authors(head: str) -> None:
    document = read(head + "#let d = datetime(year: 2021, month: 3, day: 1)\n= One\nText.\n")
    assert document.paper.title == "My title"
    assert document.paper.authors == ("Doe, Jane", "Lee, Kim")
    assert document.paper.year == 2021
    assert texts(document) == ["Text."]


def test_title_by_its_own_function() -> None:
    assert read("#title[My title]\n= One\nText.").paper.title == "My title"
    assert read("= My title\n== One\nText.\n== Two\nMore.").paper.title == "My title"


def test_the_abstract_of_a_template_is_a_section() -> None:
    text = "#show: paper.with(title: [T], abstract: [\n  It is short @doe99.\n\n  It ends.\n])\nBody.\n= One\nText.\n"
    document = read(text)
    assert [section.heading for section in document.sections] == ["Abstract", "", "One"]
    assert texts(document) == ["It is short [doe99].", "It ends.", "Body.", "Text."]
    assert not misplaced(document, {"main.typ": text})


def test_footnotes_and_captions_of_other_forms() -> None:
    text = (
        'Text.#footnote("A note.")\n#figure([#box(image("x"))], caption: figure.caption(position: top, [By @doe99.]))\n'
    )
    document = read(text)
    assert texts(document) == ["Text."]
    assert texts(document, "footnote") == ["A note."]
    assert texts(document, "caption") == ["By [doe99]."]


def test_an_abstract_kept_in_a_variable_is_a_section() -> None:
    document = read("#let abstract = [It is short.]\n#let other = [No.]\n= One\nText.\n")
    assert [section.heading for section in document.sections] == ["Abstract", "One"]
    assert texts(document) == ["It is short.", "Text."]


def test_formulas_join_the_sentence_around_them() -> None:
    text = "The mass is\n\n$ E = m c^2 $\n\nwhere c is fast. It is\n\n$ x. $\n\nNew."
    assert texts(read(text)) == ["The mass is EQUATION where c is fast.", "It is EQUATION.", "New."]


@pytest.mark.parametrize(
    ("call", "files"),
    [
        ('#bibliography("refs.bib")', {"refs.bib": BIB, "x.bib": ""}),
        ('#bibliography(("a.bib", "refs.bib"), style: "apa.csl")', {"a.bib": "", "refs.bib": BIB}),
        ('#bibliography("works.yml", title: [Sources])', {"works.yml": YAML}),
        ('#show: paper.with(bibliography: bibliography("refs.bib"))', {"refs.bib": BIB, "x.bib": ""}),
        ('#show: paper.with(bibliography-file: "refs.bib")', {"refs.bib": BIB, "x.bib": ""}),
        ("", {"refs.bib": BIB}),
    ],
)
def test_the_bibliography_is_found(call: str, files: dict[str, str]) -> None:
    document = read(f"Text @doe99.\n\n{call}\n", files=files)
    assert document.by_id["doe99"].title == "A"
    assert document.by_id["doe99"].year == 1999


def test_hayagriva() -> None:
    reference = read('@doe99 #bibliography("w.yaml")', files={"w.yaml": YAML}).by_id["doe99"]
    assert reference.authors == ("Doe, Jane", "van Roe, Ann")
    assert reference.venue == "Journal of It"
    assert reference.doi == "10.1000/x"


def test_included_files_are_read_in_place() -> None:
    text = '= One\nFirst @two-label.\n#include "parts/two.typ"\nLast.\n'
    files = {"parts/two.typ": '= Two <two-label>\nSecond @doe99.\n#include "../main.typ"\n#include "/../../x.typ"\n'}
    document = read(text, files=files)
    assert texts(document) == ["First REF.", "Second [doe99].", "Last."]
    assert [sentence.file for sentence in document.sentences] == ["main.typ", "parts/two.typ", "main.typ"]
    assert not misplaced(document, {"main.typ": text, **files})
    assert [warning for warning in document.warnings if "skipped" in warning] == [
        "parts/two.typ:3: ../main.typ includes itself; skipped",
        "parts/two.typ:4: included file /../../x.typ not found in this folder; skipped",
    ]


def test_what_is_not_closed_is_a_warning() -> None:
    document = read("= One\nText.\n#figure(caption: [Open\n\nMore text.")
    assert texts(document) == ["Text."]
    assert texts(document, "caption") == ["Open", "More text."]
    assert "main.typ: a bracket is never closed" in document.warnings


def test_line_ends_keep_offsets() -> None:
    text = "\ufeff= Head\r\nCafé *one*\r\nand @doe99.\r\n\r\n- two\r\n"
    document = read(text)
    assert texts(document) == ["Café one and [doe99].", "two"]
    assert not misplaced(document, {"main.typ": text})


PIECES = st.sampled_from(
    ["[", "]", "(", ")", "{", "}", "#", "#f", "#f(", "#f[", "@", "@key", "@key[p]", "`", "```", "*", "_", "$", "$ ",
     "<a>", "#cite(<a>)", "#footnote[", "#figure(", "caption: [", "#let x = ", "#set f(", "#show: x.with(", "title: [",
     "abstract: [", "#if x [", " else ", "\n", "\r\n", "\n\n", "= ", "- ", "/ a: ", "//", "/*", "*/", '"', "\\", "~",
     "--", "word", "Word.", " ", ",", ":", ";", '#include "a"', '#bibliography("b")', "#heading(level: 2)[", "#title[",
     "#table(", "https://", "é", "\0"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=60).map("".join))
def test_anything_is_read(text: str) -> None:
    assert not misplaced(read(text), {"main.typ": text})


@given(st.text(max_size=300))
def test_any_characters_are_read(text: str) -> None:
    text = text.encode("utf-8", "ignore").decode()
    assert all(0 <= s.start <= s.end <= len(text) for s in read(text).sentences)


@pytest.mark.parametrize(
    "unit",
    ["[", "]", "@", "@a[", "*", "`", "``` ", "$", "{", "#", "#{", "#(", "#a(", "#a[", "#a(b: [", "/*", "//", '#"',
     "<a>", "<", "#let x = [", "= ", "- ", "\\", "\n", " ", "-", "#if x [", "/ a: ", "#footnote[", "https://", "#cite(",
     '#include "a"\n', "#let x = [*a*]#x ", "#table([@a],", "#let f(x) = cite(x"],
)  # fmt: skip
def test_time_is_linear(unit: str) -> None:
    size = scaled(1_000_000 if len(unit) == 1 or unit == "[@" else 250_000)
    text = unit * (size // len(unit))
    begun = time.process_time()
    read(text)
    assert time.process_time() - begun < MAX_SECONDS


def test_a_key_directly_after_a_word_or_year_is_a_citation_but_an_address_is_text() -> None:
    text = 'LaValle in 1998@doe99 and Lee@lee:04 wrote to doe@example.org.\n\n#bibliography("refs.bib")'
    document = read(text, files={"refs.bib": BIB})
    (sentence,) = document.sentences
    assert sentence.text == "LaValle in 1998[doe99] and Lee[lee:04] wrote to doe@example.org."
    assert [text[c.start : c.end] for c in sentence.citations] == ["@doe99", "@lee:04"]
    assert document.warnings == ()


def test_a_typed_reference_list_is_told() -> None:
    draft = read("= Text\n\nBees sleep (Kaiser, 1995).\n\n= References\n\nKaiser, W. (1995). Busy bees. Nature.\n")
    warning = "main.typ: the reference list is typed; its entries and the citations of them are not read as such"
    assert draft.warnings == (warning,)


def test_how_a_work_in_yaml_was_published() -> None:
    references, warnings = hayagriva.parse(
        "bees:\n  type: article\n  title: Busy bees need rest, too\n  date: 1988-09-05\n  page-range: 565-584\n"
        "  url: {value: 'https://bee.org/1', date: 2020-01-05}\n"
        "  parent: {type: periodical, title: Bee World, volume: 163}\n"
        "ma:\n  type: thesis\n  title: Ants\n  genre: Diplomarbeit\n  date: 2011\n",
        "refs.yml",
    )
    assert warnings == []
    article, thesis = (reference.publication for reference in references)
    assert article == Publication(
        type="article-journal", date="1988-09-05", volume="163", pages="565-584", url="https://bee.org/1",
        accessed="2020-01-05",
    )  # fmt: skip
    assert (thesis.type, thesis.genre, thesis.date) == ("thesis", "Diplomarbeit", "")
