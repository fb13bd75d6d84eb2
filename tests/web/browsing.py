"""A real browser, and what every page has to keep: no failing script, no foreign request, nobody kept out."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import which
from typing import Any

import pytest

BROWSER = which("chromium") or which("chromium-browser") or which("google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
PATIENCE = 100_000  # milliseconds: a busy machine is slow to show anything
CLAIM = "Killer whales hit herring with their tails."
needs_browser = pytest.mark.skipif(BROWSER is None, reason="no Chromium here: apt-get install chromium")


def open_page(browser: Any, address: str, width: int = 1440) -> Any:
    """A new page that waits as long as a busy machine needs."""
    page = browser.new_page(viewport={"width": width, "height": 900}, base_url=address)
    page.set_default_timeout(PATIENCE)
    return page


@contextmanager
def watched_page(browser: Any, address: str) -> Iterator[Any]:
    """A page that fails the test when a script fails or anything but the server is asked."""
    page = open_page(browser, address)
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.append(message.text) if is_failure(message) else None)
    page.on("request", lambda sent: wrong.append(sent.url) if not sent.url.startswith((address, "blob:")) else None)
    page.on("dialog", lambda dialog: wrong.append(f"dialog: {dialog.message}"))
    yield page
    page.close()
    assert wrong == []


def is_failure(message: Any) -> bool:
    """Whether a page has something to complain of; that a question was refused, it says too."""
    return message.type == "error" and "Failed to load resource" not in message.text


def keep_screenshot(page: Any, name: str, tmp_path: Path) -> None:
    """A screenshot, in $WHYCITE_ARTEFACTS where that is set."""
    folder = Path(os.environ.get("WHYCITE_ARTEFACTS", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=folder / f"{name}.png", full_page=True)


def accessibility_violations(page: Any) -> list[str]:
    """What axe finds on a page: the rule, and the elements that break it."""
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="no axe: pip install axe-playwright-python"
    )
    violations = axe.Axe().run(page).response["violations"]
    return [f"{violation['id']}: {[node['html'] for node in violation['nodes']]}" for violation in violations]
