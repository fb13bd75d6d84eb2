"""What every command has in common: a quick start, and mistakes told in one sentence."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from whycite.cli import app
from whycite.cli.terminal import usage_message

WrongUse: Any = typer.BadParameter.__mro__[2]
_HEAVY = ("lancedb", "pyarrow", "numpy", "onnxruntime", "spacy", "scipy", "rich.console", "whycite.library")


def _run(code: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment or None, timeout=100, check=False)


def test_nothing_heavy_is_loaded_before_a_command_needs_it() -> None:
    result = _run(f"import sys, whycite.cli; print([name for name in {_HEAVY} if name in sys.modules])")
    assert result.stdout == "[]\n", result.stderr


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("cite claim", "no library here yet; create one with: whycite add FOLDER"),
        ("add nowhere", "nowhere: no such file or folder"),
    ],
    ids=["cite", "add"],
)
def test_a_mistake_is_one_sentence_and_exit_code_2(tmp_path: Path, command: str, message: str) -> None:
    arguments = [*command.split(), "--library", str(tmp_path / "library")]
    result = _run("from whycite.cli import main; main()", *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    assert line.startswith("whycite: ")
    assert line.endswith(message)


def test_help_names_every_command() -> None:
    shown = _run("from whycite.cli import main; main()", "--help").stdout
    for command in ("demo", "add", "library", "cite", "read", "structure", "eval"):
        assert f"\n  {command} " in shown


def test_the_package_is_the_command_too() -> None:
    command = [sys.executable, "-m", "whycite", "--version"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("whycite ")


@pytest.mark.parametrize("arguments", [[], ["retractions"]])
def test_a_command_that_needs_another_one_shows_its_help(arguments: list[str]) -> None:
    command = [sys.executable, "-m", "whycite", *arguments]
    result = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert result.returncode == 2
    assert result.stderr.startswith(f"{' '.join(['Usage: whycite', *arguments])} [OPTIONS] COMMAND [ARGS]...\n\n")


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (
            "check draft.tex --format xml",
            "--format: 'xml' is not one of text, json, sarif, github, html; see whycite check --help",
        ),
        ("check draft.tex --threshold 3", "--threshold: must be at most 1; see whycite check --help"),
        ("check draft.tex -n 0", "-n: must be at least 1; see whycite check --help"),
        ("cite claim -n few", "-n: must be a whole number; see whycite cite --help"),
        ("check draft.tex --threshold high", "--threshold: must be a number; see whycite check --help"),
        ("check draft.tex --out", "--out needs a value"),
        ("check", "DRAFT is missing; see whycite check --help"),
        ("read a b", "unexpected argument: b; see whycite read --help"),
        ("check --treshold 1", "no such option: --treshold; did you mean --threshold? See whycite check --help"),
        ("chek", "no such command 'chek'; did you mean 'check'? See whycite --help"),
    ],
)
def test_wrong_use_is_one_sentence_too(command: str, message: str) -> None:
    with pytest.raises(WrongUse) as error:
        app(command.split(), prog_name="whycite", standalone_mode=False)
    assert usage_message(error.value) == message


def test_wrong_use_exits_with_2() -> None:
    result = _run("from whycite.cli import main; main()", "check")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == "whycite: DRAFT is missing; see whycite check --help\n"
