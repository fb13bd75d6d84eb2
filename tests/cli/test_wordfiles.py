"""Word documents from the command line: read, checked, verified, and given back."""

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from tests.documents.word.test_opendocument import odt
from tests.fakes import word_detector
from tests.wordfiles import docx, paragraph, zotero_field
from whycite.check import pipeline
from whycite.documents.model import Reference
from whycite.documents.word import text_of
from whycite.errors import UserError
from whycite.verify import drafts
from whycite.verify.drafts import CitationVerdict

Run = Callable[..., Result]
KAISER = Reference("K1", title="Busy bees need rest, too", authors=("Kaiser, Walter",), year=1988)
VASWANI = Reference("V1", title="Attention Is All You Need", authors=("Vaswani, Ashish",), year=2017)
BODY = (
    paragraph("How bees rest", style="Title")
    + paragraph("Introduction", style="Heading1")
    + paragraph("It is known that bees rest at night. Bees fly by day.")
    + paragraph("Networks made of attention layers represent text ", zotero_field([VASWANI], "(Vaswani, 2017)"), ".")
    + paragraph("Cats were counted in a village ", zotero_field([KAISER], "(Kaiser, 1988)"), ".")
    + paragraph("References", style="Heading1")
    + paragraph("Vaswani, A. (2017). Attention Is All You Need. NIPS.", style="Bibliography")
)


@pytest.fixture
def draft(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(pipeline, "load_detector", word_detector)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "draft.docx").write_bytes(docx(BODY))
    return tmp_path / "draft.docx"


def told(result: Result) -> str:
    assert isinstance(result.exception, UserError), result.output
    return str(result.exception)


def comments(path: Path) -> str:
    return zipfile.ZipFile(io.BytesIO(path.read_bytes())).read("word/comments.xml").decode()


def test_read_and_references(run: Run, draft: Path) -> None:
    answer = json.loads(run("read", draft, "--json").stdout)
    assert (answer["format"], answer["title"]) == ("docx", "How bees rest")
    text = text_of(draft.read_bytes(), "")
    assert [text[s["start"] : s["end"]] for s in answer["sentences"]] == [s["text"] for s in answer["sentences"]]
    assert [s["citations"][0]["keys"] for s in answer["sentences"][2:]] == [["Vaswani2017"], ["Kaiser1988"]]
    assert "2 references" in run("references", draft, "--no-library").stdout


def test_check_names_paragraphs_as_lines(run: Run, draft: Path, library: Path) -> None:
    result = run("check", draft, "--library", library)
    assert "draft.docx:3:1: " in result.stdout


def test_fix_writes_comments_into_a_copy(run: Run, draft: Path, library: Path) -> None:
    before = draft.read_bytes()
    result = run("check", draft, "--library", library, "--fix")
    assert result.exit_code == 0, result.output
    assert "1 comment added in draft-whycite.docx." in result.stdout
    assert draft.read_bytes() == before
    assert "Busy bees need rest, too" in comments(draft.with_name("draft-whycite.docx"))
    assert "cited for: “" in comments(draft.with_name("draft-whycite.docx"))
    assert "already exists" in told(run("check", draft, "--library", library, "--fix"))


def test_fix_writes_changes_into_the_file_itself(run: Run, draft: Path) -> None:
    before = draft.read_bytes()
    options = ("--no-library", "--fix", "--as", "changes", "--in-place")
    assert "use --yes" in told(run("check", draft, *options))
    assert draft.read_bytes() == before
    result = run("check", draft, *options, "--yes")
    assert "(Kaiser, 1988) [" in result.stdout
    assert "1 citation added in draft.docx." in result.stdout
    answer = json.loads(run("read", draft, "--json").stdout)
    assert answer["sentences"][0]["text"] == "It is known that bees rest at night (Kaiser, 1988)."
    assert answer["sentences"][0]["citations"][0]["keys"] == ["Kaiser1988"]
    assert "nothing to write" in run("check", draft, *options, "--yes").stdout


def test_fix_fails_on_what_is_left(run: Run, draft: Path) -> None:
    options = ("--no-library", "--fix", "--yes", "--fail-on", "needs-citation")
    assert run("check", draft, *options).exit_code == 1  # a comment adds no citation
    assert run("check", draft, *options, "--as", "changes", "--in-place").exit_code == 0
    (draft.parent / "draft.md").write_text("# Introduction\n\nIt is known that bees rest at night.\n", "utf-8")
    assert run("check", draft.parent / "draft.md", *options).exit_code == 1


def test_an_odt_is_given_back_as_well(run: Run, draft: Path) -> None:
    odt_draft = draft.with_suffix(".odt")
    heading = '<text:h text:outline-level="1">{}</text:h>'
    body = "<text:p>It is known that bees rest at night.</text:p><text:p>Cats were counted (Kaiser, 1988).</text:p>"
    entries = "<text:p>Kaiser, W. (1988). Busy bees need rest, too. Nature.</text:p>"
    odt_draft.write_bytes(odt(heading.format("Introduction") + body + heading.format("References") + entries))
    assert "1 comment added in draft-whycite.odt." in run("check", odt_draft, "--no-library", "--fix").stdout
    options = ("--no-library", "--fix", "--as", "changes", "--in-place", "--yes")
    assert "1 citation added in draft.odt." in run("check", odt_draft, *options).stdout
    answer = json.loads(run("read", odt_draft, "--json").stdout)
    assert answer["sentences"][0]["text"] == "It is known that bees rest at night (Kaiser, 1988)."
    assert "writes comments into a .odt" in told(run("verify", draft, "--papers", draft.parent, "--format", "odt"))


def test_what_is_not_certain_is_left_alone_and_counted(run: Run, draft: Path, library: Path) -> None:
    draft.write_bytes(docx(BODY.replace("Busy bees need rest, too", "Houses of stone")))
    result = run("check", draft, "--library", library, "--fix", "--as", "changes")
    assert "1 sentence left unchanged because no paper is certain enough" in result.stdout
    assert not draft.with_name("draft-whycite.docx").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--as", "changes"], "--as can only be used with --fix"),
        (["--in-place"], "--in-place can only be used with --fix"),
        (["--fix", "--in-place", "--out", "x.docx"], "--out names one copy"),
        (["--fix", "--out", "draft.docx"], "is the draft itself"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_options_that_mean_nothing_are_refused(run: Run, draft: Path, options: list[str], message: str) -> None:
    assert message in told(run("check", draft, "--no-library", *options))


def test_only_word_documents_have_copies(run: Run, tmp_path: Path) -> None:
    (tmp_path / "draft.md").write_text("Bees rest.")
    result = run("check", tmp_path / "draft.md", "--fix", "--in-place")
    assert "if the draft is a Word document" in told(result)


@pytest.mark.usefixtures("judged_by_words")
def test_verdicts_are_comments_in_a_copy(
    run: Run, draft: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "papers").mkdir()
    paper = (
        "---\ntitle: Attention Is All You Need\ndate: 2017\n---\n\n# Results\n\nNetworks of attention represent text.\n"
    )
    (tmp_path / "papers" / "attention.md").write_text(paper)
    result = run("verify", draft, "--papers", tmp_path / "papers", "--format", "docx", "--out", tmp_path / "out.docx")
    assert result.exit_code == 0, result.output
    assert "1 comment in out.docx." in result.stdout
    assert "Networks of attention represent text." in comments(tmp_path / "out.docx")
    assert text_of((tmp_path / "out.docx").read_bytes(), "") == text_of(draft.read_bytes(), "")

    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "other.md").write_text("# Cats\n\nCats were counted in a town.\n")
    result = run("verify", draft, "--papers", tmp_path / "none", "--format", "docx", "--out", tmp_path / "no.docx")
    assert "draft.docx: nothing to write; no citation could be checked." in result.stdout
    assert not (tmp_path / "no.docx").exists()

    def change_draft(*_: object, **__: object) -> list[CitationVerdict]:
        draft.write_bytes(docx(paragraph("Somebody saved another text.") + BODY))
        return []

    monkeypatch.setattr(drafts, "verify_draft", change_draft)
    result = run("verify", draft, "--papers", tmp_path / "papers", "--format", "docx", "--out", tmp_path / "new.docx")
    assert "changed since it was read" in told(result)
    assert not (tmp_path / "new.docx").exists()
    (tmp_path / "other.md").write_text("Bees rest.")
    result = run("verify", tmp_path / "other.md", "--papers", tmp_path / "papers", "--format", "docx")
    assert "this is none" in told(result)
