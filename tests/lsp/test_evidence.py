"""What an editor shows beside the text: evidence in a side bar, cited papers and their passages."""

from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from tests.drafts import BIB
from tests.lsp.editor import Editor, play
from whycite.lsp.features import LspSettings

ENTRY = "@article{rest, title = {How honeybees sleep in the hive}, author = {Doe, Jane}, year = 2023}\n"
CLAIM = "Honeybees that forage never rest at night"


@pytest.fixture
def citing(draft: Path) -> Path:
    """A draft that cites the paper of the library for what it does not say."""
    (draft.parent / "refs.bib").write_text(BIB + ENTRY, "utf-8")
    text = draft.read_text("utf-8").replace("Bees fly by day.", f"{CLAIM} \\cite{{rest}}. Bees fly by day.")
    draft.write_text(text, "utf-8")
    return draft


def test_the_side_bar_shows_papers_with_evidence_and_inserts_one(draft: Path, bees: Path) -> None:
    (draft.parent / "refs.bib").write_text("@misc{x, title = {Unrelated}}\n", "utf-8")

    async def session(editor: Editor) -> None:
        editor.open(draft)
        await editor.diagnostics(draft, 2)
        shown = await editor.evidence(draft, "rest at night")
        assert shown.text == "Many studies have shown that bees rest at night."
        assert "needs a citation" in shown.message
        [paper] = [paper for paper in shown.papers if paper.key == "kaiser1988busy"]
        assert (paper.known, paper.title, paper.match) == (False, "Busy bees need rest, too", "")
        assert paper.quotes[0].text.startswith("Honeybees that forage rest at night")
        assert paper.quotes[0].source == "cited in “How honeybees sleep in the hive”"
        await editor.execute(types.Command("Cite", "whycite.cite", arguments=[_fields(paper.target)]))
        changed = editor.apply(editor.edits[-1])
        assert "night~\\cite{kaiser1988busy}." in changed["main.tex"]
        assert "@article{kaiser1988busy" in changed["refs.bib"]

    play(session, LspSettings(bees, 0.02, 60))


def test_a_sentence_that_needs_no_citation_can_get_one(draft: Path) -> None:
    async def session(editor: Editor) -> None:
        editor.open(draft)
        await editor.diagnostics(draft, 2)
        shown = await editor.evidence(draft, "Bees fly by day")
        assert shown.message == "This sentence needs no citation."
        [paper] = [paper for paper in shown.papers if paper.key == "Kaiser1988"]
        assert (paper.match, paper.quotes) == ("matches by the meaning of its title", [])
        await editor.execute(types.Command("Cite", "whycite.cite", arguments=[_fields(paper.target)]))
        assert "Bees fly by day~\\cite{Kaiser1988}." in editor.apply(editor.edits[-1])["main.tex"]
        assert await editor.evidence(draft, "\\documentclass") is None

    play(session)


def test_a_cited_paper_can_be_seen_as_a_heat_map(citing: Path, bees: Path, judged_by_words: None) -> None:
    async def session(editor: Editor) -> None:
        editor.open(citing)
        await editor.diagnostics(citing, 2)
        [citation] = (await editor.evidence(citing, CLAIM)).citations
        assert (citation.key, citation.title) == ("rest", "How honeybees sleep in the hive")
        page = await editor.execute(types.Command("Heat map", "whycite.heatMap", arguments=[_fields(citation.target)]))
        assert page["title"] == "rest: contradicted"
        assert page["html"].lower().startswith("<!doctype html>")
        assert "Honeybees that forage rest at night" in page["html"]
        [citation] = (await editor.evidence(citing, CLAIM)).citations
        assert citation.verdict == "contradicted"

    play(session, LspSettings(bees, 0.02, 60))


def test_a_verified_citation_leads_to_the_passage(citing: Path, bees: Path, judged_by_words: None) -> None:
    async def session(editor: Editor) -> None:
        editor.open(citing)
        await editor.diagnostics(citing, 2)
        cursor = editor.cursor(citing, "rest}.")
        await editor.execute((await editor.actions(citing, "rest}."))["Verify rest"])
        places = await editor.text_document_definition_async(types.DefinitionParams(**cursor))
        assert isinstance(places, list)
        entry, passage = places
        assert isinstance(entry, types.Location)
        assert isinstance(passage, types.Location)
        assert entry.uri.endswith("refs.bib")
        assert passage.uri.endswith("sleep.md")
        lines = Path(passage.uri.removeprefix("file://")).read_text("utf-8").split("\n")
        assert lines[passage.range.start.line].startswith("Honeybees that forage rest at night")
        await editor.wait_for(
            lambda: any(i.code == "contradicted" for i in getattr(editor.last(citing), "diagnostics", ()))
        )
        last = editor.last(citing)
        assert last
        [verdict] = [item for item in last.diagnostics if item.code == "contradicted"]
        assert verdict.related_information
        assert verdict.related_information[0].location == passage
        await editor.execute((await editor.actions(citing, "rest}."))["Open rest"])
        [document] = editor.shown
        assert (document.uri, document.selection) == (passage.uri, passage.range)

    play(session, LspSettings(bees, 0.02, 60))


def test_an_editor_that_shows_no_documents_gets_the_path(citing: Path, bees: Path) -> None:
    async def session(editor: Editor) -> None:
        editor.open(citing)
        await editor.diagnostics(citing, 2)
        await editor.execute((await editor.actions(citing, "rest}."))["Open rest"])
        await editor.wait_for(lambda: any(message.endswith("sleep.md") for message in editor.messages))

    play(session, LspSettings(bees, 0.02, 60), capabilities=types.ClientCapabilities())


def test_hover_tells_how_the_library_cites_a_paper(draft: Path, bees: Path) -> None:
    draft.write_text(draft.read_text("utf-8").replace("Bees fly by day.", "Bees rest \\cite{Kaiser1988}."), "utf-8")

    async def session(editor: Editor) -> None:
        editor.open(draft)
        await editor.diagnostics(draft, 2)
        hover = await editor.text_document_hover_async(types.HoverParams(**editor.cursor(draft, "Kaiser1988")))
        assert hover
        assert isinstance(hover.contents, types.MarkupContent)
        assert "Cited once by one article of your library" in hover.contents.value
        assert "Honeybees that forage rest at night" in hover.contents.value

    play(session, LspSettings(bees, 0.02, 60))


def test_an_unsaved_bibliography_counts(draft: Path) -> None:
    bibliography = draft.parent / "refs.bib"
    draft.write_text(draft.read_text("utf-8").replace("Bees fly by day.", "Bees fly \\cite{new2020}."), "utf-8")

    def missing(editor: Editor) -> list[types.Diagnostic]:
        return [i for i in getattr(editor.last(draft), "diagnostics", ()) if i.code == "missing-entry"]

    async def session(editor: Editor) -> None:
        editor.open(draft)
        await editor.wait_for(lambda: missing(editor))
        editor.open(bibliography, "bibtex")
        editor.change(bibliography, f"{BIB}@misc{{new2020, title = {{Bees fly}}, year = 2020}}\n")
        await editor.wait_for(lambda: not missing(editor))
        close = types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(bibliography.as_uri()))
        editor.text_document_did_close(close)
        await editor.wait_for(lambda: missing(editor))  # it was not saved

    play(session)


def test_the_editor_is_asked_to_watch_bibliographies_and_settings(draft: Path) -> None:
    async def session(editor: Editor) -> None:
        await editor.wait_for(lambda: editor.registrations)
        [registration] = editor.registrations
        assert registration.method == "workspace/didChangeWatchedFiles"
        options: Any = registration.register_options
        patterns = [watcher["globPattern"] for watcher in options["watchers"]]
        assert "**/.whycite.toml" in patterns

    play(session)


def _fields(target: Any) -> dict[str, Any]:
    """An argument as it came."""
    return {"file": target.file, "start": target.start, "key": target.key}
