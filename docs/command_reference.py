"""MkDocs hook: replaces `<!-- help: library remove -->` in a page with what that command's --help says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import typer

from whycite.cli import app

_MARKER = re.compile(r"^<!-- help:([\w -]*)-->$", re.MULTILINE)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Fill in the help of every command that a page names."""
    return _MARKER.sub(lambda marker: _describe(marker[1].split()), markdown)


def documented_commands(markdown: str) -> list[str]:
    """The commands that a page documents."""
    return [" ".join(marker.split()) for marker in _MARKER.findall(markdown)]


def all_commands() -> Iterator[str]:
    """Every command and subcommand; the program itself is the empty name."""
    yield ""
    yield from _subcommands(typer.main.get_command(app), ())


def help_records(words: list[str]) -> tuple[Any, list[tuple[str, str]], list[tuple[str, str]]]:
    """A command's context, and its arguments and options as --help shows them."""
    context = _context(words)
    arguments: list[tuple[str, str]] = []
    options: list[tuple[str, str]] = []
    for parameter in context.command.get_params(context):
        if record := parameter.get_help_record(context):
            (arguments if parameter.param_type_name == "argument" else options).append(record)
    return context, arguments, options


def _context(words: list[str]) -> Any:
    command: Any = typer.main.get_command(app)
    context = command.make_context("whycite", [], resilient_parsing=True)
    for word in words:
        command = command.get_command(context, word)
        context = command.make_context(word, [], parent=context, resilient_parsing=True)
    return context


def _subcommands(group: Any, path: tuple[str, ...]) -> Iterator[str]:
    context = _context([*path])
    for name in group.list_commands(context):
        yield " ".join((*path, name))
        command = group.get_command(context, name)
        if hasattr(command, "list_commands"):
            yield from _subcommands(command, (*path, name))


def _describe(words: list[str]) -> str:
    context, arguments, options = help_records(words)
    command = context.command
    usage = " ".join(("whycite", *words, *command.collect_usage_pieces(context)))
    parts = [f"```text\n{usage}\n```", _escape(command.help or "")]
    if hasattr(command, "list_commands"):
        subcommands = [
            (name, command.get_command(context, name).get_short_help_str(200))
            for name in command.list_commands(context)
        ]
        parts.append(_table("Command", subcommands))
    parts += [_table("Argument", arguments), _table("Option", options)]
    return "\n\n".join(filter(None, parts))


def _table(heading: str, records: list[tuple[str, str]]) -> str:
    if not records:
        return ""
    rows = (f"| <code>{_escape(name)}</code> | {_escape(text)} |" for name, text in records)
    return "\n".join((f"| {heading} | |", "| --- | --- |", *rows))


def _escape(text: str) -> str:
    """Text as Markdown that shows every character of it."""
    lines = (re.sub(r"([\\`*_\[\]])", r"\\\1", line.strip()) for line in text.strip().splitlines())
    return "\n".join(lines).replace("<", "&lt;").replace(">", "&gt;").replace("|", "&#124;").replace("{", "&#123;")
