"""Word documents given back: comments on what the check reports, citations as tracked changes."""

import html
import io
import json
import re
import zipfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.documents.word.test_opendocument import odt
from tests.drafts import check_by_words
from tests.googledocs import google_docx, google_markdown
from tests.wordfiles import docx, endnote_field, field, paragraph, run, zotero_field
from whycite import read
from whycite.check.fix.planning import plan
from whycite.check.fix.worddrafts import comment_findings, insert_citations
from whycite.documents.model import Publication, Reference
from whycite.documents.word import text_of
from whycite.errors import UserError

NOW = datetime(2026, 5, 4, tzinfo=UTC)
KAISER = Reference("ABCD", title="Sleep of bees", authors=("Kaiser, Walter",), year=1988, venue="Journal of Rest")
DOE = Reference("DOE1", title="Old work", authors=("Doe, Jane", "Roe, Max"), year=2001)
CLAIM = paragraph("It is known that bees ", run("rest at night", "<w:i/>"), ". Cats do not.")
BODY = paragraph("Introduction", style="Heading1") + CLAIM
TYPED = paragraph("References", style="Heading1") + paragraph("Doe, J., & Roe, M. (2001). Old work. Nature, 1, 2.")


def part(data: bytes, name: str = "word/document.xml") -> str:
    return zipfile.ZipFile(io.BytesIO(data)).read(name).decode()


def write(path: Path, body: str) -> Path:
    path.write_bytes(docx(body))
    return path


def test_a_comment_has_the_finding_and_the_papers(tmp_path: Path) -> None:
    draft = write(tmp_path / "draft.docx", BODY)
    fixed = comment_findings(check_by_words(draft), draft.read_bytes(), NOW)
    assert fixed.comments == 1
    comments = part(fixed.content, "word/comments.xml")
    assert "This sentence needs a citation" in comments
    assert "Sleep of bees, Kaiser (1988), Journal of Rest [kaiser1988, not yet in your bibliography]" in comments
    assert text_of(fixed.content, "") == text_of(draft.read_bytes(), "")


def test_a_paper_that_zotero_knows_becomes_a_live_field(tmp_path: Path) -> None:
    cited = paragraph("Cats sleep ", zotero_field([KAISER], "(Kaiser, 1988)"), ".")
    draft = write(tmp_path / "draft.docx", BODY + cited)
    checked = check_by_words(draft, key="Kaiser1988", known=True)
    fixed = insert_citations(checked, draft.read_bytes(), NOW)
    assert not fixed.refused
    (tmp_path / "fixed.docx").write_bytes(fixed.content)
    after = read(tmp_path / "fixed.docx")
    assert [(s.text, s.cited_keys) for s in after.sentences if "bees" in s.text] == [
        ("It is known that bees rest at night (Kaiser, 1988).", ("Kaiser1988",))
    ]
    assert len(after.references) == 1
    [inserted] = re.findall(r"<w:ins .*?</w:ins>", part(fixed.content))
    code = json.loads(re.search(r"CSL_CITATION (\{.*\}) </w:instrText>", inserted)[1].replace("&amp;", "&"))  # type: ignore[index]
    assert code["citationItems"][0]["uris"] == ["http://zotero.org/users/1/items/0000ABCD"]
    assert code["citationItems"][0]["itemData"]["title"] == "Sleep of bees"


@pytest.mark.parametrize("cited", ["Zotero", "nothing", "typed"])
def test_a_paper_of_the_users_zotero_becomes_a_live_field_unless_the_list_was_typed(tmp_path: Path, cited: str) -> None:
    others = {
        "Zotero": paragraph("Cats sleep ", zotero_field([DOE], "(Doe & Roe, 2001)"), "."),
        "nothing": "",
        "typed": paragraph("Cats sleep (Doe & Roe, 2001).") + TYPED,
    }
    twice = paragraph("Many bees rest by day. It is known that bees dream.")
    draft = write(tmp_path / "draft.docx", BODY + twice + others[cited])
    address = "http://zotero.org/users/7/items/BEES2345"
    fixed = insert_citations(check_by_words(draft, address=address), draft.read_bytes(), NOW)
    assert not fixed.refused
    assert len(fixed.fixed) == 3
    codes = re.findall(r"CSL_CITATION (\{[^<]*?\}) </w:instrText>", part(fixed.content))
    new = [json.loads(html.unescape(code)) for code in codes if address in code]
    if cited == "typed":
        assert not new
        assert text_of(fixed.content, "").endswith("Kaiser, Walter (1988). Sleep of bees. Journal of Rest.\n")
        return
    assert len({code["citationID"] for code in new}) == 3
    [item] = new[0]["citationItems"]
    assert item["uris"] == [address]
    assert item["itemData"]["author"] == [{"family": "Kaiser", "given": "Walter"}]
    (tmp_path / "fixed.docx").write_bytes(fixed.content)
    titles = [work.title for work in read(tmp_path / "fixed.docx").references]
    assert sorted(titles) == sorted(["Sleep of bees", *(["Old work"] if cited == "Zotero" else [])])


def test_a_new_paper_becomes_text_and_joins_the_reference_list(tmp_path: Path) -> None:
    cited = paragraph("Cats sleep (Doe & Roe, 2001).")
    draft = write(tmp_path / "draft.docx", BODY + cited + TYPED)
    fixed = insert_citations(check_by_words(draft), draft.read_bytes(), NOW)
    (tmp_path / "fixed.docx").write_bytes(fixed.content)
    after = read(tmp_path / "fixed.docx")
    [sentence] = [s for s in after.sentences if "bees" in s.text]
    assert sentence.text == "It is known that bees rest at night (Kaiser, 1988)."
    assert [after.by_id[key].title for key in sentence.cited_keys] == ["Sleep of bees"]
    assert part(fixed.content).count('w:author="whycite"') == 3  # the citation, the entry, and the end before it
    assert "<w:i/>" in re.search(r"<w:ins .*?</w:ins>", part(fixed.content))[0]  # type: ignore[index]


def test_a_new_entry_says_where_the_paper_appeared(tmp_path: Path) -> None:
    draft = write(tmp_path / "draft.docx", BODY + paragraph("Cats sleep (Doe & Roe, 2001).") + TYPED)
    checked = check_by_words(draft)
    [(index, finding)] = [(n, f) for n, f in enumerate(checked.findings) if f.recommendations]
    best = finding.recommendations[0]
    published = Publication(volume="163", issue="5", pages="565-584")
    paper = replace(best.recommendation.paper, publication=published, doi="10.1007/bf00603841")
    chosen = replace(best, recommendation=replace(best.recommendation, paper=paper))
    fixed = insert_citations(checked, draft.read_bytes(), NOW, {index: chosen})
    expected = "Journal of Rest, 163(5), 565–584. https://doi.org/10.1007/bf00603841\n"
    assert text_of(fixed.content, "").endswith(f"Kaiser, Walter (1988). Sleep of bees. {expected}")


def test_numbers_go_on_counting(tmp_path: Path) -> None:
    entries = "".join(paragraph(f"[{n}] Doe{n}, J. (200{n}). Work {n}. Nature.") for n in range(1, 4))
    cited = paragraph("Cats sleep [1]. Dogs do [2, 3].")
    draft = write(tmp_path / "draft.docx", BODY + cited + paragraph("References", style="Heading1") + entries)
    fixed = insert_citations(check_by_words(draft), draft.read_bytes(), NOW)
    text = text_of(fixed.content, "")
    assert "bees rest at night [4]." in text
    assert text.endswith("[4] Kaiser, Walter (1988). Sleep of bees. Journal of Rest.\n")


def test_a_new_number_is_never_one_that_the_list_has(tmp_path: Path) -> None:
    entries = "".join(paragraph(f"[{n}] Doe{n}, J. (200{n}). Work {n}. Nature.") for n in (1, 2, 4))
    cited = paragraph("Cats sleep [1]. Dogs do [2, 4].")
    draft = write(tmp_path / "draft.docx", BODY + cited + paragraph("References", style="Heading1") + entries)
    text = text_of(insert_citations(check_by_words(draft), draft.read_bytes(), NOW).content, "")
    assert "bees rest at night [5]." in text
    assert text.endswith("[5] Kaiser, Walter (1988). Sleep of bees. Journal of Rest.\n")


ROE = Reference("7", title="Newer work", authors=("Roe, Max",), year=2003, venue="Nature")
NUMBERED_DOE = replace(DOE, id="6", venue="Nature")
LISTED = ("1.\tDoe J, Roe M. Old work. Nature. 2001.", "2.\tRoe M. Newer work. Nature. 2003.")


def _numbered(shape: str, lists: str = "EndNote Bibliography") -> str:
    """A draft whose citations EndNote made as numbers, with the list that it printed."""

    def cited(work: Reference, number: str) -> str:
        return endnote_field([work], number) if shape == "brackets" else raised(endnote_field([work], number))

    def raised(shown: str) -> str:
        return shown.replace("<w:t ", '<w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:t ')

    first, second = ("[1]", "[2]") if shape == "brackets" else ("1", "2")
    gap = " " if shape == "brackets" else ""
    body = paragraph(f"Cats sleep{gap}", cited(NUMBERED_DOE, first), ".")
    body += paragraph(f"Dogs sleep{gap}", cited(ROE, second), ".")
    entries = "".join(paragraph(entry, style=lists) for entry in LISTED)
    return BODY + body + paragraph("References", style="Heading1") + entries


@pytest.mark.parametrize(("shape", "shown"), [("brackets", "rest at night [3]."), ("raised", "rest at night3.")])
def test_the_numbers_of_a_reference_manager_go_on_counting(tmp_path: Path, shape: str, shown: str) -> None:
    draft = write(tmp_path / "draft.docx", _numbered(shape))
    before = read(draft)
    assert [sentence.cited_keys for sentence in before.sentences if sentence.citations] == [("Doe2001",), ("Roe2003",)]
    fixed = insert_citations(check_by_words(draft), draft.read_bytes(), NOW)
    text = text_of(fixed.content, "")
    assert shown in text
    assert text.endswith("3. Kaiser, Walter (1988). Sleep of bees. Journal of Rest.\n")
    [inserted] = re.findall(r"<w:ins [^>]*><w:r>.*?</w:ins>", part(fixed.content).partition("Cats sleep")[0])
    assert ("superscript" in inserted) == (shape == "raised")
    (tmp_path / "fixed.docx").write_bytes(fixed.content)
    assert [len(s.citations) for s in read(tmp_path / "fixed.docx").sentences if "bees" in s.text] == [1]


def test_a_paper_that_a_numbered_list_has_is_cited_by_its_number(tmp_path: Path) -> None:
    draft = write(tmp_path / "draft.docx", _numbered("brackets"))
    fixed = insert_citations(check_by_words(draft, key="Roe2003", known=True), draft.read_bytes(), NOW)
    text = text_of(fixed.content, "")
    assert "bees rest at night [2]." in text
    assert "3. " not in text


@pytest.mark.parametrize(
    ("others", "shown", "refused"),
    [
        ((), "at night [2].", []),
        (("3.\tPoe E. Rest. Science. 1999.",), "at night.", ["its number in the reference list is not known"]),
    ],
)
def test_a_number_is_that_of_the_whole_title_and_of_no_other_work(
    tmp_path: Path, others: tuple[str, ...], shown: str, refused: list[str]
) -> None:
    works = [replace(NUMBERED_DOE, title="Rest"), replace(ROE, title="Rest of old cats")]
    body = paragraph("Cats sleep ", endnote_field(works, "[1, 2]"), ".") + paragraph("References", style="Heading1")
    entries = ("1.\tRoe M. Rest of old cats. Nature. 2003.", "2.\tDoe J, Roe M. Rest. Nature. 2001.", *others)
    body += "".join(paragraph(entry, style="EndNote Bibliography") for entry in entries)
    draft = write(tmp_path / "draft.docx", BODY + body)
    fixed = insert_citations(check_by_words(draft, key="Doe2001", known=True), draft.read_bytes(), NOW)
    assert shown in text_of(fixed.content, "")
    assert [refusal.reason for refusal in fixed.refused] == refused


def test_a_title_that_begins_with_a_number_is_no_number_of_the_list(tmp_path: Path) -> None:
    body = paragraph("Cats sleep ", endnote_field([NUMBERED_DOE], "[1]"), ".")
    body += paragraph("References", style="Heading1")
    for entry in ("3D images of cats. Doe J, Roe M. Old work. Nature.", "2001. Doe J, Roe M. Old work. Nature."):
        draft = write(tmp_path / "draft.docx", BODY + body + paragraph(entry, style="EndNote Bibliography"))
        text = text_of(insert_citations(check_by_words(draft), draft.read_bytes(), NOW).content, "")
        assert "rest at night [2]." in text


def test_a_paper_whose_number_is_not_known_is_not_cited_by_name_among_numbers(tmp_path: Path) -> None:
    both = paragraph("Cats sleep ", endnote_field([NUMBERED_DOE, ROE], "[1, 2]"), ".")
    draft = write(tmp_path / "draft.docx", BODY + both)
    fixed = insert_citations(check_by_words(draft, key="Roe2003", known=True), draft.read_bytes(), NOW)
    assert [refusal.reason for refusal in fixed.refused] == ["its number in the reference list is not known"]
    assert text_of(fixed.content, "") == text_of(draft.read_bytes(), "")


def test_years_in_parentheses_are_no_numbers(tmp_path: Path) -> None:
    cited = paragraph("Doe and Roe ", endnote_field([NUMBERED_DOE], "(2001)"), " saw cats.")
    draft = write(tmp_path / "draft.docx", BODY + cited + TYPED)
    text = text_of(insert_citations(check_by_words(draft), draft.read_bytes(), NOW).content, "")
    assert "bees rest at night (Kaiser, 1988)." in text


@pytest.mark.parametrize(
    ("body", "key", "reason"),
    [
        (BODY, "kaiser1988", "no reference list"),
        (paragraph("It is known that bees rest ", zotero_field([KAISER], "(1)"), "."), "Kaiser1988", "already cites"),
    ],
)
def test_what_cannot_be_written_is_said(tmp_path: Path, body: str, key: str, reason: str) -> None:
    draft = write(tmp_path / "draft.docx", body)
    data = draft.read_bytes()
    fixed = insert_citations(check_by_words(draft, key=key), data, NOW)
    assert fixed.content == data
    assert [reason in refusal.reason for refusal in fixed.refused] == [True]


def test_nothing_is_inserted_into_a_draft_that_cites_in_footnotes(tmp_path: Path) -> None:
    mark = '<w:r><w:footnoteReference w:id="2"/></w:r>'
    note = paragraph(zotero_field([DOE, KAISER], "Jane Doe and Max Roe, Old Work, 2001."))
    draft = tmp_path / "draft.docx"
    draft.write_bytes(
        docx(BODY + paragraph("Dogs rest.", mark), {"word/footnotes.xml": f'<w:footnote w:id="2">{note}</w:footnote>'})
    )
    fixed = insert_citations(check_by_words(draft, key="Kaiser1988", known=True), draft.read_bytes(), NOW)
    assert [refusal.reason for refusal in fixed.refused] == ["the draft cites in footnotes; add the note by hand"]
    assert fixed.content == draft.read_bytes()


def test_a_file_that_changed_since_is_not_written_to(tmp_path: Path) -> None:
    draft = write(tmp_path / "draft.docx", BODY)
    checked = check_by_words(draft)
    other = docx(BODY.replace("Cats", "Dogs"))
    with pytest.raises(UserError, match="changed since"):
        comment_findings(checked, other, NOW)


def test_a_field_at_the_end_stays_whole(tmp_path: Path) -> None:
    cited = field(" REF _Ref1 \\h ", "Figure 2")
    draft = write(tmp_path / "draft.docx", paragraph("It is known that bees rest, see ", cited, ".") + TYPED)
    fixed = insert_citations(check_by_words(draft), draft.read_bytes(), NOW)
    assert cited in part(fixed.content)
    assert "see Figure 2 (Kaiser, 1988)." in text_of(fixed.content, "")


def test_a_draft_of_google_docs_is_given_back(tmp_path: Path) -> None:
    draft = tmp_path / "draft.docx"
    draft.write_bytes(google_docx())
    checked = check_by_words(draft, lambda s: "in the dark" in s.text or "many insects" in s.text)
    before = text_of(draft.read_bytes(), "")
    commented = comment_findings(checked, draft.read_bytes(), NOW)
    assert commented.comments == 2
    assert text_of(commented.content, "") == before
    fixed = insert_citations(checked, draft.read_bytes(), NOW)
    assert not fixed.refused
    after = text_of(fixed.content, "")
    assert "rest for 5 - 8 hours in the dark (Kaiser, 1988). This is unclear." in after
    assert "impairs memory in many insects (Kaiser, 1988). We return" in after
    assert after.endswith("Science, 3, 4–5.\nKaiser, Walter (1988). Sleep of bees. Journal of Rest.\n")
    shown = re.sub(
        r'<w:ins w:id="\d+" w:author="whycite"[^>]*(?<!/)>.*?</w:ins>', "", part(fixed.content), flags=re.DOTALL
    )
    assert re.sub(r"<[^>]*>", "", shown) == re.sub(r"<[^>]*>", "", part(draft.read_bytes()))


def test_typed_citations_in_markdown_are_left_to_the_author(tmp_path: Path) -> None:
    draft = tmp_path / "draft.md"
    draft.write_text(google_markdown(), "utf-8")
    fix = plan(check_by_words(draft, lambda s: "many insects" in s.text))
    assert not fix.changes
    [refusal] = fix.refused
    assert refusal.reason == "the draft cites by numbers, names or links, not by keys; add the citation by hand"


def test_a_sentence_that_is_a_pending_change_says_so(tmp_path: Path) -> None:
    change = "<text:changed-region text:id='c1'><text:insertion/></text:changed-region>"
    start, end = (f"<text:change-{edge} text:change-id='c1'/>" for edge in ("start", "end"))
    body = (
        f"<text:tracked-changes>{change}</text:tracked-changes><text:h>Introduction</text:h>"
        f"<text:p>{start}It is known that bees rest at night.{end} Cats sleep (Doe, 2001).</text:p>"
        "<text:h>References</text:h><text:p>Doe, J. (2001). Old work. Nature, 1, 2.</text:p>"
    )
    (tmp_path / "draft.odt").write_bytes(odt(body))
    fixed = insert_citations(check_by_words(tmp_path / "draft.odt"), (tmp_path / "draft.odt").read_bytes(), NOW)
    assert [refusal.reason for refusal in fixed.refused] == ["the sentence is itself a pending change; accept it first"]
