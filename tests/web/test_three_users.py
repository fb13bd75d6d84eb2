"""Three people from the first page to what they came for: an author, a reviewer, somebody new in a lab."""

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.web.browsing import accessibility_violations, keep_screenshot, needs_browser, watched_page
from tests.web.manuscripts import BEES, WHALES
from tests.web.serving import serving
from whycite.web.serverstate import ServerSettings

pytestmark = needs_browser
MAIN = r"""\documentclass{article}
\title{How whales hunt}
\begin{document}
\section{Introduction}
Previous studies have shown that killer whales stun herring with blows of their tails.
We filmed them for two winters.
\input{related}
\bibliography{refs}
\end{document}
"""
RELATED = r"The mite Varroa lowered the prevalence of deformed wing virus~\cite{martin}."
ENTRIES = """@article{domenici, title={Killer whales feeding on schooling herring using tail-slaps},
  author={Domenici, Paolo}, year={2000}}
@article{martin, title={Global honey bee viral landscape altered by a parasitic mite},
  author={Martin, Stephen}, year={2012}}
"""
MANUSCRIPT = """<body style="font: 11pt Times"><h1>How animals defend and hunt</h1><p>Jane Doe</p><h2>Introduction</h2>
<p>Many animals hunt in groups, and many defend themselves in groups as well. Killer whales stun herring with blows of
their tails (Domenici, 2000). The mite Varroa lowered the prevalence of deformed wing virus (Martin, 2012). Queens that
mate with many drones have healthier colonies (Tarpy, 2003). In this note we compare what is known of them.</p>
<h2>References</h2>
<p>Domenici, P. 2000. Killer whales feeding on schooling herring using tail-slaps. Journal of
Experimental Biology 203.</p>
<p>Martin, S. 2012. Global honey bee viral landscape altered by a parasitic mite. Science 336.</p>
<p>Tarpy, D. 2003. Genetic diversity within honeybee colonies prevents severe infections. Proceedings B 270.</p>"""


def _draft() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("paper/main.tex", MAIN)
        archive.writestr("paper/related.tex", RELATED)
    return packed.getvalue()


@pytest.fixture
def visit(browser: Any, tmp_path: Path) -> Any:
    """The first page of a server that nobody has used."""
    settings = ServerSettings(tmp_path / "library", projects=tmp_path / "projects")
    with serving(settings) as address, watched_page(browser, address) as page:
        page.goto("/")
        assert page.url.endswith("/welcome")
        yield page


def _show(page: Any, name: str, tmp_path: Path) -> None:
    """Every step can be used by everybody, also on a phone."""
    assert accessibility_violations(page) == [], name
    keep_screenshot(page, name, tmp_path)
    page.set_viewport_size({"width": 375, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 375, name
    keep_screenshot(page, f"{name}-375", tmp_path)
    page.set_viewport_size({"width": 1440, "height": 900})


def test_an_author_with_a_zip_and_a_bibliography(visit: Any, tmp_path: Path) -> None:
    page = visit
    page.get_by_role("link", name="Check", exact=True).click()
    files = [
        {"name": "paper.zip", "mimeType": "application/zip", "buffer": _draft()},
        {"name": "refs.bib", "mimeType": "text/plain", "buffer": ENTRIES.encode()},
    ]
    page.set_input_files("#files", files)
    page.wait_for_selector("#count:has-text('1 sentence')")
    page.click("#next")
    page.get_by_role("button", name="Cite as domenici").wait_for()
    _show(page, "author-check", tmp_path)
    page.get_by_role("button", name="Cite as domenici").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download with 1 citation added").click()
    with zipfile.ZipFile(download.value.path()) as archive:
        changed = {name.rpartition("/")[2]: archive.read(name).decode() for name in archive.namelist()}
    assert changed["main.tex"].replace(r"~\cite{domenici}", "") == MAIN
    page.goto("/projects")
    page.set_input_files("#draft", files)
    page.set_input_files("#papers", {"name": "bees.md", "mimeType": "text/markdown", "buffer": BEES.encode()})
    page.get_by_role("button", name="Verify the draft").click()
    page.get_by_role("button", name="Verify again").wait_for()
    assert page.inner_text("#count") == "2 to look at: 1 of 1 citation, 1 sentence without one"
    page.get_by_role("button", name="Next to look at").click()
    page.wait_for_selector("#panel h3:has-text('Contradicted')")
    _show(page, "author-project", tmp_path)


def test_a_reviewer_with_a_manuscript_and_papers(visit: Any, tmp_path: Path) -> None:
    page = visit
    other = page.context.browser.new_page()
    other.set_content(MANUSCRIPT)
    manuscript = {"name": "review-17.pdf", "mimeType": "application/pdf", "buffer": other.pdf()}
    other.close()
    page.get_by_role("link", name="verify the citations of a draft").click()
    page.set_input_files("#draft", manuscript)
    papers = {"whales.md": WHALES, "bees.md": BEES}
    page.set_input_files(
        "#papers",
        [{"name": name, "mimeType": "text/markdown", "buffer": text.encode()} for name, text in papers.items()],
    )
    _show(page, "reviewer-files", tmp_path)
    page.get_by_role("button", name="Verify the draft").click()
    page.get_by_role("button", name="Verify again").wait_for()
    assert page.inner_text("h1") == "How animals defend and hunt"
    verdicts = [text.split("\n")[0] for text in page.locator("#list button").all_inner_texts()]
    assert verdicts == ["✗ Contradicted", "✓ Backed", "– Could not check"]
    assert "Genetic diversity within honeybee colonies" in page.inner_text("#missing-list")
    page.get_by_role("button", name="Next to look at").click()
    page.get_by_text("Add a comment").click()
    page.keyboard.type("The cited paper reports the opposite.")
    page.get_by_role("button", name="Save comment").click()
    page.get_by_role("button", name="Accept", exact=True).click()
    page.wait_for_selector("#count:has-text('0 to look at')")
    _show(page, "reviewer-project", tmp_path)
    with page.expect_download() as download:
        page.get_by_role("link", name="Markdown").click()
    report = download.value.path().read_text()
    assert "The cited paper reports the opposite." in report
    assert "increased the prevalence" in report


def test_a_lab_member_with_an_empty_library(visit: Any, papers: Path, tmp_path: Path) -> None:
    page = visit
    _show(page, "lab-welcome", tmp_path)
    page.set_input_files("#files", [papers / "whales.md", papers / "bees.md", papers / "refs.bib"])
    page.wait_for_url("**/library")
    page.wait_for_selector("#rows tr:nth-child(2)")
    _show(page, "lab-library", tmp_path)
    page.get_by_role("link", name="Cite", exact=True).click()
    page.wait_for_load_state("networkidle")
    page.fill("#claim", "Killer whales hit herring with their tails.")
    page.press("#claim", "Enter")
    page.wait_for_selector(".card")
    _show(page, "lab-cite", tmp_path)
    page.get_by_role("link", name="Killer whales feeding").first.click()
    page.wait_for_selector("h2:text('Who cites it for what')")
    _show(page, "lab-paper", tmp_path)
