"""LanceDB starts without its client for remote catalogues, which is whole for whoever asks."""

import subprocess
import sys
from pathlib import Path

import pytest

from whycite.library import REMOTE_CLIENT, defer_import


def _said(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_the_client_is_not_loaded_with_the_library() -> None:
    code = "import sys, whycite.library.store; print([m for m in sys.modules if m.startswith('NAME.api')])"
    assert _said(code.replace("NAME", REMOTE_CLIENT)) == "[]"


def test_the_client_is_whole_when_somebody_asks() -> None:
    code = "import whycite.library.store, NAME as client; print(client.TableApi.__name__, client.__version__ != '')"
    assert _said(code.replace("NAME", REMOTE_CLIENT)) == "TableApi True"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    name = "a_package_for_test_light"
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").write_text(f"from {name}.part import one\nfrom {name}.other import two\n")
    (tmp_path / name / "part.py").write_text("one = 1\n")
    (tmp_path / name / "other.py").write_text(f"import {name}\ntwo = {name}.one + 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    return name


def test_a_deferred_package_runs_once_and_only_when_needed(package: str) -> None:
    try:
        defer_import(package)
        part = __import__(f"{package}.part", fromlist=["one"])
        assert part.one == 1
        assert f"{package}.other" not in sys.modules
        whole = sys.modules[package]
        assert whole.two == 2
        with pytest.raises(AttributeError, match="no attribute 'three'"):
            _ = whole.three
        defer_import(package)
        assert sys.modules[package] is whole
    finally:
        for each in [each for each in sys.modules if each.startswith(package)]:
            del sys.modules[each]


def test_what_is_not_installed_is_left_alone() -> None:
    defer_import("no_such_package_anywhere")
    assert "no_such_package_anywhere" not in sys.modules
