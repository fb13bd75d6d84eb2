"""Markdown drafts of every flavour are read as prose with their citations, each at its place."""

import json
import re
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.thoroughness import MAX_SECONDS, scaled
from whycite.documents.draftfolder import list_drafts
from whycite.documents.markdown import READER
from whycite.documents.model import Document
from whycite.documents.reading import stream
from whycite.documents.sources import DiskFolder, MemoryFolder, Source, decode

BIB = """
@article{doe99, title={A}, author={Doe, J.}, year={1999}}
@book{lee04, title={B}, author={Lee, K.}, year={2004}}
"""
PLACEHOLDERS = re.compile("EQUATION|REF")


def read(text: str, name: str = "paper.md", files: Mapping[str, str] | None = None) -> Document:
    contents = {name: text.encode(), **{n: t.encode() for n, t in (files or {}).items()}}
    (document,) = READER.read(Source(MemoryFolder(contents, ""), name))
    return document


def texts(document: Document, kind: str = "prose") -> list[str]:
    return [sentence.text for sentence in document.sentences if sentence.kind == kind]


def cited(document: Document) -> list[tuple[str, ...]]:
    return [citation.keys for sentence in document.sentences for citation in sentence.citations]


def marked(text: str) -> list[tuple[str, tuple[str, ...]]]:
    """What stands in the source of every citation, and its keys."""
    document = read(text)
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
            assert 0 <= citation.text_start <= citation.text_end <= len(sentence.text)
            wrong += [key for key in citation.keys if key not in source[citation.start : citation.end]]
    return wrong


# -- citations -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("So [@doe99].", [("[@doe99]", ("doe99",))]),
        ("[see @doe99, pp. 3-5, *x*; -@lee04].", [("[see @doe99, pp. 3-5, *x*; -@lee04]", ("doe99", "lee04"))]),
        ("@doe99 says so.", [("@doe99", ("doe99",))]),
        ("So @doe99 [p. 33] says.", [("@doe99 [p. 33]", ("doe99",))]),
        ("So @doe99 [p. 33; also @lee04].", [("@doe99 [p. 33; also @lee04]", ("doe99", "lee04"))]),
        ("So said Doe [-@doe99].", [("[-@doe99]", ("doe99",))]),
        ("So @{https://x.com/a?b=c&d=1}.", [("@{https://x.com/a?b=c&d=1}", ("https://x.com/a?b=c&d=1",))]),
        ("So @Foo_bar.baz: yes. So @foo--bar.", [("@Foo_bar.baz", ("Foo_bar.baz",)), ("@foo", ("foo",))]),
        ("So @müller2010's.", [("@müller2010", ("müller2010",))]),
        ("So [@doe99](http://x.org) and (@lee04).", [("@doe99", ("doe99",)), ("@lee04", ("lee04",))]),
        ("So {cite:p}`doe99,lee04`.", [("{cite:p}`doe99,lee04`", ("doe99", "lee04"))]),
        ("So {cite}`doe99` and :cite:`lee04`.", [("{cite}`doe99`", ("doe99",)), (":cite:`lee04`", ("lee04",))]),
        ("So \\citep[see][p. 3]{doe99,lee04}.", [("\\citep[see][p. 3]{doe99,lee04}", ("doe99", "lee04"))]),
        ("So \\textcite{doe99} \\nocite{lee04}.", [("\\textcite{doe99}", ("doe99",))]),
    ],
)  # fmt: skip
def test_citations(text: str, expected: list[tuple[str, tuple[str, ...]]]) -> None:
    assert marked(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Mail jane.doe@example.org or <jane@example.org>.",
        r"The sign \@doe99 is escaped, and \[\@doe99\] too.",
        "Code `[@doe99]` and ``@a`b``.",
        "```\n@doe99\n```",
        "~~~ {.r}\n@doe99\n~~~",
        "Text.\n\n    [@doe99] in indented code",
        "See @fig-one, [@tbl-two; @eq-three], @sec:four and [-@fig-one].",
        "Shown in Figure \\@ref(fig:one) (\\#fig:one).",
        "<!-- @doe99 -->",
        "Text <!-- two\n\nparagraphs @doe99 --> after.",
        "(@good) An example.\n\nSee (@good).",
        "An @ alone, @@, and @-.",
        "Formula $x@doe99$.",
    ],
)
def test_no_citations(text: str) -> None:
    assert cited(read(text)) == []


def test_the_text_shows_citations_and_no_marks() -> None:
    document = read("Some *text* of **weight** [see @doe99, p. 3], by @lee04 [ch. 2].", files={"refs.bib": BIB})
    assert texts(document) == ["Some text of weight [see doe99, p. 3], by [lee04, ch. 2]."]
    assert document.sentences[0].without_citations() == "Some text of weight, by."


# -- text ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hard\nwrapped *over\nlines* here.", ["Hard wrapped over lines here."]),
        ("A snake_case_word and 2 * 3 * 4 stay.", ["A snake_case_word and 2 * 3 * 4 stay."]),
        ("Call `f_x(*args)` now.", ["Call f_x(*args) now."]),
        ("A [link *text*](http://x.org/a_(b) \"t\") and [ref][r].\n\n[r]: http://y.org", ["A link text and ref."]),
        ("A [span]{.smallcaps} and [brackets] stay.", ["A span and [brackets] stay."]),
        ("See <https://x.org/a_b> or https://x.org/a_b_c.", ["See https://x.org/a_b or https://x.org/a_b_c."]),
        ("H~2~O at 10^-3^ M, ~~not~~.", ["H2O at 10-3 M, not."]),
        ("If $p < .05$ then $$\\sum_i x_i$$ holds.", ["If p < .05 then EQUATION holds."]),
        ("It costs $5 and $6 there.", ["It costs $5 and $6 there."]),
        ("By \\(x = 1\\) we have \\begin{align}x\\end{align} here.", ["By x = 1 we have EQUATION here."]),
        ("Entities &amp; dashes -- so --- and \\*stars\\*.", ["Entities & dashes – so — and *stars*."]),
        ("There were `r nrow(d)` of them.", ["There were EQUATION of them."]),
        ("See {numref}`Fig. %s <f>`, {eq}`e`, {doc}`the text <x>`.", ["See Fig. REF, REF, the text."]),
        ("See [](#f) and [the text](#x).", ["See REF and the text."]),
        ("A <b>bold</b> word.<br/>", ["A bold word."]),
        ("Break\\\nhere {{< pagebreak >}} now.", ["Break here now."]),
        ("\\textbf{Bold} and \\emph{this \\alert{x}} of \\ref{fig}.\\vspace{1cm}", ["Bold and this x of REF."]),
        ("> Quoted text\n> goes on\nlazily.", ["Quoted text goes on lazily."]),
        ("- one\n- two\n  goes on\n    * three", ["one", "two goes on", "three"]),
        ("1. One. Two.\n2) Three", ["One.", "Two.", "Three"]),
        ("E. coli grew.\nA. thaliana too.", ["E. coli grew.", "A. thaliana too."]),
        ("Term\n:   What it means.", ["Term", "What it means."]),
        ("An image ![alt](x.png) in text.", ["An image in text."]),
        ("::: {.callout-note}\nInside.\n:::\nOutside.", ["Inside.", "Outside."]),
        ("```{note} Title\n:class: x\nInside.\n```\nOutside.", ["Inside.", "Outside."]),
        (":::{tip}\nInside.\n:::", ["Inside."]),
        ("<table>\n<tr><td>cell</td></tr>\n</table>\nAfter.", ["After."]),
        ("<style>\np { x: y }\n</style>\n\nAfter.", ["After."]),
        ("Before.\n\n***\n\nAfter.", ["Before.", "After."]),
        ("(target)=\n% a comment\nText.\n\n+++ {\"part\": \"x\"}\n\nMore.", ["Text.", "More."]),
    ],
)  # fmt: skip
def test_text(text: str, expected: list[str]) -> None:
    assert texts(read(text)) == expected


def test_formulas_join_the_sentence_around_them() -> None:
    text = "The mass is\n\n$$\nE = mc^2\n$$\n\nwhere c is fast. It is\n\n$$x.$$\n\nNew text."
    document = read(text)
    assert texts(document) == ["The mass is EQUATION where c is fast.", "It is EQUATION.", "New text."]
    assert not misplaced(document, {"paper.md": text})


def test_headings() -> None:
    text = (
        "# Title of it\n\nOne.\n\n## First *part* {#sec:one .unnumbered}\n\nTwo.\n\n"
        "Second\n------\n\nThree.\n\n### Deep ###\n\nFour.\n#Not a heading.\n"
    )
    document = read(text)
    assert document.paper.title == "Title of it"
    assert [(s.heading, s.level) for s in document.sections] == [("", 1), ("First part", 1), ("Second", 1), ("Deep", 2)]
    assert texts(document) == ["One.", "Two.", "Three.", "Four.", "#Not a heading."]


def test_tables_go_and_captions_stay() -> None:
    text = (
        "Before.\n\n| a | b |\n|:--|--:|\n| 1 | 2 |\n\n: A caption [@doe99]. {#tbl-a}\n\n"
        "Table: Another one.\n\n  Right     Left\n-------     ------\n     12     12\n\n"
        "+---+---+\n| a | b |\n+===+===+\n| 1 | 2 |\n+---+---+\n\n"
        "-------------------------\n Head       Column\n---------- --------------\n row one   text\n\n row two   text\n"
        "-------------------------\n\nAfter.\n"
    )
    document = read(text)
    assert texts(document) == ["Before.", "After."]
    assert [t.split(" {")[0] for t in texts(document, "caption")] == ["A caption [doe99].", "Another one."]


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("| Net | F |\n|---|---|\n| A [@doe99] | 1 |\n| B | 2 |", ["A [doe99]"]),
        ("Of @lee04 | F\n---|---\n`A` [@doe99] | 1", ["Of [lee04]", "A [doe99]"]),
        ("| A \\| B @doe99 | 1 |", ["A | B [doe99]"]),
        ("+---+---+\n| a | b |\n+===+===+\n| c [@doe99; | d |\n| @lee04] e | f |\n+---+---+", ["c [doe99; lee04] e"]),
        (" Net      By @lee04\n------   ------\n A        @doe99\n", ["By [lee04]", "[doe99]"]),
        ("---   ---\n a @doe99 b\n---   ---\n", ["a [doe99]"]),
        (
            "-------------------\n Net    By\n-----   -----------\n A      so @doe99\n        goes on\n\n"
            " B      @lee04\n-------------------",
            ["so [doe99] goes on", "[lee04]"],
        ),
    ],
)
def test_table_cells_that_cite_are_kept(table: str, expected: list[str]) -> None:
    text = f"Before.\n\n{table}\n\n: Caption.\n\nAfter.\n"
    document = read(text, files={"refs.bib": BIB})
    assert texts(document, "table") == expected
    assert texts(document) == ["Before.", "After."]
    assert texts(document, "caption") == ["Caption."]
    assert not misplaced(document, {"paper.md": text})


def test_text_after_a_fence_in_a_table_is_read() -> None:
    assert texts(read("| a | b |\n```\ncode\n```\nText.")) == ["Text."]


def test_headings_that_cite_are_kept_as_such() -> None:
    text = "# One\n\nText.\n\n## Of @doe99 or [@lee04]\n\nMore.\n"
    document = read(text, files={"refs.bib": BIB})
    assert [section.heading for section in document.sections] == ["", "Of or"]
    (heading,) = [sentence for sentence in document.sentences if sentence.kind == "heading"]
    assert heading.text == "Of [doe99] or [lee04]"
    assert document.sections[heading.section].heading == "Of or"
    assert not misplaced(document, {"paper.md": text})


@pytest.mark.parametrize("name", ["Introduction", "1. Introduction", "Materials and Methods", "RESULTS", "Conclusions"])
def test_the_usual_name_of_a_section_is_no_title(name: str) -> None:
    document = read(f"# {name}\n\nText.\n\n## Part\n\nMore.\n")
    assert document.paper.title == ""
    assert [(section.heading, section.level) for section in document.sections] == [(name, 1), ("Part", 2)]


def test_roles_keep_their_notes() -> None:
    text = "So {cite:p}`{see, e.g.}doe99{p. 3},lee04` is it."
    document = read(text)
    assert texts(document) == ["So [see, e.g. doe99, p. 3; lee04] is it."]
    assert cited(document) == [("doe99", "lee04")]


@pytest.mark.parametrize("head", ["", "---\nbibliography: refs.bib\n---\n"])
@pytest.mark.parametrize(
    "link",
    ["[](doi:10.1000/abc.1)", "[](<https://doi.org/10.1000/ABC.1>)", "<doi:10.1000/abc.1>", "<https://doi.org/10.1000/abc.1>"],
)  # fmt: skip
def test_links_to_a_doi_of_the_bibliography_cite(head: str, link: str) -> None:
    text = f"{head}So {link} and @doe99, not [](doi:10.1000/other)."
    document = read(text, files={"refs.bib": BIB + "@misc{abc, title={C}, doi={10.1000/abc.1}}"})
    assert cited(document) == [("abc",), ("doe99",)]
    (first, _) = document.sentences[0].citations
    assert text[first.start : first.end] == link


def test_captions() -> None:
    text = (
        "![A figure of @doe99.](a.png){#fig-a}\n\n"
        "```{r, fig.cap=\"From the head.\"}\nplot(1)\n```\n\n"
        "```{python}\n#| label: fig-b\n#| fig-cap: \"From the cell.\"\nplot()\n```\n\n"
        "```{figure} a.png\n:name: a\n\nFrom MyST.\n```\n\n"
        "::: {#fig-c}\n![](c.png)\n\nFrom a div.\n:::\n\n"
        "\\begin{figure}\n\\includegraphics{x}\n\\caption{From \\LaTeX{} \\cite{lee04}.}\n\\end{figure}\n\n"
        "(ref:cap) From bookdown.\n"
    )  # fmt: skip
    document = read(text)
    assert texts(document) == []
    assert texts(document, "caption") == [
        "A figure of [doe99].",
        "From the head.",
        "From the cell.",
        "From MyST.",
        "From a div.",
        "From LaTeX [lee04].",
        "From bookdown.",
    ]


def test_footnotes() -> None:
    text = (
        "One[^a] and^[An *inline* note @doe99.] two.\n\n[^a]: The note.\n    Goes on.\n\n    More [@lee04].\n\nThree.\n"
    )
    document = read(text)
    assert texts(document) == ["One and two.", "Three."]
    assert texts(document, "footnote") == ["An inline note [doe99].", "The note.", "Goes on.", "More [lee04]."]


def test_the_reference_list_is_no_prose() -> None:
    text = (
        "# One\n\nText [@doe99].\n\n# References\n\n::: {#refs}\nHidden.\n:::\n\nDoe, J. 1999. A.\n\n"
        "[^n]: A note.\n\n# Appendix\n\nMore."
    )
    document = read(text, files={"refs.bib": BIB})
    assert [s.heading for s in document.sections] == ["One", "Appendix"]
    assert texts(document) == ["Text [doe99].", "More."]
    assert texts(document, "footnote") == ["A note."]


def test_markers_in_words_are_linked_to_a_printed_list() -> None:
    text = (
        "# Paper\n\nAs shown (Doe *et al.*, 1999) and by Lee (2004).\n\n"
        "# References\n\nDoe, J., Roe, K. and Poe, L. (1999). A title. Journal, 3.\n\nLee, K. (2004). Another. Press.\n"
    )
    document = read(text)
    assert cited(document) == [("ref1",), ("ref2",)]
    assert [r.year for r in document.references] == [1999, 2004]
    numbered = "# Paper\n\nAs shown \\[1\\] and [2].\n\n# References\n\n1. Doe, J. A. 1999.\n2. Lee, K. B. 2004.\n"
    assert cited(read(numbered)) == [("1",), ("2",)]


# -- metadata, bibliographies, other files ---------------------------------------


def test_metadata() -> None:
    text = (
        "---\ntitle: 'A *fine* title'\nauthor:\n  - name: Jane B. Doe\n    affiliation: 1\n  - Lee, Kim\n"
        "  - name: {given: Ann, family: Roe}\ndate: 1 June 2021\nbibliography: [refs.bib]\n"
        "abstract: |\n  First line of *it* [@doe99].\n  Second line.\n\n  A paragraph.\nother: x\n---\n\nBody text.\n"
    )
    document = read(text, files={"refs.bib": BIB})
    assert document.paper.title == "A fine title"
    assert document.paper.authors == ("Doe, Jane B.", "Lee, Kim", "Roe, Ann")
    assert document.paper.year == 2021
    assert [s.heading for s in document.sections] == ["Abstract", ""]
    assert texts(document) == ["First line of it [doe99].", "Second line.", "A paragraph.", "Body text."]
    assert not misplaced(document, {"paper.md": text})
    assert document.warnings == ()


@pytest.mark.parametrize(
    "head",
    [
        "% A title\n% Jane Doe; Kim Lee\n% May 2021\n",
        '+++\ntitle = "A title"\nauthors = ["Jane Doe", "Kim Lee"]\ndate = 2021-05-01\n+++\n',
        "---\ntitle: A title\nauthor: [Jane Doe, Kim Lee]\nsubtitle: a: b: c\ndate: 1 May 2021\n---\n",
        "---\ntitle: A title\nauthor: Jane Doe and Kim Lee\nyear: 2021\n...\n",
    ],
)
def test_other_metadata(head: str) -> None:
    document = read(head + "\nText.\n")
    assert document.paper.title == "A title"
    assert document.paper.authors == ("Doe, Jane", "Lee, Kim")
    assert document.paper.year == 2021
    assert texts(document) == ["Text."]


@pytest.mark.parametrize(
    ("name", "head", "files"),
    [
        ("paper.md", "---\nbibliography: refs.bib\n---\n", {"refs.bib": BIB}),
        ("text/paper.md", "---\nbibliography: ../bib/refs.bib\n---\n", {"bib/refs.bib": BIB}),
        ("paper.Rmd", "---\nbibliography: [a.bib, refs]\n---\n", {"a.bib": "", "refs.bib": BIB}),
        ("paper.qmd", "", {"_quarto.yml": "bibliography: refs.bib\n", "refs.bib": BIB, "x.bib": ""}),
        ("part/a.md", "", {"myst.yml": "project:\n  bibliography: [refs.bib]\n", "refs.bib": BIB, "x.bib": ""}),
        ("a.md", "", {"_config.yml": "sphinx: {config: {bibtex_bibfiles: [refs.bib]}}", "refs.bib": BIB, "x.bib": ""}),
        ("paper.md", "", {"refs.bib": BIB}),
        ("paper.md", "", {"bib/refs.bib": BIB}),
        ("paper.md", "---\nbibliography: r.json\n---\n", {"r.json": json.dumps([{"id": "doe99", "title": "A"}])}),
        ("paper.md", "---\nbibliography: r.yaml\n---\n", {"r.yaml": "references:\n- id: doe99\n  title: A\n"}),
        ("paper.md", "---\nreferences:\n- id: doe99\n  title: A\n  issued: {date-parts: [[1999]]}\n---\n", {}),
    ],
)  # fmt: skip
def test_the_bibliography_is_found(name: str, head: str, files: dict[str, str]) -> None:
    document = read(head + "Text [@doe99].\n", name, files)
    assert document.by_id["doe99"].title == "A"


def test_references_in_the_metadata() -> None:
    text = (
        "---\nreferences:\n- id: doe99\n  title: A\n  author: [{family: Doe, given: J.}]\n"
        "  issued: {date-parts: [[1999, 5]]}\ndoi: https://doi.org/10.1000/X\n---\nText [@doe99].\n"
    )
    document = read(text)
    assert document.by_id["doe99"].year == 1999
    assert document.by_id["doe99"].authors == ("Doe, J.",)
    assert document.paper.doi == "10.1000/x"


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b"---\ntitle: x\n---\n", True),
        (b"Text\n\n## Heading\n", True),
        (b"Text [@doe99].\n", True),
        (b"Just text.\n", False),
        (b"#set text(11pt)\n```\ncode\n```\n", False),
        (b"# x\0", False),
    ],
)
def test_markdown_is_told_by_its_marks(head: bytes, expected: bool) -> None:
    assert READER.sniff(head) is expected


def test_a_missing_bibliography_is_said() -> None:
    document = read("---\nbibliography: none.bib\n---\nText [@doe99].", files={"refs.bib": BIB})
    assert document.warnings[0] == "paper.md: bibliography 'none.bib' not found in this folder"
    assert not any("does not name a bibliography" in warning for warning in document.warnings)
    assert document.references == ()


def test_included_files_are_read_in_place() -> None:
    text = (
        "---\ntitle: T\n---\n# One\n\nFirst.\n\n{{< include parts/_two.qmd >}}\n\n"
        "```{r child='three.Rmd'}\n```\n\nLast.\n"
    )
    files = {
        "parts/_two.qmd": (
            "---\ntitle: other\n---\nSecond [@doe99].\n\n{{< include ../paper.qmd >}}\n\n{{< include ../../etc.md >}}\n"
        ),
        "three.Rmd": "Third.\n",
    }
    document = read(text, "paper.qmd", files)
    assert texts(document) == ["First.", "Second [doe99].", "Third.", "Last."]
    assert [s.file for s in document.sentences] == ["paper.qmd", "parts/_two.qmd", "three.Rmd", "paper.qmd"]
    assert not misplaced(document, {"paper.qmd": text, **files})
    assert [w for w in document.warnings if "skipped" in w] == [
        "parts/_two.qmd:6: ../paper.qmd includes itself; skipped",
        "parts/_two.qmd:8: included file ../../etc.md not found in this folder; skipped",
    ]


def test_the_parts_of_a_draft_are_no_drafts() -> None:
    files = {
        "01-intro.qmd": b"Text.",
        "02-other.md": b"Text.",
        "ch/a.Rmd": b"Text.",
        "main.typ": b'= One\n#include "ch/b.typ"\n',
        "ch/b.typ": b"Text.",
        "paper.qmd": b"{{< include 01-intro.qmd >}}\n\n```{r, child = c('ch/a.Rmd')}\n```\n",
        "refs.bib": b"",
    }
    folder = MemoryFolder(files, "")
    assert list_drafts(folder, folder.names()) == ["main.typ", "paper.qmd", "02-other.md", "refs.bib"]
    circle = MemoryFolder({"a.typ": b'#include "b.typ"', "b.typ": b'#include "a.typ"'}, "")
    assert list_drafts(circle, circle.names()) == ["a.typ"]


@pytest.mark.parametrize(
    "yaml",
    [
        "a: [",
        "a: &x [1]\nb: *x",
        "- - " * 3000,
        "{" * scaled(30_000),
        "a: \x01",
        "? " * 5000,
        "x",
        "2021-13-45",
        "!!python/name:os",
    ],
)
def test_metadata_that_cannot_be_read_is_a_warning_at_most(yaml: str) -> None:
    begun = time.process_time()
    document = read(f"---\n{yaml}\n---\n\nThe text.\n")
    assert time.process_time() - begun < MAX_SECONDS
    assert texts(document)[-1] == "The text."


def test_line_ends_encodings_and_marks_keep_offsets() -> None:
    text = "\ufeff# Head\r\n\r\nCafé *one*\r\nand [@doe99].\r\n\r\n- two\r\n- three\r\n"
    document = read(text)
    assert texts(document) == ["Café one and [doe99].", "two", "three"]
    assert not misplaced(document, {"paper.md": text})
    latin = b"Caf\xe9 one.\n"
    (document,) = READER.read(Source(MemoryFolder({"a.md": latin}, ""), "a.md"))
    assert texts(document) == ["Café one."]
    assert "Windows-1252" in document.warnings[0]


# -- real drafts -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "main", "less"),
    [
        ("joss-adaptiveresonance", "paper.md", 0),
        ("joss-adaptiveresonance-early", "paper.md", 4),  # four keys stand in inline code, as examples
        ("joss-bumbl", "paper.md", 0),
        ("joss-bumbl-rmd", "paper.Rmd", 0),
        ("qmd-labor", "paper.qmd", 0),
        ("rmd-instancememory", "manuscript.Rmd", 0),
    ],
)
def test_real_drafts(data: Path, name: str, main: str, less: int) -> None:
    folder = data / "drafts" / name
    index = {entry["name"]: entry for entry in json.loads((data / "drafts" / "index.json").read_text())}
    (document,) = READER.read(Source(DiskFolder(folder, ""), main))
    keys = [key for keys in cited(document) for key in keys]
    assert len(keys) == index[name]["cite_commands"] - less
    assert len(document.references) == index[name]["bib_entries"]
    assert set(keys) <= document.by_id.keys()
    assert document.paper.title
    files = {file: decode((folder / file).read_bytes())[0] for file in {s.file for s in document.sentences}}
    assert not misplaced(document, files)
    assert not [text for text in texts(document) if re.search(r"[*`]|\]\(|\\[a-z]|\{[.#]|@\w", text) and less == 0]


# -- anything --------------------------------------------------------------------

PIECES = st.sampled_from(
    ["[", "]", "(", ")", "@", "@key", "[@key]", "`", "```", "*", "_", "$", "$$", "{", "}", "<", ">", "!", "![", "^[",
     "[^1]", "[^1]: ", "\n", "\r\n", "\n\n", "- ", "1. ", "> ", "# ", "=", "---", "|", "|-|-|", ":::", "{#refs}", "\\",
     "\\cite{a}", "\\begin{equation}", "\\end{equation}", "{cite}`a`", "<!--", "-->", "<table>", "&amp;", "~", "word",
     "Word.", " ", "    ", "{{< include a.md >}}", "# References", "Doe (1999)", "é", "\t", "\ufeff", "\0"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=60).map("".join))
@example("[a](x^[y) z]")
@example("^[note [a](b]c) d")
def test_anything_is_read(text: str) -> None:
    document = read(text)
    assert not misplaced(document, {"paper.md": text})


@given(st.text(max_size=300))
def test_any_characters_are_read(text: str) -> None:
    text = text.encode("utf-8", "ignore").decode()
    document = read(text)
    assert all(0 <= s.start <= s.end <= len(text) for s in document.sentences)


@pytest.mark.parametrize(
    "unit",
    ["[@", "*", "[", "]", "`", ">", "$", "@", "{", "![", "^[", "[^", "<", "<!--", "\\", "{{<", "- ", "#", "|", "-",
     "~", "&", "``a` ", "$a ", "[a](", "[a]: ", "\\begin{align}", "\\a{", "::: {x}\n", "```{note}\n", "<table>\n",
     "> - ", "\n", " ", "1.", "{a}`", "| @a |\n", "--- ",
     "+---+\n| a |\n", "----------\n--- ---\n", "{cite}`{a", "[](doi:"],
)  # fmt: skip
def test_time_is_linear(unit: str) -> None:
    size = scaled(1_000_000 if len(unit) == 1 or unit == "[@" else 250_000)
    text = unit * (size // len(unit))
    begun = time.process_time()
    read(text)
    assert time.process_time() - begun < MAX_SECONDS


def test_many_columns_and_rows_take_no_longer() -> None:
    begun = time.process_time()
    read("a b\n" + "-- " * scaled(100_000) + "\n" + "a @b\n" * scaled(50_000))
    assert time.process_time() - begun < MAX_SECONDS


def test_a_file_that_goes_while_a_folder_is_read_takes_no_other_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one.md", "two.md"):
        (tmp_path / name).write_text("# Title\n\nBees sleep at night.\n", "utf-8")
    listed = DiskFolder.names

    def names(folder: DiskFolder) -> list[str]:
        found = listed(folder)
        (tmp_path / "two.md").unlink()
        return found

    monkeypatch.setattr(DiskFolder, "names", names)
    one, two = stream(tmp_path)
    assert [sentence.text for sentence in one.sentences] == ["Bees sleep at night."]
    assert two.warnings == (f"{tmp_path / 'two.md'}: no such file",)


TWO_BIBS = {
    "a.bib": "@article{doe99, title={A}, author={Doe, J.}, year={1999}}",
    "b.bib": "@book{lee04, title={B}, author={Lee, K.}, year={2004}}",
}


@pytest.mark.parametrize(
    "configuration",
    [
        {},
        {"myst.yml": "project:\n  bibliography:\n    - a.bib\n    - b.bib\n"},
        {"_config.yml": "bibtex_bibfiles:\n  - a.bib\n  - b.bib\n"},
    ],
)
def test_all_bibliographies_beside_a_draft_are_used(configuration: dict[str, str]) -> None:
    document = read("Cells divide {cite:p}`doe99` and grow [@lee04].", files={**TWO_BIBS, **configuration})
    assert sorted(document.by_id) == ["doe99", "lee04"]
    expected = [] if configuration else ["paper.md: does not name a bibliography; using a.bib, b.bib"]
    assert list(document.warnings) == expected


@pytest.mark.parametrize(
    "target",
    [
        "```{figure} cells.png\n:name: Cells\nCells that divide.\n```",
        "```{figure} cells.png\n---\nname: cells\n---\nCells that divide.\n```",
        ":::{figure} cells.png\n:label: cells\nCells that divide.\n:::",
        "(cells)=\n## How cells divide",
        "$$ a = b $$ {#cells}",
        "```{code-cell}\n#| label: cells\nplot()\n```",
    ],
)
def test_a_key_that_is_a_label_of_the_draft_is_no_missing_entry(target: str) -> None:
    document = read(f"Cells divide [@doe99] as @cells shows.\n\n{target}\n", files={"refs.bib": BIB, "myst.yml": ""})
    assert texts(document)[0] == "Cells divide [doe99] as REF shows."
    assert not any("no entry" in warning for warning in document.warnings)


def test_a_label_may_be_in_another_chapter_but_an_entry_comes_before_it() -> None:
    other = "(cells)=\n# Cells\n\n(doe99)=\n## Doe"
    files = {"refs.bib": BIB, "myst.yml": "project: {bibliography: [refs.bib]}", "two.md": other}
    document = read("Cells divide [@doe99] as @cells shows, not @plants.", files=files)
    assert cited(document) == [("doe99",), ("plants",)]
    assert document.warnings == ("1 cited key has no entry in the bibliography: plants",)


def test_a_typed_list_is_read_even_if_a_key_has_no_entry() -> None:
    entry = "Torrey, J. G. (1978). Nodules. Bio, 2."
    text = f"# Text\n\nAlder grows (Torrey, 1978). Nodules last [@none].\n\n# References\n\n{entry}\n"
    draft = read(text)
    assert [s.cited_keys for s in draft.sentences] == [("ref1",), ("none",)]
    assert draft.warnings == ("1 cited key has no entry in the bibliography: none",)


def test_a_typed_citation_may_run_over_the_mark_of_a_quote() -> None:
    entry = "Torrey, J. G. (1978). N~2~ in H<sub>2</sub>O. Bio, 2."
    text = f"# Text\n\n> Alder is the tree of wet soils (Torrey,\n> 1978).\n\n# References\n\n{entry}\n"
    draft = read(text)
    [sentence] = draft.sentences
    assert (sentence.text, sentence.cited_keys) == ("Alder is the tree of wet soils (Torrey, 1978).", ("ref1",))
    assert draft.references[0].title == "N2 in H2O"
