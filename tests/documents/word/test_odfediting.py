"""Comments and tracked insertions in OpenDocument texts: they stand where they should, and nothing else changes."""

import io
import re
import zipfile
from datetime import UTC, datetime

import pytest

from tests.documents.word.test_opendocument import odt
from whycite.documents.word.editing import TextInsertion, WordComment
from whycite.documents.word.odfediting import OpenDocumentEditor
from whycite.documents.word.opendocument import opendocument_text
from whycite.errors import UserError

DATE = datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC)
BODY = (
    '<text:p text:style-name="P1">Bees <text:span text:style-name="T1">sleep. They</text:span> rest &amp; fly.</text:p>'
    "<text:p>Flies do not.</text:p>"
)
OWN = re.compile(r"<text:change-start[^>]*>.*?<text:change-end[^>]*>|<text:tracked-changes.*?</text:tracked-changes>")
COMMENT = re.compile(r"<office:annotation .*?</office:annotation>|<office:annotation-end[^>]*/>")


def editor(body: str = BODY) -> OpenDocumentEditor:
    return OpenDocumentEditor(odt(body), "draft.odt", DATE)


def content(data: bytes) -> str:
    return zipfile.ZipFile(io.BytesIO(data)).read("content.xml").decode()


def test_comments_and_insertions_stand_at_their_words() -> None:
    word = editor()
    assert word.text == "Bees sleep. They rest & fly.\nFlies do not.\n"
    assert word.add_comment(WordComment(0, 11, "Needs a citation.\nSee <it>."))
    assert word.add_comment(WordComment(12, 28, "This too."))
    assert word.insert(TextInsertion(10, "(Kaiser, 1995)", lead=" "))
    written = word.result()
    assert opendocument_text(written, "") == "Bees sleep (Kaiser, 1995). They rest & fly.\nFlies do not.\n"
    xml = content(written)
    first = re.search(r"</office:annotation>(.*?)<office:annotation-end", OWN.sub("", xml))
    assert first is not None
    assert re.sub(r"<[^>]*>", "", first[1]) == "Bees sleep."
    assert "See &lt;it&gt;." in xml
    assert COMMENT.sub("", OWN.sub("", xml)) == content(odt(BODY))
    assert word.add_comment(WordComment(29, 42, "Once."))
    again = OpenDocumentEditor(word.result(), "draft.odt", DATE)
    assert not again.add_comment(WordComment(again.text.index("Flies"), len(again.text) - 1, "Once."))


def test_a_live_citation_is_a_reference_mark_of_zotero() -> None:
    word = editor()
    assert word.insert(TextInsertion(10, "(1)", 'ZOTERO_ITEM CSL_CITATION {"citationItems":[]}', " ", raised=True))
    xml = content(word.result())
    names = re.findall(r"<text:reference-mark-(?:start|end) text:name='(.*?)'", xml)
    assert names[0] == names[1]
    assert re.fullmatch(r'ZOTERO_ITEM CSL_CITATION \{"citationItems":\[\]\} RND\w{10}', names[0])
    assert 'style:text-position="super 58%"' in xml


@pytest.mark.parametrize("numbered", [False, True])
def test_new_entries_are_paragraphs_or_items_like_the_last_one(numbered: bool) -> None:
    entry = '<text:p text:style-name="P7">Doe (2001).</text:p>'
    body = f"<text:list><text:list-item>{entry}</text:list-item></text:list>" if numbered else entry
    word = editor(f"{body}<text:p>After.</text:p>")
    assert word.append_paragraphs(word.flow.paragraphs[0], ["Kaiser (1995).", "Roe & Co (1999)."])
    xml = content(word.result())
    assert opendocument_text(word.result(), "") == "Doe (2001).\nKaiser (1995).\nRoe & Co (1999).\nAfter.\n"
    assert xml.count('text:style-name="P7"') == 3
    assert xml.count("<text:list-item") == (3 if numbered else 0)
    changed = re.search(r"<text:change-start.*<text:change-end[^>]*>", xml)
    assert changed is not None
    assert re.sub(r"<[^>]*>", "", changed[0]) == "Kaiser (1995).Roe &amp; Co (1999)."


def test_what_can_hold_no_change_is_passed_by_or_left_alone() -> None:
    mark = '<text:bibliography-mark text:identifier="K95" text:title="Busy bees">[K95]</text:bibliography-mark>'
    word = editor(f"<text:p>Bees rest {mark}. Cats do.</text:p>")
    assert word.insert(TextInsertion(15, "[2]", lead=" "))
    assert mark in content(word.result())
    inserted = '<text:change-start text:change-id="ct1"/>all <text:change-end text:change-id="ct1"/>'
    word = editor(f"<text:p>Bees {inserted}rest.</text:p>")
    assert not word.insert(TextInsertion(7, "[2]"))
    assert word.insert(TextInsertion(13, "[2]"))
    shape = "<draw:custom-shape><text:p>Bees in a box.</text:p></draw:custom-shape>"
    word = editor(f"<text:p>Before. {shape} After.</text:p>")
    assert not word.insert(TextInsertion(word.text.index("box") + 3, "[2]"))
    note = (
        "<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>See it.</text:p></text:note-body>"
    )
    word = editor(f"<text:p>Bees rest.{note}</text:note> So.</text:p>")
    start = word.text.index("See it.")
    assert not word.insert(TextInsertion(start + 6, "[2]"))
    assert word.add_comment(WordComment(start, start + 7, "Check this."))
    assert content(word.result()).index("<office:annotation ") < content(word.result()).index("<text:note>")


def test_damaged_documents_are_not_written_to() -> None:
    with pytest.raises(UserError, match="damaged"):
        editor("<text:p>Bees")
