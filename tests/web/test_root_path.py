"""The application below a path of another server: pages, scripts, answers, cookies and clients."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient
from typer.testing import CliRunner

from tests.web.browsing import CLAIM, needs_browser, watched_page
from tests.web.manuscripts import MANUSCRIPT, WHALES
from tests.web.serving import serving
from tests.web.test_paper_view import bees_as_pdf, needs_pdfjs
from whycite.cli import app
from whycite.service.remote import ServerEngine
from whycite.web.app import create
from whycite.web.client import ServerClient
from whycite.web.guard import AccessRules
from whycite.web.serverstate import ServerSettings

ROOT = "/apps/whycite"
RULES = AccessRules(token="a-secret-word", read_token="for-reading")


def _below(library: Path, projects: Path, how: str, rules: AccessRules = RULES) -> TestClient:
    """The application below a path: as a proxy passes it on or leaves it out, or mounted by another application."""
    if how == "mounted":
        outer: Any = Starlette(routes=[Mount(ROOT, create(ServerSettings(library, rules, projects=projects)))])
    else:
        outer = create(ServerSettings(library, rules, projects=projects, root_path=ROOT))
    base = "http://127.0.0.1" + ("" if how == "left out" else ROOT)
    return TestClient(outer, base_url=base, raise_server_exceptions=False, follow_redirects=False)


@pytest.fixture(params=["passed on", "left out", "mounted"])
def below(request: pytest.FixtureRequest, kept_library: Path, tmp_path: Path) -> TestClient:
    return _below(kept_library, tmp_path / "projects", request.param)


def test_the_token_stays_below_the_path(below: TestClient) -> None:
    refused = below.get("/cite?text=Whales", headers={"accept": "text/html"})
    assert (refused.status_code, f'action="{ROOT}/cite"' in refused.text) == (401, True)
    moved = below.get("/cite?token=a-secret-word&text=Whales")
    assert (moved.status_code, moved.headers["location"]) == (303, f"{ROOT}/cite?text=Whales")
    assert f"; Path={ROOT};" in moved.headers["set-cookie"]


def test_readers_may_ask_but_change_nothing(below: TestClient) -> None:
    reading = {"authorization": "Bearer for-reading"}
    assert below.post("/api/cite", json={"text": CLAIM}, headers=reading).status_code == 200
    assert below.post("/api/library/documents/remove", json={"ids": [1]}, headers=reading).status_code == 403


def test_every_address_on_a_page_is_below_the_path(below: TestClient) -> None:
    own = {"authorization": f"Bearer {RULES.token}"}
    assert below.get("/", headers=own).headers["location"] == f"{ROOT}/cite"
    for page in ("/cite", "/check", "/verify", "/library", "/projects", "/welcome", "/papers/doi:10.1/none", "/none"):
        answer = below.get(page, headers=own)
        links = re.findall(r'(?:href|src|action)="(/[^"]*)"', answer.text)
        assert f"{ROOT}/static/style.css" in links, page
        assert [link for link in links if not link.startswith(f"{ROOT}/")] == [], page
    assert below.get("/static/common.js", headers=own).status_code == 200
    for none in ("/api/none", "/static/none.js"):
        assert below.get(none, headers=own).json()["detail"].startswith("Nothing found")
    described = below.get("/api/openapi.json", headers=own).json()
    assert described["servers"] == [{"url": ROOT}]
    counted = below.get("/metrics", headers=own).text
    assert 'route="/{name}",method="GET",status="200"' in counted


def test_clients_ask_below_the_path(kept_library: Path, tmp_path: Path) -> None:
    with serving(ServerSettings(kept_library, RULES, projects=tmp_path, root_path=ROOT)) as address:
        with ServerClient(f"{address}{ROOT}", RULES.token) as client:
            assert client.cite(CLAIM)["recommendations"]
        engine = ServerEngine(f"{address}{ROOT}", RULES.token, print)
        assert engine.serves(kept_library)
        engine.close()


@pytest.mark.parametrize("path", ["whycite", "/why cite", "/a//b", "/..", "/a?b"])
def test_what_is_no_path_is_refused(path: str) -> None:
    refused = CliRunner().invoke(app, ["serve", "--root-path", path, "--no-browser", "--port", "0"])
    assert refused.exit_code != 0
    assert "is not a path to serve this below" in str(refused.exception) + refused.output


@pytest.fixture
def page(browser: Any, kept_library: Path, tmp_path: Path) -> Iterator[Any]:
    settings = ServerSettings(kept_library, AccessRules(), projects=tmp_path, root_path=ROOT)
    with serving(settings) as address, watched_page(browser, f"{address}{ROOT}/") as page:
        page.below = lambda path: page.goto(f"{address}{ROOT}{path}")
        yield page


@needs_browser
def test_the_pages_work_below_the_path(page: Any) -> None:
    page.below("/")
    page.wait_for_url(f"**{ROOT}/cite")
    page.fill("#claim", CLAIM)
    page.press("#claim", "Enter")
    page.wait_for_selector(".card")
    page.wait_for_url(f"**{ROOT}/cite?*")
    page.get_by_role("link", name="Killer whales feeding").first.click()
    page.wait_for_url(f"**{ROOT}/papers/**")
    page.go_back()
    page.click("#recent summary")
    assert page.locator("#recent a").first.get_attribute("href").startswith(f"{ROOT}/cite?")
    page.get_by_role("link", name="Library").click()
    page.wait_for_selector("text=How killer whales hunt herring")


@needs_browser
def test_projects_work_below_the_path(page: Any) -> None:
    page.below("/projects")
    page.set_input_files("#draft", _file("draft.md", MANUSCRIPT))
    page.set_input_files("#papers", _file("whales.md", WHALES))
    page.get_by_role("button", name="Verify the draft").click()
    page.wait_for_url(f"**{ROOT}/projects/*")
    page.get_by_role("button", name="Verify again").wait_for()
    with page.expect_download():
        page.get_by_role("link", name="Markdown").click()
    page.locator("#list button", has_text="Backed").click()
    page.wait_for_url("**/sentences/*")
    page.get_by_role("link", name="Open the paper").first.click()
    page.wait_for_url(f"**{ROOT}/projects/*/citations/*")
    page.locator("#paper").get_by_text("We filmed killer whales").wait_for()
    page.get_by_role("link", name="Back to the draft").click()
    with page.expect_download():
        page.locator("#files a").first.click()
    page.get_by_role("button", name="Delete project").click()
    page.get_by_role("button", name="Confirm: delete it with all its files").click()
    page.wait_for_url(f"**{ROOT}/projects")


@needs_browser
@needs_pdfjs
def test_a_pdf_is_shown_below_the_path(page: Any) -> None:
    page.below("/projects")
    page.set_input_files("#draft", _file("draft.md", MANUSCRIPT))
    page.set_input_files("#papers", {"name": "bees.pdf", "mimeType": "application/pdf", "buffer": bees_as_pdf()})
    page.get_by_role("button", name="Verify the draft").click()
    page.get_by_role("button", name="Verify again").wait_for()
    page.get_by_role("button", name="Next to look at").click()
    page.wait_for_selector("#panel .box")


@needs_browser
def test_papers_are_added_below_the_path(browser: Any, tmp_path: Path) -> None:
    settings = ServerSettings(tmp_path / "library", AccessRules(), projects=tmp_path / "projects", root_path=ROOT)
    with serving(settings) as address, watched_page(browser, f"{address}{ROOT}/") as page:
        page.goto(f"{address}{ROOT}/")
        page.wait_for_url(f"**{ROOT}/welcome")
        page.set_input_files("input[type=file]", _file("whales.md", WHALES))
        page.wait_for_url(f"**{ROOT}/library")
        page.get_by_text("Added 1 paper.").wait_for()


def _file(name: str, text: str) -> dict[str, Any]:
    return {"name": name, "mimeType": "text/markdown", "buffer": text.encode()}
