"""What is written into Word documents, seen by LibreOffice: it opens them, saves them, and everything is there."""

import io
import re
import shutil
import subprocess
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.wordfiles import MANAGERS, docx, paragraph, run, word_sources_part
from whycite import read
from whycite.documents.model import Reference
from whycite.documents.word import text_of
from whycite.documents.word.editing import TextInsertion, WordComment, WordEditor
from whycite.documents.word.odfediting import OpenDocumentEditor
from whycite.documents.word.opendocument import opendocument_text

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice (soffice) is not installed"),
]
KAISER = Reference("17", title="Busy bees need rest, too", authors=("Kaiser, Walter", "Lee, Bo"), year=1995)
SMITH = Reference("18", title="Rest and sleep in insects", authors=("Smith, Ann",), year=2010)


def convert(path: Path, format: str, folder: Path) -> Path:
    profile = f"-env:UserInstallation=file://{folder}/profile"
    command = ["soffice", profile, "--headless", "--convert-to", format, "--outdir", str(folder), str(path)]
    subprocess.run(command, check=True, capture_output=True, timeout=240)
    return folder / f"{path.stem}.{format}"


def part(data: bytes, name: str) -> str:
    return zipfile.ZipFile(io.BytesIO(data)).read(name).decode()


def test_comments_changes_and_live_fields_survive_libreoffice(tmp_path: Path) -> None:
    body = paragraph("Bees", style="Heading1") + paragraph("Bees ", run("sleep. They", "<w:b/>"), " rest. So it is.")
    body += paragraph("References", style="Heading1") + paragraph("Smith, A. (2010). Rest. Science.")
    editor = WordEditor(docx(body), "draft.docx", datetime(2026, 5, 4, tzinfo=UTC))
    start = editor.text.index("They rest.")
    assert editor.add_comment(WordComment(start, start + 10, "Needs a citation.\nBusy bees need rest, too"))
    code = 'ZOTERO_ITEM CSL_CITATION {"citationID":"x","citationItems":[]}'
    assert editor.insert(TextInsertion(start + 9, "(Kaiser, 1995)", code, " "))
    assert editor.append_paragraphs(editor.flow.paragraphs[-1], ["Kaiser, W. (1995). Busy bees. Nature."])
    (tmp_path / "draft.docx").write_bytes(editor.result())
    saved = convert(tmp_path / "draft.docx", "docx", tmp_path / "saved").read_bytes()
    assert text_of(saved, "") == text_of(editor.result(), "")
    assert "Busy bees need rest, too" in part(saved, "word/comments.xml")
    xml = part(saved, "word/document.xml")
    commented = re.search(r"<w:commentRangeStart.*?<w:commentRangeEnd", xml, re.DOTALL)
    assert commented is not None
    assert re.sub(r"<w:instrText.*?</w:instrText>|<[^>]*>|<w:commentRangeEnd", "", commented[0]) == (
        "They rest (Kaiser, 1995)."
    )
    assert "ADDIN ZOTERO_ITEM" in xml
    rejected = re.sub(r'<w:ins\b[^>]*w:author="whycite"[^>]*(?<!/)>.*?</w:ins>', "", xml, flags=re.DOTALL)
    assert "(Kaiser, 1995)" not in rejected
    assert convert(tmp_path / "draft.docx", "pdf", tmp_path / "saved").stat().st_size > 1000


def test_what_is_written_into_an_odt_survives_libreoffice(tmp_path: Path) -> None:
    body = paragraph("Bees", style="Heading1") + paragraph("Bees ", run("sleep. They", "<w:b/>"), " rest. So it is.")
    body += paragraph("References", style="Heading1") + paragraph("Smith, A. (2010). Rest. Science.")
    (tmp_path / "draft.docx").write_bytes(docx(body))
    draft = convert(tmp_path / "draft.docx", "odt", tmp_path)
    editor = OpenDocumentEditor(draft.read_bytes(), "draft.odt", datetime(2026, 5, 4, tzinfo=UTC))
    start = editor.text.index("They rest.")
    assert editor.add_comment(WordComment(start, start + 10, "Needs a citation.\nBusy bees need rest, too"))
    code = 'ZOTERO_ITEM CSL_CITATION {"citationID":"x","citationItems":[]}'
    assert editor.insert(TextInsertion(start + 9, "(Kaiser, 1995)", code, " "))
    assert editor.append_paragraphs(editor.flow.paragraphs[-1], ["Kaiser, W. (1995). Busy bees. Nature."])
    draft.write_bytes(editor.result())
    saved = convert(draft, "odt", tmp_path / "saved").read_bytes()
    assert opendocument_text(saved, "") == opendocument_text(editor.result(), "")
    xml = part(saved, "content.xml")
    assert xml.count("<dc:creator>whycite</dc:creator>") == 3  # the comment and two changes
    assert 'text:name="ZOTERO_ITEM CSL_CITATION {&quot;citationID' in xml
    commented = re.search(r"</office:annotation>(.*?)<office:annotation-end", xml)
    assert commented is not None
    assert re.sub(r"<[^>]*>", "", commented[1]) == "They rest (Kaiser, 1995)."
    assert 'w:author="whycite"' in part(convert(draft, "docx", tmp_path / "word").read_bytes(), "word/document.xml")


# LibreOffice 7.4 drops what the others store: tags of content controls, data beside fields, sources.
@pytest.mark.parametrize("manager", ["Zotero", "Mendeley Desktop", "EndNote", "Citavi"])
def test_what_libreoffice_saves_reads_as_before(manager: str, tmp_path: Path) -> None:
    cite = MANAGERS[manager]
    body = (
        paragraph("Sleep", style="Heading1")
        + paragraph("Bees sleep at night ", cite([KAISER], "(Kaiser & Lee, 1995)"), ". They rest.")
        + paragraph("Insects rest ", cite([SMITH, KAISER], "(Kaiser & Lee, 1995; Smith, 2010)"), ".")
    )
    (tmp_path / "draft.docx").write_bytes(docx(body, word_sources_part([])))
    before, after = read(tmp_path / "draft.docx"), read(convert(tmp_path / "draft.docx", "docx", tmp_path / "saved"))
    assert [(s.text, s.cited_keys) for s in after.sentences] == [(s.text, s.cited_keys) for s in before.sentences]
    assert [s.heading for s in after.sections] == [s.heading for s in before.sections]
