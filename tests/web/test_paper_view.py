"""A cited paper as it looks in a real browser, with the passage that decides a verdict boxed on its page."""

from pathlib import Path
from typing import Any

import pytest

import whycite.web
from tests.documents.pdf.test_pdf import Paper, fill, prose
from tests.web.browsing import accessibility_violations, keep_screenshot, needs_browser
from tests.web.manuscripts import BEES, MANUSCRIPT, WHALES

PDFJS = Path(whycite.web.__file__).parent / "static" / "pdfjs" / "pdf.min.mjs"
needs_pdfjs = pytest.mark.skipif(not PDFJS.exists(), reason="no PDF.js here: make pdfjs")
pytestmark = [needs_browser, needs_pdfjs]
TITLE = "Global honey bee viral landscape altered by a parasitic mite"
PASSAGE = "The mite Varroa increased the prevalence of deformed wing virus from about 10% to 100%."
FIND = "async ([quote, pieces]) => (await import('/static/quotes.js')).findQuote(quote, pieces)"
# The words that the boxes cover, by the places of letters on the page.
BOXED = """() => {
  const words = [...document.querySelectorAll('.words span')];
  return [...document.querySelectorAll('.box')].map((box) => {
    const place = box.getBoundingClientRect();
    const [x, y] = [place.left + 3, place.top + place.height / 2];
    return words.find((word) => {
      const { left, right, top, bottom } = word.getBoundingClientRect();
      return left <= x && x <= right && top <= y && y <= bottom;
    })?.textContent;
  });
}"""

IN_SIGHT = """() => {
  const [box, pages] = ['.box', '.pages'].map((name) => document.querySelector(name).getBoundingClientRect());
  return pages.top < box.top && box.bottom < pages.bottom;
}"""


def bees_as_pdf() -> bytes:
    """Three pages; the passage is on the second, over two lines with a divided word."""
    paper = Paper()
    paper.put(72, 740, TITLE, 16, "bold")
    paper.column(72, 700, fill(prose(1, 12), 90))
    paper.page()
    paper.put(72, 740, "Results", 12, "bold")
    y = paper.column(72, 720, fill(prose(2, 5), 90))
    y = paper.column(
        72, y, [f"{PASSAGE.partition('preva')[0]}preva-", f"{PASSAGE.partition('preva')[2]} Viral diversity fell."]
    )
    paper.column(72, y, fill(prose(3, 5), 90))
    paper.page()
    paper.column(72, 740, fill(prose(4, 12), 90))
    return paper.data()


def _verified(page: Any) -> None:
    page.goto("/projects")
    page.set_input_files("#draft", {"name": "draft.md", "mimeType": "text/markdown", "buffer": MANUSCRIPT.encode()})
    papers = [
        {"name": "whales.md", "mimeType": "text/markdown", "buffer": WHALES.encode()},
        {"name": "bees.pdf", "mimeType": "application/pdf", "buffer": bees_as_pdf()},
    ]
    page.set_input_files("#papers", papers)
    page.get_by_role("button", name="Verify the draft").click()
    page.get_by_role("button", name="Verify again").wait_for()


def test_the_deciding_passage_is_boxed_on_its_page(page: Any, tmp_path: Path) -> None:
    _verified(page)
    page.get_by_role("button", name="Next to look at").click()
    page.wait_for_selector(".box")
    assert page.evaluate(BOXED) == [
        f"{PASSAGE.partition('preva')[0]}preva-",
        PASSAGE.partition("preva")[2] + " Viral diversity fell.",
    ]
    assert page.inner_text(".pdf-place") == "Page 2 of 3"
    assert page.evaluate(IN_SIGHT)
    keep_screenshot(page, "project-pdf", tmp_path)
    page.get_by_role("link", name="Open the paper").click()
    page.wait_for_url("**/citations/*")
    page.wait_for_selector(".box")
    assert page.inner_text("h1") == TITLE
    page.get_by_role("button", name="Show as text").click()
    assert page.locator(".sentence[data-heat]:not([data-heat='0'])").first.inner_text() == PASSAGE
    page.get_by_role("button", name="Show as text").click()
    page.wait_for_selector(".box")
    page.get_by_role("link", name="Back to the draft").click()
    page.wait_for_url("**/sentences/1")


def test_a_paper_that_is_no_pdf_is_shown_as_text(page: Any) -> None:
    _verified(page)
    page.get_by_text("Killer whales stun herring").first.click()
    page.get_by_role("link", name="Open the paper").click()
    page.wait_for_selector(".sentence[data-heat='5']")
    assert "stunned herring with blows" in page.locator(".sentence:focus").inner_text()


def test_what_backs_a_claim_has_its_own_colour_beside_what_contradicts_it(page: Any) -> None:
    page.goto("/projects")
    page.set_input_files("#draft", {"name": "draft.md", "mimeType": "text/markdown", "buffer": MANUSCRIPT.encode()})
    page.set_input_files("#papers", {"name": "bees.md", "mimeType": "text/markdown", "buffer": BEES.encode()})
    page.get_by_role("button", name="Verify the draft").click()
    page.get_by_role("button", name="Verify again").wait_for()
    page.get_by_role("button", name="Next to look at").click()
    page.get_by_role("link", name="Open the paper").click()
    page.wait_for_selector(".sentence[data-stance=contradicts]:not([data-heat='0'])")
    spans = page.locator(".legend span").all()
    backs, contradicts = (span.evaluate("it => getComputedStyle(it).backgroundColor") for span in spans)
    assert backs != contradicts


def test_a_server_without_the_viewer_says_so(page: Any) -> None:
    page.route("**/pdf.min.mjs", lambda route: route.abort())
    _verified(page)
    page.get_by_role("button", name="Next to look at").click()
    page.get_by_text("(the viewer for PDFs could not be loaded from this server)").wait_for()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_read_it(page: Any, scheme: str, tmp_path: Path) -> None:
    page.emulate_media(color_scheme=scheme)
    _verified(page)
    page.get_by_role("button", name="Next to look at").click()
    page.wait_for_selector(".box")
    assert accessibility_violations(page) == []
    page.get_by_role("link", name="Open the paper").click()
    page.wait_for_selector(".box")
    assert accessibility_violations(page) == []
    page.set_viewport_size({"width": 375, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    keep_screenshot(page, f"citation-375-{scheme}", tmp_path)


def test_an_uploaded_pdf_is_shown_beside_a_single_claim(page: Any) -> None:
    page.goto("/verify")
    page.fill("#claim", "The mite Varroa lowered the prevalence of deformed wing virus.")
    page.set_input_files("#cited", {"name": "bees.pdf", "mimeType": "application/pdf", "buffer": bees_as_pdf()})
    page.get_by_role("button", name="Verify", exact=True).click()
    page.wait_for_selector(".box")
    assert page.locator(".box").count() == 2


def test_nothing_is_boxed_where_less_than_half_of_the_quote_is_there(page: Any) -> None:
    page.goto("/cite")
    pieces = [
        "We sampled colonies. The mite Var-",
        "roa increased the preva",
        "lence of deformed wing virus ﬁve times.",
    ]
    whole = page.evaluate(FIND, ["The mite Varroa increased the prevalence of deformed wing virus five times.", pieces])
    assert whole["share"] == 1
    assert [pieces[piece][start:end] for piece, start, end in whole["parts"]] == [
        "The mite Var",
        "roa increased the preva",
        "lence of deformed wing virus ﬁve times",
    ]
    for quote in (
        "",
        "…",
        "Queens mate with many drones in the middle of the summer.",
        PASSAGE.replace("deformed", "x" * 90),
    ):
        assert page.evaluate(FIND, [quote, pieces])["parts"] == []
    half = "The mite Varroa increased the prevalence of disease in islands of the Atlantic."
    assert 0.5 <= page.evaluate(FIND, [half, pieces])["share"] < 0.7
