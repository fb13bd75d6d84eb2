"""The page: self-contained, safe, readable, and alive in a browser."""

import json
import re
import shutil
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from whycite.check.findings import CheckedDraft
from whycite.check.reporting import html

if TYPE_CHECKING:
    from playwright.sync_api import Page

PATIENCE = 100_000  # milliseconds: a busy machine is slow to show anything


class _Parsed(HTMLParser):
    """The tags of a page, and what stands in its scripts and styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.inside: dict[str, list[str]] = {"script": [], "style": []}
        self.text: list[str] = []
        self.tag = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tag = tag
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        self.tag = ""

    def handle_data(self, data: str) -> None:
        self.inside.get(self.tag, self.text).append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    @property
    def data(self) -> Any:
        return json.loads(self.inside["script"][0])


TAGS = "html head meta meta meta meta meta title style body noscript script script".split()


def test_the_page_holds_nothing_but_its_own_tags(checked: CheckedDraft, hostile: CheckedDraft) -> None:
    for page in (html.report([]), html.report([checked]), html.report([checked, hostile])):
        parsed = _Parsed(page)
        assert sorted(tag for tag, _ in parsed.tags) == sorted(TAGS)
        assert page.isascii()
        allowed = {"lang", "charset", "http-equiv", "content", "name", "type", "id"}
        assert all(set(attributes) <= allowed for _, attributes in parsed.tags)
        assert "onerror" not in "".join(parsed.text)


def test_nothing_is_fetched_and_only_our_script_runs(checked: CheckedDraft) -> None:
    page = html.report([checked])
    parsed = _Parsed(page)
    policy = next(at["content"] for tag, at in parsed.tags if at.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["base-uri"] == rules["form-action"] == "'none'"
    for rule, content in (("script-src", parsed.inside["script"][-1]), ("style-src", parsed.inside["style"][0])):
        assert rules[rule] == f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'"
    assert not re.search(r"\b(?:src|href)\s*=\s*[\"']|@import|url\(", "".join(parsed.inside["style"]) + page[:2000])


def test_the_script_makes_text_of_everything() -> None:
    script = files("whycite.check.reporting").joinpath("assets", "report.js").read_text("utf-8")
    for unsafe in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "Function(",
        'setAttribute("on',
    ):
        assert unsafe not in script
    assert "</script" not in script
    assert "<!--" not in script


def test_the_draft_is_there_whole(checked: CheckedDraft) -> None:
    [draft] = _Parsed(html.report([checked])).data
    assert draft["title"] == "On rest"
    headings = [block["heading"] for block in draft["blocks"] if "heading" in block]
    assert headings == ["Introduction", "Methods"]
    ranges = [(block["kind"], block["to"] - block["from"]) for block in draft["blocks"] if "from" in block]
    assert ranges == [("prose", 3), ("prose", 1), ("footnote", 1)]
    assert [one["kind"] for one in draft["sentences"]] == [
        "needs-citation",
        "cited",
        "ok",
        "needs-citation",
        "needs-citation",
    ]
    assert draft["sentences"][1]["text"] == ["Cats sleep ", {"shown": "[doe]", "keys": ["doe"]}, "."]
    assert draft["references"] == {"doe": "Doe (2001). Cats"}
    first = draft["sentences"][0]
    assert first["proposals"][0]["evidence"][0]["span"] == "Busy bees"
    assert first["line"] == 5


def test_what_is_hostile_stays_data(hostile: CheckedDraft) -> None:
    [draft] = _Parsed(html.report([hostile])).data
    assert "<img src=x onerror" in draft["title"]
    assert draft["sentences"][-1]["proposals"][0]["title"].startswith("</script><img")
    assert draft["path"].startswith("a,b:c%<img")


def _variables(theme: str) -> dict[str, str]:
    style = files("whycite.check.reporting").joinpath("assets", "report.css").read_text("utf-8")
    block = style[style.index(theme) :]
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block[: block.index("}")]))


def _contrast(one: str, other: str) -> float:
    """The contrast of two colours as WCAG 2 defines it."""

    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", [":root {", ':root[data-theme="dark"] {'], ids=["light", "dark"])
def test_every_text_can_be_read(theme: str) -> None:
    colours = _variables(theme)
    grounds = ["paper", "ground", *(f"h{heat}" for heat in range(1, 9)), "mark"]
    assert min(_contrast(colours["ink"], colours[ground]) for ground in grounds) >= 7
    for ink, ground in [
        ("soft", "paper"), ("soft", "ground"), ("accent", "paper"), ("chip-ink", "chip"), ("good", "good-ground"),
        ("good", "paper"), ("need", "paper"), ("need", "ground"),
    ]:  # fmt: skip
        assert _contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)


# -- in a browser --------------------------------------------------------------


@pytest.fixture(scope="module")
def browser_page() -> "Iterator[Page]":
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("no Chromium to open the page with: apt-get install chromium")
    api = pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"], timeout=PATIENCE)
        page = browser.new_page(viewport={"width": 1300, "height": 800})
        page.set_default_timeout(PATIENCE)
        yield page
        browser.close()


def _open(page: "Page", content: str, path: Path) -> list[str]:
    """Open a report as a file; what goes wrong, and what is asked for over the network, comes into the list."""
    path.write_text(content, "utf-8")
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: problems.append(message.text) if message.type in ("error", "warning") else None)
    page.on("request", lambda request: None if request.url == path.as_uri() else problems.append(request.url))
    page.goto(path.as_uri())
    return problems


def test_choosing_a_sentence_shows_its_evidence(browser_page: "Page", checked: CheckedDraft, tmp_path: Path) -> None:
    page = browser_page
    problems = _open(page, html.report([checked]), tmp_path / "report.html")
    assert page.title() == "On rest · whycite check"
    assert page.inner_text("header .count") == "3 of 5 sentences need a citation"
    assert [mark.inner_text() for mark in page.query_selector_all("main .cite")] == ["[doe]"]
    page.click("main .s.need")
    assert page.inner_text("aside .badge") == "Needs a citation"
    assert page.inner_text("aside li:first-child h3") == "Busy bees"
    assert page.inner_text("aside li:first-child mark") == "Busy bees"
    assert page.inner_text("aside li:first-child .tag") == "new"
    page.keyboard.press("n")
    assert page.inner_text("main .s.chosen") == "Bees were filmed."
    page.keyboard.press("Escape")
    assert page.query_selector("main .s.chosen") is None
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert "Bees hang their antennae." in page.inner_text("main .s.chosen")
    page.keyboard.press("Escape")
    assert problems == []


def test_threshold_and_filters(browser_page: "Page", checked: CheckedDraft, tmp_path: Path) -> None:
    page = browser_page
    problems = _open(page, html.report([checked]), tmp_path / "report.html")
    page.fill("#threshold", "25")
    assert page.inner_text("header .count").startswith("4 of 5")
    page.fill("#threshold", "90")
    assert page.inner_text("header .count").startswith("0 of 5")
    page.click("text=Reset")
    assert page.inner_text("header .count").startswith("3 of 5")
    page.select_option("header label:has-text('in') select >> nth=-1", "Methods")
    assert len(page.query_selector_all("main .s.dim")) == 3
    page.fill("input[type=search]", "antennae")
    assert len(page.query_selector_all("main .s.dim")) == 4
    before = page.evaluate("document.documentElement.dataset.theme")
    page.click("header .top button >> nth=-1")
    assert page.evaluate("document.documentElement.dataset.theme") != before
    assert problems == []


def test_a_hostile_draft_stays_text_in_a_browser(browser_page: "Page", hostile: CheckedDraft, tmp_path: Path) -> None:
    page = browser_page
    problems = _open(page, html.report([hostile]), tmp_path / "report.html")
    for sentence in page.query_selector_all("main .s"):
        sentence.click()
    assert page.evaluate("window.broken") is None
    assert page.query_selector_all("img, iframe, object, body script:not(#data):not(:last-of-type)") == []
    assert "<img src=x" in page.inner_text("main h2")
    assert "<img src=x" in page.inner_text("aside")
    assert problems == []


def test_a_small_screen_has_no_sideways_scrolling(browser_page: "Page", checked: CheckedDraft, tmp_path: Path) -> None:
    page = browser_page
    page.set_viewport_size({"width": 360, "height": 700})
    try:
        _open(page, html.report([checked]), tmp_path / "report.html")
        page.click("main .s.need")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        assert page.is_visible("aside li h3")
    finally:
        page.set_viewport_size({"width": 1300, "height": 800})
