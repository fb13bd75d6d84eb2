"""Whatever people press, in whatever order, neither the pages nor the server fail."""

import os
import random
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from tests.web.browsing import is_failure, needs_browser, open_page
from tests.web.manuscripts import BEES, MANUSCRIPT, WHALES
from tests.web.serving import serving
from whycite.web.serverstate import ServerSettings

playwright = pytest.importorskip("playwright.sync_api", reason="no playwright: pip install playwright")
pytestmark = [
    needs_browser,
    pytest.mark.slow,
    pytest.mark.timeout(1200),
]
ACTIONS = 300
PLACES = ["/", "/welcome", "/projects", "/cite", "/check", "/verify", "/library", "/cite?text=whales", "/nowhere"]
TEXTS = ["", "whales", "Killer whales stun herring with their tails.", "<img src=x onerror=alert(1)>", "𝔘 ﷽ " * 50, "…"]
FILES = {"draft.md": MANUSCRIPT, "whales.md": WHALES, "<b>.md": BEES, "empty.pdf": "", "broken.pdf": "%PDF-1.4 broken"}
# Links that lead out of the server are left alone.
PRESS = """element => {
  const leadsOut = (element.getAttribute('href') || '').startsWith('https:');
  if (!leadsOut) element.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true }));
}"""
FIELDS = "main textarea:visible, main input:visible:not([type=file], [type=range], [type=checkbox])"
GONE = ("navigat", "detached", "closed", "interrupted", "not attached", "not visible", "destroyed")
KEYS = ["Tab", "Enter", "Escape", "ArrowDown", "ArrowUp", "Home", "End", "Space"]


def _act(page: Any, chance: random.Random) -> str:
    """One thing that somebody might do; what it was."""
    kind = chance.choice(["press", "press", "press", "type", "key", "file", "go", "back", "reload", "size"])
    if kind == "press":
        targets = page.locator("main button:visible:enabled, main a:visible, main [data-pick]:visible, main summary")
        if count := targets.count():
            targets.nth(chance.randrange(count)).evaluate(PRESS)
    elif kind == "type":
        fields = page.locator(FIELDS)
        if count := fields.count():
            field = fields.nth(chance.randrange(count))
            text = str(chance.randrange(3000)) if field.get_attribute("type") == "number" else chance.choice(TEXTS)
            field.fill(text)
    elif kind == "key":
        page.keyboard.press(chance.choice(KEYS))
    elif kind == "file":
        inputs = page.locator("main input[type=file]")
        if count := inputs.count():
            name = chance.choice(sorted(FILES))
            sent = {"name": name, "mimeType": "text/plain", "buffer": FILES[name].encode()}
            inputs.nth(chance.randrange(count)).set_input_files(sent)
    elif kind == "go":
        page.goto(chance.choice(PLACES))
    elif kind == "back":
        page.go_back()
    elif kind == "reload":
        page.reload()
    else:
        page.set_viewport_size({"width": chance.choice([375, 900, 1440]), "height": 800})
    page.wait_for_timeout(chance.choice([0, 0, 100]))
    return kind


def _answer(dialog: Any, wrong: list[str]) -> None:
    """Accept what a page asks before it is left; anything else is wrong."""
    if dialog.type != "beforeunload":
        wrong.append(dialog.message)
    dialog.accept()


def test_three_hundred_random_actions(
    browser: Any, kept_library: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    library = copytree(kept_library, tmp_path / "library")
    wrong: list[str] = []
    acted: set[str] = set()
    with serving(ServerSettings(library, projects=tmp_path / "projects")) as address:
        page = open_page(browser, address)
        page.on("pageerror", lambda error: wrong.append(f"{page.url}: {error}"))
        page.on("console", lambda said: wrong.append(f"{page.url}: {said.text}") if is_failure(said) else None)
        page.on("dialog", lambda shown: _answer(shown, wrong))
        page.on("response", lambda answer: wrong.append(answer.url) if answer.status in (500, 502, 504) else None)
        page.goto("/")
        chance = random.Random(int(os.environ.get("SEED", "25")))
        for number in range(ACTIONS):
            try:
                acted.add(_act(page, chance))
            except playwright.Error as error:
                # The page may change under one's hands, which is no fault of the page.
                if not any(word in error.message for word in GONE):
                    raise AssertionError(f"action {number} at {page.url}: {error.message}") from error
        page.close()
    assert len(acted) == 8
    assert wrong == []
    assert [entry for entry in caplog.records if entry.levelname == "ERROR"] == []
