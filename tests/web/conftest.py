"""A small library of papers written for the tests, the application on it, and a browser to look at it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.web.browsing import BROWSER, FLAGS, PATIENCE, watched_page
from tests.web.serving import serving
from whycite.library import add
from whycite.web.app import create
from whycite.web.guard import AccessRules
from whycite.web.serverstate import ServerSettings

PAPERS = {
    "bees": """---
title: Mites and the loss of honeybee colonies
bibliography: refs.bib
---
# Introduction
Deformed wing virus spreads with the mite Varroa [@martin2012]. Colonies collapse in winter when mites carry viruses
[@martin2012; @francis2013]. Queens mate with many drones [@tarpy2003].
""",
    "whales": """---
title: How killer whales hunt herring
bibliography: refs.bib
---
# Introduction
Killer whales stun herring with blows of their tails [@domenici2000]. They drive schools of fish to the surface
[@simila1993]. <script>alert(1)</script> is what nobody should run [@francis2013].
""",
}
REFERENCES = """
@article{martin2012, title={Global honey bee viral landscape altered by a parasitic mite},
  author={Martin, S.}, year={2012}, journal={Science}}
@article{francis2013, title={Varroa-virus interaction in collapsing honey bee colonies <img src=x onerror=alert(1)>},
  author={Francis, R.}, year={2013}, journal={PLoS ONE}}
@article{tarpy2003, title={Genetic diversity within honeybee colonies prevents severe infections},
  author={Tarpy, D.}, year={2003}, journal={Proceedings B}}
@article{domenici2000, title={Killer whales feeding on schooling herring using tail-slaps},
  author={Domenici, P.}, year={2000}, journal={Journal of Experimental Biology}}
@article{simila1993, title={Surface and underwater observations of cooperatively feeding killer whales},
  author={Similä, T.}, year={1993}, journal={Canadian Journal of Zoology}}
"""


@pytest.fixture(scope="session")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of papers."""
    folder = tmp_path_factory.mktemp("papers")
    (folder / "refs.bib").write_text(REFERENCES)
    for name, text in PAPERS.items():
        (folder / f"{name}.md").write_text(text)
    return folder


@pytest.fixture(scope="session")
def kept_library(papers: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library that no test changes."""
    path = tmp_path_factory.mktemp("library") / "library"
    report = add(path, [papers], jobs=1)
    assert report.added == 2
    return path


@pytest.fixture(scope="session", autouse=True)
def _own_projects(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Projects of tests are kept in a folder of their own, never in the user's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WHYCITE_PROJECTS", str(tmp_path_factory.mktemp("projects")))
        yield


def _stand_in(settings: ServerSettings) -> TestClient:
    return TestClient(create(settings), base_url="http://127.0.0.1", raise_server_exceptions=False)


@pytest.fixture
def client_of() -> Iterator[Callable[..., TestClient]]:
    """A browser's stand-in for a library."""
    with ExitStack() as opened:

        def make(library: Path, rules: AccessRules = AccessRules(), **options: object) -> TestClient:  # noqa: B008 - frozen
            settings = ServerSettings(library, rules, **options)  # type: ignore[arg-type]
            return opened.enter_context(_stand_in(settings))

        yield make


@pytest.fixture(scope="module")  # to make the application takes longer than most questions
def client(kept_library: Path) -> Iterator[TestClient]:
    """On the library that no test changes."""
    with _stand_in(ServerSettings(kept_library)) as client:
        yield client


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, without a window."""
    playwright = pytest.importorskip("playwright.sync_api", reason="no playwright: pip install playwright")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=BROWSER, args=FLAGS, timeout=PATIENCE)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def address(kept_library: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where a server runs on a library and projects that the tests of a module may change."""
    folder = tmp_path_factory.mktemp("served")
    library = copytree(kept_library, folder / "library")
    with serving(ServerSettings(library, projects=folder / "projects")) as address:
        yield address


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    """A page that fails the test when a script fails or anything but the server is asked."""
    with watched_page(browser, address) as page:
        yield page
