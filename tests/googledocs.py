"""A draft as Google Docs exports it, in Word and Markdown: typed citations, and those of add-ons, which are links."""

from xml.sax.saxutils import escape

from tests.wordfiles import docx

__all__ = ["google_docx", "google_markdown"]

_REVISION = 'w:rsidR="00000000" w:rsidDel="00000000" w:rsidRPr="00000000"'
_PLAIN = '<w:rtl w:val="0"/>'
_STYLES = "".join(
    f'<w:style w:type="paragraph" w:styleId="{id}"{default}><w:name w:val="{name}"/>{based}<w:pPr>'
    '<w:keepNext w:val="1"/><w:keepLines w:val="1"/><w:pageBreakBefore w:val="0"/></w:pPr></w:style>'
    for id, name, default, based in (
        ("Normal", "normal", ' w:default="1"', ""),
        *(
            (f"Heading{n}", f"heading {n}", "", '<w:basedOn w:val="Normal"/><w:next w:val="Normal"/>')
            for n in range(1, 7)
        ),
        ("Title", "Title", "", '<w:basedOn w:val="Normal"/><w:next w:val="Normal"/>'),
        ("Subtitle", "Subtitle", "", '<w:basedOn w:val="Normal"/><w:next w:val="Normal"/>'),
    )
)
_PICTURE = (
    '<w:drawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing">'
    '<wp:extent cx="5943600" cy="3962400"/><wp:docPr descr="" id="1" name="image1.png"/></wp:inline></w:drawing>'
)


def _run(text: str, properties: str = "") -> str:
    return f'<w:r {_REVISION}><w:rPr>{properties}{_PLAIN}</w:rPr><w:t xml:space="preserve">{escape(text)}</w:t></w:r>'


def _paragraph(*content: str, style: str = "", properties: str = "") -> str:
    """A paragraph; empty ones have a run without text, headings a bookmark."""
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    mark = (
        '<w:bookmarkStart w:colFirst="0" w:colLast="0" w:name="_heading=h.x1" w:id="0"/><w:bookmarkEnd w:id="0"/>'
        if style
        else ""
    )
    inner = "".join(part if part.startswith("<w:") else _run(part) for part in content)
    empty = f"<w:r {_REVISION}><w:rPr>{_PLAIN}</w:rPr></w:r>"
    return f'<w:p {_REVISION} w:rsidP="00000000"><w:pPr>{named}{properties}<w:rPr/></w:pPr>{mark}{inner or empty}</w:p>'


def _link(text: str) -> str:
    """A citation of Zotero or Paperpile, which is a link to the manager's site."""
    return f'<w:hyperlink r:id="rId7">{_run(text)}</w:hyperlink>'


def _note(number: int) -> str:
    reference = f'<w:footnoteReference w:customMarkFollows="0" w:id="{number}"/>'
    return f'<w:r {_REVISION}><w:rPr><w:vertAlign w:val="superscript"/></w:rPr>{reference}</w:r>'


def _suggestion(content: str) -> str:
    """What Google Docs puts around a suggestion or a commented text."""
    return (
        '<w:sdt><w:sdtPr><w:id w:val="12"/><w:tag w:val="goog_rdk_0"/></w:sdtPr>'
        f"<w:sdtContent>{content}</w:sdtContent></w:sdt>"
    )


def _table(*rows: tuple[str, ...]) -> str:
    cells = "".join(
        "<w:tr>" + "".join(f"<w:tc><w:tcPr/>{_paragraph(cell)}</w:tc>" for cell in row) + "</w:tr>" for row in rows
    )
    return f"<w:tbl><w:tblPr/>{cells}</w:tbl>"


def google_docx() -> bytes:
    """The draft as a Word document."""
    item = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>'
    suggested = f'<w:ins w:author="Bo Lee" w:id="0" w:date="2024-05-06T07:08:09Z">{_run(" in the dark")}</w:ins>'
    dropped = (
        f'<w:del w:author="Bo Lee" w:id="1" w:date="2024-05-06T07:08:09Z"><w:r {_REVISION}>'
        '<w:delText xml:space="preserve"> never</w:delText></w:r></w:del>'
    )
    body = [
        _paragraph("Why bees sleep at night", style="Title"),
        _paragraph("Jane Doe, University of Ulm"),
        _paragraph("Abstract", style="Heading2"),
        _paragraph("Bees sleep. We show why sleep matters for “forgetful” foragers."),
        _paragraph(),
        _paragraph("1. Introduction", style="Heading1"),
        _paragraph(
            "Honey bees sleep at night ", _link("(Kaiser & Lee, 1995)"),
            ". Sleep-deprived bees dance less precisely (Klein et al., 2010). Smith (2011) found that flies rest for "
            "5 - 8 hours", _suggestion(suggested), _suggestion(dropped), ". This is unclear.", _note(0),
            " Other insects sleep, too.", _note(1),
        ),
        _paragraph(f"<w:r {_REVISION}>{_PICTURE}</w:r>"),
        _paragraph(_run("Figure 1.", "<w:b/>"), " Bees at rest. Photograph from ", _link("(Smith, 2011)"), "."),
        _table(("Species", "Hours of sleep"), ("Apis mellifera", "5–8 (Kaiser & Lee, 1995)"), ("Drosophila", "10")),
        _paragraph("Sleep restores memory.", properties=item),
        _paragraph("It saves energy (Smith, 2011).", properties=item),
        _paragraph("2. Discussion", style="Heading1"),
        _paragraph("Sleep loss impairs memory in many insects. We return to this below."),
        _paragraph("References", style="Heading1"),
        *(_paragraph(entry) for entry in _ENTRIES),
    ]  # fmt: skip
    mark = f'<w:r {_REVISION}><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:footnoteRef/></w:r>'
    notes = "".join(
        f'<w:footnote w:id="{n}">{_paragraph(mark, f" {note}")}</w:footnote>' for n, note in enumerate(_NOTES)
    )
    return docx("".join(body), {"word/footnotes.xml": notes}, styles=_STYLES)


_NOTES = ("See Kaiser & Lee (1995) for a review.", "Flies rest as well (Smith, 2011).")
_ENTRIES = (
    "Kaiser, W., & Lee, B. (1995). Busy bees need rest, too. Journal of Comparative Physiology A, 176(5), 565–584. "
    "https://doi.org/10.1007/bf00190234",
    "Klein, B. A., Klein, A., & Seeley, T. D. (2010). Sleep deprivation impairs precision of waggle dance signaling in "
    "honey bees. PNAS, 107(52), 22705–22709.",
    "Smith, A. (2011). Rest and sleep in insects. Science, 3, 4–5.",
)
_MARKDOWN = r"""# **Why bees sleep at night**

Jane Doe, University of Ulm

## **Abstract** {#abstract}

Bees sleep. We show why sleep matters for “forgetful” foragers.

# **1\. Introduction** {#1.-introduction}

Honey bees sleep at night [(Kaiser & Lee, 1995\)](https://www.zotero.org/google-docs/?Ab12Cd). Sleep\-deprived bees dance less precisely (Klein et al., 2010\)\. Smith (2011\) found that flies rest for 5 \- 8 hours in the dark\. This is unclear.[^1] Other insects sleep, too\.[^2]

![][image1]

**Figure 1\.** Bees at rest. Photograph from [(Smith, 2011\)](https://paperpile.com/c/Xy12/ab34).

| Species | Hours of sleep |
| :---- | :---- |
| *Apis mellifera* | 5–8 (Kaiser & Lee, 1995\) |
| *Drosophila* | 10 |

* Sleep restores memory.  
* It saves energy (Smith, 2011).

# **2\. Discussion** {#2.-discussion}

Sleep loss impairs memory in many insects\. We return to this below\.

# **References** {#references}

Kaiser, W., & Lee, B. (1995). Busy bees need rest, too. *Journal of Comparative Physiology A*, *176*(5), 565–584. [https://doi.org/10.1007/bf00190234](https://doi.org/10.1007/bf00190234)

Klein, B. A., Klein, A., & Seeley, T. D. (2010). Sleep deprivation impairs precision of waggle dance signaling in honey bees. *PNAS*, *107*(52), 22705–22709\.

Smith, A. (2011). Rest and sleep in insects. *Science*, *3*, 4–5.

[^1]:  See Kaiser & Lee (1995) for a review\.

[^2]:  Flies rest as well (Smith, 2011\)\.

[image1]: <data:image/png;base64,PICTURE>
"""  # noqa: E501, W291


def google_markdown(picture: str = "iVBORw0KGgoAAAANSUhEUgAA" * 40) -> str:
    """The draft in Markdown; its picture, in base64, stands at the end."""
    return _MARKDOWN.replace("PICTURE", picture)
