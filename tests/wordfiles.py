"""Word documents for tests: packages from WordprocessingML, with citations as each reference manager writes them."""

import base64
import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape, quoteattr

from whycite.documents.model import Reference

__all__ = [
    "MANAGERS",
    "citavi_control",
    "docx",
    "endnote_data_field",
    "endnote_field",
    "field",
    "mendeley_control",
    "mendeley_field",
    "paragraph",
    "run",
    "word_field",
    "word_sources_part",
    "zotero_field",
]

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006"
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_M = f"{_OFFICE}/math"
_KINDS = {"word/footnotes.xml": "footnotes", "word/endnotes.xml": "endnotes", "word/styles.xml": "styles"}
_STYLES = "".join(
    f'<w:style w:type="paragraph" w:styleId="{id}"><w:name w:val="{name}"/>{more}</w:style>'
    for id, name, more in (
        ("Normal", "Normal", ""),
        ("Title", "Title", ""),
        *((f"Heading{n}", f"heading {n}", f'<w:pPr><w:outlineLvl w:val="{n - 1}"/></w:pPr>') for n in (1, 2, 3)),
        ("MyHeading", "My Own", '<w:basedOn w:val="Heading1"/>'),
        ("Caption", "caption", ""),
        ("Bibliography", "Bibliography", ""),
        ("ListParagraph", "List Paragraph", ""),
    )
)


def run(text: str, properties: str = "") -> str:
    """A run of text."""
    formatting = f"<w:rPr>{properties}</w:rPr>" if properties else ""
    return f'<w:r>{formatting}<w:t xml:space="preserve">{escape(text)}</w:t></w:r>'


def paragraph(*content: str, style: str = "", properties: str = "") -> str:
    """A paragraph; text without markup becomes a run."""
    inner = "".join(part if part.startswith("<") else run(part) for part in content)
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    return f"<w:p><w:pPr>{named}{properties}</w:pPr>{inner}</w:p>"


def docx(body: str, parts: Mapping[str, str] | None = None, *, styles: str = _STYLES) -> bytes:
    """A package with this body; `parts` adds others: notes are given without their root element."""
    spaces = f'xmlns:w="{_W}" xmlns:r="{_R}" xmlns:m="{_M}"'
    files = {
        "word/styles.xml": f"<w:styles {spaces}>{styles}</w:styles>",
        "word/document.xml": f"<w:document {spaces}><w:body>{body}<w:sectPr/></w:body></w:document>",
    }
    for name, content in (parts or {}).items():
        root = _KINDS.get(name)
        files[name] = f"<w:{root} {spaces}>{content}</w:{root}>" if root else content
    relations = "".join(
        f'<Relationship Id="rId{n}" Type="{_R}/{_KINDS[name]}" Target="{name.removeprefix("word/")}"/>'
        for n, name in enumerate(files, 1)
        if name in _KINDS
    )
    overrides = "".join(
        f'<Override PartName="/{name}" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.'
        f'{kind}+xml"/>'
        for name, kind in {**_KINDS, "word/document.xml": "document.main"}.items()
        if name in files
    )
    types = (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Default Extension="xml" ContentType="application/xml"/>{overrides}</Types>'
    )
    start = f'<Relationship Id="rId1" Type="{_R}/officeDocument" Target="word/document.xml"/>'
    files = {
        "[Content_Types].xml": types,
        "_rels/.rels": f'<Relationships xmlns="{_RELATIONS}">{start}</Relationships>',
        **files,
        "word/_rels/document.xml.rels": f'<Relationships xmlns="{_RELATIONS}">{relations}</Relationships>',
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in files.items():
            package.writestr(name, f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n{content}')
    return out.getvalue()


def field(instruction: str, shown: str, data: str = "", inner: str = "") -> str:
    """A complex field; `data` goes to its beginning, `inner` into its instruction."""
    stored = f'<w:fldData xml:space="preserve">{data}</w:fldData>' if data else ""
    return (
        f'<w:r><w:fldChar w:fldCharType="begin">{stored}</w:fldChar></w:r>'
        f'<w:r><w:instrText xml:space="preserve">{escape(instruction)}</w:instrText></w:r>{inner}'
        f'<w:r><w:fldChar w:fldCharType="separate"/></w:r>{run(shown)}<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )


def _csl(work: Reference) -> dict[str, object]:
    names = [dict(zip(("family", "given"), name.split(", ", 1), strict=False)) for name in work.authors]
    issued = {"issued": {"date-parts": [[str(work.year)]]}} if work.year else {}
    return {
        "id": work.id, "type": "article-journal", "title": work.title, "container-title": work.venue, "author": names,
        **({"DOI": work.doi} if work.doi else {}), **issued,
    }  # fmt: skip


_SCHEMA = "https://github.com/citation-style-language/schema/raw/master/csl-citation.json"


def zotero_field(works: Sequence[Reference], shown: str) -> str:
    """Zotero: the instruction has the citation in JSON, each item with its address in the library."""
    items = [
        {"id": n, "uris": [f"http://zotero.org/users/1/items/{work.id.upper():0>8}"], "itemData": _csl(work)}
        for n, work in enumerate(works, 1)
    ]
    properties = {"formattedCitation": shown, "plainCitation": shown, "noteIndex": 0}
    citation = {"citationID": "a1b2c3", "properties": properties, "citationItems": items, "schema": _SCHEMA}
    return field(f" ADDIN ZOTERO_ITEM CSL_CITATION {json.dumps(citation)} ", shown)


def mendeley_field(works: Sequence[Reference], shown: str) -> str:
    """Mendeley Desktop: items are counted anew in every citation."""
    items = [
        {
            "id": f"ITEM-{n}",
            "itemData": {**_csl(work), "id": f"ITEM-{n}"},
            "uris": [f"http://www.mendeley.com/documents/?uuid={work.id}"],
        }
        for n, work in enumerate(works, 1)
    ]
    citation = {
        "citationItems": items,
        "mendeley": {"formattedCitation": shown, "plainTextFormattedCitation": shown},
        "properties": {"noteIndex": 0},
        "schema": _SCHEMA,
    }
    return field(f"ADDIN CSL_CITATION {json.dumps(citation)}", shown)


def mendeley_control(works: Sequence[Reference], shown: str) -> str:
    """Mendeley Cite: a content control whose tag has the citation in base64."""
    items = [{"id": work.id, "itemData": _csl(work), "isTemporary": False} for work in works]
    citation = {"citationID": "MENDELEY_CITATION_1", "properties": {"noteIndex": 0}, "citationItems": items}
    packed = base64.b64encode(json.dumps(citation).encode()).decode()
    return (
        f'<w:sdt><w:sdtPr><w:tag w:val="MENDELEY_CITATION_v3_{packed}"/><w:id w:val="-14"/></w:sdtPr>'
        f"<w:sdtContent>{run(shown)}</w:sdtContent></w:sdt>"
    )


def _endnote(works: Sequence[Reference], shown: str) -> str:
    cites = "".join(
        f"<Cite><Author>{escape(work.authors[0].partition(',')[0] if work.authors else '')}</Author>"
        f"<Year>{work.year or ''}</Year><RecNum>{work.id}</RecNum><DisplayText>{escape(shown)}</DisplayText><record>"
        f'<rec-number>{work.id}</rec-number><foreign-keys><key app="EN" db-id="p2s9">{work.id}</key></foreign-keys>'
        '<ref-type name="Journal Article">17</ref-type><contributors><authors>'
        + "".join(f"<author>{escape(name)}</author>" for name in work.authors)
        + f"</authors></contributors><titles><title>{escape(work.title)}</title>"
        f"<secondary-title>{escape(work.venue)}</secondary-title></titles><dates><year>{work.year or ''}</year></dates>"
        f"<electronic-resource-num>{escape(work.doi)}</electronic-resource-num></record></Cite>"
        for work in works
    )
    return f"<EndNote>{cites}</EndNote>"


def endnote_field(works: Sequence[Reference], shown: str) -> str:
    """EndNote: the instruction has the records in XML."""
    return field(f" ADDIN EN.CITE {_endnote(works, shown)}", shown)


def endnote_data_field(works: Sequence[Reference], shown: str) -> str:
    """EndNote, if there is much to store: the records are in base64 beside the field, and once more inside it."""
    data = base64.b64encode(_endnote(works, shown).encode()).decode()
    inner = (
        f'<w:r><w:fldChar w:fldCharType="begin"><w:fldData xml:space="preserve">{data}</w:fldData></w:fldChar></w:r>'
        '<w:r><w:instrText xml:space="preserve"> ADDIN EN.CITE.DATA </w:instrText></w:r>'
        '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )
    return field(" ADDIN EN.CITE ", shown, data, inner)


def citavi_control(works: Sequence[Reference], shown: str) -> str:
    """Citavi: a content control around a field with its own JSON in base64; what occurs twice is referred to."""
    entries = []
    for n, work in enumerate(works):
        people = [dict(zip(("LastName", "FirstName"), name.split(", ", 1), strict=False)) for name in work.authors]
        data = {
            "$id": f"{n}r", "$type": "SwissAcademic.Citavi.Reference", "Id": work.id, "Title": work.title,
            "Authors": [{"$id": f"{n}a{k}", **person} for k, person in enumerate(people)], "Doi": work.doi,
            "Periodical": {"$id": f"{n}p", "Name": work.venue}, "ReferenceType": "JournalArticle",
            "Year": str(work.year or ""),
        }  # fmt: skip
        entries.append({"$id": f"{n}e", "ReferenceId": work.id, "Reference": data})
    placeholder = {"$id": "1", "Entries": entries, "Tag": "CitaviPlaceholder#5f", "Text": shown, "WAIVersion": "6.8"}
    packed = base64.b64encode(json.dumps(placeholder).encode()).decode()
    return (
        '<w:sdt><w:sdtPr><w:alias w:val="To edit, see citavi.com/edit"/><w:tag w:val="CitaviPlaceholder#5f"/></w:sdtPr>'
        f"<w:sdtContent>{field(f'ADDIN CitaviPlaceholder{{{packed}}}', shown)}</w:sdtContent></w:sdt>"
    )


def word_field(works: Sequence[Reference], shown: str) -> str:
    """Word itself: the field names tags, and the sources are in a part of their own."""
    more = "".join(f" \\m {work.id}" for work in works[1:])
    inner = field(f" CITATION {works[0].id} \\l 1033 {more}", shown)
    return f"<w:sdt><w:sdtPr><w:citation/></w:sdtPr><w:sdtContent>{inner}</w:sdtContent></w:sdt>"


def word_sources_part(works: Sequence[Reference]) -> dict[str, str]:
    """The part with Word's own sources."""
    sources = "".join(
        f"<b:Source><b:Tag>{escape(work.id)}</b:Tag><b:SourceType>JournalArticle</b:SourceType><b:Author><b:Author>"
        "<b:NameList>"
        + "".join(
            f"<b:Person><b:Last>{escape(name.partition(', ')[0])}</b:Last>"
            f"<b:First>{escape(name.partition(', ')[2])}</b:First></b:Person>"
            for name in work.authors
        )
        + f"</b:NameList></b:Author></b:Author><b:Title>{escape(work.title)}</b:Title>"
        f"<b:Year>{work.year or ''}</b:Year><b:JournalName>{escape(work.venue)}</b:JournalName>"
        f"<b:DOI>{escape(work.doi)}</b:DOI></b:Source>"
        for work in works
    )
    space = quoteattr(f"{_OFFICE}/bibliography")
    return {"customXml/item1.xml": f"<b:Sources xmlns:b={space}>{sources}</b:Sources>"}


MANAGERS = {
    "Zotero": zotero_field,
    "Mendeley Desktop": mendeley_field,
    "Mendeley Cite": mendeley_control,
    "EndNote": endnote_field,
    "EndNote with data": endnote_data_field,
    "Citavi": citavi_control,
    "Word": word_field,
}
