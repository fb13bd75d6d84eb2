"""Comments and tracked insertions: they stand where they should, and nothing else changes."""

import io
import re
import zipfile
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.thoroughness import examples
from tests.wordfiles import MANAGERS, docx, paragraph, run, word_sources_part
from whycite.documents.model import Reference
from whycite.documents.word import package, read_package
from whycite.documents.word.editing import TextInsertion, WordComment, WordEditor
from whycite.documents.word.package import Package, rewrite_package
from whycite.documents.xmltree import Node, parse_tree, plain_text
from whycite.errors import UserError

DATE = datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC)
WORK = Reference("17", title="Busy bees", authors=("Kaiser, Walter",), year=1995)


def editor(data: bytes) -> WordEditor:
    return WordEditor(data, "draft.docx", DATE)


def text_of(data: bytes) -> str:
    return read_package(Package(data, "draft.docx")).flow.text


def part(data: bytes, name: str = "word/document.xml") -> str:
    return zipfile.ZipFile(io.BytesIO(data)).read(name).decode()


def commented_text(data: bytes) -> dict[str, str]:
    """The text that each comment is on, by the comment's text."""
    comments = parse_tree(part(data, "word/comments.xml"), "").root
    assert comments is not None
    texts: dict[str, str] = {}
    for comment in comments.find_all("comment"):
        number = comment.attributes["id"]
        start, end = f'<w:commentRangeStart w:id="{number}"/>', f'<w:commentRangeEnd w:id="{number}"/>'
        inside = part(data).partition(start)[2].partition(end)[0]
        assert part(data).count(start) == part(data).count(end) == 1
        assert part(data).count(f'<w:commentReference w:id="{number}"/>') == 1
        texts[plain_text(comment)] = re.sub(r"<w:instrText.*?</w:instrText>|<[^>]*>", "", inside)
    return texts


def without_insertions(xml: str) -> str:
    return re.sub(r'<w:ins w:id="\d+" w:author="whycite".*?</w:ins>', "", xml)


@pytest.fixture
def draft() -> bytes:
    bold = run("sleep. They", '<w:b/><w:color w:val="FF0000"/>')
    return docx(paragraph("Bees ", bold, " rest & fly.") + paragraph("Flies do not."))


def test_a_comment_is_anchored_at_its_words_and_runs_keep_their_formatting(draft: bytes) -> None:
    word = editor(draft)
    assert word.text == "Bees sleep. They rest & fly.\nFlies do not.\n"
    assert word.add_comment(WordComment(0, 11, "Needs a citation."))
    assert word.add_comment(WordComment(12, 28, "This too.\nSee <it>."))
    written = word.result()
    assert commented_text(written) == {"Needs a citation.": "Bees sleep.", "This too.See <it>.": "They rest &amp; fly."}
    assert text_of(written) == word.text
    assert part(written).count('<w:rPr><w:b/><w:color w:val="FF0000"/></w:rPr>') == 3
    assert 'w:author="whycite" w:date="2026-05-04T03:02:01Z"' in part(written, "word/comments.xml")


def test_a_new_entry_leaves_the_end_of_a_paragraph_to_whoever_inserted_it() -> None:
    theirs = '<w:ins w:id="7" w:author="Doe" w:date="2026-01-01T00:00:00Z"/>'
    word = editor(docx(paragraph("Doe (2001).", properties=f"<w:rPr>{theirs}<w:b/></w:rPr>") + paragraph("After.")))
    entries = word.flow.paragraphs[0]
    assert word.append_paragraphs(entries, ["Kaiser (1995).", "Roe (1999)."])
    root = parse_tree(part(word.result()), "").root
    assert root is not None
    marks = [
        [(mark.tag, mark.attributes["author"]) for mark in end.children if isinstance(mark, Node) and mark.tag != "b"]
        for paragraph_node in root.descend("p")
        if (end := paragraph_node.find("pPr", "rPr")) is not None
    ]
    assert marks == [[("ins", "whycite")], [("ins", "whycite")], [("ins", "Doe")]]
    numbers = [node.attributes["id"] for node in root.descend("ins")]
    assert len(numbers) == len(set(numbers))


def test_no_number_of_a_change_is_used_twice() -> None:
    formatted = '<w:rPrChange w:id="12" w:author="Doe"><w:rPr/></w:rPrChange>'
    inserted = f'<w:ins w:id="40" w:author="Doe">{run("See there.")}</w:ins>'
    noted = f'<w:footnote w:id="2">{paragraph(inserted)}</w:footnote>'
    body = paragraph(run("Bees rest", formatted), '<w:r><w:footnoteReference w:id="2"/></w:r>', run("."))
    word = editor(docx(body, {"word/footnotes.xml": noted}))
    assert word.insert(TextInsertion(9, "(Kaiser, 1995)", lead=" "))
    assert re.findall(r'<w:ins w:id="(\d+)" w:author="whycite"', part(word.result())) == ["41"]


def test_parts_that_are_not_written_to_keep_their_bytes(draft: bytes) -> None:
    word = editor(draft)
    word.add_comment(WordComment(0, 11, "Needs a citation."))
    old, new = zipfile.ZipFile(io.BytesIO(draft)), zipfile.ZipFile(io.BytesIO(word.result()))
    changed = {"word/document.xml", "word/_rels/document.xml.rels", "[Content_Types].xml"}
    assert set(new.namelist()) == {*old.namelist(), "word/comments.xml"}
    assert [name for name in old.namelist() if old.read(name) != new.read(name) and name not in changed] == []
    assert editor(draft).result()[:4] == b"PK\x03\x04"


def test_a_second_run_adds_no_comment_twice_and_keeps_those_of_others(draft: bytes) -> None:
    word = editor(draft)
    word.add_comment(WordComment(0, 11, "Needs a citation."))
    written = word.result()
    again = editor(written)
    assert not again.add_comment(WordComment(0, 11, "Needs a citation."))
    assert again.add_comment(WordComment(29, 42, "Needs a citation."))
    assert part(again.result(), "word/comments.xml").count("<w:comment ") == 2


def test_an_insertion_is_a_change_by_whycite_and_looks_like_its_neighbours(draft: bytes) -> None:
    word = editor(draft)
    assert word.insert(TextInsertion(10, " (Doe, 2010)"))
    assert word.insert(TextInsertion(27, "(Roe, 2011)", " ADDIN ZOTERO_ITEM CSL_CITATION {} ", " "))
    written = word.result()
    assert text_of(written) == "Bees sleep (Doe, 2010). They rest & fly (Roe, 2011).\nFlies do not.\n"
    assert text_of(_with(written, without_insertions(part(written)))) == word.text
    inserted = re.findall(r'<w:ins w:id="\d+" w:author="whycite".*?</w:ins>', part(written))
    assert '<w:b/><w:color w:val="FF0000"/>' in inserted[0]
    assert "ADDIN ZOTERO_ITEM" in inserted[1]


def test_an_insertion_inside_somebody_elses_change_ends_that_change_first() -> None:
    data = docx(paragraph("A ", '<w:ins w:id="3" w:author="Jane"><w:r><w:t>long day.</w:t></w:r></w:ins>'))
    word = editor(data)
    word.insert(TextInsertion(6, " (X)"))
    xml = part(word.result())
    assert text_of(word.result()) == "A long (X) day.\n"
    assert xml.index("</w:ins>") < xml.index('w:author="whycite"')
    assert re.findall(r'<w:ins w:id="(\d+)" w:author="(\w+)"', xml) == [
        ("3", "Jane"),
        ("5", "whycite"),
        ("4", "Jane"),
    ]
    assert not parse_tree(xml, "").warnings


def test_what_stands_inside_a_change_ends_and_goes_on_with_it() -> None:
    smart = '<w:smartTag w:element="x"><w:r><w:t>Bees sleep well.</w:t></w:r></w:smartTag>'
    data = docx(paragraph(f'<w:ins w:id="3" w:author="Jane">{smart}</w:ins>'))
    word = editor(data)
    assert word.insert(TextInsertion(10, " (X)"))
    xml = part(word.result())
    assert not parse_tree(xml, "").warnings
    assert text_of(word.result()) == "Bees sleep (X) well.\n"
    assert xml.count('<w:smartTag w:element="x">') == xml.count("</w:smartTag>") == 2


def test_nothing_is_written_that_could_not_be_opened_again(monkeypatch: pytest.MonkeyPatch, draft: bytes) -> None:
    word = editor(draft)
    word.insert(TextInsertion(4, " (X)"))
    monkeypatch.setattr("whycite.documents.word.editing._PartEdit.result", lambda self: self.text + "</w:p>")
    with pytest.raises(UserError, match="cannot be changed safely, so nothing is written"):
        word.result()


def test_new_paragraphs_follow_the_last_one_and_go_when_they_are_rejected() -> None:
    data = docx(paragraph("Smith 2010.", style="Bibliography"))
    word = editor(data)
    assert word.append_paragraphs(word.flow.paragraphs[0], ["Doe 2011.", "Roe 2012."])
    xml = part(word.result())
    assert text_of(word.result()) == "Smith 2010.\nDoe 2011.\nRoe 2012.\n"
    assert xml.count('<w:pStyle w:val="Bibliography"/>') == 3
    assert xml.count("<w:rPr><w:ins ") == 2  # the ends of the first two
    assert not parse_tree(xml, "").warnings


@pytest.mark.parametrize("manager", MANAGERS)
def test_fields_are_not_cut(manager: str) -> None:
    cited = MANAGERS[manager]([WORK], "(Kaiser, 1995)")
    data = docx(paragraph(cited, " said so. So it is ", cited), word_sources_part([WORK]))
    word = editor(data)
    assert word.add_comment(WordComment(0, 23, "First."))
    assert word.add_comment(WordComment(24, len(word.text) - 1, "Second."))
    assert word.insert(TextInsertion(len(word.text) - 1, " (X)"))
    written = word.result()
    assert cited in part(written).partition("First")[0]
    assert part(written).count(cited) == 2
    assert text_of(written) == word.text.rstrip("\n") + " (X)\n"


def test_a_comment_on_a_note_is_at_its_mark() -> None:
    note = f'<w:footnote w:id="2">{paragraph("It is so.")}</w:footnote>'
    mark = '<w:r><w:footnoteReference w:id="2"/></w:r>'
    word = editor(docx(paragraph("Bees sleep.", mark, " Yes."), {"word/footnotes.xml": note}))
    assert word.add_comment(WordComment(word.text.index("It is"), len(word.text) - 1, "Needs one."))
    assert commented_text(word.result()) == {"Needs one.": "."}
    assert not word.insert(TextInsertion(len(word.text) - 2, " (X)"))


def test_a_strict_document_gets_a_strict_relation() -> None:
    strict = "http://purl.oclc.org/ooxml"
    data = docx(paragraph("Bees rest."))
    parts = {}
    for name in ("_rels/.rels", "word/_rels/document.xml.rels", "word/document.xml", "word/styles.xml"):
        text = part(data, name).replace(
            "http://schemas.openxmlformats.org/wordprocessingml/2006", f"{strict}/wordprocessingml"
        )
        text = text.replace("http://schemas.openxmlformats.org/officeDocument/2006", f"{strict}/officeDocument")
        parts[name] = text.encode()
    draft = editor(rewrite_package(data, parts))
    assert draft.text == "Bees rest.\n"
    assert draft.add_comment(WordComment(0, 10, "Needs a citation."))
    relations = part(draft.result(), "word/_rels/document.xml.rels")
    assert f'Type="{strict}/officeDocument/relationships/comments"' in relations
    assert not editor(draft.result()).add_comment(WordComment(0, 10, "Needs a citation."))


def test_an_empty_list_of_comments_with_many_names_is_filled() -> None:
    names = " ".join(f'xmlns:n{n}="http://example.org/names-of-one-more-extension-of-word/{n}"' for n in range(80))
    space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    relation = '<Relationship Id="c" Type="http://x/relationships/comments" Target="comments.xml"/></Relationships>'
    data = docx(paragraph("Bees rest."), {"word/comments.xml": f"<w:comments {names} {space}/>"})
    relations = part(data, "word/_rels/document.xml.rels").replace("</Relationships>", relation)
    draft = editor(rewrite_package(data, {"word/_rels/document.xml.rels": relations.encode()}))
    assert draft.add_comment(WordComment(0, 10, "Needs a citation."))
    assert "Needs a citation." in part(draft.result(), "word/comments.xml")


def test_a_damaged_file_is_not_written_to() -> None:
    whole = docx(paragraph("Bees sleep.") * 20)
    with pytest.raises(UserError, match="nothing is written"):
        editor(_with(whole, part(whole)[:-40]))


_TEXTS = st.text(st.sampled_from("ab &<\té "), min_size=1, max_size=8)
_RUNS = st.lists(st.tuples(_TEXTS, st.sampled_from(["", "<w:b/>", "<w:i/>"]), st.booleans()), min_size=1, max_size=5)


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(_RUNS, min_size=1, max_size=4), st.data())
def test_comments_and_insertions_anywhere(content: list[Any], data: Any) -> None:
    body = "".join(
        paragraph(*(run(text, style).replace(' xml:space="preserve"', "" if bare else ' xml:space="preserve"')
                    for text, style, bare in runs))
        for runs in content
    )  # fmt: skip
    whole = docx(body)
    word = editor(whole)
    lines = [line for line in word.flow.paragraphs if line.end > line.start]
    edits = data.draw(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 40), st.integers(0, 40)), max_size=5))
    expected = {}
    inserted: dict[int, str] = {}
    for count, (index, first, second) in enumerate(edits if lines else ()):
        line = lines[index % len(lines)]
        start, end = sorted(line.start + number % (line.end - line.start + 1) for number in (first, second))
        if start < end:
            assert word.add_comment(WordComment(start, end, f"c{count}"))
            expected[f"c{count}"] = word.text[start:end]
        if end > line.start:
            assert word.insert(TextInsertion(end, f"[{count}]"))
            inserted[end] = inserted.get(end, "") + f"[{count}]"
    written = word.result()
    assert not parse_tree(part(written), "").warnings
    assert text_of(_with(written, without_insertions(part(written)))) == word.text
    pieces = [sign + inserted.get(offset + 1, "") for offset, sign in enumerate(word.text)]
    assert text_of(written) == "".join(pieces)
    if expected:
        plain = _with(written, without_insertions(part(written)))
        for text, words in commented_text(plain).items():
            shown = words.replace("&amp;", "&").replace("&lt;", "<").replace("\t", " ")
            assert "".join(shown.split()) == "".join(expected[text].split())


def _with(data: bytes, xml: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            new.writestr(name, xml if name == "word/document.xml" else old.read(name))
    return out.getvalue()


def test_formatting_that_is_not_read_is_kept() -> None:
    body = paragraph(run("Bees sleep at night. ", '<w:sz w:val="24"/><w:lang w:val="en-US"/>'), "They rest.")
    writer = editor(docx(body))
    assert writer.insert(TextInsertion(19, " (Kaiser, 1988)"))
    written = zipfile.ZipFile(io.BytesIO(writer.result())).read("word/document.xml").decode()
    formatting = '<w:rPr><w:sz w:val="24"/><w:lang w:val="en-US"/></w:rPr>'
    assert written.count(formatting) == 3  # before, inside and behind the change
    assert f"<w:r>{formatting}<w:t" in written


def test_a_large_document_is_written_to(monkeypatch: pytest.MonkeyPatch) -> None:
    data = docx(paragraph("Bees sleep. ") * 300)
    monkeypatch.setattr(package, "_MAX_UNPACKED", 40_000)  # of all parts together, though some are read repeatedly
    writer = editor(data)
    assert writer.add_comment(WordComment(0, 11, "Says who?"))
    assert b"Says who?" in zipfile.ZipFile(io.BytesIO(writer.result())).read("word/comments.xml")
