"""Random edits: the server survives them, marks only what is there, and ends where `check` ends."""

import asyncio
import random
import sys
from importlib import import_module
from pathlib import Path

import pytest
from lsprotocol import types

from tests.drafts import BIB, STUDIES_TEX, TEX
from tests.fakes import word_detector, word_encoder
from tests.lsp.editor import CAPABILITIES, Editor, connect
from whycite.lsp.diagnostics import NEEDS_CITATION
from whycite.lsp.features import LspSettings
from whycite.lsp.workbench import TextMap
from whycite.service.drafts import check_file
from whycite.service.engine import Engine
from whycite.service.loading import CurrentLibrary

MARKDOWN = """---
title: How bees rest
bibliography: refs.bib
---
# Introduction
It is known that bees rest at night. Bees fly by day [@Kaiser1988].

It is known that *old* bridges are made of granite.
"""
TYPST = """#set document(title: "How bees rest")
= Introduction
It is known that bees rest at night. Bees fly by day #cite(<Kaiser1988>).

It is known that *old* bridges are made of granite @Doe2019.
#bibliography("refs.bib")
"""
PIECES = (
    *("It is known that ants sleep. ", "known", " ", ".", "🐝", "e\u0301", "\u2028", "\x0c", "\r\n", "\n\n", "\r"),
    *("{", "}", "\\", "$", "%", "\\cite{Doe2019}", "\\cite{", "\\begin{verbatim}", "\\end{document}", "\\input{main}"),
    *("\\section{Known}\n", "% whycite: ignore\n", "[@", "[@Doe2019]", "```\n", "<!--", "-->", "# Known\n"),
    *("// ", "#cite(<", "@nobody ", "= Known\n"),
)


def _edited(text: str, chance: random.Random, history: list[str]) -> str:
    """The text after one random edit."""
    start = chance.randrange(len(text) + 1)
    kind = chance.choice(("insert", "insert", "delete", "undo"))
    if kind == "undo":
        return chance.choice(history[-5:])
    if kind == "delete":
        return text[:start] + text[start + chance.choice((1, 3, 40)) :]
    return text[:start] + chance.choice(PIECES) + text[start:]


def _check_ranges(editor: Editor, file: Path, history: list[str]) -> None:
    """Every range that was ever published is inside the text of its version."""
    for published in editor.published.get(file.as_uri(), ()):
        assert published.version
        places = TextMap(history[published.version - 1], "utf-16")
        for item in published.diagnostics:
            for position in (item.range.start, item.range.end):
                assert places.position(places.offset(position)) == position
            assert places.offset(item.range.start) < places.offset(item.range.end)


async def _edit_randomly(file: Path, edits: int, seed: int) -> None:
    chance = random.Random(seed)
    async with connect(LspSettings(debounce=0.001, idle=60), CAPABILITIES) as editor:
        editor.open(file)
        history = [editor.texts[file]]
        for number in range(edits):
            editor.change(file, _edited(history[-1], chance, history))
            history.append(editor.texts[file])
            if number % 5 == 0:
                await asyncio.wait([asyncio.ensure_future(editor.diagnostics(file))], timeout=1)
                place = types.Position(chance.randrange(12), chance.randrange(60))
                document = types.TextDocumentIdentifier(file.as_uri())
                await editor.text_document_hover_async(types.HoverParams(document, place))
                await editor.text_document_completion_async(types.CompletionParams(document, place))
                await editor.text_document_code_action_async(
                    types.CodeActionParams(document, types.Range(place, place), types.CodeActionContext([]))
                )
        editor.change(file, history[-1] + " It is known that wasps build nests of paper.")
        history.append(editor.texts[file])
        await editor.diagnostics(file)
        before = len(editor.published[file.as_uri()])
        editor.save(file)
        await editor.wait_for(lambda: len(editor.published[file.as_uri()]) > before)
        _check_ranges(editor, file, history)
        assert editor.messages == []
        last = editor.last(file)
        assert last
        places = TextMap(editor.texts[file], "utf-16")
        shown = {
            (places.offset(item.range.start), places.offset(item.range.end))
            for item in last.diagnostics
            if str(item.code).startswith(NEEDS_CITATION)
        }
        checked = check_file(Engine(CurrentLibrary(None)), file)
        assert shown == {
            (f.start, f.end) for f in checked.findings if f.kind == "needs-citation" and f.file == str(file)
        }


@pytest.mark.parametrize(
    ("name", "text"),
    [("main.tex", TEX), ("main.md", MARKDOWN), ("main.typ", TYPST)],
    ids=["latex", "markdown", "typst"],
)
@pytest.mark.parametrize("edits", [20, pytest.param(1_000, marks=pytest.mark.slow)])
def test_random_edits(name: str, text: str, edits: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHYCITE_LIBRARY", str(tmp_path / "no library"))
    pipeline, encoders = import_module("whycite.check.pipeline"), import_module("whycite.models.encoders")
    detector, encoder = word_detector(), word_encoder()
    monkeypatch.setattr(pipeline, "load_detector", lambda: detector)
    monkeypatch.setattr(pipeline, "load_encoder", lambda: encoder)
    monkeypatch.setattr(encoders, "load_encoder", lambda: encoder)
    (tmp_path / "refs.bib").write_text(BIB, "utf-8")
    (tmp_path / name).write_text(text, "utf-8")
    asyncio.run(_edit_randomly(tmp_path / name, edits, seed=edits))


def test_it_speaks_over_standard_input_and_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHYCITE_LIBRARY", str(tmp_path / "no library"))
    (tmp_path / "refs.bib").write_text(BIB, "utf-8")
    (tmp_path / "main.tex").write_text(STUDIES_TEX, "utf-8")

    async def session() -> int:
        editor = Editor()
        await editor.start_io(sys.executable, "-m", "whycite", "lsp")
        await editor.initialize_async(types.InitializeParams(CAPABILITIES))
        editor.initialized(types.InitializedParams())
        editor.open(tmp_path / "main.tex")
        found = await editor.diagnostics(tmp_path / "main.tex")
        await editor.shutdown_async(None)
        editor.exit(None)
        await editor.stop()  # type: ignore[no-untyped-call]
        return len(found)

    assert asyncio.run(session()) == 3
