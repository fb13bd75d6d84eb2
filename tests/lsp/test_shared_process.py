"""With `--server`, another process has models and library: an editor shows the same as without it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from tests.lsp.editor import Editor, play
from tests.web.serving import serving
from whycite.lsp.features import LspSettings
from whycite.web.serverstate import ServerSettings

Shown = dict[str, Any]


@pytest.fixture
def look(draft: Path, bees: Path) -> Callable[[str], Shown]:
    """What an editor shows of a draft that cites nothing yet, with the whycite at an address."""
    (draft.parent / "refs.bib").write_text("@misc{x, title = {Unrelated}}\n", "utf-8")

    def look(address: str) -> Shown:
        shown: Shown = {}

        async def session(editor: Editor) -> None:
            editor.open(draft)
            shown["diagnostics"] = await editor.diagnostics(draft, 2)
            evidence = await editor.evidence(draft, "rest at night")
            shown["papers"] = [
                (paper.key, paper.fits, [quote.text for quote in paper.quotes]) for paper in evidence.papers
            ]
            actions = await editor.actions(draft, "rest at night")
            [title] = [title for title in actions if title.startswith("Cite kaiser1988busy")]
            resolved = await editor.code_action_resolve_async(actions[title])
            assert resolved.edit
            shown["edit"] = editor.apply(resolved.edit)
            typed = editor.texts[draft].replace("rest at night.", "rest at night \\cite{}.")
            editor.change(draft, typed)
            cursor = editor.cursor(draft, "\\cite{", after=True)
            completion = await editor.text_document_completion_async(types.CompletionParams(**cursor))
            assert isinstance(completion, types.CompletionList)
            shown["completion"] = [(item.label, item.detail) for item in completion.items]
            shown["messages"] = list(editor.messages)

        play(session, LspSettings(bees, 0.02, 60), address=address)
        return shown

    return look


def test_an_editor_shows_the_same_with_and_without_a_server(
    look: Callable[[str], Shown], bees: Path, tmp_path: Path
) -> None:
    here = look("")
    assert here["completion"][0][0] == "kaiser1988busy"
    with serving(ServerSettings(bees, projects=tmp_path / "projects")) as address:
        assert look(address) == here
    gone = look(address)
    assert gone.pop("messages") == [
        f"{address}: no whycite server answers there. Until it answers, models and library are loaded here."
    ]
    assert gone == {name: shown for name, shown in here.items() if name != "messages"}


@pytest.mark.parametrize("command", ["lsp", "mcp"])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--server", "localhost:8642"], "give the address alone, such as http://127.0.0.1:8642"),
        (["--server", "http://127.0.0.1:8642/?token=secret"], "the token belongs in WHYCITE_TOKEN or a --token-file"),
        (["--token-file", "token.txt"], "--token-file needs --server, whose token it has"),
        (["--server", "http://127.0.0.1:8642", "--token-file", "none.txt"], "none.txt: the token cannot be read"),
    ],
)
def test_a_wrong_address_is_refused(run: Callable[..., Any], command: str, arguments: list[str], message: str) -> None:
    assert message in str(run(command, *arguments).exception)
