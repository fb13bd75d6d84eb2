"""The page of the heat map, as a file."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from importlib.resources import files
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.drafts import verified_document
from whycite.errors import UserError
from whycite.verify.heatmap import embed_json, heat_map_json, html

EVIL = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<!--<script>",
    "]]>\u2028\u2029\x00\x1b\ud800 %%script%%",
    "\"'`&amp;<b>",
    "javascript:alert(1)",
)


class Parsed(HTMLParser):
    """The elements of a page, and the text of those that hold no others."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.inside = False
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes)))
        self.texts.append("")
        self.inside = True

    def handle_endtag(self, tag: str) -> None:
        self.inside = False

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.texts[-1] += data

    def of(self, tag: str) -> list[tuple[dict[str, str | None], str]]:
        found = zip(self.elements, self.texts, strict=True)
        return [(attributes, text) for (name, attributes), text in found if name == tag]


def data_of(page: str) -> dict[str, Any]:
    parsed = Parsed(page)
    content: dict[str, Any] = next(
        json.loads(text) for attributes, text in parsed.of("script") if attributes.get("id") == "data"
    )
    return content


def test_all_that_is_needed_is_in_it() -> None:
    document, verification = verified_document()
    page = html(document, verification)
    data = data_of(page)
    assert data["threshold"] == 0.5
    assert data["top"] == 10
    assert data["sentences"] == heat_map_json(document, verification)["sentences"]
    assert data["document"]["path"] == "bees.md"  # the folder is no one's business
    assert "<title>contradicted: Bees sleep 77 hours.</title>" in page
    assert "Bees sleep 77 hours. — contradicted." in page.split("<noscript>")[1].split("</noscript>")[0]


def test_nothing_is_loaded_from_elsewhere() -> None:
    page = html(*verified_document())
    for _, attributes in Parsed(page).elements:
        for name in ("src", "href", "action", "data", "srcset", "style"):
            assert (attributes.get(name) or "#").startswith(("#", "data:")), attributes
        assert not any(name.startswith("on") for name in attributes)
    assert not re.search(r"url\(|@import|fetch\(|XMLHttpRequest|innerHTML|insertAdjacent|document\.write|eval\(", page)
    assert "http://" not in page
    assert "https://" not in page


def test_the_policy_lets_only_its_own_script_and_style_run() -> None:
    parsed = Parsed(html(*verified_document()))
    policy = next(
        attributes["content"] or ""
        for attributes, _ in parsed.of("meta")
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["base-uri"] == rules["form-action"] == "'none'"

    def digest(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    script = next(text for attributes, text in parsed.of("script") if "id" not in attributes)
    assert rules["script-src"] == digest(script)
    assert rules["style-src"] == digest(parsed.of("style")[0][1])


@pytest.mark.parametrize("evil", EVIL, ids=range(len(EVIL)))
def test_text_stays_text(evil: str) -> None:
    texts = (evil, *("Sentence.",) * 5)
    document, verification = verified_document(
        texts=texts, title=evil, path=f"x/{evil}.md", claim=evil, headings=(evil,) * 4, note=evil
    )
    page = html(document, verification)
    harmless = Parsed(html(*verified_document()))
    assert [tag for tag, _ in Parsed(page).elements] == [tag for tag, _ in harmless.elements]
    data = data_of(page)
    assert data["claim"] == data["sentences"][0]["text"] == data["document"]["title"] == evil
    assert data["sections"][0]["heading"] == evil
    page.encode()  # what no encoding holds is not in it


@given(st.text(st.characters(), max_size=40))
def test_whatever_is_embedded_comes_out_again(text: str) -> None:
    embedded = embed_json({"text": text})
    assert embedded.isascii()
    assert not set(embedded) & set("<>&")
    assert json.loads(embedded) == {"text": text}


def test_wrong_numbers() -> None:
    with pytest.raises(UserError, match="at least 1"):
        html(*verified_document(), top=0)
    with pytest.raises(UserError, match="between 0 and 1"):
        html(*verified_document(), threshold=2)


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_contrast_is_enough_to_read(scheme: int) -> None:
    style = files("whycite.verify").joinpath("assets", "heatmap.css").read_text("utf-8")
    block = re.findall(r":root \{(.*?)\}", style, re.DOTALL)[scheme]
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block))
    for step in range(1, 6):
        assert contrast(colours["hot-ink"], colours[f"heat-{step}"]) >= 4.5, step
        assert contrast(colours["hot-ink"], colours[f"against-{step}"]) >= 4.5, step
    for ink in ("ink", "soft", "good", "bad", "open", "accent"):
        for ground in ("ground", "panel"):
            assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)
    grounds = [luminance(colours[f"heat-{step}"]) for step in range(1, 6)]
    if scheme == 0:
        assert grounds == sorted(grounds, reverse=True)
