"""Word documents: what a reader of the document sees, with the citations of every reference manager."""

import base64
import gc
import io
import json
import time
import zipfile
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr, unescape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.thoroughness import examples
from tests.wordfiles import (
    MANAGERS,
    docx,
    endnote_field,
    field,
    paragraph,
    run,
    word_sources_part,
    zotero_field,
)
from whycite.documents import read
from whycite.documents.model import Document, Reference
from whycite.documents.references.reader import normalise_pages
from whycite.documents.sources import MemoryFolder, Source
from whycite.documents.word import READER, flow, read_package
from whycite.documents.word.package import Package
from whycite.errors import UserError

KAISER = Reference(
    "17", title="Busy bees need rest, too", authors=("Kaiser, Walter", "Lee, Bo"), year=1995, venue="J. Comp. Physiol.",
    doi="10.1007/bf00190234",
)  # fmt: skip
SMITH = Reference("18", title="Rest & sleep in insects", authors=("Smith, Ann",), year=2010, venue="Science")


def document(data: bytes) -> Document:
    return next(READER.read(Source(MemoryFolder({"draft.docx": data}, ""), "draft.docx")))


def text_of(data: bytes) -> str:
    return read_package(Package(data, "draft.docx")).flow.text


def sentences(body: str, parts: dict[str, str] | None = None) -> list[str]:
    return [sentence.text for sentence in document(docx(body, parts)).sentences]


@pytest.mark.parametrize("manager", MANAGERS)
def test_citations_of_every_manager_are_linked_to_their_works(manager: str) -> None:
    cite = MANAGERS[manager]
    body = (
        paragraph("Sleep", style="Heading1")
        + paragraph("Bees sleep at night ", cite([KAISER], "(Kaiser & Lee, 1995)"), ".")
        + paragraph("Insects rest ", cite([SMITH, KAISER], "(Kaiser & Lee, 1995; Smith, 2010)"), ". They do.")
    )
    draft = document(docx(body, word_sources_part([KAISER, SMITH])))
    assert [s.text for s in draft.sentences] == [
        "Bees sleep at night (Kaiser & Lee, 1995).",
        "Insects rest (Kaiser & Lee, 1995; Smith, 2010).",
        "They do.",
    ]
    first, second = draft.sentences[0].citations[0].keys, draft.sentences[1].citations[0].keys
    assert len(second) == 2
    assert first == second[1:]
    assert [s.without_citations() for s in draft.sentences] == ["Bees sleep at night.", "Insects rest.", "They do."]
    works = [draft.by_id[key] for key in (*first, second[0])]
    for work, original in zip(works, (KAISER, SMITH), strict=True):
        assert (work.title, work.authors, work.year) == (original.title, original.authors, original.year)
        assert (work.venue, work.doi) == (original.venue, original.doi)
    assert not draft.warnings
    assert len(draft.references) == 2


def test_keys_are_readable_and_those_of_the_manager_are_kept() -> None:
    body = paragraph("One ", zotero_field([KAISER], "(1)"), ". Two ", zotero_field([SMITH], "(2)"), ".")
    assert [r.id for r in document(docx(body)).references] == ["Kaiser1995", "Smith2010"]
    keyed = body.replace('"type"', '"citation-key": "sleep17", "type"', 1)
    assert [r.id for r in document(docx(keyed)).references] == ["sleep17", "Smith2010"]


def test_a_field_without_data_is_linked_by_what_it_shows() -> None:
    instruction = ' ADDIN ZOTERO_ITEM CSL_CITATION {"citationItems":[{"id":4,"uris":["http://zotero.org/x"]}]} '
    body = (
        paragraph("Bees sleep ", field(instruction, "(Kaiser & Lee, 1995)"), ".")
        + paragraph("References", style="Heading1")
        + paragraph("Kaiser, W., & Lee, B. (1995). Busy bees need rest, too. Nature, 1, 2-3.")
    )
    draft = document(docx(body))
    assert [draft.by_id[key].title for key in draft.sentences[0].cited_keys] == ["Busy bees need rest, too"]


def test_much_data_of_endnote_stands_in_several_fields_and_its_numbers_are_links() -> None:
    works = [replace(SMITH, id=str(n), title=f"Rest of {n} insects", doi="") for n in range(2, 40)]
    instruction = endnote_field(works, "").partition(" ADDIN EN.CITE ")[2].partition("</w:instrText>")[0]
    xml = unescape(instruction).encode()
    cuts = (0, len(xml) // 3, len(xml) // 2, len(xml))
    chunks = [base64.b64encode(xml[start:end]).decode() for start, end in pairwise(cuts)]
    inner = "".join(
        f'<w:r><w:fldChar w:fldCharType="begin"><w:fldData>{chunk}\r\n</w:fldData></w:fldChar></w:r><w:r><w:instrText> '
        'ADDIN EN.CITE.DATA </w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>'
        for chunk in chunks
    )
    link = field(' HYPERLINK \\l "_ENREF_2" \\o "Smith, 2010 #2" ', "2-39")
    whole = field(" ADDIN EN.CITE ", "[#]", chunks[-1], inner).replace(run("[#]"), run("[") + link + run("]"))
    draft = document(docx(paragraph("Insects rest ", whole, ".")))
    assert [r.title for r in draft.references] == [work.title for work in works]
    [sentence] = draft.sentences
    assert (sentence.text, len(sentence.cited_keys)) == ("Insects rest [2-39].", len(works))


def test_citations_that_mendeley_cite_keeps_in_a_part_of_its_own() -> None:
    tags = ("MENDELEY_CITATION_ad45ebab-9586", "MENDELEY_CITATION_v3_e30")
    cited = {
        "id": "f2",
        "itemData": {"type": "article-journal", "title": KAISER.title, "author": [{"family": "Kaiser"}]},
    }
    stored = [
        {"citationID": tags[0], "citationItems": [cited]},
        {"citationID": "MENDELEY_CITATION_b", "citationTag": tags[1], "citationItems": [cited]},
    ]
    value = quoteattr(json.dumps(stored))
    property = f'<we:property name="MENDELEY_CITATIONS" value={value}/>'
    part = f"<we:webextension><we:properties>{property}</we:properties></we:webextension>"
    controls = [
        f'<w:sdt><w:sdtPr><w:tag w:val="{tag}"/></w:sdtPr><w:sdtContent>{run("[1]")}</w:sdtContent></w:sdt>'
        for tag in (*tags, "MENDELEY_CITATION_gone")
    ]
    body = "".join(paragraph("Bees sleep ", control, ".") for control in controls)
    draft = document(docx(body, {"word/webextensions/webextension1.xml": part}))
    assert [s.cited_keys for s in draft.sentences] == [("Kaiser",)] * 3  # the last by the number that it shows


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ("(", ")"), ("", "")])
def test_typed_numbers_among_those_of_a_reference_manager(opening: str, closing: str) -> None:
    def number(text: str) -> str:
        raised = '<w:vertAlign w:val="superscript"/>' if not opening else ""
        return run(f"{opening}{text}{closing}", raised)

    def cited(works: list[Reference], text: str) -> str:
        return zotero_field(works, "[#]").replace(run("[#]"), number(text))

    body = (
        paragraph(
            "Bees sleep ", cited([KAISER], "1"), ". Flies rest ", cited([SMITH], "2"), ". They dance in 10 m", run("2")
        )
        + paragraph(
            "Cats purr ", cited([KAISER, SMITH], "1,2"), ". Dogs rest ", number("2"), ". Ants march ", number("3"), "."
        )
        + paragraph("References", style="Heading1")
        + paragraph(f"1. Kaiser W, Lee B. {KAISER.title}. 1995.", style="Bibliography")
        + paragraph(f"2. Smith A. {SMITH.title}. 2010.", style="Bibliography")
        + paragraph("3. Doe J. Ants on the march. 2001.", style="Bibliography")
    )
    keys = [[c.keys for c in s.citations] for s in document(docx(body)).sentences]
    assert keys[:2] == [[("Kaiser1995",)], [("Smith2010",)]]
    assert keys[2] == []
    assert keys[3:] == [[("Kaiser1995", "Smith2010")], [("Smith2010",)], [()]]


def test_a_chapter_in_citavi_has_the_year_of_its_book() -> None:
    def control(placeholder: object) -> str:
        packed = base64.b64encode(json.dumps(placeholder).encode()).decode()
        return f"<w:sdt><w:sdtContent>{field(f'ADDIN CitaviPlaceholder{{{packed}}}', '[1]')}</w:sdtContent></w:sdt>"

    book = {"$id": "21", "Title": "Insects", "Year": "2016", "Editors": [{"$id": "22", "LastName": "Manning"}]}
    pages = "<sp><n>2</n><os>2</os></sp><ep><os>6</os></ep><os>2-6</os>"
    person = {"$id": "9", "FirstName": "Jan", "Particle": "van der", "LastName": "Berg"}
    chapter = {"$id": "3", "Title": "Sleep", "Authors": [person], "ParentReference": book, "PageRange": pages}
    later = {
        "$id": "4",
        "Title": "Rest",
        "Authors": [{"$ref": "9"}],
        "ParentReference": {"$ref": "21"},
        "Year": "[In press]",
    }
    entries = [{"ReferenceId": "a", "Reference": chapter}, {"ReferenceId": "b", "Reference": later}]
    draft = document(docx(paragraph("Bees sleep ", control({"$id": "1", "Entries": entries}), ".")))
    first, second = draft.references
    assert (first.authors, first.year, first.venue) == (("van der Berg, Jan",), 2016, "Insects")
    assert first.publication.pages == normalise_pages("2-6")
    assert (second.authors, second.year, second.venue) == (first.authors, 2016, "Insects")


def test_citations_that_endnote_has_not_formatted() -> None:
    body = paragraph(
        "Bees sleep {Kaiser, 1995 #17}. Flies rest {see \\Smith, 2010 #18@4;Lee, #19}. A set {a, b} of #3."
    )
    entries = paragraph("References", style="Heading1") + paragraph(
        "Kaiser, W. (1995). Busy bees need rest. Nature, 1, 2."
    )
    for draft, keys in ((document(docx(body)), ()), (document(docx(body + entries)), ("ref1",))):
        assert [[c.keys for c in s.citations] for s in draft.sentences] == [[keys], [()], []]
        assert draft.sentences[0].without_citations() == "Bees sleep."
    field_and_text = paragraph(endnote_field([KAISER], "{Kaiser, 1995 #17}"), " found that bees sleep.")
    assert [c.keys for c in document(docx(field_and_text)).sentences[0].citations] == [("Kaiser1995",)]


def test_typed_citations_and_a_typed_list() -> None:
    entries = (
        "Kaiser, W. & Lee, B. Busy bees need rest, too. J. Comp. Physiol. 176, 565-584 (1995).",
        "Smith, A. Rest and sleep in insects. Science 3, 4-5 (2010).",
        "Doe, J. Flies at rest. Nature 1, 1-2 (2001).",
    )
    numbering = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="3"/></w:numPr>'
    raised = '<w:vertAlign w:val="superscript"/>'
    body = (
        paragraph("Bees sleep at night", run("1,2", raised), ". Flies rest", run("3", raised), ". An area of 5 cm")
        + paragraph("References", style="Heading1")
        + "".join(paragraph(entry, properties=numbering) for entry in entries)
    )
    draft = document(docx(body))
    assert [s.cited_keys for s in draft.sentences] == [("1", "2"), ("3",), ()]
    assert [r.year for r in draft.references] == [1995, 2010, 2001]
    styles = "".join(
        f'<w:style w:type="character" w:styleId="{id}"><w:name w:val="{id}"/>{more}</w:style>'
        for id, more in (("cite", f"<w:rPr>{raised}</w:rPr>"), ("own", '<w:basedOn w:val="cite"/>'))
    )
    styled = body.replace(raised, '<w:rStyle w:val="own"/>').replace("Heading1", "1")
    styles += '<w:style w:type="paragraph" w:styleId="1"><w:name w:val="heading 1"/></w:style>'
    assert [s.cited_keys for s in document(docx(styled, styles=styles)).sentences] == [("1", "2"), ("3",), ()]


def test_sections_by_style_by_outline_level_and_by_a_style_of_ones_own() -> None:
    body = (
        paragraph("Why bees sleep", style="Title")
        + paragraph("Jane Doe")
        + paragraph("1. Introduction", style="Heading1")
        + paragraph("Bees sleep.")
        + paragraph("Where", properties='<w:outlineLvl w:val="1"/>')
        + paragraph("In the hive.")
        + paragraph("Discussion", style="MyHeading")
        + paragraph("They do.")
    )
    draft = document(docx(body))
    assert draft.paper.title == "Why bees sleep"
    assert [(s.heading, s.level) for s in draft.sections] == [("Introduction", 1), ("Where", 2), ("Discussion", 1)]
    assert [s.text for s in draft.sentences] == ["Bees sleep.", "In the hive.", "They do."]


def test_headings_without_styles_are_told_by_bold_letters_and_names() -> None:
    body = (
        paragraph(run("Why bees sleep", "<w:b/>"))
        + paragraph("Introduction")
        + paragraph("Bees sleep. We say so.")
        + paragraph(run("How bees were kept", "<w:b/>"))
        + paragraph("In hives.")
        + paragraph(run("Note", "<w:b/>"), " that this goes on.")
    )
    draft = document(docx(body))
    assert draft.paper.title == "Why bees sleep"
    assert [s.heading for s in draft.sections] == ["Introduction", "How bees were kept"]
    assert draft.sentences[-1].text == "Note that this goes on."


def test_tracked_changes_count_as_accepted() -> None:
    body = paragraph(
        "Bees ",
        '<w:del w:id="1" w:author="J"><w:r><w:delText>never </w:delText></w:r></w:del>',
        '<w:ins w:id="2" w:author="J"><w:r><w:t xml:space="preserve">often </w:t></w:r></w:ins>',
        '<w:moveFrom w:id="3"><w:r><w:t>gone</w:t></w:r></w:moveFrom>',
        "sleep",
        '<w:moveTo w:id="4"><w:r><w:t xml:space="preserve"> here</w:t></w:r></w:moveTo>',
        ".",
    )
    deleted_end = paragraph("One ends", properties='<w:rPr><w:del w:id="5" w:author="J"/></w:rPr>')
    assert sentences(body) == ["Bees often sleep here."]
    assert sentences(deleted_end + paragraph(" in another.")) == ["One ends in another."]
    cited = zotero_field([KAISER], "x")
    cells = (
        f'<w:tc><w:tcPr><w:cellDel w:id="6" w:author="J"/></w:tcPr>{paragraph("Gone ", cited)}</w:tc>'
        f"<w:tc>{paragraph('Kept ', cited)}</w:tc>"
    )
    assert sentences(f"<w:tbl><w:tr>{cells}</w:tr></w:tbl>") == ["Kept x"]


def test_a_field_without_an_end_swallows_nothing() -> None:
    code = '<w:r><w:instrText> ADDIN ZOTERO_ITEM CSL_CITATION {"citationItems": []} </w:instrText></w:r>'
    begin = '<w:r><w:fldChar w:fldCharType="begin"/></w:r>'
    draft = document(docx(paragraph("Bees sleep. ", begin, code, "They rest.") + paragraph("And they dance.")))
    assert [s.text for s in draft.sentences] == ["Bees sleep.", "They rest.", "And they dance."]
    assert [warning for warning in draft.warnings if "a field has no end" in warning]


def test_documents_within_a_document_are_missed_aloud() -> None:
    draft = document(docx(paragraph("Before.") + '<w:altChunk r:id="rId9"/>' + paragraph("After.")))
    assert [s.text for s in draft.sentences] == ["Before.", "After."]
    assert [warning for warning in draft.warnings if "another document is embedded in it" in warning]


def test_notes_stand_after_their_paragraph_and_lend_their_citations() -> None:
    note = f'<w:footnote w:id="2">{paragraph("See ", zotero_field([KAISER], "Kaiser 1995"), ".")}</w:footnote>'
    separator = '<w:footnote w:id="0" w:type="separator"><w:p><w:r><w:separator/></w:r></w:p></w:footnote>'
    mark = '<w:r><w:footnoteReference w:id="2"/></w:r>'
    data = docx(
        paragraph("Bees sleep.", mark, " They rest.") + paragraph("Last."), {"word/footnotes.xml": separator + note}
    )
    draft = document(data)
    assert text_of(data) == "Bees sleep. They rest.\nSee Kaiser 1995.\nLast.\n"
    assert [(s.kind, s.text) for s in draft.sentences] == [
        ("prose", "Bees sleep."),
        ("prose", "They rest."),
        ("footnote", "See Kaiser 1995."),
        ("prose", "Last."),
    ]
    assert [s.cited_keys for s in draft.sentences] == [("Kaiser1995",), (), ("Kaiser1995",), ()]


def test_a_note_that_is_a_reference_makes_its_sentence_one_that_cites() -> None:
    notes = {1: "Brian Cowan, The Social Life of Coffee (New Haven: Yale, 2005), 12.", 2: "We say more below."}
    content = "".join(f'<w:footnote w:id="{id}">{paragraph(text)}</w:footnote>' for id, text in notes.items())
    marks = [f'<w:r><w:footnoteReference w:id="{id}"/></w:r>' for id in notes]
    draft = document(
        docx(paragraph("Coffee is old.", marks[0], " So is tea.", marks[1]), {"word/footnotes.xml": content})
    )
    assert [(s.text, s.cites, s.cited_keys) for s in draft.sentences[:2]] == [
        ("Coffee is old.", True, ()),
        ("So is tea.", False, ()),
    ]


def test_tables_captions_lists_equations_and_what_is_not_text() -> None:
    cells = paragraph("Cell"), paragraph("Known ", zotero_field([SMITH], "(Smith, 2010)"))
    table = "<w:tbl><w:tr>" + "".join(f"<w:tc>{cell}</w:tc>" for cell in cells) + "</w:tr></w:tbl>"
    formula, hyphen = "<m:oMath><m:r><m:t>x</m:t></m:r></m:oMath>", "<w:r><w:noBreakHyphen/></w:r>"
    body = (
        paragraph("Bees", style="Heading1")
        + paragraph("Where ", formula, " is the rate, and a", hyphen, "b", run("hidden", "<w:vanish/>"))
        + paragraph(f"<m:oMathPara>{formula}</m:oMathPara>")
        + paragraph("holds.")
        + table
        + paragraph("Figure 2. Bees at night.", style="Caption")
        + paragraph("First item", style="ListParagraph")
        + paragraph("Second item.", style="ListParagraph")
        + paragraph(field(" TOC \\o ", "Contents 1"))
        + paragraph("See ", field(" REF _Ref1 \\h ", "Figure 2"), ".")
        + paragraph(
            f"<w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent>{run('Click here')}</w:sdtContent></w:sdt>"
        )
    )
    draft = document(docx(body))
    assert [(s.kind, s.text) for s in draft.sentences] == [
        ("prose", "Where EQUATION is the rate, and a-b EQUATION holds."),
        ("table", "Known (Smith, 2010)"),
        ("caption", "Figure 2. Bees at night."),
        ("prose", "First item"),
        ("prose", "Second item."),
        ("prose", "See Figure 2."),
    ]
    assert len({s.paragraph for s in draft.sentences if "item" in s.text}) == 1


def test_text_boxes_are_read_once() -> None:
    box = f"<w:txbxContent>{paragraph('In a box.')}</w:txbxContent>"
    drawing = (
        "<w:r><mc:AlternateContent><mc:Choice><w:drawing><wps:txbx>" + box + "</wps:txbx></w:drawing></mc:Choice>"
        "<mc:Fallback><w:pict>" + box + "</w:pict></mc:Fallback></mc:AlternateContent></w:r>"
    )
    assert sentences(paragraph("Before.", drawing, " After.")) == ["Before.", "After.", "In a box."]


def test_citations_in_bookmarks_have_their_data_in_the_properties() -> None:
    code = zotero_field([KAISER], "x").partition("ADDIN ")[2].partition("</w:instrText>")[0].strip()
    half = len(code) // 2
    properties = "".join(
        f'<property name="ZOTERO_BREF_aB3_{n}"><vt:lpwstr>{part}</vt:lpwstr></property>'
        for n, part in ((1, code[:half]), (2, code[half:]))
    )
    properties += '<property name="ZOTERO_BREF_bib_1"><vt:lpwstr>ZOTERO_BIBL {} CSL_BIBLIOGRAPHY</vt:lpwstr></property>'
    custom = f'<Properties xmlns:vt="v">{properties}</Properties>'
    body = paragraph(
        "Bees sleep ",
        '<w:bookmarkStart w:id="7" w:name="ZOTERO_BREF_aB3"/>',
        "(Kaiser)",
        '<w:bookmarkEnd w:id="7"/>',
        ".",
    )
    body += paragraph('<w:bookmarkStart w:id="8" w:name="ZOTERO_BREF_bib"/>', "Kaiser, W. (1995). Busy bees.")
    body += paragraph("Smith, A. (2010). Rest.", '<w:bookmarkEnd w:id="8"/>')
    draft = document(docx(body, {"docProps/custom.xml": custom}))
    assert [(s.text, s.cited_keys) for s in draft.sentences] == [("Bees sleep (Kaiser).", ("Kaiser1995",))]


_WORDS = st.text(st.sampled_from("abc .,&<é\n\t\u2028[1]()"), min_size=1, max_size=12)
_RUNS = st.lists(_WORDS, min_size=1, max_size=5)


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(st.tuples(_RUNS, st.sampled_from(["", "Heading1", "Title", "Caption", "Bibliography"])), max_size=6))
def test_lines_tile_the_text_and_every_sentence_stands_where_it_says(content: list[Any]) -> None:
    body = "".join(paragraph(*(run(words) for words in runs), style=style) for runs, style in content)
    data = docx(body)
    read_flow = read_package(Package(data, "draft.docx")).flow
    assert read_flow.text.count("\n") == len(content)
    assert "".join(read_flow.text[line.start : line.end] + "\n" for line in read_flow.paragraphs) == read_flow.text
    xml = zipfile.ZipFile(io.BytesIO(data)).read("word/document.xml").decode()
    for piece in read_flow.pieces:
        if piece.exact:
            raw, shown = xml[piece.xml_start : piece.xml_end], read_flow.text[piece.start : piece.end]
            assert [a if not a.isspace() else " " for a in raw] == [a if not a.isspace() else " " for a in shown]
    for sentence in document(data).sentences:
        assert read_flow.text[sentence.start : sentence.end].split() == sentence.text.split()


def test_a_document_beside_others_and_in_an_archive(tmp_path: Path) -> None:
    data = docx(paragraph("Words here."))
    (tmp_path / "paper.docx").write_bytes(data)
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("papers/paper.docx", data)
    (tmp_path / "nameless").write_bytes(data)
    for name in ("paper.docx", "all.zip", "nameless"):
        assert [s.text for s in read(tmp_path / name).sentences] == ["Words here."]
    (tmp_path / "old.doc").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    with pytest.raises(UserError, match="old Word file"):
        read(tmp_path / "old.doc")


def _package(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        for name, data in files.items():
            package.writestr(name, data)
    return out.getvalue()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "save it as .docx"),
        (b"PK\x03\x04 broken", "not a readable document"),
        (_package({"other.xml": b"<a/>"}), "not a Word document"),
        (_package({"word/document.xml": b"<w:p>" + bytes(40 << 20)}), "too large"),
    ],
)
def test_what_is_no_document_is_refused(data: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "draft.docx").write_bytes(data)
    with pytest.raises(UserError, match=message):
        read(tmp_path / "draft.docx")


def test_entities_and_outside_parts_are_never_resolved(tmp_path: Path) -> None:
    (tmp_path / "secret.xml").write_text("<w:footnotes><w:footnote w:id='2'><w:p/></w:footnote></w:footnotes>")
    body = paragraph("Words &x; here.").replace("&amp;x;", "&x;")
    with zipfile.ZipFile(io.BytesIO(docx(body))) as package:
        files = {name: package.read(name) for name in package.namelist()}
    declaration = f'<!DOCTYPE w [<!ENTITY x SYSTEM "file://{tmp_path}/secret.xml">]>'.encode()
    files["word/document.xml"] = files["word/document.xml"].replace(b"<w:document", declaration + b"<w:document")
    outside = b'Target="file:///etc/passwd" TargetMode="External"/><Relationship Id="o" Type="x/footnotes" '
    relations = "word/_rels/document.xml.rels"
    added = b'<Relationship Type="x/footnotes" ' + outside + b'Target="../../../secret.xml"/><Relationship Id'
    files[relations] = files[relations].replace(b"<Relationship Id", added, 1)
    draft = document(_package(files))
    assert [s.text for s in draft.sentences] == ["Words here."]
    assert any("unknown entities" in warning for warning in draft.warnings)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["", "x", "2020", "²", "10.1/x"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["raw", "$ref", "x"]), inner, max_size=2)
    ),
    max_leaves=4,
)
_ITEM_FIELDS = ("title", "type", "author", "editor", "issued", "DOI", "note", "URL", "ISBN", "page", "citation-key")
_WORK_FIELDS = ("Authors", "Editors", "Title", "Year", "Doi", "Isbn", "Periodical", "ReferenceType", "Id")


@settings(max_examples=examples(200), deadline=None)
@given(
    st.dictionaries(st.sampled_from(_ITEM_FIELDS), _JSON), st.dictionaries(st.sampled_from(_WORK_FIELDS), _JSON), _JSON
)
def test_a_broken_citation_costs_no_more_than_itself(item: Any, work: Any, any_value: Any) -> None:
    zotero = [{"citationItems": [{"id": any_value, "uris": any_value, "itemData": item}]}, {"citationItems": any_value}]
    citavi = [{"Entries": [{"ReferenceId": any_value, "Reference": work}]}, {"Entries": any_value}]
    fields = [f"ADDIN ZOTERO_ITEM CSL_CITATION {json.dumps(citation)}" for citation in zotero]
    packed = [base64.b64encode(json.dumps(placeholder).encode()).decode() for placeholder in citavi]
    fields += [f"ADDIN CitaviPlaceholder{{{data}}}" for data in packed]
    body = "".join(paragraph("Bees sleep ", field(code, "(x)"), ".") for code in fields)
    assert [s.text for s in document(docx(body)).sentences] == ["Bees sleep (x)."] * 4


def test_numbers_that_are_none_cost_nothing() -> None:
    assert sentences(paragraph("Words here.", properties='<w:outlineLvl w:val="²"/>')) == ["Words here."]


def test_a_package_that_unpacks_to_gigabytes_is_refused() -> None:
    body = paragraph(" " * (33 << 20))
    with pytest.raises(UserError, match="too large"):
        document(docx(body))


def test_a_text_longer_than_any_document_is_read_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flow, "MAX_TEXT", 20)
    draft = document(docx(paragraph("Words here.") + paragraph("And some more.") + paragraph("Never read.")))
    assert [s.text for s in draft.sentences] == ["Words here.", "And some"]
    assert any("the rest is not read" in warning for warning in draft.warnings)


def test_more_paragraphs_than_any_document_has_are_read_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flow, "MAX_PARAGRAPHS", 2)
    draft = document(docx(paragraph("One here.") + paragraph("Two here.") + paragraph("Never read.") * 3))
    assert [s.text for s in draft.sentences] == ["One here.", "Two here."]
    assert any("the rest is not read" in warning for warning in draft.warnings)


def test_a_document_of_200_pages_with_a_run_for_each_word_is_read_whole() -> None:
    formatting = '<w:rFonts w:ascii="Arial"/><w:sz w:val="24"/><w:szCs w:val="24"/><w:lang w:val="en-US"/>'
    runs = run("word ", formatting) * 119 + run("end. ", formatting)
    started = time.process_time()
    draft = document(docx(paragraph(runs) * 833))
    assert (len(draft.sentences), draft.warnings) == (833, ())
    assert time.process_time() - started < 8  # 3 seconds by itself


@pytest.mark.parametrize("inner", ["<w:r><w:t>ab </w:t></w:r>", "<m:oMath/>"])
def test_paragraphs_whose_ends_were_deleted_take_linear_time(inner: str) -> None:
    joined = f"<w:p><w:pPr><w:rPr><w:del/></w:rPr></w:pPr>{inner}</w:p>"

    def seconds(count: int) -> float:
        data = docx(joined * count)
        gc.disable()  # collecting what other tests made takes longer than reading, and their threads do not count
        started = time.thread_time()
        document(data)
        elapsed = time.thread_time() - started
        gc.enable()
        return elapsed

    seconds(100)
    assert min(seconds(8000), seconds(8000)) < 24 * max(seconds(1000), 0.03)


def test_deep_nesting_gives_a_warning() -> None:
    body = "<w:sdt><w:sdtContent>" * 400 + paragraph("Deep.") + "</w:sdtContent></w:sdt>" * 400
    draft = document(docx(paragraph("Words here.") + body))
    assert [s.text for s in draft.sentences] == ["Words here."]
    assert draft.warnings
