"""JATS articles: eLife, PLOS and PMC styles, real ones and small ones made for one point each."""

import re
import time
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest

from tests.thoroughness import MAX_SECONDS, scaled
from whycite.documents import s2orc
from whycite.documents.jats import READER
from whycite.documents.model import Document, Sentence
from whycite.documents.sources import DiskFolder, Source, decode, unwrap

ReadBytes = Callable[..., list[Document]]
Misplaced = Callable[[Document, str, Callable[[str], str]], list[str]]

_TAG = re.compile(r"<tex-math.*?</tex-math>|<!--.*?-->|<[^>]*>", re.DOTALL)
_INVISIBLE = re.compile("[\u2061-\u2064\u200b]")
_REFS = "".join(f'<ref id="B{n}"><mixed-citation>Entry {n}, 200{n}</mixed-citation></ref>' for n in range(1, 9))


def all_of(document: Document) -> tuple[Sentence, ...]:
    return (*document.sentences, *document.asides)


def _undo(cut: str) -> str:
    return _INVISIBLE.sub("", unescape(_TAG.sub("", cut)))


@pytest.fixture
def article(read_bytes: ReadBytes) -> Callable[..., Document]:
    def read(body: str, back: str = "", meta: str = "") -> Document:
        front = f"<front><article-meta>{meta}</article-meta></front>"
        source = f"<article>{front}<body>{body}</body><back>{back}<ref-list>{_REFS}</ref-list></back></article>"
        (document,) = read_bytes(READER, source.encode())
        return document

    return read


Article = Callable[..., Document]


def _cited(document: Document) -> list[tuple[str, tuple[str, ...]]]:
    return [(s.text[c.text_start : c.text_end], c.keys) for s in all_of(document) for c in s.citations]


def test_sections_nest_and_paragraphs_return_to_theirs(article: Article) -> None:
    document = article(
        "<p>Before.</p><sec><title>One</title><p>A.</p><sec><title>Two</title><p>B.</p></sec><p>C.</p></sec>"
    )
    headings = [(document.sections[s.section].heading, s.text) for s in all_of(document)]
    assert headings == [("", "Before."), ("One", "A."), ("Two", "B."), ("One", "C.")]
    assert [(s.heading, s.level) for s in document.sections] == [("", 1), ("One", 1), ("Two", 2), ("One", 1)]


def test_abstracts_are_sections_before_the_body(article: Article) -> None:
    document = article(
        "<p>Body.</p>",
        meta="<abstract><p>First.</p><p><bold>DOI:</bold> <ext-link>http://dx.doi.org/10.7554/x</ext-link></p></abstract>"
        '<abstract abstract-type="summary"><title>Author Summary</title><p>Second.</p></abstract>'
        "<abstract><sec><title>Background</title><p>Third.</p></sec></abstract>",
    )
    shown = [(document.sections[s.section].heading, s.text) for s in sorted(all_of(document), key=lambda s: s.start)]
    assert shown == [("Abstract", "First."), ("Author Summary", "Second."), ("Background", "Third."), ("", "Body.")]
    assert document.paper.abstract == "First."


def test_front_matter(article: Article) -> None:
    paper = article(
        "",
        meta='<article-id pub-id-type="doi">10.1371/Journal.X</article-id>'
        '<article-id pub-id-type="pmid">123</article-id>'
        "<title-group><article-title>On <italic>E. coli</italic><xref>*</xref></article-title></title-group>"
        '<contrib-group><contrib contrib-type="author"><name><surname>Doe</surname><given-names>Jane</given-names>'
        '</name></contrib><contrib contrib-type="author"><collab>The Group</collab></contrib>'
        '<contrib contrib-type="editor"><name><surname>No</surname></name></contrib></contrib-group>'
        '<pub-date pub-type="collection"><year>2011</year></pub-date>'
        '<pub-date pub-type="epub"><year>2010</year></pub-date>',
    ).paper
    assert paper.title == "On E. coli"
    assert paper.authors == ("Doe, Jane", "The Group")
    assert (paper.year, paper.doi, paper.pmid) == (2010, "10.1371/journal.x", "123")


def test_ranges_stand_for_all_references_between(article: Article) -> None:
    link = '<xref ref-type="bibr" rid="B{0}">{0}</xref>'.format
    document = article(f"<p>As said [{link(1)}, {link(3)}&#x2013;{link(6)}] and [{link(7)}-{link(8)}].</p>")
    assert _cited(document) == [
        ("1", ("B1",)),
        ("3–6", ("B3", "B4", "B5", "B6")),
        ("7-8", ("B7", "B8")),
    ]
    assert document.sentences[0].text == "As said [1, 3–6] and [7-8]."


def test_ranges_in_brackets_of_their_own_and_in_one_link(article: Article) -> None:
    link = '<xref ref-type="bibr" rid="B{0}">[{0}]</xref>'.format
    document = article(
        f'<p>Old PLOS style {link(2)}–{link(4)}, and one link <xref ref-type="bibr" rid="B5">5–7</xref>, or '
        'several <xref ref-type="bibr" rid="B1 B2">1, 2</xref>.</p>'
    )
    assert _cited(document) == [
        ("[2]–[4]", ("B2", "B3", "B4")),
        ("5–7", ("B5", "B6", "B7")),
        ("1, 2", ("B1", "B2")),
    ]


def test_what_is_no_range_is_left_alone(article: Article) -> None:
    link = '<xref ref-type="bibr" rid="B{0}">{1}</xref>'.format
    document = article(
        f"<p>{link(1, 1)}–{link(3, 9)}, {link(4, 'Doe 2004')}–{link(6, 'Poe')}, {link(5, 5)}–{link(2, 2)}.</p>"
    )
    assert [keys for _, keys in _cited(document)] == [("B1",), ("B3",), ("B4",), ("B6",), ("B5",), ("B2",)]


@pytest.mark.parametrize(
    "markup",
    [
        '<sup><xref ref-type="bibr" rid="B1">1</xref>,<xref ref-type="bibr" rid="B3">3</xref>–'
        '<xref ref-type="bibr" rid="B5">5</xref></sup>',
        '<xref ref-type="bibr" rid="B1"><sup>1</sup></xref><sup>,</sup>'
        '<xref ref-type="bibr" rid="B3"><sup>3</sup></xref><sup>–</sup>'
        '<xref ref-type="bibr" rid="B5"><sup>5</sup></xref>',
    ],
)
def test_superscript_numbers_read_as_one_bracket(article: Article, markup: str) -> None:
    document = article(f"<p>This was shown{markup}. It holds.{markup} Next one.</p>")
    assert [s.text for s in document.sentences] == ["This was shown [1,3–5].", "It holds.[1,3–5]", "Next one."]
    assert [keys for _, keys in _cited(document)] == [("B1", "B3", "B4", "B5")] * 2
    assert document.sentences[0].without_citations() == "This was shown."


def test_exponents_are_told_from_citations(article: Article) -> None:
    document = article("<p>At 10<sup>−5</sup> M and 2<sup>13</sup> of Ca<sup>2+</sup> in CO<sub>2</sub>.</p>")
    assert document.sentences[0].text == "At 10^−5 M and 2^13 of Ca2+ in CO2."


def test_formulas(article: Article) -> None:
    document = article(
        "<p>Let <inline-formula><mml:math><mml:mi>x</mml:mi> <mml:mo>=</mml:mo><mml:mn>1</mml:mn>"
        "</mml:math><tex-math>$x=1$</tex-math></inline-formula> be given by<disp-formula><label>(1)</label>"
        "<mml:math><mml:mi>y</mml:mi></mml:math></disp-formula>where <inline-formula><inline-graphic/></inline-formula>"
        " holds.</p><disp-formula>z</disp-formula>"
    )
    assert [s.text for s in all_of(document)] == ["Let x=1 be given by EQUATION where EQUATION holds."]


def test_marks_of_notes_are_no_words(article: Article) -> None:
    mark = '<xref ref-type="fn" rid="fn1">{}</xref>'.format
    document = article(f"<p>A word<sup>{mark('a')}</sup> and {mark('note one')}{mark('12')}.</p>")
    assert document.sentences[0].text == "A word and note one."


def test_lists_break_sentences_and_floats_leave_the_paragraph(article: Article) -> None:
    document = article(
        "<sec><title>S</title><p>We need:<list><list-item><label>1</label><p>one thing</p></list-item>"
        "<list-item><p>another thing</p></list-item></list>and <fig><label>Fig 1</label><caption><title>A title</title>"
        "<p>What it shows.<supplementary-material><caption><p>Source data.</p></caption></supplementary-material></p>"
        "</caption></fig>so on<fn><p>A note.</p></fn>.</p></sec>"
    )
    assert [(s.kind, s.text) for s in all_of(document)] == [
        ("prose", "We need:"),
        ("prose", "one thing"),
        ("prose", "another thing"),
        ("prose", "and so on."),
        ("caption", "A title"),
        ("caption", "What it shows."),
        ("caption", "Source data."),
        ("footnote", "A note."),
    ]
    assert len({s.paragraph for s in all_of(document) if s.kind == "prose"}) == 1


def test_tables_and_headings_count_only_where_they_cite(article: Article) -> None:
    link = '<xref ref-type="bibr" rid="B1">1</xref>'
    document = article(
        f"<sec><title>As in {link}</title><table-wrap><table><tr><td>Study A [{link}]</td><td>12</td></tr></table>"
        "<table-wrap-foot><p>Values in mM.</p></table-wrap-foot></table-wrap>"
        "<table-wrap><table><tr><td>No links here</td></tr></table></table-wrap>"
        f"<fig><attrib>After {link}</attrib></fig><fig><attrib>By us.</attrib></fig></sec>"
    )
    assert [(s.kind, s.text) for s in all_of(document)] == [
        ("heading", "As in 1"),
        ("table", "Study A [1]"),
        ("footnote", "Values in mM."),
        ("caption", "After 1"),
    ]


def test_back_matter_and_sub_articles(read_bytes: ReadBytes) -> None:
    source = """<article><body><p>Body.</p></body><back><ack><p>Thanks.</p></ack><app-group><app><title>Proofs</title>
    <p>Appendix text.</p></app></app-group><glossary><def-list><def-item><term>AL</term><def><p>antennal lobe</p></def>
    </def-item></def-list></glossary><ref-list><ref id="r"><mixed-citation>X</mixed-citation></ref></ref-list></back>
    <sub-article><body><p>Letter.</p></body><back><ref-list><ref id="s"/></ref-list></back></sub-article></article>"""
    (document,) = read_bytes(READER, source.encode())
    assert [(document.sections[s.section].heading, s.text) for s in all_of(document)] == [
        ("", "Body."),
        ("Acknowledgements", "Thanks."),
        ("Proofs", "Appendix text."),
        ("Glossary", "AL antennal lobe"),
    ]
    assert [r.id for r in document.references] == ["r"]


def test_references_of_every_kind(read_bytes: ReadBytes) -> None:
    source = """<article><back><ref-list>
    <ref id="a"><element-citation><person-group person-group-type="author">
      <name><surname>Doe</surname><given-names>J</given-names></name><collab>The Group</collab></person-group>
      <year>2001b</year><article-title>A <italic>title</italic> </article-title><source>Nature</source>
      <pub-id pub-id-type="doi">10.1038/ABC</pub-id><pub-id pub-id-type="pmid">12345</pub-id></element-citation></ref>
    <ref id="b"><nlm-citation>
      <person-group person-group-type="editor"><name><surname>Ed</surname></name></person-group>
      <source>A book</source><publisher-name>Press</publisher-name><year>1999</year>
      <isbn>978-0-306-40615-7</isbn></nlm-citation></ref>
    <ref id="c"><label>3</label><mixed-citation><name><surname>Poe</surname><given-names>E A</given-names></name>
      (<year>2004</year>) <article-title>Other</article-title>. <source>J</source> <comment>doi:
      <ext-link xlink:href="http://dx.doi.org/10.1371/j.x">x</ext-link></comment>
      arXiv:1706.03762</mixed-citation></ref>
    <ref id="d"><mixed-citation>Roe B. Unmarked entry. 2005.</mixed-citation></ref>
    <ref id="e"><citation-alternatives><mixed-citation>raw</mixed-citation>
      <element-citation><article-title>Marked</article-title></element-citation></citation-alternatives></ref>
    </ref-list></back></article>"""
    (document,) = read_bytes(READER, source.encode())
    a, b, c, d, e = document.references
    assert (a.title, a.authors, a.year, a.venue) == ("A title", ("Doe, J", "The Group"), 2001, "Nature")
    assert (a.doi, a.pmid) == ("10.1038/abc", "12345")
    assert (b.title, b.authors, b.year, b.venue, b.isbn) == ("A book", ("Ed",), 1999, "Press", "9780306406157")
    assert (c.title, c.authors, c.year, c.doi, c.arxiv) == ("Other", ("Poe, E A",), 2004, "10.1371/j.x", "1706.03762")
    assert d.text == "Roe B. Unmarked entry. 2005."
    assert d.year == 2005
    assert e.title == "Marked"


def test_citations_without_a_target_are_kept_unlinked(article: Article) -> None:
    document = article(
        '<p>See <xref ref-type="bibr">Doe</xref> and <xref rid="B2">2</xref> not <xref rid="f">f</xref>.</p>'
    )
    assert _cited(document) == [("Doe", ()), ("2", ("B2",))]
    assert document.warnings == ("1 citation marker could not be linked to a reference",)


@pytest.mark.parametrize("kind", ["ref", "other", "fn", "Bibr", ""])
def test_a_link_into_the_reference_list_is_a_citation_whatever_it_calls_itself(article: Article, kind: str) -> None:
    document = article(
        f'<p>Cells divide [<xref ref-type="{kind}" rid="B2">2</xref>], see '
        f'<xref ref-type="{kind}" rid="fig1">Figure 1</xref> and <xref ref-type="{kind}" rid="B1 fig1">1</xref>.</p>'
    )
    assert _cited(document) == [("2", ("B2",)), ("1", ("B1",))]
    assert "Figure 1" in document.sentences[0].text


def test_several_articles_in_one_file(read_bytes: ReadBytes) -> None:
    source = (
        b"<pmc-articleset>\n<article><body><p>One.</p></body></article>\n<article><body><p>Two.</p></body></article>"
    )
    documents = read_bytes(READER, source + b"</pmc-articleset>", "set.xml")
    assert [(d.path, d.sentences[0].text, d.sentences[0].file) for d in documents] == [
        ("set.xml:2", "One.", "set.xml"),
        ("set.xml:3", "Two.", "set.xml"),
    ]


@pytest.mark.parametrize("data", [b"", b"<html><body/></html>", b"not xml", b"\xff\xfe", b"<article"])
def test_a_file_without_article_says_so(read_bytes: ReadBytes, data: bytes) -> None:
    (document,) = read_bytes(READER, data)
    assert document.sentences == ()
    assert "paper.xml:1: no JATS article in this file" in document.warnings


def test_a_truncated_article_gives_what_is_there(article: Article, read_bytes: ReadBytes) -> None:
    (document,) = read_bytes(READER, b"<article><body><sec><title>S</title>\n<p>One. Two.</p><p>Thr")
    assert [s.text for s in all_of(document)] == ["One.", "Two.", "Thr"]
    assert document.warnings[0].startswith("paper.xml:2: broken XML")


_LINK = '<xref ref-type="bibr" rid="B1">1</xref>'


@pytest.mark.parametrize(
    "body",
    [
        "<p>" + "word " * scaled(200_000) + "</p>",
        "<p>" + f"<sup>{_LINK}</sup>" * scaled(20_000) + "</p>",
        "<p>" + f"{_LINK}–" * scaled(20_000) + "</p>",
        "<p>" + "<list><list-item><p>x</p>" * 200,
        "<p>" + f"<list><list-item><p>Say {_LINK}.</p></list-item></list>" * 5_000 + "</p>",
        "<p>" + "<fig><caption><p>x</p></caption></fig>" * scaled(20_000) + "</p>",
        "<sec>" * 400 + "<p>x</p>",
        "<sec><title>x</title>" * scaled(20_000),
        "<p>x" + "<fn><p>y" * 200,
    ],
    ids=lambda body: body[:25],
)
def test_nothing_takes_long(article: Article, body: str) -> None:
    began = time.process_time()
    document = article(body)
    assert time.process_time() - began < MAX_SECONDS
    assert document.sections or document.sentences or document.warnings


# Real articles


@pytest.fixture(scope="module")
def articles(data: Path) -> list[tuple[Source, Document]]:
    """Real articles, and what the reader makes of them."""
    raw = [unwrap(Source(DiskFolder(data / "jats-raw"), p.name)) for p in sorted((data / "jats-raw").glob("*.xml.gz"))]
    sources = raw + [Source(DiskFolder(data / "formats"), p.name) for p in sorted((data / "formats").glob("*.nxml"))]
    return [(source, document) for source in sources for document in READER.read(source)]


def test_every_real_article_loads(articles: list[tuple[Source, Document]], misplaced: Misplaced) -> None:
    assert len({source.path for source, _ in articles}) == len(articles) == 32
    for source, document in articles:
        assert READER.sniff(source.head()), source.path
        assert document.warnings == (), source.path
        assert document.paper.title, source.path
        assert document.paper.authors, source.path
        assert document.paper.year, source.path
        assert document.paper.doi, source.path
        assert document.sections, source.path
        assert document.sentences, source.path
        if "13015" not in source.name:  # a correction: it cites nothing
            assert document.references, source.path
            assert any(s.citations for s in all_of(document)), source.path
        assert all(reference.title or reference.text for reference in document.references)
        text, _ = decode(source.data())
        assert misplaced(document, text, _undo) == []


def test_every_link_of_a_real_article_is_a_citation(articles: list[tuple[Source, Document]]) -> None:
    for source, document in articles:
        text = decode(source.data())[0].partition("<sub-article")[0]
        links = [re.findall(r'rid="([^"]*)"', tag) for tag in re.findall(r"<xref[^>]*bibr[^>]*>", text)]
        found = {key for s in all_of(document) for c in s.citations for key in c.keys}
        assert found >= {key for (rids,) in links for key in rids.split()}, source.path
        places = [(c.start, c.end) for s in all_of(document) for c in s.citations]
        at = [m.start() for m in re.finditer(r"<xref[^>]*bibr[^>]*>", text)]
        assert all(any(start <= place < end for start, end in places) for place in at), source.path


def test_both_forms_of_an_article_agree(data: Path, read_bytes: ReadBytes) -> None:
    """The running text of the raw article is what the eLife pack holds."""
    raw = {m[1]: p for p in (data / "jats-raw").glob("*.xml.gz") if (m := re.match(r"elife-(\d+)-v", p.name))}
    pairs = []
    for shard in sorted((data / "elife").glob("elife-[01]*.jsonl.zst")):
        with unwrap(Source(DiskFolder(data / "elife"), shard.name)).open() as stream:
            for line in stream:
                found = re.match(rb'\{"paper_id":"(\d+)"', line)
                if found and (path := raw.get(found[1].decode())):
                    (packed,) = read_bytes(s2orc.READER, line, "pack.jsonl")
                    (published,) = READER.read(unwrap(Source(DiskFolder(path.parent), path.name)))
                    pairs.append((packed, published))
    assert len(pairs) == 8
    for packed, published in pairs:
        theirs = published.sentences
        ours = packed.sentences
        assert abs(len(ours) - len(theirs)) <= 0.01 * len(theirs)
        cited = [sum(len(s.citations) for s in side) for side in (ours, theirs)]
        assert abs(cited[0] - cited[1]) <= 0.01 * cited[1]
        assert [s for s in published.sections if s in packed.sections] == list(packed.sections)
        same = {_INVISIBLE.sub("", s.text) for s in ours} & {s.text for s in theirs}
        assert len(same) >= 0.97 * len({s.text for s in theirs})
        assert packed.paper.title == published.paper.title
        assert (packed.paper.year, packed.paper.doi) == (published.paper.year, published.paper.doi)
        for reference in packed.references:
            other = published.by_id[reference.id]
            assert (reference.title, reference.year) == (other.title, other.year)
            assert reference.venue in (other.venue, "")  # the pack lacks the names of conferences
            assert (reference.doi, reference.pmid) == (other.doi, other.pmid)
            assert reference.authors[:6] == other.authors[:6]
