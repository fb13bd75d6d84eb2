"""`whycite library reindex` and `whycite add --encoder` as a user runs them."""

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import copytree
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console
from typer.testing import Result

from tests.fakes import FakeEncoder, unit
from whycite.cli.progress import stage_progress
from whycite.errors import UserError
from whycite.models import encoders, folders, load_encoder
from whycite.models.folders import BUNDLED

Run = Callable[..., Result]

STOPPED = """
import os, signal, sys
from whycite.library import maintenance
maintenance.PROGRESS_TEXTS = 2
encode, calls = maintenance.CachedEncoder.encode, []
def stop(self, texts, progress=None):
    calls.append(texts)
    if len(calls) == 5:  # each batch is asked of two
        os.kill(os.getpid(), signal.SIGINT)
    return encode(self, texts, progress)
maintenance.CachedEncoder.encode = stop
from whycite.cli import main
main()
"""


def _small() -> FakeEncoder:
    """An encoder of another package."""
    return FakeEncoder(
        lambda text: unit(np.array([len(text), text.count("e"), text.count("a"), 1], np.float32)), 4, "small@1"
    )


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of an encoder that another package brings."""
    entry = SimpleNamespace(name="small", load=lambda: lambda threads: _small())
    monkeypatch.setattr(folders, "entry_points", lambda group: [entry])
    encoders.forget_encoders()
    yield entry.name
    encoders.forget_encoders()


@pytest.fixture
def copy(library: Path, tmp_path: Path) -> Path:
    """A library that a test may change."""
    return copytree(library, tmp_path / "copy")


def test_to_another_encoder_and_back(run: Run, copy: Path, small: str) -> None:
    before = load_encoder().name
    answer = json.loads(run("cite", "bees sleep", "--json", "--library", copy).stdout)
    moved = run("library", "reindex", "--encoder", small, "--library", copy)
    assert re.fullmatch(r"Encoded \d+ evidence spans and 5 papers with small@1 in [\d.]+ s\.\n", moved.stdout)
    info = json.loads(run("library", "--json", "--library", copy).stdout)
    assert info["encoder"] == "small@1"
    assert run("cite", "bees sleep", "--library", copy).exit_code == 0
    back = json.loads(run("library", "--library", copy, "reindex", "--json").stdout)
    assert (back["before"], back["encoder"], back["spans"], back["papers"]) == ("small@1", before, info["spans"], 5)
    assert back["seconds"] > 0
    again = json.loads(run("cite", "bees sleep", "--json", "--library", copy).stdout)
    assert again.pop("state") != answer.pop("state")
    assert again == answer


def test_nothing_to_do(run: Run, copy: Path) -> None:
    name = load_encoder().name
    assert run("library", "reindex", "--library", copy).stdout == f"Nothing to do: the library already uses {name}.\n"
    told = json.loads(run("library", "reindex", "--library", copy, "--json").stdout)
    assert told["before"] == told["encoder"] == name


def test_an_encoder_that_there_is_not(run: Run, copy: Path, papers: Path, tmp_path: Path) -> None:
    for result in (
        run("library", "reindex", "--encoder", "nowhere", "--library", copy),
        run("add", papers, "--encoder", "nowhere", "--library", tmp_path / "new"),
    ):
        assert isinstance(result.exception, UserError)
        assert str(result.exception).startswith("no encoder 'nowhere'; use claims-30m")
    assert not (tmp_path / "new").exists()


def test_a_new_library_with_another_encoder(run: Run, papers: Path, copy: Path, small: str, tmp_path: Path) -> None:
    new = tmp_path / "new"
    assert run("add", papers, "--encoder", small, "--library", new, "--jobs", "1").exit_code == 0
    assert json.loads(run("library", "--json", "--library", new).stdout)["encoder"] == "small@1"
    assert run("add", papers / "sleep.md", "--library", new, "--jobs", "1").exit_code == 0
    refused = run("add", papers, "--encoder", small, "--library", copy).exception
    assert isinstance(refused, UserError)
    assert str(refused).endswith("whycite library reindex --encoder small")


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_stopped_by_the_user_says_what_is_kept(run: Run, copy: Path, tmp_path: Path) -> None:
    folder = tmp_path / "brief"
    folder.mkdir()
    bundled = BUNDLED / "claims-30m"
    for name in ("model.onnx", "tokenizer.json"):
        (folder / name).symlink_to(bundled / name)
    arguments = ["library", "reindex", "--encoder", str(folder), "--library", str(copy)]
    stopped = subprocess.run(
        [sys.executable, "-c", STOPPED, *arguments], capture_output=True, text=True, timeout=100, check=False
    )
    assert (stopped.returncode, stopped.stdout) == (130, "")
    assert re.fullmatch(
        r"whycite: stopped; encoded 4 of \d\d texts; run the command again to continue\n", stopped.stderr
    ), stopped.stderr
    assert json.loads(run("library", "--json", "--library", copy).stdout)["encoder"] == load_encoder().name
    assert run(*arguments).exit_code == 0
    assert json.loads(run("library", "--json", "--library", copy).stdout)["encoder"].startswith("brief@")


def test_a_terminal_shows_how_far_it_has_come() -> None:
    file = io.StringIO()
    console = Console(file=file, width=100, force_terminal=True, color_system=None, highlight=False)
    with stage_progress(console) as tell:
        tell("encoding", 1_200, 34_000)
    assert re.search(r"encoding .*1,200 of 34,000", file.getvalue())
    length = len(file.getvalue())
    with stage_progress(Console(file=file, width=100)) as tell:
        tell("encoding", 1, 2)
    assert len(file.getvalue()) == length
