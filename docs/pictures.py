"""Makes the pictures of the README and the docs from what whycite really prints. Run: python docs/pictures.py

Needs the articles of the demo (make demo installs them), playwright and a Chromium (WHYCITE_CHROMIUM names another),
LibreOffice and pdftoppm.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from urllib.request import urlopen

from playwright.sync_api import Page, sync_playwright
from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

from whycite.cli.demo import CITED_DOI, CLAIMS, VERIFIED_CLAIM
from whycite.demo import articles
from whycite.documents.model import Reference

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.wordfiles import docx, paragraph, zotero_field

ASSETS = Path(__file__).parent / "assets"
_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
_COLUMNS = 108
_PATIENCE = 60  # seconds
_DOMENICI = Reference(
    "domenici2000",
    title="Killer whales (Orcinus orca) feeding on schooling herring (Clupea harengus) using underwater tail-slaps: "
    "kinematic analyses of field observations",
    authors=("Domenici, Paolo", "Batty, Robert", "Similä, Tiu", "Ogam, Erick"),
    year=2000,
    doi="10.1242/jeb.203.2.283",
)
_REVIEWED = """\
---
title: Hunting with the tail
references:
- {id: oliver2013, title: Thresher Sharks Use Tail-Slaps as a Hunting Strategy, issued: 2013,
   author: [{family: Oliver}, {family: Turner}, {family: Gann}, {family: Silvosa}], DOI: 10.1371/journal.pone.0067380}
- id: domenici2000
  title: "Killer whales (Orcinus orca) feeding on schooling herring (Clupea harengus) using underwater tail-slaps:
    kinematic analyses of field observations"
  author: [{family: Domenici}, {family: Batty}, {family: Similä}, {family: Ogam}]
  issued: 2000
  DOI: 10.1242/jeb.203.2.283
---
# Introduction

Killer whales stun herring with blows of their tails [@domenici2000].
A third of the overhead tail-slaps of thresher sharks were successful [@oliver2013].
Nine tenths of the overhead tail-slaps of thresher sharks were successful [@oliver2013].
"""


def main() -> None:
    """Make every picture."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        os.environ["WHYCITE_LIBRARY"] = str(folder / "library")
        for name in ("seminar.tex", "seminar.bib"):
            (folder / name).write_text(files("whycite.demo").joinpath(name).read_text("utf-8"), "utf-8")
        papers = articles()
        _whycite(folder, "add", *map(str, papers))
        _terminal(folder, "check.svg", "check", "seminar.tex", "-n", "1")
        cited = next(path for path in papers if CITED_DOI.partition("/")[2] in path.name)
        page = folder / "heatmap.html"
        _whycite(folder, "verify", "--claim", VERIFIED_CLAIM, str(cited), "--format", "html", "--out", str(page))
        report = _report(folder, cited)
        _word_draft(folder)
        with _browser() as tab:
            tab.goto(report.as_uri())
            tab.screenshot(path=ASSETS / "report.png")
            tab.goto(page.as_uri())
            tab.locator("li, button, a").filter(has_text="One third of").first.click()  # scroll to the best passage
            tab.wait_for_timeout(4000)  # scrolling is animated
            tab.screenshot(path=ASSETS / "heatmap.png")
            with _server(folder) as address:
                tab.goto(address)
                tab.get_by_role("textbox").first.fill(CLAIMS[0])
                tab.get_by_role("textbox").first.press("Control+Enter")
                tab.get_by_text("Orcinus orca").first.wait_for()
                tab.screenshot(path=ASSETS / "cite-page.png")
    for picture in sorted(ASSETS.iterdir()):
        print(f"{picture.name}: {picture.stat().st_size / 1000:.0f} kB")


def _report(folder: Path, cited: Path) -> Path:
    """The report on a small draft, one of whose papers is at hand."""
    (folder / "papers").mkdir()
    shutil.copy(cited, folder / "papers")
    (folder / "draft.md").write_text(_REVIEWED, "utf-8")
    _whycite(folder, "verify", "draft.md", "--papers", "papers", "--format", "html", "--out", "report.html")
    return folder / "report.html"


def _word_draft(folder: Path) -> None:
    """A Word draft given back with a tracked citation, as LibreOffice prints it."""
    cited = zotero_field([_DOMENICI], "(Domenici et al., 2000)")
    body = paragraph("Hunting with the tail", style="Title") + paragraph("Introduction", style="Heading1")
    body += paragraph("Killer whales stun herring with blows of their tails ", cited, ".")
    body += paragraph("Many studies have shown that thresher sharks stun sardines with slaps of their long tails.")
    body += paragraph("It is well known that killer whales feeding on schooling herring use underwater tail-slaps.")
    (folder / "draft.docx").write_bytes(docx(body))
    _whycite(folder, "check", "draft.docx", "--fix", "--as", "changes")
    office = ["soffice", f"-env:UserInstallation={(folder / 'office').as_uri()}", "--headless", "--convert-to", "pdf"]
    subprocess.run([*office, "draft-whycite.docx"], cwd=folder, check=True, capture_output=True)
    cut = ["-x", "60", "-y", "130", "-W", "1000", "-H", "270"]
    picture = ["pdftoppm", "-png", "-r", "130", *cut, "-singlefile", "draft-whycite.pdf", str(ASSETS / "word")]
    subprocess.run(picture, cwd=folder, check=True)


def _whycite(folder: Path, *arguments: str) -> str:
    environment = os.environ | {"FORCE_COLOR": "1", "COLUMNS": str(_COLUMNS)}
    command = [sys.executable, "-m", "whycite", *arguments]
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if result.returncode:
        sys.exit(result.stderr)
    return result.stdout


def _terminal(folder: Path, name: str, *arguments: str) -> None:
    """What a command prints, as a picture of a terminal that needs no font from elsewhere."""
    console = Console(record=True, width=_COLUMNS, file=open(os.devnull, "w"), force_terminal=True)  # noqa: SIM115, PTH123
    console.print(Text.assemble(("$ ", "dim"), (" ".join(("whycite", *arguments)), "bold")))
    console.print(Text.from_ansi(_whycite(folder, *arguments)))
    template = re.sub(r"@font-face \{\{.*?\n    \}\}", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    console.save_svg(str(ASSETS / name), title="whycite check", code_format=template, unique_id="check")


@contextmanager
def _browser() -> Iterator[Page]:
    program = os.environ.get("WHYCITE_CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=_FLAGS)
        yield browser.new_page(viewport={"width": 1100, "height": 720})
        browser.close()


@contextmanager
def _server(folder: Path) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "whycite", "serve", "--port", str(port), "--no-browser", "--no-token"]
    server = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(_PATIENCE):
            try:
                urlopen(f"{address}/api/health").close()
                break
            except OSError:
                time.sleep(1)
        yield address
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
