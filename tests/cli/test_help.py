"""Help pages: clean usage lines and choices that are all listed."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Any

import pytest
import typer

from whycite.check.worthiness import _MIN_REPORTED_EARLY, MIN_REPORTED
from whycite.cli import app
from whycite.cli.check import CheckFormat, FailOn
from whycite.cli.cite import CiteFormat
from whycite.cli.verify import VerifyFormat


def _commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    context = typer.Context(command, info_name=" ".join(("whycite", *path)))
    yield context.info_name or "", context
    if hasattr(command, "list_commands"):
        for name in command.list_commands(context):
            yield from _commands(command.get_command(context, name), (*path, name))


_CONTEXTS = dict(_commands(typer.main.get_command(app)))


@pytest.mark.parametrize("name", _CONTEXTS)
def test_usage_and_options_are_plain(name: str) -> None:
    shown = _CONTEXTS[name].get_help()
    assert shown.startswith(f"Usage: {name} [OPTIONS]")
    usage = shown.partition("\n")[0].removeprefix(f"Usage: {name} ")
    assert not set(usage) & set("{}<>")
    assert "[[" not in usage
    assert "<=x" not in shown
    assert max(map(len, shown.splitlines())) <= 80


@pytest.mark.parametrize(
    ("name", "usage"),
    [
        ("check", "DRAFT..."),
        ("verify", "[PAPER|DRAFT]"),
        ("cite", "[CLAIM]"),
        ("read", "PATH"),
        ("library remove", "DOCUMENT..."),
    ],
)
def test_arguments_in_usage_lines(name: str, usage: str) -> None:
    assert _CONTEXTS[f"whycite {name}"].get_help().startswith(f"Usage: whycite {name} [OPTIONS] {usage}\n")


def test_the_least_worthiness_is_told_as_it_is() -> None:
    told = " ".join(_CONTEXTS["whycite check"].get_help().split())
    assert f"{MIN_REPORTED}, or {_MIN_REPORTED_EARLY} in a draft that hardly cites yet" in told


@pytest.mark.parametrize(
    ("name", "option", "choices"),
    [
        ("cite", "--format", CiteFormat),
        ("check", "--format", CheckFormat),
        ("check", "--fail-on", FailOn),
        ("verify", "--format", VerifyFormat),
    ],
)
def test_every_choice_is_named_in_the_help(name: str, option: str, choices: type[StrEnum]) -> None:
    params = _CONTEXTS[f"whycite {name}"].command.params
    (text,) = (param.help for param in params if option in param.opts)
    assert all(choice.value in text for choice in choices)
