"""The report as comments in a Word document."""

import io
import re
import zipfile
from datetime import UTC, datetime
from pathlib import Path

from tests.drafts import disputed_draft
from tests.wordfiles import docx, paragraph
from whycite import documents
from whycite.verify.report.wordcomments import comment_verdicts


def test_passages_that_disagree_are_both_in_the_comment(tmp_path: Path) -> None:
    path = tmp_path / "draft.docx"
    path.write_bytes(docx(paragraph("Bees sleep at night (Kaiser, 1988).")))
    data, count = comment_verdicts(
        documents.read(path), path.read_bytes(), disputed_draft().judged, datetime(2026, 1, 1, tzinfo=UTC)
    )
    assert count == 1
    comments = zipfile.ZipFile(io.BytesIO(data)).read("word/comments.xml").decode()
    assert re.findall("The paper: “([^”]+)”", comments) == ["Bees sleep.", "Bees never sleep."]
    assert re.search(r"<w:t[^>]*>[A-Z][a-z ]+, [a-z ]+ \(\d+%\)\.</w:t>", comments)
