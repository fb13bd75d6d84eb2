"""Help pages and usage lines in the plain style of ruff and uv, the same for every command."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

__all__ = ["CommandGroup", "HelpCommand", "HelpGroup"]

Command = TypeVar("Command", bound=Callable[..., Any])


class HelpCommand(TyperCommand):
    """A command whose usage line reads `whycite check [OPTIONS] DRAFT...`."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The parts of the usage line after the command's name."""
        return ["[OPTIONS]", *(_usage_name(argument) for argument in _parameters(self, ctx, "argument"))]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the sections "Arguments" and "Options"."""
        _write_parameters(self, ctx, formatter)


class HelpGroup(TyperGroup):
    """A group of commands whose help page looks like that of a command."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the sections "Options" and "Commands"."""
        _write_parameters(self, ctx, formatter)
        self.format_commands(ctx, formatter)


class CommandGroup(typer.Typer):
    """A Typer application with our help pages; other arguments are Typer's."""

    def __init__(self, *, cls: type[TyperGroup] = HelpGroup, **settings: Any) -> None:
        super().__init__(cls=cls, add_completion=False, rich_markup_mode=None, **settings)

    def command(self, name: str | None = None, **settings: Any) -> Callable[[Command], Command]:
        """Register a function as a command."""
        return super().command(name, cls=HelpCommand, **settings)


def _parameters(command: Any, ctx: Any, kind: str) -> list[Any]:
    return [param for param in command.get_params(ctx) if param.param_type_name == kind and not param.hidden]


def _write_parameters(command: Any, ctx: Any, formatter: Any) -> None:
    for title, kind in (("Arguments", "argument"), ("Options", "option")):
        if parameters := _parameters(command, ctx, kind):
            with formatter.section(title):
                formatter.write_dl([(_heading(param), _description(param, ctx)) for param in parameters])


def _usage_name(argument: Any) -> str:
    name = argument.metavar or argument.name.upper()
    return name if argument.required else f"[{name}]"


def _heading(param: Any) -> str:
    if param.param_type_name == "argument":
        return _usage_name(param)
    names = "/".join([", ".join(sorted(param.opts, key=len)), *param.secondary_opts])
    return names if param.is_flag else f"{names} {param.metavar or param.name.upper().replace('_', '-')}"


def _description(param: Any, ctx: Any) -> str:
    """The help text, and the default where it says something."""
    default = param.get_default(ctx)
    if param.required and param.param_type_name == "option":
        note = "  [required]"
    elif default is None or default == "" or isinstance(default, (bool, list, tuple)) or param.is_eager:
        note = ""
    else:
        note = f"  [default: {getattr(default, 'value', default)}]"
    return f"{param.help or ''}{note}"
