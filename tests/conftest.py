"""Where tests find the real data, what they do without it, and how they run a command."""

import gc
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from typer.testing import CliRunner, Result

from tests.network import attempts, refuse_connections
from tests.thoroughness import examples

# Tests share the cores, one process each: what they compute is so small that more threads only get in the way. Set
# before numpy and torch are imported, and for the processes that tests start.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# As in commands: tests import so much that looking for garbage after every 700 objects takes a quarter of their time.
gc.set_threshold(50_000)
# In the background of a shell Ctrl-C is ignored, and what tests start would ignore it too.
signal.signal(signal.SIGINT, signal.default_int_handler)
# How long an example takes says how busy the machine is. The examples are the same each time, so that what fails is
# what was changed; pytest --hypothesis-profile=others looks for others.
settings.register_profile("same", deadline=None, derandomize=True, max_examples=examples(100))
settings.register_profile("others", deadline=None, derandomize=False, max_examples=examples(100))
settings.load_profile("same")


def _data() -> Path:
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    return Path(os.environ.get("WHYCITE_DATA", beside))


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What tests encode and trust is kept in folders of their own, never in the user's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WHYCITE_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("WHYCITE_SETTINGS", str(tmp_path_factory.mktemp("settings")))
        yield


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real data; tests that need it are skipped where it is absent."""
    folder = _data()
    if not folder.is_dir():
        pytest.skip("no real data at hand: set WHYCITE_DATA to its folder")
    return folder


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Result]:
    """Runs a command in this process; what it raised is in the result."""
    from whycite.cli import app

    monkeypatch.setenv("WHYCITE_LIBRARY", str(tmp_path / "own library"))  # never the user's
    monkeypatch.setenv("COLUMNS", "100")

    def invoke(*arguments: str | Path, stdin: str | bytes = "") -> Result:
        return CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)

    return invoke


@pytest.fixture
def judged_by_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Claims are judged by the words that passages share with them, so that verdicts can be foreseen."""
    from tests.fakes import word_entailment

    # By its path, pytest would find the function whycite.verify, not the package.
    monkeypatch.setattr(import_module("whycite.verify.claims"), "load_entailment", word_entailment)


@pytest.fixture
def no_network() -> Iterator[list[str]]:
    """Refuses every connection but those within the machine; gives the attempts, of which none must be left."""
    refuse_connections()
    yield attempts
    left = list(attempts)
    refuse_connections(False)
    assert left == []


@pytest.fixture(scope="module")  # a second one cannot be started while it runs
def browser() -> Iterator[Any]:
    """Chromium; tests that need it are skipped where it or its driver is missing."""
    playwright = pytest.importorskip("playwright.sync_api", reason="no browser test without: pip install playwright")
    program = os.environ.get("WHYCITE_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("no browser at hand: install chromium, or set WHYCITE_CHROMIUM to its path")
    arguments = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync", "--disable-component-update"]
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(
            executable_path=program,
            args=[*arguments, "--disable-background-networking", "--disable-quic"],
            timeout=100_000,  # milliseconds: a busy machine is slow to start it
        )
        yield opened
        opened.close()


@pytest.fixture
def artefacts(tmp_path: Path) -> Path:
    """Where screenshots are left: $WHYCITE_ARTEFACTS, or the test's own folder."""
    folder = Path(os.environ.get("WHYCITE_ARTEFACTS") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def pytest_collection_finish() -> None:
    """Leave alone what the imports have made, which stays."""
    gc.collect()
    gc.freeze()
