"""What the README and the docs show is what happens.

A block ```` ```latex draft.tex ```` makes that file; of a `console` block every `$ whycite …` is run in that folder and
its output compared, `…` standing for anything; Python prompts are run as doctests.
"""

import doctest
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from whycite.cli import app

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+) ?([\w./-]*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
COMMAND = re.compile(r"^\$ whycite (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WHYCITE_LIBRARY", str(tmp_path / "library"))  # never the user's
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_print_what_is_shown(page: Path, folder: Path) -> None:
    for language, name, text in BLOCK.findall(page.read_text("utf-8")):
        if name:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, "utf-8")
        for command, shown in COMMAND.findall(text) if language == "console" else []:
            result = CliRunner().invoke(app, shlex.split(command), env={"COLUMNS": "120"})
            printed = "\n".join(line.rstrip() for line in result.stdout.strip().splitlines())
            expected = "\n".join(line.rstrip() for line in shown.strip().splitlines())
            pattern = ".*".join(re.escape(part) for part in expected.split("…"))
            assert re.fullmatch(pattern, printed, re.DOTALL), printed
            assert result.exit_code == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_examples(page: Path, folder: Path) -> None:
    for _, name, text in BLOCK.findall(page.read_text("utf-8")):
        if name:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, "utf-8")
    assert doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS).failed == 0
