"""The reviewer's way through a project in a real browser: manuscript and papers, verdicts, decisions that stay."""

from pathlib import Path
from typing import Any

import pytest

from tests.web.browsing import accessibility_violations, keep_screenshot, needs_browser
from tests.web.manuscripts import BEES, DRONES, MANUSCRIPT, WHALES

pytestmark = needs_browser
# The selected sentence is on the screen, and the panel does not cover it.
IN_SIGHT = """() => {
  const sentence = document.querySelector('#text .picked').getBoundingClientRect();
  const panel = document.querySelector('#panel').getBoundingClientRect();
  const covered = panel.left < sentence.right && panel.top < sentence.bottom && sentence.top < panel.bottom;
  return sentence.top > 0 && sentence.bottom < innerHeight && !covered;
}"""


# How far parts of the page moved by themselves since it was opened: 0 is not at all.
SHIFT = """() => new Promise((resolve) => {
  let shift = 0;
  const observer = new PerformanceObserver((list) => list.getEntries().forEach((entry) => (shift += entry.value)));
  observer.observe({ type: 'layout-shift', buffered: true });
  setTimeout(() => resolve(shift), 300);
})"""


def _file(name: str, text: str) -> dict[str, Any]:
    return {"name": name, "mimeType": "text/markdown", "buffer": text.encode()}


def _verified(page: Any) -> None:
    """Creates a project, and waits for the verdicts."""
    page.goto("/projects")
    page.set_input_files("#draft", _file("draft.md", MANUSCRIPT))
    page.set_input_files("#papers", [_file("whales.md", WHALES), _file("bees.md", BEES)])
    page.get_by_role("button", name="Verify the draft").click()
    page.wait_for_url("**/projects/*")
    page.get_by_role("button", name="Verify again").wait_for()


def test_the_way_of_a_reviewer(page: Any, tmp_path: Path) -> None:
    page.goto("/projects")
    page.get_by_role("button", name="Verify the draft").click()
    page.wait_for_selector("#state.wrong:has-text('Choose the draft first')")
    _verified(page)
    assert page.inner_text("h1") == "A note on whales and bees"
    assert page.inner_text("#count") == "2 to look at: 1 of 3 citations, 1 sentence without one"
    verdicts = [text.split("\n")[0] for text in page.locator("#list button").all_inner_texts()]
    assert verdicts == ["✗ Contradicted", "! Needs a citation", "✓ Backed", "– Could not check"]  # the worst first
    page.get_by_role("button", name="Next to look at").click()
    page.wait_for_url("**/sentences/1")
    card = page.locator("#panel .card")
    assert "▶ Decides the verdict" in card.inner_text()
    assert "increased the prevalence of deformed wing virus" in card.inner_text()
    keep_screenshot(page, "project", tmp_path)
    page.evaluate("document.querySelector('#panel .why').dataset.same = 'yes'")
    card.get_by_label("Reason").fill("they mean another island")
    card.get_by_role("button", name="Dismiss").click()
    page.get_by_text("Dismissed: they mean another island").wait_for()
    assert page.inner_text("#count").startswith("1 to look at: 0 of 3 citations")
    assert page.evaluate("document.activeElement.textContent") == "Undo"
    assert page.locator("#panel .why[data-same]").count() == 1  # the evidence beside it is not made anew
    page.reload()  # the address, the verdicts and the decision are still there
    page.get_by_text("Dismissed: they mean another island").wait_for()
    page.wait_for_selector("#count:has-text('0 of 3 citations')")
    assert page.locator("#text .picked").inner_text().startswith("The mite Varroa")
    page.get_by_role("button", name="Dismissed 1").click()
    assert page.locator("#list button").count() == 1
    page.get_by_role("button", name="Undo").click()
    page.wait_for_selector("#count:has-text('1 of 3 citations')")


def test_everything_is_decided_and_commented(page: Any, tmp_path: Path) -> None:
    _verified(page)
    page.get_by_role("button", name="Next to look at").click()
    page.get_by_text("Add a comment").press("Enter")
    page.keyboard.type("Hawaii, not here <img src=x onerror=alert(1)>")
    page.get_by_role("button", name="Accept", exact=True).press("Enter")
    page.locator("#panel").get_by_text("Accepted").wait_for()
    assert page.evaluate("document.activeElement.textContent") == "Undo"  # and the comment is not lost
    page.get_by_role("button", name="Save comment").press("Enter")
    page.locator(".comment").get_by_text("Hawaii, not here <img").wait_for()
    page.get_by_role("button", name="Next to look at").click()
    page.wait_for_selector("#panel h2:text('Needs a citation')")
    page.get_by_label("Reason").fill("common knowledge")
    page.get_by_role("button", name="Dismiss", exact=True).click()
    page.wait_for_selector("#count:text-is('0 to look at: 0 of 3 citations')")
    assert page.is_disabled("#next")
    page.reload()
    page.wait_for_selector("#count:text-is('0 to look at: 0 of 3 citations')")
    page.get_by_role("button", name="Comments 1").click()
    page.locator("#list button").click()
    page.get_by_role("button", name="Accepted 1").click()
    assert page.locator("#list button").count() == 1
    page.locator(".comment").get_by_role("button", name="Edit").click()
    page.get_by_label("Comment on this sentence").fill("Hawaii.\nNot here.")
    page.get_by_role("button", name="Save comment").click()
    page.wait_for_selector(".comment:has-text('Not here.')")
    assert accessibility_violations(page) == []
    keep_screenshot(page, "project-decided", tmp_path)
    page.get_by_role("button", name="Undo").click()
    page.wait_for_selector("#count:has-text('1 to look at')")
    page.locator(".comment").get_by_role("button", name="Delete").click()
    page.get_by_text("Add a comment").wait_for()


@pytest.mark.parametrize("width", [375, 1440])
def test_nothing_moves_while_a_page_loads(page: Any, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 740})
    _verified(page)
    project = page.url
    page.get_by_role("button", name="Next to look at").click()
    paper = page.get_by_role("link", name="Open the paper").get_attribute("href")
    for place in (project, f"{project}/sentences/1", paper, "/projects", "/library", "/cite?text=whales", "/welcome"):
        page.goto(place)
        page.wait_for_load_state("networkidle")
        assert page.evaluate(SHIFT) < 0.02, place


def test_a_project_can_be_printed(page: Any) -> None:
    _verified(page)
    page.get_by_role("button", name="Next to look at").click()
    page.emulate_media(media="print", color_scheme="dark")
    assert page.is_visible("#list button >> nth=3")
    assert page.is_visible("#text .sentence >> nth=3")
    assert page.is_visible("#panel > blockquote")
    for name in (".top", "#next", "#lacking", "#filters", "#drop", "#panel form", "#panel button", ".commenting"):
        assert page.locator(f"{name}:visible").count() == 0, name
    assert page.evaluate("getComputedStyle(document.querySelector('#list')).maxHeight") == "none"
    assert page.evaluate("getComputedStyle(document.querySelector('.sentence.picked')).boxShadow") == "none"
    assert (
        page.evaluate("getComputedStyle(document.body).color") == "rgb(28, 33, 40)"
    )  # dark on white, whatever the screen


def test_a_missing_paper_is_added_beside_its_reference(page: Any, tmp_path: Path) -> None:
    _verified(page)
    missing = page.locator("#missing-list li")
    assert missing.count() == 1
    assert page.inner_text("#lacking") == "1 paper missing"
    page.click("#lacking")
    page.wait_for_url("**#missing")
    assert missing.locator("a").get_attribute("href") == "https://doi.org/10.1098/rspb.2002.2199"
    missing.locator("input").set_input_files(_file("drones.md", DRONES))
    page.locator("#missing").wait_for(state="hidden")
    page.get_by_role("button", name="✓ Backed 2", exact=True).click()
    assert page.locator("#list button").count() == 2
    assert "drones.md" in page.inner_text("#files")


def test_a_citation_without_an_entry_is_something_to_look_at(page: Any) -> None:
    page.goto("/projects")
    page.set_input_files("#draft", _file("draft.md", MANUSCRIPT.replace("[@domenici]", "[@domenici1]")))
    page.get_by_role("button", name="Verify the draft").click()
    page.get_by_role("button", name="Verify again").wait_for()
    assert page.inner_text("#count") == "2 to look at: 1 of 3 citations, 1 sentence without one"


def test_files_tell_which_paper_they_are_and_whether_it_is_cited(page: Any) -> None:
    _verified(page)
    page.set_input_files("#papers", _file("other.md", DRONES.replace("Genetic diversity within", "Sleep of")))
    page.locator("#files li", has_text="other.md").get_by_text("no citation of the draft matches it").wait_for()
    photo = {"name": "photo.jpg", "mimeType": "image/jpeg", "buffer": bytes(range(256)) * 9}
    page.set_input_files("#papers", photo)
    page.locator("#files li", has_text="photo.jpg").get_by_text("unknown file format").wait_for()
    row = page.locator("#files li", has_text="bees.md")
    assert "Global honey bee viral landscape altered by a parasitic mite" in row.inner_text()
    assert "1 citation" in row.inner_text()


def test_a_draft_that_cannot_be_read_can_be_replaced(page: Any) -> None:
    page.goto("/projects")
    photo = {"name": "photo.jpg", "mimeType": "image/jpeg", "buffer": bytes(range(256)) * 9}
    page.set_input_files("#draft", photo)
    page.get_by_role("button", name="Verify the draft").click()
    page.wait_for_selector("#state.wrong:has-text('photo.jpg: unknown file format. Choose another file')")
    assert not page.is_visible("#text")
    assert accessibility_violations(page) == []
    page.set_input_files("#draft", _file("draft.md", MANUSCRIPT))
    page.wait_for_selector("#text:has-text('Killer whales stun herring')")
    page.wait_for_selector("#list button")


def test_sentences_have_addresses(page: Any) -> None:
    _verified(page)
    page.locator("#text").get_by_text("Previous studies have shown").click()
    page.wait_for_selector("#panel h2:text('Needs a citation')")
    page.get_by_text("Killer whales stun herring").first.click()
    page.wait_for_selector("#panel h3:has-text('Backed')")
    page.go_back()
    page.wait_for_selector("#panel h2:text('Needs a citation')")
    page.reload()
    page.wait_for_selector("#panel h2:text('Needs a citation')")
    assert page.url.endswith("/sentences/3")
    page.focus("#text .picked")
    page.keyboard.press("Home")  # the draft is one stop, in which arrows lead on
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/sentences/1")
    assert page.evaluate("document.activeElement.id") == "picked"
    page.goto(f"{page.url.rpartition('/')[0]}/x")
    assert page.inner_text("h1") == "Page not found"
    page.goto("/projects/0000000000000000")
    assert page.inner_text("h1") == "Page not found"


def test_a_new_version_of_the_draft_keeps_what_was_decided(page: Any) -> None:
    _verified(page)
    page.get_by_role("button", name="Next to look at").click()
    page.get_by_role("button", name="Dismiss", exact=True).click()
    page.wait_for_selector("#count:has-text('0 of 3 citations')")
    longer = MANUSCRIPT.replace("Killer whales stun", "Orcas are whales. Killer whales stun")
    page.set_input_files("#draft", _file("second.md", longer))
    page.get_by_text("Orcas are whales.").wait_for()
    page.get_by_role("button", name="Verify again").wait_for()
    page.wait_for_selector("#count:has-text('0 of 3 citations')")
    assert "second.md" in page.inner_text("#files")
    assert "draft.md" not in page.inner_text("#files")


def test_the_reports_are_downloaded(page: Any) -> None:
    _verified(page)
    for name, suffix in (("web page", ".html"), ("Markdown", ".md")):
        with page.expect_download() as download:
            page.get_by_role("link", name=name).click()
        assert download.value.suggested_filename == f"A note on whales and bees - citations{suffix}"
        assert "increased the prevalence" in download.value.path().read_text()


def test_files_and_projects_are_deleted_when_pressed_twice(page: Any) -> None:
    _verified(page)
    project = page.url.partition("/projects/")[2]

    def names() -> list[str]:
        return [file["name"] for file in page.request.get(f"/api/projects/{project}").json()["files"]]

    page.get_by_role("button", name="Remove bees.md").click()
    page.get_by_text("Confirm removal").wait_for()
    assert "bees.md" in names()
    page.get_by_text("Confirm removal").click()
    page.locator("#files").get_by_text("bees.md").wait_for(state="detached")
    page.locator("#missing-list li").nth(1).wait_for()
    assert "bees.md" not in names()
    page.get_by_role("button", name="Delete project").click()
    confirm = page.get_by_role("button", name="Confirm: delete it with all its files")
    confirm.wait_for()
    assert page.request.get(f"/api/projects/{project}").ok
    confirm.click()
    page.wait_for_url("**/projects")
    assert page.request.get(f"/api/projects/{project}").status == 404


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["projects", "project"])
def test_nobody_is_kept_out(page: Any, scheme: str, name: str, tmp_path: Path) -> None:
    page.emulate_media(color_scheme=scheme)
    _verified(page)
    if name == "projects":
        page.goto("/projects")
        page.wait_for_selector("#list .card")
    else:
        page.get_by_role("button", name="Next to look at").click()
        page.wait_for_selector("#panel .card")
    assert accessibility_violations(page) == []
    keep_screenshot(page, f"{name}-{scheme}", tmp_path)


@pytest.mark.parametrize("width", [375, 900])
def test_no_screen_needs_scrolling_sideways(page: Any, width: int, tmp_path: Path) -> None:
    page.set_viewport_size({"width": width, "height": 740})
    _verified(page)
    keep_screenshot(page, f"project-{width}-all", tmp_path)
    page.get_by_role("button", name="Next to look at").click()
    page.wait_for_selector("#panel .card")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.wait_for_function(IN_SIGHT)
    keep_screenshot(page, f"project-{width}", tmp_path)
