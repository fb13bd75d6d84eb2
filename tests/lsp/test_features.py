"""A session in an editor: findings while writing, papers to cite, and what is behind a key."""

import asyncio
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tests.drafts import BIB, STUDIES_TEX
from tests.lsp.editor import Editor, play
from whycite.check.findings import Proposal
from whycite.documents.model import Document, Sentence
from whycite.lsp.features import LspSettings
from whycite.lsp.workbench import Workbench
from whycite.service.engine import Engine

FIRST = "Many studies have shown that bees rest at night."


def _texts(editor: Editor, file: Path, diagnostics: list[types.Diagnostic]) -> list[str]:
    """What diagnostics underline."""
    lines = editor.texts[file].split("\n")
    assert all(item.range.start.line == item.range.end.line for item in diagnostics)
    return [lines[i.range.start.line][i.range.start.character : i.range.end.character] for i in diagnostics]


def test_sentences_that_need_a_citation_are_shown_with_evidence(draft: Path) -> None:
    async def session(editor: Editor) -> None:
        editor.open(draft)
        found = await editor.diagnostics(draft, 2)  # judged, then with papers
        judged = editor.published[draft.as_uri()][0].diagnostics
        assert _texts(editor, draft, list(judged)) == _texts(editor, draft, found)
        assert not any("papers" in item.message or "cite:" in item.message for item in judged)  # not searched yet
        assert _texts(editor, draft, found)[0] == FIRST
        assert len(found) == 3
        assert (found[0].source, found[0].severity) == ("whycite", types.DiagnosticSeverity.Information)
        assert str(found[0].code).startswith("needs-citation")
        assert "Busy bees need rest, too" in found[0].message
        await editor.wait_for(lambda: editor.reports[-1]["kind"] == "end")
        assert [value["kind"] for value in editor.reports][:2] == ["begin", "report"]

    play(session)


def test_a_sentence_is_checked_when_typing_stops(draft: Path) -> None:
    async def session(editor: Editor) -> None:
        editor.open(draft)
        await editor.diagnostics(draft)
        editor.change(
            draft, STUDIES_TEX.replace("Bees fly by day.", "Bees fly by day. Earlier studies showed that bees dance.")
        )
        await editor.wait_for(lambda: len(getattr(editor.last(draft), "diagnostics", ())) == 4)

    play(session, LspSettings(debounce=0.02, idle=0.05))


def test_nothing_is_said_about_the_sentence_that_is_typed_until_it_is_saved(draft: Path) -> None:
    async def session(editor: Editor) -> None:
        editor.open(draft)
        await editor.diagnostics(draft, 2)
        new = "Earlier studies showed that bees dance."
        editor.change(draft, STUDIES_TEX.replace("Bees fly by day.", f"Bees fly by day. {new}"))
        found = await editor.diagnostics(draft)
        assert len(found) == 3
        assert new not in _texts(editor, draft, found)
        editor.save(draft)
        await editor.wait_for(lambda: len(getattr(editor.last(draft), "diagnostics", ())) == 4)
        last = editor.last(draft)
        assert last
        assert new in _texts(editor, draft, list(last.diagnostics))

    play(session, LspSettings(debounce=0.02, idle=30))


def test_citing_a_paper_changes_text_and_bibliography_at_once(draft: Path, tmp_path: Path) -> None:
    async def session(editor: Editor) -> None:
        editor.open(draft)
        editor.change(draft, STUDIES_TEX.replace("bees rest", "bees 🐝 rest"))  # a column is two units wide there
        await editor.diagnostics(draft)
        actions = await editor.actions(draft, "rest at night")
        [title] = [title for title in actions if title.startswith("Cite Kaiser1988")]
        resolved = await editor.code_action_resolve_async(actions[title])
        assert resolved.edit
        changed = editor.apply(resolved.edit)
        assert "bees 🐝 rest at night~\\cite{Kaiser1988}." in changed["main.tex"]
        assert changed.keys() == {"main.tex"}  # its entry is there already

    play(session)


def test_a_paper_of_the_library_brings_its_entry(draft: Path, tmp_path: Path, bees: Path) -> None:
    async def session(editor: Editor) -> None:
        (tmp_path / "refs.bib").write_text("@misc{x, title = {Unrelated}}\n", "utf-8")
        editor.open(draft)
        [first, *_] = await editor.diagnostics(draft, 2)
        assert first.related_information
        assert "Honeybees that forage rest at night" in first.related_information[0].message
        actions = await editor.actions(draft, FIRST)
        [title] = [title for title in actions if title.endswith("(adds it to the bibliography)")][:1]
        resolved = await editor.code_action_resolve_async(actions[title])
        assert resolved.edit
        changed = editor.apply(resolved.edit)
        assert changed["refs.bib"].startswith("@misc{x, title = {Unrelated}}\n\n@article{kaiser1988busy")
        assert "night~\\cite{kaiser1988busy}." in changed["main.tex"]

    play(session, LspSettings(bees, 0.02, 60))


def test_editors_without_resolving_get_the_edits_at_once(draft: Path) -> None:
    async def session(editor: Editor) -> None:
        editor.open(draft)
        await editor.diagnostics(draft, 2)
        actions = await editor.actions(draft, FIRST)
        [edit] = [action.edit for title, action in actions.items() if title.startswith("Cite Kaiser1988")]
        assert edit
        assert edit.changes
        assert [*edit.changes] == [draft.as_uri()]

    play(session, capabilities=types.ClientCapabilities())


def test_a_line_or_a_rule_can_be_ignored(draft: Path) -> None:
    async def session(editor: Editor) -> None:
        editor.open(draft)
        await editor.diagnostics(draft, 2)
        actions = await editor.actions(draft, FIRST)
        rules = [title for title in actions if title.startswith("Ignore the rule")]
        assert len(rules) == 1
        editor.change(draft, editor.apply(actions["Ignore this line"].edit)["main.tex"])
        assert "Bees fly by day. % whycite: ignore\n" in editor.texts[draft]
        assert FIRST not in _texts(editor, draft, await editor.diagnostics(draft))

    play(session)


@pytest.mark.parametrize(
    ("line", "kind", "text"),
    [
        ("Bees rest \\cite{nobody2020}.", "missing-entry", "nobody2020"),
        ("Bees rest \\cite{Bad1999}.", "retracted", "Bad1999"),
    ],
)
def test_keys_without_entry_and_retracted_papers_are_marked(draft: Path, line: str, kind: str, text: str) -> None:
    retracted = "@article{Bad1999, title = {RETRACTED: Bees never rest}, author = {Bad, A.}, year = 1999}\n"
    (draft.parent / "refs.bib").write_text(BIB + retracted, "utf-8")

    async def session(editor: Editor) -> None:
        editor.open(draft)
        editor.change(draft, STUDIES_TEX.replace("Bees fly by day.", line))
        marked = [item for item in await editor.diagnostics(draft) if item.code == kind]
        assert _texts(editor, draft, marked) == [text]

    play(session)


def test_hover_and_definition_of_a_key(draft: Path) -> None:
    async def session(editor: Editor) -> None:
        editor.open(draft)
        await editor.diagnostics(draft, 2)
        hover = await editor.text_document_hover_async(types.HoverParams(**editor.cursor(draft, "Vaswani2017")))
        assert hover
        assert isinstance(hover.contents, types.MarkupContent)
        assert "**Attention Is All You Need**" in hover.contents.value
        assert "Vaswani and Shazeer (2017)" in hover.contents.value
        assert "Cited once in this draft" in hover.contents.value
        places = await editor.text_document_definition_async(
            types.DefinitionParams(**editor.cursor(draft, "Vaswani2017"))
        )
        assert isinstance(places, list)
        [place] = places
        assert isinstance(place, types.Location)
        assert place.uri == (draft.parent / "refs.bib").as_uri()
        assert place.range.start == types.Position(3, len("@article{"))
        assert await editor.text_document_hover_async(types.HoverParams(**editor.cursor(draft, "Bees fly"))) is None

    play(session)


def test_completion_puts_what_the_sentence_means_first(draft: Path) -> None:
    async def session(editor: Editor) -> None:
        editor.open(draft)
        await editor.diagnostics(draft, 2)
        editor.change(draft, STUDIES_TEX.replace("rest at night.", "rest at night \\cite{zzz."))
        answer = await editor.text_document_completion_async(
            types.CompletionParams(**editor.cursor(draft, "\\cite{zzz", after=True))
        )
        assert isinstance(answer, types.CompletionList)
        assert answer.is_incomplete
        best = min(answer.items, key=lambda item: item.sort_text or "")
        assert (best.label, best.filter_text) == ("Kaiser1988", "zzz")
        assert not any("%" in (item.detail or "") for item in answer.items)  # no chances beside an order by others
        assert isinstance(best.text_edit, types.TextEdit)
        assert best.text_edit.range.end.character - best.text_edit.range.start.character == 3
        editor.change(draft, STUDIES_TEX.replace("Bees fly by day.", "Bees fly \\cite{granite"))
        answer = await editor.text_document_completion_async(
            types.CompletionParams(**editor.cursor(draft, "\\cite{granite", after=True))
        )
        assert isinstance(answer, types.CompletionList)
        assert "Doe2019" in [item.label for item in answer.items]  # by its title
        outside = types.CompletionParams(**editor.cursor(draft, "Networks"))
        assert await editor.text_document_completion_async(outside) is None

    play(session)


def test_a_check_leaves_the_models_to_completions(draft: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench, order = Workbench(), []

    def propose(engine: Engine, document: Document, claim: str, place: Sentence | None, n: int) -> list[Proposal]:
        running.set()
        time.sleep(0.2)
        order.append("papers")
        return []

    monkeypatch.setattr(Engine, "propose", propose)
    bench.put(draft, STUDIES_TEX)
    stages = lambda stage, count, total: order.append(stage)  # noqa: E731
    check = bench.check(draft, dict(bench.buffers), threading.Event(), stages, lambda check: None)
    order.clear()
    running = threading.Event()
    completion = threading.Thread(target=bench.propose, args=(check, "Bees rest", None, 1))
    completion.start()
    running.wait()
    bench.check(draft, dict(bench.buffers), threading.Event(), stages, lambda check: None)
    completion.join()
    assert order[0] == "papers"


def test_a_completed_paper_of_the_library_is_added_to_the_bibliography(draft: Path, bees: Path) -> None:
    async def session(editor: Editor) -> None:
        (draft.parent / "refs.bib").write_text("@misc{x, title = {Unrelated}}\n", "utf-8")
        editor.open(draft)
        await editor.diagnostics(draft, 2)
        editor.change(draft, STUDIES_TEX.replace("rest at night.", "rest at night~\\cite{}."))
        answer = await editor.text_document_completion_async(
            types.CompletionParams(**editor.cursor(draft, "\\cite{", after=True))
        )
        assert isinstance(answer, types.CompletionList)
        [item] = [item for item in answer.items if item.label == "kaiser1988busy"]
        assert item.command
        await editor.execute(item.command)
        assert "@article{kaiser1988busy" in editor.apply(editor.edits[-1])["refs.bib"]

    play(session, LspSettings(bees, 0.02, 60))


def test_a_citation_is_verified_when_asked(draft: Path, bees: Path, judged_by_words: None) -> None:
    entry = "@article{rest, title = {How honeybees sleep in the hive}, author = {Doe, Jane}, year = 2023}\n"
    (draft.parent / "refs.bib").write_text(BIB + entry, "utf-8")
    claim = "Honeybees that forage never rest at night"

    async def session(editor: Editor) -> None:
        draft.write_text(STUDIES_TEX.replace("Bees fly by day.", f"{claim} \\cite{{rest}}."), "utf-8")
        editor.open(draft)
        await editor.diagnostics(draft, 2)
        actions = await editor.actions(draft, "rest}.")
        verdict = await editor.execute(actions["Verify rest"])
        assert verdict == "contradicted"
        await editor.wait_for(
            lambda: any(i.code == "contradicted" for i in getattr(editor.last(draft), "diagnostics", ()))
        )
        assert any("rest: contradicted" in message for message in editor.messages)
        hover = await editor.text_document_hover_async(types.HoverParams(**editor.cursor(draft, "rest}.")))
        assert hover
        assert isinstance(hover.contents, types.MarkupContent)
        assert "**contradicted**" in hover.contents.value

    play(session, LspSettings(bees, 0.02, 60))


def test_a_part_is_checked_with_the_draft_it_belongs_to(draft: Path) -> None:
    part = draft.parent / "parts" / "intro.tex"
    part.parent.mkdir()
    part.write_text(f"{FIRST} Bees fly \\cite{{Kaiser1988}}.\n", "utf-8")
    draft.write_text(STUDIES_TEX.replace("Bees fly by day.", "\\input{parts/intro}"), "utf-8")

    async def session(editor: Editor) -> None:
        editor.open(part)
        found = await editor.diagnostics(part, 2)
        assert _texts(editor, part, found) == [FIRST]  # and its key has an entry
        await editor.wait_for(lambda: editor.last(draft))
        document = types.TextDocumentIdentifier(part.as_uri())
        editor.text_document_did_close(types.DidCloseTextDocumentParams(document))
        await editor.wait_for(lambda: not getattr(editor.last(draft), "diagnostics", [1]))
        await editor.wait_for(lambda: not getattr(editor.last(part), "diagnostics", [1]))

    play(session)


def test_settings_of_the_project_count_and_mistakes_are_told(draft: Path) -> None:
    settings = draft.parent / ".whycite.toml"
    settings.write_text('severity = "hint"\nsections = ["conclusion"]\n')

    async def session(editor: Editor) -> None:
        editor.open(draft)
        [found] = await editor.diagnostics(draft, 2)
        assert found.severity == types.DiagnosticSeverity.Hint
        settings.write_text('severity = "loud"\n')
        editor.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([]))
        await editor.wait_for(lambda: editor.messages)
        assert "'severity' must be one of error, warning, information, hint, not 'loud'" in editor.messages[0]

    play(session)


def test_code_lenses_are_shown_where_they_are_asked_for(draft: Path) -> None:
    async def session(editor: Editor) -> None:
        editor.open(draft)
        await editor.diagnostics(draft, 2)
        document = types.TextDocumentIdentifier(draft.as_uri())
        [lens] = await editor.text_document_code_lens_async(types.CodeLensParams(document)) or ()
        assert lens.command
        assert lens.command.title == "3 of 5 sentences need a citation"

    play(session, options={"code_lens": True, "unknown": 1})


def test_a_request_can_be_cancelled(draft: Path) -> None:
    async def session(editor: Editor) -> None:
        editor.open(draft)
        question = editor.protocol.send_request_async(
            types.TEXT_DOCUMENT_HOVER, types.HoverParams(**editor.cursor(draft, "Vaswani2017")), msg_id="q"
        )
        asking = asyncio.ensure_future(question)
        await asyncio.sleep(0)
        editor.cancel_request(types.CancelParams("q"))
        with pytest.raises(JsonRpcException, match="cancel"):
            await asking
        assert await editor.diagnostics(draft, 2)

    play(session)


def test_without_the_extra_it_says_what_to_install(run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib import import_module

    monkeypatch.setattr(import_module("whycite.cli.serve"), "find_spec", lambda name: None)
    assert str(run("lsp").exception) == "The language server needs more packages: pip install 'whycite[lsp]'"
