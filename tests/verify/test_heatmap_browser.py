"""The page of the heat map in a real browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.drafts import verified_document
from whycite.verify.heatmap import html

Open = Callable[..., Any]
WORDS = "Foragers that were kept awake danced less exactly on the following day than those that slept".split()


def long_document(**other: Any) -> Any:
    """Two hundred sentences, five of them hot."""
    texts = tuple(" ".join([f"Sentence {at}:", *WORDS[at % 5 :]]) + "." for at in range(200))
    hot = {3: 0.55, 60: 0.97, 61: 0.85, 120: 0.74, 190: 0.62}
    scores = tuple(hot.get(at, (at * 37 % 100) / 400) for at in range(200))
    return verified_document(texts=texts, scores=scores, **other)


@pytest.fixture
def page(browser: Any, tmp_path: Path) -> Iterator[Open]:
    """Opens a page; whatever it asks for, complains of or runs without leave is a failure."""
    contexts: list[Any] = []
    wrong: list[str] = []

    def refuse(dialog: Any) -> None:
        wrong.append(dialog.message)
        dialog.dismiss()

    def watch(request: Any) -> None:
        if not request.url.startswith(("file:", "data:")):
            wrong.append(request.url)

    def opened(content: str, width: int = 1360, height: int = 900, scheme: str = "light") -> Any:
        file = tmp_path / "page.html"
        file.write_text(content, "utf-8")
        contexts.append(
            browser.new_context(
                viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce"
            )
        )
        contexts[-1].set_default_timeout(100_000)  # milliseconds, on a busy machine
        shown = contexts[-1].new_page()
        shown.on("console", lambda message: wrong.append(message.text))
        shown.on("pageerror", lambda error: wrong.append(str(error)))
        shown.on("dialog", refuse)
        shown.on("request", watch)
        shown.goto(file.as_uri())
        return shown

    yield opened
    for context in contexts:
        context.close()
    assert wrong == []


def test_only_what_speaks_against_a_passage_is_a_warning(page: Open) -> None:
    shown = page(html(*verified_document(note="7.7 here too")))
    first, second = (shown.locator("#list li").nth(place).locator(".note").all_inner_texts() for place in (0, 1))
    assert first == ["7.7 here too"]
    assert second == ["⚠ quotes the claim, so it is not evidence"]


def heats(shown: Any) -> dict[str, str]:
    found: dict[str, str] = shown.evaluate(
        "Object.fromEntries([...document.querySelectorAll('.s[data-heat]')].map(s => [s.id, s.dataset.heat]))"
    )
    return found


def in_sight(shown: Any, selector: str) -> bool:
    """Whether it is within the window, and nothing lies over its middle."""
    return bool(
        shown.evaluate(
            """selector => {
                const element = document.querySelector(selector);
                const box = element.getClientRects()[0];
                const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
                return element.contains(document.elementFromPoint(x, y));
            }""",
            selector,
        )
    )


def test_at_a_glance(page: Open, artefacts: Path) -> None:
    claim = "Foragers that lack sleep dance less precisely."
    shown = page(html(*long_document(claim=claim)))
    assert shown.inner_text("#claim") == claim
    assert shown.inner_text("#verdict").split("\n")[0] == "✗ contradicted 87% confidence"
    assert heats(shown) == {"s3": "3", "s60": "5", "s61": "5", "s120": "4", "s190": "4"}
    assert shown.locator("#list li").count() == 10
    assert shown.locator("#marks button").all_inner_texts() == ["1", "2", "3", "4", "5"]
    first = shown.locator("#list button").first.inner_text().split("\n")
    assert first[0] == "1"
    assert first[1].startswith("0.97 · sentence 61 · Part 2")
    assert "77 in the claim, 7.7 here" in first[-1]
    shown.keyboard.press("1")
    for selector in ("#claim", "#said", "#s60", "#list [aria-current=true]", "#marks [aria-current=true]"):
        assert in_sight(shown, selector), selector
    picture = artefacts / "heatmap.png"
    shown.screenshot(path=picture)
    assert picture.stat().st_size > 20_000


def test_contradicting_and_deciding_passages_stand_out(page: Open, artefacts: Path) -> None:
    document, verification = long_document()
    best, second, *rest = verification.passages
    changed = (best, replace(second, stance="contradicts"), *rest[:20], replace(rest[20], decides=True), *rest[21:])
    shown = page(html(document, replace(verification, verdict="secondary", passages=changed)))
    assert shown.inner_text("#said") == "↪ secondary"
    first = shown.locator("#list button").first.inner_text()
    assert first.startswith("23\n")
    assert "▶ decides the verdict" in first
    colour = "selector => getComputedStyle(document.querySelector(selector)).backgroundColor"
    assert shown.evaluate(colour, "#s61") == shown.evaluate(colour, "#list [data-stance=contradicts]")
    assert shown.evaluate(colour, "#s61") != shown.evaluate(colour, "#s60")
    assert shown.inner_text("#against") == "contradicts ✗"
    shown.screenshot(path=artefacts / "heatmap-contradicts.png")
    assert not page(html(*long_document())).locator("#against").is_visible()


def test_slider_and_number_of_passages(page: Open) -> None:
    shown = page(html(*long_document()))
    shown.locator("#threshold").fill("0.8")
    assert set(heats(shown)) == {"s60", "s61"}
    assert shown.inner_text("#from") == "0.80"
    assert shown.inner_text("#shaded") == "2 of 200 sentences"
    assert shown.locator("#marks button").count() == 2
    assert shown.locator("#legend .off").count() == 4
    shown.locator("#threshold").fill("0")
    assert len(heats(shown)) == 200
    shown.locator("#top").fill("25")
    assert shown.locator("#list li").count() == 25
    assert shown.locator(".s[data-rank]").count() == 25


def test_every_way_to_jump(page: Open) -> None:
    shown = page(html(*long_document()))
    shown.locator("#list button").nth(3).click()
    assert shown.evaluate("document.activeElement.id") == "s190"
    assert in_sight(shown, "#s190")
    shown.locator("#marks button", has_text="5").click()
    assert shown.evaluate("document.activeElement.id") == "s3"
    assert in_sight(shown, "#s3")
    assert shown.locator(".s.current").count() == 1
    box = shown.locator("#strip").bounding_box()
    shown.mouse.click(box["x"] + 10, box["y"] + box["height"] * 0.6)
    assert in_sight(shown, "#s120")
    assert not in_sight(shown, "#s3")


def test_by_keys_alone(page: Open) -> None:
    shown = page(html(*long_document()))
    focused = "document.activeElement.id"
    for key, there in (("n", "s60"), ("n", "s61"), ("p", "s60"), ("p", "s60"), ("4", "s190")):
        shown.keyboard.press(key)
        assert shown.evaluate(focused) == there
    shown.keyboard.press("+")
    assert shown.inner_text("#from") == "0.55"
    for _ in range(20):
        shown.keyboard.press("-")
    assert shown.inner_text("#from") == "0.00"
    shown.locator("#top").focus()
    shown.keyboard.press("Tab")
    shown.keyboard.press("Enter")
    assert shown.evaluate(focused) == "s60"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_narrow_screens(page: Open, artefacts: Path, scheme: str) -> None:
    shown = page(html(*long_document(title="Averyveryverylongword" * 9)), 360, 740, scheme)
    assert shown.evaluate("document.documentElement.scrollWidth") <= 360
    shown.locator("#list button").first.click()
    assert in_sight(shown, "#s60")
    assert in_sight(shown, "#marks [aria-current=true]")
    shown.screenshot(path=artefacts / f"heatmap-narrow-{scheme}.png")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_use_it(page: Open, scheme: str) -> None:
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="needs: pip install axe-playwright-python"
    )
    shown = page(html(*long_document()), scheme=scheme)
    shown.keyboard.press("1")
    assert [found["id"] for found in axe.Axe().run(shown).response["violations"]] == []


def test_nothing_in_a_text_is_run(page: Open) -> None:
    evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)><b>"
    document, verification = verified_document(
        texts=(evil,) * 6, title=evil, path=f"{evil}.md", claim=evil, headings=(evil,) * 4, note=evil
    )
    shown = page(html(document, verification))
    shown.keyboard.press("1")
    assert shown.inner_text("#claim") == evil
    assert shown.inner_text("#title") == evil
    assert shown.locator("#text h2").first.inner_text() == evil
    assert shown.evaluate("document.querySelectorAll('b:not(.facts b), img').length") == 0


def test_without_passages(page: Open) -> None:
    document, verification = verified_document()
    shown = page(html(document, replace(verification, passages=(), verdict="could not check", confidence=0.0)))
    assert shown.locator("#none").is_visible()
    assert shown.inner_text("#said") == "– could not check"
    assert shown.inner_text("#sure") == ""
    assert heats(shown) == {}
    shown.keyboard.press("n")


def test_a_book_opens_soon(page: Open) -> None:
    texts = tuple(f"Sentence {at} of a very long book says little." for at in range(8000))
    shown = page(html(*verified_document(texts=texts, scores=tuple((at * 37 % 1000) / 1000 for at in range(8000)))))
    shown.locator("#threshold").fill("0.99")
    assert len(heats(shown)) == 80
    moved = (
        "(() => { const t = performance.now(); document.getElementById('threshold')"
        ".dispatchEvent(new Event('input')); return performance.now() - t; })()"
    )
    assert min(shown.evaluate(moved) for _ in range(3)) < 3000


def test_a_real_paper(page: Open, data: Path, artefacts: Path) -> None:
    """From the file to the picture: what a reader of the page sees first."""
    from whycite import read
    from whycite.verify.claims import verify_claim

    document = read(data / "formats" / "PMC6398430.nxml")
    found = verify_claim("Fewer crows used the zoo during the breeding season than in the rest of the year.", document)
    shown = page(html(document, found), 1440)
    assert shown.inner_text("#title") == document.paper.title
    assert found.verdict in shown.inner_text("#said")
    assert 3 <= len(heats(shown)) < len(document.sentences) / 4
    shown.keyboard.press("1")
    best = found.passages[0]
    assert in_sight(shown, f"#s{best.index}")
    assert best.text in shown.inner_text(f"#s{best.index}")
    shown.screenshot(path=artefacts / "heatmap-paper.png")
