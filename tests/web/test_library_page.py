"""The library in a real browser: the first visit, papers and their pages, selections, addresses and colours."""

from pathlib import Path
from typing import Any

import pytest

from tests.web.browsing import CLAIM, accessibility_violations, keep_screenshot, needs_browser, open_page
from tests.web.serving import serving
from whycite.web.serverstate import ServerSettings

pytestmark = needs_browser


def test_a_question_has_an_address_and_is_remembered(page: Any) -> None:
    page.goto("/cite")
    page.fill("#claim", CLAIM)
    page.press("#claim", "Enter")
    page.wait_for_selector(".card")
    page.fill("#claim", "Mites spread viruses among bees.")
    page.fill("[name=year_max]", "2012")
    page.press("#claim", "Enter")
    page.wait_for_url("**year_max=2012")
    page.reload()
    page.wait_for_selector(".card")
    assert page.input_value("#claim") == "Mites spread viruses among bees."
    page.go_back()
    page.wait_for_selector(".card:has-text('tail-slaps')")
    assert (page.input_value("#claim"), page.input_value("[name=year_max]")) == (CLAIM, "")
    page.click("#recent summary")
    assert page.locator("#recent a").all_inner_texts() == [CLAIM, "Mites spread viruses among bees."]
    page.get_by_role("button", name="Clear").click()
    page.locator("#recent").wait_for(state="hidden")


def test_from_a_recommendation_to_the_paper_and_its_citing_sentences(page: Any, tmp_path: Path) -> None:
    page.goto(f"/cite?text={CLAIM}")
    page.get_by_role("link", name="Killer whales feeding").first.click()
    page.wait_for_url("**/papers/**")
    assert page.inner_text("h1").startswith("Killer whales feeding on schooling herring")
    assert "Killer whales stun herring" in page.inner_text("#citing-1")
    page.locator(".graph a[href='#citing-1']").focus()
    page.keyboard.press("Enter")
    assert page.url.endswith("#citing-1")
    page.locator("#citing-1").get_by_role("link", name="How killer whales hunt herring").click()
    page.wait_for_selector("h2:text('Its references')")
    assert page.locator("[id^=reference-]").count() == 5
    assert "<img src=x onerror=alert(1)>" in page.inner_text("main")  # a hostile title is only text
    assert page.locator("main img, main script").count() == 0
    keep_screenshot(page, "paper", tmp_path)
    page.get_by_role("link", name="Verify a claim against it").click()
    page.wait_for_url("**/verify?document=*")
    page.fill("#claim", CLAIM)
    page.get_by_role("button", name="Verify", exact=True).click()
    page.wait_for_selector("#passages tr")
    page.reload()
    page.wait_for_selector("#passages tr")
    assert page.input_value("#claim") == CLAIM
    page.goto("/papers/doi:10.1/none")
    assert page.inner_text("h1") == "This paper is not in your library"
    assert page.get_by_role("link", name="doi.org/10.1/none").get_attribute("href") == "https://doi.org/10.1/none"


def test_papers_are_found_sorted_exported_and_removed(page: Any) -> None:
    page.goto("/library?sort=title")
    page.wait_for_selector("#rows tr:nth-child(2)")
    assert page.locator("#rows td:first-child a").all_inner_texts()[0] == "How killer whales hunt herring"
    page.fill("[name=query]", "mites")
    page.locator("#rows tr").nth(1).wait_for(state="detached")
    page.reload()
    page.wait_for_selector("#rows tr")
    assert page.locator("#rows tr").count() == 1
    page.check("#all")
    assert page.inner_text("#selected") == "1 paper selected"
    for format, beginning in (("bibtex", "@"), ("ris", "TY  -"), ("csl", "["), ("csv", "key,title")):
        page.select_option("#format", format)
        with page.expect_download() as download:
            page.get_by_role("button", name="Export").click()
        text = download.value.path().read_text()
        assert text.startswith(beginning)
        assert "honeybee colonies" in text
        assert "killer whales" not in text
    page.get_by_role("button", name="Remove 1 paper").click()
    page.get_by_role("button", name="Confirm: remove 1 paper").click()
    page.wait_for_selector("#place:text('No papers match.')")


def test_papers_are_put_into_a_collection(page: Any, tmp_path: Path) -> None:
    page.goto("/library?sort=title")
    page.wait_for_selector("#rows tr")
    place = page.locator("#rows").bounding_box()
    page.get_by_label("Select How killer whales hunt herring").check()
    assert page.locator("#rows").bounding_box() == place  # nothing moves away from under the mouse
    page.get_by_label("Add to collection").fill("Sea <b>animals</b>")
    page.keyboard.press("Enter")
    page.wait_for_selector("#state:has-text('Added 1 paper to “Sea <b>animals</b>”.')")
    page.select_option("[name=collection]", "Sea <b>animals</b>")
    page.locator("#rows tr").nth(1).wait_for(state="detached")
    page.reload()
    page.wait_for_selector("#rows tr:has-text('killer whales')")
    assert page.locator("#rows tr").count() == 1
    assert accessibility_violations(page) == []
    keep_screenshot(page, "library-collection", tmp_path)
    page.check("#all")
    page.get_by_role("button", name="Take out of this collection").click()
    page.wait_for_selector("#place:text('No papers match.')")
    page.get_by_role("button", name="Delete collection").click()
    page.get_by_role("button", name="Confirm: its papers stay").click()
    page.wait_for_selector("#state:has-text('Deleted the collection')")
    assert "collection" not in page.url


def test_colours_are_chosen_and_stay(page: Any) -> None:
    dark = "getComputedStyle(document.body).backgroundColor === 'rgb(21, 24, 28)'"
    page.goto("/cite")
    assert not page.evaluate(dark)
    page.select_option("#theme", "dark")
    assert page.evaluate(dark)
    page.goto("/projects")
    assert page.evaluate(dark)
    assert page.input_value("#theme") == "dark"
    page.select_option("#theme", "")
    assert not page.evaluate(dark)


def test_the_first_visit_offers_an_example(browser: Any, tmp_path: Path) -> None:
    with serving(ServerSettings(tmp_path / "library", projects=tmp_path / "projects")) as address:
        page = open_page(browser, address)
        page.goto("/")
        assert page.url.endswith("/welcome")
        page.get_by_role("button", name="Open the example").click()
        page.wait_for_url("**/projects/*")
        page.get_by_role("button", name="Verify again").wait_for()
        verdicts = [text.split("\n")[0] for text in page.locator("#list button").all_inner_texts()]
        assert verdicts == ["✗ Contradicted", "? Not found", "! Needs a citation", "✓ Backed", "– Could not check"]
        page.goto("/")
        assert page.url.endswith("/cite")  # it is no first visit any more
        page.goto("/welcome")
        page.get_by_role("button", name="Open the example").click()
        page.wait_for_url("**/projects/*")
        page.goto("/projects")
        page.wait_for_selector("#list .card")
        assert page.locator("#list .card").count() == 1
        page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("place", ["/welcome", "/library", "/papers/title:how killer whales hunt herring"])
def test_everybody_can_use_it(page: Any, scheme: str, place: str, tmp_path: Path) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto(place)
    page.wait_for_load_state("networkidle")
    assert accessibility_violations(page) == []
    page.set_viewport_size({"width": 375, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    keep_screenshot(page, f"{place.strip('/').split('/')[0]}-375-{scheme}", tmp_path)


def test_a_defect_in_telling_what_was_added_is_not_hidden(browser: Any, address: str) -> None:
    page = open_page(browser, address)
    failures: list[str] = []
    page.on("pageerror", lambda error: failures.append(str(error)))
    page.goto("/library")
    page.evaluate('sessionStorage.setItem(\'whycite-added\', \'{"text": "Added 1 paper.", "skipped": 5}\')')
    with page.expect_event("pageerror"):
        page.reload()
    assert failures
    assert page.evaluate("sessionStorage.getItem('whycite-added')") is None
    page.close()
