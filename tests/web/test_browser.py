"""What people see and do on the pages, in a real browser."""

import re
import threading
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.web.browsing import CLAIM, PATIENCE, accessibility_violations, keep_screenshot, needs_browser, open_page
from tests.web.manuscripts import WHALES
from tests.web.serving import serving
from tests.wordfiles import docx, paragraph
from whycite.verify.claims import OpenDocument
from whycite.verify.verification import Verification
from whycite.web.guard import AccessRules
from whycite.web.serverstate import ServerSettings

pytestmark = needs_browser


def test_cite_with_the_keyboard_alone(page: Any, tmp_path: Path) -> None:
    page.goto("/cite")
    page.keyboard.press("Tab")  # skip
    page.keyboard.press("Enter")
    while page.evaluate("document.activeElement.id") != "claim":
        page.keyboard.press("Tab")
    page.keyboard.type(CLAIM)
    page.keyboard.press("Enter")
    page.wait_for_selector(".card")
    first = page.locator(".card").first
    assert "Killer whales feeding on schooling herring" in first.inner_text()
    assert "Killer whales stun herring" in first.locator(".why").first.inner_text()
    assert "herring" in [word.lower() for word in first.locator("mark").all_inner_texts()]
    keep_screenshot(page, "cite", tmp_path)
    before = page.locator(".card").count()
    while page.evaluate("document.activeElement.textContent") != "Hide":
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.locator(".card").count() == before - 1
    assert "schooling herring" not in page.locator(".card").first.inner_text()
    assert page.evaluate("document.activeElement.closest('.card') !== null")
    page.press("#claim", "Enter")  # the same claim once more: what is "not this" stays hidden
    page.wait_for_selector("#state:has-text('best first')")
    assert page.locator(".card").count() == before - 1
    page.get_by_role("button", name="Show 1 hidden paper").press("Enter")
    assert page.locator(".card").count() == before
    page.fill("#claim", "  ")
    page.press("#claim", "Enter")
    page.wait_for_selector("#state.wrong:has-text('Enter a claim')")


def test_bibtex_is_copied_or_shown(page: Any) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto("/cite")
    page.evaluate("window.setTimeout = () => 0")  # what is said stays, however late somebody looks
    page.fill("#claim", CLAIM)
    page.press("#claim", "Enter")
    page.get_by_role("button", name="Copy BibTeX of Killer whales feeding").click()
    page.wait_for_selector("text=Copied")
    assert page.evaluate("navigator.clipboard.readText()").startswith("@article{domenici2000killer,")
    page.evaluate("Object.defineProperty(navigator, 'clipboard', {value: undefined})")  # as where it is not allowed
    page.get_by_role("button", name="Copy BibTeX of Killer whales feeding").click()
    assert page.locator(".bibtex:not(.hidden)").inner_text().startswith("@article{domenici2000killer,")


def test_filters_narrow_it_down(page: Any) -> None:
    page.goto("/cite")
    page.fill("#claim", "honey bee viruses")
    page.fill("[name=year_max]", "2003")
    page.select_option("[name=section]", "introduction")
    page.press("#claim", "Enter")
    page.wait_for_selector(".card")
    assert "2012" not in page.inner_text("#answers")


def test_a_script_in_a_title_is_only_text(page: Any) -> None:
    page.goto("/cite")
    page.fill("#claim", "viruses in collapsing honey bee colonies <img src=x onerror=alert(2)>")
    page.press("#claim", "Enter")
    page.wait_for_selector(".card")
    assert "<img src=x onerror=alert(1)>" in page.locator("#answers").inner_text()
    assert page.locator("#answers img").count() == 0


def test_a_mistake_is_told(page: Any) -> None:
    page.goto("/cite")
    page.fill("#claim", "…")
    page.click("text=Find papers")
    page.wait_for_selector("#state.wrong")
    assert "no word" in page.inner_text("#state")


def test_library_add_and_remove(page: Any, tmp_path: Path) -> None:
    page.goto("/library")
    page.wait_for_selector("svg.plot rect")
    page.locator("#rows tr").nth(1).wait_for()  # documents and figures come in any order
    assert page.locator("#rows tr").count() == 2
    paper = tmp_path / "ants.md"
    paper.write_text("---\ntitle: How ants find home\n---\n# Introduction\nAnts count steps [@wittlinger2006].\n")
    page.set_input_files("#files", paper)
    page.wait_for_selector("text=Added 1 paper")
    page.wait_for_selector("text=How ants find home")
    assert page.locator("#rows tr").count() == 3
    keep_screenshot(page, "library", tmp_path)
    remove = page.get_by_role("button", name="Remove How ants find home")
    remove.click()
    page.get_by_text("Confirm removal").click()
    page.locator("#rows tr").nth(2).wait_for(state="detached")
    assert "ants" not in page.inner_text("#rows")


COLOUR = "element => getComputedStyle(element).color"
DRAFT = """---
title: Notes on whales
references:
- {id: domenici, title: "Killer whales feeding on schooling herring using tail-slaps", issued: 2000}
- {id: martin, title: "A parasitic mite <b>alters</b> the viral landscape", issued: 2012}
---
# Introduction
Previous studies have shown that killer whales stun herring with blows of their tails. Mites spread viruses [@martin].
In this note we describe what we saw.
"""


def _check(page: Any, tmp_path: Path) -> None:
    draft = tmp_path / "draft.md"
    draft.write_text(DRAFT)
    page.goto("/check")
    page.set_input_files("#files", draft)
    page.wait_for_selector("#text .sentence")


def test_check_accept_and_download(page: Any, tmp_path: Path) -> None:
    _check(page, tmp_path)
    assert page.locator("#text .sentence.cited").count() == 1
    page.click("#next")
    page.wait_for_selector("#panel .card")
    assert "killer whales stun herring" in page.inner_text("#panel blockquote >> nth=0")
    keep_screenshot(page, "check", tmp_path)
    page.get_by_role("button", name="Cite as domenici").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download with 1 citation added").click()
    with zipfile.ZipFile(download.value.path()) as archive:
        changed = archive.read("draft.md").decode()
    assert changed.replace(" [@domenici]", "") == DRAFT
    assert "tails [@domenici]." in changed


def test_a_word_document_comes_back_with_comments(page: Any, tmp_path: Path) -> None:
    (tmp_path / "draft.docx").write_bytes(docx(paragraph("Killer whales stun herring with blows of their tails.")))
    page.goto("/check")
    page.set_input_files("#files", str(tmp_path / "draft.docx"))
    with page.expect_download() as download:
        page.get_by_role("button", name="Download with comments").click()
    assert download.value.suggested_filename == "with-comments.zip"
    with zipfile.ZipFile(download.value.path()) as archive:
        assert archive.namelist() == ["draft.docx"]


def test_a_retracted_paper_is_told_in_red(page: Any) -> None:
    marked = DRAFT.replace('title: "A parasitic mite', 'note: Retracted in 2015, title: "A parasitic mite')
    page.goto("/check")
    page.set_input_files("#files", {"name": "draft.md", "mimeType": "text/markdown", "buffer": marked.encode()})
    page.click("#text .sentence.broken")
    page.wait_for_selector("#panel .wrong")
    assert page.inner_text("#panel .wrong") == "martin: Retracted (according to a note in the bibliography)"
    red, green, blue = map(int, re.findall(r"\d+", page.eval_on_selector("#panel .wrong", COLOUR)))
    assert red > 1.5 * max(green, blue)


def test_check_with_the_keyboard_alone(page: Any, tmp_path: Path) -> None:
    _check(page, tmp_path)
    page.focus("#next")
    page.keyboard.press("Tab")  # the text is one stop, in which arrows lead on
    seen = [page.evaluate("document.activeElement.textContent")]
    for _ in range(2):
        page.keyboard.press("ArrowDown")
        seen.append(page.evaluate("document.activeElement.textContent"))
    assert [text.split()[0] for text in seen] == ["Previous", "Mites", "In"]
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    page.wait_for_selector("#panel .card")
    assert page.evaluate("document.activeElement.closest('#panel') !== null")
    while not page.evaluate("document.activeElement.textContent").startswith("Cite as domenici"):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Undo")
    assert page.evaluate("document.activeElement.textContent") == "Undo"
    assert page.locator("#text .accepted").count() == 1


def test_a_lower_threshold_offers_papers_for_more(page: Any, tmp_path: Path) -> None:
    _check(page, tmp_path)
    page.focus("#threshold")
    page.keyboard.press("Home")
    page.wait_for_selector("#count:text('2 sentences')")
    page.wait_for_selector("#state:empty", state="attached")
    page.get_by_text("In this note we describe").click()
    page.get_by_role("button", name="Cite as domenici").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download with 1 citation added").click()
    with zipfile.ZipFile(download.value.path()) as archive:
        assert "what we saw [@domenici]." in archive.read("draft.md").decode()


def test_pasted_text_comes_back_with_a_bibliography(page: Any) -> None:
    page.goto("/check")
    page.fill("#pasted", f"Previous studies have shown that {CLAIM}")
    page.click("button:text-is('Check')")
    page.click("#next")
    page.get_by_role("button", name="Cite as domenici2000killer").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download with 1 citation added").click()
    with zipfile.ZipFile(download.value.path()) as archive:
        assert archive.read("draft.md").decode().endswith("with their tails [@domenici2000killer].")
        assert archive.read("references.bib").decode().startswith("@article{domenici2000killer,")
    assert "Downloaded" in page.inner_text("#said")


def test_a_draft_that_cannot_be_changed_offers_no_citation(page: Any) -> None:
    page.goto("/check")
    page.set_input_files("#files", {"name": "a" * 90 + ".txt", "mimeType": "text/plain", "buffer": CLAIM.encode()})
    page.wait_for_selector("#unwritable:has-text('cannot be inserted into plain drafts')")
    page.click("#text .sentence")
    page.wait_for_selector("#panel .card")
    assert page.get_by_role("button", name="Cite as").count() == 0
    assert not page.is_visible("#download")
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_papers_come_while_it_searches_and_a_check_can_be_stopped(
    browser: Any, address: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from whycite.check import pipeline, proposals

    monkeypatch.setenv("WHYCITE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(pipeline, "thread_count", lambda threads: 1)
    propose, go = proposals.Proposer.propose, threading.Event()
    calls = 0

    def wait(self: Any, *arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls > 1:
            go.wait(PATIENCE / 1000)
        return propose(self, *arguments)

    monkeypatch.setattr(proposals.Proposer, "propose", wait)
    page = open_page(browser, address)
    page.goto("/check")
    claims = [f"Previous studies have shown in year {number} that {CLAIM}" for number in range(12)]
    page.fill("#pasted", "# Introduction\n\n" + "\n\n".join(claims))
    page.click("button:text-is('Check')")
    page.wait_for_selector("#stage:has-text('of 12')")
    page.click("#text .sentence >> nth=0")
    page.wait_for_selector("#panel .card")
    page.click("#text .sentence >> nth=11")
    page.wait_for_selector("#panel :text('Searching …')")
    page.click("#stop")
    page.wait_for_selector("#state:has-text('Stopped')")
    assert not page.is_visible("#working")
    page.wait_for_selector("#panel .card")  # searched for alone
    go.set()
    page.close()


def test_next_is_there_only_where_something_is(page: Any) -> None:
    page.goto("/check")
    page.fill("#pasted", "We thank our friends.")
    page.click("button:text-is('Check')")
    page.wait_for_selector("#count:text('0 sentences')")
    assert page.is_disabled("#next")
    page.fill("#pasted", "")  # what was pasted is gone, and no file was chosen
    page.click("button:text-is('Check')")
    page.wait_for_selector("#state.wrong:text('Choose a draft, or paste text.')")


@pytest.mark.parametrize("width", [360, 1100])
def test_bar_sentence_and_papers_are_in_sight_together(page: Any, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 740})
    page.emulate_media(reduced_motion="reduce")
    page.goto("/check")
    filler = "In this note we describe what we saw. " * 60
    page.fill("#pasted", f"# Introduction\n{filler}\n\nPrevious studies have shown that {CLAIM}\n\n{filler}")
    page.click("button:text-is('Check')")
    page.wait_for_selector("#text .sentence")
    page.click("#next")
    page.get_by_role("button", name="Cite as domenici2000killer").focus()
    box = {name: page.locator(name).bounding_box() for name in ("#bar", ".picked", "#panel")}
    assert page.evaluate("scrollY") > 500
    assert box["#bar"]["y"] == 0
    assert box["#bar"]["height"] < 120
    assert box[".picked"]["y"] >= box["#bar"]["height"]
    if width == 360:
        assert box[".picked"]["y"] + box[".picked"]["height"] <= box["#panel"]["y"]
        assert 0 < box["#panel"]["height"] <= 370
    assert box["#panel"]["y"] + box["#panel"]["height"] <= 740


def test_leaving_with_citations_that_were_not_downloaded_is_asked_about(
    browser: Any, address: str, tmp_path: Path
) -> None:
    page = open_page(browser, address)
    asked: list[str] = []

    def agree(shown: Any) -> None:
        asked.append(shown.type)
        shown.accept()

    page.on("dialog", agree)
    _check(page, tmp_path)
    page.click("#next")
    page.goto("/check")
    assert asked == []
    for download in (False, True):
        _check(page, tmp_path)
        page.click("#next")
        page.get_by_role("button", name="Cite as domenici").click()
        if download:
            with page.expect_download():
                page.click("#download")
        page.goto("/cite")
    assert asked == ["beforeunload"]
    page.close()


def test_a_script_in_names_and_keys_is_only_text(page: Any, tmp_path: Path) -> None:
    draft = tmp_path / "<img src=x onerror=alert(1)>.md"
    draft.write_text("# <script>alert(1)</script>\nWhales sing [@<img/src=x/onerror=alert(1)>; @payne].\n")
    page.goto("/check")
    page.set_input_files("#files", draft)
    page.wait_for_selector("#text .sentence")
    page.click("#text .sentence")
    page.wait_for_selector("#panel h3")
    page.goto("/library")
    page.set_input_files("#files", draft)
    page.wait_for_selector("text=Added 1 paper")
    assert page.locator("main img, main script").count() == 0
    page.get_by_role("button", name="_img src=x").click()
    page.get_by_text("Confirm removal").click()
    page.wait_for_selector("text=Removed ")


def test_a_library_that_is_empty_says_what_to_do(browser: Any, tmp_path: Path) -> None:
    with serving(ServerSettings(tmp_path / "library")) as address:
        page = open_page(browser, address)
        page.goto("/library")
        page.wait_for_selector("text=Your library is empty")
        assert not page.is_visible("#rows")
        page.goto("/cite")
        page.fill("#claim", CLAIM)
        page.press("#claim", "Enter")
        page.click("#state a")
        page.wait_for_selector("text=Your library is empty")
        page.close()


def test_with_a_token_the_printed_address_opens_every_page(browser: Any, kept_library: Path) -> None:
    with serving(ServerSettings(kept_library, AccessRules(token="a secret; word"))) as address:
        page = open_page(browser, address)
        assert page.goto("/cite?text=whales").status == 401
        assert accessibility_violations(page) == []
        page.fill("[name=token]", "a wrong one")
        page.click("button")
        page.wait_for_selector(".wrong")
        page.fill("[name=token]", "a secret; word")
        page.click("button")
        page.wait_for_url("**/cite?text=whales")  # what was asked for first
        page.wait_for_selector(".card")
        page.context.clear_cookies()
        assert page.goto("/?token=a%20secret%3B%20word").status == 200
        assert "token" not in page.url
        page.fill("#claim", CLAIM)
        page.press("#claim", "Enter")
        page.wait_for_selector(".card")
        page.click("text=Library")
        page.wait_for_selector("svg.plot rect")
        page.close()


def test_what_could_not_be_added_is_told_on_the_first_visit(browser: Any, papers: Path, tmp_path: Path) -> None:
    settings = ServerSettings(tmp_path / "library", projects=tmp_path / "projects")
    with serving(settings) as address:
        page = open_page(browser, address)
        page.goto("/welcome")
        page.set_input_files("#files", papers / "refs.bib")
        page.wait_for_selector("#state:text-is('No papers were added.')")
        assert page.inner_text("#notes").startswith("refs.bib: a bibliography, which has no texts")
        photo = {"name": "photo.jpg", "mimeType": "image/jpeg", "buffer": bytes(range(256)) * 9}
        whales = {"name": "whales.md", "mimeType": "text/plain", "buffer": WHALES.encode()}
        page.set_input_files("#files", [whales, photo])
        page.wait_for_url("**/library")
        page.wait_for_selector("#state:text-is('Added 1 paper.')")
        assert page.inner_text("#notes") == "photo.jpg: not a format that whycite can read"
        page.reload()
        page.wait_for_selector("#rows tr")
        assert page.inner_text("#notes") == ""  # it is told once
        page.close()


def test_files_chosen_before_the_page_is_ready_are_taken(page: Any, papers: Path) -> None:
    """On a slow machine people are faster than the scripts."""
    page.route("**/common.js", lambda route: (page.wait_for_timeout(500), route.continue_()))
    page.goto("/check", wait_until="commit")
    page.set_input_files("#files", [papers / "bees.md", papers / "refs.bib"])
    page.wait_for_selector("#title:has-text('Mites and the loss')")


def test_headings_of_a_draft_leave_no_level_out(page: Any) -> None:
    page.goto("/check")
    page.fill("#pasted", "### Deep\n\nBees sleep at night.\n\n# Top\n\nWhales hunt.\n\n### Deep again\n\nFish swim.")
    page.get_by_role("button", name="Check", exact=True).click()
    page.wait_for_selector("#text h3")
    levels = page.locator("#text :is(h3, h4, h5)").evaluate_all("all => all.map(one => one.tagName)")
    assert levels == ["H3", "H3", "H4"]


def _verify(page: Any, papers: Path, claim: str) -> None:
    page.goto("/verify")
    page.set_input_files("#citing", papers / "bees.md")
    page.wait_for_selector("#sentences .cites")
    page.fill("#claim", claim)
    page.set_input_files("#cited", papers / "whales.md")
    page.click("#question button[type=submit]")
    page.wait_for_selector("#passages tr")


def test_verify_shows_the_way_and_the_passages(page: Any, papers: Path, tmp_path: Path) -> None:
    _verify(page, papers, "Killer whales strike herring with their tails.")
    assert page.locator("#steps li b").all_inner_texts() == ["Text", "Sentences", "Words compared", "Evidence"]
    assert "stun herring with blows" in page.inner_text("#passages tr >> nth=0")
    page.click("#passages button >> nth=0")
    assert "stun herring" in page.evaluate("document.activeElement.textContent")
    assert "<script>" not in page.inner_html("#text")
    keep_screenshot(page, "verify", tmp_path)


def test_verify_marks_what_decided_and_what_contradicts(
    page: Any, papers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    verify = OpenDocument.verify

    def contradict(paper: OpenDocument, claim: str) -> Verification:
        verification = verify(paper, claim)
        best, *rest = (replace(passage, decides=False) for passage in verification.passages)
        worst = replace(rest.pop(), decides=True, stance="contradicts", role="others", page=3)
        return replace(verification, verdict="secondary", passages=(best, *rest, worst))

    monkeypatch.setattr(OpenDocument, "verify", contradict)
    # Claims of their own, since the server remembers what it answered.
    _verify(page, papers, "Killer whales stun herring by blows with their tails.")
    assert page.locator("#verdict").inner_text().startswith("↪ Secondary")
    row = page.locator("#passages tr").first
    assert row.inner_text().count("▶ Decides the verdict") == 1
    assert "p. 3 · contradicts the claim · what others found" in row.inner_text()
    colour = "element => getComputedStyle(element).backgroundColor"
    contrary = page.locator("#text [data-stance=contradicts]")
    legend = page.locator("#legend span").all()
    page.locator("#threshold").fill("0")
    assert contrary.evaluate(colour).startswith("color(srgb 0.486275 0.227451 0.862745")
    assert [span.evaluate(colour) for span in legend] == [
        "color(srgb 0.839216 0.376471 0.101961 / 0.38)",
        "color(srgb 0.486275 0.227451 0.862745 / 0.38)",
    ]
    keep_screenshot(page, "verify-contradicts", tmp_path)
    monkeypatch.undo()
    _verify(page, papers, "Killer whales stun herring with their tails, not with their teeth.")
    page.locator("#legend.hidden").wait_for(state="attached")


def test_verify_on_wide_and_narrow_screens(page: Any, papers: Path) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto("/verify")
    form, last = (page.locator(name).bounding_box() for name in ("#question", "fieldset >> nth=1"))
    assert form["x"] + form["width"] - last["x"] - last["width"] < 40  # no empty column
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.locator("label.button >> nth=0").bounding_box()["height"] < 50  # in one piece
    page.fill("#claim", CLAIM)
    page.set_input_files("#cited", [papers / "bees.md", papers / "whales.md"])
    page.click("#question button[type=submit]")
    page.wait_for_selector("#passages tr")
    assert page.inner_text("#notes li >> nth=0") == "whales.md: not read; only bees.md was read"
    assert page.locator("#passages td:last-child").first.bounding_box()["width"] > 200
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_labels_of_a_plot_are_whole_and_apart(page: Any) -> None:
    page.goto("/library")
    boxes = page.evaluate(
        """async () => {
          const { bars } = await import("/static/plots.js");
          const years = Array.from({ length: 75 }, (_, at) => [at ? 1949 + at : "<1950", at]);
          document.body.append(bars(years, "Years"));
          const labels = [...document.body.lastChild.querySelectorAll("text")].slice(0, -1);
          return labels.map((label) => [label.textContent, label.getBBox().x, label.getBBox().width]);
        }"""
    )
    assert boxes[0][0] == "<1950"
    assert len(boxes) > 4
    ends = [0.0, *(x + width for _, x, width in boxes)]
    assert [box for box, end in zip(boxes, ends, strict=False) if box[1] < end] == []
    assert ends[-1] <= 360


def test_a_sentence_is_picked_with_arrows(page: Any, papers: Path) -> None:
    page.goto("/verify")
    page.set_input_files("#citing", papers / "bees.md")
    page.wait_for_selector("#sentences .cites")
    page.focus("#find-citing")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.input_value("#claim") == "Colonies collapse in winter when mites carry viruses."
    assert page.locator("#sentences [aria-selected=true]").count() == 1
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "cited"


def test_papers_of_the_library_are_read_where_they_lie(page: Any) -> None:
    page.goto("/verify")
    page.fill("#find-citing", "bees")
    page.click("#found-citing button")
    page.click("#sentences .cites >> nth=0")
    assert page.input_value("#claim") == "Deformed wing virus spreads with the mite Varroa."
    page.fill("#claim", "Killer whales strike herring with their tails.")
    page.fill("#find-cited", "whales")
    page.click("#found-cited button")
    page.click("#question button[type=submit]")
    page.wait_for_selector("#passages tr")
    assert "stun herring" in page.inner_text("#passages")


def _reached(page: Any, name: str, papers: Path, tmp_path: Path) -> None:
    """A page once it shows what it is for."""
    if name == "cite":
        page.goto("/cite")
        page.fill("#claim", CLAIM)
        page.press("#claim", "Enter")
        page.wait_for_selector(".card")
    elif name == "library":
        page.goto("/library")
        page.wait_for_selector("svg.plot rect")
    elif name == "check":
        _check(page, tmp_path)
        page.click("#next")
        page.wait_for_selector("#panel .card")
    else:
        _verify(page, papers, CLAIM)


@pytest.mark.parametrize("name", ["cite", "library", "check", "verify"])
@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_nobody_is_kept_out(page: Any, name: str, scheme: str, papers: Path, tmp_path: Path) -> None:
    page.emulate_media(color_scheme=scheme)
    _reached(page, name, papers, tmp_path)
    assert accessibility_violations(page) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cite", "library", "check", "verify"])
def test_a_narrow_screen_needs_no_scrolling_sideways(page: Any, name: str, papers: Path, tmp_path: Path) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    _reached(page, name, papers, tmp_path)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.mark.slow
def test_every_page_on_real_papers(browser: Any, data: Path, tmp_path: Path) -> None:
    from itertools import islice

    from whycite.documents import stream
    from whycite.library import Library, add_documents

    documents = list(islice(stream(data / "elife" / "elife-tiny.jsonl.zst"), 6))
    add_documents(tmp_path / "library", documents, jobs=1)
    cited = next(sentence for sentence in documents[0].sentences if sentence.citations).without_citations()
    title = next(iter(Library.open(tmp_path / "library").documents())).title
    with serving(ServerSettings(tmp_path / "library")) as address:
        page = open_page(browser, address)
        asked: list[str] = []
        page.on("request", lambda sent: asked.append(sent.url))
        page.goto("/cite")
        page.fill("#claim", cited)
        page.press("#claim", "Enter")
        page.wait_for_selector(".card .why mark")
        keep_screenshot(page, "real-cite", tmp_path)
        page.goto("/verify")
        page.fill("#claim", cited)
        page.fill("#find-cited", title)
        page.click("#found-cited button")
        page.click("#question button[type=submit]")
        page.wait_for_selector("#passages tr")
        assert page.locator("#strip button").count() > 0
        keep_screenshot(page, "real-verify", tmp_path)
        page.goto("/check")
        page.fill("#pasted", "# Introduction\n" + " ".join(each.text for each in documents[1].sentences[:60]))
        page.click("button:text('Check')")
        page.wait_for_selector("#text .sentence")
        page.click("#next")
        page.wait_for_selector("#panel .cards li")
        keep_screenshot(page, "real-check", tmp_path)
        page.goto("/library")
        page.wait_for_selector("svg.plot rect")
        page.locator("#rows tr").nth(5).wait_for()
        assert page.locator("#rows tr").count() == 6
        keep_screenshot(page, "real-library", tmp_path)
        page.close()
    assert {url for url in asked if not url.startswith((address, f"blob:{address}"))} == set()
