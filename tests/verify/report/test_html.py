"""The page of the report, as a file and in a real browser."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from tests.drafts import disputed_draft, make_verdict, reviewed_draft
from tests.verify.test_heatmap import EVIL, Parsed, contrast
from whycite.documents import Document, Reference
from whycite.verify.report import draft_report, html

Open = Callable[..., Any]


def test_nothing_is_loaded_from_elsewhere() -> None:
    page = html(reviewed_draft())
    for tag, attributes in Parsed(page).elements:
        assert not any(name.startswith("on") or name in ("src", "style", "action") for name in attributes)
        if tag == "a":
            assert (attributes["href"] or "").startswith("https://doi.org/10.")
    assert not re.search(r"url\(|@import|fetch\(|innerHTML|document\.write|eval\(", page)


@pytest.mark.parametrize("evil", EVIL, ids=range(len(EVIL)))
def test_text_stays_text(evil: str) -> None:
    page = html(reviewed_draft(evil))
    tags = [tag for tag, _ in Parsed(page).elements]
    usual = [tag for tag, _ in Parsed(html(reviewed_draft("x"))).elements]
    # A DOI with spaces in it is no link.
    assert [tag for tag in tags if tag != "a"] == [tag for tag in usual if tag != "a"]
    page.encode()


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_contrast_is_enough_to_read(scheme: int) -> None:
    style = files("whycite.verify.report").joinpath("assets", "report.css").read_text("utf-8")
    block = re.findall(r":root \{(.*?)\}", style, re.DOTALL)[scheme]
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block))
    for ink in ("ink", "soft", "good", "bad", "open", "accent", "against"):
        for ground in ("ground", "panel"):
            assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)


def test_a_draft_without_citations() -> None:
    page = html(draft_report(Document("draft.md", "markdown", Reference("")), []))
    assert "0 citations." in page
    assert "<section" not in page


def test_passages_that_disagree_are_both_unfolded() -> None:
    shown, _, folded = html(disputed_draft()).partition("<details>")
    assert shown.count("▶ Decides the verdict") == 2
    assert "Bees never sleep." in shown
    assert "Bees were filmed." in folded


@pytest.fixture
def page(browser: Any, tmp_path: Path) -> Iterator[Open]:
    """Opens a page; whatever it asks for, complains of or runs without leave is a failure."""
    contexts: list[Any] = []
    wrong: list[str] = []

    def watch(request: Any) -> None:
        if not request.url.startswith(("file:", "data:")):
            wrong.append(request.url)

    def opened(content: str, width: int = 1100, scheme: str = "light", scripts: bool = True) -> Any:
        file = tmp_path / "report.html"
        file.write_text(content, "utf-8")
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=scheme,
            reduced_motion="reduce",
            java_script_enabled=scripts,
        )
        contexts.append(context)
        context.set_default_timeout(100_000)  # milliseconds, on a busy machine
        shown = context.new_page()
        shown.on("console", lambda message: wrong.append(message.text))
        shown.on("pageerror", lambda error: wrong.append(str(error)))
        shown.on("request", watch)
        shown.goto(file.as_uri())
        return shown

    yield opened
    for context in contexts:
        context.close()
    assert wrong == []


def test_filters_and_keys(page: Open, artefacts: Path) -> None:
    shown = page(html(reviewed_draft()))
    assert shown.locator("#filters button").all_inner_texts() == [
        "All 12",
        "✗ Contradicted 2",
        "↪ Secondary 1",
        "? Not found 1",
        "✓ Backed 2",
        "– Could not check 6",
    ]
    shown.screenshot(path=artefacts / "report.png", full_page=True)
    assert shown.locator("article:visible").count() == 7
    first = shown.locator("article").first.inner_text()
    assert first.startswith("parts/a.tex:3 · Sleep · contradicted, probably (80%)\n\nBees doze.")
    assert "Foragers never sleep.\n▶ Decides the verdict · Results · p. 5 · contradicts the claim" in first
    assert "Do foragers sleep?" not in first  # folded
    shown.locator("article summary").first.click()
    assert "Do foragers sleep?" in shown.locator("article").first.inner_text()
    shown.locator("#filters button", has_text="Backed").focus()
    shown.keyboard.press("Enter")
    assert shown.locator("article:visible .claim").all_inner_texts() == ["Bees dream.", "Bees rest."]
    assert shown.locator("[aria-pressed=true]").inner_text() == "✓ Backed 2"
    for key, claim in (("n", "Bees dream."), ("n", "Bees rest."), ("n", "Bees rest."), ("p", "Bees dream.")):
        shown.keyboard.press(key)
        assert claim in shown.evaluate("document.activeElement.innerText")
    shown.keyboard.press("Escape")
    assert shown.locator("article:visible").count() == 7
    shown.locator("#filters button", has_text="Could not").click()
    assert shown.locator("article:visible").count() == 1
    assert "Ants in the dry season" in shown.locator("main li").first.inner_text()
    shown.locator("#filters button", has_text="Could not").click()  # again: all
    assert shown.locator("article:visible").count() == 7


def test_without_scripts_everything_is_there(page: Open) -> None:
    shown = page(html(reviewed_draft()), scripts=False)
    assert not shown.locator("#filters").is_visible()
    assert shown.locator("article").count() == 7


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_narrow_screens_and_everybody(page: Open, artefacts: Path, scheme: str) -> None:
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="needs: pip install axe-playwright-python"
    )
    shown = page(html(reviewed_draft("Averyveryverylongword" * 9)), 380, scheme)
    assert shown.evaluate("document.documentElement.scrollWidth") <= 380
    assert [found["id"] for found in axe.Axe().run(shown).response["violations"]] == []
    shown.screenshot(path=artefacts / f"report-narrow-{scheme}.png", full_page=True)


def test_on_paper(page: Open) -> None:
    reference = Reference("roe", "Ants", doi="10.1000/ants")
    many = [make_verdict("could not check", claim=f"Claim {n}.", reference=reference, reason="r") for n in range(3)]
    absent = [
        make_verdict("could not check", reference=Reference(f"r{n}", f"Title {n}"), missing=True) for n in range(30)
    ]
    shown = page(html(draft_report(Document("draft.md", "markdown", Reference("")), many + absent)), scheme="dark")
    assert not shown.get_by_text("Claim 1.").is_visible()
    assert shown.get_by_text("Title 19").is_visible()
    assert not shown.get_by_text("Title 29").is_visible()  # folded
    shown.emulate_media(media="print")
    shown.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert shown.get_by_text("Claim 1.").is_visible()
    assert shown.get_by_text("Title 29").is_visible()
    assert not shown.locator("#filters").is_visible()
    assert shown.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
