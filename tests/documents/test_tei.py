"""TEI as GROBID writes it."""

import re
import time
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest

from tests.thoroughness import MAX_SECONDS, scaled
from whycite.documents import jats
from whycite.documents.model import Document
from whycite.documents.sources import DiskFolder, Source, decode
from whycite.documents.tei import READER

ReadBytes = Callable[..., list[Document]]
Misplaced = Callable[[Document, str, Callable[[str], str]], list[str]]

_TAG = re.compile(r"<[^>]*>")


def _undo(cut: str) -> str:
    return unescape(_TAG.sub("", cut))


@pytest.fixture
def paper(read_bytes: ReadBytes) -> Callable[[str], Document]:
    def read(body: str) -> Document:
        source = f'<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader/><text><body>{body}</body></text></TEI>'
        (document,) = read_bytes(READER, source.encode(), "a.tei.xml")
        return document

    return read


Paper = Callable[[str], Document]


def test_the_real_file(data: Path, misplaced: Misplaced) -> None:
    source = Source(DiskFolder(data / "formats"), "N18-3011.tei.xml")
    assert READER.sniff(source.head())
    assert not jats.READER.sniff(source.head())
    (document,) = READER.read(source)
    assert document.paper.title == "Construction of the Literature Graph in Semantic Scholar"
    assert document.paper.authors[:2] == ("Ammar, Waleed", "Groeneveld, Dirk")
    assert document.paper.abstract.startswith("We describe a deployed")
    assert [(s.heading, s.level) for s in document.sections] == [
        ("Abstract", 1),
        ("Introduction", 1),
        ("Structure of The Literature Graph", 1),
        ("Node Types", 2),
        ("Edge Types", 2),
        ("Extracting Metadata", 1),
        ("Entity Extraction and Linking", 1),
        ("Approaches", 2),
        ("Entity Extraction Models", 2),
        ("Knowledge Bases", 2),
        ("Entity Linking Models", 2),
        ("Other Research Problems", 1),
        ("Conclusion and Future Work", 1),
    ]
    citations = [c for s in document.sentences for c in s.citations]
    assert (len(citations), sum(bool(c.keys) for c in citations)) == (28, 20)
    assert len(document.references) == 27
    assert all(reference.title and reference.year for reference in document.references)
    assert document.warnings == ("8 citation markers could not be linked to a reference",)
    assert sum(s.kind == "footnote" for s in document.sentences) == 2
    assert sum("EQUATION" in s.text for s in document.sentences) == 3
    assert misplaced(document, decode(source.data())[0], _undo) == []


def test_a_formula_does_not_cut_its_sentence(paper: Paper) -> None:
    document = paper(
        "<div><head>A</head><p>It is given by</p><formula>x = 1</formula><p>where x is one.</p>"
        "<formula>y</formula><p>Then we go on.</p></div>"
    )
    assert [(s.text, s.paragraph) for s in document.sentences] == [
        ("It is given by EQUATION where x is one.", 0),
        ("EQUATION", 0),
        ("Then we go on.", 1),
    ]


def test_citations_with_one_several_and_no_targets(paper: Paper) -> None:
    document = paper(
        '<div><p>See <ref type="bibr" target="#b1">Doe</ref>, <ref type="bibr" target="#b1 #b2">both</ref>, '
        '<ref type="bibr">this</ref><ref type="bibr">that</ref> and <ref type="figure" target="#f">Fig. 1</ref>.</p>'
        "</div>"
    )
    assert document.sentences[0].text == "See Doe, both, this that and Fig. 1."
    assert [c.keys for c in document.sentences[0].citations] == [("b1",), ("b1", "b2"), (), ()]


def test_figures_notes_and_lists(paper: Paper) -> None:
    document = paper(
        "<div><head>A</head><p>Text<note>Inside.</note> goes on:</p><list><item>one</item><item>two</item></list></div>"
        "<figure><head>Figure 1</head><label>1</label><figDesc>What it shows.</figDesc></figure>"
        '<figure type="table"><head>Table 1</head><figDesc>Numbers.</figDesc><table><row><cell>1</cell></row></table>'
        "</figure>"
        '<note place="foot" n="1">A note.</note>'
    )
    assert [(s.kind, s.text) for s in document.sentences] == [
        ("prose", "Text goes on:"),
        ("footnote", "Inside."),
        ("prose", "one"),
        ("prose", "two"),
        ("caption", "What it shows."),
        ("caption", "Numbers."),
        ("footnote", "A note."),
    ]


def test_references_with_identifiers(read_bytes: ReadBytes) -> None:
    source = """<TEI><teiHeader><fileDesc>
      <titleStmt><title>T</title></titleStmt>
      <publicationStmt><date when="2019-01-02"/></publicationStmt>
      <sourceDesc><biblStruct><analytic/><monogr><title level="j">ACL</title><imprint/></monogr>
        <idno type="DOI">10.18653/v1/N18-3011</idno></biblStruct></sourceDesc>
    </fileDesc></teiHeader><text><back><div type="references"><listBibl>
      <biblStruct xml:id="b0"><analytic><title level="a" type="main">One</title>
        <author><persName><forename>J</forename><surname>Doe</surname></persName></author>
        <idno type="arXiv">arXiv:1706.03762v5</idno><idno type="PMID">123</idno></analytic><monogr>
        <title level="j">Nature</title><imprint><date type="published" when="2017-06"/></imprint></monogr></biblStruct>
      <biblStruct xml:id="b1"><monogr><title level="m">A book</title><author><orgName>WHO</orgName></author>
        <imprint><date>1999</date></imprint></monogr></biblStruct>
      <biblStruct xml:id="b2"><monogr><title/><imprint/></monogr>
        <note type="raw_reference">Poe, E. Something printed. 2001.</note></biblStruct>
    </listBibl></div></back></text></TEI>"""
    (document,) = read_bytes(READER, source.encode(), "a.tei.xml")
    paper = document.paper
    assert (paper.title, paper.year, paper.venue, paper.doi) == ("T", 2019, "ACL", "10.18653/v1/n18-3011")
    one, book, printed = document.references
    assert (one.id, one.title, one.authors, one.year, one.venue) == ("b0", "One", ("Doe, J",), 2017, "Nature")
    assert (one.arxiv, one.pmid) == ("1706.03762", "123")
    assert (book.title, book.authors, book.year) == ("A book", ("WHO",), 1999)
    assert printed.text == "Poe, E. Something printed. 2001."
    assert document.sentences == ()


def test_a_corpus_gives_one_document_a_paper(read_bytes: ReadBytes) -> None:
    one = "<TEI><text><body><div><p>{}.</p></div></body></text></TEI>\n".format
    documents = read_bytes(READER, f"<teiCorpus>{one('One')}{one('Two')}</teiCorpus>".encode(), "c.xml")
    assert [(d.path, d.sentences[0].text) for d in documents] == [("c.xml:1", "One."), ("c.xml:2", "Two.")]


@pytest.mark.parametrize("data", [b"", b"<article/>", b"<TE", b"\x00\x01"])
def test_a_file_without_text_says_so(read_bytes: ReadBytes, data: bytes) -> None:
    (document,) = read_bytes(READER, data)
    assert document.sentences == ()
    assert "paper.xml:1: no TEI text in this file" in document.warnings


def test_truncated(paper: Paper) -> None:
    document = paper("<div><head>A</head>\n<p>One. Two")
    assert [s.text for s in document.sentences] == ["One.", "Two"]
    assert document.warnings[0].startswith("a.tei.xml:2: broken XML (mismatched tag)")


@pytest.mark.parametrize(
    "body",
    [
        "<div><p>" + "word " * scaled(200_000) + "</p></div>",
        "<div><p>x</p>" + "<formula>x</formula><p>y</p>" * scaled(20_000) + "</div>",
        "<div>" * 400 + "<p>x</p>",
        "<div><p>" + '<ref type="bibr" target="#b1">Doe</ref>' * scaled(30_000) + "</p></div>",
        "<div><p>" + "<note>x</note>" * scaled(30_000) + "</p></div>",
    ],
    ids=lambda body: body[:30],
)
def test_nothing_takes_long(paper: Paper, body: str) -> None:
    began = time.process_time()
    document = paper(body)
    assert time.process_time() - began < MAX_SECONDS
    assert document.sentences
