"""OpenDocument text: what a reader of the document sees, with the citations of Zotero and of LibreOffice itself."""

import io
import json
import shutil
import subprocess
import time
import zipfile
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import pytest

from tests.wordfiles import MANAGERS, docx, paragraph
from whycite import read
from whycite.documents.model import Document, Reference
from whycite.documents.sources import MemoryFolder, Source
from whycite.documents.word.opendocument import READER, opendocument_text
from whycite.errors import UserError

ITEM = {"id": 1, "type": "book", "title": "Busy bees", "author": [{"family": "Kaiser"}], "issued": {"raw": "1995"}}
CITATION = {"citationItems": [{"id": 1, "uris": ["http://zotero.org/users/1/items/A"], "itemData": ITEM}]}


def odt(body: str, styles: str = "", parts: dict[str, str] | None = None) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as package:
        for name, content in (parts or {}).items():
            package.writestr(name, content)
        package.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        package.writestr(
            "content.xml",
            "<office:document-content xmlns:office='o' xmlns:text='t' xmlns:style='s' xmlns:table='b' xmlns:draw='d' "
            f"xmlns:math='m'><office:automatic-styles>{styles}</office:automatic-styles><office:body><office:text>{body}"
            "</office:text></office:body></office:document-content>",
        )
    return out.getvalue()


def document(data: bytes) -> Document:
    return next(READER.read(Source(MemoryFolder({"draft.odt": data}, ""), "draft.odt")))


def test_sections_spaces_notes_changes_and_formulas() -> None:
    inner = "<text:note-citation>1</text:note-citation><text:note-body><text:p>See it.</text:p></text:note-body>"
    note = f"<text:note>{inner}</text:note>"
    formula = "<draw:frame><draw:object><math:math/></draw:object></draw:frame>"
    data = odt(
        "<text:tracked-changes><text:p>Gone.</text:p></text:tracked-changes>"
        '<text:p text:style-name="P1">Why bees sleep</text:p>'
        '<text:h text:outline-level="1">Sleep</text:h>'
        f"<text:p>Bees\n   sleep<text:s text:c='2'/>well.{note} Here {formula} holds.</text:p>"
        "<text:list><text:list-item><text:p>One item</text:p></text:list-item></text:list>",
        '<style:style style:name="P1" style:family="paragraph" style:parent-style-name="Title"/>'
        '<style:style style:name="Title" style:family="paragraph"/>',
    )
    draft = document(data)
    text = opendocument_text(data, "")
    assert draft.paper.title == "Why bees sleep"
    assert [s.heading for s in draft.sections] == ["Sleep"]
    assert [(s.kind, s.text) for s in draft.sentences] == [
        ("prose", "Bees sleep well."),
        ("prose", "Here EQUATION holds."),
        ("footnote", "See it."),
        ("prose", "One item"),
    ]
    assert [text[s.start : s.end].split() for s in draft.sentences] == [s.text.split() for s in draft.sentences]


def test_raised_numbers_hidden_text_and_bold_headings() -> None:
    styles = "".join(
        f"<style:style style:name='{name}' style:family='{family}' style:parent-style-name='{parent}'>"
        f"<style:text-properties {format}/></style:style>"
        for name, family, parent, format in (
            ("Mine", "text", "Up", ""),
            ("Up", "text", "", "style:text-position='super 58%'"),
            ("Down", "text", "", "style:text-position='sub 58%'"),
            ("No", "text", "", "text:display='none'"),
            ("Bold", "paragraph", "", "style:font-weight='bold'"),
        )
    )

    def span(style: str, text: str) -> str:
        return f"<text:span text:style-name='{style}'>{text}</text:span>"

    entries = "".join(f"<text:p>{n}. Kaiser, W. ({1990 + n}). Busy bees {n}. Nature.</text:p>" for n in (1, 2, 3))
    body = (
        "<text:p>On the sleep of bees</text:p><text:p text:style-name='Bold'>Sleep</text:p>"
        f"<text:p>Bees sleep{span('Up', '1')} at night{span('Mine', '2,3')}. H{span('Down', '2')}O is wet."
        f"{span('No', 'No.')}<text:placeholder>Click here</text:placeholder></text:p>"
        f"<text:p text:style-name='Bold'>References</text:p>{entries}"
    )
    draft = document(odt(body, styles))
    assert [section.heading for section in draft.sections] == ["Sleep"]
    assert [(s.text, s.cited_keys) for s in draft.sentences] == [
        ("Bees sleep1 at night2,3.", ("1", "2", "3")),
        ("H2O is wet.", ()),
    ]


def test_deleted_text_that_stands_in_its_place_is_not_read() -> None:
    changes = "".join(
        f'<text:changed-region text:id="{id}"><text:{kind}/></text:changed-region>'
        for id, kind in (("ct1", "deletion"), ("ct2", "insertion"))
    )
    name = quoteattr(f"ZOTERO_ITEM CSL_CITATION {json.dumps(CITATION)} RNDabc")
    cited = f"<text:reference-mark-start text:name={name}/>(Kaiser)<text:reference-mark-end text:name={name}/>"
    body = (
        f"<text:tracked-changes>{changes}</text:tracked-changes>"
        f'<text:p>Bees <text:change-start text:change-id="ct1"/><text:span>never {cited}</text:span>'
        '<text:change-end text:change-id="ct1"/><text:change-start text:change-id="ct2"/>often'
        '<text:change-end text:change-id="ct2"/> sleep.</text:p>'
    )
    assert [(s.text, s.citations) for s in document(odt(body)).sentences] == [("Bees often sleep.", ())]


def test_deletions_of_paragraphs_and_those_without_an_end() -> None:
    regions = "".join(
        f'<text:changed-region text:id="{id}"><text:deletion/></text:changed-region>' for id in ("a", "b")
    )
    body = (
        f"<text:tracked-changes>{regions}</text:tracked-changes><text:p>Bees sleep.</text:p>"
        '<text:change-start text:change-id="a"/><text:p>Never.</text:p><text:p>Not once.</text:p>'
        '<text:change-end text:change-id="a"/>'
        '<text:p>They <text:change-start text:change-id="b"/>rest.</text:p><text:p>And dance.</text:p>'
    )
    assert [s.text for s in document(odt(body)).sentences] == ["Bees sleep.", "They rest.", "And dance."]


def test_citations_in_bookmarks_have_their_data_in_the_properties() -> None:
    code = f"ZOTERO_ITEM CSL_CITATION {json.dumps(CITATION)}"
    pieces = {"aB3_1": code[:60], "aB3_2": code[60:], "bib_1": "ZOTERO_BIBL {} CSL_BIBLIOGRAPHY"}
    properties = "".join(
        f"<meta:user-defined meta:name='ZOTERO_BREF_{name}'>{escape(piece)}</meta:user-defined>"
        for name, piece in pieces.items()
    )
    meta = f"<o:document-meta xmlns:o='o' xmlns:meta='m'><o:meta>{properties}</o:meta></o:document-meta>"

    def bookmark(name: str, content: str) -> str:
        mark = f"text:name='ZOTERO_BREF_{name}'"
        return f"<text:bookmark-start {mark}/>{content}<text:bookmark-end {mark}/>"

    listed = bookmark("bib", "Kaiser. Busy bees. 1995.</text:p><text:p>Smith. Rest. 2010.")
    body = f"<text:p>Bees sleep {bookmark('aB3', '(Kaiser, 1995)')}.</text:p><text:p>{listed}</text:p>"
    draft = document(odt(body, parts={"meta.xml": meta}))
    assert [(s.text, s.cited_keys) for s in draft.sentences] == [("Bees sleep (Kaiser, 1995).", ("Kaiser1995",))]


def test_formulas_that_are_used_often_are_looked_at_once() -> None:
    frames = '<draw:frame><draw:object href="./Object 1"/></draw:frame>' * 300
    formula = f"<math xmlns='m'>{'<mi/>' * 50_000}</math>"
    started = time.process_time()
    draft = document(odt(f"<text:p>Here {frames} holds.</text:p>", parts={"Object 1/content.xml": formula}))
    assert draft.sentences[0].text.startswith("Here EQUATION")
    assert time.process_time() - started < 1


def test_citations_of_zotero_and_of_libreoffice() -> None:
    name = quoteattr(f"ZOTERO_ITEM CSL_CITATION {json.dumps(CITATION)} RNDabc")
    mark = (
        '<text:bibliography-mark text:identifier="Jones2019" text:author="Jones, Alice" '
        'text:title="Research Methods" text:year="2019">[Jones2019]</text:bibliography-mark>'
    )
    body = (
        f"<text:p>Bees sleep <text:reference-mark-start text:name={name}/>(Kaiser, 1995)"
        f"<text:reference-mark-end text:name={name}/>. We count {mark}.</text:p>"
        '<text:section text:name="ZOTERO_BIBL {} CSL_BIBLIOGRAPHY RNDx"><text:p>Kaiser. Busy bees. 1995.</text:p>'
        "</text:section>"
    )
    draft = document(odt(body))
    assert [(s.text, s.cited_keys) for s in draft.sentences] == [
        ("Bees sleep (Kaiser, 1995).", ("Kaiser1995",)),
        ("We count [Jones2019].", ("Jones2019",)),
    ]
    assert [(r.title, r.year) for r in draft.references] == [("Busy bees", 1995), ("Research Methods", 2019)]


def test_what_is_no_document_is_refused() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as package:
        package.writestr("other.xml", "<a/>")
    with pytest.raises(UserError, match="not an OpenDocument text"):
        document(out.getvalue())


def test_deep_nesting_gives_a_warning() -> None:
    deep = "<text:section>" * 100 + "<text:p>Deep.</text:p>" + "</text:section>" * 100
    draft = document(odt("<text:p>Words here.</text:p>" + deep))
    assert [s.text for s in draft.sentences] == ["Words here."]
    assert draft.warnings
    deep = f"<text:p>{'<text:span>' * 100}Deep.{'</text:span>' * 100}</text:p>"
    assert document(odt(deep)).warnings


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice (soffice) is not installed")
@pytest.mark.parametrize("manager", ["Zotero", "Mendeley Desktop"])
def test_what_libreoffice_makes_of_a_word_document(manager: str, tmp_path: Path) -> None:
    work = Reference("17", title="Busy bees need rest, too", authors=("Kaiser, Walter",), year=1995)
    cited = MANAGERS[manager]([work], "(Kaiser, 1995)")
    body = paragraph("Sleep", style="Heading1") + paragraph("Bees sleep at night ", cited, ". They rest.")
    (tmp_path / "draft.docx").write_bytes(docx(body))
    profile = f"-env:UserInstallation=file://{tmp_path}/profile"
    command = ["soffice", profile, "--headless", "--convert-to", "odt", "--outdir", str(tmp_path)]
    subprocess.run([*command, str(tmp_path / "draft.docx")], check=True, capture_output=True, timeout=240)
    before, after = read(tmp_path / "draft.docx"), read(tmp_path / "draft.odt")
    assert [(s.text, s.cited_keys) for s in after.sentences] == [(s.text, s.cited_keys) for s in before.sentences]
    assert [s.heading for s in after.sections] == ["Sleep"]
